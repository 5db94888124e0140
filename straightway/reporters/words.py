"""Words that reports share: the run, and how it ended."""

import collections
import os
import time

from straightway import units
from straightway.machine import slots
from straightway.profile import recorded
from straightway.ranges import ranges

NO_RECORDS = ("No MPI call was recorded between MPI_Init and MPI_Finalize: "
              "the program communicates by other means, or not at all.")
BUSY = 0.05     # of the time without a processor: the run is a poor measurement
_ENDS = {"abort": "called MPI_Abort",
         "exit": "exited without MPI_Finalize",
         "exec": "became another program without MPI_Finalize",
         "unknown": "ended in an unknown way"}


def program(job):
    return os.path.basename(job.program) or job.program or "program"


def command(job, whole=False):
    """The command line of the run; with the program's path, if `whole`.

    A script is both the program's name (src/profile/base/job.c) and an
    argument; the command line has it once.
    """
    name, arguments = program(job), job.arguments
    script = any(os.path.basename(a) == f"{name}.py" for a in arguments) or \
        any(pair == ("-m", name) for pair in zip(arguments, arguments[1:]))
    first = [] if script else [job.program if whole else name]
    return " ".join([*first, *arguments])


def commands(p, whole=False):
    """command() of a Profile's run; of several programs in one job their ranks
    and names, as a launcher takes them."""
    ranks = collections.Counter(program(r.capture.job) for r in p.ranks)
    if len(ranks) < 2:
        return command(p.job, whole)
    return " : ".join(f"-n {n} {name}" for name, n in ranks.items())


def mpi(job):
    """The MPI, without the details of its build."""
    return " ".join(job.mpi.partition(",")[0].split()) or "unknown MPI"


def began(job):
    """The local time of MPI_Init; "" where it is not known."""
    if not 0 < job.began < 1 << 40:
        return ""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(job.began))


def part(p):
    """The part of the capture that a Profile shows; "" for all of it."""
    said = []
    if p.region is not None:
        said.append(f"region {p.region or recorded.OUTSIDE}")
    if p.only is not None:
        said.append(f"ranks {ranges(p.only)} only")
    return "; ".join(said)


def crossing(p):
    """[(words, Exchange, part of all bytes)] of a Profile's Crossing."""
    found = p.crossing
    if not found or not found.total:
        return []
    rows, outer = [], None
    for level, one in found.rows:
        rows.append((f"between {slots.plural(level)}"
                     + (f" of a {slots.singular(outer)}" if outer else ""),
                     one))
        outer = level
    rows.append((f"inside a {slots.singular(outer)}", found.inside))
    if found.unknown.messages or found.unknown.bytes:
        rows.append(("not known", found.unknown))
    return [(text, one, one.bytes / found.total) for text, one in rows]


def places(p):
    """Sentences on what the capture does not tell of the ranks' places."""
    where, said = p.places, []
    if not where.shared:
        return said
    part = where.shared[-1]
    loose = ranges(rank for rank in where.loose
                   if where.paths[rank][0] not in where.dark)
    if loose:
        one = loose.count == 1
        said.append(f"{'Rank' if one else 'Ranks'} {loose} may run in several "
                    f"{slots.plural(part)}: the profile does not know what "
                    f"{'it sends' if one else 'they send'} across these.")
    if where.dark and where.levels != ("node",):
        names = [where.names[number] for number in sorted(where.dark)]
        said.append("The capture does not tell the places inside "
                    + ", ".join(names[:4])
                    + (" and other nodes" if len(names) > 4 else "") + ".")
    return said


def matched(p):
    """Sentences on the messages that Straightway has matched, in the whole
    run."""
    m = p.matched
    if not m.messages:
        return []
    early = units.share(m.early / m.messages)
    return [f"Straightway matched {units.plural(m.messages, 'message')} "
            f"inside nodes. {early} waited in memory for their receives; the "
            "others met a receive that was posted.",
            f"A rank had at most {units.plural(m.waiting_most, 'message')} "
            f"waiting, and {units.plural(m.posted_most, 'receive')} posted."]


def nameless(sites):
    """Sentences on call sites that have an address alone."""
    frames = [site.frames[0] for site in sites if site.frames]
    files = list(dict.fromkeys(
        os.path.basename(f.module) or "?" for f in frames
        if f.language == "native" and not f.function and not f.file))
    if not files:
        return []
    return [f"The files tell no name for addresses in {', '.join(files[:3])}"
            + (" and others" if len(files) > 3 else "")
            + ": without symbols nothing else is certain. Compile with -g, or "
            "install the package's debug symbols, and ask again."]


def warnings(p):
    """Sentences on everything that went wrong."""
    return _busy(p) + _endings(p) + _errors(p) + p.problems


def _busy(p):
    """A sentence on a machine that had other work."""
    if p.crowded:
        return ["Ranks outnumber the processors: waiting and moving include "
                "the time in which a rank had none."]
    if p.lost_share < BUSY:
        return []
    return [f"Outside of waits the ranks used no processor for "
            f"{units.share(p.lost_share)} of the time: the machine was busy "
            "with other programs, or the ranks slept or read files."]


def _errors(p):
    """Sentences on calls that failed."""
    failed = [t for t in p.totals("operation") if t.errors]
    if not failed:
        return []
    errors = sum(t.errors for t in failed)
    return [f"{units.plural(errors, 'call')} returned an error: "
            + ", ".join(f"{t.label} {units.number(t.errors)}"
                        for t in failed[:4])
            + (" and others" if len(failed) > 4 else "") + "."]


def _endings(p):
    """Sentences on ranks that did not reach MPI_Finalize, or left nothing."""
    said = []
    for end, found in p.ended_badly.items():
        word = "Rank" if found.count == 1 else "Ranks"
        said.append(f"{word} {found} {_ENDS.get(end, f'ended by {end}')}.")
    if p.missing:
        word = "rank" if p.missing.count == 1 else "ranks"
        said.append(f"{units.plural(p.missing.count, 'rank')} of "
                    f"{p.job.ranks} left nothing, as after SIGKILL: {word} "
                    f"{p.missing}.")
    return said
