"""The cost of a match beside many receives or messages that wait.

    .venv/bin/python bench/matching.py PREFIX [--alone] [ROUNDS [COUNT ...]]

Compiles bench/matching.c with PREFIX/bin/mpicc (PREFIX/bin/mpigcc, if it is
there) and runs it on two ranks. Prints ns for each match, and the ratio to the
first count. With --alone it measures the host without Straightway.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
COMMAND = pathlib.Path(sys.prefix) / "bin/straightway"
COUNTS = ["10", "1000", "8192", "100000"]


def main():
    words = [word for word in sys.argv[1:] if word != "--alone"]
    if not words:
        sys.exit(__doc__)
    ours = [] if "--alone" in sys.argv else [COMMAND, "run"]
    prefix = pathlib.Path(words[0])
    rounds, *counts = words[1:] or ["5"]
    compiler = prefix / "bin/mpigcc"
    if not compiler.exists():
        compiler = prefix / "bin/mpicc"
    env = dict(os.environ, LD_LIBRARY_PATH=str(prefix / "lib"))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "matching"
        subprocess.run([compiler, "-O2", "-o", program,
                        HERE / "matching.c"], check=True, env=env)
        out = subprocess.run(
            [prefix / "bin/mpirun", "-n", "2", *ours, program, rounds,
             *(counts or COUNTS)], check=True, stdout=subprocess.PIPE,
            text=True, env=env).stdout
    print(f"{'waiting':12}{'count':>8}{'beside':>10}{'ratio':>9}"
          f"{'each':>10}{'ratio':>9}")
    first = {}
    for line in out.splitlines():
        kind, count, *ns = line.split()
        ns = list(map(float, ns))
        base = first.setdefault(kind, ns)
        print(f"{kind:12}{count:>8}" + "".join(
            f"{it:10,.0f}{it / least:9.2f}" for it, least in zip(ns, base)))


if __name__ == "__main__":
    main()
