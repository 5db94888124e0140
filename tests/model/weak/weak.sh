#!/bin/sh
# weak.sh [NAME...] - check the protocols' real sources against weak memory
# models with Dartagnan, a bounded model checker that no registry has.
#
# DAT3M_HOME names its folder, built with Maven. Without that the script
# says so and ends with 77. CC_MODEL names clang. MODELS is a list of
# model:target; the first is Arm's own model, the second that of C11.
set -u
here=$(cd "$(dirname "$0")" && pwd)
src=$(cd "$here/../../../src" && pwd)
jar=${DAT3M_HOME:-/nonexistent}/dartagnan/target/dartagnan.jar
clang=${CC_MODEL:-clang}
if [ ! -f "$jar" ] || ! command -v "$clang" >/dev/null; then
    echo "SKIPPED: DAT3M_HOME names no built Dartagnan, or there is no clang"
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export DAT3M_OUTPUT="$work/output"
export LD_LIBRARY_PATH="$DAT3M_HOME/dartagnan/target/libs"

# The sources, with tables of a few entries: the checker follows each word.
cp -r "$src" "$work/src"
small() { sed -i "s/^#define $2 .*/#define $2 $3/" "$work/src/$1" || exit 1; }
small profile/record/board.h SW_BOARD_PLACES 1u
small rma/regions.h SW_REGIONS 1
small vtime/feed/ring.h SW_FEED_ENTRIES 4u
small vtime/feed/ring.h SW_FEED_PLACES 1u
python3 "$src/contract/generate_collectives.py" \
    "$work/src/contract/collectives.inc" || exit 1

# build NAME WEAKEN: a program's .ll
build() {
    "$clang" -I "$work/src" -I "$here" -O0 -Xclang -disable-O0-optnone \
        -D_GNU_SOURCE -DWEAKEN="$2" -w -S -emit-llvm \
        -o "$work/$1.$2.ll" "$here/weak_$1.c" || exit 1
}

# The kinds of order that each program's source relies on (weak.h).
kinds() {
    case $1 in
    board | regions) echo 1 2 3 ;;
    update) echo 4 ;;
    toucher | agent) echo 4 ;;
    leaver) ;;
    # On Arm an address that was loaded orders loads, and a branch stores.
    stack | ring) echo 1 ;;
    *) echo 1 2 ;;
    esac
}

bad=0
judge() { # FILE MODEL TARGET WANTED
    got=$(java -jar "$jar" "$DAT3M_HOME/cat/$2.cat" --target="$3" \
        --property=program_spec --bound="${BOUND:-3}" "$1" 2>&1 |
        tee "$work/log" | sed -n 's/^Result: //p')
    [ "$got" = "$4" ] && verdict=ok || { verdict=WRONG; bad=1; }
    echo "$(basename "$1" .ll) $2: ${got:-no answer} ($verdict)"
    [ "$verdict" = ok ] || grep -v '^$' "$work/log" | tail -n 12
}

[ $# -gt 0 ] || set -- board regions stack queue update expose pipe ring \
    sequence leaver toucher slate pump agent
for name; do
    build "$name" 0
    for model in ${MODELS:-aarch64:arm8 rc11:c11}; do
        judge "$work/$name.0.ll" "${model%:*}" "${model#*:}" PASS
        for kind in $(kinds "$name"); do
            build "$name" "$kind"
            [ "${PLANT:-1}" = 0 ] || judge "$work/$name.$kind.ll" \
                "${model%:*}" "${model#*:}" FAIL
        done
    done
done
exit $bad
