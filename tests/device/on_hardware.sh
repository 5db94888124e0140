#!/bin/bash
# What only a machine with a GPU and many cores can tell, in one run without a
# hand on it.
#
#     bash tests/device/on_hardware.sh FOLDER [gpu] [tables]
#
#   gpu      the kernels and the driver (hardware/gpu.sh): needs CUDA's nvcc
#   tables   collectives, messages, overlap and programs on 2 to 16 cores
#            (tables.sh), for 400 s or $TABLES
#
# The machine needs no network. Where .carry/root.tar.xz is there (carry.sh), the
# tables run in the file system that it holds, for which the script must be run
# by root. Without it the tree must be ready: make setup hosts. What the parts
# write comes back in FOLDER: a few packed files, and a summary on stdout.
out=$(mkdir -p "$1" && cd "$1" && pwd) || exit 1
shift
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
parts=${*:-gpu tables}

machine() {
    lscpu | grep -e 'Model name' -e '^CPU(s)' -e 'Thread' -e 'L[23] cache' -e NUMA
    uname -r
    nvidia-smi -L 2>/dev/null
    cat /sys/kernel/mm/transparent_hugepage/{enabled,shmem_enabled}
    free -g | head -n 2
    df -h /dev/shm | tail -n 1
}

unpack() {      # the carried file system, to the folder $1
    mkdir -p "$1"
    if command -v xz >/dev/null; then
        xz -dc "$top/.carry/root.tar.xz" | tar -C "$1" -xf -
    else
        python3 -c 'import sys, tarfile
tarfile.open(sys.argv[1]).extractall(sys.argv[2])' \
            "$top/.carry/root.tar.xz" "$1"
    fi
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --rbind /sys "$1/sys"
}

tables() {
    local made=/tmp/tables-$$ seconds=${TABLES:-400}
    if [ -e "$top/.carry/root.tar.xz" ]; then
        local root=/tmp/carried-$$ tree
        unpack $root
        tree=$(cat $root/carried/tree)
        cp "$here/tables.sh" "$root$tree/tests/device/"
        chroot $root /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root \
            ${RANKS:+"RANKS=$RANKS"} ${PROGRAMS:+"PROGRAMS=$PROGRAMS"} \
            ${BRIEF:+"BRIEF=$BRIEF"} ${WANTED:+"WANTED=$WANTED"} \
            sh -c "cd $tree && sh tests/device/tables.sh /tmp/tables $seconds"
        mv $root/tmp/tables "$made"
        umount -R -l $root/dev $root/sys $root/proc
    else
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
    gpu) bash "$here/hardware/gpu.sh" "$out" ;;
    tables) tables ;;
    *) echo "on_hardware.sh: no part is called $part" >&2 ;;
    esac
done
