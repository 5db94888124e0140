"""Traces made by hand, as docs/capture-format.md describes them.

    job = captures.Job(2)
    trace = Trace(job)
    send = trace.call(0, "MPI_Send", communicator=1)
    trace.event(0, send, gap=10, duration=90,
                notes=[amount(8, 8, 0), sends(1, 7, 1)])
    trace.write("some.swtrace")                 # as it is after a run
    trace.write_pieces("some")                  # as ranks leave it

`trace.time(rank, ticks)` is the time in ns that a report shows.
"""

import fractions
import math
import struct

from straightway import capture

from . import captures

BLOCK = 64              # events
(AMOUNT, SENDS, RECEIVES, POSTS, COLLECTIVE, STARTS, ENDS, CAME, WAITED,
 TARGET, MEANS) = range(1, 12)
_SIGNED = {SENDS: (0, 1), RECEIVES: (0, 1), POSTS: (0, 1), CAME: (1, 2),
           TARGET: (0,), MEANS: (1,)}


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def note(kind, *fields):
    signed = _SIGNED.get(kind, ())
    return varint(kind << 3 | len(fields)) + b"".join(
        varint((n << 1) ^ (n >> 63) if i in signed else n)
        for i, n in enumerate(fields))


def amount(size, sent, received):
    return note(AMOUNT, size, sent, received)


def sends(peer, tag, number, communicator=1):
    return note(SENDS, peer, tag, number, communicator)


def receives(peer, tag, number, communicator=1):
    return note(RECEIVES, peer, tag, number, communicator)


def posts(peer, tag, number=0, communicator=1):
    return note(POSTS, peer, tag, number, communicator)


def collective(number, communicator=1):
    return note(COLLECTIVE, number, communicator)


def starts(request):
    return note(STARTS, request)


def ends(request):
    return note(ENDS, request)


def came(request, peer, tag, number, size, communicator=1):
    return note(CAME, request, peer, tag, number, size, communicator)


def waited(ticks):
    return note(WAITED, ticks)


def event(record, gap, duration, notes=(), failed=False):
    head = record << 2 | bool(notes) << 1 | failed
    return b"".join([varint(head), varint(gap), varint(duration), *notes,
                     b"\0" if notes else b""])


def payload(events, thread=0, base=0, count=None, version=1):
    return struct.pack("<IIQII", version, thread, base,
                       len(events) if count is None else count, 0) + \
        b"".join(events)


def block(rank, events, **of):
    """A whole block's payload as a Block."""
    return capture.Block(b"TRAC", rank, payload(events, **of))


class Trace:
    """The traces of a captures.Job's ranks, whose `calls` it completes."""

    def __init__(self, job):
        self.job = job
        self.events = {}        # (rank, thread): [bytes]
        self.ticks = {}         # (rank, thread): at the end of the last
        self.base = {}
        for rank in job.ranks:
            start = rank.header["start"]
            rank.header.update(start_ticks=3 * start,
                               stop_ticks=3 * start + 3 * job.wall,
                               epoch=10 ** 18)

    def call(self, rank, procedure, thread=0, **of):
        """A record of calls; see captures.Rank.call."""
        rank = self.job.ranks[rank]
        rank.call(procedure, of.pop("calls", 1), of.pop("time", 1000),
                  thread=thread, **of)
        rank.rows[-1]["record"] = len(rank.rows)
        return len(rank.rows)

    def event(self, rank, record, gap=10, duration=100, notes=(),
              failed=False, thread=0):
        """Returns its (begin, end) in ticks."""
        key = rank, thread
        header = self.job.ranks[rank].header
        self.base.setdefault(key, header["start_ticks"])
        begin = self.ticks.get(key, self.base[key]) + gap
        self.ticks[key] = begin + duration
        self.events.setdefault(key, []).append(
            event(record, gap, duration, notes, failed))
        return begin, begin + duration

    def time(self, rank, ticks):
        """ns since the start of rank 0, of a run on one node."""
        header = self.job.ranks[rank].header
        line = fractions.Fraction(
            header["stop"] - header["start"],
            header["stop_ticks"] - header["start_ticks"])
        ns = line * (ticks - header["start_ticks"]) + header["start"]
        first = min(r.header["start"] for r in self.job.ranks)
        return math.floor(ns - first + fractions.Fraction(1, 2))

    def blocks(self, rank, size=BLOCK):
        for (number, thread), events in sorted(self.events.items()):
            if number != rank:
                continue
            base = self.base[number, thread]
            for i in range(0, len(events), size):
                some = events[i:i + size]
                yield block(rank, some, thread=thread, base=base)
                for one in some:
                    base += _length(one)

    def _ranks(self):
        return sorted({rank for rank, _ in self.events})

    def write(self, path, size=BLOCK):
        """The capture with its trace; returns the path."""
        capture.write(path, [*self.job.blocks(), *(
            b for rank in self._ranks() for b in self.blocks(rank, size))])
        return str(path)

    def write_pieces(self, stem, size=BLOCK):
        """STEM.swcap and the ranks' pieces; returns the capture's path."""
        for rank in self._ranks():
            capture.write(f"{stem}.rank{rank}.swtrace", self.blocks(rank, size))
        return self.job.write(f"{stem}.swcap")


def _length(data):
    """Ticks from the end of the event before to the end of this one."""
    numbers, at = [], 0
    while len(numbers) < 3:
        n = shift = 0
        while True:
            n |= (data[at] & 0x7f) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                break
        numbers.append(n)
    return numbers[1] + numbers[2]


def ring(ranks=4, steps=50, **job):
    """A ring: each rank sends to the next and receives from the one before,
    then all add up. Rank 0 comes late to each."""
    job = captures.Job(ranks, **job)
    trace = Trace(job)
    for rank in range(ranks):
        r = job.ranks[rank]
        left, right = (rank - 1) % ranks, (rank + 1) % ranks
        here = [r.native("/app/ring.c", 10, "pass_on")]
        isend = trace.call(rank, "MPI_Isend", communicator=r.world, size=800,
                           site=here, datatype="MPI_DOUBLE")
        recv = trace.call(rank, "MPI_Recv", communicator=r.world, size=800,
                          datatype="MPI_DOUBLE")
        wait = trace.call(rank, "MPI_Wait")
        add = trace.call(rank, "MPI_Allreduce", communicator=r.world, size=8,
                         datatype="MPI_DOUBLE", operation="MPI_SUM")
        for step in range(1, steps + 1):
            trace.event(rank, isend, 50, 31, [
                amount(800, 800, 0), sends(right, 5, step), starts(step)])
            trace.event(rank, recv, 7, 1001 + step, [
                amount(800, 0, 800), receives(left, 5, step), waited(500)])
            trace.event(rank, wait, 1, 13, [ends(step)])
            trace.event(rank, add, 2, 600, [
                amount(8, 8, 8), collective(step)]
                + ([waited(599)] if rank else []))
    return trace
