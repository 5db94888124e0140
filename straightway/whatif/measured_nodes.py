"""A model of several nodes.

`straightway whatif measure` starts straightway bench over the nodes, under a
launcher that the user names. What it finds depends on where the ranks are:

    one rank on each node   the times of messages between nodes by their size
    any                     the time of each collective over nodes, of as many
                            nodes, with as many ranks on the fullest

Each is measured for the MPI alone ("host") and with Straightway ("ours"). A
file holds one shape, nodes and ranks on the fullest, of one MPI; a measurement
of the same shape replaces it. The files lie beside the calibrations of this
machine (measured.py).

The parts of a message between nodes. The benchmark sees t, half of a round
trip, and g, one message's share of a stream. The processor's part at each end
is half of an empty message's share, and a copy of the bytes at the speed of
memcpy. It is at most half of the message's own share, or time:

    gap     = g
    send    = receive = min(half of the empty one's g + memcpy, g / 2, t / 2)
    wire    = t - send - receive

A collective that was measured in its shape takes the measured time. In another
shape it takes a formula over the messages' times. With Straightway it takes the
leaders' way, if that is cheaper (src/vtime/model/plan_span.c).
"""

import json
import os
import shutil

from straightway import __version__, units
from straightway.bench import runs
from straightway.errors import UserError
from straightway.machine import hosts
from straightway.whatif import measured
from straightway.whatif.models.lines import Line, text

SCHEMA = "straightway-measured-nodes/1"
NAME = "measured-network"       # the model
SECONDS = 0.1                   # for one operation at one size

# A send of more bytes waits for its receiver: the default of Open MPI's TCP.
# No benchmark here shows an MPI's limit.
EAGER = 65536

# The words that start one rank on each of two nodes.
_LAUNCHER = {"openmpi": "mpirun -n 2 --map-by ppr:1:node --hostfile hosts",
             "mpich": "mpiexec -n 2 -ppn 1 -f hosts"}
_STARTERS = ("mpirun", "mpiexec")


# Files ----------------------------------------------------------------------

def _key(host):
    return {"schema": SCHEMA, "mpi": host.title,
            "library": os.path.realpath(host.library),
            "straightway": __version__}


def path(found):
    """The file of a measurement."""
    return measured.path(found["key"],
                         f"nodes-{found['nodes']}x{found['most']}")


def keep(found):
    """Write a measurement; return its path."""
    to = path(found)
    try:
        measured.write(found, to)
    except OSError as error:
        raise UserError(f"{to}: {error.strerror}", 1) from None
    return to


def find(host):
    """The measurements under an MPI, the newest last."""
    try:
        files = [*measured.folder().glob("*.nodes-*.json")]
    except UserError:
        return []           # there is no place for any
    found = []
    for file in files:
        try:
            one = json.loads(file.read_text())
            text(lines([one], "host"))
            if one["key"] == _key(host):
                found.append(one)
        except (OSError, KeyError, TypeError, ValueError, AttributeError,
                IndexError):
            continue        # a damaged one counts as none
    return sorted(found, key=lambda one: one["made"])


# Measuring ------------------------------------------------------------------

def host_of(launcher, mpi=None):
    """The MPI of a launcher; of srun and its like, the one that `mpi` names.
    """
    word = launcher.split()[0] if launcher.split() else ""
    if not mpi and os.path.basename(word).startswith(_STARTERS):
        mpi = shutil.which(word)
    return hosts.choose(mpi)


def command(host):
    """The command that measures the messages between nodes."""
    words = _LAUNCHER.get(host.kind, _LAUNCHER["mpich"])
    return f'straightway whatif measure --launcher "{words}"'


def measure(host, launcher, seconds=SECONDS, note=lambda text: None):
    """Measure nodes under a launcher."""
    runs.check_parts(host)
    common = ["--launcher", launcher, "--seconds", str(seconds)]
    note("looking where the ranks are")
    first = measured.bench(host, ["collectives", "--ops", "barrier", *common])
    nodes = first["nodes"]
    count = len(set(nodes))
    most = max(map(nodes.count, set(nodes)))
    if count < 2:
        raise UserError(
            f'--launcher "{launcher}": all ranks are on one node; start them '
            "on two or more", 1)
    title = f"{count} nodes of {units.plural(most, 'rank')}"
    links = None
    if most == 1:
        note(f"measuring messages between nodes ({title})")
        sizes = [0, 1, *measured.steps(measured.LARGEST, 2)]
        if len(nodes) % 2:
            raise UserError(f'--launcher "{launcher}": {len(nodes)} nodes; '
                            "messages go between pairs of nodes: start an "
                            "even number", 1)
        links = _links(measured.bench(host, [
            "pingpong", "--pattern", "pingpong,stream", "--sizes",
            ",".join(map(str, sizes)), *common]))
    note(f"measuring collectives over nodes ({title})")
    report = measured.bench(host, [
        "collectives", "--ops", ",".join(measured.OPERATIONS), "--sizes",
        ",".join(map(str, measured.steps(measured.largest(len(nodes)), 4))),
        *common])
    return {"key": _key(host), "made": measured.now(), "nodes": count,
            "most": most, "ranks": len(nodes), "names": report["node_names"],
            "transport": report["transport"], "wires": report["wires"],
            "crowded": report["oversubscribed"], "eager": EAGER,
            "links": links, "collectives": _collectives(report)}


def _medians(report, who, pattern=None):
    return {cell["size"]: 1000 * cell[who]["median"]
            for cell in report["cells"]
            if cell.get(who) and cell["operation"] == pattern}


def _links(report):
    """[[bytes, send, wire, gap, receive], ...] in ns, for host and ours each.
    """
    copies = {cell["size"]: 1000 * cell["memcpy"] for cell in report["cells"]}
    found = {}
    for who in measured.WHO:
        trips, shares = (_medians(report, who, pattern)
                         for pattern in ("pingpong", "stream"))
        empty = shares.get(0, 0) / 2
        found[who] = [split(n, trips[n], shares.get(n, trips[n]),
                            empty + copies[n]) for n in sorted(trips)]
    return {who: rows for who, rows in found.items() if rows}


def split(size, trip, share, own):
    """[bytes, send, wire, gap, receive] from half a round trip, a share of a
    stream, and an end's own work, as the head of this file describes."""
    end = min(own, share / 2, trip / 2)
    return [size, end, trip - 2 * end, share, end]


def _collectives(report):
    """{"host": {operation: {size: ns}}, "ours": the same}"""
    found = {}
    for who in measured.WHO:
        tables = {op: _medians(report, who, op) for op in measured.OPERATIONS}
        found[who] = {op: {str(size): ns for size, ns in by_size.items()}
                      for op, by_size in tables.items() if by_size}
    return {who: tables for who, tables in found.items() if tables}


# As a model -----------------------------------------------------------------

def linked(found):
    """The newest measurement of messages between nodes, or None."""
    return next((one for one in reversed(found) if one["links"]), None)


def lines(found, who):
    """Measurements, the newest last, as lines of a model."""
    lines, link = [], linked(found)
    if link:
        rows = link["links"].get(who) or link["links"]["host"]
        lines += [Line("link", "network", {"S": link["eager"]}),
                  *measured.points(rows, ("network",))]
    for one in found:
        tables = measured.with_other(one["collectives"].get(who, {}))
        lines += [line for op, by_size in tables.items()
                  for line in measured.table(by_size, "span_table", op,
                                             one["nodes"], one["most"])]
    return lines


def about(found):
    """Sentences on the sources of these lines."""
    link = linked(found)
    shapes = [f"{one['nodes']} nodes of {units.plural(one['most'], 'rank')} "
              f"({one['made']})" for one in found]
    return [
        f"Between nodes the times are those of straightway whatif measure, "
        f"{link['made']}, between {' and '.join(link['names'][:2])}"
        + _carried(link) + ".",
        "Collectives over nodes are measured for " + "; ".join(shapes)
        + ". Those of other shapes are computed from the times of messages."]


def _carried(one):
    wires = one["wires"] or {}
    seen = [*wires.get("devices", []), *(
        f"TCP from {address}" for address in wires.get("tcp", []))]
    return f" ({', '.join(seen)})" if seen else ""


def doubts(found):
    """Sentences on what makes them unreliable."""
    crowded = [f"{one['nodes']} nodes of {units.plural(one['most'], 'rank')}"
               for one in found if one["crowded"]]
    return ["A machine had more ranks than cores while it was measured over "
            + " and ".join(crowded) + ": these times include waiting for a "
            "core."] if crowded else []
