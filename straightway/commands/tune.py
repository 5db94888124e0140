"""straightway tune: what this machine's MPI does faster, measured once."""

import datetime
import os
import sys
import time

from straightway import native
from straightway.bench import overlap, results, runs, tuning, ways
from straightway.commands.bench import choices
from straightway.errors import UserError
from straightway.machine import hardware
from straightway.reporters import (output, progress, report_json,
                                   tune_terminal)

SIZES = "8,64,1k,16k,64k,256k,1m,4m"
STARTED_SIZES = "8,1k,64k,1m"
SECONDS = 105
# Of the time: settings, blocking collectives, those in doubt, others, those in
# doubt.
SHARES = (0.24, 0.36, 0.10, 0.22, 0.08)
STARTING = 1.0          # seconds that a job takes to start and end
LEAST = 0.002           # seconds for a cell
MOST = 0.5


class Tune:
    """Measure once which calls this MPI does faster, and leave them to it.

    The command measures the collectives, blocking and nonblocking, and
    messages. Host and Straightway take turns within one run. It looks twice at
    each cell in which Straightway loses. What takes more than 3 % longer each
    time is left to the MPI. A few sizes at which Straightway changes its way
    (docs/settings.md) are tried as well. Another value is kept if it wins 5 %.

    It writes what it found to the file that straightway run reads:
    STRAIGHTWAY_WAYS, or straightway/ways in ~/.config. An entry is for one MPI,
    one machine and one number of ranks on a node. Jobs with other numbers do
    not go by it. Run it with the ranks and settings of your jobs, while nothing
    else runs:

      straightway tune -n 8

    straightway doctor shows what is in force, and straightway run --stats how
    many calls the MPI got. STRAIGHTWAY_TUNED=off switches it off.

    For jobs over several nodes see straightway bench collectives --tune.
    """

    name = "tune"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("-n", "--ranks", type=int, metavar="N",
            help="ranks [as many as there are cores, at least 2]")
        add("--seconds", type=float, metavar="S", default=SECONDS,
            help=f"seconds for all [{SECONDS}]")
        choices.add_operations(add, SIZES)
        add("--started-sizes", metavar="LIST", default=STARTED_SIZES, help=(
            "bytes of nonblocking and persistent collectives "
            f"[{STARTED_SIZES}]"))
        choices.add_common(add)

    @staticmethod
    def run(options):
        options.launcher = None
        job = _Job(options)
        file = ways.path()
        ways.read(file)
        settings = job.settings()
        passes = {}
        for form, shares in (("ops", SHARES[1:3]), ("overlap", SHARES[3:])):
            job.measure(passes, form, shares)
        report = job.report(passes, settings)
        ways.write(file, report["entry"], {
            **tuning.lines(passes, job.ranks),
            **{name: f"{name} {value}" for name, value in settings.items()}},
            report["about"])
        report["file"] = str(file)
        if options.json:
            output.send(options.json, report_json, report)
        if options.json != "-":
            tune_terminal.render(report, sys.stdout)
        return 0


def spread(sizes):
    """The sizes in another order: the benchmark goes size by size, and may have
    no time for the last ones. Their neighbours then stand for them."""
    return sizes[::2] + sizes[1::2][::-1]


class _Job:
    """The runs of one tune, and its time."""

    def __init__(self, options):
        self.options = options
        self.operations = choices.parse_operations(options.ops)
        self.sizes = {"ops": choices.parse_doubles(options.sizes),
                      "overlap": choices.parse_doubles(options.started_sizes)}
        self.ranks = choices.ranks(options)
        choices.check_seconds("--seconds", options.seconds)
        choices.check_blocks(self.operations, self.ranks,
                             self.sizes["ops"] + self.sizes["overlap"])
        self.host = choices.host(options)
        self.seed = choices.seed(options)
        self.machine = native.probe("--services")["machine"]
        self.description = hardware.describe()
        self.environment = {"TUNED": "off", "GUARD": "off"}
        self.start = None       # the line that the runs began with
        self.cut = 0            # cells for which the time was too short
        progress.start(self.host.title, self.ranks, "which calls win",
                       self.description)

    def _run(self, arguments, seconds, cells, more=()):
        """The lines of cells of a run that takes so many seconds. UserError: it
        failed, or a result was wrong."""
        within = max(cells * LEAST, seconds - STARTING)
        # Of collectives a cell may have the time that others did not take.
        share = within / max(1, cells) * (1 if "--patterns" in arguments else 3)
        run = runs.launch(
            self.host, self.ranks, self.options.launcher_args,
            [*arguments, "--seconds", min(MOST, share),
             "--seed", self.seed, "--within", within], cells, progress.bar,
            before=["env", *(f"STRAIGHTWAY_{name}={value}" for name, value in
                             {**self.environment, **dict(more)}.items())])
        lines = results.cell_lines(run)
        if run["status"]:
            raise UserError("the benchmark ended with status "
                            f"{run['status']}; nothing was written", 1)
        for line in lines:
            if not all(right for key, right in line.items()
                       if key.endswith("_right")):
                raise UserError(f"WRONG RESULT: {line['cell']} at "
                                f"{line['size']} bytes; nothing was written",
                                1)
        self.cut += cells - len(lines)
        self._look(results.start(run))
        return lines

    def _look(self, start):
        if not start:
            return
        self.start = start
        if start["modes"] != 2:
            raise UserError(f"Straightway does not accelerate "
                            f"{self.host.title} here (see straightway "
                            "doctor)", 1)
        if len(set(start["nodes"])) > 1:
            raise UserError("the ranks are on several nodes\n  see straightway "
                            "bench collectives --tune", 1)

    # Settings ---------------------------------------------------------------

    def settings(self):
        """{setting: value} of those whose other value wins. What the user has
        set stays."""
        trials = [t for t in tuning.TRIALS
                  if not os.environ.get(f"STRAIGHTWAY_{t.setting.upper()}")]
        found = {}
        budget = self.options.seconds * SHARES[0]
        end = time.monotonic() + budget
        # Some runs more follow where a value wins.
        count = sum(1 + len(trial.values) for trial in trials)
        for trial in trials:
            if time.monotonic() > end:
                break
            value = self._try(trial, budget / count)
            if value is not None:
                found[trial.setting] = value
                self.environment[trial.setting.upper()] = value
        self.cut = 0
        return found

    def _ratios(self, trial, value, seconds):
        more = {} if value is None else {trial.setting.upper(): value}
        lines = self._run(trial.arguments(self.ranks), seconds,
                          trial.cells(self.ranks), more)
        return {(c["operation"], c["size"]): c["ratio"]
                for c in (results.cell(line, 0.0) for line in lines)
                if c["ratio"]}

    def _try(self, trial, seconds):
        """The value that wins twice, or None."""
        plain = self._ratios(trial, None, seconds)
        tried = [(value, self._ratios(trial, value, seconds))
                 for value in trial.values]
        value, ratios = max(tried, key=lambda one: tuning.gain(plain,
                                                               one[1]))
        if not tuning.wins(plain, ratios):
            return None
        again = self._ratios(trial, value, seconds)
        return value if tuning.wins(self._ratios(trial, None, seconds),
                                    again) else None

    # Collectives ------------------------------------------------------------

    def _pass(self, passes, form, sizes, seconds, cells, count):
        lines = self._run(
            [f"--{form}", ",".join(self.operations),
             "--sizes", ",".join(map(str, sizes)), *cells,
             *(["--tests", 1] if form == "overlap" else [])], seconds, count)
        for line in lines:
            tuning.add(passes, tuning.blocking_scores(
                results.cell(line, 0.0)) if form == "ops" else
                tuning.started_scores(overlap.cell(line)))

    def measure(self, passes, form, shares):
        """All cells, then those in doubt, which count if they lose again."""
        sizes = spread(self.sizes[form])
        count = sum(1 if op == "barrier" else len(sizes)
                    for op in self.operations)
        first, again = (self.options.seconds * share for share in shares)
        self._pass(passes, form, sizes, first, [], count)
        doubts = tuning.doubtful(
            passes, tuning.FORMS[:1] if form == "ops" else tuning.FORMS[1:])
        for _ in range(tuning.PASSES - 1):
            if doubts:
                self._pass(passes, form, sizes, again, [
                    "--cells", ",".join(f"{op}/{n}" for op, n in doubts)],
                    len(doubts))

    # The report -------------------------------------------------------------

    def report(self, passes, settings):
        if not self.start:
            raise UserError("the time was too short for any measurement\n  "
                            "give more --seconds", 1)
        left = tuning.left(passes)
        today = datetime.date.today().isoformat()
        return {
            "schema": "straightway-tune/1",
            "machine": self.description,
            "mpi": dict(self.host.describe(), version=self.start["mpi"]),
            "ranks": self.ranks,
            "entry": ways.near_head(self.start["host"], self.ranks,
                                    self.machine),
            "about": f"{today}, {self.description['cpu']}: {len(left)} of "
                     f"{len(passes)} cells left to the MPI",
            "cells": [{"name": tuning.name(form, operation), "size": size,
                       "scores": scores,
                       "host": (form, operation, size) in left}
                      for (form, operation, size), scores in passes.items()],
            "not_measured": self.cut,
            "settings": settings}
