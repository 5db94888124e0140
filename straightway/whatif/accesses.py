"""One-sided calls, as `straightway bench onesided` sees them.

The benchmark has the time t of a call and a flush, and the time m of each of
eight calls with one flush. So a call takes (8 m - t) / 7, and the flush the
rest of t (src/vtime/model/accesses.h). A host may take longer for a call of
several than for one: then all of t is the call's.

A lock and its unlock come with a put of 8 bytes there. What they take beyond it
is half the lock's and half the unlock's. A fetch of 8 bytes is a
MPI_Fetch_and_op on a counter, a larger one a MPI_Get_accumulate.

All is measured warm, one call after the other.
"""

from straightway.bench import onesided
from straightway.whatif.models import check

SIZES = (8, 512, 4096, 32768, 1 << 18, 1 << 20)
SECONDS = 0.016         # for one operation at one size, host and ours together
SIDES = ("host", "ours")
SMALLEST = 8
# By the names of a model: the benchmark's.
NAMES = {"put": "put", "accumulate": "accumulate", "get": "get",
         "fetch": "get_accumulate"}


def words(ranks, memory, operations="all"):
    """The benchmark's, for windows of this memory."""
    return ["onesided", "-n", str(ranks), "--memory", memory, "--ops",
            operations, "--sizes", ",".join(map(str, SIZES)), "--seconds",
            str(SECONDS)]


def split(one, many):
    """(call, rest) of the time with a flush, and of a call of several."""
    n = onesided.SEVERAL
    call = min(one, max(0.0, (n * many - one) / (n - 1)))
    return call, one - call


def _times(report, side):
    """{operation: {size: ns}}"""
    found = {}
    for cell in report["cells"]:
        if cell.get(side):
            found.setdefault(cell["operation"], {})[cell["size"]] = \
                1000 * cell[side]["median"]
    return found


def table(report, side):
    """One side's times as a table `onesided.MEMORY` of a model; {}: none."""
    times, found = _times(report, side), {}
    for name, operation in NAMES.items():
        several = times.get(f"{operation}s", {})
        rows = [[size, *split(one, several[size])]
                for size, one in sorted(times.get(operation, {}).items())
                if size in several]
        if rows:
            found[name] = rows
    counter, fetches = times.get("count", {}), found.get("fetch")
    if fetches and SMALLEST in counter and fetches[0][0] == SMALLEST:
        _, call, rest = fetches[0]
        scale = counter[SMALLEST] / (call + rest) if call + rest else 1
        fetches[0] = [SMALLEST, scale * call, scale * rest]
    if SMALLEST in times.get("lock", {}) and "put" in found:
        _, call, rest = found["put"][0]
        both = max(0.0, times["lock"][SMALLEST] - call - rest)
        found["lock"] = found["unlock"] = both / 2
    return found


def fences(report, side):
    """{ranks: {bytes: ns}} of a fence, as a table of a collective."""
    by_size = _times(report, side).get("fence", {})
    return {str(report["ranks"]): {str(size): ns
                                   for size, ns in by_size.items()}} \
        if by_size else {}


def measure(bench, ranks):
    """{"host": {memory: table}, "ours": ...}, and {"host": fences, ...}.
    `bench(words)` returns a report, or None for what this MPI cannot do. Only
    fences are measured with more than two ranks."""
    found = {side: {} for side in SIDES}
    fence = {side: {} for side in SIDES}
    runs = [(2, memory, "all") for memory in check.MEMORY]
    runs += [(ranks, check.MEMORY[0], "fence")] if ranks > 2 else []
    for n, memory, operations in runs:
        report = bench(words(n, memory, operations))
        for side in SIDES if report else ():
            if operations == "all":
                found[side][memory] = table(report, side)
            if memory == check.MEMORY[0]:
                fence[side].update(fences(report, side))
    return found, fence
