"""Collectives that do not fit each other: by name, by root, by size.

Each member keeps the names and roots of its latest collectives by number. So a
mismatch shows even when a member has left that collective long ago, as the root
of a broadcast may.
"""

import dataclasses

from straightway.where import phrases, standing

# The members of these give equally many bytes.
_EQUAL = ("MPI_Bcast", "MPI_Allreduce", "MPI_Reduce", "MPI_Scan", "MPI_Exscan",
          "MPI_Reduce_scatter_block", "MPI_Ibcast", "MPI_Iallreduce",
          "MPI_Ireduce", "MPI_Iscan", "MPI_Iexscan")


@dataclasses.dataclass
class Mismatch:
    kind: str               # "mismatch", "root", "size"
    sentence: str
    suspects: list
    others: list


def _told(communicator):
    """{number: {rank: (procedure, root)}}, and {number: ranks in it now}"""
    told, now = {}, {}
    for number, member in communicator.members.items():
        for which, what in member.recent.items():
            if 0 < which <= member.begun or not member.begun:
                told.setdefault(which, {})[number] = what
        rank = member.rank
        for thread in rank.threads:
            call = thread.call
            if call and thread.inside and call.number is not None and \
                    call.member is member and call.window is None:
                told.setdefault(call.number, {})[number] = (call.name,
                                                            call.root)
                now.setdefault(call.number, {})[number] = call.bytes
        for request in rank.requests:
            if request.kind == "collective" and request.member is member \
                    and request.number is not None and request.waited:
                now.setdefault(request.number, {})[number] = request.bytes
    return told, now


def _groups(values):
    """[(value, ranks)] the smallest group first; of equal ones that without
    the first rank."""
    found = {}
    for number, value in sorted(values.items()):
        found.setdefault(value, []).append(number)
    return sorted(found.items(), key=lambda g: (len(g[1]), -g[1][0]))


def _of_name(which, values, now, communicator):
    groups = _groups({n: name for n, (name, _) in values.items()})
    if len(groups) < 2:
        return None
    said = []
    for i, (name, those) in enumerate(groups):
        inside = any(n in now for n in those)
        is_in = phrases.verb(those, "is in ", "are in ") if inside else \
            phrases.verb(those, "was in ", "were in ")
        text = phrases.collective(name, which, communicator if i == 0
                                  else None)
        who = phrases.ranks(those, i < len(groups) - 1)
        said.append(f"{who} {is_in if i == 0 or not inside else 'in '}{text}")
    suspects = [n for _, those in groups[:-1] for n in those]
    return Mismatch("mismatch", "a collective mismatch: " + ", ".join(said),
                    suspects, groups[-1][1])


def _of_root(which, values, communicator):
    if communicator.remote:
        return None             # MPI_ROOT and MPI_PROC_NULL differ rightly
    groups = _groups({n: root for n, (_, root) in values.items()
                      if root is not None})
    if len(groups) < 2:
        return None
    name = next(iter(values.values()))[0]
    said = [f"{phrases.ranks(those, i < len(groups) - 1)} "
            + (phrases.verb(those, "names ", "name ") if i == 0 else "")
            + f"root {root}" + (" in " + phrases.collective(
                name, which, communicator) if i == 0 else "")
            for i, (root, those) in enumerate(groups)]
    return Mismatch("root", ", ".join(said),
                    [n for _, those in groups[:-1] for n in those],
                    groups[-1][1])


def _of_size(which, values, now, communicator):
    name = next(iter(values.values()))[0]
    inside = {n: b for n, b in now.get(which, {}).items() if b is not None}
    if name not in _EQUAL or communicator.remote or len(inside) < 2:
        return None
    groups = _groups(inside)
    if len(groups) < 2:
        return None
    said = [f"{phrases.ranks(those, i < len(groups) - 1)} "
            + (phrases.verb(those, "gives ", "give ") if i == 0 else "")
            + phrases.size(count) + (" to " + phrases.collective(
                name, which, communicator) if i == 0 else "")
            for i, (count, those) in enumerate(groups)]
    return Mismatch("size", ", ".join(said),
                    [n for _, those in groups[:-1] for n in those],
                    groups[-1][1])


def of(communicator):
    """The first Mismatch of a communicator's collectives, or None."""
    told, now = _told(communicator)
    for which in sorted(told):
        values = told[which]
        if len(values) < 2:
            continue
        found = _of_name(which, values, now.get(which, {}), communicator) or \
            _of_root(which, values, communicator)
        if found:
            return found
    complete = [n for n in now if len(now[n]) == len(communicator.members)]
    for which in sorted(complete):
        found = _of_size(which, told.get(which) or {0: ("", None)}, now,
                         communicator)
        if found:
            return found
    return None


def every(view):
    """The Mismatches of the communicators in which ranks wait."""
    if view.meetings is None:
        return []
    waited = dict.fromkeys(
        m.communicator for m in view.meetings.found.values()
        if m.kind == "collective" and m.communicator.id)
    found = [of(communicator) for communicator in waited]
    return [one for one in found if one and any(
        view.stands.get(n) in (standing.WAITS, standing.POLLS)
        for n in one.suspects + one.others)]
