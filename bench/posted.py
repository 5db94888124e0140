"""Polling beside many posted receives, the host alone and Straightway in turns.

    .venv/bin/python bench/posted.py PREFIX [ROUNDS [RECEIVES ...]]

Compiles bench/posted.c with PREFIX/bin/mpicc (PREFIX/bin/mpigcc, if it is
there), runs it on two ranks and prints ns for each call: host, Straightway,
and the ratio of both (above 1: Straightway is slower). "waiting" marks cells
where a large message stays unreceived meanwhile.
"""
import sys

import programs

RECEIVES = ["1", "64", "1024", "8192", "65536"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rounds, *receives = sys.argv[2:] or ["5"]
    out = programs.output(sys.argv[1], "posted",
                          [rounds, *(receives or RECEIVES)])
    print(f"{'call':8}{'receives':>10}{'host':>10}{'ours':>10}{'ratio':>8}")
    for line in out.splitlines():
        call, n, waiting, host, ours = line.split()
        print(f"{call:8}{n:>10}{float(host):9,.0f} {float(ours):9,.0f} "
              f"{float(ours) / float(host):7.2f}"
              f"{'  waiting' if waiting == '1' else ''}")


if __name__ == "__main__":
    main()
