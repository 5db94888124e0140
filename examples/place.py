"""A halo exchange placed badly, and as `straightway map` says: both measured.

    .venv/bin/python examples/place.py [-k NODES] [--ppn RANKS] [--repeats R]
                                       [--columns N] [--levels L] [--steps S]

The script goes the whole way, over test nodes of this machine
(tests/nodes/nodes, docs/clusters.md):

1. It profiles examples/columns.c with its ranks dealt out to the nodes in turn
   (round robin).
2. `straightway map` reads the capture, and writes the launcher's files.
3. The launcher starts the program both ways, on the MPI alone and with
   Straightway.

The table has the bytes that crossed between the nodes: those that `map`
predicted, and those that the nodes' network interfaces counted. From each count
the script subtracts that of a run without steps, which is the launcher's and
the MPI's own. The times stand beside it.

Where the machine allows no test nodes, the script predicts, and counts nothing.
The launcher and the compiler are those of examples/demo_nodes.py. The exit
status is 0 only if every run passed, and if the counts and their fall are as
predicted (within 5 %).
"""
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

import demo
import demo_nodes

NEAR = 0.05         # of the predicted fall, to the counted one
BEFORE, AFTER = "before", "after"


def options():
    p = demo_nodes.parser("A halo exchange placed badly, and as straightway "
                          "map says: bytes between nodes, and times.", 300, 4)
    for name, default, what in (("columns", 32, "columns of a rank along each "
                                 "edge"), ("levels", 256, "points of a column"),
                                ("steps", 100, "steps of a run")):
        p.add_argument(f"--{name}", type=int, default=default, metavar="N",
                       help=f"{what} ({default})")
    args = demo_nodes.parsed(p)
    if args.k < 2:
        p.error("-k must be at least 2: nothing crosses between nodes")
    if min(args.columns, args.levels, args.steps) < 1:
        p.error("--columns, --levels and --steps must be at least 1")
    return args


def launcher_name(launcher, kind, env):
    """What `straightway map` calls the launcher."""
    said = demo.finished([launcher, "--version"], env, 60).stdout
    if "Intel" in said:
        return "intel"
    return "openmpi4" if "(Open MPI) 4." in said else kind


def on_nodes(args, launcher, *words):
    """The words that start a job on the test nodes."""
    return [sys.executable, str(demo_nodes.NODES), "--mpirun", launcher, "-k",
            str(args.k), "--ppn", str(args.ppn), *words, "--"]


class Loop:
    """Profile, map, run: the steps, each from what the one before has left."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.straightway = demo.installed_command("setup")
        launcher, self.kind = demo.find_launcher()
        self.launcher = os.path.abspath(launcher)
        self.env, self.said = demo.environment(args, self.launcher, self.kind,
                                               folder)
        # Ranks that share cores would wait for each other's time slices.
        self.env.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
        self.program = demo_nodes.compiled(self.launcher, self.env, folder,
                                           "columns")
        self.counts = folder / "bytes.json"
        self.refusal = demo_nodes.refusal()
        self.round_robin = [self.launcher, "-n", str(args.n)] \
            if self.refusal else on_nodes(args, self.launcher, "--placement",
                                          "cyclic", "--count-bytes",
                                          str(self.counts))

    def words(self, steps):
        return [self.program, str(self.args.columns), str(self.args.levels),
                str(steps)]

    def call(self, words):
        done = demo.finished(words, self.env, self.args.timeout)
        if done.returncode:
            raise demo.failure(done, words)

    def profile(self):
        """The capture of a run, round robin."""
        capture = self.folder / "columns.swcap"
        self.call([*self.round_robin, self.straightway, "profile", "-o",
                   str(capture), "--", *self.words(self.args.steps)])
        return capture

    def map(self, capture):
        """The report of straightway map, whose files lie in the folder."""
        out = self.folder / "map.json"
        args, names = self.args, [f"node{i}" for i in range(self.args.k)]
        # The test nodes share this machine's cores: map binds no rank.
        self.call([self.straightway, "map", str(capture), "--machine",
                   f"{args.k}x{args.ppn}", "--before", "cyclic", "--hosts",
                   ",".join(names), "--launcher", launcher_name(
                       self.launcher, self.kind, self.env), "--bind", "none",
                   "--write", str(self.folder / "place"), "--json", str(out)])
        return json.loads(out.read_text())

    def mapped(self, report):
        """The words that start a job as map says."""
        self.env.update(report["launch"]["settings"])
        return [*on_nodes(self.args, self.launcher, "--plain", "--cores",
                          "share", "--count-bytes", str(self.counts)),
                self.launcher, *report["launch"]["command"][1:]]

    def run(self, start, steps):
        """(seconds, bytes between the nodes)"""
        return demo_nodes.run([*start, *self.words(steps)], self.env,
                              self.args.timeout, self.counts)[:2]


def counted(loop, starts):
    """{(side, placement): [(seconds, bytes), ...]} of runs in turns, less the
    bytes of a run without steps."""
    found = {key: [] for key in starts}
    for turn, key, start in demo.turns(loop.args, starts):
        seconds, sent = loop.run(start, loop.args.steps)
        found[key].append((seconds, sent - loop.run(start, 0)[1]))
        demo.say_run(loop.args, turn, " ".join(key), seconds)
    return found


def crossing(report, when):
    """The bytes between nodes that map predicts."""
    return next(level["across"] for level in report[when]["levels"]
                if level["name"] == "node")


def row(name, before, after, ratio=""):
    print(f"  {name:22}{before:>18}{after:>18}{ratio:>8}".rstrip())


def near(one, other):
    return abs(one - other) <= NEAR * other


def bytes_table(report, found, sides):
    """Print the bytes; whether they are as predicted, and fall so."""
    said = [crossing(report, when) for when in (BEFORE, AFTER)]
    fall, right = said[1] / said[0], True
    row("predicted", *(f"{n:,}" for n in said), f"{fall:.2f}")
    for side in sides:
        sent = [round(statistics.median(n for _, n in found[side, when]))
                for when in (BEFORE, AFTER)]
        row(f"counted, {side}", *(f"{n:,}" for n in sent),
            f"{sent[1] / sent[0]:.2f}")
        right &= near(sent[1] / sent[0], fall) and all(map(near, sent, said))
    return right


def times_table(found, sides):
    for side in sides:
        times = [[seconds for seconds, _ in found[side, when]]
                 for when in (BEFORE, AFTER)]
        middle = [statistics.median(one) for one in times]
        row(side, *(f"{t:.3f}" for t in middle),
            f"{middle[1] / middle[0]:.2f}")
        row("", *(f"({min(one):.3f} to {max(one):.3f})" for one in times))


def main():
    args = options()
    with tempfile.TemporaryDirectory() as name:
        loop = Loop(args, Path(name))
        print(f"Heat in columns, {args.n} ranks on {args.k} nodes, faces of "
              f"{args.columns * args.levels * 8:,} bytes, {args.steps} steps")
        for line in loop.said:
            print(line)
        report = loop.map(loop.profile())
        found = {}
        if loop.refusal:
            print(f"No test nodes here ({loop.refusal}): predicted, not "
                  "counted.\n"
                  "The nodes take Linux with user namespaces, or root.")
        else:
            placements = {BEFORE: loop.round_robin, AFTER: loop.mapped(report)}
            found = counted(loop, {
                (side, when): [*start, *more]
                for side, more in (("MPI alone", ()), (
                    "Straightway", (loop.straightway, "run", "--")))
                for when, start in placements.items()})
        sides = list(dict.fromkeys(side for side, _ in found))
        print(f"\n{'bytes between nodes':24}{'round robin':>18}"
              f"{'as mapped':>18}{'ratio':>8}")
        right = bytes_table(report, found, sides)
        if found:
            print("seconds, median (lowest to highest)")
            times_table(found, sides)
            print("\nThe nodes counted what map predicted, within 5 %." if right
                  else "\nThe nodes did not count what map predicted: FAILED")
    ours = os.path.relpath(loop.straightway)
    print(f"\nOn your own program:\n  mpirun -n 8 {ours} profile ./app\n"
          f"  {ours} map app.*.swcap --machine 2x4 --write place")
    return not right


if __name__ == "__main__":
    demo.end_with(main)
