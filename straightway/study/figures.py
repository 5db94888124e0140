"""The figures of a study: gains, and how far predictions are off."""

import statistics

from straightway.whatif import outcomes


def nonblocking_calls(p):
    """How many calls of nonblocking collectives a profile has."""
    return sum(t.calls for t in p.totals("class")
               if t.label == "nonblocking collective")


def speed_up(host, ours):
    return host / ours if ours > 0 else None


def side_by_side(samples):
    """The spread of each side's times, in ns, and what they say together."""
    found = {who: outcomes.spread(ns) for who, ns in samples.items()}
    host, ours = (found[who]["median_s"] for who in ("host", "ours"))
    found["speed_up"] = speed_up(host, ours)
    # The runs tell the sides apart where no run of one lies among the other's.
    found["apart"] = (found["ours"]["high_s"] < found["host"]["low_s"]
                      or found["host"]["high_s"] < found["ours"]["low_s"])
    found["how"] = "runs"
    return found


def most(bound):
    """The part of the run's time that a bound of a forecast saves."""
    return 1 - 1 / bound["ratio"] if bound["ratio"] else 1.0


def gain(host, ours):
    """The part of the run's time that is saved."""
    return 1 - ours / host if host > 0 else 0.0


def error(report, pairs=()):
    """The errors of predictions: of each side's time, and of the gain, in
    parts of the run's time. That of the time alone has its range: of `pairs`,
    the errors beside each run; else by the interval of the run in turns."""
    p, m = report["predicted"], report["measured"]
    host, ours = (m[who]["median_s"] for who in ("host", "ours"))
    pairs = pairs or [p["host_s"] / m["host"][end] - 1
                      for end in ("low_s", "median_s", "high_s")]
    return {"host": statistics.median(pairs), "host_low": min(pairs),
            "host_high": max(pairs), "ours": p["ours_s"] / ours - 1,
            "gain": gain(p["host_s"], p["ours_s"]) - gain(host, ours)}


def summary(p):
    c, elapsed = p.communication, p.elapsed or 1
    return {"wall_s": p.wall / 1e9, "communication": p.share,
            "waiting": p.waiting_share,
            "moving": (c.time - c.waiting) / elapsed, "calls": c.calls,
            "sent": c.sent,
            "operations": [
                {"operation": t.label, "calls": t.calls,
                 "time_s": t.time / len(p.ranks) / 1e9}
                for t in p.totals("operation")[:8]]}
