"""An InfiniBand network, from the output of ibnetdiscover.

That network is a graph. The tree over its nodes follows the height of its
switches: a switch with nodes has height 1, and each other one is one higher
than its lowest neighbour. Switches that are joined by none higher than h are
one group of height h. So a fat tree gives its leaves, its pods, and the whole.
A network whose switches all have nodes, such as a torus, gives one group of
switches. A node with several ports counts to the switch of its first port: in a
network of rails that is one rail, and the notes name all of them.

An adapter names its node by its description, "alpha mlx5_0". Where some do,
adapters without a host's name are no nodes: management processors of switches,
adapters that no driver has taken. The notes say what was left out.
"""

import collections
import dataclasses
import fnmatch
import re

from straightway.errors import UserError
from straightway.machine.readers import number_nodes, text_of, wrong
from straightway.machine.tree import Place

_FIX = "give the output of ibnetdiscover as it is, without options"
_HEAD = re.compile(r'(Switch|Ca|Rt)\s+\d+\s+"([SHR]-[0-9a-fA-F]+)"'
                   r'\s*(?:#\s*"([^"]*)")?')
_LINK = re.compile(r'\[\d+\](?:\[ext \d+\])?(?:\([0-9a-fA-F]+\))?\s+'
                   r'"([SHR]-[0-9a-fA-F]+)"\[\d+\]')
_ABOUT = re.compile(r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|"
                    r"Chassis |Non-Chassis|DR path|#|$")
# "alpha HCA-1", "alpha mlx5_0": the node's name and its adapter's.
_ADAPTER = re.compile(
    r"(\S+)\s+((?:HCA|mlx|mthca|hfi|qib|irdma|bnxt|ibp|ib)\S*)$")
# What libibmad and libibumad print of ports that do not answer.
_COMPLAINT = re.compile(r"(ibwarn|ibdebug|iberror|ibpanic|ibnetdiscover|umad|"
                        r"mad_rpc\w*|libib\w+)\s*:|src/|\S+\.c:\s*\d+")
_COLLECTOR = "Aggregation Node"     # a switch's own adapter


@dataclasses.dataclass
class _End:
    """A switch or an adapter."""

    kind: str
    name: str
    line: int
    links: list                     # names of the other ends


def _parse(text, path):
    """({GUID: _End}, how many lines are complaints)"""
    ends, current, complaints = {}, None, 0
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        head, link = _HEAD.match(line), _LINK.match(line)
        if head:
            kind, guid, about = head.groups()
            if guid in ends:
                raise wrong(path, number, f"{guid} is here twice", _FIX)
            current = ends[guid] = _End(kind, about or guid, number, [])
        elif link and current:
            current.links.append((link[1], number))
        elif link:
            raise wrong(path, number, "a link of no switch or adapter", _FIX)
        elif _COMPLAINT.match(line):
            complaints += 1
        elif not _ABOUT.match(line):
            raise wrong(path, number, f"{line[:40]}: not known", _FIX)
    _tell_switches_apart(ends)
    for end in ends.values():
        for guid, number in end.links:
            if guid not in ends:
                raise wrong(path, number, f"a link to {guid}, which the file "
                            "does not describe", _FIX)
        end.links = [guid for guid, _ in end.links]
    return ends, complaints


def _tell_switches_apart(ends):
    """Give a switch its GUID as name where others have the same name."""
    count = collections.Counter(end.name for end in ends.values()
                                if end.kind == "Switch")
    for guid, end in ends.items():
        if count[end.name] > 1:
            end.name = guid


def _many(count, noun):
    return f"{count} {noun}{'s' * (count != 1)}"


def _host(end):
    """(the host's name, the adapter's name) of a description; None where it
    names no host."""
    found = _ADAPTER.match(end.name)
    if found:
        return found.groups()
    alone = len(end.name.split()) == 1 and not re.match("[SHR]-", end.name)
    return (end.name, "") if alone else None


def _adapters(ends, pattern):
    """{GUID: (node, adapter)} of those that count, and notes."""
    all_of = {guid: end for guid, end in ends.items()
              if end.kind == "Ca" and _COLLECTOR not in end.name}
    taken = {guid: end for guid, end in all_of.items()
             if not pattern or fnmatch.fnmatch(end.name, pattern)}
    if pattern and not taken:
        some = next(iter(all_of.values()), None)
        raise UserError(f"--adapters {pattern}: none of "
                        + _many(len(all_of), "adapter") + " is so"
                        + (f"; one is \"{some.name}\"" if some else ""))
    named = {guid: _host(end) for guid, end in taken.items()}
    nameless = [guid for guid, host in named.items() if not host]
    notes = []
    if pattern and len(taken) < len(all_of):
        notes.append(f"{_many(len(all_of) - len(taken), 'adapter')} "
                     f"other than {pattern} left out.")
    if nameless and (pattern or len(nameless) == len(named)):
        notes.append("Nodes have the GUIDs of adapters whose description names "
                     "no host.")
        return {guid: host or (guid, "") for guid, host in named.items()}, \
            notes
    if nameless:
        notes.append(
            f"{_many(len(nameless), 'adapter')} whose description names "
            f"no host left out, the first \"{ends[nameless[0]].name}\"; "
            "--adapters \"*\" takes them as nodes.")
    return {guid: host for guid, host in named.items() if host}, notes


def _rails(adapters):
    """What the nodes' adapters are, where nodes have several."""
    count = collections.Counter(name for _, name in adapters.values() if name)
    nodes = len({node for node, _ in adapters.values()})
    if len(adapters) == nodes or len(count) < 2:
        return []
    return ["Adapters of the nodes: " + ", ".join(
        f"{name} {number}" for name, number in sorted(count.items()))
        + ". A node counts to the switch of its first one; --adapters chooses, "
        f"as in --adapters \"*{min(count)}\"."]


def _leaves(ends, adapters):
    """{GUID of a switch: names of its nodes}"""
    leaves, placed = {}, set()
    for guid, (name, _) in adapters.items():
        at = next((one for one in ends[guid].links
                   if ends[one].kind == "Switch"), None)
        if at and name not in placed:
            placed.add(name)
            leaves.setdefault(at, []).append(name)
    return leaves


def _heights(ends, leaves):
    """{GUID of a switch: its height}"""
    found, wave, height = dict.fromkeys(leaves, 1), list(leaves), 1
    while wave:
        height += 1
        wave = {other for guid in wave for other in ends[guid].links
                if ends[other].kind == "Switch" and other not in found}
        found.update(dict.fromkeys(wave, height))
    return found


def _joined(ends, heights, most):
    """{GUID: the first one of its group}, for switches not higher than so."""
    group = {}
    for first in heights:
        if heights[first] > most or first in group:
            continue
        wave = [first]
        while wave:
            guid = wave.pop()
            if guid not in group:
                group[guid] = first
                wave += [other for other in ends[guid].links
                         if heights.get(other, most + 1) <= most]
    return group


def _title(ends, heights, group, first, height):
    """The name of a group: of its one highest switch, else how many it has."""
    top = [guid for guid, one in group.items()
           if one == first and heights[guid] == height]
    return ends[top[0]].name if len(top) == 1 else f"{len(top)} switches"


def read(path, pattern=None):
    """The cluster of a file. `pattern`: of the descriptions of the adapters
    that count, as the shell's."""
    ends, complaints = _parse(text_of(path), path)
    adapters, notes = _adapters(ends, pattern)
    leaves = _leaves(ends, adapters)
    if not leaves:
        raise wrong(path, 1, "no adapter (Ca) at a switch", _FIX)
    heights = _heights(ends, leaves)
    # Each place with one switch in it, by which to find the group around it.
    places = [(guid, Place("switch", name=ends[guid].name, parts=[
        Place("node", name=name) for name in sorted(names)]))
        for guid, names in leaves.items()]
    for height in range(1, max(heights.values()) + 1):
        group = _joined(ends, heights, height)
        inside = {}
        for guid, place in places:
            inside.setdefault(group[guid], []).append((guid, place))
        places = [(parts[0][0], parts[0][1] if len(parts) == 1 else Place(
            "switch", name=_title(ends, heights, group, first, height),
            parts=[place for _, place in parts]))
            for first, parts in inside.items()]
    found = Place("cluster", parts=[place for _, place in places])
    if len(places) == 1:
        found.name, found.parts = places[0][1].name, places[0][1].parts
    if complaints:
        notes.append(f"{_many(complaints, 'line')} of errors passed "
                     "over: ports that did not answer are missing.")
    found.notes = notes + _rails(adapters)
    return number_nodes(found)
