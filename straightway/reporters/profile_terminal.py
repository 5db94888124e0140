"""A profile on one page of a terminal: the cost, its places, and the advice.
"""

import os
import statistics

from straightway import units
from straightway.profile import findings, recorded
from straightway.ranges import ranges
from straightway.reporters import page as pages
from straightway.reporters import words
from straightway.reporters.page import COMPUTE, IO, MOVING, WAITING

ROWS = 16               # bars at most
TOP = 8                 # rows of a table
SIZES = 10              # rows of message sizes at most
MATTERS = 0.01          # of communication: a communicator that counts


def _header(page, p):
    job = p.job
    nodes = units.plural(len(p.nodes), "node")
    ranks = units.plural(job.ranks, "rank")
    if p.only is not None:
        ranks = f"{units.number(len(p.ranks))} of {ranks}"
    page.title(words.commands(p),
               f"{ranks} on {nodes}, {units.duration(p.wall)}")
    about = [words.mpi(job)]
    if job.accelerated:
        about.append("with Straightway")
    page.paragraph("; ".join(about), "dim")
    page.line("; ".join(x for x in (
        f"job {job.id}" if job.id else "", words.began(job), words.part(p))
        if x), "dim")


def _warnings(page, p):
    for line in words.warnings(p):
        page.paragraph(line, "bold yellow")


def _summary(page, p):
    elapsed = p.elapsed or 1
    c = p.communication
    said = [f"Communication {units.share(p.share)} of the time: waiting "
            f"{units.share(c.waiting / elapsed)}, moving "
            f"{units.share(c.moving / elapsed)}",
            f"compute {units.share(p.compute / elapsed)}"]
    if p.io.calls:
        said.append(f"I/O {units.share(p.io.time / elapsed)}")
    page.line()
    page.paragraph("; ".join(said) + ".", "bold")


def _parts(ranks):
    """Mean parts of some ranks' time."""
    count = len(ranks)
    return {COMPUTE: sum(r.compute for r in ranks) / count,
            WAITING: sum(r.waiting for r in ranks) / count,
            MOVING: sum(r.moving for r in ranks) / count,
            IO: sum(r.io for r in ranks) / count}


def _ranks(page, p):
    size = -(-len(p.ranks) // ROWS)
    groups = [p.ranks[i:i + size] for i in range(0, len(p.ranks), size)]
    labels = [str(ranges(r.rank for r in g)) for g in groups]
    wide = max(4, min(12, max(map(len, labels))))
    room = page.width - wide - 2 - 9    # the share's width
    whole = max(sum(_parts(g).values()) for g in groups)
    page.heading("Ranks")
    used = [n for n in (COMPUTE, WAITING, MOVING, IO)
            if n != IO or p.io.calls]
    head = page.text(" " * (wide + 2))
    head.append_text(page.legend(used, {MOVING: "moving, or no processor"}
                                      if p.crowded else {}))
    head.append(" " * max(1, page.width - head.cell_len - 13))
    head.append("communication", "bold")
    page.line(head)
    for label, ranks in zip(labels, groups):
        parts = _parts(ranks)
        line = page.text(f"{label[:wide]:>{wide}}  ")
        line.append_text(page.bar(parts, room, whole))
        line.append(" " * (wide + 2 + room - line.cell_len))
        elapsed = sum(r.elapsed for r in ranks)
        share = sum(r.communication for r in ranks) / elapsed if elapsed \
            else 0
        line.append(f"{units.share(share):>9}")
        page.line(line)
    if len(p.ranks) > 1:
        ordered = sorted(p.ranks, key=lambda r: (r.share, r.rank))
        least, most = ordered[0], ordered[-1]
        middle = statistics.median(r.share for r in p.ranks)
        page.line(f"{'':{wide}}  least {units.share(least.share)} (rank "
                  f"{least.rank}), median {units.share(middle)}, most "
                  f"{units.share(most.share)} (rank {most.rank})", "dim")


def _common(t, p):
    """time per rank, share of the run, its waiting, calls, mean"""
    return [units.duration(t.time / len(p.ranks)),
            units.share(t.time / p.elapsed) if p.elapsed else "",
            units.share(t.waiting / t.time) if t.time else "",
            units.number(t.calls), units.duration(t.mean_time)]


_COMMON = [("time", "right"), ("of run", "right"), ("waiting", "right"),
           ("calls", "right"), ("mean", "right")]
_ORDER = {"time": lambda t: t.time, "waiting": lambda t: t.waiting,
          "moving": lambda t: t.moving, "calls": lambda t: t.calls,
          "mean": lambda t: t.mean_time, "max": lambda t: t.max_time,
          "bytes": lambda t: t.sent, "errors": lambda t: t.errors}


def _sorted(totals, sort):
    return sorted(totals, key=lambda t: -_ORDER[sort](t)) if sort else totals


def _more(page, totals, shown):
    left = totals[shown:]
    if left:
        page.line(f"and {len(left)} more", "dim")


def _operations(page, p, top, sort):
    totals = _sorted(p.totals("operation"), sort)
    page.heading("Operations", "time: per rank on average; calls: of all "
                 "ranks")
    wide = page.width >= 110
    rows = []
    for t in totals[:top]:
        size = ""
        if t.sized_calls:
            size = units.size(t.min_size) if t.min_size == t.max_size else \
                f"to {units.size(t.max_size)}"
        row = [t.label, *_common(t, p), size]
        if wide:
            row += [units.duration(t.max_time),
                    units.size(t.sent) if t.sent else "",
                    units.size(t.received) if t.received else ""]
        rows.append(row)
    page.table([("", "fill"), *_COMMON, ("size", "right"),
                *([("longest", "right"), ("sent", "right"),
                   ("received", "right")] if wide else [])], rows)
    _more(page, totals, top)


def _sites(page, p, top, sort):
    totals = _sorted(p.totals(("operation", "site")), sort)
    if not any(t.key[1].frames for t in totals):
        return
    page.heading("Call sites")
    room = 21 if page.width < 100 else 32
    rows = [[t.key[0].replace("MPI_", "", 1)[:room], t.key[1].stack,
             *_common(t, p)[:4]] for t in totals[:top]]
    page.table([("", "left"), ("", "fill"), *_COMMON[:4]], rows)
    _more(page, totals, top)
    for sentence in words.nameless(t.key[1] for t in totals[:top]):
        page.paragraph(sentence, "dim")


def _communicators(page, p, top, sort):
    totals = _sorted([t for t in p.totals("communicator") if t.key], sort)
    limit = MATTERS * p.communication.time
    if sum(t.time >= limit for t in totals) < 2:
        return
    shown = [t for t in totals if t.time >= limit][:top]
    page.heading("Communicators")
    page.table([("", "middle"), ("ranks", "right"), *_COMMON], [
        [t.label, units.number(t.key.size), *_common(t, p)] for t in shown])
    _more(page, totals, len(shown))


def _regions(page, p, top):
    regions = sorted(p.regions(), key=lambda r: -r.time)
    if not regions:
        return
    nodes = p.tells_between
    page.heading("Regions", "with those within them; comm., waiting and I/O: "
                 "of their time"
                 + ("; to nodes: of what they send" if nodes else ""))
    page.table(
        [("", "fill"), ("time", "right"), ("of run", "right"),
         ("comm.", "right"), ("waiting", "right"), ("I/O", "right"),
         ("entered", "right"),
         *([("to nodes", "right")] if nodes else [])],
        [[r.label, units.duration(r.time / len(p.ranks)),
          units.share(r.time / p.elapsed) if p.elapsed else "",
          units.share(r.share),
          units.share(r.waiting_share) if r.communication else "",
          units.share(r.io / r.time) if r.time else "",
          units.number(r.entered) if r.entered else "",
          *([units.share(r.sent_between / r.sent)
             if r.sent and r.sent_between is not None else ""]
            if nodes else [])]
         for r in regions[:top]])
    _more(page, regions, top)


def size_groups(records, most=SIZES):
    """[Total, ...] of records with sizes, from small to large. Neighbouring
    size bins join until at most `most` are left."""
    bins = [r.size_bin for r in records if r.size_bin]
    if not bins:
        return []
    first = min(bins)
    step = (max(bins) - first) // most + 1
    found = {}
    for r in records:
        if r.size_bin:
            found.setdefault((r.size_bin - first) // step, []).append(r)
    totals = [recorded.Total(key, "", rows)
              for key, rows in sorted(found.items())]
    for t in totals:
        t.label = units.sizes(t.min_size, t.max_size)
    return totals


def _message_sizes(page, p):
    totals = size_groups(p.communication.records)
    if not totals:
        return
    page.heading("Sizes", "of messages, and of collectives' blocks")
    whole = max(t.time for t in totals)
    calls = sum(t.calls for t in totals)
    width = page.width - 27 - max(len(t.label) for t in totals)
    page.table(
        [("", "right"), ("calls", "right"), ("", "right"), ("time", "right"),
         ("", "left")],
        [[t.label, units.number(t.calls),
          units.share(t.calls / calls) if calls else "",
          units.duration(t.time / len(p.ranks)),
          page.bar({WAITING: t.waiting, MOVING: t.moving}, width, whole)]
         for t in totals])


def _between(page, p, top):
    totals = p.between()
    if not totals:
        return
    page.heading("Nodes", "bytes that stay inside a node, and bytes between "
                 "nodes; of all ranks")
    page.table(
        [("", "fill"), ("sent inside", "right"), ("between", "right"),
         ("received inside", "right"), ("between", "right")],
        [[t.label, *(units.size(n) if n else "" for n in (
            t.sent - t.sent_between, t.sent_between,
            t.received - t.received_between, t.received_between))]
         for t in totals[:top]])
    _more(page, totals, top)


def _devices(page, p, top):
    totals = p.devices()
    if not totals:
        return
    gaps = any(t.device_pieces for t in totals)
    page.heading("Memory of GPUs", "data there of all ranks"
                 + ("; pieces: of datatypes with gaps" if gaps else ""))
    page.table(
        [("", "left"), ("", "fill"), ("calls", "right"), ("from it", "right"),
         ("to it", "right"), *([("pieces", "right")] if gaps else [])],
        [[t.key[0].replace("MPI_", "", 1), t.key[1].stack,
          units.number(t.device_calls),
          *(units.size(n) if n else "" for n in (
              t.device_sent, t.device_received)),
          *([units.number(t.device_pieces) if t.device_pieces else ""]
            if gaps else [])] for t in totals[:top]])
    _more(page, totals, top)


def _matched(page, p):
    for sentence in words.matched(p):
        page.paragraph(sentence, "dim")


def _crossing(page, p):
    rows = words.crossing(p)
    if not rows:
        return
    page.heading("Places", "what ranks send to others, by what lies between "
                 "them")
    width = page.width - 36 - max(len(row[0]) for row in rows)
    page.table(
        [("", "left"), ("messages", "right"), ("bytes", "right"),
         ("", "right"), ("", "left")],
        [[text, units.number(one.messages), units.size(one.bytes),
          units.share(part), page.bar({MOVING: part}, width, 1)]
         for text, one, part in rows])
    for sentence in words.places(p):
        page.paragraph(sentence, "dim")


def _by(page, p, names, top, sort):
    by = names[0] if len(names) == 1 else tuple(names)
    totals = _sorted(p.totals(by), sort)
    page.heading("By " + ", ".join(names), "time: per rank of the job, on "
                 "average")
    page.table([("", "fill"), *_COMMON, ("sent", "right")], [
        [t.label, *_common(t, p), units.size(t.sent) if t.sent else ""]
        for t in totals[:top]])
    _more(page, totals, top or len(totals))


def _findings(page, p):
    page.heading("Findings", "seconds concerned, per rank on average")
    found = findings.find(p)
    if not found:
        page.paragraph(findings.NOTHING)
    for f in found:
        line = page.text(f"{units.duration(1e9 * f.seconds):>8}  ", "bold")
        line.append_text(page.text(f.title, "bold"))
        page.line(line)
        page.paragraph(f.text, indent=10)


def _last(page, p, folder):
    path = os.path.relpath(p.capture.path, folder or None)
    if len(path) > len(p.capture.path):
        path = p.capture.path
    page.line()
    if len(path) + 30 <= page.width:
        page.whole(f"More: straightway report {path} --html", "dim")
    else:
        page.whole(path, "dim")
        page.line("More: straightway report FILE --html", "dim")


def render(p, out, *, top=None, sort=None, by=None, folder=None):
    """`top`: rows of each table; `sort`: one of tables.SORTS; `by`: a list of
    recorded.GROUPINGS, in place of the tables; `folder`: where the reader's
    shell is, if not here."""
    page = pages.Page(out)
    _header(page, p)
    _warnings(page, p)
    _summary(page, p)
    if by:
        _by(page, p, by, top or 20, sort)
        _last(page, p, folder)
        return
    if not p.records:
        page.line()
        page.paragraph(words.NO_RECORDS)
    top = top or TOP
    _ranks(page, p)
    if p.records:
        _operations(page, p, top, sort)
        _sites(page, p, top, sort)
        _communicators(page, p, top, sort)
        _message_sizes(page, p)
        _matched(page, p)
        _between(page, p, top)
        _devices(page, p, top)
        _crossing(page, p)
    _regions(page, p, top)
    _findings(page, p)
    _last(page, p, folder)
