"""A profile's views as tables: rows of plain numbers and texts, for CSV, JSON
and further computation.

Column names have their units: _s seconds, _bytes bytes; `share` is a part of
all ranks' time, 0 to 1. Sums are over all ranks, except in `ranks`, `calls`
and `peers`, which tell the ranks apart.
"""


from straightway.capture import procedures
from straightway.errors import UserError, nearest
from straightway.profile import recorded
from straightway.profile.model import KINDS
from straightway.ranges import Ranges

TOTAL = ("calls", "errors", "time_s", "share", "waiting_s", "moving_s",
         "mean_s", "min_s", "max_s", "sent_bytes", "received_bytes",
         "sent_between_bytes", "received_between_bytes", "min_size_bytes",
         "max_size_bytes", "ranks")


def seconds(ns):
    return round(ns / 1e9, 12)


def total(t, elapsed):
    """The columns TOTAL, which all totals have."""
    return dict(zip(TOTAL, (
        t.calls, t.errors, seconds(t.time),
        round(t.time / elapsed, 9) if elapsed else 0.0, seconds(t.waiting),
        seconds(t.moving), seconds(t.mean_time), seconds(t.min_time),
        seconds(t.max_time), t.sent, t.received, t.sent_between,
        t.received_between, t.min_size, t.max_size, len(t.ranks))))


def _totals(p, by, describe, records=None):
    elapsed = p.elapsed
    totals = p.totals(by) if records is None else recorded.group(records, by)
    return [dict(describe(t), **total(t, elapsed)) for t in totals]


def operations(p):
    return _totals(p, "operation", lambda t: {
        "operation": t.label, "class": procedures.class_of(t.label)})


def classes(p):
    return _totals(p, "class", lambda t: {"class": t.label})


def _site(site):
    first = site.frames[0] if site.frames else \
        recorded.Frame("", "", "", 0, "", 0)
    return {"site": site.label, "language": first.language,
            "function": first.function, "file": first.file,
            "line": first.line, "module": first.module,
            "offset": first.offset, "stack": site.stack}


def sites(p):
    return _totals(p, ("operation", "site"), lambda t: {
        "operation": t.key[0], **_site(t.key[1])})


def _members(communicator):
    if communicator is None or communicator.members is None:
        return ""
    return str(Ranges(communicator.members))


def communicators(p):
    return _totals(p, "communicator", lambda t: {
        "communicator": t.label, "id": t.key.id if t.key else "",
        "size": t.key.size if t.key else 0,
        "remote_size": t.key.remote_size if t.key else 0,
        "members": _members(t.key)})


def regions(p):
    return [{"region": r.label, "entered": r.entered, "time_s":
             seconds(r.time), "communication_s": seconds(r.communication),
             "waiting_s": seconds(r.waiting), "io_s": seconds(r.io),
             "communication_share": round(r.share, 9),
             "sent_bytes": r.sent, "sent_between_bytes": r.sent_between}
            for r in p.regions()]


def ranks(p):
    return [{"rank": r.rank, "node": r.node, "threads": r.threads,
             "wall_s": seconds(r.wall), "compute_s": seconds(r.compute),
             "communication_s": seconds(r.communication),
             "waiting_s": seconds(r.waiting), "moving_s": seconds(r.moving),
             "io_s": seconds(r.io), "communication_share": round(r.share, 9),
             "calls": r.calls, "sent_bytes": r.sent,
             "received_bytes": r.received,
             "sent_between_bytes": r.sent_between,
             "received_between_bytes": r.received_between,
             "init_s": seconds(r.init_time),
             "cpu_s": seconds(r.cpu), "end": r.end,
             "processors": r.capture.cpus} for r in p.ranks]


def sizes(p):
    rows = _totals(p, "size", lambda t: dict(zip(
        ("from_bytes", "to_bytes"), recorded.size_range(t.key))))
    return sorted(rows, key=lambda row: row["from_bytes"])


def datatypes(p):
    return _totals(p, "datatype", lambda t: {"datatype": t.label})


def reductions(p):
    return _totals(p, "reduction", lambda t: {"reduction": t.label},
                   [r for r in p.records if r.operation])


def roots(p):
    return _totals(p, ("communicator", "root"), lambda t: {
        "communicator": t.key[0].label if t.key[0] else "(none)",
        "root": t.key[1]}, [r for r in p.records if r.root is not None])


def matrix(p):
    return [{"from": a, "to": b, "messages": one.messages,
             "bytes": one.bytes} for (a, b), one in p.matrix().items()]


def crossing(p):
    """By what lies between two ranks: the outermost level that parts them."""
    found = p.crossing
    if not found:
        return []
    total = found.total
    return [{"level": level, "messages": one.messages, "bytes": one.bytes,
             "share": round(one.bytes / total, 9) if total else 0.0}
            for level, one in (*found.rows, ("inside", found.inside),
                               ("unknown", found.unknown))]


def devices(p):
    """Calls with data in the memory of a GPU. Their times are those of all
    calls of the row."""
    return [{"operation": t.key[0], **_site(t.key[1]),
             "calls": t.device_calls, "calls_of_row": t.calls,
             "time_s": seconds(t.time), "moving_s": seconds(t.moving),
             "sent_bytes": t.device_sent, "received_bytes": t.device_received,
             "pieces": t.device_pieces} for t in p.devices()]


def peers(p):
    rows = []
    for rank in p.ranks:
        table = rank.capture.table("peers")
        for kind, *numbers in zip(*(table[name] for name in (
                "kind", "peer", "sent_messages", "sent_bytes",
                "received_messages", "received_bytes"))):
            rows.append(dict(zip(
                ("rank", "kind", "peer", "sent_messages", "sent_bytes",
                 "received_messages", "received_bytes"),
                (rank.rank, KINDS[kind] if kind < len(KINDS)
                 else str(kind), *numbers))))
    return rows


def times(p):
    """Calls by duration: from_s <= duration < to_s"""
    return [{"operation": t.label, "from_s": seconds(1 << bucket),
             "to_s": seconds(2 << bucket), "calls": calls}
            for t in p.totals("operation")
            for bucket, calls in t.histogram().items()]


def calls(p):
    """All records, one by one."""
    return [{"rank": r.rank, "thread": r.thread, "operation": r.procedure,
             "class": r.kind, **_site(r.site), "communicator":
             r.communicator.label if r.communicator else "",
             "datatype": r.datatype, "reduction": r.operation,
             "region": r.region, "side": r.side,
             "root": "" if r.root is None else r.root, "calls": r.calls,
             "errors": r.errors, "time_s": seconds(r.time),
             "waiting_s": seconds(r.waiting), "moving_s": seconds(r.moving),
             "min_s": seconds(r.min_time), "max_s": seconds(r.max_time),
             "sent_bytes": r.sent, "received_bytes": r.received,
             "sent_between_bytes": r.sent_between,
             "received_between_bytes": r.received_between,
             "min_size_bytes": r.min_size, "max_size_bytes": r.max_size,
             "probed_s": seconds(r.probed), "waited_s": seconds(r.waited)}
            for r in p.records]


TABLES = {f.__name__: f for f in (
    operations, classes, sites, communicators, regions, ranks, sizes,
    datatypes, reductions, roots, matrix, crossing, devices, peers, times,
    calls)}

# The columns of each --sort; the first that a table has.
SORTS = {"time": ("time_s", "communication_s", "from_s"),
         "waiting": ("waiting_s",), "moving": ("moving_s",),
         "calls": ("calls", "messages", "sent_messages", "entered"),
         "mean": ("mean_s",), "max": ("max_s",),
         "bytes": ("sent_bytes", "bytes"), "errors": ("errors",)}


def table(p, name, sort=None, top=None):
    """The rows of a table by its name, as dicts. `sort` is one of SORTS: most
    first, where the table has its column. UserError for an unknown name."""
    if name not in TABLES:
        raise UserError(f"unknown table {name}; " + nearest(name, TABLES))
    rows = TABLES[name](p)
    column = next((c for c in SORTS.get(sort, ()) if rows and c in rows[0]),
                  None)
    if column:
        rows.sort(key=lambda row: -row[column])
    return rows[:top]
