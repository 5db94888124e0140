"""Real programs, alone and with Straightway in turns: one line each.

    make applications [ONLY=meep,nwchem] [PAIRS=15] [RANKS=2,4]
    .venv/bin/python bench/applications.py [--only ...] [...]

applications/ has a folder for each program: what brings it, its input, its
command, its result. They are Debian's, under Debian's Open MPI, and run as a
user would type it:

    mpirun.openmpi --oversubscribe -n 2 straightway run PROGRAM

A program that is not installed is left out, and a line says what installs it.
The table's columns:

    alone    s of a run of the MPI alone, launcher included: the median
    ratio    alone / with Straightway, the median of the pairs' ratios; above 1
             the program is faster; 95 %: the interval of this median
    most     the ratio if all communication took no time (straightway whatif)
    cpu      the same ratio of processor time, user and system
    MiB      how much more memory a rank has at the job's peak: pages that
             several ranks map are shared out among them
    profile  s that `straightway profile` adds to a run alone

--json keeps every sample: also page faults, context switches, and the time that
the program itself prints. --page writes these as a table in Markdown; in a file
with the marks of docs/performance.md it renews what stands between them.

The exit status is 1 if a result differs from that of the MPI alone, or if a
program fails or hangs with Straightway only. Times never decide it.
"""
import argparse
import json
import pathlib
import shutil
import signal
import sys
import tempfile

import application
import comparison
import comparison_table as table

from straightway.errors import nearest
from straightway.machine import hardware

HERE = pathlib.Path(__file__).resolve().parent


def numbers(text):
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise argparse.ArgumentTypeError(f"{text}: give numbers above 0")
    return list(dict.fromkeys(found))


def number(text):
    return numbers(text)[0]


def arguments(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--only", metavar="LIST", help="names of folders in applications/")
    add("--pairs", metavar="N", type=number, default=15, help="(15)")
    add("--ranks", metavar="LIST", type=numbers, default=[2, 4], help="(2,4)")
    add("--profiles", metavar="N", type=int, default=comparison.PROFILES,
        help=f"runs with profile, 0 for none ({comparison.PROFILES})")
    add("--no-bound", action="store_true", help="without what-if")
    add("--limit", metavar="S", type=number, default=600,
        help="of a run: it then counts as one that hangs (600)")
    add("--programs", metavar="FOLDER", type=pathlib.Path,
        default=HERE.parent / "applications", help="(applications)")
    add("--json", metavar="FILE", type=pathlib.Path, help="all samples")
    add("--page", metavar="FILE", type=pathlib.Path, help="the table")
    return parser.parse_args(argv)


def chosen(wanted):
    """The Applications that the user names, or all."""
    try:
        known = application.read_all(wanted.programs)
    except application.BadFile as why:
        sys.exit(str(why))
    names = wanted.only.split(",") if wanted.only else list(known)
    for name in names:
        if name not in known:
            sys.exit(f"{name} is no program of {wanted.programs}: "
                     + nearest(name, list(known)))
    return [known[name] for name in known if name in names]


def installed(apps):
    """Those that can run; a line for each of the others."""
    kept = []
    for app in apps:
        absent = app.missing()
        if absent:
            print(table.missing(app, absent))
        else:
            kept.append(app)
    if kept and not shutil.which(application.LAUNCHER):
        sys.exit(f"there is no {application.LAUNCHER}")
    return kept


class Report:
    """What has been measured; written after each row, so that a run that is
    cut off leaves it."""

    def __init__(self, wanted):
        self.wanted = wanted
        self.made = {"schema": "straightway-bench-applications/1",
                     "machine": hardware.describe(), "pairs": wanted.pairs,
                     "ranks": wanted.ranks, "notes": [], "rows": []}

    def note(self, text):
        print(text, flush=True)
        self.made["notes"].append(text)

    def add(self, row):
        print(table.line(row), flush=True)
        self.made["rows"].append(row)
        if self.wanted.json:
            self.wanted.json.write_text(json.dumps(self.made) + "\n")
        if self.wanted.page:
            page = self.wanted.page
            text = page.read_text() if page.exists() else ""
            page.write_text(table.renewed(text, self.made))


def main(argv=None):
    wanted = arguments(argv)
    apps = installed(chosen(wanted))
    report = Report(wanted)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with tempfile.TemporaryDirectory(prefix="straightway-") as folder:
        runs = comparison.Comparison(pathlib.Path(folder), wanted.limit,
                                     report.note)
        print(table.HEAD, flush=True)
        for app in apps:
            for ranks in filter(app.fits, wanted.ranks):
                report.add(runs.measure(app, ranks, wanted.pairs,
                                        wanted.profiles,
                                        not wanted.no_bound))
    rows = report.made["rows"]
    print(table.last(rows))
    return any(row["state"] in comparison.BAD for row in rows)


if __name__ == "__main__":
    sys.exit(main())
