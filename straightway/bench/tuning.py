"""What a tune decides from its measurements: calls for the host, settings.

A *score* is how many times as fast as the host's a call of ours is, in one
pass over a cell. A cell that scores below DOUBTFUL is measured again. It is
left to the host where it has lost in each pass, and in two at least.
"""

import dataclasses
import math

from straightway.bench import medians, ways

LOSS = 0.97
DOUBTFUL = 1.0
PASSES = 2
# A nonblocking call that loses in one of its uses stays ours if it wins by so
# much in the mean of them: the call does not tell how a program uses it.
MEAN = 1.05
# A setting's value must win by so much in the mean, and may lose so much in a
# cell.
GAIN, WORST = 1.05, 0.95

# The members know no common size of these: one way serves all sizes.
UNSIZED = ("gatherv", "scatterv", "alltoallv", "alltoallw")

BLOCKING, NONBLOCKING, PERSISTENT = FORMS = ("", "i", "_init")


@dataclasses.dataclass(frozen=True)
class Trial:
    """Other values of a setting, and the cells that depend on it."""
    setting: str
    values: tuple
    sizes: tuple
    operations: tuple = ()
    patterns: tuple = ()

    def arguments(self, ranks):
        """Words of the native benchmark. Patterns of pairs need an even number
        of ranks."""
        kind = ["--ops", ",".join(self.operations)] if self.operations else \
            ["--patterns", "ring" if ranks % 2 else ",".join(self.patterns)]
        return [*kind, "--sizes", ",".join(map(str, self.sizes))]

    def cells(self, ranks):
        kinds = self.operations or self.patterns
        return len(self.sizes) * (len(kinds) if self.operations or
                                  ranks % 2 == 0 else 1)


KIB, MIB = 1 << 10, 1 << 20
TRIALS = (
    Trial("eager_max", (KIB, 16 * KIB), (KIB, 4 * KIB, 16 * KIB),
          operations=("bcast", "gather", "scatter", "alltoall")),
    Trial("slice_min", (2 * KIB, 64 * KIB), (2 * KIB, 8 * KIB, 32 * KIB),
          operations=("reduce", "allreduce")),
    Trial("p2p_min", (8 * KIB, 32 * KIB), (2 * KIB, 8 * KIB, 16 * KIB),
          patterns=("pingpong", "window")),
    Trial("p2p_joint", (16 * KIB, 512 * KIB), (32 * KIB, 64 * KIB, 256 * KIB),
          patterns=("pingpong", "window")),
    Trial("stream_min", (2 * MIB, 32 * MIB), (4 * MIB, 16 * MIB),
          patterns=("pingpong",)),
    Trial("show_after", (4, 256), (64 * KIB, MIB),
          operations=("bcast", "allgather")),
)


def _ratio(host, ours):
    return host["median"] / ours["median"]


def blocking_scores(cell):
    """{(form, operation, size): score} of a cell of bench collectives."""
    if not cell["host"] or not cell["ours"]:
        return {}
    return {(BLOCKING, cell["operation"], cell["size"]):
            _ratio(cell["host"], cell["ours"])}


def while_computing(cell):
    """The score of a nonblocking call while ranks compute. Each side has
    computed for its own pure time. Both are judged with the longer: the shorter
    side would take the difference longer, at most."""
    host, ours = cell["host"], cell["ours"]
    longest = max(side["computing"]["median"] for side in (host, ours))

    def total(side):
        return side["plain"]["1"]["time"]["median"] + longest - \
            side["computing"]["median"]

    return total(host) / total(ours)


def started_scores(cell):
    """The same of a cell of bench overlap."""
    host, ours = cell["host"], cell["ours"]
    if not host or not ours:
        return {}
    uses = [_ratio(host["immediate"], ours["immediate"]),
            while_computing(cell)]
    mean = medians.geometric_mean(uses)
    at = cell["operation"], cell["size"]
    found = {(NONBLOCKING, *at): min(uses) if mean < MEAN else mean}
    if host["persistent"] and ours["persistent"]:
        found[(PERSISTENT, *at)] = _ratio(host["persistent"],
                                          ours["persistent"])
    return found


def add(passes, scores):
    """Note another pass in {key: [score, ...]}."""
    for key, score in scores.items():
        passes.setdefault(key, []).append(score)


def doubtful(passes, forms):
    """The cells of these forms to be measured again: [(operation, size)]."""
    return sorted({(operation, size)
                   for (form, operation, size), scores in passes.items()
                   if form in forms and min(scores) < DOUBTFUL})


def loses(scores):
    return len(scores) >= PASSES and max(scores) < LOSS


def _loses_in_the_mean(cells):
    """Of a collective without a common size."""
    found = [scores for scores in cells if len(scores) >= PASSES]
    return bool(found) and any(map(loses, found)) and \
        medians.geometric_mean(
            math.prod(s) ** (1 / len(s)) for s in cells) < LOSS


def _is_unsized(operation):
    return operation in UNSIZED or operation.startswith("neighbor_")


def name(form, operation):
    """A collective's name in the file."""
    return operation + form if form == PERSISTENT else form + operation


def choices(passes):
    """{(form, operation): {size: "host" or "ours"}}; of a collective without
    a common size all sizes have one way."""
    found = {}
    for (form, operation, size), scores in sorted(passes.items()):
        found.setdefault((form, operation), {})[size] = scores
    for (_, operation), sizes in found.items():
        together = _is_unsized(operation) and _loses_in_the_mean(
            [*sizes.values()])
        for size, scores in sizes.items():
            left = together if _is_unsized(operation) else loses(scores)
            sizes[size] = "host" if left else "ours"
    return found


def lines(passes, ranks):
    """{name: line} of the collectives that have a cell for the host."""
    found = {}
    for (form, operation), sizes in choices(passes).items():
        if "host" not in sizes.values():
            continue
        called = name(form, operation)
        one = _is_unsized(operation) or operation == "barrier"
        found[called] = ways.line(called, [(0, "host")] if one else
                                  ways.by_class(operation, sizes.items(),
                                                ranks))
    return found


def left(passes):
    """The keys of the cells that are left to the host."""
    return [(form, operation, size)
            for (form, operation), sizes in choices(passes).items()
            for size, way in sizes.items() if way == "host"]


def gain(plain, other):
    """How much faster ours is with another value of a setting: the mean, and
    the least. Both are {cell: ratio to the host} of the same cells."""
    gains = [other[key] / plain[key] for key in plain if key in other]
    return (medians.geometric_mean(gains), min(gains)) if gains else (1, 1)


def wins(plain, other):
    mean, least = gain(plain, other)
    return mean > GAIN and least > WORST
