"""Where the ranks of a job are, on a terminal: the verdict, a row for the ranks
in each place, messages and receives without a partner."""

import os

from straightway.errors import printable
from straightway.reporters.page import Page
from straightway.where import phrases

_MOST = 10              # messages, and receives
_RANKS = 16             # columns for the ranks of a row
_LEAST = 18             # columns for a place beside its call
_GAP = 2


def _ranks(numbers, total):
    """0-6, 8; all 4; 31 ranks"""
    if len(numbers) == total > 1:
        return f"all {total}"
    text = ", ".join(map(str, phrases.pieces(numbers)))
    return text if len(text) <= _RANKS else f"{len(numbers)} ranks"


def _title(page, report):
    job = report.job
    first = job.first
    many = f"{job.size} rank" + "s" * (job.size != 1)
    said = [many, first.flavour if first else "",
            f"runs since {phrases.seconds(job.age)}"]
    if first and not first.accelerated:
        said.append("not accelerated")
    if len(job.nodes) > 1:
        said.append(f"{len(job.nodes)} nodes")
    name = os.path.basename(printable(job.program)) or "program"
    page.title(f"{name}  job {job.id}", ", ".join(filter(None, said)))


def _findings(page, report):
    page.line()
    for i, one in enumerate(report.findings):
        style = ("bold red" if one.hangs else "bold green") if i == 0 else ""
        page.paragraph(one.sentence, style)
        behind = sorted(set(one.waiting) - set(one.suspects))
        if i == 0 and len(behind) > 1 and one.hangs:
            text = f"{phrases.ranks(behind)} wait because of it."
            page.paragraph(text[0].upper() + text[1:], "dim")


def _rows(page, rows, total):
    """Calls and places side by side where the page has room, else each place
    below its call."""
    cells = [(_ranks(row.ranks, total), phrases.seconds(row.since),
              ("  thread: " if row.thread else "") + row.what,
              row.place) for row in rows]
    heads = ("ranks", "since", "in", "at")
    widths = [max(len(c[i]) for c in [heads, *cells]) for i in range(4)]
    left = widths[0] + widths[1] + 2 * _GAP
    beside = left + widths[2] + _GAP + min(
        widths[3], max(_LEAST, widths[3])) <= page.width
    gap = " " * _GAP

    def put(ranks, since, what, place, style=""):
        head = ranks.ljust(widths[0]) + gap + since.rjust(widths[1]) + gap
        if beside:
            page.line(page.text((head + what.ljust(widths[2]) + gap
                                 + place).rstrip(), style))
            return
        room = max(20, page.width - left)
        for i, line in enumerate(_wrapped(what, room)):
            page.line(page.text((head if i == 0 else " " * left) + line,
                                style))
        if place:
            page.line(page.text(" " * left + "at " + place,
                                style or "dim"))

    page.line()
    put("ranks", "since", "in", "at" if beside else "", "bold")
    for row in cells:
        put(*row)


def _wrapped(text, width):
    import textwrap
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def _tag(value):
    return "?" if value is None else str(value)


def _put_messages(page, title, found, count, receive):
    if not found:
        return
    page.heading(title, f"{count} in all" if count > len(found[:_MOST])
                 else "")
    rows = []
    for one in found[:_MOST]:
        row = [str(one.source), str(one.target), _tag(one.tag),
               str(one.count), one.communicator.strip("'")]
        if receive:
            row += [phrases.seconds(one.since), one.place]
        rows.append(row)
    columns = [("from", "right"), ("to", "right"), ("tag", "right"),
               ("count", "right"), ("on", "fill" if not receive else "left")]
    if receive:
        columns += [("since", "right"), ("at", "fill")]
    for row in rows:
        row[4] = row[4] if len(row[4]) <= 20 else row[4][:19] + "…"
    page.table(columns, rows)


def render(report, out):
    """`report`: a Report of commands/where.py."""
    page = Page(out)
    _title(page, report)
    _findings(page, report)
    _rows(page, report.rows, report.job.size)
    _put_messages(page, "Messages that no receive takes", report.messages,
                  len(report.messages), False)
    _put_messages(page, "Receives that no message meets", report.receives,
                  report.receive_count, True)
    for i, hint in enumerate(report.hints):
        if i == 0:
            page.line()
        page.paragraph(hint, "yellow")


# Without Straightway ---------------------------------------------------------

def plain_hints(found):
    """Sentences on what gdb could not tell."""
    from straightway.where import plain
    said = []
    refused = [p for p in found if "refuses" in p.why]
    if any("is missing" in p.why for p in found):
        said.append("gdb is missing: install it, or start the job with "
                    "straightway run.")
    if refused:
        said.append(f"{len(refused)} of {len(found)} processes: "
                    f"{refused[0].why}. {plain.remedy()}")
    said.append("No verdict is possible: gdb tells neither counts of messages "
                "nor numbers of collectives. A job that starts with "
                "straightway run has them.")
    return said


def _who(processes):
    known = [p.rank for p in processes if p.rank is not None]
    if len(known) == len(processes):
        text = ", ".join(map(str, phrases.pieces(known)))
        return text if len(text) <= _RANKS else f"{len(known)} ranks"
    return ", ".join(f"pid {p.pid}" for p in processes[:2]) + (
        f" +{len(processes) - 2}" if len(processes) > 2 else "")


def render_plain(found, out):
    """`found`: the plain.Processes of a job without Straightway."""
    from straightway.where import plain
    page = Page(out)
    page.line(f"{len(found)} MPI processes without Straightway, as gdb sees "
              "them", "bold")
    rows = [[_who(those), call or "not in MPI", place]
            for call, place, those in plain.rows(found)]
    silent = {}
    for process in found:
        if not process.threads:
            silent.setdefault(process.why, []).append(process)
    rows += [[_who(those), "not known", why]
             for why, those in silent.items()]
    page.line()
    page.table([("ranks", "left"), ("in", "left"), ("at", "fill")], rows)
    page.line()
    for hint in plain_hints(found):
        page.paragraph(hint, "yellow")
