"""What the benchmark knows of the collectives: names, floors, guidelines."""

import bisect

from straightway.collectives import COLLECTIVES

# In the order of measurement and display. A "block" operation moves one block
# of the given size between each two ranks; the others move that many bytes in
# all.
ROOTED = tuple(c.lower for c in COLLECTIVES if c.rooted)
OPERATIONS = tuple(c.lower for c in COLLECTIVES)
WITHOUT_GAPS = tuple(c.lower for c in COLLECTIVES if not c.moves or c.reduces)
_ONE_PER_RANK = ("allgather", "allgatherv", "alltoall", "alltoallv",
                 "alltoallw", "reduce_scatter", "reduce_scatter_block")


def bytes_moved(operation, size, ranks):
    """The bytes that the busiest rank must at least read or write, when the
    ranks share the work as evenly as possible."""
    if operation == "barrier":
        return 0
    if operation in _ONE_PER_RANK:
        return size * ranks
    if operation.startswith("neighbor_"):
        return size * 4
    if operation == "allreduce":
        # its slice of every input, then the others' slices of the result
        return size + size * (ranks - 1) / ranks
    return size


def copy_time(rates, n):
    """Microseconds to copy n bytes: linear between measured sizes, and by
    their bandwidth beyond them."""
    table = sorted((int(k), v) for k, v in rates.items())
    if not table or not n:
        return 0.0
    sizes = [k for k, _ in table]
    at = bisect.bisect_left(sizes, n)
    if at == 0:
        return table[0][1] * n / table[0][0]
    if at == len(table):
        return table[-1][1] * n / table[-1][0]
    (n0, t0), (n1, t1) = table[at - 1], table[at]
    return t0 + (t1 - t0) * (n - n0) / (n1 - n0)


def floor(operation, size, ranks, floors):
    """Microseconds that no implementation can beat, approximately.

    A synchronising operation waits for a line from another core: half a round
    trip. A rooted one in a loop only streams lines. Large data cost a memcpy
    of the bytes that the busiest rank must move.
    """
    if operation in ROOTED:
        latency = floors.get("line") or 0
    else:
        latency = (floors.get("round_trip") or 0) / 2
    rates = floors.get("memcpy") or {}
    return max(latency, copy_time(rates, bytes_moved(operation, size, ranks)))


def least_sent(operation, size, nodes):
    """The bytes that all nodes together must send at least; `nodes` has the
    node of each rank. None where that depends on more."""
    if operation == "barrier" or operation.startswith("neighbor_"):
        return None
    ranks, count = len(nodes), len(set(nodes))
    away = [ranks - nodes.count(node) for node in nodes]
    if operation in ("gather", "gatherv", "scatter", "scatterv"):
        return size * away[0]
    if operation.startswith("allgather"):
        return size * sum(ranks - nodes.count(node) for node in set(nodes))
    if operation.startswith("alltoall"):
        return size * sum(away)
    if operation.startswith("reduce_scatter"):
        return size * ranks * (count - 1)
    return size * (count - 1) * (2 if operation == "allreduce" else 1)


# left <= sum of right, at the same size: users may expect this of any MPI.
GUIDELINES = (
    ("barrier", ("allreduce",)),
    ("allreduce", ("reduce", "bcast")),
    ("reduce", ("allreduce",)),
    ("gather", ("allgather",)),
    ("gather", ("gatherv",)),
    ("scatter", ("scatterv",)),
    ("scatter", ("alltoall",)),
    ("allgather", ("allgatherv",)),
    ("allgather", ("alltoall",)),
    ("alltoall", ("alltoallv",)),
    ("alltoallv", ("alltoallw",)),
    ("reduce_scatter_block", ("reduce_scatter",)),
    ("neighbor_alltoall", ("neighbor_alltoallv",)),
    ("neighbor_alltoallv", ("neighbor_alltoallw",)),
    ("bcast", ("allgather",)),
    ("reduce", ("scan",)),
)

# A guideline counts as broken beyond this much: less is noise.
TOLERANCE = 1.1


def check_guidelines(cells, mode):
    """For each guideline with data: {"rule", "held", "of", "worst", "size"};
    worst is the largest left/right, at `size`."""
    times = {(c["operation"], c["size"]): c[mode]["median"] for c in cells
             if c.get(mode)}
    sizes = sorted({s for _, s in times})
    results = []
    for left, right in GUIDELINES:
        ratios = []
        for s in sizes:
            a = times.get((left, 0 if left == "barrier" else s))
            parts = [times.get((r, s)) for r in right]
            # Barrier's match is the smallest message alone.
            if left == "barrier" and s != min(
                    (x for x in sizes if x), default=None):
                continue
            if a is None or None in parts or not sum(parts):
                continue
            ratios.append((a / sum(parts), s))
        if ratios:
            worst, size = max(ratios)
            results.append({
                "rule": f"{left} <= {' + '.join(right)}",
                "held": sum(r <= TOLERANCE for r, _ in ratios),
                "of": len(ratios), "worst": worst, "size": size})
    return results
