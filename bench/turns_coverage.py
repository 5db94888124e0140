"""How often the interval of a run in turns holds the truth (docs/study.md).

    .venv/bin/python bench/turns_coverage.py [--runs N] [--delay PPM]
        [--json OUT] -n RANKS PROGRAM [ARGUMENT ...]

Both sides of each run are the MPI alone, so the gain is 0. With --delay, one
side takes so many millionths longer, and the gain is that loss. The script
prints each run's interval. At the end it prints how many held the truth, and
the mean half width. It gives the chance of so few, and of so many, if 95 of 100
should hold it.

The launcher is mpirun, or $MPIEXEC.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from straightway.study import estimate, turns

COMMAND = pathlib.Path(sys.executable).with_name("straightway")


def parser(text, results):
    """For a script with this text, which repeats a program with its arguments,
    and writes its results with --json."""
    p = argparse.ArgumentParser(description=text.partition("\n")[0])
    p.add_argument("--json", metavar="OUT", help=results)
    p.add_argument("-n", type=int, required=True, metavar="RANKS")
    p.add_argument("program", nargs=argparse.REMAINDER)
    return p


def options():
    p = parser(__doc__, "all intervals")
    p.add_argument("--runs", type=int, default=20, metavar="N")
    p.add_argument("--delay", type=int, default=0, metavar="PPM",
                   help="one side takes so many millionths longer [0]")
    return p.parse_args()


def launch(args):
    return [os.environ.get("MPIEXEC", "mpirun"), "-n", str(args.n)]


def one(args, path, settings):
    """The estimate.Gain of a run in turns, its seconds, and its pairs."""
    path.unlink(missing_ok=True)
    env = {**os.environ, **settings, "STRAIGHTWAY_TURNS": str(path)}
    subprocess.run([*launch(args), COMMAND, "run", *args.program], env=env,
                   check=True, stdout=subprocess.DEVNULL)
    run = turns.load(str(path))
    gain = estimate.whole([pair.sides() for pair in run.pairs])
    if gain is None:
        sys.exit(f"{len(run.pairs)} pairs tell nothing: make the run longer")
    return gain, (run.ended - run.began) / 1e9, len(run.pairs)


def chance(held, runs, share=0.95):
    """The chance of at most, and of at least, so many of all runs."""
    each = [math.comb(runs, k) * share ** k * (1 - share) ** (runs - k)
            for k in range(runs + 1)]
    return sum(each[:held + 1]), sum(each[held:])


def main():
    args = options()
    truth, found = -args.delay / 1e6, []
    settings = {"STRAIGHTWAY_TURNS_SAME": "on",
                "STRAIGHTWAY_TURNS_DELAY": str(args.delay)}
    with tempfile.TemporaryDirectory() as folder:
        for i in range(args.runs):
            gain, seconds, pairs = one(
                args, pathlib.Path(folder) / "turns", settings)
            holds = gain.low <= truth <= gain.high
            found.append({"gain": gain.gain, "low": gain.low,
                          "high": gain.high, "seconds": seconds,
                          "pairs": pairs, "holds": holds})
            print(f"{i + 1:4} {100 * gain.gain:7.2f} % "
                  f"{100 * gain.low:7.2f} to {100 * gain.high:5.2f}  "
                  f"{seconds:6.1f} s {pairs:5} pairs"
                  f"{'' if holds else '  not held'}", flush=True)
    held = sum(row["holds"] for row in found)
    few, many = chance(held, len(found))
    half = sum(row["high"] - row["low"] for row in found) / 2 / len(found)
    print(f"{held} of {len(found)} hold {100 * truth:g} %; half width "
          f"{100 * half:.2f} %; chance of so few {few:.2f}, of so many "
          f"{many:.2f}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
