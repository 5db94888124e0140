"""Pairs of runs of a program, one alone and one with Straightway, and what
they say together.

    found = Comparison(folder, limit).measure(application, ranks, pairs)

The first of a pair alternates. A run has a folder of its own with a copy of the
program's input. Its figures are sums over the ranks (bench/job.py). The peak of
resident memory is that of the largest rank, and wall is what a user waits for.
One more run of each side, untimed, says how much memory a rank has of the job's
(bench/memory.py).

The first run alone says what the result should be. A run with Straightway that
has another result is WRONG. But if a run alone differs from the first one as
well, then the program varies by itself, and its tolerance is too small. So runs
alone follow each result that differs.
"""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import application
import job
import memory

from straightway.bench import medians

COMMAND = pathlib.Path(sys.prefix) / "bin/straightway"
LAUNCHER = [application.LAUNCHER, "--oversubscribe", "-n"]
CAPTURE = "run.swcap"
WAYS = {"alone": [], "ours": ["run"], "profile": ["profile", "-o", CAPTURE],
        "trace": ["profile", "--trace", "-o", CAPTURE]}
PROFILES = 3            # runs with `profile`, at most as many as pairs
DOUBTS = 3              # runs alone after a result that differs
SUMS = "user", "system", "minor", "major", "voluntary", "involuntary"

# How the runs of a program ended. Those of BAD are Straightway's fault.
FINE, WRONG, FAILS, HANGS = "ok", "WRONG", "FAILS", "HANGS"
VARIES, ALONE = "varies alone", "fails alone"
BAD = WRONG, FAILS, HANGS
NOTHING = "no line of its result was found"


class Stop(Exception):
    """The runs of a program end before their time: (state, why)."""


def failure(done, each, ranks):
    """(state, why) of a job that has not ended well, or None."""
    if done.late:
        return HANGS, "the limit has ended it"
    states = [one["status"] for one in each]
    if not done.status and len(each) == ranks and not any(states):
        return None
    return FAILS, f"status {done.status}, ranks {states}: {last_words(done)}"


def last_words(done):
    """The last line that a program has printed before its launcher did."""
    texts = (re.split(r"^-{9,}$", text, flags=re.M)[0].strip()
             for text in (done.errors, done.output))
    text = next(filter(None, texts), done.errors.strip()
                or "it printed nothing")
    return text.splitlines()[-1]


def sample(app, done, each, place):
    """The figures of a job that has ended well."""
    text = app.text(done.output, place)
    return {"wall": done.wall, "own": app.own_time(done.output, text),
            **{key: sum(one[key] for one in each) for key in SUMS},
            "rss": max(one["rss"] for one in each), "each": each,
            "result": app.lines(text),
            "said": [line for line in done.errors.splitlines()
                     if line.startswith("straightway:")]}


class Comparison:
    """Runs programs. `folder` is scratch; `note` gets a sentence on a part
    that could not be measured."""

    def __init__(self, folder, limit=job.LIMIT, note=lambda text: None):
        self.folder, self.limit, self.note = folder, limit, note
        self.env = application.environment()
        self.rank = folder / "rank"
        subprocess.run(["cc", "-O2", "-o", self.rank, job.RANK], check=True)

    def run(self, app, ranks, way, prepared, **more):
        """(sample of one run, its capture's path). The caller removes the
        folder of the run, which holds the capture. `more` goes to job.run."""
        place = self.folder / "run"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(prepared, place, symlinks=True)
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        before = [COMMAND, *WAYS[way]] if WAYS[way] else []
        words = [*LAUNCHER, ranks, self.rank, log, "-", *before,
                 *shlex.split(app.command)]
        done = job.run(list(map(str, words)), {**self.env, **app.env}, place,
                       self.limit, **more)
        each = job.read_ranks(log)
        bad = failure(done, each, ranks)
        if bad:
            raise Stop(*(bad[0], f"{way}: {bad[1]}") if way != "alone" else
                       (ALONE, f"{bad[0].lower()}: {bad[1]}"))
        one = sample(app, done, each, place)
        if not one["result"]:
            raise Stop(*(WRONG, f"{way}: {NOTHING}") if way != "alone" else
                       (ALONE, NOTHING))
        return one, place / CAPTURE

    def measure(self, app, ranks, pairs, profiles=PROFILES, bound=True):
        """The row of a program: {"state", "why", "samples", "most", ...}."""
        row = {"name": app.name, "title": app.title, "ranks": ranks,
               "state": FINE, "why": None, "samples": [], "most": None,
               "memory": None}
        prepared = self.folder / "prepared"
        try:
            self._prepare(app, ranks, prepared)
            self._pairs(app, ranks, prepared, pairs, min(profiles, pairs),
                        row["samples"])
            row["memory"] = self._memory(app, ranks, prepared)
            if bound:
                row["most"] = self._most(app, ranks, prepared)
        except Stop as stop:
            row["state"], row["why"] = stop.args
        finally:
            for place in prepared, self.folder / "run":
                shutil.rmtree(place, ignore_errors=True)
        row.update(figures(row["samples"]))
        return row

    def _prepare(self, app, ranks, prepared):
        try:
            app.install(prepared, ranks, self.env)
        except subprocess.CalledProcessError as why:
            said = (why.stdout or "").strip().splitlines() or ["it failed"]
            raise Stop(ALONE, f"{why.cmd[-1]}: {said[-1]}") from None

    def _pairs(self, app, ranks, prepared, pairs, profiles, samples):
        if pairs > 1:               # files come into the system's cache
            self.run(app, ranks, "alone", prepared)
        order = ["alone", "ours"]
        for number in range(pairs):
            for way in order + ["profile"] * (number < profiles):
                one, _ = self.run(app, ranks, way, prepared)
                samples.append({"way": way, "pair": number, **one})
            order.reverse()
            why = differs(app, samples)
            if why:
                self._doubt(app, ranks, prepared, samples)
                raise Stop(WRONG, why)

    def _doubt(self, app, ranks, prepared, samples):
        """A result differs: Stop if the program varies by itself."""
        alone = [one for one in samples if one["way"] == "alone"]
        for _ in range(DOUBTS):
            alone.append(self.run(app, ranks, "alone", prepared)[0])
        why = differs(app, [{**one, "way": "alone"} for one in alone])
        if why:
            raise Stop(VARIES, why)

    def _memory(self, app, ranks, prepared):
        """KiB of a rank at the job's peak, for each side; None: a side was too
        short to be looked at."""
        found = {}
        for way in "alone", "ours":
            sampler = memory.Sampler()
            self.run(app, ranks, way, prepared, watch=sampler)
            found[way] = sampler.peak / ranks
        return found if all(found.values()) else None

    def _most(self, app, ranks, prepared):
        """The ratio of what-if with free communication, or None."""
        try:
            _, capture = self.run(app, ranks, "trace", prepared)
            done = subprocess.run(
                [COMMAND, "whatif", "replay", capture, "--json", "-"],
                capture_output=True, text=True, timeout=self.limit,
                stdin=subprocess.DEVNULL)
            if not done.returncode:
                return json.loads(done.stdout)["bounds"]["communication"][
                    "ratio"]
            said = done.stderr.strip().splitlines() or ["it failed"]
            self.note(f"{app.title}: no bound: {said[-1]}")
        except Stop as stop:
            self.note(f"{app.title}: no bound: {stop.args[1]}")
        except subprocess.TimeoutExpired:
            self.note(f"{app.title}: no bound: the limit has ended it")
        return None


# What the samples say -------------------------------------------------------

def differs(app, samples):
    """How a result differs from the one of the first run alone, or None."""
    wanted = next(one["result"] for one in samples if one["way"] == "alone")
    for one in samples:
        why = app.difference(wanted, one["result"])
        if why:
            return f"{one['way']}: {why}"
    return None


def figures(samples):
    """The medians of a program's samples. A ratio is alone / with Straightway
    of a pair, so that above 1 Straightway takes less; None: one is 0."""
    by = {way: {one["pair"]: one for one in samples if one["way"] == way}
          for way in WAYS}
    numbers = [n for n in by["alone"] if n in by["ours"]]
    if not numbers:
        return {"pairs": 0}
    sides = [[by[way][n] for n in numbers] for way in ("alone", "ours")]

    def both(key):
        alone, ours = ([of(one, key) for one in side] for side in sides)
        if None in alone + ours:
            return None
        found = {"alone": medians.median(alone), "ours": medians.median(ours)}
        if all(alone) and all(ours):
            found["ratio"] = medians.summary(
                [a / b for a, b in zip(alone, ours)])
        return found

    found = {"pairs": len(numbers), "profile": None, "said": sorted(
        {line for one in by["ours"].values() for line in one["said"]})}
    for key in ("wall", "own", "cpu", "user", "system", "faults", "voluntary",
                "involuntary", "rss"):
        found[key] = both(key)
    if by["profile"]:
        found["profile"] = medians.median(
            [one["wall"] for one in by["profile"].values()]
        ) - found["wall"]["alone"]
    return found


def of(one, key):
    """A figure of a sample."""
    if key == "cpu":
        return one["user"] + one["system"]
    if key == "faults":
        return one["minor"] + one["major"]
    return one[key]


def taken(row):
    """The part of what communication costs that `run` has taken, by what-if's
    bound; None: there is no bound, or it is less than 1 %."""
    most = row["most"]
    if not most or most < 1.01 or not row["pairs"]:
        return None
    gained = row["wall"]["ratio"]["median"]
    return (1 - 1 / gained) / (1 - 1 / most)


def mean(rows):
    """The geometric mean of the rows' medians, and the lowest of them; None:
    nothing was measured."""
    ratios = [row["wall"]["ratio"] for row in rows if row["state"] == FINE]
    if not ratios:
        return None
    return {"ratio": medians.geometric_mean(one["median"] for one in ratios),
            "programs": len(ratios),
            "lowest": min(one["median"] for one in ratios)}
