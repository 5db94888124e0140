"""The solver's time over several nodes: predicted, and measured.

    .venv/bin/python examples/predict_nodes.py [-k NODES] [--ppn RANKS]
                                               [--repeats R] [--grid N]
                                               [--seconds S] [--keep FOLDER]

The script measures test nodes of this machine (`straightway whatif measure`,
with one rank on each node, then with all). Then `straightway whatif run`
predicts examples/solver.c over these nodes from a run on one node, on the MPI
alone and with Straightway. At last the solver runs over the test nodes, on both
sides in turns, as in examples/demo_nodes.py. The table has the predicted and
the measured times, and their ratio.

A prediction gives each rank a core of its own. Where the ranks of the test
nodes share cores, a measured run is longer, and runs spread widely.

What is measured stays in build/predict-nodes, or in the folder that --keep
names: apart from the user's own measurements, for test nodes are no cluster.
The launcher and the compiler are those of examples/demo_nodes.py.
"""
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

import demo
import demo_nodes

KEPT = demo_nodes.HERE.parent / "build" / "predict-nodes"
OURS = "model=measured-straightway network=measured"


def options():
    def more(parser):
        parser.add_argument(
            "--seconds", type=float, default=0.05, metavar="S",
            help="measure each operation at each size so long (0.05)")
        parser.add_argument(
            "--keep", default=KEPT, type=Path, metavar="FOLDER",
            help="keep what is measured there (build/predict-nodes)")

    args = demo_nodes.options(
        "A solver's time over several nodes, predicted and measured.", 1200,
        more)
    if args.k % 2:
        raise demo.DemoError(f"-k {args.k}: messages go between pairs of "
                             "nodes; give an even number")
    return args


def call(words, env, timeout):
    """Run a command that must succeed."""
    done = demo.finished(words, env, timeout)
    if done.returncode:
        raise demo.failure(done, words)


def predicted(args, straightway, launcher, program, env, folder):
    """{side: seconds}, from measurements of nodes and a run on one node."""
    env = dict(env, XDG_CACHE_HOME=str(args.keep.absolute()))
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
    for turn, name, command in demo.turns(args, commands):
        time, _, _ = demo_nodes.run(command, env, args.timeout, counts)
        sides[name].append(time)
        demo.say_run(args, turn, name, time)
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
    straightway = demo.installed_command("setup")
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
    demo.end_with(main)
