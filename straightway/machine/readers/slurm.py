"""A network as Slurm knows it: topology.yaml, or the older topology.conf.

Slurm reads topology.conf only where there is no topology.yaml. Both name
switches with their nodes or switches, or blocks of nodes. Of the topologies of
a topology.yaml the cluster's default counts: the first that says so.

The sources are Slurm's manuals: topology.yaml(5), "Parameters", "Block
definitions", "Tree definitions"; topology.conf(5), "topology/tree",
"topology/block", "topology/ring". A ring of topology.conf counts as a block of
its nodes. The reader takes no ring and no torus of a topology.yaml.
"""

import dataclasses
import re

from straightway.errors import nearest
from straightway.machine.readers import (block_yaml, hostlist, number_nodes,
                                         text_of, wrong)
from straightway.machine.tree import Place

_GUIDE = "see topology.conf(5) or topology.yaml(5) of Slurm"


@dataclasses.dataclass
class _Switch:
    """A switch or block, as a line of the file has it."""

    name: str
    line: int
    nodes: list
    switches: list


def _tree(switches, problem):
    """The cluster of these switches. problem(line, what) makes an error."""
    known, above, placed = {}, {}, {}
    for switch in switches:
        if switch.name in known:
            raise problem(switch.line, f"switch {switch.name} is here twice")
        known[switch.name] = switch
    for switch in switches:
        for name in switch.switches:
            if name not in known:
                raise problem(switch.line, f"{switch.name} has the switch "
                              f"{name}, which no line describes; "
                              + nearest(name, known, "add its line"))
            if above.setdefault(name, switch.name) != switch.name:
                raise problem(switch.line, f"switch {name} is below "
                              f"{above[name]} and {switch.name}")
        for name in switch.nodes:
            if placed.setdefault(name, switch.name) != switch.name:
                raise problem(switch.line, f"node {name} is at {placed[name]} "
                              f"and at {switch.name}")

    def place(switch, over):
        if switch.name in over:
            raise problem(switch.line, f"switch {switch.name} is below itself")
        return Place("switch", name=switch.name, parts=[
            *(place(known[name], (*over, switch.name))
              for name in switch.switches),
            *(Place("node", name=name) for name in switch.nodes)])

    tops = [place(switch, ()) for switch in switches
            if switch.name not in above]
    if not tops:
        raise problem(switches[0].line, "each switch is below another")
    found = Place("cluster", parts=tops)
    if len(tops) == 1:
        found.name, found.parts = tops[0].name, tops[0].parts
    if not found.all("node"):
        raise problem(switches[0].line, "no switch has nodes")
    return number_nodes(found)


def _names(text, line, problem):
    try:
        return hostlist.expand(text) if text else []
    except ValueError as error:
        raise problem(line, str(error)) from None


# topology.conf --------------------------------------------------------------

_NAMES = ("switchname", "blockname", "ringname")
_KEYS = (*_NAMES, "blocksizes", "nodes", "switches", "linkspeed")


def _conf_lines(text):
    """(line number, text); a backslash joins a line with the next one."""
    whole, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].rstrip()
        first = first if whole else number
        whole += line[:-1] + " " if line.endswith("\\") else line
        if not line.endswith("\\"):
            if whole.strip():
                yield first, whole.strip()
            whole = ""
    if whole.strip():
        yield first, whole.strip()


def _parse_conf(text, problem):
    found = []
    for line, words in _conf_lines(text):
        pairs = {}
        for word in words.split():
            key, equals, value = word.partition("=")
            if key.lower() not in _KEYS or not equals:
                raise problem(line, f"{word[:40]}: not known; " + nearest(
                    key.lower(), _KEYS, "give SwitchName=... Nodes=..."))
            pairs[key.lower()] = value
        name = next(filter(None, map(pairs.get, _NAMES)), None)
        if name:
            found.append(_Switch(name, line, *(
                _names(pairs.get(key, ""), line, problem)
                for key in ("nodes", "switches"))))
        elif "blocksizes" not in pairs:
            raise problem(line, "neither SwitchName= nor BlockName=")
    if not found:
        raise problem(1, "no line has SwitchName= or BlockName=")
    return _tree(found, problem)


# topology.yaml --------------------------------------------------------------

def _entries(table, kind, names, problem):
    """The switches of a tree, or the blocks of a block topology."""
    rows = table.get(names) if isinstance(table, block_yaml.Map) else None
    if not isinstance(rows, block_yaml.List) or not rows:
        raise problem(getattr(table, "line", 1), f"{names}: a list is missing")
    for row in rows:
        if not isinstance(row, block_yaml.Map) or not isinstance(
                row.get(kind), block_yaml.Text):
            raise problem(getattr(row, "line", rows.line),
                          f"an entry of {names} without {kind}: NAME")
        parts = []
        for key in ("nodes", "children"):
            value = row.get(key)
            value = ",".join(value) if isinstance(value, list) else value or ""
            parts.append(_names(value, row.line, problem))
        yield _Switch(str(row[kind]), row.line, *parts)


def _parse_yaml(text, problem):
    topologies = block_yaml.parse(text, problem)
    if not isinstance(topologies, block_yaml.List) or not all(
            isinstance(one, block_yaml.Map) and "topology" in one
            for one in topologies):
        raise problem(topologies.line, "give a list of topologies, each with "
                      "- topology: NAME")
    chosen = next((one for one in topologies
                   if str(one.get("cluster_default")).lower() == "true"),
                  topologies[0])
    for key, kind, names in (("tree", "switch", "switches"),
                             ("block", "block", "blocks")):
        if key in chosen:
            return _tree(list(_entries(chosen[key], kind, names, problem)),
                         problem)
    raise problem(chosen.line, f"topology {chosen['topology']} is neither a "
                  "tree nor of blocks: it names no nodes")


def read(path):
    """The cluster of a file. One with SwitchName= or BlockName= is a
    topology.conf, whatever its name."""
    text = text_of(path)

    def problem(line, what):
        return wrong(path, line, what, _GUIDE)

    if str(path).endswith((".conf", ".cnf")) or re.search(
            r"^\s*(switch|block)name\s*=", text, re.I | re.M):
        return _parse_conf(text, problem)
    return _parse_yaml(text, problem)
