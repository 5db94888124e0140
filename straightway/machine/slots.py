"""The slots of a machine: the cores that may take a rank, and where they lie.

A slot has a path, one number for each level from the outermost to the
innermost. Slots with the same first numbers share that part of the machine:

    levels  ("node", "package", "core")
    paths   [(0, 0, 0), (0, 0, 1), (0, 1, 0), ...]

Two slots are as far apart as the outermost level on which their paths differ.
Slots stand in the order of their paths, so each part of the machine is a
stretch of them.

A machine comes from a short text:

    50x2x24                     50 nodes of 2 packages of 24 cores
    3x2x24+2x16                 3 such nodes, and 2 nodes of 16 cores
    group=4,switch=6,node=4,core=48

or from a tree of the machine (tree_slots.py).
"""

import dataclasses
import typing

from straightway.errors import UserError, nearest

# Levels, the outermost first, with the weight of a byte that crosses there.
# Only their proportions count: a node's ranks share its way to the network.
WEIGHTS = {"group": 24.0, "pod": 20.0, "switch": 16.0, "node": 12.0,
           "package": 3.0, "numa": 2.0, "cache": 1.0, "core": 0.5,
           "thread": 0.25}
LEVELS = tuple(WEIGHTS)
# The meaning of numbers without names, by how many there are.
_UNNAMED = {1: ("core",), 2: ("node", "core"),
            3: ("node", "package", "core"),
            4: ("node", "package", "numa", "core"),
            5: ("node", "package", "numa", "cache", "core")}
MOST = 1 << 20


@dataclasses.dataclass(frozen=True)
class Slots:
    """The slots of a machine.

    `names` are the nodes' names. `cpus` is the system's number of each slot's
    processor on its node, and `cores` the place of its core among all of the
    node's, where they are known.
    """

    levels: tuple
    paths: list
    names: typing.Optional[tuple] = None
    cpus: typing.Optional[list] = None
    cores: typing.Optional[list] = None

    def __post_init__(self):
        kinds = [kind(level) for level in self.levels]
        if kinds != sorted(kinds, key=LEVELS.index):
            raise ValueError(f"levels {self.levels}")
        if self.paths != sorted(set(self.paths)):
            raise ValueError("paths must ascend, each once")

    def __len__(self):
        return len(self.paths)

    def parts(self, level):
        """The number of its part for each slot, on the level with this place;
        parts are numbered through the whole machine."""
        numbers, found = {}, []
        for path in self.paths:
            found.append(numbers.setdefault(path[:level + 1], len(numbers)))
        return found

    def first(self, count):
        """The Slots of the first `count`."""
        return dataclasses.replace(
            self, paths=self.paths[:count],
            cpus=self.cpus and self.cpus[:count],
            cores=self.cores and self.cores[:count])

    def only(self, used):
        """The Slots with these numbers, which ascend."""
        names, nodes = self.names, self.nodes
        if names:
            left = sorted({nodes[slot] for slot in used})
            names = tuple(names[node] for node in left) \
                if left[-1] < len(names) else None

        def taken(values):
            return values and [values[slot] for slot in used]

        return dataclasses.replace(
            self, paths=taken(self.paths), names=names,
            cpus=taken(self.cpus), cores=taken(self.cores))

    def repeated(self, count):
        """The Slots of as many nodes, each like this one node."""
        below = 0 if self.node_level is None else self.node_level + 1
        return Slots(("node", *self.levels[below:]),
                     [(node, *path[below:]) for node in range(count)
                      for path in self.paths], None,
                     self.cpus and self.cpus * count,
                     self.cores and self.cores * count)

    def of_cpus(self, allowed):
        """The Slots whose processors are among these."""
        found = [(path, cpu) for path, cpu in zip(self.paths, self.cpus)
                 if cpu in allowed]
        return dataclasses.replace(self, paths=[path for path, _ in found],
                                   cpus=[cpu for _, cpu in found])

    def named(self, names):
        """The Slots with names for their nodes."""
        return dataclasses.replace(self, names=tuple(names))

    @property
    def node_level(self):
        """The place of the level "node", or None: all is one node."""
        return self.levels.index("node") if "node" in self.levels else None

    @property
    def nodes(self):
        """The node's number for each slot."""
        return [0] * len(self) if self.node_level is None else \
            self.parts(self.node_level)

    def weights(self):
        """The weight of each level, as a list; 4 more for each switch above
        the nodes' own."""
        switches = [level for level in self.levels
                    if kind(level) == "switch"]
        found = {level: WEIGHTS["switch"] + 4 * i
                 for i, level in enumerate(reversed(switches))}
        return [found.get(level) or WEIGHTS[level] for level in self.levels]


def kind(level):
    """"switch 2" -> "switch": there may be several of these."""
    return level.partition(" ")[0]


def singular(level):
    """"numa" -> "NUMA domain"."""
    return "NUMA domain" if level == "numa" else level


def plural(level):
    """"numa" -> "NUMA domains", "switch 1" -> "switches 1"."""
    name, space, number = level.partition(" ")
    return {"numa": "NUMA domains", "switch": "switches"}.get(
        name, name + "s") + space + number


def _number(given, text):
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        what = "this" if text == given else text or "nothing"
        raise UserError(f"--machine {given}: {what} is no number of parts; "
                        "give a file that exists, or numbers as in 50x2x24")
    return int(text)


def _named(given, text):
    """[(level, count), ...] of "node=2,core=4"."""
    found = []
    for word in text.split(","):
        name, _, count = word.strip().partition("=")
        if name not in LEVELS[:-1]:
            raise UserError(f"--machine {given}: unknown level "
                            f"{name or '(none)'}; "
                            + nearest(name, LEVELS[:-1]))
        if found and LEVELS.index(name) <= LEVELS.index(found[-1][0]):
            raise UserError(f"--machine {given}: {name} is not inside "
                            f"{found[-1][0]}; the order is "
                            + ", ".join(LEVELS[:-1]))
        found.append((name, _number(given, count)))
    if found[-1][0] != "core":
        raise UserError(f"--machine {given}: say how many cores there are, as "
                        f"in {text},core=8")
    return found


def _parse(given, text):
    if "=" in text:
        return _named(given, text)
    counts = [_number(given, word) for word in text.split("x")]
    if len(counts) not in _UNNAMED:
        raise UserError(f"--machine {given}: {len(counts)} numbers; name the "
                        "levels, as in switch=6,node=4,core=48")
    return list(zip(_UNNAMED[len(counts)], counts))


def _paths(levels, counts):
    """The paths of one regular part; a level that it lacks counts as one."""
    paths = [()]
    for level in levels:
        paths = [(*path, i) for path in paths
                 for i in range(counts.get(level, 1))]
    return paths


def parse(text):
    """The Slots of a text. UserError for one that means nothing."""
    parts = [_parse(text, part) for part in text.split("+")]
    there = {name for part in parts for name, _ in part}
    if len(parts) > 1:
        there.add("node")
    levels = tuple(level for level in LEVELS if level in there)
    size = 0
    for part in parts:
        product = 1
        for _, count in part:
            product *= count
        size += product
    if size > MOST:
        raise UserError(f"--machine {text}: {size} cores; {MOST} is the most")
    paths = []
    for part in parts:
        begin = paths[-1][0] + 1 if paths else 0
        paths += [(path[0] + begin, *path[1:])
                  for path in _paths(levels, dict(part))]
    return Slots(levels, paths)
