"""A placement as what launchers read: files, and the command to run.

    made = launch("openmpi", placement, slots, "out/app")
    made.files      {path: text}
    made.command    words; the program follows

Ranks keep their numbers in MPI_COMM_WORLD; the launcher only starts them
elsewhere. Some launchers take one list of cores for all nodes. Where the nodes
differ, a script before the program binds each rank (taskset, of util-linux).
With bind=False each rank gets its node, and no core.
"""

import dataclasses
import os
import typing

from straightway.errors import UserError


@dataclasses.dataclass
class Launch:
    """What starts the ranks where they belong."""

    command: list
    files: dict = dataclasses.field(default_factory=dict)
    settings: dict = dataclasses.field(default_factory=dict)
    scripts: tuple = ()     # those of the files that must be executable
    note: str = ""


class Places:
    """The node and the core of each rank.

        node[rank]      the node's number
        core[rank]      the core's place among the node's cores
        cpu[rank]       the system's number of its processor, else the place
        name(rank)      the node's name
        bind            do ranks get cores, and not only nodes?
    """

    def __init__(self, placement, slots, bind=True):
        self.slots, self.bind = slots, bind
        at, nodes, place = {}, slots.nodes, []
        for node in nodes:
            place.append(at.get(node, 0))
            at[node] = place[-1] + 1
        self.node = [nodes[slot] for slot in placement]
        cores = slots.cores or place
        self.core = [cores[slot] for slot in placement]
        cpus = slots.cpus or place
        self.cpu = [cpus[slot] for slot in placement]
        self.used = sorted(set(self.node))
        self.ranks = len(placement)
        names = slots.names or ()
        if len(names) < max(self.used) + 1:
            raise UserError(
                f"{max(self.used) + 1} nodes and {len(names)} names: give "
                "--hosts A,B,... or --hosts FILE with a name for each node")

    def name(self, rank):
        return self.slots.names[self.node[rank]]

    def members(self, node):
        """The ranks of a node, ascending: local rank 0, 1, ..."""
        return [rank for rank in range(self.ranks) if self.node[rank] == node]

    def counts(self):
        """[(name of a node, its ranks)]"""
        return [(self.slots.names[node], len(self.members(node)))
                for node in self.used]

    @property
    def is_blocked(self):
        """Do the ranks fill one node after the other?"""
        return self.node == sorted(self.node)

    def lines(self):
        """The node's name of each rank, a line each."""
        return "".join(f"{self.name(rank)}\n" for rank in range(self.ranks))

    def list_for_all(self):
        """The processors of local ranks 0, 1, ..., as text, if one list fits
        all nodes; else None."""
        lists = [[self.cpu[rank] for rank in self.members(node)]
                 for node in self.used]
        longest = max(lists, key=len)
        fits = all(longest[:len(one)] == one for one in lists)
        return ",".join(map(str, longest)) if self.bind and fits else None


# The script that binds ------------------------------------------------------

_SCRIPT = """#!/bin/sh
# Binds a rank to its processor: line R + 1 of the file beside it is rank R's.
rank=${PMIX_RANK:-${PMI_RANK:-$SLURM_PROCID}}
exec taskset -c "$(sed -n "$((rank + 1))p" "$0.cores")" "$@"
"""


def _bound(made, places, path):
    """Let a script bind the ranks, if they get cores."""
    if not places.bind:
        return
    script = f"{path}.bind"
    made.files[script] = _SCRIPT
    made.files[f"{script}.cores"] = "".join(f"{cpu}\n" for cpu in places.cpu)
    made.scripts = (script,)
    made.command.append(script if os.path.dirname(script) else f"./{script}")
    made.note = ("The nodes bind their ranks differently, and the launcher "
                 f"takes one list for all: {script} binds them.")


# Launchers ------------------------------------------------------------------

def _rankfile(places):
    """mpirun(1) of Open MPI, "Rankfiles": numbers of cores are hwloc's, which
    count through the node."""
    return "".join(f"rank {rank}={places.name(rank)} "
                   f"slot={places.core[rank]}\n"
                   for rank in range(places.ranks))


def _hosts(places, form):
    return "".join(form.format(name, count) + "\n"
                   for name, count in places.counts())


def _openmpi(places, path, option):
    """Open MPI 5 (PRRTE) knows only hosts that it has been given. Without cores
    the mapper "seq" takes a line of the host file for each rank."""
    rankfile, hosts = f"{path}.rankfile", f"{path}.hosts"
    begin = ["mpirun", "-n", str(places.ranks), "--hostfile", hosts,
             "--bind-to"]
    if not places.bind:
        return Launch([*begin, "none", "--map-by", "seq"],
                      {hosts: places.lines()})
    return Launch([*begin, "core", *option(rankfile)],
                  {rankfile: _rankfile(places),
                   hosts: _hosts(places, "{} slots={}")})


def openmpi(places, path):
    return _openmpi(places, path, lambda rankfile: [
        "--map-by", f"rankfile:file={rankfile}"])


def openmpi4(places, path):
    return _openmpi(places, path, lambda rankfile: ["--rankfile", rankfile])


def mpich(places, path):
    """Hydra takes ranks in the order of the host file; -rankmap gives each the
    place of its node in it. -bind-to user: is one list for all nodes."""
    hosts = f"{path}.hosts"
    made = Launch(["mpiexec", "-n", str(places.ranks), "-f", hosts],
                  {hosts: _hosts(places, "{}:{}")})
    if not places.is_blocked:
        made.command += ["-rankmap", ",".join(
            str(places.used.index(node)) for node in places.node)]
    cpus = places.list_for_all()
    if cpus:
        made.command += ["-bind-to", f"user:{cpus}"]
    else:
        made.command += ["-bind-to", "none"]
        _bound(made, places, path)
    return made


def intel(places, path):
    """A machine file has a line for each rank, in their order (Intel MPI,
    Developer Reference, "-machinefile")."""
    hosts = f"{path}.machines"
    made = Launch(["mpiexec", "-n", str(places.ranks), "-machinefile", hosts],
                  {hosts: places.lines()})
    cpus = places.list_for_all()
    if cpus:
        made.settings["I_MPI_PIN"] = "on"
        made.settings["I_MPI_PIN_PROCESSOR_LIST"] = cpus
    else:
        made.settings["I_MPI_PIN"] = "off"
        _bound(made, places, path)
    return made


def slurm(places, path):
    """srun(1), "--distribution": "arbitrary" places tasks in the order of the
    file that SLURM_HOSTFILE names, a line for each. "--cpu-bind", map_cpu: all
    nodes get the identical map, whose first processor the lowest task on each
    node takes. It needs whole nodes. "--exclusive" of a step would exclude
    "arbitrary", so it belongs to the allocation."""
    hosts = f"{path}.hosts"
    made = Launch(["srun", "-n", str(places.ranks), "-N",
                   str(len(places.used)), "--distribution=arbitrary"],
                  {hosts: places.lines()}, {"SLURM_HOSTFILE": hosts})
    cpus = places.list_for_all()
    if cpus:
        made.command.append(f"--cpu-bind=map_cpu:{cpus}")
    else:
        made.command.append("--cpu-bind=none")
        _bound(made, places, path)
    if places.bind:
        made.note = (made.note + " Slurm binds so only in an allocation of "
                     "whole nodes: salloc or sbatch with --exclusive.").strip()
    return made


def cray(places, path):
    """intro_mpi(3) of Cray MPICH, "MPICH_RANK_REORDER_METHOD": with 3 the file
    lists the ranks in the order in which they fill the nodes, with commas; a
    line may end anywhere, as grid_order(1) writes them.
    MPICH_RANK_REORDER_FILE names it. This needs Slurm's block distribution. The
    job's nodes stand in Slurm's order, and cores bind in order."""
    sizes = [count for _, count in places.counts()]
    if len(set(sizes[:-1])) > 1 or sizes[-1] > sizes[0]:
        raise UserError("--launcher cray: the nodes have "
                        f"{', '.join(map(str, sizes))} ranks; only the last "
                        "node may have fewer than the others")
    order = sorted(range(places.ranks),
                   key=lambda rank: (places.node[rank], places.core[rank]))
    file = f"{path}.MPICH_RANK_ORDER"
    return Launch(["srun", "-n", str(places.ranks), "-N",
                   str(len(places.used)), f"--ntasks-per-node={sizes[0]}",
                   "--distribution=block",
                   "--cpu-bind=" + ("cores" if places.bind else "none")],
                  {file: "".join(",".join(map(str, order[i:i + 16])) + "\n"
                                 for i in range(0, len(order), 16))},
                  {"MPICH_RANK_REORDER_METHOD": "3",
                   "MPICH_RANK_REORDER_FILE": file})


LAUNCHERS: dict[str, typing.Callable] = {
    "openmpi": openmpi, "openmpi4": openmpi4, "mpich": mpich, "intel": intel,
    "slurm": slurm, "cray": cray}


def launch(name, placement, slots, path, bind=True):
    """The Launch for a launcher; `path` begins the names of its files. `bind`:
    do ranks get cores, and not only nodes?"""
    return LAUNCHERS[name](Places(placement, slots, bind), path)


# What each launcher is told of places, in short.
_OPTIONS = {"openmpi": "--map-by rankfile", "openmpi4": "--rankfile",
            "mpich": "-bind-to user", "intel": "-machinefile",
            "slurm": "--distribution=arbitrary",
            "cray": "MPICH_RANK_REORDER_METHOD"}


def option(title):
    """The option of the launcher that fits an MPI's description."""
    return _OPTIONS[of_mpi(title)]


def of_mpi(title):
    """The launcher that fits an MPI's description in a capture."""
    text = title.lower()
    if "open mpi" in text:
        return "openmpi4" if " v4." in text or " 4." in text else "openmpi"
    if "intel" in text:
        return "intel"
    if "cray" in text:
        return "cray"
    return "mpich" if "mpich" in text else "openmpi"
