"""straightway topo: the machine, and where the ranks of a job are on it."""

import functools
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

from straightway import native
from straightway.bench import runs
from straightway.errors import UserError
from straightway.machine import groups, hardware, job, survey
from straightway.machine.readers import (furnish, hwloc, ibnetdiscover, saved,
                                         slurm, sysfs)
from straightway.ranges import ranges
from straightway.reporters import (output, topo_json, topo_model, topo_svg,
                                   topo_terminal)

# Pairs of cores that the probe measures in a second.
_PAIRS = 50


class Topo:
    """Show the machine: packages, NUMA domains, caches, cores, GPUs, network.

      straightway topo                      this machine
      mpirun -n 8 straightway topo          where the ranks of a job are
      straightway topo --measure            what lies between the cores
      straightway topo --slurm topology.conf --hwloc node.xml
                                            a machine elsewhere

    Under a launcher rank 0 shows the nodes, the processors of each rank and
    the origin of its memory. It names what is likely a mistake: several ranks
    on one core, memory of another NUMA domain, more ranks than processors.

    --measure times a cache line between each two cores of this machine, and
    reading 1 MiB that the other core has written. It compares the groups that
    the figures show with those that the system claims. Under a launcher it
    times messages between the nodes instead.

    hwloc describes this machine if its tool lstopo is installed, else Linux
    does (/sys).
    """

    name = "topo"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("--measure", action="store_true",
            help="time what lies between cores, or between nodes")
        add("--svg", metavar="OUT", help="a drawing; - is stdout")
        add("--html", metavar="OUT",
            help="one page for browsers; - is stdout")
        add("--json", metavar="OUT", help=(
            "in the form of topo.schema.json; - is stdout"))
        add("--model", metavar="OUT", help=(
            "the machine's shape as a model for straightway whatif"))
        add("--sysfs", metavar="ROOT", nargs="?", const=sysfs.ROOT, help=(
            "a machine from /sys, or from a copy of another one's"))
        add("--hwloc", metavar="FILE", help="a machine from lstopo's XML")
        add("--saved", metavar="FILE", help=(
            "a machine from what --json wrote"))
        add("--slurm", metavar="FILE", help=(
            "a network from Slurm's topology.yaml or topology.conf, or from "
            "scontrol show topology"))
        add("--topology", metavar="NAME", help=(
            "which topology of a topology.yaml [the cluster's default]"))
        add("--ibnetdiscover", metavar="FILE", help=(
            "a network from the output of ibnetdiscover"))
        add("--adapters", metavar="PATTERN", help=(
            "of --ibnetdiscover: those whose descriptions are so, as in "
            "\"*mlx5_0\" [those that name a host]"))
        add("--mpi", metavar="MPI", help=(
            "the MPI of the launcher, if it is srun or another that belongs "
            "to no MPI"))

    @staticmethod
    def run(options):
        rank = job.rank()
        if rank is not None and not _elsewhere(options):
            return _run_rank(options, rank)
        if rank:
            return 0        # rank 0 shows a machine elsewhere
        for path in (options.svg, options.html, options.json, options.model):
            output.check_writable(path)
        found = _elsewhere(options) or _here(options)
        if options.measure:
            _measure(found)
        return _show(found, options)


# A machine ------------------------------------------------------------------

def _elsewhere(options):
    """The Survey of the machine in the files that the options name."""
    networks = [(path, reader) for path, reader in (
        (options.slurm, functools.partial(slurm.read,
                                          topology=options.topology)),
        (options.ibnetdiscover, functools.partial(
            ibnetdiscover.read, pattern=options.adapters))) if path]
    nodes = [(path, reader) for path, reader in (
        (options.hwloc, hwloc.read), (options.saved, saved.read),
        (options.sysfs, sysfs.read)) if path]
    if options.topology and not options.slurm:
        raise UserError("--topology belongs to --slurm")
    if options.adapters and not options.ibnetdiscover:
        raise UserError("--adapters belongs to --ibnetdiscover")
    if not networks and nodes == [(sysfs.ROOT, sysfs.read)]:
        return None
    for many in (nodes, networks):
        if len(many) > 1:
            raise UserError(f"{many[0][0]} and {many[1][0]} describe two "
                            "machines; give one of them")
    if not nodes and not networks:
        return None
    trees = [reader(path) for path, reader in nodes + networks]
    if len(trees) == 2 and trees[0].kind != "node":
        raise UserError(f"{nodes[0][0]} describes several nodes already; "
                        f"omit {networks[0][0]}")
    tree = trees[0] if len(trees) == 1 else furnish(trees[1], trees[0])
    if options.measure:
        raise UserError("--measure needs the machine itself; omit the files")
    return survey.Survey(tree, " and ".join(
        str(path) for path, _ in nodes + networks))


def _node(options):
    """(this node, its source)"""
    program = None if options.sysfs else hwloc.tool()
    node = hwloc.ask(program) if program else sysfs.read()
    node.name = platform.node()
    return node, os.path.basename(program) if program else "Linux (/sys)"


def _here(options):
    node, source = _node(options)
    return survey.Survey(node, source, hardware.describe(), _allowed())


def _allowed():
    return sum(1 << cpu for cpu in hardware.affinity())


def _measure(found):
    cpus = groups.cores(found.tree, found.allowed)
    pairs = len(cpus) * (len(cpus) - 1) // 2
    if pairs > _PAIRS:
        print(f"straightway: measuring {pairs:,} pairs of cores, about "
              f"{pairs / _PAIRS:.0f} s", file=sys.stderr)
    began = time.monotonic()
    survey.add_cores(found, native.probe_cores(cpus))
    found.seconds = time.monotonic() - began


# A job ----------------------------------------------------------------------

def _run_rank(options, rank):
    """The part of one rank. Each rank's process becomes the program that
    gathers, but that of rank 0, which waits for its lines."""
    host = job.host(options.mpi)
    runs.check_parts(host)
    with tempfile.TemporaryDirectory(prefix="straightway-") as folder:
        described, lines = (os.path.join(folder, name)
                            for name in ("node", "lines"))
        if job.is_first_here():
            node, source = _node(options)
            with open(described, "w", encoding="utf-8") as file:
                json.dump({"source": source, "tree": saved.plain(node)}, file)
        else:
            described = "-"
        words = [str(native.bench_executable()), "--host", host.library,
                 "--module", str(native.bench_module(host.flavour)), "--out",
                 lines, "--placement", described, "--between",
                 str(int(options.measure))]
        # The launcher's descriptors are the program's.
        done = subprocess.run(words, close_fds=False,
                              stdin=subprocess.DEVNULL)
        if done.returncode or rank:
            return done.returncode
        with open(lines, encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
    return _show(_job(events, host), options)


def _job(events, host):
    """The Survey of the lines that the ranks have gathered."""
    host.version = next(event["start"]["mpi"] for event in events
                        if "start" in event)
    places = [event for event in events if "rank" in event]
    nodes, sources = {}, set()
    for one in places:
        if "tree" in one and one["host"] not in nodes:
            nodes[one["host"]] = saved.tree(one["tree"]["tree"])
            sources.add(one["tree"]["source"])
    tree, ranks = job.tree_of(places, nodes)
    found = survey.Survey(
        tree, " and ".join(sorted(sources)), mpi=host.title, ranks=ranks,
        checks=job.checks(tree, ranks, lambda found: str(ranges(found))))
    found.pairs = [survey.Pair(tuple(one["between"]), one["latency_us"],
                               one["gbs"])
                   for one in events if "between" in one]
    return found


# Forms ----------------------------------------------------------------------

def _show(found, options):
    for path, reporter in ((options.svg, topo_svg), (options.json, topo_json),
                           (options.model, topo_model)):
        if path:
            output.send(path, reporter, found)
    if options.html:
        from straightway.reporters import topo_html
        output.announce(options.html, topo_html, found)
    if "-" not in (options.svg, options.json, options.model, options.html):
        topo_terminal.render(found, sys.stdout)
    return 0
