"""Meetings: what all members of a group begin, and none ends alone.

A collective is a meeting, with a number on its communicator. So are a fence of
a window, MPI_Win_free and MPI_Finalize. A meeting has members that wait in it,
and members that have not come.

Where all have come, a nonblocking collective may still stand still: a member
that computes, and does not wait for it, drives nothing.
"""

import bisect
import collections
import dataclasses

from straightway.where import standing


@dataclasses.dataclass(eq=False)
class Meeting:
    kind: str               # "collective", "fence", "free", "finalize"
    name: str               # of the procedure
    number: object
    communicator: object    # None of MPI_Finalize
    waiters: list           # numbers of ranks
    behind: list            # numbers of ranks that have not come
    begun: dict             # {rank: how many it has begun}
    idle: list              # ranks that have begun it, and drive nothing
    unseen: bool = False    # members may be missing that nobody sees
    blocking: bool = True   # all waiters are in the procedure itself

    @property
    def suspects(self):
        return self.behind or self.idle


class Meetings:
    """Finds, or makes, the Meetings that ranks wait in."""

    def __init__(self, job, stands, absent):
        """`stands`: {rank: its standing}; `absent`: ranks that are gone, or on
        nodes that nobody sees."""
        self.job, self.stands, self.absent = job, stands, absent
        self.found = {}
        self._order = {}        # {communicator: ([begun], [rank]), sorted}
        self._idle = collections.defaultdict(list)
        for rank in job.ranks.values():
            for request in rank.requests:
                if request.kind == "collective" and request.active and \
                        request.number is not None and request.member and \
                        not request.waited:
                    self._idle[request.communicator, request.number].append(
                        rank.number)

    def _behind(self, communicator, number):
        if communicator not in self._order:
            order = sorted((m.begun, r)
                           for r, m in communicator.members.items())
            self._order[communicator] = [b for b, _ in order], \
                [r for _, r in order]
        begun, ranks = self._order[communicator]
        return ranks[:bisect.bisect_left(begun, number)]

    def missing(self, communicator):
        """Members of a communicator that nobody sees, as far as known."""
        if not communicator.id or \
                len(communicator.members) >= communicator.total:
            return []
        return [n for n in self.absent if n not in communicator.members]

    def _join(self, key, rank, make, blocking):
        meeting = self.found.get(key)
        if meeting is None:
            meeting = self.found[key] = make()
        if rank.number not in meeting.waiters[-1:]:
            meeting.waiters.append(rank.number)
        meeting.blocking = meeting.blocking and blocking
        return meeting

    def collective(self, rank, communicator, number, name, blocking=True):
        """The Meeting of the `number`-th collective of a communicator."""
        def make():
            behind = self._behind(communicator, number)
            missing = self.missing(communicator)
            idle = []
            if not behind and not missing:
                idle = [r for r in self._idle.get((communicator, number), ())
                        if self.stands.get(r) in (standing.USER,
                                                  standing.POLLS)]
            return Meeting(
                "collective", name, number, communicator, [],
                behind + missing,
                {r: communicator.members[r].begun for r in behind}, idle,
                bool(missing))
        return self._join((communicator, number), rank, make, blocking)

    def known_collective(self, communicator, number):
        """Whether a member of the communicator has not begun this one."""
        return bool(self._behind(communicator, number)
                    or self.missing(communicator))

    def fence(self, rank, window, number):
        def make():
            members = self.job.windows.get(window.key, {})
            begun = {r: w.fences for r, w in members.items()
                     if w.fences < number}
            missing = self._missing_of(window)
            return Meeting("fence", "MPI_Win_fence", number,
                           window.communicator, [],
                           sorted(begun) + missing, begun, [], bool(missing))
        return self._join(("fence", window.key, number), rank, make, True)

    def _missing_of(self, window):
        return self.missing(window.communicator) if window.communicator else []

    def free(self, rank, window):
        def make():
            members = self.job.windows.get(window.key, {})
            behind = [r for r in members if not any(
                t.inside and t.call and t.call.name == "MPI_Win_free"
                and t.call.window is members[r]
                for t in members[r].rank.threads)]
            return Meeting("free", "MPI_Win_free", None, window.communicator,
                           [], behind + self._missing_of(window), {}, [],
                           bool(self._missing_of(window)))
        return self._join(("free", window.key), rank, make, True)

    def finalize(self, rank):
        def make():
            behind = [r.number for r in self.job.ranks.values()
                      if not r.finalized and not in_finalize(r)]
            return Meeting("finalize", "MPI_Finalize", None, None, [],
                           sorted(behind) + list(self.absent), {}, [],
                           bool(self.absent))
        return self._join(("finalize",), rank, make, True)


def in_finalize(rank):
    """Whether a rank is in MPI_Finalize."""
    return any(t.inside and t.call and t.call.name == "MPI_Finalize"
               for t in rank.threads)
