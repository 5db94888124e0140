"""Calls that set something up, which the MPI serves, with more ranks than
cores: the MPI alone and Straightway, in runs that take turns.

    .venv/bin/python bench/setup.py PREFIX [RANKS [PAIRS [ROUNDS]]]

Compiles bench/setup.c with PREFIX/bin/mpicc (PREFIX/bin/mpigcc, if it is
there). A line for each call, with its free or close: ms, medians of the runs,
and the ratio of both (above 1: Straightway is quicker).
"""
import statistics
import sys

import programs


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    prefix, ranks, pairs, rounds = (*sys.argv[1:],
                                    *["4", "5", "20"][len(sys.argv) - 2:])
    found = {}
    for i in range(int(pairs)):
        for ours in (False, True) if i % 2 else (True, False):
            out = programs.output(prefix, "setup", [rounds], ours, int(ranks))
            for name, ms in (line.split() for line in out.splitlines()):
                found.setdefault(name, ([], []))[ours].append(float(ms))
    print(f"{'call':20}{'alone':>10}{'ours':>10}{'ratio':>8}")
    for name, sides in found.items():
        alone, ours = map(statistics.median, sides)
        print(f"{name:20}{alone:10.3f}{ours:10.3f}{alone / ours:8.2f}")


if __name__ == "__main__":
    main()
