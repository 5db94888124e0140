"""What the benchmark knows of messages between neighbours: patterns, sizes,
floors."""

# Messages that travel at once: one in each pair, or one from each rank.
PATTERNS = {"pingpong": "pair", "bidirectional": "rank", "stream": "pair",
            "window": "pair", "ring": "rank", "random": "rank",
            "give": "pair", "read": "pair", "giveread": "pair",
            "write": "pair", "rewrite": "pair",
            "partitioned": "pair"}


def ladder(first, last, factor):
    """Sizes from first to last, each `factor` times the one before."""
    sizes, size = [], float(first)
    while round(size) <= last:
        sizes.append(round(size))
        size *= factor
    return sizes


def perturbed(sizes, by):
    """Each size, and `by` bytes less and more. They show an implementation
    that is fast at round sizes only."""
    return sorted({n for size in sizes for n in (size - by, size, size + by)
                   if n >= min(1, size)})


def area_bytes(size, under_way, cold):
    """The size of the area that bench/messages.c lays out."""
    stride = (size + 63) // 64 * 64 + 128
    return 3 * 4096 + max(-(-cold // stride), under_way) * stride


def lanes(pattern, ranks):
    """The number of messages that travel at once and share the bandwidth."""
    return ranks if PATTERNS[pattern] == "rank" else ranks // 2


def floor(pattern, memcpy, floors):
    """Microseconds for a message, approximately; for a block that is given, of
    what a copy of it would take.

    A line must come from another core (in a loop of one-way messages, one line
    of a stream), and some process must copy the bytes at least once.
    """
    if pattern in ("stream", "window"):
        latency = floors.get("line") or 0
    else:
        latency = (floors.get("round_trip") or 0) / 2
    return max(latency, memcpy)
