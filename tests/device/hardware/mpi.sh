#!/bin/bash
# The MPI programs that test buffers in a GPU, on the machine's own driver. They
# compare what arrives in a GPU's memory with what arrives in ordinary memory.
#
#     bash tests/device/hardware/mpi.sh FOLDER [SECONDS]
#
# The script runs in a tree that `make setup hosts` has prepared, or in the
# carried one, whose compiler copies (carry.sh). FOLDER gets mpi.txt, a line for
# each run and one for each program, and mpi/ with what failed runs have said.
# Each run has a time limit, and a failure stops no other run. The runs stand in
# the order of their worth, and all end within SECONDS (180).
#
# Variables choose: MPI_PLACES the MPIs, MPI_RANKS their ranks, MPI_WANTED the
# programs or their ways ("gpu random"). LIBCUDA names the driver, GPU_KERNELS
# the kernels' folder. MPI_LANES says how many MPIs run at once: 1, or 3 on 12
# cores. MPI_EACH is the limit of a run in seconds.
seconds=${2:-180}
begun=$(date +%s)
out=$(mkdir -p "$1/mpi" && cd "$1" && pwd) || exit 1
text=$out/mpi.txt
bin=$PWD/.venv/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
MPI_EACH=${MPI_EACH:-40}        # s of a run
MPI_RANKS=${MPI_RANKS:-2 3 4}
MPI_PLACES=${MPI_PLACES:-openmpi mpich impi}
[ -n "$MPI_LANES" ] || { [ "$(nproc)" -ge 12 ] && MPI_LANES=3 || MPI_LANES=1; }
: >"$text"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_mtl=^ofi OMPI_MCA_btl=^ofi
export HYDRA_LAUNCHER=fork I_MPI_HYDRA_BOOTSTRAP=fork I_MPI_FABRICS=shm
export I_MPI_ROOT=$PWD/.hosts/impi

left() { echo $((begun + seconds - $(date +%s))); }

driver() {      # the library of the GPU's driver
    for one in "$LIBCUDA" \
        "$(ldconfig -p 2>/dev/null | awk '/libcuda\.so\.1 /{print $NF; exit}')" \
        /usr/local/nvidia/lib64/libcuda.so.1 /usr/local/nvidia/lib/libcuda.so.1 \
        /usr/lib/x86_64-linux-gnu/libcuda.so.1 /usr/lib64/libcuda.so.1; do
        [ -e "$one" ] && echo "$one" && return
    done
}

# Ranks, settings, program and its arguments; DRIVER is the library. The end of
# `killed` is that of a job which lost a rank.
cases() {
    cat <<END
2||gpu DRIVER
2||gpu_messages DRIVER random
2||random_collectives 62 120 --meet --device DRIVER --form blocking
3||gpu_neighbours DRIVER 8
3||gpu DRIVER
3||gpu_messages DRIVER random
3||random_collectives 63 120 --meet --device DRIVER --form mixed
4||gpu DRIVER
4||gpu_messages DRIVER random
4||random_collectives 64 120 --meet --device DRIVER --form mixed
2||gpu_folds DRIVER all 60
3||gpu_folds DRIVER some 60
2||gpu_folds DRIVER again 30
2||gpu_folds DRIVER local 60
2||gpu_messages DRIVER steady
2||gpu_messages DRIVER packs
2||gpu_messages DRIVER others
2||gpu_messages DRIVER reuse
2|STRAIGHTWAY_GPU_KERNELS=$work/ptx|gpu DRIVER
2|TEST_THREADS=1|gpu_messages DRIVER threads
2||random_collectives 72 60 --meet --device DRIVER --large --max 1048576
4|STRAIGHTWAY_NODE_SIZE=2|gpu_messages DRIVER nodes
2||gpu_messages DRIVER early
3||gpu_messages DRIVER half
4||gpu_neighbours DRIVER 8
2||gpu_messages DRIVER unready
2|STRAIGHTWAY_PATIENCE=off|gpu_messages DRIVER away
2|STRAIGHTWAY_PATIENCE=off|gpu_messages DRIVER late
2||gpu_messages DRIVER killed
END
}

# The name of a run: its program, and its way or its form.
named() {
    case $1 in
    gpu_messages | gpu_folds) echo "$1 $3" ;;
    random_collectives) [ "$7" = --form ] && echo "$1 $8" || echo "$1 ${7#--}" ;;
    *) echo "$1" ;;
    esac
}

wanted() {      # RANKS NAME
    case " $MPI_RANKS " in *" $1 "*) ;; *) return 1 ;; esac
    [ -n "$MPI_WANTED" ] || return 0
    for one in $2; do
        case " $MPI_WANTED " in *" $one "*) return 0 ;; esac
    done
    return 1
}

# program HOST NAME: where the program lies, which is compiled once.
program() {
    local made=$work/$2.$1 mpicc=mpicc source
    [ "$1" != impi ] || mpicc=mpigcc
    if [ ! -e "$made" ]; then
        source=$(find tests/mpi -name "$2.c" 2>/dev/null)
        ".hosts/$1/bin/$mpicc" -O1 -g1 -Itests -Iinclude -o "$made" \
            ${source:-$2.c} -lm -lpthread -ldl >"$out/mpi/$2-$1.build.txt" 2>&1 &&
            rm -f "$out/mpi/$2-$1.build.txt"
    fi
    echo "$made"
}

# one HOST RANKS SETTINGS PROGRAM ARGUMENTS...: a run, and its line.
one() {
    local host=$1 n=$2 settings=$3 limit=$MPI_EACH from status verdict log made used
    shift 3
    local name prefix=$PWD/.hosts/$host
    name=$(named "$@")
    wanted "$n" "$name" || return 0
    case $settings in
    *=$work/ptx) [ -e "$work/ptx/move.ptx" ] || return 0 ;;
    esac
    [ -n "$settings" ] && name="$name (${settings%%=*})"
    [ "$(left)" -gt "$limit" ] || limit=$(($(left) - 6))
    if [ "$limit" -lt 5 ]; then
        line "$host" "$n" "$name" left-out - - - - -
        return 0
    fi
    made=$(program "$host" "$1")
    shift
    log="$out/mpi/$host-$n-${name//[^a-z_A-Z]/-}.txt"
    from=$(date +%s%N)
    # Each rank has a limit of its own, so that none stays behind.
    PATH=$prefix/bin:$PATH LD_LIBRARY_PATH=$prefix/lib:$paths \
        timeout -k 5 "$limit" mpirun -n "$n" \
        env STRAIGHTWAY_STATS=1 STRAIGHTWAY_GPU_AWARE=off \
        STRAIGHTWAY_P2P=on STRAIGHTWAY_P2P_MIN=512 STRAIGHTWAY_SHOW_AFTER=0 \
        STRAIGHTWAY_AGENT=1 ${GPU_KERNELS:+"STRAIGHTWAY_GPU_KERNELS=$GPU_KERNELS"} \
        $settings timeout --foreground -k 1 $((limit + 2)) \
        "$bin/straightway" run --gpu "$made" "${@//DRIVER/$library}" \
        >"$log" 2>&1 </dev/null
    status=$?
    from=$((($(date +%s%N) - from) / 10000000))
    set -- $(sed -n 's/.*memory of a GPU: \([0-9]*\) kernels launched, \([0-9]*\) copies by its engine, \([0-9]*\) allocations, \([0-9]*\) openings.*/\1 \2 \3 \4/p' "$log")
    verdict=well
    if [ "$status" = 124 ] || [ "$status" = 137 ] && [ "$from" -ge "${limit}00" ]; then
        verdict=LATE
    elif [ "${name##* }" = killed ]; then
        [ $status != 0 ] && ! grep -q "all is well" "$log" || verdict=WRONG
    elif [ $status != 0 ] || ! grep -q -e "all is well" -e "calls right" "$log"; then
        verdict=WRONG
    else
        case $name in   # no datatype with gaps in a GPU, or perhaps none
        *unready | *away* | *late* | random_collectives*) used=${2:-0} ;;
        *) used=0 ;;
        esac
        [ $((${1:-0} + used)) -gt 0 ] || verdict=UNUSED
    fi
    line "$host" "$n" "$name" "$verdict" "$((from / 100)).$((from / 10 % 10))" \
        "${1:--}" "${2:--}" "${3:--}" "${4:--}"
    if [ $verdict = well ]; then rm -f "$log"; fi
}

line() { printf '%-8s %5s  %-40s %-9s %7s %9s %7s %6s %9s\n' "$@" >>"$text"; }

lane() {        # HOSTS...: all runs
    local n settings words host
    while IFS='|' read -r n settings words; do
        for host in "$@"; do
            one "$host" "$n" "$settings" $words
        done
    done
}

library=$(driver)
if [ -z "$library" ]; then
    echo "mpi: this machine has no libcuda.so.1" | tee "$text"
    exit 1
fi
paths=$(dirname "$library"):${CUDA_HOME:-/usr/local/cuda}/lib64
mkdir -p "$work/ptx"            # kernels by the driver's own compiler
for one in "$GPU_KERNELS" "$(find .venv/lib/straightway -maxdepth 3 -name device \
    -type d 2>/dev/null | head -n 1)"; do
    [ -f "$one/move.ptx" ] && cp "$one"/*.ptx "$work/ptx" && break
done

line host ranks program result seconds launches copies allocs openings
if [ "$MPI_LANES" -gt 1 ]; then
    for host in $MPI_PLACES; do cases | lane "$host" & done
    wait
else
    cases | lane $MPI_PLACES
fi

# Messages with gaps of two ranks, beside what programs do by hand.
figures() {
    local memory
    for memory in gpu gpu,host host,gpu; do
        [ "$(left)" -gt 20 ] || return
        PATH=$PWD/.hosts/openmpi/bin:$PATH LD_LIBRARY_PATH=$paths \
            ${GPU_KERNELS:+env "STRAIGHTWAY_GPU_KERNELS=$GPU_KERNELS"} \
            timeout -k 5 $(($(left) - 8)) "$bin/straightway" bench datatypes \
            --mpi .hosts/openmpi --memory $memory --seconds 0.05 \
            --kernels nas_mg_x,nas_lu_y,specfem3d_oc,stencil2d,triangle \
            --json "$out/mpi/datatypes-$memory.json" \
            >"$out/mpi/datatypes-$memory.txt" 2>&1 </dev/null
        echo "datatypes, $memory: $(grep Overall "$out/mpi/datatypes-$memory.txt")"
    done
}
if [ -z "$MPI_WANTED" ] || wanted "${MPI_RANKS%% *}" figures; then
    figures
fi

awk 'NR > 1 && NF > 7 {
    name = $3
    if (!(name in runs)) order[++names] = name
    runs[name]++
    for (i = 4; i < 8; i++)
        if ($i ~ /^(well|WRONG|LATE|UNUSED|left-out)$/) {
            result[name, $i]++
            launches[name] += $(i + 2)
            copies[name] += $(i + 3)
        }
}
END {
    for (i = 1; i <= names; i++) {
        n = order[i]
        printf "mpi: %s: %d runs, %d well, %d wrong, %d late, %d without the GPU, %d left out; %d launches, %d copies\n",
            n, runs[n], result[n, "well"], result[n, "WRONG"],
            result[n, "LATE"], result[n, "UNUSED"], result[n, "left-out"],
            launches[n], copies[n]
    }
}' "$text" >"$work/summary"
cat "$work/summary" >>"$text"
echo "mpi: $(($(date +%s) - begun)) s" >>"$text"
grep -E ' (WRONG|LATE|UNUSED) ' "$text"
cat "$work/summary"
