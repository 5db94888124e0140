"""From the tables of a capture, whose rows hold indices, to records.

Equal call sites, communicators and so on of different ranks become the same
object. This module also estimates the waiting of each record, so that totals
add up: it scales the waiting of the calls that the recorder looked at to the
time of all. A record without such a call takes the ratio of its procedure on
its rank, else of its procedure on all ranks, else 0.
"""

import os

from straightway import capture as captures
from straightway.profile.recorded import Communicator, Frame, Record, Site


def _at(entries, index, otherwise):
    return entries[index] if 0 < index < len(entries) else otherwise


def _of_program(frames):
    """The frames without those of mpi4py that carry out a call from Python:
    the line of Python is the caller of MPI."""
    first = next((i for i, f in enumerate(frames)
                  if "/mpi4py/" not in f.module), 0)
    return tuple(frames[first if frames[first].language == "Python"
                        else 0:])


_NO_LINE, _NO_MODULE = captures.Line("?", "", 0), captures.Module("?", "")


class Shared:
    """Turns equal things of different ranks into the same object."""

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
        # Communicators without an id compare by their other properties.
        key = c.id if c.id != "0" else (c.name, c.size, c.remote_size)
        known = self.communicators.get(key)
        if known is None:
            known = self.communicators[key] = Communicator(
                c.id, c.name, c.size, c.remote_size, c.members)
        known.name = known.name or c.name
        return known

    def label_communicators(self):
        """Label each by its name; of those with one name also by as much of
        its id as tells them apart."""
        names = {}
        for c in self.communicators.values():
            names.setdefault(c.name, []).append(c)
            c.label = c.name or f"communicator {c.id}"
        for name, those in names.items():
            if name and len(those) > 1:
                length = _telling(c.id for c in those)
                for c in those:
                    c.label += f" #{c.id[:length]}"


def _telling(ids):
    """How many first digits tell ids apart; 4 at least."""
    ids = sorted(set(ids))
    return max([4] + [1 + len(os.path.commonprefix(pair))
                      for pair in zip(ids, ids[1:])])


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
    """The columns of a rank's Records by name, except their waiting."""
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
    for name in ("sent_between", "received_between"):
        if name not in calls.names:
            # All ranks on one node: nothing goes between nodes.
            alone = rank.node_ranks >= rank.job.ranks
            columns[name] = [0 if alone else None] * count
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


def records(ranks, shared):
    all_columns = [_columns(rank, shared) for rank in ranks]
    found = []
    for columns, waiting in zip(all_columns, _waiting(all_columns)):
        columns["waiting"] = waiting
        found += map(Record, *(columns[name] for name in Record._fields))
    return found
