"""Small benchmark programs of this folder: compiled, and run on two ranks."""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
COMMAND = pathlib.Path(sys.prefix) / "bin/straightway"


def output(prefix, name, arguments, ours=True, ranks=2, options=()):
    """What NAME.c prints under the MPI in `prefix`; without `ours`, under the
    MPI alone. PREFIX/bin/mpigcc compiles, if it is there, else mpicc.
    `options` are those of `straightway run`."""
    prefix = pathlib.Path(prefix)
    compiler = prefix / "bin/mpigcc"
    if not compiler.exists():
        compiler = prefix / "bin/mpicc"
    env = dict(os.environ, LD_LIBRARY_PATH=str(prefix / "lib"))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / name
        subprocess.run([compiler, "-O2", "-I", HERE.parent / "include",
                        "-iquote", HERE.parent / "src", "-o", program,
                        HERE / f"{name}.c", "-ldl"], check=True, env=env)
        return subprocess.run(
            [prefix / "bin/mpirun", "-n", str(ranks),
             *([COMMAND, "run", *options] if ours else []), program,
             *arguments],
            check=True, stdout=subprocess.PIPE, text=True, env=env).stdout
