"""A stand-in for what the native parts answer, with known times.

With the baseline's model a program computes for 4 s / ranks. It spends 1 s in
alltoall, 0.5 s in allreduce and 0.5 s in messages. A model file changes these
times by rules simple enough to check by hand.
"""

import collections
import json
import pathlib

from straightway.whatif import outcomes as whatif
from straightway.whatif.models.lines import Line

SECOND = 1e9
COMPUTE = 4 * SECOND
COLLECTIVES = {"alltoall": (1000, 1 * SECOND), "allreduce": (10, SECOND / 2)}
MESSAGES = SECOND / 2
NONBLOCKING = 0.0           # by their own part, see outcome()


def read(path):
    """{first word: [the other words]} of a model file."""
    found = collections.defaultdict(list)
    with open(path) as file:
        for line in file:
            words = line.partition("#")[0].split()
            if words:
                found[words[0]].append(words[1:])
    return found


def outcome(path):
    """The Outcome under a model file."""
    model = read(path)
    ranks = int(model["ranks"][0][0])
    speed = float(model["cpu_speed"][0][0]) if model["cpu_speed"] else 1.0
    compute = COMPUTE / ranks / speed
    messages = MESSAGES if model["link"] or model["point"] else 0.0
    nonblocking = {words[1]: float(words[4]) for words in model["started"]}
    ours = any(words[:1] == ["alltoall"] and float(words[3]) <= 150
               for words in model["table"])
    times = {}
    free = {words[0] for words in model["free"]}
    scale = {words[0]: float(words[1]) for words in model["scale"]}
    for name, (calls, ns) in COLLECTIVES.items():
        ns *= scale.get(name, scale.get("all", 1.0))
        if name in free or "all" in free or ours and name == "alltoall":
            ns = 0.0
        times[name] = (calls, ns * ranks)
    collectives = sum(ns for _, ns in times.values()) / ranks
    # Own work of nonblocking ones: what the last line of a size says.
    collectives += sum(nonblocking.values()) * NONBLOCKING
    end = compute + messages + collectives
    one = whatif.RankTime(end, compute, 0.0, messages, collectives)
    total = whatif.RankTime(*(ranks * value for value in (
        end, compute, 0.0, messages, collectives)))
    return whatif.Outcome(ranks, end, 12345, 678, 1 << 20, times,
                          times=[one] * ranks, sums=total)


class Runner:
    """In place of runs.Runner; remembers what was asked."""

    measured_time = 1.02        # of the prediction
    profile = None              # what a normal run's is
    turned = None               # what a run in turns writes (turned.py)

    def __init__(self, job, folder, check=False, clocks=False):
        self.job, self.folder = job, pathlib.Path(folder)
        self.asked, self.number = [], 0

    def path(self, name):
        self.number += 1
        return self.folder / f"{self.number}.{name}"

    def operations(self, path, ranks=None, graph=False, **how):
        self.asked.append(("operations", path))
        return path, []

    @staticmethod
    def ranks_of(ops):
        return 2

    def live(self, model, ranks):
        self.asked.append(("live", ranks))
        ops = self.path("swops")
        ops.write_bytes(b"")
        return outcome(model), ops

    def replay(self, models, ops):
        self.asked.append(("replay", len(models)))
        return [outcome(model) for model in models]

    def measured(self, ranks, accelerated=False, named=False,
                 nonblocking="on", turns=None):
        self.asked.append(("in turns" if turns else "measured", ranks))
        if turns and self.turned:
            pathlib.Path(turns).write_text(json.dumps(self.turned))
        time = COMPUTE / ranks + MESSAGES + sum(
            ns for _, ns in COLLECTIVES.values())
        if accelerated:
            time -= SECOND if nonblocking == "on" else SECOND / 2
        return time * self.measured_time, self.profile


class Models:
    """In place of whatif/models/."""

    @staticmethod
    def names():
        return ["hockney", "loggps", "hdr200"]

    @staticmethod
    def load(given, **options):
        one = Models()
        one.given = [given] if isinstance(given, str) else list(given)
        return one

    def lines(self, ranks):
        link = "network" if "hdr200" in self.given else "node"
        return [Line("ranks", ranks),
                Line("link", link, {"L": 1000, "o_send": 150, "G": 0.04})]
