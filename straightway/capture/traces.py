"""Traces: every call of a job, in PROGRAM.RANKS.JOB.swtrace.

While the program runs, each rank writes a piece of its own. `gather` joins the
pieces behind the capture, so that the trace is also a capture. Before that,
reports use the pieces:

    found = capture.read("app.8.4711.swcap")
    for part in parts(found):
        print(part.path, part.ranks)

Invariant: `gather` removes a piece only when the file with all of them is on
the disk under its name.
"""

import collections
import glob
import os
import sys

from straightway import units
from straightway.capture import file as captures
from straightway.errors import UserError
from straightway.ranges import Ranges, ranges

ENDING = ".swtrace"
_WHY = {"limit": "it reached its limit",
        "disk": "the disk was full"}
_APART = 60     # s between the MPI_Init of two ranks, at most

Part = collections.namedtuple("Part", "path ranks size")
Part.__doc__ = "A file with the trace of `ranks`, {rank: Traced}."


def same_job(one, other):
    """Why two Ranks are not of one job, or None."""
    a, b = one.job, other.job
    if a.id != b.id:
        return f"job {a.id or '?'} and job {b.id or '?'}"
    if a.ranks != b.ranks:
        return f"{a.ranks} ranks and {b.ranks} ranks"
    if abs(a.began - b.began) > _APART:
        return "jobs that began at different times"
    return None


Gap = collections.namedtuple("Gap", "calls before after waited hidden")
Gap.__doc__ = """What a thread did beside the calls of a record: ns that it
computed `before` and `after` them, and `waited` in them. `hidden`: the sum of
the smaller of the last two, call by call."""


# Finding a trace -----------------------------------------------------------

def _stem(path):
    path = str(path)
    return path[:-6] if path.endswith(".swcap") else path


def trace_path(capture_path):
    return _stem(capture_path) + ENDING


def pieces(capture_path):
    """{rank: path} of the pieces that ranks have written."""
    stem, found = _stem(capture_path) + ".rank", {}
    for path in glob.iglob(glob.escape(stem) + "*" + ENDING):
        number = path[len(stem):-len(ENDING)]
        if number.isascii() and number.isdigit() and \
                str(int(number)) == number:
            found[int(number)] = path
    return dict(sorted(found.items()))


def _piece(rank, path):
    """The Part of a rank's piece. None where the file is no piece: it may be
    the trace of a job whose name ends in a number."""
    try:
        size = os.path.getsize(path)    # before the file is read
        if captures.is_bare(path):
            return Part(path, {}, size)
        found = captures.read(path, part=True)
    except OSError as error:
        _say(f"{path}: {error.strerror}")
        return None
    except UserError as error:
        _say(error)
        return None
    if found.ranks or rank not in found.traced:
        return None
    for problem in found.problems:
        _say(f"{path}: {problem}")
    return Part(path, {rank: found.traced[rank]}, size)


def _pieces(found):
    return [part for part in (
        _piece(rank, path) for rank, path in pieces(found.path).items()
        if rank < found.ranks[0].job.ranks) if part]


def _same_run(found, before):
    """Whether two Captures have ranks in common, not merely similar ones."""
    def marks(ranks):
        return {(r.number, r.pid, r.start, r.job.began) for r in ranks}

    return bool(marks(found.ranks) & marks(before.ranks))


def _gathered(found):
    """The Part from an earlier gathering, or None. UserError when another file
    has its name."""
    path = trace_path(found.path)
    if not os.path.exists(path):
        return None
    before = captures.read(path, part=True)
    if not before.ranks:
        raise UserError(f"{path} is a part of another trace, and has the "
                        "name of this one; rename it", 1)
    if not _same_run(found, before):
        return None     # of an earlier capture with this name
    return Part(path, before.traced, os.path.getsize(path))


def parts(found):
    """[Part, ...]: the files that hold the trace of a Capture, each rank in
    one of them. UserError when there is no trace."""
    if found.traced:
        return [Part(found.path, found.traced, os.path.getsize(found.path))]
    chosen = _choose(found, _pieces(found))
    if not chosen:
        raise UserError(f"{found.path} has no trace; profile again with "
                        "--trace", 1)
    return chosen


def _choose(found, there):
    """The Parts to use, of an earlier gathering and the present pieces."""
    chosen = {}
    gathered = _gathered(found)
    for part in [gathered, *there] if gathered else there:
        for rank, traced in part.ranks.items():
            # A piece may have grown since it was gathered.
            before = chosen.get(rank)
            if not before or before.ranks[rank].bytes < traced.bytes:
                chosen[rank] = part
    by_path = {}
    for rank, part in sorted(chosen.items()):
        one = by_path.setdefault(part.path, part._replace(ranks={}))
        one.ranks[rank] = part.ranks[rank]
    return list(by_path.values())


# Gathering -----------------------------------------------------------------

def _say(sentence):
    print(f"straightway: {sentence}", file=sys.stderr)


def of_ranks(numbers):
    """rank 2, ranks 0-3, 7"""
    found = numbers if isinstance(numbers, Ranges) else ranges(numbers)
    return f"rank{'s' * (found.count != 1)} {found}"


def stopped(found):
    """Sentences on traces that end before their ranks did."""
    why = {}
    for rank in found.ranks:
        if rank.trace and (rank.trace.lost or rank.trace.stopped):
            why.setdefault(rank.trace.stopped, []).append(rank)
    for reason, ranks in why.items():
        lost = sum(rank.trace.lost for rank in ranks)
        reason = _WHY.get(reason, reason)
        yield (f"the trace of {of_ranks(r.number for r in ranks)} ends early "
               f"and lacks {units.plural(lost, 'event')}"
               + (f": {reason}" if reason else ""))


def _blocks(chosen):
    for part in chosen:
        for block in captures.trace_blocks(part.path):
            if block.rank in part.ranks:
                yield block


def _remove(there):
    """Remove gathered pieces, but none that has grown since."""
    for piece in there:
        try:
            if os.path.getsize(piece.path) == piece.size:
                os.unlink(piece.path)
            else:
                _say(f"{piece.path} still grows, and stays")
        except OSError as error:
            _say(f"{piece.path}: {error.strerror}")


def gather(capture_path):
    """Join the pieces beside a capture into one trace, and print the result.
    UserError when that fails; then all pieces stay."""
    found = captures.read(capture_path)
    path = trace_path(capture_path)
    there = _pieces(found)
    chosen = _choose(found, there)
    blocks = captures.read_blocks(capture_path)[0]
    try:
        captures.write(path, (*blocks, *_blocks(chosen)))
    except UserError as error:
        raise UserError(
            f"{error}\n  The parts of the trace stay as they are: "
            f"{_stem(capture_path)}.rank*{ENDING}. Make room, then "
            f"straightway merge {path} {capture_path} "
            f"{_stem(capture_path)}.rank*{ENDING}", 1) from None
    _remove(there)
    ranks = {rank: traced for part in chosen
             for rank, traced in part.ranks.items()}
    events = sum(traced.events for traced in ranks.values())
    _say(f"wrote {path}: {units.size(os.path.getsize(path))}, "
         f"{units.plural(events, 'event')} of "
         f"{units.plural(len(ranks), 'rank')}")
    absent = ranges(ranks).gaps(found.ranks[0].job.ranks)
    if absent:
        _say(f"{of_ranks(absent)} left no trace")
    for sentence in stopped(found):
        _say(sentence)
    return path


# Time ----------------------------------------------------------------------

def gaps(found, rows):
    """{(rank, thread, record): Gap} of a Capture, from the rows of
    straightway-trace (src/trace/gaps.h)."""
    by_rank = {rank.number: rank for rank in found.ranks}
    made = {}
    for number, thread, record, calls, *ticks in rows:
        rank = by_rank.get(number)
        passed = rank.stop_ticks - rank.start_ticks if rank else 0
        if passed > 0:
            made[number, thread, record] = Gap(
                calls, *(n * rank.wall / passed for n in ticks))
    return made


def offsets(ranks):
    """{rank: ns}: the shift from a rank's times to those of the job, which
    begin at 0.

    Ranks of a node have one clock. The clocks of nodes differ by their
    "epoch". Where that is unknown, MPI_Init counts as ending on all nodes at
    once.
    """
    nodes = {}
    for rank in ranks:
        nodes.setdefault(rank.node_number, []).append(rank)
    first = nodes[ranks[0].node_number]

    def epoch(node):
        return next((rank.epoch for rank in node if rank.epoch), 0)

    def shift(node):
        if node is first:
            return 0
        if epoch(node) and epoch(first):
            return epoch(node) - epoch(first)
        return min(r.start for r in first) - min(r.start for r in node)

    shifts = {number: shift(node) for number, node in nodes.items()}
    begin = min(r.start + shifts[r.node_number] for r in ranks)
    return {r.number: shifts[r.node_number] - begin for r in ranks}
