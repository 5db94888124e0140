"""A benchmark of messages on a terminal."""

from rich.text import Text

from straightway import units
from straightway.bench import ladder
from straightway.reporters.bench_parts import (
    about_floor, microseconds, new_table, notes, overall, ratio, timing)
from straightway.reporters.console import opened


def _megabytes(rate):
    """Bandwidth in MB/s, three digits that count."""
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def _messages(report, pattern):
    table = new_table()
    for name in ("size", "host µs", "95 %", "ours µs", "95 %", "ratio",
                 "host\nMB/s", "ours\nMB/s", "floor\nµs"):
        table.add_column(name, justify="right", no_wrap=True)
    for cell in report["cells"]:
        if cell["operation"] != pattern:
            continue
        rates = [_megabytes(cell[mode]["bandwidth"]) if cell[mode] else ""
                 for mode in ("host", "ours")]
        table.add_row(units.brief(cell["size"]),
                      *timing(cell["host"]), *timing(cell["ours"]),
                      ratio(cell["ratio"]), *rates,
                      Text(microseconds(cell["floor"]), "dim"))
    return table


_TIMES = {
    **ladder.PATTERNS,
    "bidirectional": "both ways at once",
    "stream": "one message's share of a stream",
    "window": "one message's share, {window} under way",
    "ring": "one step of all ranks",
    "random": "one step of all ranks",
    "give": "a block given there and back, half of a round trip",
    "giveread": "a block given there and back, each line read",
    "partitioned": "half of a round trip; the host sends a plain message"}


def _patterns(report):
    table = new_table()
    table.add_column("host / ours", min_width=14)
    for name in ("mean", "worst", "at", "host MB/s", "at", "ours MB/s", "at"):
        table.add_column(name, justify="right")
    summary = report["summary"]
    for name, peak in summary["peaks"].items():
        one = summary["operations"].get(name)
        row = ["", "", ""] if not one else [
            ratio(one["geometric_mean"]), ratio(one["worst"]),
            units.brief(one["worst_size"])]
        for mode in ("host", "ours"):
            most = peak[mode]
            row += [_megabytes(most["bandwidth"]), units.brief(most["size"])] \
                if most else ["", ""]
        table.add_row(name, *row)
    return table


def render(report, out):
    console = opened(out)
    plan = report["plan"]
    shown = {c["operation"] for c in report["cells"]}
    for pattern in [p for p in plan["patterns"] if p in shown]:
        title = Text(pattern, "bold")
        title.append(": " + _TIMES[pattern].format(**plan), "default")
        console.print(title)
        console.print(_messages(report, pattern))
        console.print()
    console.print(_patterns(report))
    where = {"heap": "on the heap", "stack": "on the stack",
             "mmap": "in private mappings"}[plan["buffers"]]
    notes(console, [about_floor(
        report, ", for stream and window one line of a stream, or a memcpy of "
        "the message. Bandwidth is the sum of all pairs, with the maximum "
        "below the tables; 1 MB is 1,000,000 bytes."),
        f"Buffers lie {where}, {plan['offset_send']} (sent) and "
        f"{plan['offset_receive']} (received) bytes from a page, "
        + ("and are the same each time." if plan["cache"] == "warm" else
           f"and walk through {units.brief(plan['cold_area'])} each.")],
        report)
    if report["summary"]["worst"]:
        overall(console, report["summary"])
