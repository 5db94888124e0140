"""Placements of `straightway map` beside those of others, as a table.

    .venv/bin/python bench/mapping.py [--write] [--only WORD]

Each row is a pattern on a machine. A figure is another placement's cost in
parts of ours: above 1, ours is better. METIS (package pymetis) and Scotch
(Debian's package scotch, or SCOTCH=PREFIX) have a column where they are
installed; ours uses neither. "best" is the least cost of all, by exhaustive
search, where that ends within a number of steps. bench/matrices has the traffic
of runs of examples/kernels, from their captures.

--write puts the table into docs/mapping.md.
"""
import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import exact                                                    # noqa: E402
from straightway.machine import slots as machines               # noqa: E402
from straightway.mapping import (metis, patterns, problem,      # noqa: E402
                                 solve, solver)
from straightway.mapping.traffic import Traffic                 # noqa: E402

MACHINES = {
    "2x4": "2x4", "8x6": "8x6", "2x64": "2x64", "4x48": "4x48",
    "2x2x4 (packages)": "2x2x4", "50x48": "50x48",
    "fat tree": "pod=2,switch=3,node=4,package=2,core=8",
    "dragonfly": "group=4,switch=4,node=3,core=12"}
KERNELS = {16: "2x2x4", 64: "4x2x8"}    # the machine of a run, by its ranks
STEPS = 150000          # of the exhaustive search
EXACT = 16              # ranks, at most
BEGIN, END = "<!-- table: bench/mapping.py -->\n", "<!-- end -->\n"


# Cases ----------------------------------------------------------------------

def dims(ranks, count):
    """Sizes as equal as may be, the largest first."""
    found = [1] * count
    n, primes, p = ranks, [], 2
    while n > 1:
        while n % p == 0:
            primes.append(p)
            n //= p
        p += 1
    for p in reversed(primes):
        found[found.index(min(found))] *= p
    return sorted(found, reverse=True)


def geometric(ranks, seed):
    """Ranks at random points of a square, with messages to those near them."""
    draw = random.Random(seed)
    points = [(draw.random(), draw.random()) for _ in range(ranks)]
    reach = (8 / (3.14 * ranks)) ** 0.5
    return Traffic(ranks, {
        (a, b): 1 for a, one in enumerate(points)
        for b, two in enumerate(points)
        if a != b and (one[0] - two[0]) ** 2 + (one[1] - two[1]) ** 2
        < reach ** 2})


def cases(ranks):
    """(name, Traffic, Grid or None)"""
    for count in (2, 3):
        size = dims(ranks, count)
        text = "x".join(map(str, size))
        for name, stencil, period in (
                ("", "faces", False), (", periods", "faces", True),
                (", corners", "corners", False),
                (", component", "component", False),
                (", hops", "hops", False)):
            one = patterns.Grid(size, [period] * count,
                                patterns.STENCILS[stencil](count))
            yield text + name, one.traffic(), one
    for seed in (1, 2):
        yield f"geometric {seed}", geometric(ranks, seed), None


def kernels(only):
    """(machine, its text, name, Traffic, None) of each run of a kernel."""
    for path in sorted((HERE / "matrices").glob("*-*.txt")):
        name, _, ranks = path.stem.partition("-")
        lines = path.read_text().splitlines()[1:]
        sent = {(rank, int(to)): int(amount)
                for rank, line in enumerate(lines)
                for to, _, amount in (word.partition(":")
                                      for word in line.split())}
        text = KERNELS[int(ranks)]
        if only in f"{text} (kernels)":
            yield f"{text} (kernels)", text, name, Traffic(
                int(ranks), sent, "bytes"), None


def every(only):
    """(machine, its text, name, Traffic, Grid or None) of each row."""
    for machine, text in MACHINES.items():
        if only in machine:
            for name, traffic, one in cases(len(machines.parse(text))):
                yield machine, text, name, traffic, one
    yield from kernels(only)


# The others -----------------------------------------------------------------

def _spread(parts, made):
    """A placement of the innermost part of each rank; ranks that are too many
    in one go to the next with room."""
    members, spare = [[] for _ in made.below[-1]], []
    for rank, part in enumerate(parts):
        members[part].append(rank)
    for one, (begin, end) in zip(members, made.below[-1]):
        spare += one[end - begin:]
        del one[end - begin:]
    found = [0] * made.ranks
    for one, (begin, end) in zip(members, made.below[-1]):
        while len(one) < end - begin:
            one.append(spare.pop(0))
        for slot, rank in enumerate(sorted(one), begin):
            found[rank] = slot
    return found


def by_metis(made):
    """METIS's placement, of both its methods the better."""
    if not metis.pymetis:
        return None
    return min((metis.placement(made, recursive) for recursive in
                (False, True)), key=made.cost)


def scotch_program():
    prefix = pathlib.Path(os.environ.get("SCOTCH", "/usr"))
    found = prefix / "bin" / "scotch_gmap"
    return str(found) if found.exists() else shutil.which("scotch_gmap")


def _target(made):
    """The machine as Scotch's architecture tleaf: a tree with the price of
    each level."""
    words, outer = [], 1
    for level, stretches in enumerate(made.below):
        price = round(4 * sum(made.step[level:]))
        words += [str(len(stretches) // outer), str(price)]
        outer = len(stretches)
    return f"tleaf {len(made.below)} " + " ".join(words) + "\n"


def by_scotch(made):
    """Scotch's placement, of two tolerances the better."""
    program = scotch_program()
    if not program:
        return None
    lines = ["0", f"{made.ranks} {sum(map(len, made.traffic.near))}", "0 010"]
    lines += [" ".join([str(len(near)), *(f"{amount} {other}"
                                          for other, amount in near)])
              for near in made.traffic.near]
    best = None
    with tempfile.TemporaryDirectory() as folder:
        graph, target = (os.path.join(folder, name) for name in "gt")
        pathlib.Path(graph).write_text("\n".join(lines) + "\n")
        pathlib.Path(target).write_text(_target(made))
        for tolerance in ("-b0.001", "-b0.05"):
            done = subprocess.run([program, tolerance, graph, target, "-"],
                                  text=True, capture_output=True, check=True)
            rows = [line.split() for line in done.stdout.splitlines()[1:]]
            parts = [0] * made.ranks
            for rank, part in rows:
                parts[int(rank)] = int(part)
            one = _spread(parts, made)
            if best is None or made.cost(one) < made.cost(best):
                best = one
    return best


# The table ------------------------------------------------------------------

COLUMNS = ("blocked", "round robin", "blocks", "hyperplane", "halves",
           "strips", "METIS", "Scotch", "best")


def row(traffic, slots, one):
    """(our cost, {column: cost}, seconds)"""
    made = problem.Problem(traffic, slots)
    package, metis.pymetis = metis.pymetis, None
    begun = sum(os.times()[:4])         # with the native solver's
    ours = solve.solve(traffic, slots, one)
    took = sum(os.times()[:4]) - begun
    metis.pymetis = package
    others = {"blocked": solve.blocked(slots, traffic.ranks),
              "round robin": solve.round_robin(slots)}
    if one:
        others.update(solver.forms(one, slots))
    others["METIS"], others["Scotch"] = by_metis(made), by_scotch(made)
    if traffic.ranks <= EXACT:
        others["best"] = exact.Search(made, ours.placement, STEPS).run()
    return ours.cost, {name: made.cost(placement) for name, placement in
                       others.items() if placement}, took


def _figure(cost, ours):
    if cost is None:
        return ""
    return f"{cost / ours:.2f}" if ours else ("1.00" if not cost else "inf")


def table(only=""):
    lines = ["| machine | pattern | " + " | ".join(COLUMNS) + " | s |",
             "| --- | --- |" + " ---: |" * (len(COLUMNS) + 1)]
    worse = []
    for machine, text, name, traffic, one in every(only):
        ours, others, took = row(traffic, machines.parse(text), one)
        figures = [_figure(others.get(c), ours) for c in COLUMNS]
        lines.append(f"| {machine} | {name} | " + " | ".join(figures)
                     + f" | {took:.1f} |")
        print(lines[-1], file=sys.stderr, flush=True)
        worse += [f"{machine}, {name}: {c} {others[c] / ours:.4f}"
                  for c in COLUMNS if others.get(c, ours) < ours - 1e-9]
    return "\n".join(lines) + "\n", worse


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="", metavar="WORD")
    chosen = parser.parse_args()
    made, worse = table(chosen.only)
    if chosen.write:
        path = HERE.parent / "docs" / "mapping.md"
        text = path.read_text()
        before, _, rest = text.partition(BEGIN)
        path.write_text(before + BEGIN + made + END + rest.partition(END)[2])
    else:
        print(made, end="")
    for one in worse:
        print(f"better than ours: {one}", file=sys.stderr)
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
