"""An InfiniBand network, from the output of ibnetdiscover.

That network is a graph. The tree over its nodes follows the height of its
switches: a switch with nodes has height 1, and each other one is one higher
than its lowest neighbour. Switches that are joined by none higher than h are
one group of height h. So a fat tree gives its leaves, its pods, and the whole.
A network whose switches all have nodes, such as a torus, gives one group of
switches. A node with several ports counts to the switch of its first port.
"""

import collections
import dataclasses
import re

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
_ADAPTER = re.compile(r"(\S+)\s+(HCA|mlx|mthca|hfi|qib|irdma|bnxt|ibp|ib)\S*$")
_COLLECTOR = "Aggregation Node"     # a switch's own adapter


@dataclasses.dataclass
class _End:
    """A switch or an adapter."""

    kind: str
    name: str
    line: int
    links: list                     # names of the other ends


def _parse(text, path):
    """{GUID: _End}"""
    ends, current = {}, None
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
        elif not _ABOUT.match(line):
            raise wrong(path, number, f"{line[:40]}: not known", _FIX)
    _tell_switches_apart(ends)
    for end in ends.values():
        for guid, number in end.links:
            if guid not in ends:
                raise wrong(path, number, f"a link to {guid}, which the file "
                            "does not describe", _FIX)
        end.links = [guid for guid, _ in end.links]
    return ends


def _tell_switches_apart(ends):
    """Give a switch its GUID as name where others have the same name."""
    count = collections.Counter(end.name for end in ends.values()
                                if end.kind == "Switch")
    for guid, end in ends.items():
        if count[end.name] > 1:
            end.name = guid


def _node_name(end, guid):
    """The node's name, if the description has one; else the GUID."""
    found = _ADAPTER.match(end.name)
    return found[1] if found else \
        end.name if len(end.name.split()) == 1 else guid


def _leaves(ends):
    """{GUID of a switch: names of its nodes}"""
    leaves, placed = {}, set()
    for guid, end in ends.items():
        if end.kind != "Ca" or _COLLECTOR in end.name:
            continue
        name = _node_name(end, guid)
        at = next((one for one in end.links if ends[one].kind == "Switch"),
                  None)
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


def read(path):
    """The cluster of a file."""
    ends = _parse(text_of(path), path)
    leaves = _leaves(ends)
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
    return number_nodes(found)
