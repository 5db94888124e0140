"""Where the ranks of a job are: on which node, bound to which processors, with
memory from which NUMA domain; and what is likely a mistake in that.

Each rank's own process finds out its part, and the ranks gather them by MPI
(bench/placement.c).
"""

import dataclasses
import os
import pathlib

from straightway.machine import hosts, processors
from straightway.machine.checks import DEGRADED, NOTE, OK, Check
from straightway.machine.tree import Place

_RANK = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
_LOCAL = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK",
          "SLURM_LOCALID")
GROUP = "the ranks"


@dataclasses.dataclass
class Rank:
    number: int
    node: int                   # the number of its node's Place
    host: str
    cpus: int                   # the set that it may run on
    memory: int                 # the NUMA domain of its memory; -1: not known


# The launcher ---------------------------------------------------------------

def _number(names):
    for name in names:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return None


def rank():
    """This process's rank under a launcher; None without one. Of Slurm a step
    of several tasks is a job, and neither a batch script nor a shell."""
    found = _number(_RANK)
    if found is None and "SLURM_STEP_ID" in os.environ and \
            (_number(("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS")) or 1) > 1:
        found = _number(("SLURM_PROCID",))
    return found


def is_first_here():
    """Whether this rank describes its node for all ranks there. A launcher
    that numbers no ranks of a node lets each do so."""
    return _number(_LOCAL) in (0, None)


def host(mpi=None):
    """The MPI of the launcher above this process; else as hosts.choose."""
    if mpi:
        return hosts.choose(mpi)
    process = os.getppid()
    while process > 1:
        folder = pathlib.Path("/proc") / str(process)
        try:
            program = os.readlink(folder / "exe")
            process = int((folder / "stat").read_text().rpartition(")")[2]
                          .split()[1])
        except OSError:
            break
        found = hosts.started_by(program)
        if found:
            return found
    return hosts.choose()


# What ranks do --------------------------------------------------------------

def bound_to(node, cpus):
    """core 3; package 0; 4 cores of package 0; the whole node."""
    place = node.cover(cpus & node.cpus)
    if not cpus & node.cpus:
        return "not known"
    cores = [core for core in node.all("core") if core.cpus & cpus]
    if len(cores) == 1:
        part = cores[0].cpus & ~cpus
        return f"a thread of {cores[0].title()}" if part else cores[0].title()
    if not place.cpus & ~cpus:
        return "the whole node" if place is node else place.title()
    return f"{len(cores)} cores of " + ("the node" if place is node else
                                        place.title())


def _is_bound(node, rank):
    return bool(node.cpus & ~rank.cpus)


def _list(numbers, words):
    return f"rank{'s' * (len(numbers) > 1)} {words(numbers)}"


def _share_core(node, ranks, words):
    """Ranks that are bound inside the same core: on threads of their own, or
    on the same thread."""
    apart, together = [], []
    for core in node.all("core"):
        here = [r for r in ranks if r.cpus & node.cpus
                and not r.cpus & node.cpus & ~core.cpus]
        if len(here) > 1:
            meet = any(a.cpus & b.cpus for i, a in enumerate(here)
                       for b in here[:i])
            (together if meet else apart).append(
                f"{_list([r.number for r in here], words)} on {core.title()}")
    if together:
        yield (DEGRADED, "bound to the same core: " + "; ".join(together),
               "they take turns on one core",
               "a rank for each core: --map-by core --bind-to core (Open "
               "MPI), -bind-to core (MPICH, Intel MPI), --cpu-bind=cores "
               "(srun)")
    if apart:
        yield (NOTE, "bound to hardware threads of the same core: "
               + "; ".join(apart),
               "they share the core's caches and its execution units",
               "--map-by core --bind-to core (Open MPI), -bind-to core "
               "(MPICH, Intel MPI), --hint=nomultithread (srun)")


def _crowding(node, ranks, words):
    """More ranks than cores; or cores that no rank may use beside that."""
    usable = 0
    for one in ranks:
        usable |= one.cpus
    cores = [core for core in node.all("core") if core.cpus & usable]
    threads = processors.count(usable & node.cpus)
    names = _list([r.number for r in ranks], words)
    if len(ranks) > threads:
        yield (DEGRADED, f"{names} share {threads} processor"
               + "s" * (threads != 1),
               "ranks that wait give their processor to others, which takes "
               "time", "start fewer ranks on the node, or let them use more "
               "of it")
    elif len(ranks) > len(cores):
        yield (NOTE, f"{names} share {len(cores)} core"
               + "s" * (len(cores) != 1),
               "some cores run several ranks, on their hardware threads", "")
    packages = node.all("package")
    idle = [p for p in packages if not p.cpus & usable]
    if idle and len(ranks) > 1 and len(idle) < len(packages):
        yield (NOTE, f"{names} use {len(packages) - len(idle)} of "
               f"{len(packages)} packages",
               "the memory and caches of the others serve no rank",
               "--map-by package or --map-by numa (Open MPI), -map-by socket "
               "(MPICH, Intel MPI), -m block:cyclic (srun)")


def _loose(node, ranks, words):
    """Ranks that may run on all processors, and on parts of two domains."""
    loose = [r for r in ranks if not _is_bound(node, r)]
    if loose and processors.count(node.cpus) > 1:
        yield (NOTE, f"{_list([r.number for r in loose], words)}: not bound",
               "the system may move them away from their caches and memory",
               "--bind-to core (Open MPI), -bind-to core (MPICH, Intel MPI), "
               "--cpu-bind=cores (srun)")
    for kind in ("package", "numa"):
        across = [r for r in ranks if _is_bound(node, r) and any(
            r.cpus & p.cpus and p.cpus & ~r.cpus for p in node.all(kind))
            and sum(1 for p in node.all(kind) if r.cpus & p.cpus) > 1]
        if across:
            yield (NOTE, f"{_list([r.number for r in across], words)}: bound "
                   f"across parts of two {kind}s or more",
                   "their threads and memory may be far apart",
                   f"bind each rank inside one {kind}")
            break


def _far_memory(node, ranks, words):
    """Ranks with memory of a NUMA domain where none of their processors is."""
    for domain in node.all("numa"):
        far = [r.number for r in ranks if r.memory == domain.number
               and r.cpus & node.cpus and not r.cpus & domain.cpus]
        if far:
            yield (DEGRADED, f"{_list(far, words)}: memory of "
                   f"{domain.title()}, processors of another domain",
                   "each access to memory crosses to another NUMA domain",
                   "leave out numactl --membind, or name the ranks' own "
                   "domain")


def checks(tree, ranks, words):
    """Checks of the ranks' places. words(numbers) makes a text of numbers."""
    found = []
    for node in tree.all("node"):
        here = [r for r in ranks if r.node == node.number]
        group = GROUP if tree is node else f"{GROUP} on {node.name}"
        lines = [line for judge in (_share_core, _crowding, _loose,
                                    _far_memory)
                 for line in judge(node, here, words)] if here else []
        lines.sort(key=lambda line: line[0] != DEGRADED)
        if here and not lines:
            lines = [(OK, f"{_list([r.number for r in here], words)}: nothing "
                      "looks like a mistake")]
        found += [Check(group, "", *line) for line in lines]
    return found


# A job ----------------------------------------------------------------------

def tree_of(lines, nodes):
    """(tree, [Rank]) of the lines that the ranks gathered. `nodes`: {host:
    Place}. Nodes with equal parts share them."""
    ranks, places, at = [], [], {}
    for line in lines:
        if line["node"] not in at:
            known = nodes[line["host"]]
            known = next(one for one in nodes.values() if (
                one.parts, one.devices, one.cpus) == (
                    known.parts, known.devices, known.cpus))
            at[line["node"]] = len(places)
            places.append(Place("node", len(places), name=line["host"],
                                cpus=known.cpus, memory=known.memory,
                                parts=known.parts, devices=known.devices))
        ranks.append(Rank(line["rank"], at[line["node"]], line["host"],
                          processors.parse(line["cpus"]), line["memory"]))
    tree = places[0] if len(places) == 1 else Place("cluster", parts=places)
    return tree, ranks
