"""A benchmark of what recording costs on a terminal."""

import os

from rich.text import Text

from straightway import units
from straightway.bench.recording import ITEMS
from straightway.reporters.bench_parts import notes, new_table
from straightway.reporters.console import opened


def _nanoseconds(t, sign=""):
    return f"{t:{sign},.0f}" if abs(t) >= 99.95 else f"{t:{sign}.1f}"


def _half(one):
    """Half of the distance between the quartiles."""
    return (one["high"] - one["low"]) / 2


def _recorded(cell, variant, title):
    """A variant's part of a row."""
    one = cell[variant]
    spread = _half(one) / one["median"]
    row = [title, _nanoseconds(one["median"]),
           Text(f"±{spread:.0%}" if spread < 9.995 else "wide", "dim")]
    if variant == "host":
        return row + ["", "", ""]
    percent = one["percent"]
    return row + [_nanoseconds(one["per_call"]["median"], "+"),
                  Text("±" + _nanoseconds(_half(one["per_call"])), "dim"),
                  f"{percent:+,.0f}%" if abs(percent) >= 9.95
                  else f"{percent:+.1f}%"]


def render(report, out):
    console = opened(out)
    table = new_table(closely=True)
    table.add_column("what", min_width=18, no_wrap=True)
    table.add_column("calls", justify="right", no_wrap=True)
    table.add_column("run", max_width=16, no_wrap=True, overflow="ellipsis")
    for name in ("ns", "±", "ns a call", "±", "%"):
        table.add_column(name, justify="right", no_wrap=True)
    tool = os.path.basename(report["plan"]["tool"] or "")
    for cell in report["cells"]:
        size = units.brief(cell["size"]) if cell["size"] else ""
        head = [f"{ITEMS[cell['operation']]} {size}".rstrip(),
                str(cell["path"])]
        for variant in report["variants"]:
            table.add_row(*head, *_recorded(cell, variant,
                                            tool if variant == "tool"
                                            else variant))
            head = ["", ""]
    console.print(table)
    floors = report["floors"]
    notes(console, [
        f"Medians of {report['plan']['rounds']} runs; ± is half of the "
        "distance between the quartiles. \"ns a call\" is the difference to "
        "the host in the same round, divided by the recorded calls on the "
        "critical path (calls). A trace empties its buffer in few of the "
        "batches, so the median leaves this out: some 10 ns a call.",
        "A tool that times a call reads the clock twice: "
        f"{_nanoseconds(floors['clock_reads'])} ns here. By its own measure "
        f"Straightway takes {_nanoseconds(floors['own_call_cost'])} ns a call "
        "(own_call_cost)."], report)
