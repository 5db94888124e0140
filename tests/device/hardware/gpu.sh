#!/bin/sh
# What a machine with a GPU says of the kernels that move and reduce.
#
#     gpu.sh OUT [fake | kernels]
#
# The script builds with gcc and nvcc, checks the kernels, asks the driver for
# its facts, and measures. OUT gets report.txt and report.json, a record a line.
# No part stops the next one, and each has a time limit. The whole takes at most
# 4 minutes.
#
# A folder that KERNELS names may have kernels that were compiled before, by
# "gpu.sh FOLDER kernels"; nvcc then has no work.
#
# "fake" rehearses without a GPU: ../standin/cuda serves as the driver, and no
# kernel is compiled.
out=${1:?a folder for the results}
mode=$2
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
text=$out/report.txt
json=$out/report.json
: > "$text"
: > "$json"
begin=$(date +%s)
flags="-std=gnu17 -D_GNU_SOURCE -O2 -g -I$top/src -I$top/tests"

note() {
    echo "[$(($(date +%s) - begin)) s] $*" | tee -a "$text"
}

# A part of the report: its time limit, then its command.
part() {
    limit=$1
    shift
    note "$*"
    timeout -k 5 "$limit" "$@" >> "$text" 2>&1
    note "exit status $?"
}

# Compile a source in the background; JOBS=1: in the foreground.
compile() {
    if [ "$JOBS" = 1 ]; then
        compile_now "$@"
    else
        compile_now "$@" &
    fi
}

compile_now() {
    name=$1
    source=$2
    shift 2
    timeout 200 "$nvcc" -O3 -arch="$arch" -cubin "$@" -o "$work/$name.part" \
        "$source" > "$work/$name.log" 2>&1 &&
        mv "$work/$name.part" "$work/$name.cubin" ||
        { echo "nvcc failed: $name"; tail -n 5 "$work/$name.log"; }
}

nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    head -n 1 | tr -d '. ')
case $arch in
    sm_[0-9]*) ;;
    *) arch=sm_90 ;;
esac
{
    nvidia-smi
    nvidia-smi -q -d COMPUTE,CLOCK | grep -E "Compute Mode|SM  |Memory  "
    "$nvcc" --version | tail -n 2
    uname -a
    nproc
} >> "$text" 2>&1

move=$top/src/device/move.cu
cat > "$work/one.cu" <<END
#define SW_MOVES SW_MOVE(narrow, PLANE, ROW, 8)
#include "$move"
END
kernels() {
    compile probe "$here/probe.cu"
    compile move-4 "$move"
    for unroll in 1 2 8; do
        compile "move-$unroll" "$move" -DSW_UNROLL=$unroll
    done
    # Loads that bypass coherence, and accesses that leave the caches early.
    compile move-4-nc "$move" -DSW_LOAD=__ldg -DSW_STORE=__stwb
    compile move-4-cs "$move" -DSW_LOAD=__ldcs -DSW_STORE=__stcs
    compile one "$work/one.cu"
    compile reduce "$top/src/device/reduce.cu" --fmad=false
    # PTX serves where the driver refuses what nvcc compiled.
    "$nvcc" -O3 -arch=compute_75 -ptx -o "$work/one.ptx" "$work/one.cu"
    "$nvcc" -O3 -arch=compute_75 -ptx -o "$work/move-4.ptx" "$move"
}
if [ "$mode" = fake ]; then
    for name in move-1 move-2 move-4 move-8 move-4-nc move-4-cs probe one \
                reduce; do
        : > "$work/$name.cubin"
    done
    gcc $flags -fPIC -shared -fvisibility=hidden "$here"/../standin/cuda/*.c \
        -o "$work/libcuda.so.1" -lpthread -ldl >> "$text" 2>&1
    LD_LIBRARY_PATH=$work
    GPU_SMALL=1
    STANDIN_REUSE=1
    export LD_LIBRARY_PATH GPU_SMALL STANDIN_REUSE
elif [ -f "$KERNELS/move-4.cubin" ]; then
    cp "$KERNELS"/* "$work"
else
    kernels >> "$text" 2>&1
    wait
fi
gcc $flags -ffp-contract=off "$here"/*.c "$top/src/device/plan.c" \
    "$top"/src/coll/reduce/*.c -o "$work/gpu" -ldl -lpthread -lm >> "$text" 2>&1 || note "gcc failed"
if [ "$mode" = kernels ]; then
    cp "$work"/*.cubin "$work"/*.ptx "$out"
    rm -rf "$work"
    exit
fi
note "built: $(cd "$work" && echo *.cubin)"

part 40 "$work/gpu" "$work" "$json" check 30
part 20 "$work/gpu" "$work" "$json" reductions 10
part 40 "$work/gpu" "$work" "$json" facts
part 80 "$work/gpu" "$work" "$json" times 70
sanitizer=$(command -v compute-sanitizer ||
    echo "$(dirname "$nvcc")/compute-sanitizer")
if [ -x "$sanitizer" ]; then
    part 25 "$sanitizer" --tool memcheck --target-processes application-only \
        --error-exitcode 9 "$work/gpu" "$work" - alone 12 8
fi
note "end"
rm -rf "$work"

echo "---- summary"
grep -E "^check|WRONG|failed|no kernels|error [0-9]|ERROR SUMMARY|exit status" \
    "$text" | head -n 60
grep -E "^(type|vector|face|halo|transpose|list|mixed|runs|odd) " "$text" |
    grep -E "type|16777216|268435456|face|halo" | head -n 40
grep -E "^(stream synchronize|event query|flag in)" "$text"
echo "facts: $(grep -cE '^[a-z-]+: ' "$text") lines; all in $text"
