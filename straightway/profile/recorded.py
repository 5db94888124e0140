"""The records of a profile: calls, the call sites and communicators that they
refer to, and totals over any grouping.

    for total in group(profile.records, "operation"):   # most time first
        print(total.label, total.calls, total.time, total.waiting)
        for one in group(total.records, "rank"):
            ...

Times are ns; sizes are bytes. `time` of a record or total is time in MPI.
`waiting` is the part of it before a partner had come, an estimate
(resolving.py), and `moving` the rest.
"""

import collections
import dataclasses
import os
import typing

from straightway.capture import procedures

OUTSIDE = "(outside)"       # the name of no region
UNKNOWN = "(unknown)"       # a call site that was not recorded


# Objects that records refer to --------------------------------------------

class Frame(typing.NamedTuple):
    """One level of a call stack. Unknown `function` and `file` are "", an
    unknown `line` is 0; `module` and `offset` then identify a native frame."""

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
    """A call site: frames from the caller of MPI outwards; none: not known."""

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
    showing: int            # of time: making buffers shared
    shown_again: int        # bytes: shared before, freed, and shared anew
    sent_between: typing.Optional[int]      # of sent: to other nodes; None:
    received_between: typing.Optional[int]  # the file does not say
    device_calls: int       # of calls: with data in the memory of a GPU
    device_sent: int        # bytes from there
    device_received: int    # bytes to there
    device_pieces: int      # of these bytes, those of types with gaps
    waiting: float          # estimate, see above
    buckets: tuple          # ((bucket, count), ...): durations
    record: int             # its number in the trace; 0: none
    side: int               # 1: Straightway's, of a run in turns; else 0

    @property
    def moving(self):
        return self.time - self.waiting

    @property
    def kind(self):
        """The procedure's class, one of procedures.CLASSES."""
        return procedures.class_of(self.procedure)


class Exchange(typing.NamedTuple):
    """What one rank sent to another."""

    messages: int
    bytes: int


class Total:
    """The sum over `records` with the same `key`."""

    __slots__ = ("key", "label", "records", "calls", "errors", "time",
                 "min_time", "max_time", "sent", "received", "min_size",
                 "max_size", "probed", "waited", "waiting", "showing",
                 "shown_again", "sized_calls", "sent_between",
                 "received_between", "device_calls", "device_sent",
                 "device_received", "device_pieces")

    def __init__(self, key, label, records):
        self.key, self.label, self.records = key, label, records
        # Column by column, because profiles have many records.
        columns = dict(zip(Record._fields, zip(*records)))
        for name in ("calls", "errors", "time", "sent", "received", "probed",
                     "waited", "waiting", "showing", "shown_again",
                     "device_calls", "device_sent", "device_received",
                     "device_pieces"):
            setattr(self, name, sum(columns.get(name, ())))
        for name in ("sent_between", "received_between"):
            column = columns.get(name, ())
            setattr(self, name, None if None in column else sum(column))
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
    shift, unit = next((shift, unit) for shift, unit in (
        (50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB"),
        (0, "B")) if low >> shift)
    low >>= shift
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
    """Totals of records, most time first. `by` is one of GROUPINGS, or a tuple
    of several. With a tuple a total's key is also a tuple, and its label joins
    theirs with ", "."""
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
