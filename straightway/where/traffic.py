"""Messages without a receive, and receives without a message.

The messages under way from one rank to another, on a communicator, are a
difference: those begun by the sender, less those completed by the receiver.
Their tags follow from sums (rolling.py). This module gives each posted receive
one of the messages under way, where there is one. What is left over on either
side stands in the report.

Counts may be unknown: of a rank that nobody sees, of a table that was full, of
a program that had called MPI before the counting began. Then a receive is
neither met nor unmet (None), and nothing accuses the sender.
"""

import collections
import dataclasses
import typing

from straightway.where import rolling
from straightway.where.model import ANY, Rank

RECEIVE = ("MPI_Recv", "MPI_Probe", "MPI_Mprobe")
BOTH = ("MPI_Sendrecv", "MPI_Sendrecv_replace")


@dataclasses.dataclass(eq=False)
class Posted:
    """A receive, or a probe that waits."""

    rank: Rank
    communicator: object
    peer: object            # a rank, ANY, or what is no rank of this job
    tag: object             # a number or ANY
    call: str
    since: typing.Optional[float]
    stack: list
    waited: bool            # a thread waits for it
    met: typing.Optional[bool] = False


@dataclasses.dataclass(eq=False)
class Channel:
    """Messages under way one way between two ranks, on a communicator."""

    communicator: object
    source: int
    target: int
    tags: dict              # {tag: messages}
    unknown: int            # messages of tags that are not known

    @property
    def messages(self):
        return sum(self.tags.values()) + self.unknown


class Traffic:
    """The messages and the receives of a Job."""

    def __init__(self, job):
        self.job = job
        self.channels = {}      # {(communicator, source, target): Channel}
        self.posted = []
        self.of = {}            # {id of a thread or request: Posted}
        self._into = collections.defaultdict(list)
        self._between = collections.defaultdict(list)
        self._asked = {}        # {...: {tag: a Posted}}
        self._sources = {}
        self._known = {}
        self._count()
        self._post()
        self._match()

    # What the ranks show -------------------------------------------------

    def _count(self):
        sent, received = {}, {}
        for rank in self.job.ranks.values():
            for pair in rank.pairs:
                if pair.communicator is None or not pair.communicator.id:
                    continue
                if pair.sends:
                    sent[pair.communicator, rank.number, pair.peer] = pair
                else:
                    received[pair.communicator, pair.peer, rank.number] = pair
        for key, pair in sent.items():
            if self.trusted(key[1]) and self.trusted(key[2]):
                channel = _under_way(key, pair, received.get(key))
                if channel:
                    self.channels[key] = channel
                    self._into[key[0], key[2]].append(channel)
                    self._between[key[1], key[2]].append(channel)

    def trusted(self, number):
        """Whether the counts of a rank are whole."""
        rank = self.job.ranks.get(number)
        return bool(rank and rank.whole and not rank.lost.get("pairs")
                    and not rank.lost.get("comms"))

    def _post(self):
        for rank in self.job.ranks.values():
            for thread in rank.threads:
                call = thread.call
                if call and thread.inside and call.communicator and \
                        call.name in RECEIVE + BOTH:
                    self._add(thread, Posted(
                        rank, call.communicator, call.peer, call.tag,
                        call.name, call.since, call.stack, True))
            for request in rank.requests:
                if receives(request) and request.communicator:
                    self._add(request, Posted(
                        rank, request.communicator, request.peer, request.tag,
                        request.name, request.since, request.stack,
                        bool(request.waited)))

    def _add(self, what, posted):
        if posted.peer != ANY and not isinstance(posted.peer, int):
            return              # MPI_PROC_NULL, or a rank of another job
        self.posted.append(posted)
        self.of[id(what)] = posted
        self._asked.setdefault(
            (posted.communicator, posted.rank.number, posted.peer),
            {})[posted.tag] = posted

    # Receives meet messages ----------------------------------------------

    def _match(self):
        """The receives that say most come first."""
        order = {(False, False): 0, (False, True): 1, (True, False): 2,
                 (True, True): 3}
        # A probe takes no message: it comes last.
        self.posted.sort(key=lambda p: (
            order[p.peer == ANY, p.tag == ANY], p.call.endswith("robe")))
        for posted in self.posted:
            if posted.peer == ANY:
                posted.met = self._take_any(posted)
                continue
            posted.met = _take(self.channels.get(
                (posted.communicator, posted.peer, posted.rank.number)),
                posted.tag)
            if not posted.met and not (
                    posted.communicator.id and self.trusted(posted.peer)
                    and self.trusted(posted.rank.number)):
                posted.met = None

    def _take_any(self, posted):
        tagged, known, unknown = self._open(posted)
        if posted.tag == ANY:
            while known and not _take(known[-1], ANY, False):
                known.pop()
            met = bool(known)
        else:
            those = tagged.get(posted.tag, [])
            while those and not _take(those[-1], posted.tag, False):
                those.pop()
            met = bool(those)
        if met:
            return True
        while unknown and not unknown[-1].unknown:
            unknown.pop()
        if unknown:
            unknown[-1].unknown -= 1
            return None
        return False if self._whole(posted.communicator) else None

    def _open(self, posted):
        """The Channels that end at a receive: ({tag: some of them}, those with
        tags, those with messages whose tags are not known)"""
        key = posted.communicator, posted.rank.number
        if key not in self._sources:
            tagged, channels = {}, self._into.get(key, [])
            for channel in channels:
                for tag in channel.tags:
                    tagged.setdefault(tag, []).append(channel)
            self._sources[key] = tagged, list(channels), list(channels)
        return self._sources[key]

    def _whole(self, communicator):
        """Whether the counts of all members are known."""
        if communicator not in self._known:
            members = communicator.members
            self._known[communicator] = bool(
                communicator.id and len(members) == communicator.total
                and all(map(self.trusted, members)))
        return self._known[communicator]

    # Questions -----------------------------------------------------------

    def other_tags(self, posted):
        """The tags of messages that the receive's peer has sent, on its
        communicator, and for which there is no receive."""
        if posted.peer == ANY:
            return []
        channel = self.channels.get((posted.communicator, posted.peer,
                                     posted.rank.number))
        return sorted(t for t, n in channel.tags.items() if n) \
            if channel else []

    def elsewhere(self, posted):
        """The communicator on which the peer has sent such a message, for
        which there is no receive; or None."""
        for channel in self._between.get((posted.peer, posted.rank.number),
                                         ()):
            if channel.communicator is posted.communicator:
                continue
            if any(n and posted.tag in (t, ANY)
                   for t, n in channel.tags.items()):
                return channel.communicator
        return None

    def receives(self, communicator, source, target, tag):
        """(whether `target` has posted a receive for such a message, the tags
        of receives from this sender that no message meets)"""
        others = []
        for peer in (source, ANY):
            asked = self._asked.get((communicator, target, peer), {})
            if tag in asked or ANY in asked or tag is None and asked:
                return True, []
            if peer != ANY:
                others = [t for t, posted in asked.items()
                          if posted.met is False]
        return False, others

    def unmet(self):
        """Receives without a message."""
        return [p for p in self.posted if p.met is False]

    def unreceived(self):
        """Channels with messages for which there is no receive."""
        return [c for c in self.channels.values() if c.messages > 0]


def receives(request):
    """Whether a request waits for a message that is not partitioned."""
    return request.kind == "receives" and request.active and \
        not request.name.startswith("MPI_Precv")


def _take(channel, tag, unknown=True):
    """Take a message from a Channel: True, False, or None where it may have
    one, among those whose tags are not known."""
    if channel is None:
        return False
    if tag == ANY:
        tag = next((t for t, n in channel.tags.items() if n), None)
    if channel.tags.get(tag):
        channel.tags[tag] -= 1
        return True
    if unknown and channel.unknown:
        channel.unknown -= 1
        return None
    return False


def _under_way(key, sent, received):
    """The Channel between two Pairs, or None without messages."""
    total = sent.messages - (received.messages if received else 0)
    if total <= 0:
        return None
    tags = rolling.tags(total, _difference(sent, received), sent.latest)
    return Channel(*key, tags or {}, 0 if tags else total)


def _difference(sent, received):
    """The sums of the tags of the messages under way, and of their squares;
    () where they are not known."""
    if not sent.sums or received and not received.sums:
        return ()
    return tuple((s - r) % (1 << 64) for s, r in zip(
        sent.sums, received.sums if received else (0, 0)))
