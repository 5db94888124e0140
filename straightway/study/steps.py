"""The steps of a study: predicted, measured, compared."""

import time

from straightway.machine import hardware
from straightway.study import figures, placement, sentences, shared
from straightway.study.figures import speed_up
from straightway.whatif import experiments, forecast

SCHEMA = "straightway-study/1"
OURS = "measured-straightway"
TITLES = {"host": "alone", "ours": "with Straightway"}
LEFT = "with Straightway, nonblocking collectives by the MPI"
OFFLOAD = "offload=all:straightway"     # these alone, with Straightway
# Of each kind of run, what `run` is told.
_RUNS = {"host": (False, {}), "ours": (True, {}),
         "left": (True, {"nonblocking": "off"})}


class Study:
    """Carries a study out: report(). Then `profile` is the first normal run's.

    `models`: a supposed.Models of `measured`; `step` gets each step's title.
    """

    def __init__(self, runner, models, ranks, runs, step=lambda text: None):
        self.runner, self.models = runner, models
        self.ranks, self.runs, self.step = ranks, runs, step
        self.profile = self.accelerated = None

    def _run(self, i, who):
        self.step(f"run {i + 1} of {self.runs} {TITLES.get(who, LEFT)}")
        accelerated, settings = _RUNS[who]
        ns, p = self.runner.measured(self.ranks, accelerated, **settings)
        if not self.profile:
            self.profile = p
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

    def _forecast(self):
        ours = experiments.Experiment(
            [experiments.change("model", OURS)], TITLES["ours"])
        plan = forecast.Plan(self.ranks, [ours], ["measured"], runs=0)
        return forecast.Forecast(self.runner, self.models, plan, self.step)

    def report(self):
        start = time.monotonic()
        made = self._forecast()
        found = made.report()
        measured = self._measure()
        part = self._part(made, found, measured)
        ours = found["experiments"][0]
        report = {
            "schema": SCHEMA, "machine": hardware.describe(),
            "program": list(self.runner.job.program), "ranks": self.ranks,
            "mpi": self.models.mpi, "runs": self.runs,
            "oversubscribed": self.ranks > hardware.cores(),
            "profile": figures.summary(self.profile),
            "predicted": {
                "host_s": found["baseline"]["time_s"],
                "ours_s": ours["time_s"],
                "speed_up": speed_up(found["baseline"]["time_s"],
                                     ours["time_s"])},
            "measured": figures.side_by_side(measured), "nonblocking": part,
            "shared": shared.section(self.profile, self.accelerated),
            "placement": placement.section(self.profile, self.runner,
                                           self.models, made.recorded,
                                           self.step),
            "forecast": found}
        report["error"] = figures.error(report)
        report["notes"] = sentences.notes(report)
        report["seconds"] = time.monotonic() - start
        return report
