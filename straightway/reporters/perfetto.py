"""A trace for the Perfetto UI.

straightway-trace walks through the events. This module writes the names that
it needs, in the form of src/trace/names.h.
"""

import contextlib
import os

from straightway import files, native, units
from straightway.capture import procedures, traces
from straightway.errors import UserError


class _Strings:
    """Texts by number, in the order of their first use."""

    def __init__(self, lines):
        self.lines, self.numbers = lines, {}

    def __getitem__(self, text):
        number = self.numbers.get(text)
        if number is None:
            number = self.numbers[text] = len(self.numbers) + 1
            self.lines.append(f"string\t{text}")
        return number


def _details(record, strings):
    """The properties that all calls of a record share."""
    told = {"communicator": record.communicator and record.communicator.label,
            "call site": record.site.frames and record.site.label,
            "datatype": record.datatype, "reduction": record.operation,
            "region": record.region}
    for name, text in told.items():
        if text:
            yield f"{strings[name]}:{strings[text]}"
    if record.root is not None:
        yield f"{strings['root']}={record.root}"


def _call(record, strings):
    return "\t".join([
        "call", str(record.record), str(strings[record.procedure]),
        str(strings[procedures.class_of(record.procedure)]),
        *_details(record, strings)])


def names(p, parts):
    """The names that straightway-trace needs, from a Profile and the parts of
    its trace."""
    lines, calls = [], {}
    strings = _Strings(lines)
    offsets = traces.offsets(p.capture.ranks)
    files = {rank: i for i, part in enumerate(parts) for rank in part.ranks}
    for record in p.records:
        if record.record:
            calls.setdefault(record.rank, {}).setdefault(
                record.thread, []).append(_call(record, strings))
    for rank in [time.capture for time in p.ranks]:
        if rank.number not in files:
            continue
        ticks = rank.stop_ticks - rank.start_ticks
        lines.append("\t".join(map(str, (
            "rank", rank.number, files[rank.number], rank.start_ticks,
            max(0, ticks), rank.wall, rank.start + offsets[rank.number],
            f"rank {rank.number}",
            f"{rank.node}, process {rank.pid}"))))
        lines += [f"communicator\t{communicator.id}"
                  for communicator in rank.communicators[1:]]
        for thread, of_thread in sorted(calls.get(rank.number, {}).items()):
            lines.append(f"thread\t{thread}\tthread {thread}")
            lines += of_thread
    return "".join(line + "\n" for line in lines).encode()


def _run(p, parts, draft, out):
    try:
        return native.answer(native.trace_executable(), [
            "perfetto", draft, *(part.path for part in parts)],
            names(p, parts))
    except UserError as error:
        raise UserError(str(error).replace(draft, out), 1) from None


def _damage(path, found):
    count = found["damaged"]
    verb, whose = ("is", "its") if count == 1 else ("are", "their")
    what = "cut short or damaged" if found["cut"] else "damaged"
    return (f"{path}: {units.plural(count, 'block')} of the trace {verb} "
            f"{what}, and {whose} events are left out")


def _problems(p, parts, result):
    """Sentences on what the output lacks."""
    there = {rank for part in parts for rank in part.ranks}
    absent = {r.rank for r in p.ranks} - there
    if absent:
        yield f"{traces.of_ranks(absent)} left no trace"
    unnamed = there - {r.number for r in p.capture.ranks}
    if unnamed:
        yield (f"the trace of {traces.of_ranks(unnamed)} is left out: it has "
               "no capture")
    for part, found in zip(parts, result["files"]):
        if found["damaged"]:
            yield _damage(part.path, found)
    if result["unnamed"]:
        yield (f"the capture does not name the calls of "
               f"{units.plural(result['unnamed'], 'event')}")


def render(p, out):
    """Write the trace of a Profile to the path `out`. Return (events,
    sentences on what is missing). UserError without a trace, or when writing
    fails."""
    parts = traces.parts(p.capture)
    try:
        draft = files.draft(out)
        try:
            result = _run(p, parts, draft, out)
            os.replace(draft, out)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(draft)
    except OSError as error:
        raise UserError(f"{out}: {error.strerror}", 1) from None
    return result["events"], [*_problems(p, parts, result),
                              *traces.stopped(p.capture)]
