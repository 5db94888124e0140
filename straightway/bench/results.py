"""The results of a run: cells, their summary, and the verdict on them."""

import shlex
import sys

from straightway.bench import medians
from straightway.machine import hardware

MODES = ("host", "ours")


def timing(line, way):
    """The times of one way in a line of output; None: not measured."""
    if not line.get(way):
        return None
    found = dict(medians.summary(line[way]), calls=line[way + "_calls"],
                 right=line[way + "_right"], samples=line[way])
    if way + "_sent" in line:
        found["sent"] = line[way + "_sent"]
    return found


def cell(line, floor, modes=MODES):
    """One cell of a report, from its line of output."""
    found = {"operation": line["cell"], "size": line["size"], "floor": floor,
             **{mode: timing(line, mode) for mode in modes}, "ratio": None}
    if found["ours"] and found["host"]:
        found["ratio"] = found["host"]["median"] / found["ours"]["median"]
    return found


def start(run):
    """The line that the run began with, or {}."""
    return next((e["start"] for e in run["events"] if "start" in e), {})


def cell_lines(run):
    return [e for e in run["events"] if "cell" in e]


def summary(cells, names):
    """Ratios: the mean and the worst of each operation, and of all."""
    rated = [c for c in cells if c["ratio"]]
    result = {"operations": {}, "geometric_mean": None, "worst": None}
    for name in names:
        mine = [c for c in rated if c["operation"] == name]
        if mine:
            worst = min(mine, key=lambda c: c["ratio"])
            result["operations"][name] = {
                "geometric_mean": medians.geometric_mean(
                    c["ratio"] for c in mine),
                "worst": worst["ratio"], "worst_size": worst["size"]}
    if rated:
        worst = min(rated, key=lambda c: c["ratio"])
        result["geometric_mean"] = medians.geometric_mean(
            c["ratio"] for c in rated)
        result["worst"] = {k: worst[k] for k in ("operation", "size",
                                                 "ratio")}
    return result


def head(schema, run, host, ranks, description, floors, seed, seconds):
    """The members that every report begins with."""
    begun = start(run)
    return {
        "schema": schema,
        "machine": description,
        "mpi": dict(host.describe(), version=begun.get("mpi", host.version)),
        "ranks": begun.get("ranks", ranks),
        "nodes": begun.get("nodes", []),
        "node_names": begun.get("node_names", []),
        "transport": begun.get("transport"),
        "wires": begun.get("wires"),
        "oversubscribed": begun.get("crowded",
                                    (ranks or 0) > hardware.cores()),
        "seed": seed,
        "seconds": seconds,
        "command": shlex.join(run["command"]),
        "switchable": begun.get("modes") == 2,
        "floors": floors,
    }


def _say(sentence):
    print(f"straightway: {sentence}", file=sys.stderr)


def verdict(run, report, host, why=lambda cell, mode: "", who=None):
    """Return the exit status, and print what is wrong.

    `why` adds details of a wrong result. `who` gives a title for each mode, if
    the modes are not the usual ones.
    """
    who = who or {"host": host.title, "ours": "Straightway"}
    cells = report["cells"]
    wrong = [(c, mode) for c in cells for mode in who
             if c[mode] and not c[mode]["right"]]
    for one, mode in wrong:
        _say(f"WRONG RESULT: {one['operation']} at {one['size']} bytes with "
             f"{who[mode]}" + why(one, mode))
    if wrong:
        return 1
    if not cells:
        # The launcher, or straightway run, has printed the reason.
        _say(f"the benchmark did not start (status {run['status']})")
        return 1
    if run["status"] or len(cells) < run["expected"]:
        _say(f"the benchmark ended with status {run['status']} after "
             f"{len(cells)} of {run['expected']} cells; its command was\n  "
             + report["command"])
        return 1
    if not report["switchable"]:
        _say(f"the run measured only {host.title}: Straightway does not "
             "accelerate it here (see straightway doctor)")
        return 1
    return 0
