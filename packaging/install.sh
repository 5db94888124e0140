# Build and install this clone into the environment whose Python is $1, with
# the build folder kept (build/wheel), so that the next time is quick. The
# build's output is shown only when it fails. ASSERT=1 in the environment builds
# with sw_assert on; the build folder remembers nothing of it.
set -e
py=$1
case ${ASSERT:-0} in 0) checks=OFF ;; *) checks=ON ;; esac
mkdir -p build
prefixes=
for name in openmpi mpich; do
    if [ -e ".hosts/$name/ready" ]; then
        prefixes=$prefixes${prefixes:+:}$PWD/.hosts/$name
    fi
done
export STRAIGHTWAY_MPI_PREFIXES="$prefixes"
if "$py" -m pip --disable-pip-version-check install --no-build-isolation \
        --config-settings=cmake.define.STRAIGHTWAY_ASSERT=$checks \
        --verbose . >build/install.log 2>&1; then
    # What was left out, and why, is no secret.
    grep -h 'NONE\|failed:\|not found' build/install.log | \
        grep 'flavour\|Fetching' | sort -u || true
else
    tail -n 60 build/install.log >&2
    echo 'set-up: the build failed; all of it is in build/install.log' >&2
    exit 1
fi
