"""Groups of cores by measured figures, beside the groups that the system
claims.

Cores join in the order of their round trips, the shortest first. Where the
next join costs STEP times as much as the last one, what has joined so far is a
level of groups: round trips within them are shorter than between them.
"""

import dataclasses

from straightway.machine import processors

STEP = 1.25


@dataclasses.dataclass
class Level:
    """Groups of cores, and what round trips take, in ns."""

    groups: list            # [(index of a core, ...), ...]
    inside: tuple           # (least, most) within a group
    outside: tuple          # between two groups
    claimed: str = ""       # the kind of place that the system claims so


def _symmetric(matrix):
    """{(a, b): ns}, a < b, of measured pairs."""
    n = len(matrix)
    return {(a, b): matrix[a][b] for a in range(n) for b in range(a + 1, n)
            if matrix[a][b]}


def _joins(times, n):
    """[(ns, groups after the joins of so many ns)], the shortest first."""
    group, found = list(range(n)), []
    for (a, b), ns in sorted(times.items(), key=lambda item: item[1]):
        if group[a] != group[b]:
            old, new = group[b], group[a]
            group = [new if g == old else g for g in group]
            found.append((ns, tuple(group)))
    return found


def _partition(labels):
    members = {}
    for core, label in enumerate(labels):
        members.setdefault(label, []).append(core)
    return sorted(tuple(cores) for cores in members.values())


def _range(times):
    return min(times, default=None), max(times, default=None)


def measured(matrix):
    """Levels of groups, the innermost first, by round trips in ns."""
    times, found = _symmetric(matrix), []
    joins = _joins(times, len(matrix))
    for (ns, labels), (more, _) in zip(joins, joins[1:]):
        if more >= STEP * ns:
            found.append(Level(_partition(labels), *(_range([
                t for (a, b), t in times.items()
                if (labels[a] == labels[b]) is same])
                for same in (True, False))))
    return found


def claims(node, cpus):
    """{title: groups} of the system, of cores with these processors. Only what
    splits them: not all in one group, nor each alone."""
    found = {}
    for place in node.walk():
        if place.kind in ("package", "numa", "cache", "core"):
            title = f"L{place.level}" if place.kind == "cache" else place.kind
            group = tuple(i for i, cpu in enumerate(cpus)
                          if place.cpus >> cpu & 1)
            if group:
                found.setdefault(title, []).append(group)
    return {title: sorted(groups) for title, groups in found.items()
            if 1 < len(groups) < len(cpus)}


def compare(node, cpus, matrix):
    """(levels with what the system claims alike, {title: groups} that the
    system claims and no figure shows)."""
    levels, claimed = measured(matrix), claims(node, cpus)
    shown = set()
    for level in levels:
        same = [title for title, groups in claimed.items()
                if groups == level.groups]
        level.claimed = ", ".join(same)
        shown.update(same)
    return levels, {title: groups for title, groups in claimed.items()
                    if title not in shown}


def cores(node, allowed):
    """The first allowed processor of each core."""
    found = []
    for core in node.all("core") or node.all("thread"):
        usable = core.cpus & allowed
        if usable:
            found.append(processors.first(usable))
    return found
