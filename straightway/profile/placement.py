"""Where ranks ran, what they send across parts of the machine, and whether
other places on the same cores would keep it nearer.

A capture has the processors that each rank could use, and the domains of its
node (docs/capture-format.md). A rank's *path* goes as far as all its processors
agree: a rank that is bound to a package has no core, and one that is not bound
has its node alone. Of two ranks on a node the profile then knows only what
their paths tell.

    p.places.levels         ("node", "package", "numa", "core")
    p.places.paths[3]       (0, 1, 1, 5); (0,) of a rank that is not bound
    p.crossing.rows         what goes between nodes, packages, ...
    p.better(0.1)           a Better placement of the ranks, or None
"""

import array
import dataclasses
import heapq
import itertools
import operator
import os

from straightway.machine import domains, processors
from straightway.machine.slots import Slots
from straightway.mapping import cost, solve
from straightway.mapping.traffic import Dense, Traffic
from straightway.profile.recorded import Exchange

PARTNERS = 24           # of a rank, the heaviest, in the search
# From so many ranks on, if a quarter of their pairs have traffic, it is Dense.
DENSE = 256


class Places:
    """The places of a Profile's ranks, those of ranks outside its part too.

    levels      from "node" to "core": those that tell processors apart
    paths       {rank: its number on each level, as far as known}
    names       of the nodes, by their numbers in paths
    cpu, core   {rank: its first processor, the place of its core on the node},
                of ranks whose path goes down to a core
    dark        numbers of nodes whose domains are not known
    """

    def __init__(self, p):
        ranks = p.capture.ranks
        known, shapes = {}, {}
        for rank in ranks:
            if rank.domains:
                key = str(rank.domains)
                if key not in shapes:
                    shapes[key] = domains.read(rank.domains)
                known[rank.node_number] = shapes[key]
        self.levels = ("node", *_levels(list(filter(None, shapes.values()))))
        self.paths, self.cpu, self.core, self.names = {}, {}, {}, []
        numbers, seen = {}, {}
        self.dark = set()
        for rank in ranks:
            node = rank.node_number
            if node not in numbers:
                numbers[node] = len(numbers)
                self.names.append(rank.node)
            shape, key = known.get(node), (node, rank.cpus)
            if shape is None:
                self.dark.add(numbers[node])
            if key not in seen:
                seen[key] = self._path(shape, rank.cpus)
            path, cpu = seen[key]
            self.paths[rank.number] = numbers[node], *path
            if len(path) + 1 == len(self.levels) > 1:
                self.cpu[rank.number] = cpu
                self.core[rank.number] = shape.core[cpu]

    def _path(self, shape, text):
        """(path below the node, first processor)"""
        try:
            cpus = [cpu for cpu in processors.members(processors.parse(text))
                    if shape and cpu in shape.paths]
        except ValueError:
            cpus = []
        if not cpus:
            return (), -1
        ways = [shape.paths[cpu] for cpu in cpus]
        shared = os.path.commonprefix([min(ways), max(ways)])
        path = []
        for level in self.levels[1:]:
            if level in shape.levels:
                at = shape.levels.index(level)
                if at >= len(shared):
                    break
                path.append(shared[at])
            else:
                path.append(0)      # this node has one part there
        return tuple(path), cpus[0]

    @property
    def shared(self):
        """The levels on which ranks may share a part of the machine."""
        found = self.levels if len(self.names) > 1 else self.levels[1:]
        return tuple(level for level in found if level != "core")

    @property
    def depth(self):
        """How long a path is that goes down to the innermost of these."""
        return len(self.levels) - ("core" in self.levels)

    @property
    def loose(self):
        """Ranks whose places are not known down to the innermost of these."""
        return [rank for rank, path in sorted(self.paths.items())
                if len(path) < self.depth]


def _levels(shapes):
    """The levels of nodes that tell some of their processors apart, and the
    cores."""
    found = set()
    for shape in shapes:
        paths = set(shape.paths.values())
        for i, level in enumerate(shape.levels):
            if level == "core" or len({path[:i + 1] for path in paths}) > \
                    len({path[:i] for path in paths}):
                found.add(level)
    return [level for level in domains.KINDS if level in found]


# What crosses -----------------------------------------------------------------

@dataclasses.dataclass
class Crossing:
    """What ranks send to others, by the outermost level that parts them.

    rows        [(level, Exchange), ...]: between parts of a level, inside one
                part of the level above
    inside      inside one part of the innermost level
    unknown     between ranks of a node whose places are not known
    """

    rows: list
    inside: Exchange
    unknown: Exchange

    @property
    def total(self):
        return sum(one.bytes for _, one in self.rows) + self.inside.bytes \
            + self.unknown.bytes


def _parting(where, one, two):
    """The level that parts two paths; "inside", or "unknown"."""
    for level, a, b in zip(where.levels, one, two):
        if a != b:
            return level
    return "inside" if min(len(one), len(two)) >= where.depth else "unknown"


def crossing(p):
    """The Crossing of a Profile's matrix; None where ranks share all parts of
    the machine, or nothing is known of them. The matrix has no regions."""
    where = p.places
    if not where.shared or p.region is not None:
        return None
    depth = where.depth
    part = {rank: path[:depth] for rank, path in where.paths.items()}
    sums = {}
    for (a, b), messages, size in p.exchanges():
        if a != b:
            key = part.get(a), part.get(b)
            before = sums.get(key, (0, 0))
            sums[key] = before[0] + messages, before[1] + size
    found = {}
    for (one, two), amount in sums.items():
        key = "unknown" if None in (one, two) else _parting(where, one, two)
        before = found.get(key, (0, 0))
        found[key] = before[0] + amount[0], before[1] + amount[1]
    amounts = {key: Exchange(*found.get(key, (0, 0)))
               for key in (*where.shared, "inside", "unknown")}
    return Crossing([(level, amounts[level]) for level in where.shared],
                    amounts["inside"], amounts["unknown"])


# Better places ----------------------------------------------------------------

def seats(p):
    """(Slots, the slot of each rank): the cores on which the ranks ran, as far
    as all of their places are known. None where ranks are missing."""
    where = p.places
    if p.missing or p.job.ranks != len(where.paths):
        return None
    depth = min(map(len, where.paths.values()))
    levels = where.levels[:depth]
    bound = depth == len(where.levels) > 1
    if bound and len(set(where.paths.values())) < len(where.paths):
        depth, bound = depth - 1, False     # some ranks share a core
    levels = where.levels[:depth] if bound else (*where.levels[:depth], "core")
    order = sorted(where.paths, key=lambda rank: (where.paths[rank][:depth],
                                                  rank))
    before = [0] * len(order)
    for slot, rank in enumerate(order):
        before[rank] = slot
    paths = [where.paths[rank] for rank in order] if bound else [
        (*where.paths[rank][:depth], slot) for slot, rank in enumerate(order)]
    return Slots(tuple(levels), paths, tuple(where.names),
                 [where.cpu[rank] for rank in order] if bound else None,
                 [where.core[rank] for rank in order] if bound else None
                 ), before


def on_nodes(p, slots):
    """The placement of a Profile's run on other slots: each rank on its node,
    in order. None where the slots' nodes have no room, or ranks are missing."""
    if p.missing:
        return None
    free = {}
    for slot, node in enumerate(slots.nodes):
        free.setdefault(node, []).append(slot)
    found = []
    for rank in p.ranks:
        node = p.places.paths[rank.rank][0]
        if not free.get(node):
            return None
        found.append(free[node].pop(0))
    return found


def _flat(p, unit):
    """The matrix of a Profile, flat; as Profile.matrix() tells it."""
    ranks, here = p.job.ranks, {r.rank for r in p.ranks}
    found = array.array("q", bytes(8 * ranks * ranks))
    for rank in p.ranks:
        peers, own = rank.capture.table("peers"), rank.rank
        told = zip(peers["peer"], peers[f"sent_{unit}"])
        if max(peers["peer"], default=0) >= ranks:
            told = [one for one in told if one[0] < ranks]
        row = [0] * ranks
        for peer, amount in told:
            row[peer] += amount
        found[own * ranks:(own + 1) * ranks] = array.array("q", row)
    # What the sender has not told: it is missing, or sees no one-sided call.
    for rank in p.ranks:
        peers, own = rank.capture.table("peers"), rank.rank
        if len(here) < ranks or 1 in peers["kind"]:
            for kind, peer, amount in zip(peers["kind"], peers["peer"],
                                          peers[f"received_{unit}"]):
                if peer < ranks and (kind == 1 or peer not in here):
                    found[peer * ranks + own] += amount
    return found


def _dense(p, unit):
    """The Dense of a Profile; None where it is no such traffic."""
    ranks = p.job.ranks
    entries = sum(len(r.capture.table("peers")) for r in p.ranks)
    if ranks < DENSE or entries < ranks * ranks / 4 or \
            any(r.rank >= ranks for r in p.ranks):
        return None
    try:
        return Dense(ranks, _flat(p, unit), unit)
    except OverflowError:       # a damaged file has any numbers
        return None


def traffic(p, unit="bytes", partners=None):
    """The Traffic of a Profile's matrix; of the `partners` heaviest of each
    rank alone, where given."""
    dense = None if partners else _dense(p, unit)
    if dense:
        return dense
    index, most, sent = 1 + (unit == "bytes"), p.job.ranks, {}
    rows = p.exchanges()
    if partners:
        rows = itertools.chain.from_iterable(
            heapq.nlargest(partners, some, operator.itemgetter(index))
            for _, some in itertools.groupby(rows, lambda row: row[0][0]))
    for row in rows:
        pair = row[0]
        if pair[0] < most and pair[1] < most:
            sent[pair] = sent.get(pair, 0) + row[index]
    return Traffic(p.job.ranks, sent, unit)


@dataclasses.dataclass
class Better:
    """Another placement, and the outermost level on which it takes enough off
    what goes through the border of the busiest part."""

    slots: Slots
    placement: list
    before: cost.Level
    after: cost.Level
    total: float            # bytes


def better(p, least):
    """The Better placement of a Profile's ranks on the cores where they ran,
    which takes more than this part off; None: a quick search finds none."""
    found = seats(p) if p.region is None and p.only is None else None
    if not found:
        return None
    slots, before = found
    few = traffic(p, partners=PARTNERS)
    made = solve.quick(few, slots, before)
    ways = before, made.placement
    if not _gain(few, slots, ways, least):
        return None
    whole = traffic(p)
    levels = _gain(whole, slots, ways, least)
    return levels and Better(slots, made.placement, *levels, whole.total)


def _gain(amounts, slots, ways, least):
    """(Level before, Level after) of the outermost level that gains; None."""
    one, two = (cost.cost(amounts, slots, at).levels for at in ways)
    for a, b in zip(one[:-1], two[:-1]):
        if b.worst < (1 - least) * a.worst and b.across < a.across:
            return a, b
        if b.worst > a.worst:
            break
    return None
