"""A benchmark of messages with gaps on a terminal."""

from rich.text import Text

from straightway.reporters.bench_parts import (
    notes, overall, ratio, new_table, timing)
from straightway.reporters.console import opened

_RATIOS = {"ratio": "host/\nours", "hand_ratio": "hand/\nours",
           "floor_ratio": "ours/\nfloor"}


def _three_ratios(one):
    # The floor has no colour: no implementation can pass it.
    return [ratio(one["ratio"]), ratio(one["hand_ratio"]),
            ratio(one["floor_ratio"], coloured=False)]


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
                      *_three_ratios(cell))
    return table


def _kernel_means(report):
    table = new_table()
    table.add_column("geometric means", min_width=15)
    table.add_column("data", min_width=9)
    for name in _RATIOS.values():
        table.add_column(name, justify="right")
    for kernel, kinds in report["summary"]["means"].items():
        for i, (data, one) in enumerate(kinds.items()):
            table.add_row("" if i else kernel, data, *_three_ratios(one))
    return table


def render(report, out):
    console = opened(out)
    plan = report["plan"]
    applications = {c["operation"]: c["application"] for c in report["cells"]}
    for kernel, application in applications.items():
        title = Text(kernel, "bold")
        title.append(f": {application}", "default")
        console.print(title)
        console.print(_kernel(report, kernel))
        console.print()
    console.print(_kernel_means(report))
    said = ["Half of a round trip; medians, ± holds the median with 95 % "
            "confidence. host: the MPI gets the datatype; hand: loops around "
            "the MPI pack and unpack; ours: Straightway gets the datatype; "
            "floor: Straightway gets as many bytes without gaps."]
    if "fresh" in plan["data"]:
        said.append("The sender writes fresh data before each message; the "
                    "time excludes the writing.")
    notes(console, said, report)
    if report["summary"]["worst"]:
        overall(console, report["summary"])
