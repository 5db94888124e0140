#!/bin/sh
# Check with Spin that the orders of the lock-free protocols suffice on Arm
# (order.pml). With STRAIGHTWAY_DEEP=1 each planted error is found, and the
# model of Arm's memory is right (litmus.pml): each known test comes out as it
# does for Arm's own model.
export SW_MODEL_O=-O0
. "$(dirname "$0")/check.sh"

for test in 4 6 7 9 10 13 15 16 17 19 21 22; do
    proof "litmus $test: forbidden" good litmus.pml -DTEST=$test -- -E
done
for test in 1 2 3 5 8 11 12 14 18 20; do
    proof "litmus $test: allowed" bad litmus.pml -DTEST=$test -- -E
done

# protocol ERRORS NAME [OPTION]
protocol() {
    errors=$1 protocol=$2 option=${3:-}
    # shellcheck disable=SC2086
    check "$protocol$option" good order.pml -DPROTOCOL="$protocol" $option --
    bug=1
    while [ $bug -le "$errors" ]; do
        # shellcheck disable=SC2086
        proof "planted error $bug in $protocol$option" bad order.pml \
            -DPROTOCOL="$protocol" $option -DBUG=$bug --
        bug=$((bug + 1))
    done
}
protocol 3 ENTRY
protocol 2 LEAVER
protocol 3 TOUCHER
protocol 3 TOUCHER -DCOUNTS
protocol 3 UPDATE
protocol 4 REGIONS
protocol 2 NOTICES
protocol 2 STACK
protocol 3 SLATE
protocol 4 FEED
protocol 2 AGENT
protocol 2 AGENT -DFENCED
protocol 2 QUEUE
protocol 4 EXPOSE
protocol 4 JOINT
protocol 4 ASK
