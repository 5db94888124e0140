"""straightway bench profile: what recording costs a program."""

import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile
import time

from straightway import capture, native
from straightway.bench import medians, recording, runs
from straightway.commands.bench import choices
from straightway.errors import UserError
from straightway.machine import hardware, hosts
from straightway.reporters import (output, progress, recording_terminal,
                                   report_json)

MOST_ROUNDS = 1000


class Recording:
    """Measure what recording costs a program.

    One program is run in turns, a round after the other, on the same cores:

      host      alone
      profile   profiled, as straightway profile does
      off       profiled, and switched off by MPI_Pcontrol(0)
      trace     profiled with --trace
      tool      with another tool's library, given by --tool

    in an order that is shuffled anew for each round. It calls what takes
    little time (MPI_Comm_rank, messages and collectives of a rank with
    itself), then what communicates: a ping-pong between ranks 0 and 1,
    collectives and a halo exchange of all ranks.

    A sample is a batch of calls with a barrier before it; its value is the
    slowest rank's. A run counts with its median. Medians over the rounds are
    shown, with half the distance between the quartiles. What recording adds
    is the difference within a round; per call: by the recorded calls that
    lie on the item's critical path. Nothing is accelerated.

    Results are checked. The exit status is 1 when one was wrong, or a run
    failed or was not recorded.
    """

    name = "profile"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("-n", "--ranks", type=int, metavar="N", default=2,
            help="ranks [2]")
        add("--rounds", type=int, metavar="N", default=5,
            help="runs of each kind [5]")
        add("--items", metavar="LIST", default="all", help=(
            "what is called, as in comm_rank,pingpong [all]"))
        add("--tool", metavar="LIB.so", help=(
            "preload this library instead, and show it beside"))
        add("--corrupt", action="store_true", help=(
            "spoil what arrives before it is checked, to see that the check "
            "finds it"))
        add("--seconds", metavar="S", type=float, default=0.1,
            help="for one item in one run [0.1]")
        add("--json", metavar="OUT", help=(
            "raw samples and the machine's description; - is stdout"))
        choices.add_common(add)

    @staticmethod
    def run(options):
        items = choices.parse_names("--items", "item", options.items,
                                    recording.ITEMS)
        choices.check_ranks(options.ranks)
        choices.check_seconds("--seconds", options.seconds)
        if not 1 <= options.rounds <= MOST_ROUNDS:
            raise UserError(f"--rounds {options.rounds}: give a number from 1 "
                            f"to {MOST_ROUNDS}")
        tool = _tool(options.tool)
        output.check_writable(options.json)
        host = hosts.choose(options.mpi)
        runs.check_parts(host)

        description = hardware.describe()
        job = _Job(host, options, items, tool, choices.seed(options))
        progress.start(
            host.title, options.ranks,
            f"{len(job.variants)} kinds of runs, {options.rounds} "
            f"round{'s' * (options.rounds != 1)}", description)
        start = time.monotonic()
        job.measure()
        report = _report(job, description, time.monotonic() - start)
        if options.json != "-":
            recording_terminal.render(report, sys.stdout)
        if options.json:
            output.send(options.json, report_json, report)
        return 0


def _tool(path):
    """The library of --tool, as the dynamic linker is to be told of it."""
    if path is None:
        return None
    if not os.path.exists(path):
        raise UserError(f"--tool {path}: does not exist; give a shared "
                        "library, like ./libmpiP.so")
    real = os.path.abspath(path)
    try:
        with open(real, "rb") as file:
            good = file.read(4) == b"\x7fELF"
    except OSError as error:
        raise UserError(f"--tool {path}: {error.strerror}") from None
    if not good:
        raise UserError(f"--tool {path}: is no shared library; give one, "
                        "like ./libmpiP.so")
    if " " in real or ":" in real:
        raise UserError(f"--tool {path}: the dynamic linker takes no library "
                        "from a path with a space or a colon; link to it "
                        "from another folder")
    return real


# The runs ---------------------------------------------------------------

class _Job:
    """The runs: `lines` {variant: [each round's lines]}, `order` what ran
    when, `commands` a command of each, `costs` what the captures say."""

    def __init__(self, host, options, items, tool, seed):
        self.host, self.options, self.tool = host, options, tool
        self.items, self.seed = items, seed
        self.variants = [v for v in recording.VARIANTS if v != "tool" or tool]
        self.lines = {variant: [] for variant in self.variants}
        self.order, self.costs, self.commands = [], [], {}
        self.start = None

    def measure(self):
        """All rounds; UserError when a run failed."""
        shuffle = random.Random(self.seed).shuffle
        total = self.options.rounds * len(self.variants)
        with progress.bar(total) as step:
            for number in range(self.options.rounds):
                order = list(self.variants)
                shuffle(order)
                for variant in order:
                    self._run(variant)
                    self.order.append({"round": number, "variant": variant})
                    step(f"round {number + 1}: {variant}", 0, total)

    def _arguments(self, variant):
        arguments = ["--items", ",".join([recording.CLOCK, *self.items]),
                     "--seconds", self.options.seconds, "--seed", self.seed]
        if variant == "off":
            arguments += ["--paused", 1]
        return arguments + (["--corrupt", 1] if self.options.corrupt else [])

    def _environment(self, variant, captured):
        """`env` with what makes a run what it is. Whatever is preloaded goes
        into the program alone."""
        library, given = None, {}
        if variant == "tool":
            library = self.tool
            if "/" in self.host.library:
                given["LD_LIBRARY_PATH"] = _joined(
                    os.path.dirname(os.path.abspath(self.host.library)),
                    os.environ.get("LD_LIBRARY_PATH"))
        elif variant != "host":
            library = str(native.library().resolve())
            given = dict(recording.settings(variant),
                         STRAIGHTWAY_PROFILE_OUTPUT=captured)
        given["LD_PRELOAD"] = _joined(library, os.environ.get("LD_PRELOAD"))
        return ["env", *(f"{name}={value}" for name, value in given.items())]

    def _run(self, variant):
        # A tool may leave files in the working directory.
        with tempfile.TemporaryDirectory(prefix="straightway-") as folder:
            out, said, captured = (os.path.join(folder, name)
                                   for name in ("lines", "said", "capture"))
            words = runs.command(
                self.host, self.options.ranks, self.options.launcher_args,
                self._arguments(variant), out,
                self._environment(variant, captured))
            self.commands.setdefault(variant, shlex.join(words))
            with open(said, "wb") as file:
                events, status = runs.follow(
                    words, out, cwd=folder, stdout=file,
                    stderr=subprocess.STDOUT, env=dict(
                        os.environ,
                        STRAIGHTWAY_LIB=str(native.library().resolve())))
            text = pathlib.Path(said).read_text(errors="replace")
            self._check(variant, events, status, text)
            if variant in ("profile", "off", "trace"):
                self.costs += _costs(variant, captured, text)

    def _name(self, variant):
        return {"host": self.host.title + " alone",
                "profile": "the profile", "off": "the profile switched off",
                "trace": "the trace",
                "tool": os.path.basename(self.tool or "")}[variant]

    def _check(self, variant, events, status, text):
        lines = [e for e in events if "cell" in e]
        name = self._name(variant)
        wrong = [line for line in lines if not line["time_right"]]
        if wrong:
            spoilt = " (--corrupt spoilt it)" if self.options.corrupt else ""
            raise UserError("\nstraightway: ".join(
                f"WRONG RESULT: {line['cell']} at {line['size']} bytes with "
                f"{name}{spoilt}" for line in wrong), 1)
        if status or not lines:
            raise UserError(
                f"the run with {name} ended with status {status} after "
                f"{len(lines)} items; its command was\n"
                f"  {self.commands[variant]}\nand it said\n{text}", 1)
        if variant == "tool" and "cannot be preloaded" in text:
            raise UserError(
                f"--tool {self.options.tool}: the system does not preload it; "
                "give a shared library for this machine's programs\n"
                + text.strip(), 1)
        self.start = next(e["start"] for e in events if "start" in e)
        self.lines[variant].append(lines)


def _joined(*paths):
    return ":".join(filter(None, paths))


def _costs(variant, path, text):
    """The ns that recording a call takes, by each rank's own measure."""
    if not os.path.exists(path):
        raise UserError("Straightway recorded nothing under this MPI (see "
                        f"straightway doctor); it said\n{text}", 1)
    ranks = capture.read(path).ranks
    for rank in ranks:
        if variant == "trace" and not rank.trace:
            raise UserError(f"rank {rank.number} left no trace; it said\n"
                            f"{text}", 1)
        if variant == "trace" and rank.trace.stopped:
            raise UserError(
                f"the trace of rank {rank.number} is not whole "
                f"({rank.trace.stopped}): give fewer --seconds, or a larger "
                "STRAIGHTWAY_TRACE_LIMIT", 1)
    return [rank.own_call_cost for rank in ranks]


# The report -------------------------------------------------------------

def _report(job, description, seconds):
    found = recording.cells(job.lines)
    clock = next(c for c in found if c["operation"] == recording.CLOCK)
    options = job.options
    return {
        "schema": "straightway-bench-profile/1",
        "machine": description,
        "mpi": dict(job.host.describe(), version=job.start["mpi"]),
        "ranks": options.ranks,
        "oversubscribed": options.ranks > hardware.cores(),
        "seed": job.seed,
        "seconds": seconds,
        "plan": {"items": job.items, "rounds": options.rounds,
                 "seconds_per_item": options.seconds, "tool": job.tool},
        "variants": job.variants,
        "order": job.order,
        "commands": {variant: job.commands[variant]
                     for variant in job.variants},
        "floors": {"clock_reads": clock["host"]["median"],
                   "own_call_cost": medians.median(job.costs)},
        "cells": [c for c in found if c is not clock],
    }
