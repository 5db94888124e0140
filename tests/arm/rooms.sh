# The C tests of the MPI-free rooms, compiled for aarch64, under qemu-user: a
# few of them, or with STRAIGHTWAY_DEEP=1 all that can be shown there, in their
# short form.
#
#     rooms.sh PYTHON JOBS
py=$1 jobs=${2:-2}

# One or more of a room, by their programs' names; each takes few seconds.
few='node_self node_segment node_copy node_beat coll_agreement p2p_tally
     layout_canonical offload_notices rma_regions profile_counting'

# What an emulator of processors cannot show: tests, and why.
cannot='
node/arena$          no program executes itself there without binfmt_misc
node/arena/eager     the same
node/arena_refused   the same
node/show            the same
vtime/serve          the same
node/pages_model     the emulator ignores MADV_WIPEONFORK and MADV_DONTFORK
device/driven$       the emulator says of any advice on memory that it followed
coll/trees           no process_vm_readv there, by which alone its members copy
vtime/feed           the emulator tells a process a start of its own invention
model                no processor runs the models'

made=build/arm/deep targets=
if [ -z "$STRAIGHTWAY_DEEP" ]; then
    made=build/arm/short
    for name in $few; do
        targets="$targets test_$name"
    done
fi
# shellcheck disable=SC2086 # words
said=$(sh tests/arm/build.sh "$py" "$jobs" $targets)
status=$?
if [ $status = 77 ]; then
    echo "SKIPPED: C tests (aarch64): $said"
    exit 0
elif [ $status != 0 ]; then
    echo "$said"
    echo 'C tests (aarch64): FAILED'
    exit 1
fi

if [ -z "$STRAIGHTWAY_DEEP" ]; then
    # shellcheck disable=SC2086 # words
    only=$(echo $few | sed 's/ /|/g; s/_/\//g')
    set -- -R "^($only)\$"
else
    echo "$cannot" | while read -r name why; do
        [ -z "$name" ] ||
            echo "SKIPPED: C test ${name%\$} (aarch64): $why"
    done
    cannot=$(echo "$cannot" | awk 'NF { printf "%s%s", n++ ? "|" : "", $1 }')
    set -- -LE deep -E "^($cannot)"
    unset STRAIGHTWAY_DEEP
fi
log=$made.log
if (cd $made && ctest -j "$jobs" "$@" --output-on-failure) >$log 2>&1 &&
    ! grep -q 'No tests were found' $log; then
    echo "C tests (aarch64 under qemu-user): $(grep 'tests passed' $log)"
else
    cat $log
    echo 'C tests (aarch64 under qemu-user): FAILED'
    exit 1
fi
