"""Needs, meetings and circles as sentences. Each names the rank apart."""

from straightway.where import phrases, standing
from straightway.where.model import ANY

_GROUPS = 3             # groups of suspects that a sentence tells apart
_RING = 6               # ranks of a ring that a sentence names


def grouped(view, ranks, told=lambda number: ""):
    """rank 3 is in user code at x.c:12, rank 4 polls with MPI_Test: what some
    ranks do, those that do the same together. `told`: what comes before."""
    groups = {}
    for number in ranks:
        groups.setdefault((told(number), *view.words(number)),
                          []).append(number)
    order = sorted(groups.items(), key=lambda g: (-len(g[1]), g[1]))
    said = []
    for (before, one, many), those in order[:_GROUPS]:
        if before:
            before = phrases.verb(those, "has ", "have ") + before + " and "
        said.append(f"{phrases.ranks(those, True)} {before}"
                    + phrases.verb(those, one, many))
    left = [n for _, those in order[_GROUPS:] for n in those]
    if left:
        said.append(f"{phrases.ranks(left, True)} "
                    + phrases.verb(left, "is elsewhere", "are elsewhere"))
    return phrases.joined(said)


# Meetings -------------------------------------------------------------------

def _name(meeting):
    if meeting.kind in ("fence", "free"):
        number = f" #{meeting.number}" if meeting.number is not None else ""
        of = meeting.communicator
        return f"{meeting.name}{number} of a window" + phrases.on(of)
    return phrases.collective(meeting.name, meeting.number,
                              meeting.communicator)


def meeting(view, found, only=None):
    """31 ranks wait in MPI_Allreduce #4711 on 'solver'; rank 7 has begun 4710
    and is in user code at x.c:12. `only`: the suspects that the chain ends
    at."""
    who, name = phrases.ranks(found.waiters), _name(found)
    if found.kind == "finalize":
        head = f"{who} {phrases.verb(found.waiters, 'is', 'are')} in " \
            "MPI_Finalize"
        return f"{head}; {grouped(view, only or found.suspects)}"
    wait = phrases.verb(found.waiters, "waits", "wait")
    head = f"{who} {wait} {'in' if found.blocking else 'for'} {name}"
    if found.behind:
        def told(number):
            return f"begun {found.begun[number]}" \
                if number in found.begun else ""
        return f"{head}; {grouped(view, only or found.behind, told)}"
    idle = found.idle
    return f"{head}; {phrases.ranks(idle, True)} " + phrases.verb(
        idle, "has begun it and never waits for it; it is ",
        "have begun it and never wait for it; the first is ") + \
        standing.user_code(view.job.ranks[idle[0]])


# Needs ----------------------------------------------------------------------

def _and(view, number):
    return f" and {view.words(number)[0]}"


def _sent(communicator, view):
    """ on 'c', where there is more than one communicator."""
    known = [c for c in view.job.communicators.values() if c.id]
    return phrases.on(communicator) if len(known) > 1 and communicator and \
        communicator.name != "MPI_COMM_WORLD" else ""


def _free(view, number):
    """ and is in user code at x.c:12, of a rank that does not wait."""
    if view.stands.get(number) == standing.WAITS:
        return ""
    return _and(view, number)


def _receive(view, need):
    me = f"rank {need.rank}"
    if need.posted.peer == ANY:
        return f"{me} waits for {phrases.tag(need.tag)} from any rank" \
            f"{_sent(need.communicator, view)}, and none has sent one" \
            if need.what == "none" else \
            f"{me} waits for {phrases.tag(need.tag)} from any rank"
    other = need.posted.peer
    text = f"{me} waits for {phrases.tag(need.tag)} from rank {other}"
    if need.what == "under way":
        return f"{text}, which has begun to send it{_and(view, other)}"
    if need.what == "unknown":
        return f"{text}, which {view.words(other)[0]}"
    if need.tags:
        return f"{text}, which has sent {phrases.tags(need.tags)}" \
            + _free(view, other)
    elsewhere = view.traffic.elsewhere(need.posted)
    if elsewhere is not None:
        return f"{me} waits for a message{phrases.on(need.communicator)} " \
            f"from rank {other}, which has sent one" \
            f"{phrases.on(elsewhere)} with the same tag" + _free(view, other)
    return f"{text}{_sent(need.communicator, view)}, which has sent none" \
        + _and(view, other)


def _send(view, need):
    other = need.suspects[0] if need.suspects else None
    text = f"rank {need.rank} sends {phrases.tag(need.tag)}" \
        f"{_sent(need.communicator, view)} to rank {other}"
    if need.what == "unknown":
        return f"{text}, which {view.words(other)[0]}"
    if need.what == "posted":
        return f"{text}, which has posted the receive{_and(view, other)}"
    if need.tags:
        return f"{text}, which has posted a receive for " \
            f"{phrases.tags(need.tags)} alone{_and(view, other)}"
    return f"{text}, which has posted no receive{_and(view, other)}"


def _partitioned(view, need):
    if need.what == "own":
        ready, parts = need.parts
        return f"rank {need.rank} waits to send a partitioned message, of " \
            f"which it has made {ready} of {parts} partitions ready"
    other = need.suspects[0]
    if need.call.startswith("MPI_Psend"):
        return f"rank {need.rank} sends a partitioned message to rank " \
            f"{other}, which has started no receive{_and(view, other)}"
    text = f"rank {need.rank} waits for a partitioned message from rank " \
        f"{other}, which has "
    if need.what == "unknown":
        return f"{text[:-len('has ')]}{view.words(other)[0]}"
    if need.what == "none":
        return f"{text}started none{_and(view, other)}"
    ready, parts = need.parts
    return f"{text}made {ready} of {parts} partitions ready" \
        + _free(view, other)


def _epoch(view, need):
    me, those = f"rank {need.rank}", need.suspects
    if need.kind == "lock":
        whose = f"rank {need.tag}'s window" if isinstance(need.tag, int) \
            else "all members' windows"
        return f"{me} waits in {need.call} for {whose}; " \
            f"{phrases.ranks(those, True)} " + phrases.verb(
                those, "holds", "hold") + f" the lock{_and(view, those[0])}"
    if need.kind == "target":
        return f"{me} waits in {need.call} for rank {those[0]}, which " \
            + view.words(those[0])[0]
    other = {"post": "MPI_Win_post", "complete": "MPI_Win_complete"}
    text = f"{me} waits in {need.call} for {other[need.kind]} of "
    if len(those) == 1:
        return f"{text}rank {those[0]}, which {view.words(those[0])[0]}"
    return f"{text}{phrases.ranks(those, True)}; {grouped(view, those)}"


_BY_KIND = {"receive": _receive, "send": _send, "partitioned": _partitioned,
            "lock": _epoch, "target": _epoch, "post": _epoch,
            "complete": _epoch}


def need(view, found):
    """A need as a sentence."""
    if found.kind == "meeting":
        return meeting(view, found.meeting)
    return _BY_KIND[found.kind](view, found)


def kind(view, found):
    """The finding's word for a need."""
    if found.kind == "meeting":
        return {"collective": "behind" if found.meeting.behind
                else "never-waited"}.get(found.meeting.kind,
                                         found.meeting.kind)
    if found.kind == "receive":
        if found.what == "none" and found.posted.peer != ANY:
            if found.tags:
                return "wrong-tag"
            if view.traffic.elsewhere(found.posted) is not None:
                return "wrong-communicator"
        return "no-send"
    return {"send": "no-receive"}.get(found.kind, found.kind)


# Circles --------------------------------------------------------------------

def ring(ranks):
    """a ring: rank 0 waits for 1, 1 for 2, 2 for 0"""
    links = list(zip(ranks, [*ranks[1:], ranks[0]]))
    first = f"rank {links[0][0]} waits for {links[0][1]}"
    if len(links) <= _RING:
        rest = [f"{a} for {b}" for a, b in links[1:]]
        return f"a ring: {', '.join([first, *rest])}"
    rest = [f"{a} for {b}" for a, b in links[1:3]]
    last = f"{links[-1][0]} for {links[-1][1]}"
    return f"a ring of {len(ranks)} ranks: " \
        f"{', '.join([first, *rest])} and so on, {last}"


def sends(ranks, needs):
    """ranks 0 and 1 both send (MPI_Send, 1 MiB, tag 5) and neither receives"""
    first = needs[0]
    if len(ranks) == 2:
        what = [first.call]
        if first.bytes is not None:
            what.append(phrases.size(first.bytes))
        same = {(n.call, n.bytes) for n in needs}
        what = what if len(same) == 1 else []
        if len({n.tag for n in needs}) == 1 and first.tag is not None:
            what.append(phrases.tag(first.tag))
        told = f" ({', '.join(what)})" if what else ""
        return f"{phrases.ranks(ranks)} both send{told} and neither receives"
    return ring(ranks).replace("waits for", "sends to").replace(
        " for ", " to ") + "; none receives"


def meetings(needs):
    """rank 0 waits in MPI_Barrier #1 on 'A', rank 1 in MPI_Barrier #1 on 'B':
    each waits for the other"""
    said = []
    for i, found in enumerate(needs[:_RING]):
        those = found.meeting.waiters
        wait = phrases.verb(those, "waits ", "wait ") if i == 0 else ""
        said.append(f"{phrases.ranks(those, True)} {wait}in "
                    + _name(found.meeting))
    last = "each waits for the other" if len(needs) == 2 else \
        "each waits for the next" + (
            f", {len(needs)} in all" if len(needs) > _RING else "")
    return f"{', '.join(said)}: {last}"
