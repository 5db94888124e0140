"""Polling beside many posted receives, the host alone and Straightway in turns.

    .venv/bin/python bench/posted.py PREFIX [ROUNDS [RECEIVES ...]]

Compiles bench/posted.c with PREFIX/bin/mpicc (PREFIX/bin/mpigcc, if it is
there), runs it on two ranks and prints ns for each call: host, Straightway,
and the ratio of both (above 1: Straightway is slower). "waiting" marks cells
where a large message lies unreceived meanwhile.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
COMMAND = pathlib.Path(sys.prefix) / "bin/straightway"
RECEIVES = ["1", "64", "1024", "8192", "65536"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    prefix = pathlib.Path(sys.argv[1])
    rounds, *receives = sys.argv[2:] or ["5"]
    compiler = prefix / "bin/mpigcc"
    if not compiler.exists():
        compiler = prefix / "bin/mpicc"
    env = dict(os.environ, LD_LIBRARY_PATH=str(prefix / "lib"))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "posted"
        subprocess.run([compiler, "-O2", "-I", HERE.parent / "include",
                        "-iquote", HERE.parent / "src", "-o",
                        program, HERE / "posted.c", "-ldl"], check=True,
                       env=env)
        out = subprocess.run(
            [prefix / "bin/mpirun", "-n", "2", COMMAND, "run", program, rounds,
             *(receives or RECEIVES)], check=True, stdout=subprocess.PIPE,
            text=True, env=env).stdout
    print(f"{'call':8}{'receives':>10}{'host':>10}{'ours':>10}{'ratio':>8}")
    for line in out.splitlines():
        call, n, waiting, host, ours = line.split()
        print(f"{call:8}{n:>10}{float(host):9,.0f} {float(ours):9,.0f} "
              f"{float(ours) / float(host):7.2f}"
              f"{'  waiting' if waiting == '1' else ''}")


if __name__ == "__main__":
    main()
