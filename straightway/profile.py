"""The model of a profile: what the ranks of a job did, over any grouping.

A Profile is made of a Capture, or of a part of it (one region, some ranks).
Its `records` are the rows of all ranks' calls with their indices resolved, so
that equal call sites, communicators and so on of different ranks are the same
object. Totals over records are made by `group`:

    profile = load("app.8.4711.swcap")
    for total in profile.totals("operation"):   # most time first
        print(total.label, total.calls, total.time, total.waiting)
        for one in group(total.records, "rank"):
            ...

Times are ns; sizes are bytes. `time` of a record or total is time in MPI,
`waiting` the part of it in which a partner had not yet come, an estimate, and
`moving` the rest. The estimate is made for each record, and totals add up:
so all views of a profile agree. A record none of whose calls was looked at
takes the ratio of its procedure on its rank, else of its procedure anywhere,
else it waits for nobody.

Communication is all of MPI but I/O (MPI_File_*). A rank computes where it
neither communicates nor does I/O. A rank of several threads that call MPI has
as much time as all of them together.
"""

import collections
import dataclasses
import functools
import os
import typing

from straightway import capture as captures
from straightway import procedures
from straightway.errors import UserError

OUTSIDE = "(outside)"       # the name of no region
UNKNOWN = "(unknown)"       # a call site that was not recorded


# What records point to ----------------------------------------------------

class Frame(typing.NamedTuple):
    """One level of a call stack. `function`, `file` are "" and `line` is 0
    where not known; `module` and `offset` tell a native frame then."""

    language: str           # "native" or "Python"
    function: str
    file: str               # whole path
    line: int
    module: str             # whole path
    offset: int

    @property
    def place(self):
        """halo.c:42, or app+0x12ab"""
        if self.file:
            name = os.path.basename(self.file) or self.file
            return f"{name}:{self.line}" if self.line else name
        module = os.path.basename(self.module) or self.module or "?"
        return f"{module}+0x{self.offset:x}"

    @property
    def label(self):
        """exchange (halo.c:42)"""
        return f"{self.function} ({self.place})" if self.function \
            else self.place


class Site(typing.NamedTuple):
    """A call site: frames from what calls MPI outwards; none: not known."""

    frames: tuple

    @property
    def label(self):
        return self.frames[0].label if self.frames else UNKNOWN

    @property
    def place(self):
        return self.frames[0].place if self.frames else UNKNOWN

    @property
    def stack(self):
        """exchange (halo.c:42) < step (main.c:7)"""
        return " < ".join(f.label for f in self.frames) or UNKNOWN


@dataclasses.dataclass(eq=False)
class Communicator:
    """A communicator on all its members. `members` are ranges of ranks in
    MPI_COMM_WORLD, or None where not known."""

    id: str                 # hexadecimal; "0": could not be told
    name: str
    size: int
    remote_size: int        # of an intercommunicator, else 0
    members: typing.Optional[list]
    label: str = ""

    def world_rank(self, rank):
        """The rank in MPI_COMM_WORLD of a member, or None."""
        for first, last in self.members or ():
            if rank <= last - first:
                return first + rank
            rank -= last - first + 1
        return None


class Record(typing.NamedTuple):
    """Calls of one rank that are alike. See docs/capture-format.md."""

    rank: int
    thread: int
    procedure: str          # "MPI_Allreduce"
    site: Site
    communicator: typing.Optional[Communicator]
    datatype: str           # "" where there is none
    operation: str          # "MPI_SUM", or ""
    region: str             # innermost, "outer/inner"; "" outside of all
    size_bin: int
    root: typing.Optional[int]  # in the communicator
    calls: int
    errors: int
    time: int
    min_time: int
    max_time: int
    sent: int
    received: int
    min_size: int
    max_size: int
    probed: int
    waited: int
    waiting: float          # estimate, see above
    buckets: tuple          # ((bucket, count), ...): durations
    record: int             # its number in the trace; 0: none

    @property
    def moving(self):
        return self.time - self.waiting

    @property
    def kind(self):
        """The procedure's class, one of procedures.CLASSES."""
        return procedures.class_of(self.procedure)


class Total:
    """The sum over `records`, those that are alike in `key`."""

    __slots__ = ("key", "label", "records", "calls", "errors", "time",
                 "min_time", "max_time", "sent", "received", "min_size",
                 "max_size", "probed", "waited", "waiting", "sized_calls")

    def __init__(self, key, label, records):
        self.key, self.label, self.records = key, label, records
        # Column by column: profiles have many records.
        columns = dict(zip(Record._fields, zip(*records)))
        for name in ("calls", "errors", "time", "sent", "received", "probed",
                     "waited", "waiting"):
            setattr(self, name, sum(columns.get(name, ())))
        self.max_time = max(columns.get("max_time", ()), default=0)
        self.min_time = min((r.min_time for r in records if r.calls),
                            default=0)
        self.sized_calls = self.min_size = self.max_size = 0
        if any(columns.get("size_bin", ())):
            sized = [r for r in records if r.size_bin]
            self.sized_calls = sum(r.calls for r in sized)
            self.min_size = min(r.min_size for r in sized)
            self.max_size = max(r.max_size for r in sized)

    @property
    def moving(self):
        return self.time - self.waiting

    @property
    def mean_time(self):
        return self.time / self.calls if self.calls else 0.0

    @property
    def ranks(self):
        """The ranks that took part, sorted."""
        return sorted({r.rank for r in self.records})

    @property
    def procedures(self):
        """Names of the procedures called, most time first."""
        times = collections.Counter()
        for r in self.records:
            times[r.procedure] += r.time
        return [name for name, _ in times.most_common()]

    def histogram(self):
        """{bucket: calls}, sorted: 2^bucket <= ns < 2^(bucket+1)"""
        return histogram(self.records)


def histogram(records):
    """{bucket: calls} of durations: 2^bucket <= ns < 2^(bucket+1)"""
    found = collections.Counter()
    for record in records:
        for bucket, count in record.buckets:
            found[bucket] += count
    return dict(sorted(found.items()))


# Groupings ----------------------------------------------------------------

def size_range(size_bin):
    """(smallest, largest) size in bytes of a bin; (0, 0) of bin 0."""
    if not size_bin:
        return 0, 0
    return 1 << size_bin - 1, (1 << size_bin) - 1


def size_label(size_bin):
    """"no data", "1 B", "4-7 KiB" """
    if not size_bin:
        return "no data"
    low = 1 << size_bin - 1
    for shift, unit in ((50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"),
                        (10, "KiB"), (0, "B")):
        if low >> shift:
            low >>= shift
            break
    high = 2 * low if shift else 2 * low - 1
    return f"{low} {unit}" if high == low else f"{low}-{high} {unit}"


# name: (key of a record, label of a key)
_KEYS = {
    "operation": (lambda r: r.procedure, str),
    "class": (lambda r: procedures.class_of(r.procedure), str),
    "site": (lambda r: r.site, lambda s: s.label),
    "communicator": (lambda r: r.communicator,
                     lambda c: c.label if c else "(none)"),
    "region": (lambda r: r.region, lambda name: name or OUTSIDE),
    "rank": (lambda r: r.rank, str),
    "thread": (lambda r: r.thread, str),
    "size": (lambda r: r.size_bin, size_label),
    "datatype": (lambda r: r.datatype, lambda name: name or "(none)"),
    "reduction": (lambda r: r.operation, lambda name: name or "(none)"),
    "root": (lambda r: r.root,
             lambda root: "(none)" if root is None else str(root)),
}
GROUPINGS = tuple(_KEYS)


def group(records, by):
    """Totals of records, most time first. `by`: one of GROUPINGS, or several
    in a tuple: then a total's key is a tuple, too, and its label joins theirs
    with ", "."""
    found = {}
    if isinstance(by, str):
        key, label = _KEYS[by]
        for record in records:
            found.setdefault(key(record), []).append(record)
    else:
        keys, labels = zip(*(_KEYS[name] for name in by))

        def label(parts):
            return ", ".join(f(part) for f, part in zip(labels, parts))

        for record in records:
            found.setdefault(tuple([key(record) for key in keys]),
                             []).append(record)
    totals = [Total(key, label(key), rows) for key, rows in found.items()]
    totals.sort(key=lambda t: (-t.time, -t.calls, t.label))
    return totals


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
    """A region over all ranks; with all regions within it."""

    name: str               # "outer/inner"; "" is outside of all
    label: str
    entered: int            # times, over all ranks
    time: int               # ns within, over all ranks
    communication: int
    waiting: float
    io: int

    @property
    def share(self):
        return self.communication / self.time if self.time else 0.0


class Exchange(typing.NamedTuple):
    """What one rank sent to another."""

    messages: int
    bytes: int


KINDS = ("messages", "one-sided", "collective")     # of the matrix


class Ranges(list):
    """Ranges of numbers, [(first, last), ...]."""

    @property
    def count(self):
        return sum(last - first + 1 for first, last in self)

    def __str__(self):
        """0-3, 7"""
        return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in self)


def ranges(numbers):
    """The Ranges of some numbers."""
    found = Ranges()
    for n in sorted(set(numbers)):
        if found and found[-1][1] == n - 1:
            found[-1] = (found[-1][0], n)
        else:
            found.append((n, n))
    return found


# Resolving ----------------------------------------------------------------

def _at(entries, index, otherwise):
    return entries[index] if 0 < index < len(entries) else otherwise


def _of_program(frames):
    """The frames without those of mpi4py that carry out a call of Python's:
    the line of Python is what calls MPI."""
    first = next((i for i, f in enumerate(frames)
                  if "/mpi4py/" not in f.module), 0)
    return tuple(frames[first if frames[first].language == "Python"
                        else 0:])


_NO_LINE, _NO_MODULE = captures.Line("?", "", 0), captures.Module("?", "")


class _Shared:
    """Makes equal things of different ranks the same object."""

    def __init__(self, symbols):
        self.symbols = symbols
        self.known, self.frames, self.sites = {}, {}, {}
        self.communicators = {}
        self.nowhere = Site(())

    def frame(self, rank, language, place, offset):
        if language == 1:
            entry, offset = _at(rank.python, place, _NO_LINE), 0
        else:
            entry = _at(rank.modules, place, _NO_MODULE)
        key = language, entry, offset
        found = self.known.get(key)
        if found is None:
            found = self._frame(entry, offset)
            found = self.known[key] = self.frames.setdefault(found, found)
        return found

    def _frame(self, entry, offset):
        if isinstance(entry, captures.Line):
            return Frame("Python", entry.function, entry.file, entry.line,
                         "", 0)
        symbol = self.symbols.get((*entry, offset)) or \
            captures.Symbol("", "", 0)
        # Two calls of one line are one site, where the line is known.
        told = symbol.function and symbol.file and symbol.line
        return Frame("native", *symbol, entry.path, 0 if told else offset)

    def sites_of(self, rank):
        """{site number: Site} of a rank"""
        table = rank.table("frames")
        frames = [self.frame(rank, *row) for row in zip(
            table["language"], table["place"], table["offset"])]
        table = rank.table("stacks")
        stacks = {}
        for site, depth, frame in zip(table["site"], table["depth"],
                                      table["frame"]):
            if frame < len(frames):
                stacks.setdefault(site, []).append((depth, frame))
        sites = {}
        for number, stack in stacks.items():
            stack.sort()
            site = Site(_of_program([frames[frame] for _, frame in stack]))
            sites[number] = self.sites.setdefault(site, site)
        return sites

    def communicator(self, c):
        # Those that could not be told apart: by what is known of them.
        key = c.id if c.id != "0" else (c.name, c.size, c.remote_size)
        known = self.communicators.get(key)
        if known is None:
            known = self.communicators[key] = Communicator(
                c.id, c.name, c.size, c.remote_size, c.members)
        known.name = known.name or c.name
        return known

    def label_communicators(self):
        names = collections.Counter(c.name for c in
                                    self.communicators.values())
        for number, c in enumerate(self.communicators.values()):
            c.label = c.name or f"communicator {c.id}"
            if c.name and names[c.name] > 1:
                c.label += f" #{c.id}"


def _buckets(rank, rows):
    """[((bucket, count), ...), ...] of the rows of a rank's calls"""
    found = [()] * rows
    table = rank.table("times")
    for record, bucket, count in zip(table["record"], table["bucket"],
                                     table["count"]):
        if record < rows and bucket < 64 and count:
            found[record] += ((bucket, count),)
    return found


def _columns(rank, shared):
    """The columns of a rank's Records by name, but for their waiting."""
    calls = rank.table("calls")
    sites = shared.sites_of(rank)
    communicators = [None] + [shared.communicator(c)
                              for c in rank.communicators[1:]]
    lists = {"procedure": (rank.procedures, "(unknown procedure)"),
             "communicator": (communicators, None),
             "datatype": ([d.name if d else "" for d in rank.datatypes], ""),
             "operation": (rank.operations, ""),
             "region": ([r.name for r in rank.regions], "")}
    count = len(calls)
    columns = {name: calls[name] for name in Record._fields}
    for name, (entries, otherwise) in lists.items():
        size = len(entries)
        columns[name] = [entries[i] if 0 < i < size else otherwise
                         for i in calls[name]]
    columns["rank"] = [rank.number] * count
    columns["site"] = [sites.get(i, shared.nowhere) for i in calls["site"]]
    columns["size_bin"] = [min(b, 64) for b in calls["size_bin"]]
    columns["root"] = [root - 1 if root else None for root in calls["root"]]
    columns["buckets"] = _buckets(rank, count)
    return columns


def _waiting(all_columns):
    """The waiting of each rank's rows, a list for each."""
    anywhere, ranks = {}, []
    for columns in all_columns:
        here = {}
        ranks.append(here)
        for procedure, waited, probed in zip(
                columns["procedure"], columns["waited"], columns["probed"]):
            if probed:
                for sums in (here, anywhere):
                    before = sums.get(procedure, (0, 0))
                    sums[procedure] = before[0] + waited, before[1] + probed
    for columns, here in zip(all_columns, ranks):
        found = []
        for procedure, time, waited, probed in zip(
                columns["procedure"], columns["time"], columns["waited"],
                columns["probed"]):
            if not probed:
                waited, probed = here.get(procedure) or \
                    anywhere.get(procedure) or (0, 1)
            found.append(min(time * waited / probed, float(time)))
        yield found


def _records(ranks, shared):
    all_columns = [_columns(rank, shared) for rank in ranks]
    records = []
    for columns, waiting in zip(all_columns, _waiting(all_columns)):
        columns["waiting"] = waiting
        records += map(Record, *(columns[name] for name in Record._fields))
    return records


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
    """

    def __init__(self, capture, region=None, only=None):
        self.capture, self.region, self.only = capture, region, only
        self.job = capture.ranks[0].job
        self.problems = list(capture.problems)
        chosen = [r for r in capture.ranks if only is None
                  or r.number in only]
        if not chosen:
            raise UserError(f"{capture.path} has none of these ranks; it "
                            f"has {self._present()}")
        shared = _Shared(capture.symbols)
        records = _records(chosen, shared)
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
        self._totals = {}

    def _present(self):
        return str(ranges(r.number for r in self.capture.ranks))

    def _check_region(self, chosen, region):
        names = sorted({g.name for r in chosen for g in r.regions[1:]})
        if region and region not in names:
            there = ", ".join(names[:8]) or "no region at all"
            raise UserError(f"no region {region} in {self.capture.path}; "
                            f"there is {there}")

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
        missing, at = Ranges(), 0
        for rank in self.capture.ranks:
            if rank.number >= self.job.ranks:
                break
            if rank.number > at:
                missing.append((at, rank.number - 1))
            at = rank.number + 1
        if at < self.job.ranks:
            missing.append((at, self.job.ranks - 1))
        return missing

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
                f"{folded:,} calls are counted without their call site: "
                "there were too many different ones.")

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
                if "/" not in name:
                    break
                name = name.rpartition("/")[0]
        return [r for r in found.values() if self.region is None
                or _within(r.name, self.region)]

    def matrix(self, kind=None):
        """{(from, to): Exchange} by ranks in MPI_COMM_WORLD. As the senders
        tell it; what a rank that is missing sent, as its receivers do.
        `kind`: one of KINDS; None: all. Regions are not told apart."""
        here = {r.rank for r in self.ranks}
        found = {}

        def add(sender, receiver, messages, size):
            before = found.get((sender, receiver), (0, 0))
            found[sender, receiver] = Exchange(before[0] + messages,
                                               before[1] + size)

        for rank in self.ranks:
            peers = rank.capture.table("peers")
            for which, peer, sent, sent_bytes, got, got_bytes in zip(
                    peers["kind"], peers["peer"], peers["sent_messages"],
                    peers["sent_bytes"], peers["received_messages"],
                    peers["received_bytes"]):
                if kind is not None and (which >= len(KINDS)
                                         or KINDS[which] != kind):
                    continue
                # A target of one-sided calls knows nothing of them.
                told = peer in here and which != 1
                if sent or sent_bytes:
                    add(rank.rank, peer, sent, sent_bytes)
                if (got or got_bytes) and not told:
                    add(peer, rank.rank, got, got_bytes)
        return dict(sorted(found.items()))


def _within(name, region):
    return name == region or bool(region) and name.startswith(region + "/")


def load(path, region=None, only=None):
    """The Profile of a capture file, or of a part of it. UserError when it
    cannot be read or the part is empty."""
    return Profile(captures.read(path), region, only)
