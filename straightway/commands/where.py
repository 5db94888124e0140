"""straightway where: what each rank of a running job waits for."""

import contextlib
import dataclasses
import gc
import os
import platform
import sys
import time

from straightway import native
from straightway.errors import UserError
from straightway.where import (launched, model, needs, places, reader, saved,
                               table, together, verdict)

_LINES = 10             # messages, and receives, of a report


@dataclasses.dataclass
class Report:
    """What reporters show of a job."""

    job: model.Job
    view: needs.View
    findings: list
    rows: list
    messages: list
    receives: list
    receive_count: int
    hints: list
    readings: list


class Where:
    """Show where the ranks of a running job are, and what they wait for.

      straightway where                     the job that runs here
      straightway where 4711                the job of a process: a rank, or
                                            the mpirun above it
      straightway where --watch             again every 2 seconds

    The first line is the verdict: the likely cause, and the rank apart. The
    table has the MPI call and the line of each rank. Below it stand messages
    that no receive takes, and receives that no message meets.

    The job must have started with `straightway run` or `profile`. Of another
    job gdb tells the stacks, if a process is named.

    A node shows its own ranks. For several nodes, one process on each:

      mpirun -ppn 1 -n NODES straightway where          MPICH, Intel MPI
      mpirun --map-by node -n NODES straightway where   Open MPI
    """

    name = "where"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("what", metavar="JOB|PID|FILE", nargs="*", help=(
            "a job's name, a process, or files that --json has written"))
        add("--watch", metavar="SECONDS", nargs="?", type=_seconds, const=2.0,
            help="show it again every so many seconds [2]")
        add("--json", action="store_true",
            help="in the form of where.schema.json")
        add("--out", metavar="FILE", help=(
            "where --json goes [stdout]; %%h becomes the node's name"))
        add("--no-sample", dest="sample", action="store_false", help=(
            "no stacks of code outside of MPI, which stop a process for some "
            "microseconds"))

    @staticmethod
    def run(options):
        if options.watch is not None and options.json:
            raise UserError("--json writes one report: omit --watch")
        if options.out and not options.json:
            raise UserError("--out belongs to --json")
        files = [w for w in options.what if _is_file(w)]
        if files and len(files) == len(options.what):
            with _without_collector():
                return _show(_of_files(files), options)
        if len(options.what) > 1:
            raise UserError("give one job or process, or files of --json; "
                            f"there is no file {_first_other(options.what)}")
        word = options.what[0] if options.what else None
        if options.watch is not None:
            return _watch(word, options)
        part = together.part(word or "")
        # Files by the node's name are for the user to put together.
        several = part and "%h" not in (options.out or "")
        with _without_collector():
            if several:
                return _one_of_several(part, word, options)
            return _show(_here(word, options, places.Names()), options)


def _seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1e6:
        raise UserError(f"--watch {text}: give seconds, more than 0; a job "
                        "comes before --watch")
    return value


def _is_file(word):
    return not word.isdecimal() and os.path.isfile(word)


def _first_other(words):
    return next((w for w in words if not _is_file(w)), words[0])


@contextlib.contextmanager
def _without_collector():
    """Switch the garbage collector off: a report has many objects, and none
    that could go before its end."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


# Which job ------------------------------------------------------------------

def _lines(jobs):
    """A line for each job: how to name it, and what it is."""
    rows = [(job.id, job.program, f"{job.size} ranks",
             f"pid {job.first.pid}", f"{job.age:.0f} s") for job in jobs]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  " + "  ".join(
        cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
        for row in rows)


def _several(jobs, why):
    jobs = sorted(jobs, key=lambda job: job.age)
    return UserError(f"{why}; name one, as in straightway where "
                     f"{jobs[0].id}\n{_lines(jobs)}")


def _of_pid(jobs, pid, process_table):
    """The jobs with a rank at or below a process."""
    under = set(launched.below(pid, process_table))
    return [job for job in jobs if any(
        rank.pid in under for rank in job.ranks.values())]


def _named(jobs, word):
    """The jobs that a word names: by name, its beginning, or its program."""
    for fits in (lambda job: job.id == word,
                 lambda job: job.id.startswith(word),
                 lambda job: os.path.basename(job.program) == word):
        found = [job for job in jobs if fits(job)]
        if found:
            return found
    return []


def _choose(jobs, word):
    """The job that a user means; None for a process without Straightway."""
    jobs = list(jobs)
    if word is None:
        if not jobs:
            raise UserError(
                "no MPI job of yours runs here with Straightway\n"
                "  started without Straightway? `straightway where PID` asks "
                "gdb\n"
                "  on another node? call straightway where there")
        if len(jobs) > 1:
            raise _several(jobs, f"{len(jobs)} jobs run here")
        return jobs[0]
    found = [job for job in jobs if job.id == word]
    if not found and word.isdecimal() and launched.stat(int(word)):
        found = _of_pid(jobs, int(word), launched.processes())
        if not found:
            return None
    found = found or _named(jobs, word)
    if len(found) > 1:
        raise _several(found, f"{word} means {len(found)} jobs")
    if not found:
        what = "process" if word.isdecimal() else "job"
        raise UserError(f"there is no {what} {word} here" + (
            f"; these run:\n{_lines(jobs)}" if jobs else
            ", and no MPI job of yours with Straightway"))
    return found[0]


# Reports --------------------------------------------------------------------

def _report(job, readings, names):
    view = needs.look(job)
    places.name(job, names)
    receives, count = table.receives(view, names, _LINES)
    return Report(job, view, verdict.findings(view), table.rows(view),
                  table.messages(view), receives, count, verdict.hints(view),
                  readings)


def _here(word, options, names):
    """The Report of a job on this node; the processes (plain.Process) of one
    without Straightway."""
    found = _look(word, options)
    return found if isinstance(found, list) else _report(*found, names)


def _look(word, options):
    """(Job, its readings) on this node; the processes (plain.Process) of one
    without Straightway."""
    if not os.path.exists(native.where_executable()):
        raise UserError("a part of straightway is missing: "
                        f"{native.where_executable()}\n"
                        "  reinstall straightway", 1)
    first, began = reader.quick()
    job = _choose(model.jobs([first], False).values(), word)
    if job is None:
        return _without(int(word))
    pids = [rank.pid for rank in job.ranks.values()]
    _warm()
    reading = reader.full(pids, first, began, options.sample)
    found = model.jobs([reading])
    if not found:
        raise UserError(f"the job {job.id} has ended meanwhile", 1)
    # A job gets its name when its ranks leave MPI_Init: perhaps just now.
    now = found.get(job.id) or max(found.values(), key=lambda j: len(j.ranks))
    return now, [reading]


def _warm():
    """Load the reporter while the second look must wait anyway."""
    from straightway.reporters import where_terminal
    return where_terminal


def _of_files(paths):
    return _of_readings(saved.read(paths), "files")


def _of_readings(readings, what):
    jobs = model.jobs(readings)
    if not jobs:
        raise UserError(f"the {what} have no process of a job")
    if len(jobs) > 1:
        raise _several(jobs.values(), f"the {what} have {len(jobs)} jobs")
    job = next(iter(jobs.values()))
    return _report(job, readings, places.Names())


def _one_of_several(part, word, options):
    """Show the job of all nodes, where a launcher has started this command on
    each: process 0 does it for the others."""
    found, error = None, None
    try:
        found = _look(word, options)
    except UserError as why:
        error = why
    if isinstance(found, list):
        return _show(found, options)
    readings = found[1] if found else []
    if part.number == 0:
        return _show(_of_all(part, readings, error), options)
    told = {"node": platform.node(), "error": error and str(error),
            "part": saved.part(readings)}
    if together.hand(part, told):
        return 0
    if error:
        raise error
    return _show(_report(*found, places.Names()), options)


def _of_all(part, readings, error):
    """The Report of this process's readings and those of the others."""
    told = together.take(part).values()
    theirs = [one for message in told
              for one in saved.readings(message["node"], message["part"])]
    every = saved.last([*readings, *theirs])
    if not every:
        raise error
    errors = [(m["node"], m["error"]) for m in told] + [
        (platform.node(), error and str(error))]
    for node, text in errors:
        if text:
            print(f"straightway: {node}: {text.splitlines()[0]}",
                  file=sys.stderr)
    if len(told) + 1 < part.size:
        print(f"straightway: {part.size - 1 - len(told)} of {part.size} "
              f"processes have handed nothing to process 0 in {os.getcwd()}; "
              "start them in a folder that all nodes share", file=sys.stderr)
    return _of_readings(every, "nodes")


def _without(pid):
    """What gdb tells of the MPI processes below a process."""
    from straightway.where import plain
    pids = plain.candidates(pid, launched.processes())
    if not pids:
        raise UserError(
            f"process {pid} is no MPI process, and none below it is\n"
            "  ranks under srun are no children of it: name a rank's process")
    print("straightway: this job runs without Straightway; gdb stops each of "
          f"{len(pids)} processes for a moment", file=sys.stderr)
    return plain.every(pids)


# Forms ----------------------------------------------------------------------

def _show(report, options, out=None):
    from straightway.reporters import output, report_json, where_terminal
    without = isinstance(report, list)
    if options.json:
        path = (options.out or "-").replace("%h", platform.node())
        plain = saved.without(report, where_terminal.plain_hints(report)) \
            if without else saved.plain(report)
        output.send(path, report_json, plain, indent=None)
        return 0
    out = out or sys.stdout
    if without:
        where_terminal.render_plain(report, out)
        return 0 if any(p.threads for p in report) else 1
    where_terminal.render(report, out)
    return 0


def _watch(word, options):
    """Show the job again and again, until it has ended."""
    import io
    names, live, first = places.Names(), sys.stdout.isatty(), True
    while True:
        try:
            report = _here(word, options, names)
        except UserError as error:
            if first:
                raise
            print(f"straightway: the job has ended, or: {error}",
                  file=sys.stderr)
            return 0
        if isinstance(report, list):
            raise UserError("--watch needs a job with Straightway: gdb would "
                            "stop its processes again and again")
        word = report.job.id
        text = io.StringIO()
        # The page keeps its colours: it is drawn for the terminal.
        if live:
            sys.stdout.write("\x1b[H\x1b[2J")
            _show(report, options)
        else:
            _show(report, options, text)
            sys.stdout.write(("" if first else "\n") + text.getvalue())
        sys.stdout.flush()
        first = False
        time.sleep(options.watch)
