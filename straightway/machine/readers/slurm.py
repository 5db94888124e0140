"""A network as Slurm knows it: topology.yaml, or the older topology.conf, or
what `scontrol show topology` prints for every user.

Slurm reads topology.conf only where there is no topology.yaml. All name
switches with their nodes or switches, or blocks of nodes. Of the topologies of
a topology.yaml the user names one, else the cluster's default counts: the first
that says so.

A switch may be below several others. These are spines side by side, and one
place of the tree: a message may take any of them. scontrol repeats at a switch
the nodes of all switches below it.

The sources are Slurm's manuals: topology.yaml(5), "Parameters", "Block
definitions", "Tree definitions"; topology.conf(5), "topology/tree",
"topology/block", "topology/ring"; scontrol(1), "show topology". A ring of
topology.conf counts as a block of its nodes. The reader takes no ring and no
torus of a topology.yaml.
"""

import dataclasses
import re

from straightway.errors import UserError, nearest
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


def _side_by_side(switches, known, problem):
    """[[_Switch, ...], ...]: the switches, those together that have a switch
    below them in common, in the order of the file."""
    group = {name: [switch] for name, switch in known.items()}
    above = {}
    for switch in switches:
        for name in switch.switches:
            if name not in known:
                raise problem(switch.line, f"{switch.name} has the switch "
                              f"{name}, which no line describes; "
                              + nearest(name, known, "add its line"))
            first = above.setdefault(name, switch)
            one, other = group[first.name], group[switch.name]
            if one is not other:
                one += other
                group.update((spine.name, one) for spine in other)
    for switch in switches:
        for name in switch.switches:
            if group[name] is group[switch.name]:
                raise problem(switch.line, f"switch {name} is below " + (
                    "itself" if name == switch.name else
                    f"{switch.name}, and both are above one switch"))
    return list({id(one): one for one in group.values()}.values()), group


def _title(spines):
    return spines[0].name if len(spines) == 1 else hostlist.fold(
        [spine.name for spine in spines])


def _tree(switches, problem):
    """The cluster of these switches. problem(line, what) makes an error."""
    known, placed = {}, {}
    for switch in switches:
        if switch.name in known:
            raise problem(switch.line, f"switch {switch.name} is here twice")
        known[switch.name] = switch
        for name in switch.nodes:
            if placed.setdefault(name, switch.name) != switch.name:
                raise problem(switch.line, f"node {name} is at {placed[name]} "
                              f"and at {switch.name}")
    groups, group = _side_by_side(switches, known, problem)

    def below(spines):
        return list({id(group[name]): group[name] for spine in spines
                     for name in spine.switches}.values())

    def place(spines, over):
        if id(spines) in over:
            raise problem(spines[0].line, f"switch {_title(spines)} is below "
                          "itself")
        return Place("switch", name=_title(spines), parts=[
            *(place(one, (*over, id(spines))) for one in below(spines)),
            *(Place("node", name=name) for spine in spines
              for name in spine.nodes)])

    under = {id(one) for spines in groups for one in below(spines)}
    tops = [place(spines, ()) for spines in groups if id(spines) not in under]
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


# topology.conf, and what scontrol prints -------------------------------------

_NAMES = ("switchname", "blockname", "ringname")
_OF_SCONTROL = ("level", "blockindex", "blocksize", "ringsize",
                "aggregatedblock")
_KEYS = (*_NAMES, "blocksizes", "nodes", "switches", "linkspeed",
         *_OF_SCONTROL)
_PAIR = re.compile(r"""\s*(\w+)=("[^"]*"|'[^']*'|\S*)""")


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


def _pairs(words, line, problem):
    """{key: value} of Key=value ..., the keys in small letters."""
    found, at = {}, 0
    while at < len(words):
        pair = _PAIR.match(words, at)
        if not pair or pair[1].lower() not in _KEYS:
            word = words[at:].split()[0]
            raise problem(line, f"{word[:40]}: not known; " + nearest(
                word.partition("=")[0].lower(), _KEYS,
                "give SwitchName=... Nodes=..."))
        found[pair[1].lower()] = pair[2].strip("\"'")
        at = pair.end()
    return found


def _parse_conf(text, problem):
    found = []
    for line, words in _conf_lines(text):
        pairs = _pairs(words, line, problem)
        name = next(filter(None, map(pairs.get, _NAMES)), None)
        if name:
            if "level" in pairs and pairs.get("switches"):
                pairs["nodes"] = ""     # those of its switches
            found.append(_Switch(name, line, *(
                _names(pairs.get(key, ""), line, problem)
                for key in ("nodes", "switches"))))
        elif not {"blocksizes", "aggregatedblock"} & set(pairs):
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


def _parse_yaml(text, problem, name):
    topologies = block_yaml.parse(text, problem)
    if not isinstance(topologies, block_yaml.List) or not all(
            isinstance(one, block_yaml.Map) and "topology" in one
            for one in topologies):
        raise problem(topologies.line, "give a list of topologies, each with "
                      "- topology: NAME")
    known = [str(one["topology"]) for one in topologies]
    if name and name not in known:
        raise UserError(f"--topology {name}: the file has no such topology; "
                        + nearest(name, known))
    chosen = topologies[known.index(name)] if name else next(
        (one for one in topologies
         if str(one.get("cluster_default")).lower() == "true"), topologies[0])
    block_yaml.check(chosen, problem)
    for key, kind, names in (("tree", "switch", "switches"),
                             ("block", "block", "blocks")):
        if key in chosen:
            return _tree(list(_entries(chosen[key], kind, names, problem)),
                         problem)
    others = [one for one in known if one != str(chosen["topology"])]
    raise problem(chosen.line, f"topology {chosen['topology']} is neither a "
                  "tree nor of blocks: it names no nodes"
                  + "; name another with --topology: " * bool(others)
                  + ", ".join(others))


def read(path, topology=None):
    """The cluster of a file. One with SwitchName= or BlockName= is a
    topology.conf, whatever its name. `topology`: of a topology.yaml's."""
    text = text_of(path)

    def problem(line, what):
        return wrong(path, line, what, _GUIDE)

    if str(path).endswith((".conf", ".cnf")) or re.search(
            r"^\s*(switchname|blockname|ringname|aggregatedblock)\s*=", text,
            re.I | re.M):
        if topology:
            raise UserError(f"--topology {topology}: {path} is no "
                            "topology.yaml, and has one topology")
        return _parse_conf(text, problem)
    return _parse_yaml(text, problem, topology)
