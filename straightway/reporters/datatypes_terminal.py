"""A benchmark of messages with gaps on a terminal."""

from rich.text import Text

from straightway import units
from straightway.bench import datatypes
from straightway.reporters.bench_parts import (
    microseconds, new_table, notes, overall, ratio, timing)
from straightway.reporters.console import opened

_BY_LOOPS = "hand: loops around the MPI pack and unpack"
_BY_COPIES = ("runs, planes: around the MPI a copy packs or unpacks each run, "
              "or each plane of runs")

_RATIOS = {"ratio": "host/\nours", "hand_ratio": "hand/\nours",
           "floor_ratio": "ours/\nfloor"}


_GPU_TIMES = {"ratio": "host/\nours", "hand_ratio": "runs/\nours",
              "planes_ratio": "planes/\nours"}
_GPU_RATIOS = {**_GPU_TIMES, "floor_ratio": _RATIOS["floor_ratio"]}


def _names(report):
    return _GPU_RATIOS if datatypes.in_gpu(report["plan"]) else _RATIOS


def _ratios(one, names):
    # The floor has no colour: no implementation can pass it.
    return [ratio(one[name], coloured=name != "floor_ratio")
            for name in names]


def _kernel(report, kernel):
    table = new_table(closely=True)
    table.add_column("bytes", justify="right", min_width=7)
    table.add_column("data", min_width=9)
    for name in ("host\nµs", "95 %", "hand\nµs", "95 %", "ours\nµs", "95 %",
                 "floor\nµs", *_RATIOS.values()):
        table.add_column(name, justify="right", no_wrap=True)
    last = None
    for cell in report["cells"]:
        if cell["operation"] != kernel:
            continue
        row = [str(cell["size"]) if cell["size"] != last else "",
               cell["data"]]
        last = cell["size"]
        for way in ("host", "hand", "ours"):
            row += timing(cell[way], widest=.995)
        table.add_row(*row, timing(cell["contiguous"])[0],
                      *_ratios(cell, _RATIOS))
    return table


def _share(cell):
    """The part of a plain copy's speed that the message reaches."""
    return f"{cell['memcpy'] / cell['ours']['median']:.0%}" \
        if cell["ours"] else ""


def _gpu_kernel(report, kernel):
    table = new_table(closely=True)
    for name in ("bytes", "runs", "host\nµs", "runs\nµs", "planes\nµs",
                 "ours\nµs", "95 %", "copy\nµs", *_GPU_TIMES.values(),
                 "copy/\nours"):
        table.add_column(name, justify="right", no_wrap=True)
    for cell in report["cells"]:
        if cell["operation"] == kernel:
            table.add_row(
                units.brief(cell["size"]), str(cell["runs_sent"]),
                *(timing(cell[way])[0] for way in ("host", "hand", "planes")),
                *timing(cell["ours"], widest=.995),
                microseconds(cell["memcpy"]), *_ratios(cell, _GPU_TIMES),
                _share(cell))
    return table


def _kernel_means(report):
    table = new_table()
    table.add_column("geometric means", min_width=15)
    table.add_column("data", min_width=9)
    names = _names(report)
    for name in names.values():
        table.add_column(name, justify="right")
    for kernel, kinds in report["summary"]["means"].items():
        for i, (data, one) in enumerate(kinds.items()):
            table.add_row("" if i else kernel, data, *_ratios(one, names))
    return table


def _gpu_overall(means):
    """Without figures of the MPI: against what programs do by hand."""
    line = Text("\nOverall: runs / ours = ", "bold")
    line.append_text(ratio(means["hand_ratio"]))
    line.append(", planes / ours = ")
    line.append_text(ratio(means["planes_ratio"]))
    line.append(" (geometric means)")
    return line


def render(report, out):
    console = opened(out)
    plan = report["plan"]
    gpu = datatypes.in_gpu(plan)
    applications = {c["operation"]: c["application"] for c in report["cells"]}
    for kernel, application in applications.items():
        title = Text(kernel, "bold")
        title.append(f": {application}", "default")
        console.print(title)
        console.print((_gpu_kernel if gpu else _kernel)(report, kernel))
        console.print()
    console.print(_kernel_means(report))
    said = ["Half of a round trip; medians, ± holds the median with 95 % "
            "confidence. host: the MPI gets the datatype; "
            + (_BY_COPIES if gpu else _BY_LOOPS)
            + "; ours: Straightway gets the datatype; floor: Straightway gets "
            "as many bytes without gaps."]
    if gpu:
        said.append("copy: a plain copy of as many bytes on rank 0, in a GPU "
                    "where its array lies there. A way without figures was "
                    "not measured: the MPI knows no GPUs, a message would "
                    "need more than 16384 copies, or runs do not lie in "
                    "planes.")
    if "fresh" in plan["data"]:
        said.append("The sender writes fresh data before each message; the "
                    "time excludes the writing.")
    notes(console, said, report)
    means = report["summary"]["means"].get("all", {})
    if gpu and means and not report["summary"]["worst"]:
        console.print(_gpu_overall(means["untouched"]))
    if report["summary"]["worst"]:
        overall(console, report["summary"])
