"""What the benchmark knows of one-sided operations: names, sizes, floors."""

from straightway.bench import collectives

# Those with sizes; the others have one cell each. Of those in the plural,
# `SEVERAL` calls have one flush, and a cell has the time of one of them.
SINGLE = ("put", "get", "accumulate", "get_accumulate")
SIZED = (*SINGLE, *(f"{name}s" for name in SINGLE))
OPERATIONS = (*SIZED, "count", "lock", "fence", "fetch_and_op")
SEVERAL = 8


def cells(operations, sizes):
    return sum(len(sizes) if op in SIZED else 1 for op in operations)


def floor(operation, size, floors):
    """Microseconds that no implementation can beat, approximately: a copy of
    the bytes, or what a line takes from one core to another."""
    if operation in SIZED:
        return collectives.copy_time(floors.get("memcpy") or {}, size)
    return (floors.get("round_trip") or 0) / 2
