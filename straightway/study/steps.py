"""The steps of a study: predicted, measured, compared."""

import time

from straightway.errors import UserError
from straightway.machine import hardware
from straightway.study import (computing, figures, gains, placement,
                               sentences, shared, turns)
from straightway.study.figures import speed_up
from straightway.whatif import experiments, forecast, needs, supposed

SCHEMA = "straightway-study/1"
# Whether the program runs in turns: never; first, and then by separate runs
# where the turns cannot tell; or only so.
IN_TURNS = ("never", "first", "only")
OURS = "measured-straightway"
SCOUT = "node"          # the model of the run that records the operations
TITLES = {"host": "alone", "ours": "with Straightway"}
LEFT = "with Straightway, nonblocking collectives by the MPI"
OFFLOAD = "offload=all:straightway"     # these alone, with Straightway
# Of each kind of run, what `run` is told.
_RUNS = {"host": (False, {}), "ours": (True, {}),
         "left": (True, {"nonblocking": "off"})}


class Study:
    """Carries a study out: report(). Then `profile` is the first normal run's,
    or that of the run in turns.

    `models`: a supposed.Models of `measured`; `step` gets each step's title.
    `in_turns`: one of IN_TURNS.
    """

    def __init__(self, runner, models, ranks, runs, step=lambda text: None,
                 in_turns="never"):
        self.runner, self.models = runner, models
        self.ranks, self.runs, self.step = ranks, runs, step
        self.in_turns = in_turns
        self.profile = self.accelerated = None
        self.computed = []      # ns of each run alone, or of that in turns

    def _run(self, i, who):
        self.step(f"run {i + 1} of {self.runs} {TITLES.get(who, LEFT)}")
        accelerated, settings = _RUNS[who]
        ns, p = self.runner.measured(self.ranks, accelerated, **settings)
        if not self.profile:
            self.profile = p
        if who == "host":
            self.computed.append(computing.of(p))
        if who == "ours" and not self.accelerated:
            self.accelerated = p
        return ns

    def _measure(self):
        """{"host": [ns], "ours": [ns]}, in turns; each is first as often. With
        nonblocking collectives "left", too."""
        found = {"host": [], "ours": []}
        order = list(found)
        for i in range(self.runs):
            for who in order:
                found[who].append(self._run(i, who))
            if figures.nonblocking_calls(self.profile):
                found.setdefault("left", []).append(self._run(i, "left"))
            order.reverse()
        return found

    def _turn(self):
        """The program in turns: (section, what it measured or None)."""
        self.step("the run in turns")
        path = self.runner.path("turns.json")
        try:
            ns, p = self.runner.measured(self.ranks, True, named=True,
                                         turns=path)
            run = turns.load(path)
        except UserError as error:
            if self.in_turns == "only":
                raise
            first = str(error).replace(str(path), "its file").partition(
                "\n")[0].rstrip(".")
            return gains.failed(f"The run in turns told nothing: {first}."), \
                None
        found = gains.section(run, p)
        if self.in_turns == "only" and found["gain"] is None:
            raise UserError(found["why"] + "\n  to measure by separate runs: "
                            "straightway study --runs 3", 1)
        if found["why"] and self.in_turns != "only":
            return found, None
        self.profile, self.runs = p, 0
        self.computed = [computing.of(p)]
        return found, gains.whole_run(run, found, ns)

    def _part(self, made, found, measured):
        """The nonblocking collectives' part of the gain; None: the program has
        none. `found`: the forecast that `made` has made."""
        left = measured.pop("left", None)
        if not left:
            return None
        wanted = [experiments.parse(text) for text in (
            OFFLOAD, f"model={OURS} offload=all:mpi")]
        alone, by_mpi = self.runner.replay(
            [self.models.write(self.runner.path("model"), self.ranks, one)
             for one in wanted], made.recorded)
        gained = figures.side_by_side({"host": left, "ours": measured["ours"]})
        ours = found["experiments"][0]["time_s"]
        return {
            "calls": figures.nonblocking_calls(self.profile),
            "alone": {"predicted_s": alone.end / 1e9,
                      "speed_up": speed_up(found["baseline"]["time_s"],
                                           alone.end / 1e9)},
            "predicted": {"left_s": by_mpi.end / 1e9, "ours_s": ours,
                          "speed_up": speed_up(by_mpi.end / 1e9, ours)},
            "measured": {"left": gained["host"], "ours": gained["ours"],
                         "speed_up": gained["speed_up"],
                         "apart": gained["apart"]}}

    def _record(self):
        """(Outcome, operations) of the program in virtual time. That tells of
        a deadlock before any run could hang. Its model is no matter: replays
        have the measured ones."""
        self.step(f"running {self.runner.job.title} in virtual time")
        model = self.runner.path("model")
        supposed.Models([SCOUT], None, self.ranks).write(model, self.ranks)
        return self.runner.live(model, self.ranks)

    def _oversubscribed(self):
        return self.ranks > hardware.cores() or self.profile.crowded

    def _forecast(self, recorded):
        """Of replays of the `recorded` run, with the measured times of what the
        program calls, and of its computing. Ranks without a core each compute
        while they wait for one."""
        if not self._oversubscribed():
            self.models.speed = computing.speed(recorded[0], self.computed)
        self.models.wanted = needs.of(
            {r.procedure for r in self.profile.records})
        ours = experiments.Experiment(
            [experiments.change("model", OURS)], TITLES["ours"])
        plan = forecast.Plan(self.ranks, [ours], ["measured"], runs=0,
                             recorded=recorded)
        return forecast.Forecast(self.runner, self.models, plan, self.step)

    def _alone(self, recorded, speeds):
        """ns of the program alone, by replays in which it computes so many
        times as fast as in the recorded run."""
        models, kept = [], self.models.speed
        for self.models.speed in speeds:
            models.append(self.models.write(self.runner.path("model"),
                                            self.ranks))
        self.models.speed = kept
        return [found.end for found in self.runner.replay(models, recorded[1])]

    def _errors(self, recorded, measured, samples):
        """figures.errors, beside each run alone, with its own computing; and of
        the prediction with the recorded computing."""
        speeds = [1.0] if not samples or self._oversubscribed() else \
            [1.0, *(computing.speed(recorded[0], [one])
                    for one in self.computed)]
        plain, *each = self._alone(recorded, speeds)
        host = measured["host"]["median_s"]
        return plain / 1e9 / host - 1, [
            end / ns - 1 for end, ns in zip(each, samples or ())]

    def _shared(self, measured):
        if measured["how"] == "turns":
            return shared.section(None, self.profile)
        return shared.section(self.profile, self.accelerated)

    def report(self):
        start = time.monotonic()
        turned = measured = part = None
        recorded = self._record()
        if self.in_turns != "never":
            turned, measured = self._turn()
        samples = None if measured else self._measure()
        made = self._forecast(recorded)
        found = made.report()
        if turned and turned["epochs"]:
            turned["bound"] = figures.most(found["bounds"]["communication"])
        if samples:
            part = self._part(made, found, samples)
            measured = figures.side_by_side(samples)
        plain, pairs = self._errors(recorded, measured,
                                    samples and samples["host"])
        ours = found["experiments"][0]
        report = {
            "schema": SCHEMA, "machine": hardware.describe(),
            "program": list(self.runner.job.program), "ranks": self.ranks,
            "mpi": self.models.mpi, "runs": self.runs,
            "oversubscribed": self._oversubscribed(),
            "profile": figures.summary(self.profile),
            "predicted": {
                "speed": self.models.speed,
                "host_s": found["baseline"]["time_s"],
                "ours_s": ours["time_s"],
                "speed_up": speed_up(found["baseline"]["time_s"],
                                     ours["time_s"])},
            "measured": measured, "turns": turned, "nonblocking": part,
            "shared": self._shared(measured),
            "placement": placement.section(self.profile, self.runner,
                                           self.models, made.recorded,
                                           self.step),
            "forecast": found}
        report["error"] = dict(figures.error(report, pairs), plain=plain)
        report["notes"] = sentences.notes(report)
        report["seconds"] = time.monotonic() - start
        return report
