"""Forecasts: a baseline, experiments beside it, bounds, sweeps; one report.

    forecast = Forecast(runner, models, ranks, ...)
    report = forecast.report()      # straightway-whatif/1, for every renderer

All experiments of a number of ranks replay the operations that the baseline
run has recorded. With `rerun` each is a run, which matters where the program's
actions depend on time. The bounds are two more experiments: all collectives
free, and all communication free.
"""

import dataclasses
import os
import shlex
import time

from straightway import units
from straightway.machine import hardware
from straightway.profile import recorded
from straightway.whatif import devices, experiments, outcomes

SCHEMA = "straightway-whatif/1"
BOUNDS = {"collectives": "all", "communication": experiments.COMMUNICATION}
FREE = "all collectives free"
CLEAR = 1.005       # a ratio from which the verdict speaks of a gain


@dataclasses.dataclass
class Plan:
    """The parts of a forecast."""

    ranks: int
    experiments: list
    models: list                # names of the baseline
    sweep: tuple = None         # ("ranks", [2, 4, 8])
    rerun: bool = False
    measure: bool = False       # a normal run, whether it fits or not
    runs: int = 3               # normal ones
    replay: str = None          # a file, in place of the program
    flops: str = None           # of that file, if it is SMPI's: flop/s
    file_order: bool = False    # ... if it is GOAL's: as it is written
    baseline: object = None     # an Experiment: changes of the baseline itself
    recorded: tuple = None      # (Outcome, operations) of a run in virtual
    #                             time: replayed for the baseline, too


class Forecast:
    """`supposed` writes models (supposed.py); `step` gets each step's title.
    """

    def __init__(self, runner, supposed, plan, step=lambda text: None):
        self.runner, self.supposed, self.plan = runner, supposed, plan
        self.step, self.notes, self.profile = step, [], None
        self.recorded = plan.recorded and plan.recorded[1]
        #                         the operations of the last run
        self._ops = None

    # One number of ranks --------------------------------------------------

    def _bounds(self):
        return [experiments.Experiment([experiments.change("free", given)],
                                       name)
                for name, given in BOUNDS.items()]

    def _operations(self):
        """The operations of the file to replay; it also sets the number of
        ranks."""
        if not self._ops:
            self.step(f"reading {self.plan.replay}")
            self._ops, notes = self.runner.operations(
                self.plan.replay, self.plan.ranks,
                self.supposed.by_loggopsim(self.plan.experiments),
                flops=self.plan.flops, file_order=self.plan.file_order)
            self.notes += notes
            self.plan.ranks = self.runner.ranks_of(self._ops)
            self.supposed.ranks = max(self.supposed.ranks, self.plan.ranks)
        return self._ops

    def _models(self, ranks, wanted):
        """Model files: the baseline's, then one for each of `wanted`."""
        return [self.supposed.write(self.runner.path("model"), ranks, one)
                for one in [self.plan.baseline, *wanted]]

    def _outcomes(self, ranks, wanted):
        """(baseline, [Outcome of each of `wanted`])"""
        if self.plan.replay:
            ops = self._operations()
            self.step(f"replaying {self.plan.replay}")
            baseline, *found = self.runner.replay(
                self._models(self.plan.ranks, wanted), ops)
            return baseline, found
        models = self._models(ranks, wanted)
        if self.plan.recorded:
            run, ops = self.plan.recorded
            self.step(f"replaying {units.plural(len(models), 'experiment')}")
            baseline, *found = self.runner.replay(models, ops)
            # That run has decided which messages its wildcards took.
            return dataclasses.replace(baseline, **{
                name: getattr(run, name) for name in (
                    "wildcards", "undecided", "disordered", "forced")}), found
        self.step(f"running {self.runner.job.title} in virtual time on "
                  f"{units.plural(ranks, 'rank')}")
        baseline, ops = self.runner.live(models[0], ranks)
        self.recorded = ops
        if not self.plan.rerun:
            self.step(f"replaying {units.plural(len(wanted), 'experiment')}")
            return baseline, self.runner.replay(models[1:], ops)
        found = []
        for one, model in zip(wanted, models[1:]):
            self.step(f"running again: {one.title}")
            found.append(self.runner.live(model, ranks)[0])
        return baseline, found

    def _measured(self, ranks):
        """The times of normal runs, or the reason why there are none."""
        cores = hardware.cores()
        if self.plan.replay:
            return None, "this is a replay of a file"
        if not self.plan.measure and ranks > cores:
            return None, (f"{ranks} ranks do not fit the {cores} cores here "
                          "(--measure runs them nevertheless)")
        if not self.plan.runs:
            return None, "--runs 0"
        samples = []
        for i in range(self.plan.runs):
            self.step(f"a normal run, {i + 1} of {self.plan.runs}")
            ns, self.profile = self.runner.measured(ranks)
            samples.append(ns)
        return dict(outcomes.spread(samples), runs=len(samples)), None

    def _forecast(self, ranks, wanted):
        """The part of a report for one number of ranks."""
        bounds = self._bounds()
        baseline, found = self._outcomes(ranks, wanted + bounds)
        measured, reason = self._measured(ranks)
        rows = [self._row(e, o, baseline)
                for e, o in zip(wanted, found)]
        limits = {name: self._row(e, o, baseline) for name, e, o in zip(
            BOUNDS, bounds, found[len(wanted):])}
        return {
            "ranks": baseline.ranks, "baseline": baseline.describe(),
            "rank_times": _rank_times(baseline),
            "measured": measured, "not_measured": reason,
            "error": measured and baseline.end / 1e9
            / measured["median_s"] - 1,
            "experiments": rows, "bounds": limits}

    def _row(self, experiment, outcome, baseline):
        return dict(outcome.describe(), title=experiment.title,
                    experiment=experiment.text,
                    ratio=_ratio(baseline.end, outcome.end),
                    by="run" if self.plan.rerun and not self.plan.replay
                    else "replay")

    # The whole -------------------------------------------------------------

    def _sweep(self):
        """(key, [(value, forecast)])"""
        key, values = self.plan.sweep
        rows = []
        if key == "ranks":
            for n in values:
                rows.append((n, self._forecast(n, self.plan.experiments)))
            return rows
        # A sweep over another key: its value joins every experiment.
        ranks = self.plan.ranks
        changes = [experiments.change(key, f"{v:g}" if isinstance(v, float)
                                      else str(v)) for v in values]
        base, given = experiments.swept(key, self.plan.experiments)
        if base.changes:
            self.notes.append(f"The baseline of this sweep has {base.title}.")
        collectives, communication = self._bounds()
        each = [base, *given, base.and_(collectives.changes,
                                        collectives.name), communication]
        wanted = [e.and_([c]) for c in changes for e in each]
        _, found = self._outcomes(ranks, wanted)
        for i, value in enumerate(values):
            mine = found[i * len(each):(i + 1) * len(each)]
            row = [self._row(e, o, mine[0]) for e, o in zip(each, mine)]
            rows.append((value, {
                "ranks": mine[0].ranks, "baseline": mine[0].describe(),
                "rank_times": _rank_times(mine[0]), "measured": None,
                "not_measured": f"each value of {key} is another machine",
                "error": None,
                "experiments": row[1:1 + len(given)],
                "bounds": dict(zip(BOUNDS, row[-len(BOUNDS):]))}))
        return rows

    def report(self):
        """Carry the plan out."""
        plan, start = self.plan, time.monotonic()
        self.supposed.check_all(plan.experiments, plan.ranks)
        rows = self._sweep() if plan.sweep else []
        first = rows[-1][1] if rows else self._forecast(
            plan.ranks, plan.experiments)
        report = {
            "schema": SCHEMA, "machine": hardware.describe(),
            "program": list(self.runner.job.program)
            if self.runner.job else None,
            "replay": plan.replay,
            "mpi": self.supposed.mpi, "models": plan.models,
            "model_about": self.supposed.about,
            **first,
            "sweep": {"key": plan.sweep[0], "rows": [
                dict(one, value=value) for value, one in rows]}
            if rows else None}
        report["notes"] = self.supposed.doubts + _notes(report) + self.notes
        if self.profile:
            report["notes"] += devices.sentences(self.profile,
                                                 "the last normal run")
        report["seconds"] = time.monotonic() - start
        return report


def _ratio(before, after):
    """How many times as fast; None: no time is left."""
    return before / after if after > 0 else None


def _rank_times(outcome):
    return [outcomes.seconds_of(t) for t in outcome.times]


def region_columns(report):
    """[(title, outcome)] of the columns beside regions: the experiments, and
    all collectives free."""
    found = [(e["title"], e) for e in report["experiments"]]
    if not any(title == FREE for title, _ in found):
        found.append((FREE, report["bounds"]["collectives"]))
    return found


def _spent(section, report):
    """s of a rank in a section, averaged over all ranks."""
    return section["all"]["time_s"] / report["ranks"]


def regions(report):
    """[(label, seconds, section, [(seconds, speed-up) by region_columns])] of
    the baseline's regions.

    Each includes the regions within it: per rank on average, most time first.
    Empty where the program names none.
    """
    found = []
    for one in report["baseline"]["sections"]:
        time, row = _spent(one, report), []
        for _, other in region_columns(report):
            same = sum(_spent(s, report) for s in other["sections"]
                       if s["name"] == one["name"])
            row.append((same, _ratio(time, same) if time else 1.0))
        found.append((one["name"] or recorded.OUTSIDE, time, one, row))
    return sorted(found, key=lambda row: -row[1])


def verdict(report):
    """The bound, in sentences."""
    said = []
    for name, what in (("collectives", "collectives"),
                       ("communication", "communication")):
        ratio = report["bounds"][name]["ratio"]
        if ratio is None:
            said.append(f"Without {what} no time is left: this program does "
                        "nothing else.")
        elif ratio < CLEAR:
            said.append(f"No improvement of {what} can make this program "
                        "measurably faster.")
        else:
            said.append(f"No improvement of {what} can make this program "
                        f"more than {_upwards(ratio)}x faster.")
    most = report["bounds"]["communication"]["ratio"]
    if most is not None and any(
            "completed later" in one["title"] and one["ratio"] and
            one["ratio"] > most for one in report["experiments"]):
        said.append("Calls that complete later pass this bound: it keeps the "
                    "waiting for ranks that come late, and they compute "
                    "meanwhile.")
    return said


def _upwards(ratio):
    """Round up, never down: 1.876 -> 1.9"""
    import math
    digits = 1000 if ratio < 1.1 else 100 if ratio < 1.5 else 10 \
        if ratio < 10 else 1
    return f"{math.ceil(ratio * digits - 1e-9) / digits:g}"


def _notes(report):
    """Sentences that a reader of these numbers must know."""
    one = report["baseline"]
    # Other notes only name the source of a file of operations.
    said = list(one["notes"]) if one["extrapolated"] or one["damaged"] else []
    if one["wildcards"]:
        said.append(
            f"{units.number(one['wildcards'])} receives and probes with "
            "wildcards: " + (
                "the engine matched all in the order of virtual time."
                if not one["undecided"] else
                f"for {units.number(one['undecided'])} of them the engine "
                "could not decide the order in virtual time, and took the "
                "order of the real run; "
                f"{units.number(one['disordered'])} took another message "
                "than the first."))
    if one.get("forced"):
        said.append(
            f"{units.number(one['forced'])} times virtual time went on "
            "without full knowledge: without a rank that was silent outside "
            "of MPI, or beyond a wait that the MPI had already ended.")
    if report["measured"]:
        said += hardware.doubts(report["machine"], report["ranks"])
    if one["extrapolated"]:
        said.append("This is an extrapolation: the record has fewer ranks.")
    if any(e["experiment"] and e["by"] == "replay"
           for e in report["experiments"]) and one["undecided"]:
        said.append("Replays keep the order of the recorded run; --rerun "
                    "runs the program for each experiment.")
    return said


def model_text(names):
    return " + ".join(names)


def short(words):
    """A command for a title: without the folders of absolute paths."""
    python = os.path.basename(words[0]).startswith("python")
    return shlex.join(
        os.path.basename(word.rstrip("/")) if os.path.isabs(word)
        and (i == 0 or python and i == 1) else word
        for i, word in enumerate(words))


def title(report):
    return short(report["program"]) if report["program"] else \
        f"replay of {report['replay']}"


def command_text(report):
    return shlex.join(report["program"]) if report["program"] else \
        f"replay of {report['replay']}"
