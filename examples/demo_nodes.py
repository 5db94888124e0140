"""A solver over several nodes, on the MPI alone and with Straightway.

    .venv/bin/python examples/demo_nodes.py [-k NODES] [--ppn RANKS]
                                            [--repeats R] [--grid N]

The demo compiles examples/solver.c with the MPI's mpicc. It runs the solver on
the MPI alone and with Straightway in turns, over test nodes of this machine
(tests/nodes/nodes, docs/clusters.md). Every run checks its own solution. The
table shows the solver's time and the bytes that all nodes sent in the whole
job. A part of these is the launcher's.

Where the machine allows no test nodes, virtual nodes serve
(`straightway run --node-size`). They have no wire, so the table has no bytes.

The launcher is that of examples/demo.py. The compiler is $MPICC, else the mpicc
beside the launcher. The exit status is 0 only if every run passed.
"""
import argparse
import json
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import demo

HERE = Path(__file__).resolve().parent
NODES = HERE.parent / "tests" / "nodes" / "nodes"
REFUSED = 77            # the status of NODES where the machine allows none


def parser(about, timeout, ppn=2):
    """A parser with what all demos over nodes take."""
    p = argparse.ArgumentParser(description=about)
    p.add_argument("-k", type=int, default=2, metavar="NODES",
                   help="test nodes (2)")
    p.add_argument("--ppn", type=int, default=ppn, metavar="RANKS",
                   help=f"ranks on each node ({ppn})")
    p.add_argument("--repeats", type=int, default=3, metavar="R",
                   help="runs on each side (3)")
    p.add_argument("--timeout", type=float, default=timeout, metavar="SECONDS",
                   help=f"end a step that takes more seconds ({timeout})")
    return p


def parsed(p):
    """The options, and the number of ranks."""
    args = p.parse_args()
    if min(args.k, args.ppn, args.repeats) < 1:
        p.error("-k, --ppn and --repeats must be at least 1")
    args.n = args.k * args.ppn
    return args


def options(about, timeout, more=lambda parser: None):
    """The options of a demo of the solver; `more` adds its own to the parser.
    """
    p = parser(about, timeout)
    p.add_argument("--grid", type=int, default=48, metavar="N",
                   help="grid points along each edge (48)")
    more(p)
    args = parsed(p)
    if args.grid < args.n:
        p.error(f"--grid must be at least the number of ranks, {args.n}")
    return args


def compiled(launcher, env, folder, name="solver"):
    """A C program of this folder, built by the MPI of the launcher."""
    beside = Path(launcher).absolute().parent / "mpicc"
    mpicc = env.get("MPICC") or str(beside if beside.exists() else "mpicc")
    program = str(folder / name)
    command = [*shlex.split(mpicc), "-O2", "-o", program,
               str(HERE / f"{name}.c"), "-lm"]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True)
    except OSError as error:
        raise demo.DemoError(f"no MPI compiler: {error}") from None
    if done.returncode:
        raise demo.DemoError("this command failed:\n  " + " ".join(command)
                             + "\n" + done.stderr)
    return program


def refusal():
    """The reason why the machine allows no test nodes; "" where it does."""
    done = subprocess.run([sys.executable, str(NODES), "-k", "2", "--plain",
                           "true"], capture_output=True, text=True)
    if done.returncode == REFUSED:
        return done.stderr.strip().rpartition("not possible here: ")[2]
    if done.returncode == 0:
        return ""
    raise demo.DemoError("the script for test nodes failed:\n" + done.stderr)


def run(command, env, timeout, counts):
    """Run a program once: (seconds, bytes sent or None, stderr)."""
    done = demo.finished(command, env, timeout)
    said = re.search(r"(\d+) steps: ([\d.]+) s.*\nPASS", done.stdout)
    if done.returncode or not said:
        raise demo.failure(done, command)
    sent = None
    if counts.exists():
        sent = sum(node["tx_bytes"]
                   for node in json.loads(counts.read_text()).values())
        counts.unlink()
    return float(said[2]), sent, done.stderr


def table(sides):
    """Print time and bytes of both sides, and their ratios."""
    rows = []
    print(f"\n{'':14}{'seconds':>8}   {'(lowest to highest)':21}"
          f"{'bytes on the wire':>18}")
    for name, runs in sides.items():
        times, sent = zip(*runs)
        middle = statistics.median(times)
        wire = None if None in sent else round(statistics.median(sent))
        rows.append((middle, wire))
        span = f"({min(times):.3f} to {max(times):.3f})"
        print(f"  {name:12}{middle:8.3f}   {span:21}"
              f"{'none' if wire is None else f'{wire:,}':>18}")
    (host, host_sent), (ours, our_sent) = rows
    print(f"  {'ratio':12}{host / ours:8.2f}   {'':21}"
          + (f"{host_sent / our_sent:18.2f}" if our_sent else f"{'':>18}"))


def spans(stats):
    """Count the collectives that Straightway served over several nodes."""
    return sum(int(n) for n in re.findall(r"\(over nodes (\d+)\)", stats))


def main():
    args = options("A solver over several nodes, on the MPI alone and with "
                   "Straightway: both times, and the bytes on the wire.", 300)
    straightway = demo.installed_command("demo-nodes")
    launcher, kind = demo.find_launcher()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env, said = demo.environment(args, launcher, kind, folder)
        program = [compiled(launcher, env, folder), str(args.grid)]
        counts = folder / "bytes.json"
        why = refusal()
        ours = [straightway, "run", "--stats"]
        if why:
            said.append(f"No test nodes here ({why}): virtual nodes serve.")
            start = [launcher, "-n", str(args.n)]
            ours += ["--node-size", str(args.ppn)]
        else:
            start = [sys.executable, str(NODES), "--mpirun", launcher,
                     "-k", str(args.k), "--ppn", str(args.ppn),
                     "--count-bytes", str(counts), "--"]
        commands = {"MPI alone": start + program,
                    "Straightway": start + ours + ["--"] + program}
        print(f"Conjugate gradients, {args.grid} x {args.grid} points, over "
              f"{args.k} nodes with {args.ppn} ranks each")
        for line in said:
            print(line)
        sides = {name: [] for name in commands}
        for turn, name, command in demo.turns(args, commands):
            time, sent, err = run(command, env, args.timeout, counts)
            sides[name].append((time, sent))
            demo.say_run(args, turn, name, time)
    demo.check_loaded(err)
    table(sides)
    print(f"\nEvery run found the solution. Straightway served {spans(err)} "
          "collectives over the nodes.")
    return 0


if __name__ == "__main__":
    demo.end_with(main)
