"""The gain of a program by runs in turns, and by separate runs (docs/study.md).

    .venv/bin/python bench/turns_agreement.py [--turns N] [--pairs N]
        [--printed PATTERN] [--json OUT] -n RANKS PROGRAM [ARGUMENT ...]

The script runs the program in turns N times. Then it runs the program alone and
with Straightway, one after the other, in pairs whose order changes. It prints
the gain and its 95 % interval by either way, and whether the intervals meet.

A separate run has all that the launcher and MPI_Init take, and the costs that
Straightway has once. A run in turns leaves these out. So give --printed: a
regular expression, whose group is the seconds that the program itself prints.

The launcher is mpirun, or $MPIEXEC.
"""
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from turns_coverage import COMMAND, launch, one, parser

# Student's t for 95 %, by pairs less one; beyond the last, 1.96.
STUDENT = {4: 2.78, 9: 2.26, 14: 2.14, 19: 2.09, 24: 2.06, 30: 2.04, 60: 2.00}


def options():
    p = parser(__doc__, "all times")
    p.add_argument("--turns", type=int, default=3, metavar="N",
                   help="runs in turns [3]")
    p.add_argument("--pairs", type=int, default=31, metavar="N",
                   help="pairs of separate runs [31]")
    p.add_argument("--printed", type=re.compile, metavar="PATTERN",
                   help="the program's own seconds [those of the launcher]")
    return p.parse_args()


def wall(args, ours):
    """Seconds of one run."""
    began = time.monotonic()
    done = subprocess.run([*launch(args),
                           *([COMMAND, "run"] if ours else []),
                           *args.program], check=True, text=True,
                          stdout=subprocess.PIPE)
    took = time.monotonic() - began
    if args.printed:
        found = args.printed.search(done.stdout)
        if not found:
            sys.exit(f"nothing in the output is like {args.printed.pattern}")
        took = float(found[1])
    return took


def separate(args):
    """[(seconds alone, seconds with Straightway)]"""
    pairs = []
    for i in range(args.pairs):
        took = {ours: wall(args, ours) for ours in (i % 2, 1 - i % 2)}
        pairs.append((took[0], took[1]))
    return pairs


def interval(pairs):
    """(gain, low, high) of pairs: of the mean logarithm, by Student's t."""
    logs = [math.log(ours / alone) for alone, ours in pairs]
    t = next((t for n, t in STUDENT.items() if n >= len(logs) - 1), 1.96)
    mean = statistics.fmean(logs)
    half = t * statistics.stdev(logs) / math.sqrt(len(logs))
    return tuple(1 - math.exp(x) for x in (mean, mean + half, mean - half))


def say(title, gain, low, high):
    print(f"{title:24} {100 * gain:6.2f} %  {100 * low:6.2f} to "
          f"{100 * high:6.2f}", flush=True)


def main():
    args = options()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.turns):
            gain, seconds, _ = one(
                args, pathlib.Path(folder) / "turns", {})
            found.append((gain.gain, gain.low, gain.high))
            say(f"in turns, {seconds:.0f} s", *found[-1])
    pairs = separate(args)
    apart = interval(pairs)
    say(f"{len(pairs)} separate pairs", *apart)
    meet = sum(low <= apart[2] and apart[1] <= high for _, low, high in found)
    print(f"{meet} of {len(found)} intervals in turns meet it")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(
            {"turns": found, "pairs": pairs}, indent=1) + "\n")


if __name__ == "__main__":
    main()
