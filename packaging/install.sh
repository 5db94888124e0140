# Build and install this clone into the environment whose Python is $1, with
# the build folder kept (build/wheel), so that the next time is quick. The
# build's output is shown only when it fails; a line every half minute says how
# far the build is. ASSERT=1 in the environment builds with sw_assert on; the
# build folder remembers nothing of it.
set -e
py=$1
# Make compiles one file at a time, unless told otherwise.
cores=$(nproc 2>/dev/null || echo 2)
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$cores}"

progress() {            # of Ninja [12/804], of make [  1%]
    while sleep 30 </dev/null >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        step=$(grep -o '^ *\[ *[0-9]*[/%][0-9]*\]' build/install.log |
            tail -n 1)
        [ -z "$step" ] || echo "set-up: building $step"
    done
}
case ${ASSERT:-0} in 0) checks=OFF ;; *) checks=ON ;; esac
mkdir -p build
prefixes=
for name in openmpi mpich; do
    if [ -e ".hosts/$name/ready" ]; then
        prefixes=$prefixes${prefixes:+:}$PWD/.hosts/$name
    fi
done
export STRAIGHTWAY_MPI_PREFIXES="$prefixes"
progress &
watcher=$!
trap 'kill $watcher 2>/dev/null || true' EXIT
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
