"""The terminal: tables that fit 80 columns, colour only where it is one."""

import contextlib
import os
import shutil
import sys
import textwrap

from rich.console import Console
from rich.progress import (BarColumn, MofNCompleteColumn, Progress,
                           TextColumn, TimeRemainingColumn)
from rich.table import Table
from rich.text import Text

from straightway.bench.recording import ITEMS

_STYLES = {"ok": "green", "note": "cyan", "degraded": "yellow",
           "missing": "bold red"}


def _console(stderr=False):
    # A pipe gets 80 columns; a terminal its width, up to a readable one.
    width = min(100, max(60, shutil.get_terminal_size((80, 24)).columns))
    return Console(width=width, stderr=stderr, highlight=False)


def error(message):
    print(f"straightway: {message}", file=sys.stderr)


def human(n):
    """8, 64, 1k, 4m"""
    for unit, letter in ((1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")):
        if n >= unit and n % unit == 0:
            return f"{n // unit}{letter}"
    return str(n)


def microseconds(t):
    """Three digits that count."""
    if t is None:
        return ""
    if t >= 1e5:
        return f"{t / 1e6:.3g} s"
    if t >= 100:
        return f"{t:,.0f}"
    return f"{t:.3g}" if t >= 10 else f"{t:.2f}"


def _ratio(ratio, coloured=True):
    if ratio is None:
        return Text("")
    style = "green" if ratio >= 1.05 else "bold red" if ratio < .95 else ""
    return Text(f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}",
                style if coloured else "")


# doctor ------------------------------------------------------------------

def _wrapped(text, width):
    """Lines of at most `width` letters; a word, a path say, is never cut."""
    return textwrap.wrap(text, width, break_long_words=False,
                         break_on_hyphens=False) or [""]


def _finding(console, check):
    """Status, name and finding in columns; cost and remedy below. A remedy is
    one line, however long, so that it can be copied."""
    room = console.width - 33
    first, *rest = _wrapped(check.finding, room)
    head = Text(f"{check.status:<9} ", _STYLES[check.status])
    head.append(f"{check.name:<22} ", "default")
    head.append(first, "default")
    lines = [head, *(Text(" " * 33 + line) for line in rest)]
    for i, line in enumerate(_wrapped(check.cost, console.width - 18)):
        if check.cost:
            lines.append(Text.assemble(
                " " * 10, ("costs:  " if i == 0 else " " * 8, "dim"), line))
    if check.mend:
        lines.append(Text.assemble(" " * 10, ("mend:   ", "dim"),
                                   (check.mend, "bold")))
    for line in lines:
        console.print(line, soft_wrap=True)


def diagnosis(title, checks):
    console = _console()
    for line in _wrapped(title, console.width):
        console.print(Text(line, "bold"))
    group = None
    for check in checks:
        if check.group != group:
            group = check.group
            console.print()
            console.print(Text(group, "bold underline"))
        _finding(console, check)
    bad = sum(c.status in ("degraded", "missing") for c in checks)
    console.print()
    console.print(Text("Nothing is missing.", "green") if not bad else
                  Text(f"{bad} of {len(checks)} are degraded or missing: "
                       "slower, never wrong.", "yellow"))


def settings(table):
    console = _console()
    console.print("Each setting is an environment variable and an option of "
                  "straightway run.\n")
    for line in table:
        default = line["default"] or "none"
        if line["type"] == "size":
            default = human(int(default))
        head = Text(line["name"], "bold")
        head.append(f"  {line['option']}", "cyan")
        head.append(f"  [{default}]", "dim")
        if line["value"] is not None:
            head.append(f"  now {line['value']}", "yellow")
        console.print(head)
        for part in _wrapped(line["help"], console.width - 4):
            console.print("    " + part, markup=False)


# bench -------------------------------------------------------------------

def bench_start(mpi, ranks, what, number, sizes, machine):
    _start(f"{mpi}, {ranks} ranks on {machine['cores']} cores: "
           f"{number} {what}{'s' * (number != 1)}, "
           f"{sizes} size{'s' * (sizes != 1)}", machine)


def _start(title, machine):
    console = _console(stderr=True)
    for line in _wrapped(title, console.width):
        console.print(Text(line))
    if machine["load"] > 0.5 * machine["cores"]:
        console.print(Text(f"This machine is busy (load {machine['load']:.1f} "
                           f"on {machine['cores']} cores): figures will "
                           "spread.", "yellow"))


@contextlib.contextmanager
def progress(total):
    """Yields a function(operation, size, total) to call after each cell.
    Drawn on demand only: a refreshing thread would take time from the ranks.
    """
    console = _console(stderr=True)
    if not console.is_terminal:
        yield lambda operation, size, total: None
        return
    bar = Progress(TextColumn("{task.description:<28}"), BarColumn(None),
                   MofNCompleteColumn(), TimeRemainingColumn(),
                   console=console, auto_refresh=False, transient=True)
    with bar:
        task = bar.add_task("starting", total=total)

        def step(operation, size, total):
            bar.update(task, advance=1, total=total, refresh=True,
                       description=(f"{operation} {human(size)}" if size
                                    else operation))

        bar.refresh()
        yield step


def _timing(one, widest=10):
    """A median and its spread."""
    if not one:
        return ["", ""]
    spread = max(one["high"] - one["median"],
                 one["median"] - one["low"]) / one["median"]
    text = microseconds(one["median"])
    return [Text(text if one["right"] else "WRONG",
                 "" if one["right"] else "bold red"),
            Text(f"±{spread:.0%}" if spread < widest else "wide", "dim")]


def _cells(report):
    table = Table(box=None, padding=(0, 1), pad_edge=False,
                  header_style="bold")
    table.add_column("operation", min_width=20)
    for name in ("size", "host µs", "95 %", "ours µs", "95 %", "ratio",
                 "floor µs"):
        table.add_column(name, justify="right", no_wrap=True)
    last = None
    for cell in report["cells"]:
        row = [cell["operation"] if cell["operation"] != last else "",
               human(cell["size"]) if cell["size"] else ""]
        last = cell["operation"]
        for mode in ("host", "ours"):
            row += _timing(cell[mode])
        row += [_ratio(cell["ratio"]),
                Text(microseconds(cell["floor"]), "dim")]
        table.add_row(*row)
    return table


def _means(report):
    table = Table(box=None, padding=(0, 1), pad_edge=False,
                  header_style="bold")
    table.add_column("host / ours", min_width=20)
    for name in ("mean", "worst", "at"):
        table.add_column(name, justify="right")
    for name, one in report["summary"]["operations"].items():
        table.add_row(name, _ratio(one["geometric_mean"]),
                      _ratio(one["worst"]),
                      human(one["worst_size"]) if one["worst_size"] else "")
    return table


def _guidelines(report):
    table = Table(box=None, padding=(0, 1), pad_edge=False,
                  header_style="bold")
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
                         f"{human(one['size'])}" if one["size"] else
                         f"{one['worst']:.2f}", "dim")]
        table.add_row(*row)
    return table


def _notes(console, notes):
    console.print()
    for note in notes:
        for line in textwrap.wrap(note, min(78, console.width)):
            console.print(Text(line, "dim"))


def _overall(console, summary):
    worst = summary["worst"]
    line = Text("\nOverall: host / ours = ", "bold")
    line.append_text(_ratio(summary["geometric_mean"]))
    line.append(" (geometric mean); worst ")
    line.append_text(_ratio(worst["ratio"]))
    line.append(f" ({worst['operation']}"
                + (f" {human(worst['size'])}" if worst["size"] else "")
                + ")")
    console.print(line)


def bench(report):
    console = _console()
    console.print(_cells(report))
    floors = report["floors"]
    trip = floors.get("round_trip")
    notes = ["Medians; ± holds the median with 95 % confidence. The floor is "
             "half a cache-line round trip"
             + (f" ({trip:.3g} µs)" if trip else "")
             + ", for rooted operations one line of a stream, or the memcpy "
             "of what a rank must move."]
    if report["oversubscribed"]:
        notes.append("There are more ranks than cores: the floor counts no "
                     "waiting for a core.")
    _notes(console, notes)
    summary = report["summary"]
    if summary["operations"]:
        console.print()
        console.print(_means(report))
        _overall(console, summary)
    if any(report["guidelines"].values()):
        console.print()
        console.print(_guidelines(report))


# bench pingpong ----------------------------------------------------------

def _megabytes(rate):
    """Bandwidth in MB/s, three digits that count."""
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def _messages(report, pattern):
    table = Table(box=None, padding=(0, 1), pad_edge=False,
                  header_style="bold")
    for name in ("size", "host µs", "95 %", "ours µs", "95 %", "ratio",
                 "host\nMB/s", "ours\nMB/s", "floor\nµs"):
        table.add_column(name, justify="right", no_wrap=True)
    for cell in report["cells"]:
        if cell["operation"] != pattern:
            continue
        rates = [_megabytes(cell[mode]["bandwidth"]) if cell[mode] else ""
                 for mode in ("host", "ours")]
        table.add_row(human(cell["size"]),
                      *_timing(cell["host"]), *_timing(cell["ours"]),
                      _ratio(cell["ratio"]), *rates,
                      Text(microseconds(cell["floor"]), "dim"))
    return table


_TIMES = {
    "pingpong": "half of a round trip",
    "bidirectional": "both ways at once",
    "stream": "one message's share of a stream",
    "window": "one message's share, {window} under way",
    "ring": "one step of all ranks",
    "random": "one step of all ranks"}


def _patterns(report):
    table = Table(box=None, padding=(0, 1), pad_edge=False,
                  header_style="bold")
    table.add_column("host / ours", min_width=14)
    for name in ("mean", "worst", "at", "host MB/s", "at", "ours MB/s", "at"):
        table.add_column(name, justify="right")
    summary = report["summary"]
    for name, peak in summary["peaks"].items():
        one = summary["operations"].get(name)
        row = ["", "", ""] if not one else [
            _ratio(one["geometric_mean"]), _ratio(one["worst"]),
            human(one["worst_size"])]
        for mode in ("host", "ours"):
            most = peak[mode]
            row += [_megabytes(most["bandwidth"]), human(most["size"])] \
                if most else ["", ""]
        table.add_row(name, *row)
    return table


def pingpong(report):
    console = _console()
    plan = report["plan"]
    shown = {c["operation"] for c in report["cells"]}
    for pattern in [p for p in plan["patterns"] if p in shown]:
        title = Text(pattern, "bold")
        title.append(": " + _TIMES[pattern].format(**plan), "default")
        console.print(title)
        console.print(_messages(report, pattern))
        console.print()
    console.print(_patterns(report))
    trip = report["floors"].get("round_trip")
    notes = ["Medians; ± holds the median with 95 % confidence. The floor is "
             "half a cache-line round trip"
             + (f" ({trip:.3g} µs)" if trip else "")
             + ", for stream and window one line of a stream, or a memcpy of "
             "the message. Bandwidth is that of all pairs together, below "
             "the tables the most of it; 1 MB is 1,000,000 bytes."]
    where = {"heap": "on the heap", "stack": "on the stack",
             "mmap": "in private mappings"}[plan["buffers"]]
    notes.append(
        f"Buffers lie {where}, {plan['offset_send']} (sent) and "
        f"{plan['offset_receive']} (received) bytes from a page, "
        + ("and are the same each time." if plan["cache"] == "warm" else
           f"and walk through {human(plan['cold_area'])} each."))
    if report["oversubscribed"]:
        notes.append("There are more ranks than cores: the floor counts no "
                     "waiting for a core.")
    _notes(console, notes)
    if report["summary"]["worst"]:
        _overall(console, report["summary"])


# bench datatypes ---------------------------------------------------------

def datatypes_start(mpi, plan, machine):
    number = len(plan["kernels"])
    _start(f"{mpi}, 2 ranks on {machine['cores']} cores: {number} "
           f"kernel{'s' * (number != 1)}, messages from "
           f"{human(plan['from'])} to {human(plan['to'])}, "
           f"{' and '.join(plan['data'])} data", machine)


_RATIOS = {"ratio": "host/\nours", "hand_ratio": "hand/\nours",
           "floor_ratio": "ours/\nfloor"}


def _three_ratios(one):
    # Nobody is expected to pass the floor.
    return [_ratio(one["ratio"]), _ratio(one["hand_ratio"]),
            _ratio(one["floor_ratio"], coloured=False)]


def _kernel(report, kernel):
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False,
                  header_style="bold")
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
            row += _timing(cell[way], widest=.995)
        table.add_row(*row, _timing(cell["contiguous"])[0],
                      *_three_ratios(cell))
    return table


def _kernel_means(report):
    table = Table(box=None, padding=(0, 1), pad_edge=False,
                  header_style="bold")
    table.add_column("geometric means", min_width=15)
    table.add_column("data", min_width=9)
    for name in _RATIOS.values():
        table.add_column(name, justify="right")
    for kernel, kinds in report["summary"]["means"].items():
        for i, (data, one) in enumerate(kinds.items()):
            table.add_row("" if i else kernel, data, *_three_ratios(one))
    return table


def datatypes(report):
    console = _console()
    plan = report["plan"]
    applications = {c["operation"]: c["application"] for c in report["cells"]}
    for kernel, application in applications.items():
        title = Text(kernel, "bold")
        title.append(f": {application}", "default")
        console.print(title)
        console.print(_kernel(report, kernel))
        console.print()
    console.print(_kernel_means(report))
    notes = ["Half of a round trip; medians, ± holds the median with 95 % "
             "confidence. host: the MPI gets the datatype; hand: packed and "
             "unpacked by loops around the MPI; ours: Straightway gets the "
             "datatype; floor: Straightway gets as many bytes without gaps."]
    if "fresh" in plan["data"]:
        notes.append("Fresh data are written by the sender before each "
                     "message, which is not timed.")
    if report["oversubscribed"]:
        notes.append("There are more ranks than cores.")
    _notes(console, notes)
    if report["summary"]["worst"]:
        _overall(console, report["summary"])


# bench profile -----------------------------------------------------------

def recording_start(mpi, ranks, variants, rounds, machine):
    _start(f"{mpi}, {ranks} ranks on {machine['cores']} cores: "
           f"{len(variants)} kinds of runs, {rounds} "
           f"round{'s' * (rounds != 1)}", machine)


def _nanoseconds(t, sign=""):
    return f"{t:{sign},.0f}" if abs(t) >= 99.95 else f"{t:{sign}.1f}"


def _half(one):
    """Half of what lies between the quartiles."""
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


def recording(report):
    console = _console()
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False,
                  header_style="bold")
    table.add_column("what", min_width=18, no_wrap=True)
    table.add_column("calls", justify="right", no_wrap=True)
    table.add_column("run", max_width=16, no_wrap=True, overflow="ellipsis")
    for name in ("ns", "±", "ns a call", "±", "%"):
        table.add_column(name, justify="right", no_wrap=True)
    tool = os.path.basename(report["plan"]["tool"] or "")
    for cell in report["cells"]:
        size = human(cell["size"]) if cell["size"] else ""
        head = [f"{ITEMS[cell['operation']]} {size}".rstrip(),
                str(cell["path"])]
        for variant in report["variants"]:
            table.add_row(*head, *_recorded(cell, variant,
                                            tool if variant == "tool"
                                            else variant))
            head = ["", ""]
    console.print(table)
    floors = report["floors"]
    notes = [f"Medians of {report['plan']['rounds']} runs; ± is half of what "
             "lies between the quartiles. \"ns a call\" is the difference to "
             "the host in the same round, by the recorded calls on the "
             "critical path (calls). A trace's emptying of its buffer, some "
             "10 ns a call, is in few of the batches and not in the median.",
             "Whoever takes the time of a call reads the clock twice: "
             f"{_nanoseconds(floors['clock_reads'])} ns here. By its own "
             "measure Straightway takes "
             f"{_nanoseconds(floors['own_call_cost'])} ns a call "
             "(own_call_cost)."]
    if report["oversubscribed"]:
        notes.append("There are more ranks than cores: what is shown is "
                     "waiting for a core, above all.")
    _notes(console, notes)
