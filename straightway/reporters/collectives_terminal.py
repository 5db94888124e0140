"""A benchmark of collectives on a terminal."""

from rich.text import Text

from straightway import units
from straightway.reporters.bench_parts import (
    about_floor, microseconds, notes, overall, ratio, new_table, timing)
from straightway.reporters.console import opened


def _cells(report):
    table = new_table()
    table.add_column("operation", min_width=20)
    for name in ("size", "host µs", "95 %", "ours µs", "95 %", "ratio",
                 "floor µs"):
        table.add_column(name, justify="right", no_wrap=True)
    last = None
    for cell in report["cells"]:
        row = [cell["operation"] if cell["operation"] != last else "",
               units.brief(cell["size"]) if cell["size"] else ""]
        last = cell["operation"]
        for mode in ("host", "ours"):
            row += timing(cell[mode])
        row += [ratio(cell["ratio"]),
                Text(microseconds(cell["floor"]), "dim")]
        table.add_row(*row)
    return table


def _means(report):
    table = new_table()
    table.add_column("host / ours", min_width=20)
    for name in ("mean", "worst", "at"):
        table.add_column(name, justify="right")
    for name, one in report["summary"]["operations"].items():
        size = one["worst_size"]
        table.add_row(name, ratio(one["geometric_mean"]),
                      ratio(one["worst"]), units.brief(size) if size else "")
    return table


def _guidelines(report):
    table = new_table()
    table.add_column("guideline", min_width=38)
    modes = list(report["guidelines"])
    for mode in modes:
        table.add_column(mode, justify="right")
        table.add_column("worst", justify="right")
    for rows in zip(*(report["guidelines"][m] for m in modes)):
        row = [rows[0]["rule"]]
        for one in rows:
            good = one["held"] == one["of"]
            row += [Text(f"{one['held']} of {one['of']}",
                         "green" if good else "yellow"),
                    Text("" if good else f"{one['worst']:.2f} at "
                         f"{units.brief(one['size'])}" if one["size"] else
                         f"{one['worst']:.2f}", "dim")]
        table.add_row(*row)
    return table


def render(report, out):
    console = opened(out)
    console.print(_cells(report))
    notes(console, [about_floor(
        report, ", for rooted operations one line of a stream, or the memcpy "
        "of the bytes that a rank must move.")], report)
    summary = report["summary"]
    if summary["operations"]:
        console.print()
        console.print(_means(report))
        overall(console, summary)
    if any(report["guidelines"].values()):
        console.print()
        console.print(_guidelines(report))
