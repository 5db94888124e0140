"""A problem: as many ranks as slots, their traffic, and the machine as levels.

    traffic     costs regard all of it
    graph       for each rank [(other, amount of both directions)], for
                searches: of a dense one the heaviest partners of each rank
    at[l]       the part of each slot on level l
    step[l]     what an amount pays that crosses level l (cost.py)
    below[l]    for each part of level l the slots in it, as (begin, end)

A level is left out where all placements pay it alike: where it has one part,
or a part for each slot.
"""

from straightway.mapping import cost

ENTRIES = 120000        # of a graph for searches, at most
THINNED = 33000         # of one that has more, about
FEWEST = 8              # partners of a rank in it


class Problem:
    """`slots`: as many as ranks; `entries`: of the graph for searches."""

    def __init__(self, traffic, slots, weights=None, entries=None):
        if traffic.ranks != len(slots):
            raise ValueError(f"{traffic.ranks} ranks, {len(slots)} slots")
        self.traffic, self.slots = traffic, slots
        self.ranks = traffic.ranks
        self.is_thinned = traffic.entries > (entries or ENTRIES)
        self.graph = _thinned(traffic, entries or THINNED) \
            if self.is_thinned else traffic.near
        self.weights = list(weights or slots.weights())
        self.at, self.step, self.below = [], [], []
        for level, step in enumerate(cost.steps(self.weights)):
            parts = slots.parts(level)
            if parts[-1] and parts[-1] + 1 < len(parts) and step:
                self.at.append(parts)
                self.step.append(step)
                self.below.append(_stretches(parts))

    def cost(self, placement):
        """What the ranks pay that these levels tell apart."""
        return sum(step * self.traffic.crossing(
            [parts[slot] for slot in placement])
            for parts, step in zip(self.at, self.step))

    def prices(self):
        """What an amount pays that crosses a level, for each level."""
        return [sum(self.step[level:]) for level in range(len(self.step))]


def _thinned(traffic, entries):
    """The graph of the heaviest partners of each rank."""
    most = max(FEWEST, entries // max(1, traffic.ranks))
    kept = [{} for _ in range(traffic.ranks)]
    for rank, own in enumerate(kept):
        for other, amount in traffic.heaviest(rank, most):
            own[other] = kept[other][rank] = amount
    return [sorted(one.items()) for one in kept]


def _stretches(parts):
    found, begin = [], 0
    for i in range(1, len(parts) + 1):
        if i == len(parts) or parts[i] != parts[begin]:
            found.append((begin, i))
            begin = i
    return found
