# shellcheck shell=sh
# check.sh - what run.sh and arm.sh share: one check of one model with Spin.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v spin >/dev/null; then
    echo "SKIPPED: no spin on this machine; the models were not checked"
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# check NAME good|bad MODEL SPIN-OPTIONS -- PAN-OPTIONS
check() {
    name=$1 want=$2 model=$3
    shift 3
    defines=
    while [ "$1" != -- ]; do defines="$defines $1"; shift; done
    shift
    rm -f pan* ./*.trail
    # shellcheck disable=SC2086
    spin $defines -a "$here/$model" >spin.log 2>&1 &&
        ${CC:-cc} "${SW_MODEL_O:--O1}" -w -DCOLLAPSE -o pan pan.c 2>cc.log ||
        { cat spin.log cc.log; echo "$name: not built"; exit 1; }
    ./pan -m200000 "$@" >pan.log 2>&1
    if grep -q "errors: 0" pan.log && ! grep -q "search too deep" pan.log &&
       ! grep -q "out of memory" pan.log
    then got=good
    elif grep -q "errors: [1-9]" pan.log
    then got=bad
    else got=unfinished
    fi
    if [ $got != "$want" ]; then
        cat pan.log
        echo "$name: $got, should be $want"
        exit 1
    fi
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
    echo "$name: $want as it should be ($states states)"
}

# The same of what shows that a model can find an error at all: in a deep run.
proof() { [ "${STRAIGHTWAY_DEEP:-0}" = 0 ] || check "$@"; }
