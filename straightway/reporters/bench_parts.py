"""Parts that the pages of all benchmarks share: times, ratios, notes."""

import textwrap

from rich.table import Table
from rich.text import Text

from straightway import units


def new_table(closely=False):
    """An empty table; `closely`: one blank between its columns."""
    return Table(box=None, padding=(0, 1, 0, 0) if closely else (0, 1),
                 pad_edge=False, header_style="bold")


def named(cells):
    """(cell, [its operation, its size]) of each, for the rows of a table: the
    operation is in its first row, and a size of 0 is not shown."""
    last = None
    for cell in cells:
        name, size = cell["operation"], cell["size"]
        yield cell, [name if name != last else "",
                     units.brief(size) if size else ""]
        last = name


def microseconds(t):
    """A time with three significant digits."""
    if t is None:
        return ""
    if t >= 1e5:
        return f"{t / 1e6:.3g} s"
    if t >= 100:
        return f"{t:,.0f}"
    return f"{t:.3g}" if t >= 10 else f"{t:.2f}"


def ratio(value, coloured=True):
    """A ratio; green from 1.05 on, red below 0.95."""
    if value is None:
        return Text("")
    style = "green" if value >= 1.05 else "bold red" if value < .95 else ""
    return Text(f"{value:.2f}" if value < 100 else f"{value:,.0f}",
                style if coloured else "")


def timing(one, widest=10):
    """A median and its spread."""
    if not one:
        return ["", ""]
    spread = max(one["high"] - one["median"],
                 one["median"] - one["low"]) / one["median"]
    text = microseconds(one["median"])
    return [Text(text if one["right"] else "WRONG",
                 "" if one["right"] else "bold red"),
            Text(f"±{spread:.0%}" if spread < widest else "wide", "dim")]


def about_floor(report, others):
    """The sentences on medians and the floor; `others`: further floors."""
    trip = report["floors"].get("round_trip")
    return ("Medians; ± holds the median with 95 % confidence. The floor is "
            "half a cache-line round trip"
            + (f" ({trip:.3g} µs)" if trip else "") + others)


def notes(console, sentences, report):
    console.print()
    if report["oversubscribed"]:
        sentences = [*sentences, "The run has more ranks than cores: times "
                     "include waiting for a core"
                     + (", and the floor does not." if report["floors"]
                        else ".")]
    for note in sentences:
        for line in textwrap.wrap(note, min(78, console.width)):
            console.print(Text(line, "dim"))


def overall(console, summary):
    worst = summary["worst"]
    line = Text("\nOverall: host / ours = ", "bold")
    line.append_text(ratio(summary["geometric_mean"]))
    line.append(" (geometric mean); worst ")
    line.append_text(ratio(worst["ratio"]))
    line.append(f" ({worst['operation']}"
                + (f" {units.brief(worst['size'])}" if worst["size"] else "")
                + ")")
    console.print(line)
