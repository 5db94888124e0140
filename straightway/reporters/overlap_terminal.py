"""A benchmark of nonblocking collectives on a terminal."""

from rich.text import Text

from straightway import units
from straightway.bench import overlap
from straightway.bench.results import MODES
from straightway.reporters.bench_parts import (
    microseconds, named, new_table, notes, ratio)
from straightway.reporters.console import opened

_OPERATION, _SIZE = 20, 4


class _Grouped:
    """A table with a line over groups of columns. `groups` are (title,
    [(column, width)])."""

    def __init__(self, groups):
        self.head = " " * (_OPERATION + 1 + _SIZE)
        self.table = new_table(closely=True)
        self.table.add_column("operation", width=_OPERATION)
        self.table.add_column("size", width=_SIZE, justify="right")
        for title, columns in groups:
            span = sum(width + 1 for _, width in columns)
            self.head += f"  {title}".ljust(span)
            for name, width in columns:
                self.table.add_column(name, width=width, justify="right",
                                      no_wrap=True)

    def show(self, console, report, row):
        """`row` makes the columns of a cell."""
        for cell, head in named(report["cells"]):
            self.table.add_row(*head, *row(cell))
        console.print(Text(self.head.rstrip(), "bold"))
        console.print(self.table)
        console.print()


def _time(one):
    if not one:
        return ""
    return microseconds(one["median"]) if one["right"] else \
        Text("WRONG", "bold red")


def _percent(one):
    """Five letters at most: noise can bring any number."""
    percent = 100 * one["median"]
    return f"{percent:.0f}" if abs(percent) < 999 else \
        "<-999" if percent < 0 else ">999"


def _times(console, report):
    forms = overlap.IN_ROWS[:None if report["persistent"] else -1]
    sides = [("host", 6), ("ours", 6)]
    table = _Grouped([(f"{form}, µs", sides + [("ratio", 5)]
                       if form != "blocking" else sides) for form in forms])

    def row(cell):
        for form in forms:
            yield from (_time(cell[mode] and cell[mode][form])
                        for mode in MODES)
            if form != "blocking":
                yield ratio(cell["ratios"][form])

    table.show(console, report, row)


def _sides(report):
    return [mode for mode in MODES if mode == "host" or report["switchable"]]


def _overlaps(console, report):
    columns = [(name, 4) for name in (*overlap.FACTORS, "test")]
    table = _Grouped([(f"overlap %, {mode}", [*columns, ("gain", 5)])
                      for mode in _sides(report)])

    def row(cell):
        for mode in _sides(report):
            one = cell[mode]
            for name in overlap.FACTORS:
                yield _percent(one["plain"][name]["overlap"])
            yield _percent(one["tested"]["1"]["overlap"])
            yield ratio(one["plain"]["1"]["gain"]["median"])

    table.show(console, report, row)


def _hidden(console, report):
    columns = [(name, 5) for name in ("0", *overlap.FACTORS)]
    table = _Grouped([(f"skew hidden %, {mode}", columns)
                      for mode in _sides(report)])
    table.show(console, report, lambda cell: (
        _percent(one["hidden"]) for mode in _sides(report)
        for one in cell[mode]["late"].values()))


def _means(report):
    table = new_table()
    table.add_column("host / ours", min_width=20)
    for name in ("mean", "worst", "at"):
        table.add_column(name, justify="right", no_wrap=True)
    for form, found in report["summary"].items():
        worst = found["worst"]
        if worst:
            table.add_row(
                form, ratio(found["geometric_mean"]), ratio(worst["ratio"]),
                " ".join((worst["operation"], units.brief(worst["size"])
                          if worst["size"] else "")).rstrip())
    return table


def _unsteady(report):
    """A sentence on cells whose columns have the wrong titles."""
    count = sum(not cell[mode]["steady"] for cell in report["cells"]
                for mode in _sides(report))
    if count:
        yield (f"In {count} of {len(report['cells']) * len(_sides(report))} "
               "measurements a computing time was off from the pure time by "
               f"more than {overlap.STEADY - 1:.0%}, because the pure time "
               "did not keep steady.")


def render(report, out):
    console = opened(out)
    _times(console, report)
    _overlaps(console, report)
    _hidden(console, report)
    if report["switchable"]:
        console.print(_means(report))
    notes(console, [
        "Medians. Columns 0, 0.5, 1, 2: computing, in pure times of the "
        "operation. test: 1, with MPI_Test calls. gain: the blocking call and "
        "the computing, one after the other, against both at once. Skew "
        "hidden: the part of the pure time that a late rank need not wait.",
        *([] if report["persistent"] else
          ["This MPI has no persistent collectives, or straightway was built "
           "with a header that has none."]),
        *_unsteady(report)], report)
