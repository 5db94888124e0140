"""Ranks in the same place as one row."""

import dataclasses

from straightway.where import phrases, standing
from straightway.where.model import ANY


@dataclasses.dataclass
class Row:
    ranks: list
    what: str               # MPI_Recv from rank 3, tag 8, 1 MiB
    since: object           # seconds, of the rank that is there longest
    place: str              # exchange (x.c:12)
    thread: bool = False    # of a thread beside the main one


def _one(values):
    """The value that all share, or None."""
    values = set(values)
    return values.pop() if len(values) == 1 else None


def _key(rank, thread, stand):
    """What is alike in one row, but for peers and sizes."""
    call = thread.call
    if stand in (standing.ZOMBIE, standing.LEFT, standing.NEW):
        return (stand,)
    if thread.inside and call is not None:
        return ("in", call.name, call.communicator, call.number,
                call.window and call.window.key, thread.label)
    if stand == standing.POLLS and standing.polls(call):
        return ("polls", call.name, thread.label)
    return ("user", thread.label, thread.sampled,
            standing.last_call(thread))


def _message(calls):
    """ from rank 3, tag 8, 1 MiB"""
    said = []
    first = calls[0]
    arrow = "to" if first.name.endswith("end") else "at" \
        if first.window is not None else "from"
    peers = [c.peer for c in calls if c.peer is not None]
    if peers:
        numbers = [p for p in peers if isinstance(p, int)]
        if len(numbers) == len(peers):
            said.append(f"{arrow} {phrases.ranks(numbers)}")
        else:
            one = _one(peers)
            said.append(f"{arrow} {phrases.peer(one)}" if one is not None
                        else f"{arrow} several ranks")
    tags = {c.tag for c in calls if c.tag is not None}
    if tags:
        one = _one(tags)
        said.append("any tag" if one == ANY else f"tag {one}"
                    if one is not None else "several tags")
    to = [c.to for c in calls if isinstance(c.to, int)]
    if to:
        tag = _one(c.to_tag for c in calls)
        said.append(f"to {phrases.ranks(to)}"
                    + (f", tag {tag}" if tag is not None else ""))
    roots = [c.root for c in calls if c.root is not None]
    if roots:
        one = _one(roots)
        said.append("several roots" if one is None else f"root {one}")
    requests = [c.requests for c in calls if c.requests]
    if requests:
        one = _one(requests)
        said.append("several requests" if one is None else
                    f"{one} request" + "s" * (one != 1))
    sizes = [c.bytes for c in calls if c.bytes]
    if sizes:
        one = _one(sizes)
        said.append(phrases.size(one) if one is not None else
                    f"up to {phrases.size(max(sizes))}")
    return ", ".join(said)


def _what(key, members, stand):
    kind = key[0]
    if kind == standing.NEW:
        return "in MPI_Init" if standing.in_init(members[0][0]) else \
            "before MPI_Init"
    if kind in (standing.ZOMBIE, standing.LEFT):
        return standing.words(members[0][0], kind)[0]
    state = {standing.STOPPED: "stopped, ", standing.HELD: "held, "}.get(
        stand, "")
    calls = [thread.call for _, thread in members]
    if kind == "in":
        call = calls[0]
        of = call.communicator
        world = of is None or of.label == "'MPI_COMM_WORLD'"
        text = phrases.collective(call.name, call.number,
                                  None if world else of)
        message = _message(calls)
        if message:
            text += (", " if message[0].isdigit() or message.startswith(
                ("tag", "any", "root", "several", "up")) else " ") + message
        return state + text
    if kind == "polls":
        return f"{state}polls with {calls[0].name}"
    last = key[3]
    return f"{state}user code" + (f", after {last}" if last else "")


def rows(view):
    """The Rows of a View's ranks, most ranks first; ranks apart stand last."""
    groups = {}
    for number, rank in sorted(view.job.ranks.items()):
        stand = view.stands[number]
        threads = [t for t in rank.threads if t.main or t.inside
                   or not rank.threads[0].main] or rank.threads
        if not threads:
            continue
        for i, thread in enumerate(threads):
            key = (stand if stand in (standing.STOPPED, standing.HELD)
                   else "", i > 0, _key(rank, thread, stand))
            groups.setdefault(key, []).append((rank, thread, stand))
    found = []
    for (_, thread, key), members in groups.items():
        sinces = [t.call.since for _, t, _ in members
                  if t.inside and t.call and t.call.since is not None]
        pairs = [(r, t) for r, t, _ in members]
        found.append(Row(
            sorted({r.number for r, _ in pairs}),
            _what(key, pairs, members[0][2]), max(sinces, default=None),
            members[0][1].label, thread))
    found.sort(key=lambda row: (-len(row.ranks), row.ranks))
    for kind, text in ((standing.GONE, "gone"),
                       (standing.UNSEEN, "not seen")):
        those = view.those(kind)
        if those:
            found.append(Row(those, text, None, ""))
    return found


@dataclasses.dataclass
class Message:
    """Messages without a receive, or receives without a message."""

    source: object
    target: object
    communicator: str
    tag: object
    count: int
    place: str = ""
    since: object = None


def messages(view):
    """Messages for which there is no receive, most first."""
    found = []
    for channel in view.traffic.unreceived():
        name = channel.communicator.label
        found += [Message(channel.source, channel.target, name, tag, count)
                  for tag, count in channel.tags.items() if count]
        if channel.unknown:
            found.append(Message(channel.source, channel.target, name, None,
                                 channel.unknown))
    return sorted(found, key=lambda m: (-m.count, m.source, m.target))


def receives(view, names, most):
    """(the first receives without a message, how many there are)"""
    from straightway.where import places
    groups = {}
    for posted in view.traffic.unmet():
        key = (posted.rank.number, str(posted.peer), str(posted.tag),
               posted.communicator, tuple(posted.stack[:1]))
        groups.setdefault(key, []).append(posted)
    order = sorted(groups.values(), key=lambda those: (
        -max(p.since or 0 for p in those), those[0].rank.number))
    frames = [places.shown(those[0].stack, True) for those in order[:most]]
    names.learn(frames)
    return [Message(those[0].peer, those[0].rank.number,
                    those[0].communicator.label, those[0].tag, len(those),
                    names.label(frame),
                    max(p.since or 0 for p in those) or None)
            for those, frame in zip(order, frames)], len(order)
