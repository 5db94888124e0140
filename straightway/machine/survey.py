"""What `straightway topo` has found: a machine, the ranks on it, and what lies
between its cores and nodes."""

import dataclasses

from straightway import __version__
from straightway.machine import groups, processors
from straightway.machine.tree import NETWORK, Place, nearness


@dataclasses.dataclass
class Cores:
    """Figures between the cores of one node."""

    numbers: list               # of the cores
    processors: list            # one of each core
    round_trip: list            # [a][b]: ns of a cache line, there and back
    read: list                  # [a][b]: GB/s, b reads what a has written
    levels: list = None         # groups.Level, the innermost first
    unseen: dict = None         # {title: groups} that no figure shows


@dataclasses.dataclass
class Pair:
    """Figures between two nodes: messages of their first ranks."""

    nodes: tuple                # their numbers
    latency_us: float           # 8 bytes, one way
    gbs: float                  # GB/s of 1 MiB


@dataclasses.dataclass
class Survey:
    tree: Place
    source: str                 # a tool, Linux, or the files
    machine: dict = None        # hardware.describe(), of this machine alone
    allowed: int = None         # the set that this process may use, here alone
    mpi: str = ""               # of a job
    ranks: list = dataclasses.field(default_factory=list)   # job.Rank
    checks: list = dataclasses.field(default_factory=list)  # checks.Check
    cores: Cores = None
    pairs: list = dataclasses.field(default_factory=list)
    seconds: float = 0          # that the measurement took
    version: str = __version__


def add_cores(survey, answer):
    """Add what the probe has measured on this node."""
    cpus = answer["processors"]
    levels, unseen = groups.compare(survey.tree, cpus, answer["round_trip"])
    cores = survey.tree.all("core") or survey.tree.all("thread")
    survey.cores = Cores([next(core.number for core in cores
                               if core.cpus >> cpu & 1) for cpu in cpus],
                         cpus, answer["round_trip"], answer["read"], levels,
                         unseen)


# Views that reporters share -------------------------------------------------

def kinds_of_nodes(tree):
    """[[node, ...], ...]: nodes that share their parts, or have none."""
    found = {}
    for node in tree.all("node"):
        found.setdefault(id(node.parts) if node.parts else 0, []).append(node)
    return list(found.values())


def domains(node):
    """The smallest places of a node with several cores, with the way to each:
    [(path, cores), ...]. They hold every core once."""
    found = []

    def visit(path):
        place = path[-1]
        inner = [part for part in place.parts if len(part.all("core")) > 1]
        own = [core for part in place.parts if part not in inner
               for core in part.all("core")]
        if own or not inner:
            found.append((path, own or place.all("core")))
        for part in inner:
            visit((*path, part))

    visit((node,))
    return found


def devices(node):
    """[(device, its place), ...] of a node."""
    return [(device, place) for place in node.walk()
            for device in place.devices]


def nearest_adapters(node, gpu):
    """The network adapters nearest to a GPU, and how near they are."""
    found = {}
    for device, _ in devices(node):
        if device.kind == NETWORK:
            found.setdefault(nearness(node, gpu, device), []).append(device)
    near = min(found, key=lambda title: _rank_of(node, title), default=None)
    return found.get(near, []), near


def _rank_of(node, title):
    """How far a nearness is: the size of the place it names."""
    if title == "PCI switch":
        return 0
    return min(processors.count(place.cpus) for place in node.walk()
               if place.title() == title)
