"""mpi4py's own test suite with more ranks than cores, an MPI alone and with
Straightway: seconds, and how the suite ended.

    .venv/bin/python bench/mpi4py_suite.py MPIRUN LIBRARY ABI
        [--ranks N] [--limit SECONDS] [--without MODULE ...] [--sides ...]

LIBRARY is the MPI's, ABI what mpi4py calls its interface (mpich, openmpi).
MPIRUN may have options: "mpirun --oversubscribe". The suite is that of the
installed mpi4py's version, from the package index. A side that takes longer
than the limit is ended.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time

from importlib import metadata

COMMAND = pathlib.Path(sys.prefix) / "bin/straightway"


def suite(folder):
    """The folder with test/main.py."""
    version = metadata.version("mpi4py")
    subprocess.run([sys.executable, "-m", "pip", "-q", "download", "--no-deps",
                    "--no-binary", "mpi4py", f"mpi4py=={version}", "-d",
                    folder], check=True)
    with tarfile.open(next(folder.glob("mpi4py-*.tar.gz"))) as archive:
        archive.extractall(folder)
    return folder / f"mpi4py-{version}"


def environment(library, abi, folder):
    """mpi4py's wheel asks for libmpi.so.12, whatever the library's name."""
    names = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40"}
    (folder / "lib").mkdir()
    (folder / "lib" / names[abi]).symlink_to(library)
    path = f"{folder}/lib:{pathlib.Path(library).parent}"
    return {**os.environ, "LD_LIBRARY_PATH": path, "MPI4PY_MPIABI": abi,
            "MPI4PY_LIBMPI": library}


def run(words, where, env, limit, log):
    begin = time.monotonic()
    with open(log, "w") as file:
        job = subprocess.Popen(words, cwd=where, env=env, stdout=file,
                               stderr=subprocess.STDOUT)
        try:
            job.wait(limit)
        except subprocess.TimeoutExpired:
            job.terminate()
            job.wait()
            return None, "not done"
    seconds = time.monotonic() - begin
    ends = re.findall(r"^(?:Ran \d+ tests.*|OK.*|FAILED.*)$",
                      pathlib.Path(log).read_text(), re.M)
    return seconds, "; ".join(sorted(set(ends))[:4])


def main():
    parser = argparse.ArgumentParser()
    for name in ("mpirun", "library", "abi"):
        parser.add_argument(name)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--sides", nargs="*", default=["ours", "alone"])
    options = parser.parse_args()
    without = [word for name in options.without for word in ("-e", name)]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        where = suite(folder)
        env = environment(options.library, options.abi, folder)
        for side in options.sides:
            ours = [COMMAND, "run", "--"] if side == "ours" else []
            seconds, end = run(
                [*options.mpirun.split(), "-n", str(options.ranks), *ours,
                 sys.executable, "test/main.py", "-q", *without], where, env,
                options.limit, folder / "log")
            told = f"{seconds:.0f} s" if seconds else "-"
            print(f"{side:6} {told:>7}  {end}", flush=True)


if __name__ == "__main__":
    main()
