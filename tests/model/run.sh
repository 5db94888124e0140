#!/bin/sh
# Check the models with Spin: the protocols hold, and each planted error is
# found. STRAIGHTWAY_DEEP=1 takes a deeper column, more steps and a third
# member.
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
        ${CC:-cc} -O1 -w -DCOLLAPSE -o pan pan.c 2>cc.log ||
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

check "column of 1, 3 steps" good sequence.pml -DSTEPS=3 -DDEPTH=1 --
for bug in 1 2 3 4; do
    check "planted error $bug" bad sequence.pml -DSTEPS=3 -DDEPTH=1 \
        -DBUG=$bug --
done
if [ "${STRAIGHTWAY_DEEP:-0}" != 0 ]; then
    check "column of 2, 3 steps" good sequence.pml -DSTEPS=3 --
    check "column of 2, 4 steps" good sequence.pml -DSTEPS=4 --
    check "3 members" good sequence.pml -DMEMBERS=3 -DSTEPS=2 -DDEPTH=1 --
fi
check "doorbell" good doorbell.pml -- -a -f -N comes
check "doorbell without a time limit" bad doorbell.pml -DNO_LIMIT -- \
    -a -f -N comes
check "slot" good slot.pml --
for bug in 1 2 3 4; do
    check "planted error $bug in slot" bad slot.pml -DBUG=$bug --
done
check "slate" good slate.pml -DTURNS=3 --
check "slate, giving up" good slate.pml -DGIVES_UP --
for bug in 1 2 3 4; do
    check "planted error $bug in slate" bad slate.pml -DGIVES_UP -DBUG=$bug --
done
