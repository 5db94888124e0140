"""straightway report: the contents of a capture file."""

import argparse
import contextlib
import gc
import os
import sys
import tempfile

from straightway import capture, native, profile, units
from straightway.capture import names, traces
from straightway.errors import UserError, nearest
from straightway.profile import findings, placement, recorded, tables
from straightway.reporters import (output, perfetto, profile_csv,
                                   profile_json, profile_terminal,
                                   profile_text)

REPLAYED = 1_000_000    # calls of a trace that a report replays, at most


def read(path, region=None, only=None):
    """The Profile of a file, its frames named."""
    found = capture.read(path)
    names.try_to_keep(found)
    return profile.Profile(found, region, only)


def parse_ranks(text):
    """"0-3,7" -> [(0, 3), (7, 7)]"""
    found = []
    for word in text.split(","):
        first, dash, last = word.strip().partition("-")
        last = last if dash else first
        if not (first.isdecimal() and last.isdecimal()
                and int(first) <= int(last)):
            raise UserError(f"--ranks {text}: give numbers and ranges, as in "
                            "0-3,7")
        found.append((int(first), int(last)))
    return found


def parse_groupings(text):
    """"region,operation" -> ["region", "operation"]"""
    found = []
    for word in text.split(","):
        word = word.strip()
        if word not in recorded.GROUPINGS:
            raise UserError(f"--by {text}: unknown grouping "
                            f"{word or '(none)'}; "
                            + nearest(word, recorded.GROUPINGS))
        found.append(word)
    return list(dict.fromkeys(found))


def write(path, reporter, shown, source, named=True):
    """Write a report to a file, "-" for stdout; never over the capture itself.
    """
    if path == "-":
        output.send(path, reporter, shown)
        return
    check_not_source(path, source)
    output.announce(path, reporter, shown, named)


def check_not_source(path, source):
    if path != "-" and os.path.exists(path) and os.path.samefile(path,
                                                                 source):
        raise UserError(f"{path} is the capture itself; name another file to "
                        "write")


def check_top(top):
    if top is not None and top < 1:
        raise UserError(f"--top {top}: give 1 or more")


class Report:
    """Show the contents of a capture file.

    The report is a page on the terminal, unless an option asks for another
    form:

      straightway report app.8.4711.swcap
      straightway report app.8.4711.swcap --html
      straightway report app.8.4711.swcap --csv sites sites.csv
      straightway report app.8.4711.swcap --by region,operation --top 30
      straightway report app.8.4711.swtrace --perfetto

    Time in MPI is waiting, until a partner has come, or moving data. No
    library can win back the waiting. I/O (MPI_File_*) counts apart.
    """

    name = "report"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("file", metavar="FILE", nargs="?", help=(
            "a capture, *.swcap, or a trace, *.swtrace"))
        add("--text", metavar="OUT", nargs="?", const="-",
            help="plain text in full, in the manner of mpiP [to stdout]")
        add("--html", metavar="OUT", nargs="?", const="",
            help="one page for browsers [FILE.html]")
        add("--json", metavar="OUT", help=(
            "all views, in the form of profile.schema.json; - is stdout"))
        add("--csv", metavar=("TABLE", "OUT"), nargs="+", help=(
            "one table [to stdout]: " + ", ".join(tables.TABLES)))
        add("--perfetto", metavar="OUT", nargs="?", const="", help=(
            "the trace, call by call, for the Perfetto UI [FILE.pftrace]"))
        add("--by", metavar="LIST", help=(
            "group by these, on the terminal: "
            + ", ".join(recorded.GROUPINGS)))
        add("--top", metavar="N", type=int,
            help="rows of each table, of the terminal's page and of --csv")
        add("--sort", choices=tables.SORTS, help=(
            "most first, of " + ", ".join(tables.SORTS) + " [time]"),
            metavar="WHAT")
        add("--region", metavar="NAME",
            help="only this region, with those within it")
        add("--ranks", metavar="LIST", help="only these ranks, as in 0-3,7")
        # Rank 0 uses these at the end of a profiled run. --finish keeps the
        # names of the frames in the file, shows the page beside the program's
        # output, and joins the pieces of a trace; --join does the last alone.
        add("--finish", action="store_true", help=argparse.SUPPRESS)
        add("--join", action="store_true", help=argparse.SUPPRESS)
        add("--seen-from", metavar="FOLDER", help=argparse.SUPPRESS)

    @staticmethod
    def run(options):
        _take_file(options)
        check_top(options.top)
        with without_collector():
            if options.join:
                return _join(options.file)
            if options.finish:
                return _finish(options.file, options.seen_from)
            return _report(options)


@contextlib.contextmanager
def without_collector():
    """Switch the garbage collector off. A profile has many objects without
    cycles; a search for cycles would take as long as all the rest."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _report(options):
    by = None if options.by is None else parse_groupings(options.by)
    wanted = None if options.ranks is None else parse_ranks(options.ranks)
    found = capture.read(options.file)
    names.try_to_keep(found)
    only = None if wanted is None else {
        r.number for r in found.ranks
        if any(a <= r.number <= b for a, b in wanted)}
    region = "" if options.region == recorded.OUTSIDE else options.region
    shown = profile.Profile(found, region, only)
    shown.find_gaps = lambda: _gaps(found)
    shown.find_replayed = lambda: _replayed(shown)
    return _show(shown, options, by)


def _gaps(found):
    """What ranks compute beside their calls, from the trace in this file."""
    if not found.traced:
        return {}
    return traces.gaps(found, native.answer(
        native.trace_executable(), ["gaps", found.path])["gaps"])


def _replayed(p):
    """(seconds as it ran, seconds in the better places) by replays of a trace
    that is not too long, where this machine has the run's MPI and has been
    measured under it; else None."""
    events = sum(one.events for one in p.capture.traced.values())
    better = p.better(findings.BORDER)
    if not 0 < events <= REPLAYED or not better:
        return None
    from straightway.machine import hosts       # slow to import
    from straightway.whatif import measured, placements, runs, supposed
    with tempfile.TemporaryDirectory(prefix="straightway-") as folder, \
            contextlib.suppress(UserError):
        host = next((one for one in hosts.find() if os.path.realpath(
            one.library) == os.path.realpath(p.job.mpi_library)), None)
        if not host or not measured.is_kept(host, p.job.ranks):
            return None
        runner = runs.Runner(None, folder)
        ops, _ = runner.operations(p.capture.path)
        models = supposed.Models(["measured"], None, p.job.ranks,
                                 mpi=host.launcher)
        slots, before = placement.seats(p)
        return tuple(one.end / 1e9 for one in placements.predict(
            runner, models, ops, {"before": before,
                                  "after": better.placement},
            slots).values())
    return None


def _take_file(options):
    """Move FILE of `report --html FILE` from the option's OUT to the capture.
    """
    if options.file is None:
        if options.csv and len(options.csv) > 1:
            options.file = options.csv.pop()
        elif options.text not in (None, "-"):
            options.file, options.text = options.text, "-"
        elif options.html:
            options.file, options.html = options.html, ""
        elif options.perfetto:
            options.file, options.perfetto = options.perfetto, ""
        elif options.csv and os.path.exists(options.csv[0]):
            raise UserError("--csv needs a table: " + ", ".join(
                tables.TABLES))
        else:
            raise UserError("which file? straightway report FILE.swcap")
    if options.csv and len(options.csv) > 2:
        raise UserError("--csv takes a table and a file to write, not "
                        + " ".join(options.csv))


def _show(p, options, by):
    source = p.capture.path
    forms = 0
    if options.text is not None:
        write(options.text, profile_text, p, source)
        forms += 1
    if options.json is not None:
        check_not_source(options.json, source)
        output.send(options.json, profile_json, p)
        forms += 1
    if options.csv is not None:
        name, out = (options.csv + ["-"])[:2]
        rows = tables.table(p, name, options.sort, options.top)
        if not rows:
            print(f"straightway: {source} has no {name}", file=sys.stderr)
        write(out, profile_csv, rows, source)
        forms += 1
    if options.html is not None:
        from straightway.reporters import profile_html
        write(options.html or beside(source, ".html"), profile_html, p,
              source, bool(options.html))
        forms += 1
    if options.perfetto is not None:
        _perfetto(p, options.perfetto or beside(source, ".pftrace"))
        forms += 1
    if not forms:
        profile_terminal.render(p, sys.stdout, top=options.top,
                                sort=options.sort, by=by)
    return 0


def beside(source, ending):
    name, before = os.path.splitext(source)
    return (name if before in (".swcap", traces.ENDING) else source) + ending


def _perfetto(p, out):
    if out == "-":
        raise UserError("--perfetto needs a file to write, not -")
    if p.region is not None:
        raise UserError("--perfetto shows all regions; omit --region")
    check_not_source(out, p.capture.path)
    events, problems = perfetto.render(p, out)
    for problem in problems:
        print(f"straightway: {problem}", file=sys.stderr)
    print(f"straightway: wrote {out}: {units.plural(events, 'event')}; open "
          "it in the Perfetto UI (ui.perfetto.dev)", file=sys.stderr)


def _finish(path, folder=None):
    found = capture.read(path)
    try:
        names.keep(found)
    except UserError as error:      # a full disk does not lose the page
        print(f"straightway: call sites have no names in {error}",
              file=sys.stderr)
    profile_terminal.render(profile.Profile(found), sys.stderr,
                            folder=folder)
    return _join(path)


def _join(path):
    if traces.pieces(path):
        try:
            traces.gather(path)
        except UserError as error:
            print(f"straightway: {error}", file=sys.stderr)
    return 0
