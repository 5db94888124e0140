"""One-sided calls, blocks that are given away and partitioned messages of a
program: their times alone and with Straightway, in the measured runs.

Measured models have the times of one-sided calls and of given blocks, warm, and
take a partitioned message for an ordinary one (docs/models.md). So the
prediction may miss some of what Straightway gains there, and the study shows
the runs' times.
"""

from straightway import units

ONE_SIDED, GIVEN, PARTITIONED = "one-sided", "given", "partitioned"
_PARTS = ("MPI_Psend_", "MPI_Precv_", "MPI_Pready", "MPI_Parrived")


def kind_of(record):
    """ONE_SIDED, GIVEN, PARTITIONED or None."""
    if record.procedure.startswith("straightway_"):
        return GIVEN
    if record.procedure.startswith(_PARTS):
        return PARTITIONED
    return ONE_SIDED if record.kind == ONE_SIDED else None


def _sums(p):
    """{kind: {"calls", "time_s", "waiting_s", "bytes"}} of a Profile. Times are
    those of a rank, on average."""
    found = {}
    for record in p.records if p else ():
        kind = kind_of(record)
        if not kind:
            continue
        one = found.setdefault(kind, dict.fromkeys(
            ("calls", "time_s", "waiting_s", "bytes"), 0))
        each = 1e9 * len(p.ranks)
        one["calls"] += record.calls
        one["time_s"] += record.time / each
        one["waiting_s"] += record.waiting / each
        one["bytes"] += record.sent if kind == GIVEN else \
            record.sent + record.received
    return found


def section(host, ours):
    """[{"kind", "host", "ours"}], of the Profiles of a run alone and of one
    with Straightway; `host` or `ours` is None where it has no such call."""
    both = _sums(host), _sums(ours)
    return [{"kind": kind, "host": both[0].get(kind), "ours": both[1].get(kind)}
            for kind in (ONE_SIDED, GIVEN, PARTITIONED)
            if any(kind in one for one in both)]


def said(found):
    """Sentences on a section."""
    text = []
    for one in found:
        host, ours = one["host"], one["ours"]
        if one["kind"] == ONE_SIDED and host and ours:
            text.append(
                f"One-sided calls ({units.number(host['calls'])}, "
                f"{units.size(host['bytes'])}) took {_moving(host)} of a "
                f"rank's time alone, and {_moving(ours)} with Straightway.")
        if one["kind"] == GIVEN and ours:
            text.append(
                f"With Straightway {units.size(ours['bytes'])} changed hands "
                "in blocks, without a copy. Alone the program sent them.")
        if one["kind"] == PARTITIONED and (host or ours):
            text.append(
                "The program has partitioned messages. A rank that waits "
                "copies their partitions as they become ready, with "
                "Straightway. The prediction has ordinary messages in their "
                "place (docs/models.md): the runs alone show this part of the "
                "gain.")
    return text


def _moving(one):
    return (f"{units.duration(1e9 * one['time_s'])} "
            f"({units.duration(1e9 * one['waiting_s'])} of it waiting)")
