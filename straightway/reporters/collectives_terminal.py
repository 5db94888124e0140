"""A benchmark of collectives on a terminal."""

from rich.text import Text

from straightway import units
from straightway.bench import ways
from straightway.reporters.bench_parts import (
    about_floor, microseconds, named, new_table, notes, overall, ratio, timing)
from straightway.reporters.console import opened


def _sent(count):
    """Bytes in at most five letters; "" where they are not known."""
    if count is None:
        return ""
    for unit, letter in ((1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")):
        if count >= 0.9995 * unit:
            value = count / unit
            return (f"{value:.2f}" if value < 9.995 else f"{value:.1f}"
                    if value < 99.95 else f"{value:.0f}") + letter
    return f"{count:.0f}"


def _cells(report):
    several = report["several"]
    table = new_table(closely=several)
    table.add_column("operation", min_width=20)
    for name in ("size", "host µs", "95 %", "ours µs", "95 %", "ratio",
                 *(("host B", "ours B", "least") if several
                   else ("floor µs",))):
        table.add_column(name, justify="right", no_wrap=True)
    for cell, row in named(report["cells"]):
        for mode in ("host", "ours"):
            row += timing(cell[mode])
        row += [ratio(cell["ratio"])]
        if several:
            row += [_sent((cell[mode] or {}).get("sent"))
                    for mode in ("host", "ours")]
            row += [Text(_sent(cell["least_sent"]), "dim")]
        else:
            row += [Text(microseconds(cell["floor"]), "dim")]
        table.add_row(*row)
    return table


def _ways(report):
    """The ways over several nodes, in one table."""
    table = new_table()
    table.add_column("operation", min_width=20)
    for name in ("size", "host µs", "leaders µs", "lanes µs", "wins"):
        table.add_column(name, justify="right", no_wrap=True)
    for cell, row in named(
            cell for cell in report["cells"]
            if all(cell.get(way) for way in ways.WAYS)):
        table.add_row(*row, *(timing(cell[way])[0] for way in ways.WAYS),
                      ways.best(cell))
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
    notes(console, [
        "Medians; ± holds the median with 95 % confidence. B: the bytes that "
        "all nodes together send for one call, with the network's own."
        if report["several"] else about_floor(
            report, ", for rooted operations one line of a stream, or the "
            "memcpy of the bytes that a rank must move.")], report)
    if any("leaders" in cell for cell in report["cells"]):
        console.print()
        console.print(_ways(report))
    summary = report["summary"]
    if summary["operations"]:
        console.print()
        console.print(_means(report))
        overall(console, summary)
    if any(report["guidelines"].values()):
        console.print()
        console.print(_guidelines(report))
