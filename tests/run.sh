# Every test, with the environment whose Python is $1: the C tests of the
# MPI-free rooms, then pytest; a failure of the first does not hide the
# second. With STRAIGHTWAY_DEEP=1, the long ones.
py=$1
jobs=$(nproc 2>/dev/null || echo 2)
begun=$(date +%s)

sh tests/rooms.sh "$py" "$jobs"
rooms=$?
if [ -n "$STRAIGHTWAY_DEEP" ]; then
    "$py" -m pytest -q -m deep tests
else
    "$py" -m pytest -q tests
fi
python=$?

verdict() { if [ "$1" -eq 0 ]; then echo passed; else echo FAILED; fi; }
echo "C tests: $(verdict $rooms)   pytest: $(verdict $python)  " \
     "in $(($(date +%s) - begun)) s"
[ $rooms -eq 0 ] && [ $python -eq 0 ]
