"""Two profiles side by side: A before, B after; speed-up is A's time over
B's. Times per rank are means of the ranks; all in seconds."""

import os

from straightway.profile import recorded

SCHEMA = "straightway-profile-diff/1"


def _speedup(a, b):
    return round(a / b, 6) if a and b else None


def _label(p):
    job = p.job
    return {"file": p.capture.path, "program": job.program,
            "arguments": job.arguments, "job": job.id, "ranks": job.ranks,
            "nodes": len(p.nodes), "mpi": job.mpi,
            "accelerated": job.accelerated}


def _warnings(a, b):
    names = [os.path.basename(p.job.program) for p in (a, b)]
    if names[0] != names[1]:
        yield f"The programs differ: {names[0]} and {names[1]}."
    elif a.job.arguments != b.job.arguments:
        yield ("The arguments differ: "
               f"{' '.join(a.job.arguments) or '(none)'} and "
               f"{' '.join(b.job.arguments) or '(none)'}.")
    if a.job.ranks != b.job.ranks:
        yield (f"The numbers of ranks differ: {a.job.ranks} and "
               f"{b.job.ranks}.")
    if len(a.nodes) != len(b.nodes):
        yield (f"The numbers of nodes differ: {len(a.nodes)} and "
               f"{len(b.nodes)}.")
    for name, p in (("A", a), ("B", b)):
        if p.missing:
            yield f"{name} lacks ranks {p.missing}."
        for end, found in p.ended_badly.items():
            yield f"{name} ended by {end} on ranks {found}."


def _row(what, a, b, unit="s"):
    return {"what": what, "unit": unit, "a": round(a, 12),
            "b": round(b, 12),
            "speedup": _speedup(a, b) if unit == "s" else None}


def _summary(a, b):
    def mean(p, name):
        return sum(getattr(r, name) for r in p.ranks) / len(p.ranks) / 1e9

    yield _row("run time", a.wall / 1e9, b.wall / 1e9)
    yield _row("compute", mean(a, "compute"), mean(b, "compute"))
    yield _row("communication", mean(a, "communication"),
               mean(b, "communication"))
    yield _row("waiting", mean(a, "waiting"), mean(b, "waiting"))
    yield _row("moving", mean(a, "moving"), mean(b, "moving"))
    if a.io.calls or b.io.calls:
        yield _row("I/O", mean(a, "io"), mean(b, "io"))
    yield _row("communication share", a.share, b.share, "share")


def _totals(p):
    return {t.label: t for t in p.totals("operation")}


def _operations(a, b):
    ours, theirs = _totals(a), _totals(b)
    none = recorded.Total("", "", [])
    rows = []
    for name in list(dict.fromkeys([*ours, *theirs])):
        x, y = ours.get(name, none), theirs.get(name, none)
        row = {"operation": name}
        for side, t, p in (("a", x, a), ("b", y, b)):
            row.update({
                f"{side}_calls": t.calls,
                f"{side}_time_s": round(t.time / len(p.ranks) / 1e9, 12),
                f"{side}_waiting_s": round(t.waiting / len(p.ranks) / 1e9,
                                           12),
                f"{side}_moving_s": round(t.moving / len(p.ranks) / 1e9, 12),
                f"{side}_mean_s": round(t.mean_time / 1e9, 12),
                f"{side}_sent_bytes": t.sent})
        row["speedup"] = _speedup(x.mean_time, y.mean_time)
        rows.append(row)
    rows.sort(key=lambda r: (-max(r["a_time_s"], r["b_time_s"]),
                             r["operation"]))
    return rows


def compare(a, b):
    """The comparison of two Profiles, ready for JSON: "warnings" are
    sentences, "summary" and "operations" rows. An operation's speed-up
    compares its time per call."""
    return {"schema": SCHEMA, "a": _label(a), "b": _label(b),
            "warnings": list(_warnings(a, b)),
            "summary": list(_summary(a, b)),
            "operations": _operations(a, b)}
