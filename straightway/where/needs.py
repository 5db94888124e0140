"""What each rank that waits needs, and of which ranks.

A rank that waits has needs: a message, a receive, a meeting (meetings.py), an
epoch of a window. A need names suspects, the ranks that could end it. Without
suspects nothing is missing: data moves, or the MPI waits inside.

All of a rank's needs must be met, except those of MPI_Waitany and its kin.
A rank that polls has the needs of its requests, too.
"""

import collections
import dataclasses
import typing

from straightway.where import meetings, standing, traffic
from straightway.where.model import ANY

_SENDS = ("MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend")
_ANY_OF = ("MPI_Waitany", "MPI_Waitsome", "MPI_Testany", "MPI_Testsome")
_LOCKS = ("MPI_Win_lock", "MPI_Win_lock_all")


@dataclasses.dataclass(eq=False)
class Anyone:
    """All members of a communicator: each could send to a receive from any
    source."""

    communicator: object
    suspects: list


@dataclasses.dataclass(eq=False)
class Need:
    rank: int
    kind: str               # receive, send, partitioned, meeting, post,
    #                         complete, lock, target
    suspects: list
    call: str               # the procedure that waits, or began the request
    meeting: object = None  # a Meeting or an Anyone
    communicator: object = None
    tag: object = None
    bytes: int = 0
    posted: object = None   # of a receive: the traffic.Posted
    what: str = ""          # of a message: none, under way, posted, unknown
    tags: tuple = ()        # tags of the other side's that do not match
    parts: tuple = ()       # (ready, all) of a partitioned message
    optional: bool = False  # one of several needs is enough


@dataclasses.dataclass(eq=False)
class View:
    """A Job with all that verdicts look at."""

    job: object
    traffic: traffic.Traffic
    stands: dict            # {rank: its standing}
    needs: dict             # {rank: [Need]}
    meetings: typing.Optional[meetings.Meetings]
    longest: float          # seconds of the longest wait

    def words(self, number):
        return standing.words(self.job.ranks.get(number),
                              self.stands.get(number, standing.UNSEEN))

    def those(self, *kinds):
        """The ranks of some standings."""
        return sorted(n for n, s in self.stands.items() if s in kinds)


def _stands(job):
    found = {n: standing.of(rank) for n, rank in job.ranks.items()}
    unseen = job.unseen
    gone = job.ended >= len(unseen) > 0
    for number in unseen:
        found[number] = standing.GONE if gone else standing.UNSEEN
    return found


class _Finder:
    def __init__(self, job, found, stands):
        self.job, self.traffic, self.stands = job, found, stands
        self.meetings = meetings.Meetings(job, stands, [
            n for n, s in sorted(stands.items())
            if s in (standing.GONE, standing.UNSEEN)])
        self.anyone = {}
        self.sending = collections.defaultdict(set)
        for rank in job.ranks.values():
            for request in rank.requests:
                if request.kind == "sends" and request.active and \
                        isinstance(request.peer, int):
                    self.sending[request.communicator, rank.number,
                                 request.peer].add(request.tag)
        self.parts = {}
        for rank in job.ranks.values():
            for request in rank.requests:
                if request.name.startswith(("MPI_Psend", "MPI_Precv")):
                    self.parts.setdefault(
                        (request.communicator, request.kind, rank.number,
                         request.peer, request.tag), request)
        self.holders = collections.defaultdict(list)
        for key, members in job.windows.items():
            self.holders[key] = [w for w in members.values()
                                 if w.locks and w.locked is not None]

    def of(self, rank):
        """The needs of a rank that waits, or polls."""
        found, waited = [], collections.defaultdict(list)
        for request in rank.requests:
            if request.active and request.waited:
                waited[request.waited].append(request)
        for thread in standing.speaking(rank):
            if standing.is_blocked(thread):
                requests = waited.get(thread.tid, [])
                found += self._requests(rank, requests, thread.call) \
                    if requests else self._call(rank, thread)
        if self.stands[rank.number] == standing.POLLS:
            found += self._polled(rank)
        return found

    def _polled(self, rank):
        thread = standing.free_thread(rank)
        found = self._requests(
            rank, [r for r in rank.requests if r.active and not r.waited],
            thread.call)
        # A send under way, or one that is done, keeps no rank that polls.
        return [n for n in found if n.kind in ("receive", "meeting")
                and n.what in ("none", "")]

    # Calls ---------------------------------------------------------------

    def _call(self, rank, thread):
        call = thread.call
        if call.name == "MPI_Finalize":
            return [self._meets(rank, self.meetings.finalize(rank), call)]
        if call.name.startswith("MPI_Init"):
            return []
        if call.window is not None or call.name.startswith("MPI_Win_"):
            found = self._window(rank, call)
            if found is not None:
                return found
        if call.number is not None and call.communicator:
            return [self._meets(rank, self.meetings.collective(
                rank, call.communicator, call.number, call.name), call)]
        found = []
        if call.name in traffic.RECEIVE + traffic.BOTH:
            found += self._receive(rank, self.traffic.of.get(id(thread)),
                                   call)
        if call.name in _SENDS:
            found += self._send(rank, call.communicator, call.peer, call.tag,
                                call)
        if call.name in traffic.BOTH:
            found += self._send(rank, call.communicator, call.to,
                                call.to_tag, call)
        return found

    def _meets(self, rank, meeting, call):
        return Need(rank.number, "meeting", [], call.name, meeting,
                    meeting.communicator)

    # Requests ------------------------------------------------------------

    def _requests(self, rank, requests, call):
        found, numbers = [], {}
        for request in requests:
            if request.name.startswith(("MPI_Psend", "MPI_Precv")):
                found += self._partitioned(rank, request)
            elif request.kind == "collective" and request.communicator:
                numbers.setdefault(request.communicator, {})[
                    request.number] = request
            elif request.kind == "receives":
                found += self._receive(
                    rank, self.traffic.of.get(id(request)), request)
            elif request.kind == "sends":
                found += self._send(rank, request.communicator, request.peer,
                                    request.tag, request)
        for communicator, those in numbers.items():
            found += self._collectives(rank, communicator, those)
        if call and call.name in _ANY_OF and len(found) > 1:
            for need in found:
                need.optional = True
        return found

    def _collectives(self, rank, communicator, those):
        """Of several on one communicator, the first that somebody has not
        begun."""
        numbers = sorted(n for n in those if n is not None)
        number = next((n for n in numbers if self.meetings.known_collective(
            communicator, n)), numbers[0] if numbers else None)
        if number is None:
            return []
        return [self._meets(rank, self.meetings.collective(
            rank, communicator, number, those[number].name, False),
            those[number])]

    def _partitioned(self, rank, request):
        if not isinstance(request.peer, int):
            return []
        receives = request.name.startswith("MPI_Precv")
        other = self.parts.get((
            request.communicator, "sends" if receives else "receives",
            request.peer, rank.number, request.tag))
        known = self.stands.get(request.peer) not in (standing.GONE,
                                                      standing.UNSEEN)
        parts, what = (), "unknown"
        if known:
            what = "none" if other is None or not other.active else "posted"
            if receives and what == "posted":
                parts = other.ready, other.partitions
        if not receives and request.ready < request.partitions:
            # Its own partitions are missing: another thread makes them.
            return [Need(rank.number, "partitioned", [rank.number],
                         request.name, None, request.communicator,
                         request.tag, request.bytes, what="own",
                         parts=(request.ready, request.partitions))]
        if parts and parts[0] >= parts[1] or not receives and \
                what == "posted":
            what = "under way"
        return [Need(rank.number, "partitioned",
                     self._unless_inside(request.peer, what), request.name,
                     None, request.communicator, request.tag, request.bytes,
                     what=what, parts=parts)]

    def _unless_inside(self, peer, what):
        """A peer that is in MPI drives what is under way, and is no
        suspect."""
        inside = self.stands.get(peer) in (standing.WAITS, standing.POLLS)
        return [] if what == "under way" and inside else [peer]

    # Messages ------------------------------------------------------------

    def _receive(self, rank, posted, call):
        if posted is None:
            return []
        need = Need(rank.number, "receive", [], call.name, None,
                    posted.communicator, posted.tag, call.bytes,
                    posted, {True: "under way", False: "none",
                             None: "unknown"}[posted.met])
        if posted.peer == ANY:
            need.meeting = self._anyone(posted.communicator)
            return [] if posted.met else [need]
        if posted.met:
            tags = self.sending.get((posted.communicator, posted.peer,
                                     rank.number), ())
            active = tags if posted.tag == ANY else posted.tag in tags
            need.suspects = self._unless_inside(posted.peer, "under way") \
                if active else []
            # The message has left its sender: it is on its way.
            return [need]
        need.suspects = [posted.peer]
        if posted.met is False:
            need.tags = tuple(self.traffic.other_tags(posted))
        return [need]

    def _anyone(self, communicator):
        if communicator not in self.anyone:
            self.anyone[communicator] = Anyone(
                communicator, [*communicator.members,
                               *self.meetings.missing(communicator)])
        return self.anyone[communicator]

    def _send(self, rank, communicator, peer, tag, call):
        if not isinstance(peer, int) or communicator is None:
            return []
        need = Need(rank.number, "send", [peer], call.name, None,
                    communicator, tag, call.bytes, what="unknown")
        if peer in self.job.ranks:
            there, others = self.traffic.receives(communicator, rank.number,
                                                  peer, tag)
            need.what = "posted" if there else "none"
            need.tags = tuple(sorted(t for t in others
                                     if isinstance(t, int)))
            if there:
                need.suspects = self._unless_inside(peer, "under way")
        return [need]

    # Windows -------------------------------------------------------------

    def _window(self, rank, call):
        """The needs of a call on a window; None for one that is no such."""
        window, name = call.window, call.name
        if window is None:
            return None
        if name == "MPI_Win_fence":
            return [self._meets(rank, self.meetings.fence(
                rank, window, call.number if call.number is not None
                else window.fences), call)]
        if name == "MPI_Win_free":
            return [self._meets(rank, self.meetings.free(rank, window), call)]
        members = self.job.windows.get(window.key, {})
        starts = window.starts > window.completes
        if name in ("MPI_Win_start", "MPI_Win_complete") or \
                starts and call.peer in window.targets:
            late = [t for t in window.targets if t not in members
                    or not members[t].exposed_to(rank.number)]
            if late or name.startswith("MPI_Win_"):
                return [self._epoch(rank, "post", late, call)]
        if name == "MPI_Win_wait":
            return [self._epoch(rank, "complete",
                                _late_origins(rank.number, window, members),
                                call)]
        holders = [w.rank.number for w in self.holders[window.key]
                   if w.rank is not rank and _holds(w, call)]
        if holders:
            return [self._epoch(rank, "lock", holders, call)]
        target = [call.peer] if isinstance(call.peer, int) and \
            call.peer != rank.number else []
        return [self._epoch(rank, "target", self._unless_inside(
            target[0], "under way") if target else [], call)]

    def _epoch(self, rank, kind, suspects, call):
        return Need(rank.number, kind, suspects, call.name, None,
                    call.window.communicator, call.peer)


def _late_origins(number, window, members):
    """The origins of an exposure that have not completed their access."""
    late = [o for o in window.origins if o not in members
            or members[o].accesses(number)
            or members[o].completes < window.posts]
    return late or list(window.origins)


def _holds(window, call):
    """Whether a member holds a lock that keeps a call out."""
    theirs, wanted = window.locked, call.peer
    if theirs != ANY and isinstance(wanted, int) and theirs != wanted:
        return False
    inside = any(t.inside and t.call and t.call.window is window
                 and t.call.name in _LOCKS and t.call.peer == theirs
                 for t in window.rank.threads)
    own = call.window.exclusive and call.window.locks
    return not inside and bool(window.exclusive or own
                               or call.name == "MPI_Win_lock")


def look(job):
    """The View of a Job."""
    found = traffic.Traffic(job)
    stands = _stands(job)
    finder = _Finder(job, found, stands)
    needs = {n: finder.of(rank) for n, rank in job.ranks.items()
             if stands[n] in (standing.WAITS, standing.POLLS)}
    longest = max((t.call.since or 0.0 for rank in job.ranks.values()
                   for t in rank.threads if standing.is_blocked(t)),
                  default=0.0)
    return View(job, found, stands, needs, finder.meetings, longest)
