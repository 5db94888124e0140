"""Study: what communication costs a program, the gain that Straightway is
predicted to have, and the measured gain.

The study has three steps, and a section on places (placement.py):

    1. the program in virtual time, under the model `measured`: the MPI alone.
       This comes first, because it detects a deadlock, in which a normal run
       hangs
    2. its operations again, under `measured-straightway`: the prediction; and
       the bounds, as of every forecast
    3. the program, normally and with Straightway, in turns. Each run has a
       profile, and the first one is the report's; times count from MPI_Init
       to MPI_Finalize, less the cost of recording

Where the program calls nonblocking collectives, it also runs with Straightway
for all but these ("left"). That shows their part of the gain, and replays
predict this part.

The prediction does not use the measured gain: the models come from earlier
benchmarks of single operations, and the computation's time from the
processor's clock.
"""

import time

from straightway import units
from straightway.machine import hardware
from straightway.study import placement, shared
from straightway.whatif import experiments, forecast, outcomes

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
            if _nonblocking(self.profile):
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
        gained = _gain({"host": left, "ours": measured["ours"]})
        ours = found["experiments"][0]["time_s"]
        return {
            "calls": _nonblocking(self.profile),
            "alone": {"predicted_s": alone.end / 1e9, "speed_up": _speed_up(
                found["baseline"]["time_s"], alone.end / 1e9)},
            "predicted": {"left_s": by_mpi.end / 1e9, "ours_s": ours,
                          "speed_up": _speed_up(by_mpi.end / 1e9, ours)},
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
            "profile": _summary(self.profile),
            "predicted": {
                "host_s": found["baseline"]["time_s"],
                "ours_s": ours["time_s"],
                "speed_up": _speed_up(found["baseline"]["time_s"],
                                      ours["time_s"])},
            "measured": _gain(measured), "nonblocking": part,
            "shared": shared.section(self.profile, self.accelerated),
            "placement": placement.section(self.profile, self.runner,
                                           self.models, made.recorded,
                                           self.step),
            "forecast": found}
        report["error"] = error(report)
        report["notes"] = _notes(report)
        report["seconds"] = time.monotonic() - start
        return report


def _nonblocking(p):
    """How many calls of nonblocking collectives a profile has."""
    return sum(t.calls for t in p.totals("class")
               if t.label == "nonblocking collective")


def _speed_up(host, ours):
    return host / ours if ours > 0 else None


def _gain(samples):
    found = {who: outcomes.spread(ns) for who, ns in samples.items()}
    host, ours = (found[who]["median_s"] for who in ("host", "ours"))
    found["speed_up"] = _speed_up(host, ours)
    # The runs tell the sides apart where no run of one lies among the other's.
    found["apart"] = (found["ours"]["high_s"] < found["host"]["low_s"]
                      or found["host"]["high_s"] < found["ours"]["low_s"])
    return found


def gain(host, ours):
    """The part of the run's time that is saved."""
    return 1 - ours / host if host > 0 else 0.0


def error(report):
    """The errors of predictions: of each side's time, and of the gain, in
    parts of the run's time."""
    p, m = report["predicted"], report["measured"]
    host, ours = (m[who]["median_s"] for who in ("host", "ours"))
    return {"host": p["host_s"] / host - 1, "ours": p["ours_s"] / ours - 1,
            "gain": gain(p["host_s"], p["ours_s"]) - gain(host, ours)}


def _summary(p):
    c, elapsed = p.communication, p.elapsed or 1
    return {"wall_s": p.wall / 1e9, "communication": p.share,
            "waiting": p.waiting_share,
            "moving": (c.time - c.waiting) / elapsed, "calls": c.calls,
            "sent": c.sent,
            "operations": [
                {"operation": t.label, "calls": t.calls,
                 "time_s": t.time / len(p.ranks) / 1e9}
                for t in p.totals("operation")[:8]]}


def verdict(report):
    """The result, in sentences."""
    p, m = report["predicted"], report["measured"]
    said = []
    if not m["apart"] and report["runs"] > 1:
        said.append("These runs do not tell the two apart: their times "
                    "overlap. More --runs on an idle machine may do so.")
    elif m["speed_up"] and m["speed_up"] >= 1:
        said.append(f"With Straightway this program is {m['speed_up']:.2f} "
                    "times as fast.")
    else:
        said.append("With Straightway this program is slower here: "
                    f"{1 / m['speed_up']:.2f} times as long."
                    if m["speed_up"] else "No time is left.")
    if p["speed_up"]:
        off = 100 * report["error"]["gain"]
        said.append(f"The prediction was {p['speed_up']:.2f} times: the "
                    "measured gain is " + (
                        "the same." if abs(off) < 0.05 else
                        f"{'smaller' if off > 0 else 'larger'} by "
                        f"{abs(off):.1f} % of the run's time."))
    return said + _verdict_on_part(report.get("nonblocking")) + \
        shared.said(report.get("shared") or [])


def _verdict_on_part(part):
    if not part or not part["predicted"]["speed_up"]:
        return []
    said = ("Its nonblocking collectives make this program "
            f"{part['predicted']['speed_up']:.2f} times as fast by the "
            "prediction")
    if not part["measured"]["apart"]:
        return [said + ", and the runs do not show how much."]
    return [said + f", and {part['measured']['speed_up']:.2f} in the runs."]


def _notes(report):
    said = []
    if report["oversubscribed"]:
        said.append(
            f"{units.plural(report['ranks'], 'rank')} share "
            f"{units.plural(report['machine']['cores'], 'core')}: the "
            "measured runs wait for cores, the predicted ones have one "
            "each. The two cannot be compared.")
    said += hardware.doubts(report["machine"], report["ranks"])
    bound = report["forecast"]["bounds"]["communication"]["ratio"]
    gained = report["measured"]["speed_up"]
    if report["measured"]["apart"] and bound and gained and \
            gained > 1.01 * bound:
        said.append(
            "The program gained more than the bound: no model has what counts "
            "here, such as caches, or other programs on the cores.")
    return said + report["forecast"]["model_about"] + \
        report["forecast"]["notes"]


