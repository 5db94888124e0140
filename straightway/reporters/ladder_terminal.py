"""A benchmark of protocols on a terminal: a column for each."""

from rich.text import Text

from straightway import units
from straightway.bench import ladder
from straightway.reporters.bench_parts import (about_floor, microseconds,
                                               new_table, notes)
from straightway.reporters.console import opened


def _spread(one):
    return max(one["high"] - one["median"],
               one["median"] - one["low"]) / one["median"]


def _figures(console, report, pattern, title, figure):
    table = new_table()
    protocols = report["plan"]["protocols"]
    for name in ("size", *protocols, "floor", "95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    for cell in report["cells"]:
        if cell["operation"] != pattern:
            continue
        timed = [cell[name] for name in protocols if cell[name]]
        spread = max(map(_spread, timed), default=0)
        table.add_row(
            units.brief(cell["size"]),
            *(Text("-", "dim") if not cell[name] else
              Text(figure(cell["size"], cell[name]["median"]))
              if cell[name]["right"] else Text("WRONG", "bold red")
              for name in protocols),
            Text(figure(cell["size"], cell["floor"]), "dim"),
            Text(f"±{spread:.0%}" if spread < 10 else "wide", "dim"))
    console.print(Text(title, "bold"))
    console.print(table)
    console.print()


def _rate(size, us):
    rate = size / us / 1000
    return f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}"


def _gaps(report):
    """A sentence for protocols that have the same gaps."""
    none, some = {}, {}
    several = len(report["plan"]["patterns"]) > 1
    for name, cell, share in ladder.missing(report["cells"],
                                            report["plan"]["protocols"]):
        size = units.brief(cell["size"])
        if share:
            some.setdefault(name, []).append(
                (f"{cell['operation']} " if several else "")
                + f"{size} ({share:.0%})")
        elif size not in none.setdefault(name, []):
            none[name].append(size)
    same = {}
    for name, sizes in none.items():
        same.setdefault(_row(sizes), []).append(name)
    for sizes, names in same.items():
        yield f"{', '.join(names)}: no message of {sizes} bytes goes so."
    for name, sizes in some.items():
        yield (f"{name}: too few messages of {_row(sizes)} bytes went so; was "
               "the machine busy?")


def _row(sizes):
    return ", ".join(sizes) if len(sizes) < 6 else \
        f"{sizes[0]} to {sizes[-1]}"


def render(report, out):
    console = opened(out)
    for pattern in report["plan"]["patterns"]:
        _figures(console, report, pattern, ladder.PATTERNS[pattern] + ", µs",
                 lambda size, us: microseconds(us))
        if pattern == "pingpong":
            _figures(console, report, pattern, "bandwidth, GB/s", _rate)
    protocols = report["plan"]["protocols"]
    notes(console, [
        *(f"{name}: {ladder.TEXTS[name]}." for name in protocols),
        about_floor(report, ", or a memcpy of the message by one process. ± is "
                    "the widest of the row; 1 GB is 1,000,000,000 bytes."),
        *_gaps(report)], report)
