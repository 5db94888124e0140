"""The cost of a match beside many receives or messages that wait.

    .venv/bin/python bench/matching.py PREFIX [--alone] [ROUNDS [COUNT ...]]

Compiles bench/matching.c with PREFIX/bin/mpicc (PREFIX/bin/mpigcc, if it is
there) and runs it on two ranks. Prints ns for each match, and the ratio to the
first count. With --alone it measures the host without Straightway.
"""
import sys

import programs

COUNTS = ["10", "1000", "8192", "100000"]


def main():
    words = [word for word in sys.argv[1:] if word != "--alone"]
    if not words:
        sys.exit(__doc__)
    rounds, *counts = words[1:] or ["5"]
    out = programs.output(words[0], "matching", [rounds, *(counts or COUNTS)],
                          ours="--alone" not in sys.argv)
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
