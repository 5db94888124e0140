"""Slots of a tree: a place for one rank on each core, with the ids of what the
core lies in, level by level from the outermost.

    levels, paths = slots(tree)
    levels  ("switch 1", "node", "package", "numa", "cache", "core")
    paths   [(0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 1), ...]

An id counts the places of its level in the whole tree. The cache is the
outermost one that several cores share. A core in no place of a level counts to
one place of that level in the next larger place.
"""

from straightway.machine import processors

_INSIDE = ("package", "numa", "cache")


def _keys(path, kind):
    """[(level, the place at it)] of the way to a slot."""
    found, switches = [], 0
    for i, place in enumerate(path):
        if place.kind == "switch":
            switches += 1
            found.append((f"switch {switches}", place))
        elif place.kind == "cache":
            shared = processors.count(place.cpus) > processors.count(
                path[-1].cpus)
            if shared and path[i - 1].kind != "cache" and \
                    "cache" not in dict(found):
                found.append(("cache", place))
        elif place.kind in ("node", kind, *_INSIDE):
            found.append((place.kind, place))
    return found


def _levels(ways):
    """Every level of some way, in an order that the longest way has."""
    order = [level for level, _ in max(ways, key=len)]
    for way in ways:
        for at, (level, _) in enumerate(way):
            if level not in order:
                before = [one for one, _ in way[:at]]
                order.insert(1 + max((order.index(one) for one in before),
                                     default=-1), level)
    return order


def slots(tree, kind="core"):
    """(levels, paths) of the tree's cores, or of its threads."""
    paths = list(tree.paths(kind)) or list(tree.paths("thread")) or \
        list(tree.paths("node"))
    ways = [_keys(path, path[-1].kind) for path in paths]
    levels = _levels(ways)
    known = [{} for _ in levels]
    found = []
    for number, way in enumerate(ways):
        at, prefix, ids = dict(way), (), []
        for level, ids_of in zip(levels, known):
            # Nodes may share their parts: the ids on the way tell them apart.
            own = number if level == levels[-1] else id(at.get(level))
            prefix = (prefix, own if level in at else None)
            ids.append(ids_of.setdefault(prefix, len(ids_of)))
        found.append(tuple(ids))
    return tuple(levels), found
