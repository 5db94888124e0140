#!/bin/sh
# The tables that need many cores: host and Straightway in turns, on 2, 4, 8 and
# 16 ranks, under each MPI of .hosts.
#
#     sh tests/device/tables.sh FOLDER [SECONDS]
#
# The script runs in a tree that `make setup hosts` has prepared. It writes a
# text and a JSON file for each table into FOLDER. The parts stand in the order
# of their worth, and all end within SECONDS (400). Variables choose: WANTED the
# parts, RANKS their ranks, PROGRAMS the programs, BRIEF the seconds of a cell.
case $1 in
planes | switches) ;;
*) out=$(mkdir -p "$1" && cd "$1" && pwd) || exit 1 ;;
esac
limit=${2:-400}
begun=$(date +%s)
bin=$PWD/.venv/bin
RANKS=${RANKS:-2 4 8 16}        # of all tables
PLACES="openmpi mpich impi"
PROGRAMS=${PROGRAMS:-fftw,quantum-espresso,lammps,gromacs,scalapack,waitsome}
BRIEF=${BRIEF:-0.08}            # s of a cell
WANTED=${WANTED:-programs switches collectives planes overlap messages}

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export HYDRA_LAUNCHER=fork I_MPI_HYDRA_BOOTSTRAP=fork I_MPI_FABRICS=shm
export I_MPI_ROOT=$PWD/.hosts/impi

spent() { echo $(($(date +%s) - begun)); }

# part NAME SECONDS COMMAND...: one table, if there is time.
part() {
    name=$1 most=$2
    shift 2
    case " $WANTED " in *" ${name%%-*} "*) ;; *) return ;; esac
    [ $((limit - $(spent) - 5)) -gt "$most" ] || most=$((limit - $(spent) - 5))
    if [ "$most" -lt 5 ]; then
        echo "$(spent) s: $name: left out, no time" | tee -a "$out/order.txt"
        return
    fi
    timeout -k 5 "$most" "$@" >"$out/$name.txt" 2>&1 </dev/null
    echo "$(spent) s: $name: status $?" | tee -a "$out/order.txt"
}

# Which part of Straightway makes a program slower? Each switch in turns.
switches() {
    for turn in 1 2 3 4 5; do
        for way in alone run --no-enable --no-arena --no-p2p --no-collectives \
                   --no-rma; do
            case $way in
            alone) with= ;;
            run) with="$bin/straightway run" ;;
            *) with="$bin/straightway run $way" ;;
            esac
            (cd "applications/$1" && rm -rf tmp && mkdir -p tmp &&
             from=$(date +%s%N) &&
             mpirun.openmpi --oversubscribe -n "$2" $with $3 >/dev/null 2>&1
             echo "$1 $2 $way $((($(date +%s%N) - from) / 1000)) us, status $?")
        done
    done
}

# The wave solver of examples/: host and ours in turns, both ways to transpose.
planes() {
    prefix=$PWD/.hosts/$1 ranks=$2 mpicc=mpicc
    [ "$1" != impi ] || mpicc=mpigcc
    made=${TMPDIR:-/tmp}/planes.$1
    "$prefix/bin/$mpicc" -O3 -o "$made" examples/planes.c -lm || return
    for turn in 1 2; do
        for way in "" --blocking; do
            for with in "" "$bin/straightway run"; do
                printf '%s %s: ' "${with:+ours}" "${way:---split}"
                PATH=$prefix/bin:$PATH LD_LIBRARY_PATH=$prefix/lib \
                    mpirun -n "$ranks" $with "$made" 128 10 $way |
                    head -n 1
            done
        done
    done
}

case $1 in
planes | switches)
    "$@"
    exit ;;
esac

most=$(echo $RANKS | awk '{print $NF}')

if command -v mpirun.openmpi >/dev/null; then
    part programs 180 "$bin/python" bench/applications.py --only "$PROGRAMS" \
        --ranks "$most,4" --pairs 3 --profiles 0 --no-bound --limit 60 \
        --json "$out/programs.json"
fi
part switches-scalapack 100 sh "$0" switches scalapack 4 ./dense
part switches-espresso 60 sh "$0" switches quantum-espresso 4 \
    "pw.x -in silicon.in"
for host in $PLACES; do
    for n in $RANKS; do
        part "collectives-$host-$n" 40 "$bin/straightway" bench collectives \
            --mpi ".hosts/$host" -n "$n" --sizes 8,1k,16k,64k,256k,1m \
            --seconds "$BRIEF" --json "$out/collectives-$host-$n.json"
    done
done
for n in $(echo $RANKS | awk '{for (i = NF; i; i--) print $i}'); do
    for host in $PLACES; do
        part "planes-$host-$n" 40 sh "$0" planes "$host" "$n"
        part "overlap-$host-$n" 30 "$bin/straightway" bench overlap \
            --mpi ".hosts/$host" -n "$n" --ops allreduce,alltoall,bcast \
            --sizes 1k,64k,1m --seconds 0.2 --json "$out/overlap-$host-$n.json"
        part "messages-$host-$n" 30 "$bin/straightway" bench pingpong \
            --mpi ".hosts/$host" -n "$n" --sizes 8,1k,16k,256k,4m \
            --pattern pingpong,stream,ring,random --seconds "$BRIEF" \
            --json "$out/messages-$host-$n.json"
    done
done
echo "$(spent) s: all" | tee -a "$out/order.txt"
