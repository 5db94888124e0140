"""What `straightway where` costs while nobody looks: the same calls with and
without its part, in runs that take turns.

    .venv/bin/python bench/watching.py PREFIX [PAIRS [BATCHES]]

Compiles bench/watching.c with PREFIX/bin/mpicc (PREFIX/bin/mpigcc, if it is
there). A line for each kind of call: the median of all runs without (--where
off) and with it, in ns, and the median of the pairs' differences for one MPI
call.
"""
import statistics
import sys

import programs


def costs(prefix, batches, ranks, state):
    """{row: (ns, MPI calls in it)} of one run"""
    out = programs.output(prefix, "watching", [batches], ranks=ranks,
                          options=[f"--where={state}"])
    return {name: (float(ns), int(parts)) for name, ns, parts in
            (line.split() for line in out.splitlines())}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    prefix, pairs, batches = (*sys.argv[1:], *["9", "10"][len(sys.argv) - 2:])
    print(f"{'call':26}{'off':>9}{'on':>9}{'more a call':>13}")
    for ranks in (1, 2):
        runs = []
        for i in range(int(pairs)):
            order = ("off", "on") if i % 2 else ("on", "off")
            runs.append({state: costs(prefix, batches, ranks, state)
                         for state in order})
        for name, (_, parts) in runs[0]["on"].items():
            off, on = ([run[state][name][0] for run in runs]
                       for state in ("off", "on"))
            more = statistics.median(b - a for a, b in zip(off, on)) / parts
            print(f"{name.replace('_', ' '):26}{statistics.median(off):9.1f}"
                  f"{statistics.median(on):9.1f}{more:10.1f} ns")


if __name__ == "__main__":
    main()
