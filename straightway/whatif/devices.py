"""Data in the memory of GPUs, which no model knows: what a forecast says of it.

A model has the times of messages and collectives between ordinary memory. So a
forecast names the calls that moved other data, and what they took in truth.
"""

from straightway import units
from straightway.profile import recorded

MOST = 4                    # operations named


def records(ranks):
    """Whether some of a capture's ranks have such calls."""
    return any(any(rank.table("calls")["device_calls"]) for rank in ranks)


def sentences(p, source):
    """Of a Profile, which `source` names: "the last normal run", "the trace";
    none without such calls."""
    found = [r for r in p.records if r.device_calls]
    if not found:
        return []
    totals = recorded.group(found, "operation")
    names = [t.label for t in totals]
    more = len(names) - MOST
    listed = ", ".join(names[:MOST]) + (f" and {more} more" if more > 0 else "")
    whole = recorded.Total("", "", found)
    return [
        f"Data in the memory of GPUs: {listed} moved "
        f"{units.size(whole.device_sent + whole.device_received)} from or to "
        f"it in {units.plural(whole.device_calls, 'call')}. In {source} these "
        f"calls took {units.duration(whole.time / len(p.ranks))} on each rank, "
        "on average. The models know ordinary memory alone, and predict these "
        "calls as if their data lay there."]
