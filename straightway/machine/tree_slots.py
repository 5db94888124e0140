"""Slots of a tree: a place for one rank on each core, with the ids of what the
core lies in, level by level from the outermost.

    slots(tree), a Slots (slots.py) with
    levels  ("switch 1", "node", "package", "numa", "cache", "core")
    paths   [(0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 1), ...]   ascending
    names   of the nodes
    cpus    the first processor of each slot; None where nodes are leaves

An id counts the places of its level in the whole tree. The cache is the
outermost one that several cores share. Levels always have this order: a NUMA
domain around packages gives no level, nor does a cache around NUMA domains. A
core in no place of a level counts to one place of that level in the next
larger place.
"""

from straightway.machine import processors
from straightway.machine.slots import Slots

_ORDER = ("switch", "node", "package", "numa", "cache", "core", "thread")


def _is_level(path, i, kind):
    """Whether the i-th place of the way to a slot is a part of a level."""
    place = path[i]
    if place.kind in ("core", "thread"):
        return place.kind == kind
    if place.kind == "cache" and (path[i - 1].kind == "cache"
                                  or place.cpus == path[-1].cpus):
        return False
    # Of two levels in the wrong order the outer one gives way.
    return place.kind in _ORDER and not any(
        _ORDER.index(below.kind) < _ORDER.index(place.kind)
        for below in path[i + 1:])


def _keys(path, kind):
    """{level: the place at it} of the way to a slot."""
    found, switches = {}, 0
    for i, place in enumerate(path):
        if place.kind == "switch":
            switches += 1
            found[f"switch {switches}"] = place
        elif _is_level(path, i, kind):
            found.setdefault(place.kind, place)
    return found


def _levels(ways):
    """The levels of all ways, in order."""
    return sorted({level for way in ways for level in way}, key=lambda level: (
        _ORDER.index(level.split()[0]), level))


def slots(tree, kind="core"):
    """The Slots of the tree's cores, or of its threads; of its nodes, where the
    tree has no more."""
    paths = list(tree.paths(kind)) or list(tree.paths("thread")) or \
        list(tree.paths("node"))
    ways = [_keys(path, path[-1].kind) for path in paths]
    levels = _levels(ways)
    known = [{} for _ in levels]
    found = []
    for number, way in enumerate(ways):
        prefix, ids = (), []
        for level, ids_of in zip(levels, known):
            # Nodes may share their parts: the ids on the way tell them apart.
            own = number if level == levels[-1] else id(way.get(level))
            prefix = (prefix, own if level in way else None)
            ids.append(ids_of.setdefault(prefix, len(ids_of)))
        found.append((tuple(ids), processors.first(paths[number][-1].cpus)))
    # Cores without a place of a level may lie between cores that have one.
    found.sort()
    names = tuple(node.name for node in tree.all("node"))
    return Slots(tuple(levels), [path for path, _ in found],
                 names if all(names) else None,
                 None if levels[-1] == "node" else [cpu for _, cpu in found])
