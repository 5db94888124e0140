#!/bin/bash
# What only a machine with a GPU and many cores can tell, in one run without a
# hand on it.
#
#     bash tests/device/on_hardware.sh FOLDER [gpu] [mpi] [tables]
#
#   gpu      the kernels and the driver (hardware/gpu.sh): needs CUDA's nvcc;
#            compute-sanitizer, where it is; some 110 s, 240 s at most
#   mpi      MPI programs with buffers in the GPU (hardware/mpi.sh): 180 s, or
#            $MPI
#   tables   collectives, messages, overlap and programs on 2 to 16 cores
#            (tables.sh): 400 s, or $TABLES
#
# The parts together take 9 minutes at most, or $ALL seconds: each gets what the
# earlier ones have left of that.
#
# The machine needs no network. Where .carry/root.tar.xz is there (carry.sh), mpi
# and tables run in the file system that it holds, for which the script must be
# run by root; the driver's libraries are copied into it. Without it the tree must
# be ready: make setup hosts. What the parts write comes back in FOLDER: a few
# packed files, and a summary on stdout.
begun=$(date +%s)
out=$(mkdir -p "$1" && cd "$1" && pwd) || exit 1
shift
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
parts=${*:-gpu mpi tables}

machine() {
    lscpu | grep -e 'Model name' -e '^CPU(s)' -e 'Thread' -e 'L[23] cache' -e NUMA
    uname -r
    nvidia-smi -L 2>/dev/null
    cat /sys/kernel/mm/transparent_hugepage/{enabled,shmem_enabled}
    free -g | head -n 2
    df -h /dev/shm | tail -n 1
}

# share SECONDS: so much of the time that is left, but for what ends behind it.
share() {
    local left=$((${ALL:-540} - ($(date +%s) - begun) - 20))
    [ "$left" -lt "$1" ] && echo "$left" || echo "$1"
}

unpack() {      # the carried file system, to the folder $root, once
    [ -z "$root" ] || return 0
    root=/tmp/carried-$$
    fill $root
    tree=$(cat $root/carried/tree)
    mkdir -p "$root$tree/tests/device/hardware"
    cp "$here/tables.sh" "$root$tree/tests/device/"
    cp "$here/hardware/mpi.sh" "$root$tree/tests/device/hardware/"
}

fill() {
    mkdir -p "$1"
    if command -v xz >/dev/null; then
        xz -dc "$top/.carry/root.tar.xz" | tar -C "$1" -xf -
    else
        python3 -c 'import sys, tarfile
tarfile.open(sys.argv[1]).extractall(sys.argv[2])' \
            "$top/.carry/root.tar.xz" "$1"
    fi
    mount -t proc proc "$1/proc" || mount --rbind /proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --rbind /sys "$1/sys"
}

# The libraries of the driver, and of NVRTC, that a program in the carried file
# system needs; the device files are there.
bring_driver() {
    local found=$LIBCUDA folder to=$root/carried/nvidia
    [ -n "$found" ] || found=$(ldconfig -p 2>/dev/null |
        awk '/libcuda\.so\.1 /{print $NF; exit}')
    for folder in ${found:+"$(dirname "$found")"} /usr/local/nvidia/lib64 \
        /usr/local/nvidia/lib /usr/lib/x86_64-linux-gnu /usr/lib64; do
        [ -e "$folder/libcuda.so.1" ] && break
    done
    mkdir -p "$to"
    cp -L "$folder"/libcuda.so.1 "$folder"/libnvidia-ptxjitcompiler.so.* \
        "$folder"/libnvidia-nvvm*.so.* "$folder"/libnvidia-gpucomp.so.* \
        "$folder"/libnvidia-ml.so.* "$to" 2>/dev/null
    folder=${CUDA_HOME:-/usr/local/cuda}
    for folder in "$folder/lib64" "$folder/targets/x86_64-linux/lib"; do
        cp -L "$folder"/libnvrtc.so.* "$folder"/libnvrtc-builtins.so.* "$to" \
            2>/dev/null && break
    done
    ls "$to"
}

# The kernels as PTX, for a machine without NVRTC, and for the run that takes no
# other: where nvcc is there, and GPU_KERNELS names no folder that has them.
compile_kernels() {
    local nvcc one folder=/tmp/kernels-$$
    nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
    [ -z "$GPU_KERNELS" ] && [ -x "$nvcc" ] || return 0
    mkdir -p $folder
    for one in move reduce; do
        cp "$top"/src/device/$one.cu "$top"/src/device/$one.h $folder
        timeout "$(share 60)" "$nvcc" -O3 --fmad=false -arch=compute_75 -ptx \
            -o $folder/$one.ptx $folder/$one.cu && GPU_KERNELS=$folder
    done
}

mpi() {
    local made=/tmp/mpi-$$ seconds
    compile_kernels
    if [ -e "$top/.carry/root.tar.xz" ]; then
        unpack
        bring_driver >"$out/driver.txt"
        [ -z "$GPU_KERNELS" ] || cp -r "$GPU_KERNELS" $root/carried/kernels
        seconds=$(share "${MPI:-180}")
        timeout -k 5 $((seconds + 10)) chroot $root /usr/bin/env -i \
            PATH=/usr/bin:/bin HOME=/root LIBCUDA=/carried/nvidia/libcuda.so.1 \
            ${MPI_RANKS:+"MPI_RANKS=$MPI_RANKS"} \
            ${MPI_WANTED:+"MPI_WANTED=$MPI_WANTED"} \
            ${MPI_PLACES:+"MPI_PLACES=$MPI_PLACES"} \
            ${GPU_KERNELS:+"GPU_KERNELS=/carried/kernels"} \
            sh -c "cd $tree && bash tests/device/hardware/mpi.sh /tmp/mpi $seconds"
        mv $root/tmp/mpi "$made"
    else
        seconds=$(share "${MPI:-180}")
        (cd "$top" && GPU_KERNELS=$GPU_KERNELS \
            timeout -k 5 $((seconds + 10)) bash "$here/hardware/mpi.sh" "$made" "$seconds")
    fi
    cp "$made/mpi.txt" "$out/mpi.txt"
    tar -C "$made" -czf "$out/mpi.tar.gz" .
    rm -rf "$made"
}

tables() {
    local made=/tmp/tables-$$ seconds
    if [ -e "$top/.carry/root.tar.xz" ]; then
        unpack
        seconds=$(share "${TABLES:-400}")
        chroot $root /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root \
            ${RANKS:+"RANKS=$RANKS"} ${PROGRAMS:+"PROGRAMS=$PROGRAMS"} \
            ${BRIEF:+"BRIEF=$BRIEF"} ${WANTED:+"WANTED=$WANTED"} \
            sh -c "cd $tree && sh tests/device/tables.sh /tmp/tables $seconds"
        mv $root/tmp/tables "$made"
    else
        seconds=$(share "${TABLES:-400}")
        (cd "$top" && sh "$here/tables.sh" "$made" "$seconds")
    fi
    cat "$made"/*.txt >"$out/tables.txt"
    tar -C "$made" -czf "$out/tables.tar.gz" .
    tail -n 30 "$made/programs.txt" 2>/dev/null
    for one in "$made"/collectives-*.txt; do
        [ -e "$one" ] || continue
        echo "$(basename "$one" .txt): $(grep Overall "$one")"
    done
}

machine | tee "$out/machine.txt"
for part in $parts; do
    case $part in
    gpu) timeout -k 5 "$(share 240)" bash "$here/hardware/gpu.sh" "$out" ;;
    mpi) mpi ;;
    tables) tables ;;
    *) echo "on_hardware.sh: no part is called $part" >&2 ;;
    esac
done
if [ -n "$root" ]; then
    umount -R -l $root/dev $root/sys $root/proc
fi
