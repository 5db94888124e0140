"""The machine as a tree of places, alike for every description of it.

    cluster > switch > node > package > numa > cache > core > thread

A tree has the kinds that its source knows, and a node's places lie in each
other as their processors do: a NUMA domain may hold packages, or a cache NUMA
domains. A place's processors are the numbers of its own node. A leaf is a
thread, or a node where a source describes networks alone.

Readers (readers/) make trees, and nothing changes one afterwards. So the nodes
of a cluster may share their parts.
"""

import dataclasses

from straightway.machine import processors

KINDS = ("cluster", "switch", "node", "package", "numa", "cache", "core",
         "thread")
GPU, NETWORK, MEMORY = "gpu", "network", "memory"


@dataclasses.dataclass
class Device:
    """A GPU, a network adapter or memory, at the place that is nearest to it.

    Memory is a NUMA domain without processors of its own, or a second one
    beside the same processors.
    """

    kind: str                   # GPU, NETWORK or MEMORY
    name: str                   # mlx5_0, eth0, card0, numa 2
    model: str = ""
    size: int = 0               # bytes of memory
    address: str = ""           # on the PCI bus
    bridges: tuple = ()         # addresses of the PCI bridges above it


@dataclasses.dataclass
class Place:
    """A part of the machine, with the parts in it."""

    kind: str
    number: int = 0             # the system's for numa and thread, else counted
    name: str = ""              # of a switch, a node; the model of a package;
    #                             the kind of a core, where there are several
    cpus: int = 0               # a set of processors.py
    memory: int = 0             # bytes of a numa or a node
    level: int = 0              # of a cache
    size: int = 0               # bytes of a cache
    parts: list = dataclasses.field(default_factory=list)
    devices: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)   # of a cluster: what
    #                             its reader has left out, as sentences

    def walk(self):
        """This place and all below it, each before its parts."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def all(self, kind):
        """The places of a kind, in order."""
        found = [self] if self.kind == kind else []
        # Nodes have many places, and none of these kinds.
        if self.kind != "node" or kind not in ("cluster", "switch", "node"):
            for part in self.parts:
                found += part.all(kind)
        return found

    def paths(self, kind):
        """The way from here to each place of a kind, as a tuple."""
        if self.kind == kind:
            yield (self,)
        for part in self.parts:
            for path in part.paths(kind):
                yield (self, *path)

    def cover(self, cpus):
        """The smallest place of a node that holds all these processors: of
        several with the same processors, the outermost."""
        for part in self.parts:
            if cpus and not cpus & ~part.cpus:
                inner = part.cover(cpus)
                return self if inner.cpus == self.cpus else inner
        return self

    def title(self):
        """package 0, L3 2, node alpha"""
        if self.kind == "cache":
            return f"L{self.level} {self.number}"
        if self.kind in ("cluster", "switch", "node") and self.name:
            return f"{self.kind} {self.name}"
        return f"{self.kind} {self.number}"


class Crossing(ValueError):
    """Two places that overlap, where neither holds the other."""

    def __init__(self, place, other):
        super().__init__(f"{place.title()} (processors "
                         f"{processors.text(place.cpus)}) and {other.title()} "
                         f"({processors.text(other.cpus)}) overlap")
        self.place = place


def _order(place):
    return (-processors.count(place.cpus), KINDS.index(place.kind),
            -place.level, processors.first(place.cpus), place.number)


def _split_memories(places):
    """The places that nest, and the NUMA domains that are memory alone: the
    processors beside such a domain have another that is nearer."""
    numas = [place for place in places if place.kind == "numa"]
    memories = [
        place for place in numas if any(
            other is not place and not other.cpus & ~place.cpus
            and (other.cpus, other.number) != (place.cpus, place.number)
            and (other.cpus != place.cpus or other.number < place.number)
            for other in numas)]
    return [place for place in places
            if not any(place is one for one in memories)], memories


def name_cores(node, kinds):
    """Name a node's cores after their kinds: [(name, processors), ...]. One
    kind alone has no name."""
    cores = node.all("core")
    found = [(name, cpus) for name, cpus in kinds
             if any(core.cpus & cpus for core in cores)]
    for name, cpus in found if len(found) > 1 else ():
        for core in cores:
            if core.cpus & cpus:
                core.name = name


def nest(node, places):
    """Put places, none of them without processors, into a node by their
    processors. Crossing where they do not nest. The caches, cores and packages
    are numbered in the order of the tree."""
    node.parts = []
    owner = dict.fromkeys(processors.members(node.cpus), node)
    places, memories = _split_memories(places)
    for place in sorted(places, key=_order):
        numbers = processors.members(place.cpus)
        above = owner.get(numbers[0], node)
        if place.cpus & ~above.cpus:
            raise Crossing(place, above)
        for number in numbers:
            if owner[number] is not above:
                raise Crossing(place, owner[number])
            owner[number] = place
        above.parts.append(place)
    counted = {}
    for place in node.walk():
        place.parts.sort(key=lambda part: processors.first(part.cpus))
        if place.kind in ("package", "cache", "core"):
            key = place.kind, place.level
            place.number = counted.get(key, 0)
            counted[key] = place.number + 1
    place_devices(node, [(Device(MEMORY, one.title(), size=one.memory),
                          one.cpus) for one in memories])
    return node


def place_devices(node, found):
    """Attach devices, [(Device, processors near it)], to the smallest places.
    """
    for device, near in found:
        node.cover(near & node.cpus).devices.append(device)


def nearness(node, one, other):
    """How near two devices of a node are: "PCI switch", else the title of the
    smallest place that holds both."""
    shared = [a for a, b in zip(one.bridges, other.bridges) if a == b]
    if len(shared) > 1 or (one.address and one.address[:-2]
                           == other.address[:-2]):
        return "PCI switch"
    return _holding(node, (one, other)).title()


def _holding(place, devices):
    for part in place.parts:
        if all(any(d is device for below in part.walk()
                   for d in below.devices) for device in devices):
            return _holding(part, devices)
    return place


def shape(place):
    """What makes two places alike: their kinds and sizes, without numbers."""
    return (place.kind, place.memory, place.level, place.size,
            tuple(device.kind for device in place.devices),
            tuple(shape(part) for part in place.parts))


def counts(place):
    """{kind: places of it}, caches apart as L1, L2, L3."""
    found = {}
    for one in place.walk():
        key = f"L{one.level}" if one.kind == "cache" else one.kind
        found[key] = found.get(key, 0) + 1
    return found
