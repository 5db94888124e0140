# Install the build tools into the environment whose Python is $1; CMake and
# Ninja only where the machine has none.
set -e
py=$1
pip="$py -m pip --disable-pip-version-check --quiet"
venv=$(dirname "$(dirname "$py")")

machine_cmake() {       # is there a CMake >= 3.18 that is not ours?
    found=$(command -v cmake) || return 1
    case $found in "$venv"/*) return 1;; esac
    "$found" --version 2>/dev/null | awk 'NR == 1 {
        split($3, v, "."); exit !(v[1] > 3 || (v[1] == 3 && v[2] >= 18)) }'
}

if command -v "${CC:-cc}" >/dev/null 2>&1; then :; else
    echo 'set-up: no C compiler (cc); install gcc or clang' >&2
    exit 1
fi
echo 'set-up: build tools'
$pip install -r packaging/tools.txt
if machine_cmake; then :; else
    echo 'set-up: CMake from PyPI (the machine has none)'
    $pip install 'cmake>=3.18'
fi
if command -v ninja >/dev/null 2>&1; then :; else
    echo 'set-up: Ninja from PyPI (the machine has none)'
    $pip install ninja
fi
