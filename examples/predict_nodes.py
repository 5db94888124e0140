"""The solver's time over several nodes: predicted, and measured.

    .venv/bin/python examples/predict_nodes.py [-k NODES] [--ppn RANKS]
                                               [--repeats R] [--grid N]
                                               [--seconds S]

The script measures test nodes of this machine (`straightway whatif measure`,
with one rank on each node, then with all). Then `straightway whatif run`
predicts examples/solver.c over these nodes from a run on one node, on the MPI
alone and with Straightway. At last the solver runs over the test nodes, on both
sides in turns, as in examples/demo_nodes.py. The table has the predicted and
the measured times, and their ratio.

A prediction gives each rank a core of its own. Where the ranks of the test
nodes share cores, a measured run is longer, and runs spread widely.

What is measured stays in build/predict-nodes, for the next time: apart from
the user's own measurements, for test nodes are no cluster. The launcher and the
compiler are those of examples/demo_nodes.py.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import demo
import demo_nodes
import installed

KEPT = demo_nodes.HERE.parent / "build" / "predict-nodes"
OURS = "model=measured-straightway network=measured"


def options():
    p = argparse.ArgumentParser(
        description="A solver's time over several nodes, predicted and "
                    "measured.")
    p.add_argument("-k", type=int, default=2, metavar="NODES",
                   help="test nodes, an even number (2)")
    p.add_argument("--ppn", type=int, default=2, metavar="RANKS",
                   help="ranks on each node (2)")
    p.add_argument("--repeats", type=int, default=3, metavar="R",
                   help="runs on each side (3)")
    p.add_argument("--grid", type=int, default=48, metavar="N",
                   help="grid points along each edge (48)")
    p.add_argument("--seconds", type=float, default=0.05, metavar="S",
                   help="measure each operation at each size so long (0.05)")
    p.add_argument("--timeout", type=float, default=1200, metavar="SECONDS",
                   help="end a step that takes more seconds (1200)")
    args = p.parse_args()
    args.n = args.k * args.ppn
    return args


def call(words, env, timeout):
    """Run a command that must succeed."""
    try:
        done = subprocess.run(words, env=env, timeout=timeout, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
    except subprocess.TimeoutExpired:
        raise demo.DemoError(f"this took longer than {timeout:g} s:\n  "
                             + " ".join(words))
    if done.returncode:
        raise demo.DemoError("this command failed:\n  " + " ".join(words)
                             + "\n" + done.stdout[-2000:] + done.stderr[-4000:])


def predicted(args, straightway, launcher, program, env, folder):
    """{side: seconds}, from measurements of nodes and a run on one node."""
    env = dict(env, XDG_CACHE_HOME=str(KEPT))
    for per_node in (1, args.ppn) if args.ppn > 1 else (1,):
        print(f"  measuring {args.k} nodes with {per_node} ranks each",
              flush=True)
        call([sys.executable, str(demo_nodes.NODES), "--mpirun", launcher,
              "--plain", "-k", str(args.k), "--ppn", str(per_node), "--",
              straightway, "whatif", "measure", "--launcher",
              f"{launcher} -n {args.k * per_node}", "--seconds",
              str(args.seconds)], env, args.timeout)
    print("  predicting (a minute more for the first time)", flush=True)
    out = folder / "report.json"
    nodes = f"nodes={args.k}"
    call([straightway, "whatif", "run", "-n", str(args.n), "--mpi", launcher,
          "--runs", "0", "--json", str(out),
          "--experiment", f"network=measured {nodes}",
          "--experiment", f"{OURS} {nodes}", *program], env, args.timeout)
    report = json.loads(out.read_text())
    for line in report["model_about"] + report["notes"]:
        print(f"  {line}")
    alone, ours = report["experiments"]
    return {"MPI alone": alone["time_s"], "Straightway": ours["time_s"]}


def measured(args, commands, env, counts):
    """{side: [seconds, ...]} of runs in turns."""
    sides = {name: [] for name in commands}
    for i in range(args.repeats):
        for name, command in commands.items():
            time, _, _ = demo_nodes.run(command, env, args.timeout, counts)
            sides[name].append(time)
            print(f"  run {i + 1} of {args.repeats}  {name:12}{time:8.3f} s",
                  flush=True)
    return sides


def table(forecast, sides):
    print(f"\n{'seconds':14}{'predicted':>9} {'measured':>9}   "
          f"{'(lowest to highest)':21}{'predicted / measured':>20}")
    for name, times in sides.items():
        middle = statistics.median(times)
        span = f"({min(times):.3f} to {max(times):.3f})"
        print(f"  {name:12}{forecast[name]:9.3f} {middle:9.3f}   {span:21}"
              f"{forecast[name] / middle:20.2f}")


def main():
    args = options()
    straightway = installed.command()
    if not straightway:
        raise demo.DemoError("there is no `straightway` beside this Python nor "
                             "in PATH: run `make setup`, which builds it")
    why = demo_nodes.refusal()
    if why:
        raise demo.DemoError(f"no test nodes here: {why}")
    launcher, kind = demo.find_launcher()
    launcher = os.path.abspath(launcher)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env, said = demo.environment(args, launcher, kind, folder)
        program = [demo_nodes.compiled(launcher, env, folder), str(args.grid)]
        print(f"Conjugate gradients, {args.grid} x {args.grid} points, over "
              f"{args.k} nodes with {args.ppn} ranks each")
        for line in said:
            print(line)
        forecast = predicted(args, straightway, launcher, program, env, folder)
        start = [sys.executable, str(demo_nodes.NODES), "--mpirun", launcher,
                 "-k", str(args.k), "--ppn", str(args.ppn), "--"]
        sides = measured(args, {
            "MPI alone": start + program,
            "Straightway": [*start, straightway, "run", "--", *program]},
            env, folder / "bytes.json")
    table(forecast, sides)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except demo.DemoError as error:
        print(f"predict_nodes: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
