"""A profile: what the ranks of a job did, from a capture.

A Profile comes from a Capture, or from a part of it (one region, some ranks).
Its `records` (recorded.py) are the rows of all ranks' calls. resolving.py has
resolved their indices, so equal call sites, communicators and so on of
different ranks are the same object:

    profile = load("app.8.4711.swcap")
    for total in profile.totals("operation"):       # most time first
        print(total.label, total.calls, total.time, total.waiting)

Times are ns; sizes are bytes. Each record has its own estimate of waiting, and
totals add these up: so all views of a profile agree. Communication is all of
MPI but I/O (MPI_File_*). A rank computes where it neither communicates nor
does I/O. A rank of several threads that call MPI has as much time as all of
them together.
"""

import collections
import dataclasses
import functools
import typing

from straightway import capture as captures
from straightway.capture import procedures
from straightway.errors import UserError
from straightway.profile import placement, resolving
from straightway.profile.recorded import OUTSIDE, Exchange, Total, group
from straightway.ranges import ranges


# Ranks --------------------------------------------------------------------

@dataclasses.dataclass
class RankTime:
    """How one rank spent its time, in ns."""

    rank: int
    node: str
    wall: int               # from MPI_Init to MPI_Finalize, or in the region
    threads: int            # that called MPI
    communication: int = 0  # in MPI, without I/O
    waiting: float = 0.0    # of communication
    io: int = 0
    calls: int = 0          # all of MPI
    sent: int = 0           # bytes
    received: int = 0
    sent_between: typing.Optional[int] = 0  # of these, with other nodes;
    received_between: typing.Optional[int] = 0  # None: not known
    init_time: int = 0
    cpu: int = 0            # of the whole process
    end: str = "finalize"
    capture: typing.Any = None      # the capture's Rank

    @property
    def elapsed(self):
        """All threads' time together."""
        return max(self.wall * self.threads, self.communication + self.io)

    @property
    def moving(self):
        return self.communication - self.waiting

    @property
    def compute(self):
        return self.elapsed - self.communication - self.io

    @property
    def lost(self):
        """Time without a processor, ns, beyond waits and I/O: the rank may
        sleep in these."""
        return max(0, self.wall - self.cpu - self.waiting - self.io)

    @property
    def share(self):
        """Communication's part of the rank's time, 0 to 1."""
        return self.communication / self.elapsed if self.elapsed else 0.0


@dataclasses.dataclass
class Node:
    """A machine of the job."""

    number: int
    name: str
    ranks: list             # numbers of the ranks recorded
    rank_count: int         # as the job had on it
    processors: int


@dataclasses.dataclass
class RegionTime:
    """A region over all ranks, including all regions within it."""

    name: str               # "outer/inner"; "" is outside of all
    label: str
    entered: int            # times, over all ranks
    time: int               # ns within, over all ranks
    communication: int
    waiting: float
    io: int
    sent: int = 0           # bytes
    sent_between: typing.Optional[int] = 0      # of these, to other nodes

    @property
    def share(self):
        return self.communication / self.time if self.time else 0.0

    @property
    def waiting_share(self):
        """Waiting's part of the region's time, 0 to 1."""
        return self.waiting / self.time if self.time else 0.0


KINDS = ("messages", "one-sided", "collective")     # in the matrix


# The profile --------------------------------------------------------------

class Profile:
    """A capture, or a part of it: `region` with those within it, `only` the
    ranks of a set. UserError when the part is empty.

    capture         the Capture
    job             its Job: program, arguments, id, ranks, began, mpi, ...
    records         [Record, ...]
    ranks           [RankTime, ...] sorted by rank
    nodes           [Node, ...] sorted by number
    communicators   [Communicator, ...]
    missing         Ranges of ranks that the file lacks
    ended_badly     {end: Ranges} of ranks that did not reach MPI_Finalize;
                    end is "abort", "exit", "signal 9" and so on
    problems        sentences: what could not be read or does not fit
    region, only    the part, or None
    gaps            {(rank, thread, record): traces.Gap}; read from the trace
                    when a view first asks, by find_gaps, or {}
    replayed        seconds as it ran and in the better places, by a replay of
                    the trace; likewise by find_replayed, or None
    """

    def __init__(self, capture, region=None, only=None):
        self.capture, self.region, self.only = capture, region, only
        self.find_gaps, self.find_replayed = dict, lambda: None
        self.job = capture.ranks[0].job
        self.problems = list(capture.problems)
        chosen = [r for r in capture.ranks if only is None
                  or r.number in only]
        if not chosen:
            raise UserError(f"{capture.path} has none of these ranks; it "
                            f"has {self._present()}")
        shared = resolving.Shared(capture.symbols)
        records = resolving.records(chosen, shared)
        shared.label_communicators()
        if region is not None:
            records = [r for r in records if _within(r.region, region)]
            self._check_region(chosen, region)
        self.records = records
        self.communicators = list(shared.communicators.values())
        self.ranks = self._ranks(chosen)
        self.nodes = self._nodes(chosen)
        self.missing = self._missing()
        self.ended_badly = self._ends(chosen)
        self._check_job(chosen)
        self._totals, self._matrices, self._better = {}, {}, {}

    @functools.cached_property
    def gaps(self):
        return self.find_gaps()

    @functools.cached_property
    def replayed(self):
        return self.find_replayed()

    @property
    def traced(self):
        """Whether this file has every call in order."""
        return bool(self.capture.traced)

    @functools.cached_property
    def places(self):
        """The placement.Places of the ranks."""
        return placement.Places(self)

    @functools.cached_property
    def crossing(self):
        """The placement.Crossing, or None."""
        return placement.crossing(self)

    @functools.cached_property
    def matched(self):
        """The capture.file.Matched of all ranks, for the whole run: sums, and
        the most of any rank."""
        return captures.Matched(*(
            (max if name.endswith("_most") else sum)(
                getattr(r.capture.matched, name) for r in self.ranks)
            for name in captures.Matched._fields))

    def better(self, least):
        """A placement.Better that takes more than this part off what goes
        through the border of the busiest part, or None."""
        if least not in self._better:
            self._better[least] = placement.better(self, least)
        return self._better[least]

    def _present(self):
        return str(ranges(r.number for r in self.capture.ranks))

    def _check_region(self, chosen, region):
        names = sorted({g.name for r in chosen for g in r.regions[1:]})
        if region and region not in names:
            there = ", ".join(names[:8]) or "no region at all"
            raise UserError(f"no region {region} in {self.capture.path}; "
                            f"it has {there}")

    def _region_time(self, rank):
        """ns of a rank in the chosen region."""
        times = collections.Counter()
        for r in rank.regions[1:]:
            times[r.name] += r.time
        if self.region:
            return times[self.region]
        return max(0, rank.wall - sum(t for name, t in times.items()
                                      if "/" not in name))

    def _ranks(self, chosen):
        found = {}
        threads = collections.defaultdict(set)
        for r in self.records:
            threads[r.rank].add(r.thread)
        for rank in chosen:
            wall = rank.wall if self.region is None else \
                self._region_time(rank)
            found[rank.number] = RankTime(
                rank.number, rank.node, wall,
                max(1, len(threads[rank.number])), init_time=rank.init_time,
                cpu=rank.cpu, end=rank.end, capture=rank)
        for r in self.records:
            one = found[r.rank]
            one.calls += r.calls
            if procedures.class_of(r.procedure) == procedures.IO:
                one.io += r.time
                continue
            one.communication += r.time
            one.waiting += r.waiting
            one.sent += r.sent
            one.received += r.received
            for name in ("sent_between", "received_between"):
                before, more = getattr(one, name), getattr(r, name)
                setattr(one, name, None if None in (before, more)
                        else before + more)
        return [found[number] for number in sorted(found)]

    @staticmethod
    def _nodes(chosen):
        nodes = {}
        for rank in chosen:
            node = nodes.setdefault(rank.node_number, Node(
                rank.node_number, rank.node, [], rank.node_ranks,
                rank.node_processors))
            node.ranks.append(rank.number)
        return [nodes[number] for number in sorted(nodes)]

    def _missing(self):
        return ranges(rank.number for rank in self.capture.ranks).gaps(
            self.job.ranks)

    @staticmethod
    def _ends(chosen):
        found = {}
        for rank in chosen:
            if rank.end != "finalize":
                end = rank.end + (f" {rank.signal}" if rank.end == "signal"
                                  and rank.signal else "")
                found.setdefault(end, []).append(rank.number)
        return {end: ranges(numbers) for end, numbers in found.items()}

    def _check_job(self, chosen):
        if any((r.job.id, r.job.ranks) != (self.job.id, self.job.ranks)
               for r in chosen):
            self.problems.append("The ranks of this file are of different "
                                 "jobs.")
        folded = sum(r.folded for r in chosen)
        if folded:
            self.problems.append(
                f"{folded:,} calls have no call site: the run had too many "
                "different ones.")

    def totals(self, by):
        """Totals over all records, I/O included; see `group`. Most time
        first."""
        if by not in self._totals:
            self._totals[by] = group(self.records, by)
        return self._totals[by]

    @functools.cached_property
    def communication(self):
        """The Total over all communication: all records but I/O."""
        return Total("communication", "communication", [
            r for r in self.records
            if procedures.class_of(r.procedure) != procedures.IO])

    @functools.cached_property
    def io(self):
        """The Total over MPI_File_*."""
        return Total("io", "I/O", [
            r for r in self.records
            if procedures.class_of(r.procedure) == procedures.IO])

    def devices(self):
        """Totals by operation and call site of the records with data in the
        memory of a GPU, the most bytes first. Empty for a run without any."""
        totals = group([r for r in self.records if r.device_calls],
                       ("operation", "site"))
        return sorted(totals, key=lambda t: (
            -(t.device_sent + t.device_received), t.label))

    @property
    def tells_between(self):
        """Whether the job ran on several nodes, and the file tells the bytes
        between them from those inside."""
        return self.communication.sent_between is not None and any(
            r.capture.node_ranks < self.job.ranks for r in self.ranks)

    def between(self):
        """Totals of the procedures that move data, the most bytes between
        nodes first. Empty where `tells_between` is false."""
        if not self.tells_between:
            return []
        moved = [t for t in self.totals("operation")
                 if (t.sent or t.received)
                 and None not in (t.sent_between, t.received_between)
                 and procedures.class_of(t.key) != procedures.IO]
        return sorted(moved, key=lambda t: (
            -(t.sent_between + t.received_between),
            -(t.sent + t.received), t.label))

    @property
    def elapsed(self):
        """Time of all ranks together, ns."""
        return sum(r.elapsed for r in self.ranks)

    @property
    def wall(self):
        """The run's time: that of its longest rank, ns."""
        return max((r.wall for r in self.ranks), default=0)

    @property
    def compute(self):
        """Time of all ranks together outside of MPI, ns."""
        return sum(r.compute for r in self.ranks)

    @property
    def share(self):
        """Communication's part of all ranks' time, 0 to 1."""
        elapsed = self.elapsed
        return self.communication.time / elapsed if elapsed else 0.0

    @property
    def crowded(self):
        """Whether ranks outnumber the processors of a node, and take them from
        each other."""
        return any(r.capture.node_ranks > r.capture.node_processors > 0
                   for r in self.ranks)

    @property
    def lost_share(self):
        """The part of the ranks' time in which they lacked a processor, beyond
        waits and I/O, 0 to 1; 0 where ranks are crowded, or the captures do not
        say what processor time they used."""
        ranks = [r for r in self.ranks if r.cpu]
        wall = sum(r.wall for r in ranks)
        if not wall or self.crowded:
            return 0.0
        return sum(r.lost for r in ranks) / wall

    @property
    def waiting_share(self):
        """Waiting's part of all ranks' time, 0 to 1."""
        elapsed = self.elapsed
        return self.communication.waiting / elapsed if elapsed else 0.0

    def regions(self):
        """[RegionTime, ...] in order of name; first what is outside of all.
        Empty when the program marks none."""
        names = sorted({g.name for r in self.ranks
                        for g in r.capture.regions[1:]})
        if not names:
            return []
        found = {name: RegionTime(name, name or OUTSIDE, 0, 0, 0, 0.0, 0)
                 for name in ["", *names]}
        for rank in self.ranks:
            wall = rank.capture.wall
            for g in rank.capture.regions[1:]:
                found[g.name].entered += g.entered
                found[g.name].time += g.time
                if "/" not in g.name:
                    wall -= g.time
            found[""].time += max(0, wall)
        for total in self.totals(("region", "class")):
            name, kind = total.key
            while True:
                one = found.get(name)
                if one and kind == procedures.IO:
                    one.io += total.time
                elif one:
                    one.communication += total.time
                    one.waiting += total.waiting
                    one.sent += total.sent
                    one.sent_between = None if None in (
                        one.sent_between, total.sent_between) \
                        else one.sent_between + total.sent_between
                if "/" not in name:
                    break
                name = name.rpartition("/")[0]
        return [r for r in found.values() if self.region is None
                or _within(r.name, self.region)]

    def matrix(self, kind=None):
        """{(from, to): Exchange} by ranks in MPI_COMM_WORLD.

        The senders' counts; for a missing rank, the counts of its receivers.
        `kind`: one of KINDS; None: all. Regions are not told apart.
        """
        if kind not in self._matrices:
            self._matrices[kind] = self._matrix(kind)
        return self._matrices[kind]

    def _matrix(self, kind):
        found = {}
        for pair, messages, size in self.exchanges(kind):
            before = found.get(pair)
            found[pair] = (messages, size) if before is None else (
                before[0] + messages, before[1] + size)
        return {pair: Exchange._make(one)
                for pair, one in sorted(found.items())}

    def exchanges(self, kind=None):
        """What `matrix` adds up: ((from, to), messages, bytes), a pair perhaps
        several times."""
        here = {r.rank for r in self.ranks}
        for rank in self.ranks:
            peers, me = rank.capture.table("peers"), rank.rank
            for which, peer, sent, sent_bytes, got, got_bytes in zip(
                    peers["kind"], peers["peer"], peers["sent_messages"],
                    peers["sent_bytes"], peers["received_messages"],
                    peers["received_bytes"]):
                if kind is not None and (which >= len(KINDS)
                                         or KINDS[which] != kind):
                    continue
                if sent or sent_bytes:
                    yield (me, peer), sent, sent_bytes
                # The target of a one-sided call does not see it.
                if (got or got_bytes) and (which == 1 or peer not in here):
                    yield (peer, me), got, got_bytes


def _within(name, region):
    return name == region or bool(region) and name.startswith(region + "/")


def load(path, region=None, only=None):
    """The Profile of a capture file, or of a part of it. UserError when it
    cannot be read or the part is empty."""
    return Profile(captures.read(path), region, only)
