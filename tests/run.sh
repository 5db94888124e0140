# Every test, with the environment whose Python is $1: the C tests of the
# MPI-free rooms, on this processor and for aarch64, then pytest; a failure of
# one does not hide another. With STRAIGHTWAY_DEEP=1, the long ones too, each
# under every MPI.
py=$1
jobs=$(nproc 2>/dev/null || echo 2)
begun=$(date +%s)

sh tests/rooms.sh "$py" "$jobs"
rooms=$?
sh tests/arm/rooms.sh "$py" "$jobs" || rooms=1
# A test runs two ranks or more, so that half as many workers fill the cores;
# on a small machine a second one works while a launcher of the first sleeps.
workers=$((jobs / 2))
[ "$workers" -ge 2 ] || workers=2
set -- -q -n "$workers" --dist worksteal --durations 20
if [ -n "$STRAIGHTWAY_DEEP" ]; then
    set -- "$@" -m 'deep or not deep' --every-host
fi
"$py" -m pytest "$@" tests
python=$?

verdict() { if [ "$1" -eq 0 ]; then echo passed; else echo FAILED; fi; }
echo "C tests: $(verdict $rooms)   pytest: $(verdict $python)  " \
     "in $(($(date +%s) - begun)) s"
[ $rooms -eq 0 ] && [ $python -eq 0 ]
