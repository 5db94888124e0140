"""A profile as one HTML file that needs nothing else: no network, no library.

This module writes the whole page: all tables, and all figures but one, as HTML
and SVG. So the page reads and prints without its script. The script
(html/page.js) sorts, filters, switches light and dark, shows numbers under the
pointer and draws the communication matrix. html_parts.py defines the page's
security policy.
"""

import statistics

from straightway import units
from straightway.capture import procedures
from straightway.profile import findings, recorded
from straightway.ranges import Ranges
from straightway.reporters import profile_figures as figures
from straightway.reporters import words
from straightway.reporters.html_parts import (
    Cell as _Cell, Column as _Column, Table as _Table, count as _count,
    duration as _duration, page, share as _share, size as _size)

SITES = 500             # rows of the long tables
COMMUNICATORS = 20
OPERATIONS = 24         # with a histogram of durations
SHOWN = 25              # of these, until a button shows all
MANY = 32               # ranks: from here on, a figure and a folded table
STACK = 40              # frames of a call site


def _ratio(part, whole):
    return part / whole if whole else 0.0


def _sizes(t):
    """The sizes of a total's messages: 8 bytes, to 4 KiB."""
    if not t.sized_calls:
        return _Cell("", -1)
    large = units.size(t.max_size)
    if t.min_size == t.max_size:
        return _Cell(large, t.max_size)
    return _Cell(f"to {large}", t.max_size,
                 units.sizes(t.min_size, t.max_size))


# Tables -------------------------------------------------------------------

class _Tables:
    """All tables of a profile. Times are the mean of the ranks."""

    def __init__(self, p):
        self.p = p
        self.count = len(p.ranks)

    def _bar(self, t, most, io):
        if io:
            parts = [("io", t.time)]
        else:
            parts = [("waiting", t.waiting), ("moving", t.moving)]
        return _Cell("", t.time, bar=figures.bar(parts, most))

    def _common(self, t, most, io=False):
        return [_duration(t.time / self.count),
                self._bar(t, most, io),
                _share(_ratio(t.time, self.p.elapsed)),
                _share(_ratio(t.waiting, t.time)), _count(t.calls),
                _duration(t.mean_time)]

    _COMMON = [_Column("time", title="per rank on average"),
               _Column("", "bar"),
               _Column("of run", title="of the time of all ranks"),
               _Column("waiting", title="of this row's time"),
               _Column("calls", title="of all ranks together"),
               _Column("mean", title="of one call")]

    def operations(self):
        totals = self.p.totals("operation")
        most = max((t.time for t in totals), default=0)
        errors = any(t.errors for t in totals)
        rows = [[_Cell(t.label, t.label), *self._common(
                    t, most, procedures.class_of(t.label) == procedures.IO),
                 _duration(t.min_time), _duration(t.max_time), _sizes(t),
                 _size(t.sent), _size(t.received),
                 *([_count(t.errors)] if errors else [])] for t in totals]
        return _Table("operations", [
            ("operation", "text name"), *self._COMMON, ("shortest",),
            ("longest",), ("size", "number", "of one message or block"),
            ("sent",), ("received",), *([("errors",)] if errors else [])],
            rows, sort=1)

    def _spread(self, t):
        """The time of the rank with most time in a total, over the mean of
        all."""
        ranks = recorded.group(t.records, "rank")
        if self.count < 2 or not t.time:
            return _Cell("", 0)
        ratio = ranks[0].time * self.count / t.time
        return _Cell(f"{ratio:.1f} ×", ratio,
                     f"rank {ranks[0].label}: "
                     f"{units.duration(ranks[0].time)}")

    def sites(self):
        totals = self.p.totals(("operation", "site"))
        most = max((t.time for t in totals), default=0)
        spread = self.count > 1
        rows = []
        for t in totals[:SITES]:
            name, site = t.key
            first = site.frames[0] if site.frames else None
            rows.append([
                _Cell(name.replace("MPI_", "", 1), name),
                _Cell(site.label, site.label, frames=site.frames[:STACK])
                if first else _Cell(recorded.UNKNOWN, ""),
                *self._common(t, most, procedures.class_of(name)
                              == procedures.IO),
                *([self._spread(t)] if spread else []),
                _sizes(t), _size(t.sent + t.received)])
        return _Table("sites", [
            ("operation", "text name"), ("call site", "text site"),
            *self._COMMON,
            *([("most", "number", "the rank with most time, over the mean of "
                "all ranks")] if spread else []),
            ("size", "number", "of one message or block"),
            ("bytes", "number", "sent and received")], rows,
            more=len(totals) - SITES, filter=True, sort=2,
            shown=SHOWN)

    def communicators(self):
        totals = [t for t in self.p.totals("communicator") if t.key]
        most = max((t.time for t in totals), default=0)
        rows = []
        for t in totals[:COMMUNICATORS]:
            c = t.key
            size = units.number(c.size) + (
                f" + {units.number(c.remote_size)}" if c.remote_size else "")
            members = str(Ranges(c.members)) if c.members else ""
            rows.append([_Cell(c.label, c.label, f"id {c.id}"),
                         _Cell(size, c.size + c.remote_size),
                         _Cell(members, members and c.members[0][0]),
                         *self._common(t, most), _size(t.sent)])
        return _Table("communicators", [
            ("communicator", "text name"), ("size",),
            ("members", "text name", "ranks in MPI_COMM_WORLD"), *self._COMMON,
            ("sent",)], rows, more=len(totals) - COMMUNICATORS, sort=3)

    def regions(self):
        regions, nodes = self.p.regions(), self.p.tells_between
        most = max((r.time for r in regions), default=0)
        rows = []
        for r in regions:
            parts = [("compute", r.time - r.communication - r.io),
                     ("waiting", r.waiting),
                     ("moving", r.communication - r.waiting), ("io", r.io)]
            rows.append([
                _Cell(r.label.rpartition("/")[2], r.label, r.label,
                      indent=r.name.count("/")),
                _count(r.entered), _duration(r.time / self.count),
                _Cell("", r.time, bar=figures.bar(parts, most)),
                _share(_ratio(r.time, self.p.elapsed)), _share(r.share),
                _share(_ratio(r.waiting, r.time)),
                _share(_ratio(r.io, r.time)),
                *([_share(_ratio(r.sent_between or 0, r.sent))]
                  if nodes else [])])
        return _Table("regions", [
            ("region", "text"), ("entered",),
            ("time", "number", "per rank on average"), ("", "bar"),
            ("of run",), ("MPI", "number", "of the region's time"),
            ("waiting", "number", "of the region's time"),
            ("file I/O", "number", "of the region's time"),
            *([("to nodes", "number", "of the bytes that it sends, those to "
                "other nodes")] if nodes else [])], rows)

    def ranks(self):
        p = self.p
        most = max((r.elapsed for r in p.ranks), default=0)
        nodes, io = len(p.nodes) > 1, p.io.calls
        rows = [[_Cell(str(r.rank), r.rank),
                 *([_Cell(r.node, r.node)] if nodes else []),
                 _Cell("", r.communication,
                       bar=figures.bar(figures.parts(r), most)),
                 _duration(r.elapsed), _duration(r.compute),
                 _duration(r.waiting), _duration(r.moving),
                 *([_duration(r.io)] if io else []), _share(r.share),
                 _size(r.sent), _size(r.received)] for r in p.ranks]
        return _Table("ranks", [
            ("rank",), *([("node", "text name")] if nodes else []),
            ("", "wide bar"), ("time",), ("compute",), ("waiting",),
            ("moving",), *([("file I/O",)] if io else []),
            ("MPI", "number", "of the rank's time"), ("sent",),
            ("received",)], rows, sort=0)

    def between(self):
        rows = [[_Cell(t.label, t.label), _size(t.sent - t.sent_between),
                 _size(t.sent_between),
                 _size(t.received - t.received_between),
                 _size(t.received_between),
                 _share(_ratio(t.sent_between + t.received_between,
                               t.sent + t.received))]
                for t in self.p.between()]
        return _Table("between", [
            ("operation", "text name"), ("sent inside",), ("sent between",),
            ("received inside",), ("received between",),
            ("between", "number", "of all bytes of this row")], rows, sort=2)

    def devices(self):
        totals = self.p.devices()
        gaps = any(t.device_pieces for t in totals)
        rows = [[_Cell(t.key[0].replace("MPI_", "", 1), t.key[0]),
                 _Cell(t.key[1].label, t.key[1].label,
                       frames=t.key[1].frames[:STACK]),
                 _count(t.device_calls), _size(t.device_sent),
                 _size(t.device_received),
                 *([_count(t.device_pieces)] if gaps else [])]
                for t in totals[:SITES]]
        return _Table("devices", [
            ("operation", "text name"), ("call site", "text site"),
            ("calls", "number", "with data in the memory of a GPU"),
            ("sent", "number", "from there"),
            ("received", "number", "to there"),
            *([("pieces", "number", "of datatypes with gaps")]
              if gaps else [])],
            rows, more=len(totals) - SITES, sort=3)

    def crossing(self):
        rows = [[_Cell(text, number), _size(one.bytes), _share(part),
                 _Cell("", part, bar=figures.bar([("moving", part)], 1)),
                 _count(one.messages)]
                for number, (text, one, part) in
                enumerate(words.crossing(self.p))]
        return _Table("crossing", [
            ("from rank to rank", "text"), ("bytes",),
            ("share", "number", "of all bytes between ranks"),
            ("", "wide bar"), ("messages",)], rows)

    def sizes(self, totals):
        rows = []
        for t in sorted(totals, key=lambda t: t.key):
            rows.append([_Cell(recorded.size_label(t.key), t.key),
                         _count(t.calls), _size(t.sent), _size(t.received),
                         _duration(t.time / self.count),
                         _share(_ratio(t.waiting, t.time))])
        return _Table("sizes", [
            ("size", "text"), ("calls",), ("sent",), ("received",),
            ("time", "number", "per rank on average"),
            ("waiting", "number", "of this row's time")], rows)


# The page -----------------------------------------------------------------

def _facts(p):
    """(name, value) of the run."""
    job = p.job
    nodes = p.nodes
    names = ", ".join(n.name for n in nodes[:4] if n.name)
    if len(nodes) > 4:
        names += f" and {len(nodes) - 4} more"
    ended = "MPI_Finalize, on all ranks" if not p.ended_badly \
        and not p.missing else "with problems: see below"
    facts = [
        ("Ranks", f"{job.ranks:,}"),
        ("Nodes", f"{len(nodes):,}" + (f" ({names})" if names else "")),
        ("MPI", words.mpi(job)),
        ("Accelerated", "yes, by Straightway" if job.accelerated else ""),
        ("Began", words.began(job)), ("Job", job.id), ("Ended", ended),
        ("Part", words.part(p))]
    return [(name, value) for name, value in facts if value]


def _cards(p):
    """(number, title, details)"""
    c, elapsed = p.communication, p.elapsed
    each = len(p.ranks)
    cards = [(units.duration(p.wall), "run time" if p.region is None
              else "time in the region",
              "of the longest rank, MPI_Init to MPI_Finalize"
              if p.region is None else "of the longest rank"),
             (units.share(p.share), "in MPI",
              f"{units.duration(c.time / each)} per rank, in "
              f"{units.plural(c.calls, 'call')} of all"),
             (units.share(p.waiting_share), "waiting",
              f"{units.duration(c.waiting / each)} per rank, before a partner "
              "had come"),
             (units.share(_ratio(c.moving, elapsed)), "moving data",
              f"{units.duration(c.moving / each)} per rank: the part that a "
              "faster library can shorten")]
    if p.io.calls:
        cards.append((units.share(_ratio(p.io.time, elapsed)), "file I/O",
                      f"{units.duration(p.io.time / each)} per rank in "
                      "MPI_File_*, which does not count as MPI"))
    if c.sent or c.received:
        cards.append((units.size(c.sent), "sent",
                      f"and {units.size(c.received)} received, by all ranks "
                      "together"))
    return cards


def _looked_at(p):
    """The share of MPI's time that the estimate of waiting is based on."""
    c = p.communication
    return units.share(min(1.0, c.probed / c.time)) if c.time else "0 %"


def context(p):
    """The values that html/page.html and html/sections.html use."""
    tables = _Tables(p)
    by_size = recorded.group([r for r in p.communication.records
                             if r.size_bin], "size")
    found = findings.find(p)
    run = statistics.fmean(r.wall for r in p.ranks) / 1e9
    whole = {"compute": p.compute, "waiting": p.communication.waiting,
             "moving": p.communication.moving, "io": p.io.time}
    sites = tables.sites()
    communicators = tables.communicators()
    return {
        "p": p, "title": words.program(p.job), "words": words,
        "command": words.commands(p, whole=True),
        "version": p.ranks[0].capture.version, "facts": _facts(p),
        "part_names": figures.names(p), "warnings": words.warnings(p),
        "cards": _cards(p),
        "looked_at": _looked_at(p),
        "whole": figures.bar(list(whole.items()), p.elapsed),
        "whole_parts": [
            (name, figures.names(p)[name], units.share(_ratio(ns, p.elapsed)))
            for name, ns in whole.items() if ns],
        "findings": [(f, units.duration(1e9 * f.seconds),
                      min(1.0, _ratio(f.seconds, run))) for f in found],
        "nothing": findings.NOTHING,
        "share": units.share, "many": len(p.ranks) > MANY,
        "rank_figure": figures.ranks(p) if len(p.ranks) > MANY else None,
        "ranks": tables.ranks(), "operations": tables.operations(),
        "sites": sites if any(len(row[1].frames or ()) for row in sites.rows)
        else None,
        "communicators": communicators if len(communicators.rows) > 1
        else None,
        "regions": tables.regions(), "sizes": tables.sizes(by_size),
        "size_figures": figures.sizes(by_size, len(p.ranks)),
        "between": tables.between(), "devices": tables.devices(),
        "crossing": tables.crossing(),
        "places": words.places(p), "matched": words.matched(p),
        "no_size": units.number(sum(r.calls for r in p.communication.records
                                    if not r.size_bin)),
        "durations": figures.durations(
            p.totals("operation")[:OPERATIONS]),
        "matrix": figures.matrix(p), "size": units.size,
        "duration": units.duration, "number": units.number,
    }


def render(p, out):
    out.write(page("page.html", context(p)))
