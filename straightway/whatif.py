"""What-if: a program in virtual time, and its operations timed again.

One run of the program under the baseline's model records what its ranks do
(src/vtime/ops/op.h); every experiment is that record, timed by another model, in
seconds and without the program. `Runner` knows how all of that is started,
`Outcome` what comes out of it:

    runner = Runner(job, folder)
    baseline, ops = runner.live(model_file, ranks)
    outcomes = runner.replay([model_file, ...], ops)

Times are ns, those of the program between MPI_Init and MPI_Finalize.
"""

import dataclasses
import json
import os
import pathlib
import re
import shlex
import signal
import struct
import subprocess
import tempfile
import time

from straightway import capture, native, profile
from straightway.bench import medians
from straightway.errors import UserError

_MAGIC, _TAIL = b"\x89SWOPS\r\n", 64   # of a file of operations


# What comes out -------------------------------------------------------------

@dataclasses.dataclass
class RankTime:
    """Where a rank's time went; the parts sum up to `end`."""

    end: float
    compute: float
    noise: float
    messages: float
    collectives: float
    waiting: float = 0.0        # part of messages and collectives


@dataclasses.dataclass
class Section:
    """A region of the program and those within it (profile.RegionTime)."""

    name: str                   # "outer/inner"; "" is outside of all
    ranks: int                  # that were there
    sums: RankTime              # over all ranks; `end`: all their time there
    longest: int                # the rank that was there for longest,
    most: RankTime              # and its time

    @property
    def share(self):
        """Communication's part of all ranks' time in it."""
        return (self.sums.messages + self.sums.collectives) / \
            self.sums.end if self.sums.end else 0.0

    def describe(self):
        """For JSON: seconds."""
        return {"name": self.name, "ranks": self.ranks,
                "time_s": self.most.end / 1e9, "longest": self.longest,
                "communication": self.share,
                "all": seconds_of(self.sums), "most": seconds_of(self.most)}


def seconds_of(t):
    return {"time_s": t.end / 1e9, "compute_s": t.compute / 1e9,
            "noise_s": t.noise / 1e9, "messages_s": t.messages / 1e9,
            "collectives_s": t.collectives / 1e9,
            "waiting_s": t.waiting / 1e9}


@dataclasses.dataclass
class Outcome:
    """What a run in virtual time, or a replay, has found."""

    ranks: int
    end: float                  # of the last rank
    operations: int = 0
    messages: int = 0
    bytes: int = 0
    collectives: dict = dataclasses.field(default_factory=dict)
                                # {name: (calls, ns over all ranks)}
    wildcards: int = 0
    undecided: int = 0
    disordered: int = 0
    forced: int = 0             # steps without knowing all
    times: list = dataclasses.field(default_factory=list)
    sums: RankTime = None       # over all ranks
    sections: list = dataclasses.field(default_factory=list)
                                # [Section], by name; first what is outside
    extrapolated: bool = False
    damaged: int = 0            # parts of the file that were left out
    notes: list = dataclasses.field(default_factory=list)

    @property
    def elapsed(self):
        """Time of all ranks together."""
        return self.sums.end if self.sums and self.sums.end else \
            self.end * self.ranks

    @property
    def parts(self):
        """{what: its part of all ranks' time}; what ends early waits."""
        whole = self.end * self.ranks or 1
        s = self.sums
        if not s:
            return {}
        return {"compute": (s.compute + s.noise) / whole,
                "messages": s.messages / whole,
                "collectives": s.collectives / whole,
                "ended": max(0.0, 1 - s.end / whole)}

    def describe(self):
        """For JSON: seconds."""
        return {
            "time_s": self.end / 1e9, "ranks": self.ranks,
            "operations": self.operations, "messages": self.messages,
            "bytes": self.bytes,
            "share": {k: v for k, v in self.parts.items() if k != "ended"},
            "collectives": {name: {"calls": calls, "time_s": ns / 1e9}
                            for name, (calls, ns)
                            in self.collectives.items()},
            "wildcards": self.wildcards, "undecided": self.undecided,
            "disordered": self.disordered, "forced": self.forced,
            "sections": [one.describe() for one in self.sections],
            "extrapolated": self.extrapolated,
            "damaged": self.damaged, "notes": self.notes}


def outcome(found):
    """The Outcome of a result as straightway-whatif writes it (result.h).
    UserError where it is a deadlock, or where the engine could not go on."""
    if found.get("state", "done") == "deadlock":
        raise UserError(_deadlock(found), 1)
    if found.get("state") == "wrong":
        raise UserError("the prediction has failed: "
                        + "; ".join(found.get("notes", ())), 1)
    times = [_rank_time(one) for one in found.get("rank_times", ())]
    sums = found.get("sums")
    return Outcome(
        found["ranks"], found["end_ns"], found.get("operations", 0),
        found.get("messages", 0), found.get("bytes", 0),
        {name: (one["calls"], one["time_ns"])
         for name, one in found.get("collectives", {}).items()
         if one["calls"]},
        found.get("wildcards", 0), found.get("undecided", 0),
        found.get("disordered", 0), found.get("forced", 0), times,
        _rank_time(sums) if sums else RankTime(*(sum(getattr(t, f.name) for t in times)
                                for f in dataclasses.fields(RankTime))),
        sorted((Section(one["name"], one["ranks"], _rank_time(one["sums"]),
                        one["longest"], _rank_time(one["most"]))
                for one in found.get("sections", ())),
               key=lambda section: section.name),
        bool(found.get("extrapolated")), found.get("damaged", 0),
        list(found.get("notes", ())))


def _rank_time(one):
    return RankTime(*(one.get(f.name + "_ns", 0.0)
                      for f in dataclasses.fields(RankTime)))


MOST_STUCK = 8
DEADLOCK = 3                    # the replay's exit status


def _deadlock(found):
    stuck = found.get("stuck", [])
    lines = [f"\n  rank {one['rank']}: {one['waits_for']}"
             for one in stuck[:MOST_STUCK]]
    more = found.get("stuck_ranks", len(stuck)) - MOST_STUCK
    if more > 0:
        lines.append(f"\n  and {more} more ranks")
    return ("the program is in a deadlock in virtual time: no rank can ever "
            "go on" + "".join(lines))


# A program ------------------------------------------------------------------

# What Open MPI's launcher says when it could not begin: once in some tens of
# thousands of runs, of any program, before a rank of it has started.
NOT_BEGUN = "The PMIx server's listener thread failed to start"


@dataclasses.dataclass
class Job:
    """A program as the user gives it."""

    program: list
    mpi: str = None
    launcher_args: str = ""
    timeout: float = None
    quiet: bool = True          # what the program prints is kept from sight

    @property
    def title(self):
        words = [os.path.basename(self.program[0]), *self.program[1:]]
        return " ".join(words)

    def words(self, ranks, settings):
        """The command that starts it; `settings` are those of `run`."""
        words = [str(native.command()), "run", "-n", str(ranks)]
        if self.mpi:
            words += ["--mpi", self.mpi]
        if self.launcher_args:
            words += ["--launcher-args", self.launcher_args]
        words += [f"--{name}={value}" for name, value in settings.items()]
        return [*words, "--", *self.program]

    def run(self, ranks, settings, what, over=lambda: False):
        """Run it to its end, or until it is `over`: (status, what it printed,
        twice, the command). UserError where it takes too long. A launcher
        that could not begin is started again, once."""
        words = self.words(ranks, settings)
        done = self._run(words, what, over)
        if done[0] and NOT_BEGUN in done[1] + done[2]:
            done = self._run(words, what, over)
        return (*done, words)

    def _run(self, words, what, over):
        begun = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL,
                    stdout=out if self.quiet else None,
                    stderr=err if self.quiet else None,
                    start_new_session=True)
            except OSError as error:
                raise UserError(f"{words[0]}: {error.strerror}", 1) from None
            try:
                while not _ended(process, 0.2) and not over():
                    if self.timeout and \
                            time.monotonic() - begun > self.timeout:
                        raise UserError(
                            f"{what} of {self.title} took longer than "
                            f"{self.timeout:g} s (--timeout)", 1)
            finally:
                _end(process)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
        return (process.returncode, *texts)


def _ended(process, seconds):
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(process):
    """A launcher may be a script whose child starts the ranks: all of them
    are asked to end, then made to."""
    if process.poll() is not None:
        return
    for how, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, how)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                process.poll()
                os.killpg(process.pid, 0)
                time.sleep(0.05)
        except ProcessLookupError:
            break
    process.wait()


LAST_LINES = 20             # of what a program printed that has failed
PATIENCE = 10               # s, for a launcher to end when a rank has


def _tail(folder, *texts):
    """The last lines of what was printed, without what is said of files that
    are gone when it is read."""
    lines = [line for text in texts for line in text.strip().splitlines()
             if str(folder) not in line]
    if len(lines) > LAST_LINES:
        lines = ["..."] + lines[-LAST_LINES:]
    return "".join(f"\n  {line}" for line in lines)


def _how(status):
    """What an exit status of a launcher or a shell says."""
    if 128 < status < 128 + signal.NSIG:
        return f"status {status} ({signal.strsignal(status - 128)})"
    return f"status {status}"


def _ended_early(found):
    """What a result says of ranks that have died, or never came: others may
    wait for them, but that is no deadlock of the program's."""
    return found and next((note for note in found.get("notes", ()) if re.match(
        "rank [0-9]+.* (died|ended before MPI_Finalize|never came)", note)),
        None)


def _stuck(result):
    """A function that tells when a run will never end by itself: when its
    ranks are in a deadlock; and when its launcher has not ended it though a
    rank has died."""
    since = None

    def over():
        nonlocal since
        found = _load(result) or {}
        if found.get("state") != "deadlock":
            return False
        since = since or time.monotonic()
        return not _ended_early(found) or \
            time.monotonic() - since > PATIENCE

    return over


def _load(path):
    try:
        return json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError):
        return None


# Running --------------------------------------------------------------------

class Runner:
    """Starts runs; their files lie in `folder`."""

    def __init__(self, job, folder, check=False, clocks=False):
        self.job, self.folder, self.check = job, pathlib.Path(folder), check
        self.clocks = clocks
        self.number = 0

    def path(self, name):
        self.number += 1
        return self.folder / f"{self.number}.{name}"

    def live(self, model, ranks):
        """(Outcome, file of operations) of the program in virtual time."""
        result, ops = self.path("json"), self.path("swops")
        settings = {"whatif": model, "whatif-result": result,
                    "whatif-record": ops}
        if self.check:
            settings["whatif-check"] = "on"
        if self.clocks:
            settings["whatif-clocks"] = "on"
        status, out, err, _ = self.job.run(
            ranks, settings, "the run in virtual time", _stuck(result))
        found = _load(result)
        early = _ended_early(found)
        if found and not early:
            outcome(found)      # a deadlock is an error of its own
        if status or early:
            raise self._failed("in virtual time", ranks, status, early, out,
                               err)
        if not found:
            raise UserError(self._no_mpi("MPI_Init and MPI_Finalize")
                            + _tail(self.folder, err), 1)
        one = outcome(found)
        if one.ranks != ranks:
            raise UserError(
                f"{ranks} ranks were asked for, and the program had a world "
                f"of {one.ranks}: launcher and MPI do not belong together "
                "(--mpi names one)", 1)
        return one, ops

    def _failed(self, how, ranks, status, early, out, err):
        """The UserError of a run that has failed."""
        name, said = self.job.program[0], _tail(self.folder, out, err)
        return UserError(
            f"{name} ended with {_how(status)}, run {how}"
            + (f": {early}" if early else "")
            + (f"\n  it printed:{said}" if said else "")
            + "\n  to run it by itself: straightway run --enable=off -n "
            f"{ranks} {shlex.join(self.job.program)}",
            status if status in (126, 127) else 1)

    def _no_mpi(self, calls):
        return (f"{self.job.program[0]} has not called {calls} where "
                "Straightway could see it\n  Either it is no MPI program, or "
                "its MPI is linked statically, or it is one that Straightway "
                "does not\n  know: straightway doctor lists those it does")

    def replay(self, models, ops):
        """[Outcome] of a file of operations, under each model file."""
        words = [str(native.whatif_executable()), "replay"]
        if self.check:
            words.append("--check")
        words += [*map(str, models), "--", str(ops)]
        try:
            done = subprocess.run(words, text=True, errors="replace",
                                  capture_output=True,
                                  stdin=subprocess.DEVNULL)
        except FileNotFoundError:
            raise UserError(f"{words[0]} is missing\n  reinstall straightway",
                            1) from None
        if done.returncode not in (0, DEADLOCK):
            raise UserError(
                _said(done.stderr) or
                f"the replay ended with status {done.returncode}: "
                + shlex.join(words), 1)
        try:
            found = json.loads(done.stdout)
        except ValueError:
            raise UserError("the replay's answer cannot be read: "
                            + shlex.join(words), 1) from None
        return [outcome(one) for one in found["results"]]

    def operations(self, path, ranks=None):
        """(file of operations of what --replay names, sentences on it); for
        more ranks than it has, extrapolated."""
        from straightway import operations
        source, notes = pathlib.Path(path), []
        if not source.exists():
            raise UserError(f"--replay {path}: there is no such file")
        if source.is_dir() or not _magic(source) == _MAGIC:
            made = self.path("swops")
            if not source.is_dir() and _magic(source) == capture.MAGIC:
                found = capture.read(str(source))
                notes += operations.from_trace(found, str(made)).notes
            else:
                notes += _converted(source, made)
            source = made
        has = self.ranks_of(source)
        if ranks and ranks < has:
            raise UserError(f"-n {ranks}: {path} is of {has} ranks; fewer "
                            "cannot be made of them")
        if ranks and ranks > has:
            more = self.path("swops")
            notes += operations.extrapolate(str(source), ranks,
                                            str(more)).notes
            source = more
        return source, notes

    @staticmethod
    def ranks_of(ops):
        """How many ranks a file of operations is of (opfile_format.h)."""
        try:
            with open(ops, "rb") as file:
                head = file.read(8)
                file.seek(-_TAIL, os.SEEK_END)
                tail = file.read(_TAIL)
        except OSError:
            head = tail = b""
        if head != _MAGIC or tail[-8:] != b"SWOPEND\n":
            raise UserError(f"{ops}: is no file of operations, or not a "
                            "whole one; straightway whatif --record makes "
                            "one", 1)
        return struct.unpack_from("<I", tail, 24)[0]

    def measured(self, ranks, accelerated=False):
        """(ns of a normal run, its Profile): what recording cost is taken
        off again."""
        path = self.path("swcap")
        how = "with Straightway" if accelerated else "normally"
        status, out, err, _ = self.job.run(ranks, {
            "enable": "on" if accelerated else "off", "profile": "on",
            "profile-report": "off", "profile-output": path},
            f"a run {how}")
        if not path.exists() and not status:
            raise UserError(self._no_mpi("MPI_Init"), 1)
        if status:
            raise self._failed(how, ranks, status, None, out, err)
        found = profile.Profile(capture.read(str(path)))
        return _wall(found), found


def _converted(source, made):
    """Sentences on what another tool's form has become. What has none of the
    known endings is taken for SMPI's: a text that is none is told."""
    from straightway import operations
    try:
        return operations.convert(str(source), str(made)).notes
    except UserError as error:
        if source.suffix == ".goal":
            raise
        raise UserError(
            f"--replay {source}: neither recorded operations (*.swops), nor a "
            "trace (*.swtrace), nor GOAL\n  (*.goal), and read as SMPI's list "
            f"of traces: {error}", error.status) from None


def _magic(path):
    try:
        with open(path, "rb") as file:
            return file.read(8)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None


def _said(text):
    """What the native part said, as the text of a UserError."""
    return text.strip().removeprefix("straightway-whatif: ") \
        if hasattr(text, "removeprefix") else text.strip()


def _wall(p):
    """The longest rank's time, less what recording its calls took."""
    return max(r.wall - min(0.5 * r.wall, r.calls * r.capture.own_call_cost)
               for r in p.ranks)


def spread(samples):
    """{"median", "low", "high", "samples"} of times in ns, as seconds."""
    seconds = [ns / 1e9 for ns in samples]
    return {"median_s": medians.median(seconds), "low_s": min(seconds),
            "high_s": max(seconds), "samples_s": seconds}
