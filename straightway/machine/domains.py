"""A node by its domains' lists of processors, as captures have them.

    found = read({"package": ["0-1", "2-3"], "core": ["0", "1", "2", "3"]})
    found.levels        ("package", "core"), of those that the node has
    found.paths[2]      (1, 2): what processor 2 lies in, level by level
    found.core[2]       2: the place of its core among the node's
"""

import dataclasses

from straightway.machine import processors, tree_slots
from straightway.machine.tree import Place, nest

KINDS = ("package", "numa", "cache", "core")


@dataclasses.dataclass(frozen=True)
class Domains:
    levels: tuple
    paths: dict
    core: dict


def read(domains):
    """The Domains; None where the lists make no tree of cores."""
    places, cpus = [], 0
    try:
        for kind in KINDS:
            for text in domains.get(kind, ()):
                here = processors.parse(text)
                cpus |= here
                places.append(Place(kind, cpus=here, level=3))
        node = nest(Place("node", cpus=cpus), [p for p in places if p.cpus])
    except ValueError:
        return None
    cores = {processors.first(core.cpus): core.cpus
             for core in node.all("core")}
    if not cores:
        return None
    slots, paths, at = tree_slots.slots(node), {}, {}
    for place, (path, first) in enumerate(zip(slots.paths, slots.cpus)):
        for cpu in processors.members(cores[first]):
            paths[cpu], at[cpu] = path[1:], place
    return Domains(slots.levels[1:], paths, at)
