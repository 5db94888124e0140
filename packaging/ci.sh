# Install this clone for a CI job, with the Python $1: the command comes into
# PATH, and the settings for a runner with few cores into the environment of the
# steps that follow. $2: after how long without a finished MPI call a job says
# what its ranks wait for; empty: never. GITHUB_PATH and GITHUB_ENV name the
# files for that; without them the lines go to standard output.
set -e
cd "$(dirname "$0")/.."
make --no-print-directory -s setup PYTHON="$1" >&2
path=${GITHUB_PATH:-/dev/stdout} environment=${GITHUB_ENV:-/dev/stdout}
echo "$PWD/.venv/bin" >>"$path"
{
    # More ranks than cores: Open MPI refuses them unless it is told.
    echo OMPI_MCA_rmaps_base_oversubscribe=1
    echo PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    if [ "$(id -u)" = 0 ]; then
        echo OMPI_ALLOW_RUN_AS_ROOT=1
        echo OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    fi
    if [ -n "$2" ]; then
        echo "STRAIGHTWAY_HANG_AFTER=$2"
    fi
} >>"$environment"
.venv/bin/straightway doctor >&2
