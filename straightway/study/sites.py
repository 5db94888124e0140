"""What each call site gains in a run in turns: the mean time of its calls on
either side.

A call's time includes waiting for ranks that come later, which Straightway
cannot save. Its mean over a side also holds the noise of that side's epochs. So
these figures show where the gain comes from; the run's gain is that of
estimate.py.
"""

from straightway.profile import recorded
from straightway.study import shared
from straightway.study.turns import HOST, OURS

MOST = 30               # rows
ALWAYS = ("collective", "neighbourhood collective")
PLAIN = ("send", "receive", "send-receive", "persistent start")
MESSAGES = ("send", "receive", "send-receive", "completion", "test", "probe")


def _sides(records):
    """{key: [Total on the MPI alone, with Straightway]} of what has both."""
    found = {}
    for side in (HOST, OURS):
        for total in recorded.group([r for r in records if r.side == side], (
                "operation", "site", "communicator")):
            found.setdefault(total.key, {})[side] = total
    return {key: [both[HOST], both[OURS]] for key, both in found.items()
            if len(both) == 2 and both[HOST].time}


def section(p, messages):
    """Rows of a Profile of a run in turns, plain data: most saved first.

    `messages`: whether messages took turns
    part    of all ranks' time on the MPI alone: what the site saves
    """
    kinds = ALWAYS + (MESSAGES if messages else ())
    sides = _sides([r for r in p.records if r.kind in kinds])
    host = p.elapsed
    rows = []
    for (name, site, communicator), (alone, ours) in sides.items():
        saved = (alone.mean_time - ours.mean_time) * (alone.calls + ours.calls)
        host += ours.calls * (alone.mean_time - ours.mean_time)
        rows.append({
            "operation": name, "site": site.label, "stack": site.stack,
            "communicator": communicator.label if communicator else "",
            "host_calls": alone.calls, "host_mean_s": alone.mean_time / 1e9,
            "ours_calls": ours.calls, "ours_mean_s": ours.mean_time / 1e9,
            "gain": 1 - ours.mean_time / alone.mean_time, "part": saved})
    for row in rows:
        row["part"] = row["part"] / host if host > 0 else 0.0
    rows.sort(key=lambda row: (-abs(row["part"]), row["operation"],
                              row["stack"]))
    return rows[:MOST]


# What takes no turns --------------------------------------------------------

_KINDS = {
    "nonblocking collectives": lambda r: r.kind == "nonblocking collective",
    "persistent collectives": lambda r: r.kind == "persistent collective",
    "partitioned messages":
        lambda r: shared.kind_of(r) == shared.PARTITIONED,
    "persistent messages": lambda r: r.kind == "persistent start"
        and shared.kind_of(r) != shared.PARTITIONED,
    "one-sided calls": lambda r: shared.kind_of(r) == shared.ONE_SIDED,
    "blocks given away": lambda r: shared.kind_of(r) == shared.GIVEN}


def left_out(p):
    """[{"kind", "calls"}] of what is Straightway's on both sides, and so has
    no part in the estimate."""
    found = []
    for kind, fits in _KINDS.items():
        calls = sum(r.calls for r in p.records if fits(r))
        if calls:
            found.append({"kind": kind, "calls": calls})
    return found
