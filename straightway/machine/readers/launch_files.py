"""The placement that a user's launcher reads today, to compare another with.

    read("app.rankfile", slots, ranks)      the slot of each rank

Three kinds of files, told apart by what they hold:

    rank 0=n1 slot=0:3          a rankfile of Open MPI: mpirun(1), "Rankfiles"
    0-3,8,4-7                   an MPICH_RANK_ORDER of Cray MPICH: intro_mpi(3),
                                "MPICH_RANK_REORDER_METHOD"
    n1 slots=4                  a host file, as allocation.py reads it

A rank that has a node and no core gets the node's next free one. Nodes have the
machine's names; where the machine has none, they come in the file's order.
"""

import re

from straightway.errors import UserError, nearest
from straightway.machine.readers import allocation, text_of, wrong

_RANK = re.compile(r"rank\s+(\d+)\s*=\s*(?:[^\s@]+@)?(\S+)"
                   r"(?:\s+slots?\s*=\s*(\S+))?\s*$", re.I)
_ORDER = re.compile(r"[\d\s,-]+$")
_FIX = ("give a rankfile (rank 0=n1 slot=0), an MPICH_RANK_ORDER (0-3,8,4-7) "
        "or a host file (n1 slots=4)")


class _Room:
    """The slots of each node that no rank has yet."""

    def __init__(self, slots):
        self.slots, self.free = slots, {}
        self.known = {name: node for node, name
                      in enumerate(slots.names or ())}
        for slot, node in enumerate(slots.nodes):
            self.free.setdefault(node, []).append(slot)
        self.all = {node: list(free) for node, free in self.free.items()}

    def node(self, name, problem):
        """The number of a node."""
        relative = re.fullmatch(r"\+n(\d+)", name)
        if relative:
            number = int(relative[1])
        else:
            if self.slots.names and name not in self.known:
                raise problem(f"the machine has no node {name}; " + nearest(
                    name, self.slots.names, "name its nodes with --hosts"))
            number = self.known.setdefault(name, len(self.known))
        if number not in self.all:
            raise problem(f"{name} is node {number + 1} here, and the machine "
                          f"has {len(self.all)}")
        return number

    def take(self, node, slot, problem):
        """A slot of a node: this one, or the next free one (None)."""
        free = self.free[node]
        if slot is None and not free:
            raise problem(f"more ranks than the node's {len(self.all[node])} "
                          "cores")
        slot = free[0] if slot is None else slot
        if slot not in free:
            raise problem("an earlier rank has this core")
        free.remove(slot)
        return slot

    def core(self, node, text, problem):
        """The slot that a rankfile means: the first of the cores that it
        allows. Their numbers are places on the node, or in the package."""
        found = re.match(r"(?:(\d+):)?(\d+|\*)", text)
        if not found:
            raise problem(f"slot={text[:40]} is no core; give slot=3, or "
                          "slot=PACKAGE:CORE")
        slots = self.all[node]
        if found[1] is not None:
            if "package" not in self.slots.levels:
                raise problem(f"slot={text}: the machine has no packages")
            level = self.slots.levels.index("package")
            parts = {}
            for slot in slots:
                parts.setdefault(self.slots.paths[slot][:level + 1],
                                 []).append(slot)
            if int(found[1]) >= len(parts):
                raise problem(f"slot={text}: the node has {len(parts)} "
                              "packages")
            slots = list(parts.values())[int(found[1])]
        if found[2] == "*":
            return None
        number = int(found[2])
        if self.slots.cores and found[1] is None:
            at = next((slot for slot in slots
                       if self.slots.cores[slot] == number), None)
        else:
            at = slots[number] if number < len(slots) else None
        if at is None:
            raise problem(f"slot={text}: the machine has no such core there")
        return at


def _rankfile(path, lines, slots, ranks):
    room, found = _Room(slots), {}
    for number, line in lines:
        def problem(what, number=number):
            return wrong(path, number, what, _FIX)

        words = _RANK.match(line)
        if not words:
            raise problem(f"{line[:40]}: no line of a rankfile")
        rank, node = int(words[1]), room.node(words[2], problem)
        if rank in found:
            raise problem(f"rank {rank} is here twice")
        core = room.core(node, words[3], problem) if words[3] else None
        found[rank] = room.take(node, core, problem)
    missing = next((rank for rank in range(ranks) if rank not in found), None)
    if missing is not None:
        raise UserError(f"{path}: {ranks} ranks, and no line for rank "
                        f"{missing}", 1)
    return [found[rank] for rank in range(ranks)]


def _order(path, lines, ranks):
    found = {}          # {rank: its slot}
    for number, line in lines:
        for word in filter(None, re.split(r"[\s,]+", line)):
            ends = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
            first = int(ends[1]) if ends else 0
            last = int(ends[2] or first) if ends else -1
            if not first <= last < ranks:
                raise wrong(path, number, f"{word} is no list of ranks below "
                            f"{ranks}", _FIX)
            for rank in range(first, last + 1):
                if rank in found:
                    raise wrong(path, number, f"rank {rank} is there twice",
                                _FIX)
                found[rank] = len(found)
    missing = next((rank for rank in range(ranks) if rank not in found), None)
    if missing is not None:
        raise UserError(f"{path}: rank {missing} is missing", 1)
    return [found[rank] for rank in range(ranks)]


def _hosts(path, slots, ranks):
    """Line after line, each with its slots, and from the first again. Where
    names come again, a line is a rank. A name alone has all of its cores."""
    entries, room, found = allocation.entries(path), _Room(slots), []

    def problem(what):
        return UserError(f"{path}: {what}\n  {_FIX}", 1)

    alone = len({name for name, _ in entries}) == len(entries)
    while len(found) < ranks:
        for name, count in entries:
            node = room.node(name, problem)
            count = count or (len(room.free[node]) if alone else 1)
            for _ in range(min(count, ranks - len(found))):
                found.append(room.take(node, None, lambda what, name=name:
                                       problem(f"{name}: {what}")))
        if alone and not any(count for _, count in entries):
            break
    if len(found) < ranks:
        raise UserError(f"{path}: {ranks} ranks, and {len(found)} cores on its "
                        "nodes", 1)
    return found


def read(path, slots, ranks):
    """The placement in a file: the slot of each rank. UserError where the file
    has none for all ranks on this machine."""
    lines = [(number, line.partition("#")[0].strip()) for number, line
             in enumerate(text_of(path).splitlines(), 1)]
    lines = [one for one in lines if one[1]]
    if not lines:
        raise UserError(f"{path} is empty\n  {_FIX}", 1)
    if re.match(r"rank\s", lines[0][1], re.I):
        return _rankfile(path, lines, slots, ranks)
    if all(_ORDER.match(line) for _, line in lines):
        return _order(path, lines, ranks)
    return _hosts(path, slots, ranks)
