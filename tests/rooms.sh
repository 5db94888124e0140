# The C tests of the MPI-free rooms, in up to three builds: with the address and
# undefined-behaviour sanitizers, with the thread sanitizer, and in a deep run
# plain. A sanitizer that the machine cannot run is skipped, aloud.
#
#     rooms.sh PYTHON JOBS
py=$1 jobs=${2:-2}
failed=0
work=build/rooms
# Tests with the label deep run in `make test-deep` only.
except='-LE deep'
[ -z "$STRAIGHTWAY_DEEP" ] || except=
mkdir -p $work
# CMake and Ninja, where the machine has none.
PATH=$PATH:$(dirname "$py")

# Can `$3 $1` build a program with -fsanitize=$2 that runs?
can() {
    printf 'int main(void) { return 0; }\n' >$work/try.c
    $1 -fsanitize="$2" -o $work/try $work/try.c >/dev/null 2>&1 &&
        $3 $work/try >/dev/null 2>&1
}

# A compiler and a way to run that serve the sanitizer $1: clang's thread
# sanitizer first, then any; without address randomisation where the
# sanitizer's fixed map of memory does not bear it.
choose() {
    fixed="setarch $(uname -m) -R"
    for way in '' "$fixed"; do
        for cc in clang gcc cc; do
            if can $cc "$1" "$way"; then
                echo "$cc;$way"
                return 0
            fi
        done
    done
    return 1
}

# build_and_run NAME COMPILER SANITIZER WAY
build_and_run() {
    folder=$work/$1
    if [ ! -e $folder/build.ninja ]; then
        rm -rf $folder
    fi
    {
        cmake -S . -B $folder -G Ninja -DCMAKE_C_COMPILER="$2" \
            -DSTRAIGHTWAY_TESTS=ON -DSTRAIGHTWAY_ROOMS_ONLY=ON \
            -DSTRAIGHTWAY_SANITIZE="$3" -DPython3_EXECUTABLE="$py" &&
            ninja -C $folder -j "$jobs"
    } >$folder.log 2>&1 || {
        tail -n 40 $folder.log
        echo "C tests ($1): the build FAILED, see $folder.log"
        failed=1
        return
    }
    if (cd $folder && $4 ctest -j "$jobs" $except --output-on-failure) \
        >$folder.log 2>&1; then
        echo "C tests ($1, $2): $(grep 'tests passed' $folder.log)"
    else
        cat $folder.log
        echo "C tests ($1, $2): FAILED"
        failed=1
    fi
    if grep -q 'No tests were found' $folder.log; then
        echo "C tests ($1): NONE FOUND"
        failed=1
    fi
}

# All other tests load a library that is built plainly. So a short run has no
# plain rooms, unless the machine lacks the address sanitizer.
if [ -n "$STRAIGHTWAY_DEEP" ]; then
    build_and_run plain "${CC:-cc}" "" ""
    except='-E ^model' # once
elif ! choose address,undefined >/dev/null; then
    build_and_run plain "${CC:-cc}" "" ""
fi

for sanitizer in address,undefined thread; do
    name=$(echo $sanitizer | tr , -)
    if chosen=$(choose $sanitizer); then
        build_and_run "$name" "${chosen%%;*}" "$sanitizer" "${chosen#*;}"
    else
        echo "SKIPPED: C tests ($name): no compiler here builds a program" \
             "that runs with -fsanitize=$sanitizer (apt-get install clang)"
    fi
done
exit $failed
