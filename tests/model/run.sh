#!/bin/sh
# Check the models with Spin: the protocols hold. With STRAIGHTWAY_DEEP=1 a
# deeper column, more steps and a third member do as well, and each planted
# error is found.
. "$(dirname "$0")/check.sh"

check "column of 1, 3 steps" good sequence.pml -DSTEPS=3 -DDEPTH=1 --
for bug in 1 2 3 4; do
    proof "planted error $bug" bad sequence.pml -DSTEPS=3 -DDEPTH=1 \
        -DBUG=$bug --
done
if [ "${STRAIGHTWAY_DEEP:-0}" != 0 ]; then
    check "column of 2, 3 steps" good sequence.pml -DSTEPS=3 --
    check "column of 2, 4 steps" good sequence.pml -DSTEPS=4 --
    check "3 members" good sequence.pml -DMEMBERS=3 -DSTEPS=2 -DDEPTH=1 --
fi
check "doorbell" good doorbell.pml -- -a -f -N comes
proof "doorbell without a time limit" bad doorbell.pml -DNO_LIMIT -- \
    -a -f -N comes
check "slot" good slot.pml --
for bug in 1 2 3 4; do
    proof "planted error $bug in slot" bad slot.pml -DBUG=$bug --
done
check "slate" good slate.pml -DTURNS=3 --
check "slate, giving up" good slate.pml -DGIVES_UP --
for bug in 1 2 3 4; do
    proof "planted error $bug in slate" bad slate.pml -DGIVES_UP -DBUG=$bug --
done
