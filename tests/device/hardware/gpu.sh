#!/bin/sh
# What a machine with a GPU says of the kernels that move datatypes.
#
#     gpu.sh OUT [fake]
#
# The script builds with gcc and nvcc, checks the kernels, asks the driver for
# its facts, and measures. OUT gets report.txt and report.json. No part stops the
# next one, and each has a time limit. The whole takes at most 4 minutes.
#
# "fake" rehearses without a GPU: the folder fake/ serves as the driver, and no
# kernel is compiled.
out=${1:?a folder for the results}
fake=$2
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

# Each variant of the kernels compiles beside the others.
compile() {
    name=$1
    source=$2
    shift 2
    timeout 100 "$nvcc" -O3 -arch="$arch" -cubin "$@" -o "$work/$name.part" \
        "$source" > "$work/$name.log" 2>&1 &&
        mv "$work/$name.part" "$work/$name.cubin" ||
        { echo "nvcc failed: $name"; tail -n 5 "$work/$name.log"; }
}

nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    head -n 1 | tr -d '. ')
[ "$arch" = sm_ ] && arch=sm_90
{
    nvidia-smi
    nvidia-smi -q -d COMPUTE,CLOCK | grep -E "Compute Mode|SM  |Memory  "
    "$nvcc" --version | tail -n 2
    uname -a
    nproc
} >> "$text" 2>&1

move=$top/src/device/move.cu
if [ "$fake" = fake ]; then
    for name in move-1 move-2 move-4 move-8 move-4-nc move-4-cs probe; do
        : > "$work/$name.cubin"
    done
    gcc $flags -fPIC -shared -fvisibility=hidden "$here/fake/cuda.c" \
        -o "$work/libcuda.so.1" >> "$text" 2>&1
    LD_LIBRARY_PATH=$work
    GPU_SMALL=1
    export LD_LIBRARY_PATH GPU_SMALL
else
    compile probe "$here/probe.cu" >> "$text" 2>&1 &
    compile move-4 "$move" >> "$text" 2>&1 &
    for unroll in 1 2 8; do
        compile "move-$unroll" "$move" -DSW_UNROLL=$unroll >> "$text" 2>&1 &
    done
    # Loads that bypass coherence, and accesses that leave the caches early.
    compile move-4-nc "$move" '-DSW_LOAD(at)=__ldg(at)' \
        '-DSW_STORE(at,unit)=__stwb(at,unit)' >> "$text" 2>&1 &
    compile move-4-cs "$move" '-DSW_LOAD(at)=__ldcs(at)' \
        '-DSW_STORE(at,unit)=__stcs(at,unit)' >> "$text" 2>&1 &
fi
gcc $flags "$here"/*.c "$top/src/device/plan.c" -o "$work/gpu" -ldl -lpthread \
    >> "$text" 2>&1 || note "gcc failed"
# A wait without arguments would also wait for nothing else: all jobs are ours.
wait
note "built: $(cd "$work" && echo *.cubin)"

part 40 "$work/gpu" "$work" "$json" check 30
part 40 "$work/gpu" "$work" "$json" facts
part 80 "$work/gpu" "$work" "$json" times 70
sanitizer=$(command -v compute-sanitizer ||
    echo "$(dirname "$nvcc")/compute-sanitizer")
if [ -x "$sanitizer" ]; then
    part 25 "$sanitizer" --tool memcheck --target-processes application-only \
        --error-exitcode 9 "$work/gpu" "$work" - check 12
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
