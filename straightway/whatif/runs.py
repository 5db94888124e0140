"""Runs in virtual time, replays, and normal runs.

`Runner` starts them, `Outcome` has their results:

    runner = Runner(job, folder)
    baseline, ops = runner.live(model_file, ranks)
    outcomes = runner.replay([model_file, ...], ops)

A file of operations has the actions of the ranks (src/vtime/ops/op.h).
"""

import json
import os
import pathlib
import re
import shlex
import signal
import struct
import subprocess
import time

from straightway import capture, native, profile
from straightway.capture import names
from straightway.errors import UserError
from straightway.whatif import devices, operations
from straightway.whatif.outcomes import outcome

_MAGIC, _TAIL = b"\x89SWOPS\r\n", 64   # of a file of operations
DEADLOCK = 3                # the replay's exit status
LAST_LINES = 20             # of the output of a failed program
PATIENCE = 10               # s for a launcher to end after a rank has died


def _tail(folder, *texts):
    """The last lines of the output, without lines on files that no longer
    exist when the user reads them."""
    lines = [line for text in texts for line in text.strip().splitlines()
             if str(folder) not in line]
    if len(lines) > LAST_LINES:
        lines = ["..."] + lines[-LAST_LINES:]
    return "".join(f"\n  {line}" for line in lines)


def _how(status):
    """The meaning of an exit status of a launcher or a shell."""
    if 128 < status < 128 + signal.NSIG:
        return f"status {status} ({signal.strsignal(status - 128)})"
    return f"status {status}"


def _ended_early(found):
    """The result's sentences on ranks that have died, or never came. Others
    may wait for them, but the program has no deadlock."""
    return found and next((note for note in found.get("notes", ()) if re.match(
        "rank [0-9]+.* (died|ended before MPI_Finalize|never came)", note)),
        None)


def _stuck(result):
    """A function that tells when a run will never end by itself: its ranks are
    in a deadlock, or a rank has died and the launcher has not ended the run.
    """
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
    """Starts runs, with their files in `folder`."""

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
                f"the program had {one.ranks} ranks in place of {ranks}: "
                "launcher and MPI do not belong together (--mpi names one)", 1)
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
        """[Outcome] of a file of operations, one for each model file."""
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

    def operations(self, path, ranks=None, graph=False, **how):
        """(file of operations of the file to replay, sentences on it). It
        extrapolates to more ranks than the file has. `graph`: GOAL stays a
        partial order, even where one order has the same meaning; `how`: more
        of operations.convert."""
        source, notes = pathlib.Path(path), []
        if not source.exists():
            raise UserError(f"{path}: there is no such file")
        if source.is_dir() or not _magic(source) == _MAGIC:
            made = self.path("swops")
            if not source.is_dir() and _magic(source) == capture.MAGIC:
                found = capture.read(str(source))
                if devices.records(found.ranks):
                    notes += devices.sentences(profile.Profile(found),
                                               "the traced run")
                notes += operations.from_trace(found, str(made)).notes
            else:
                notes += _converted(source, made, graph=graph and not ranks,
                                    **how)
            source = made
        has = self.ranks_of(source)
        if ranks and ranks < has:
            raise UserError(f"-n {ranks}: {path} has {has} ranks; give "
                            f"{has} or more")
        if ranks and ranks > has:
            more = self.path("swops")
            notes += operations.extrapolate(str(source), ranks,
                                            str(more)).notes
            source = more
        return source, notes

    @staticmethod
    def ranks_of(ops):
        """The number of ranks in a file of operations (opfile_format.h)."""
        try:
            with open(ops, "rb") as file:
                head = file.read(8)
                file.seek(-_TAIL, os.SEEK_END)
                tail = file.read(_TAIL)
        except OSError:
            head = tail = b""
        if head != _MAGIC or tail[-8:] != b"SWOPEND\n":
            raise UserError(f"{ops} is no file of operations, or an incomplete "
                            "one; straightway whatif --record makes one", 1)
        return struct.unpack_from("<I", tail, 24)[0]

    def measured(self, ranks, accelerated=False, named=False, **settings):
        """(ns of a normal run, its Profile), less the cost of recording.
        `named`: call sites get names; `settings`: more of `run`."""
        path = self.path("swcap")
        how = "with Straightway" if accelerated else "normally"
        status, out, err, _ = self.job.run(ranks, {
            "enable": "on" if accelerated else "off", "profile": "on",
            "profile-report": "off", "profile-output": path, **settings},
            f"a run {how}")
        if not path.exists() and not status:
            raise UserError(self._no_mpi("MPI_Init"), 1)
        if status:
            raise self._failed(how, ranks, status, None, out, err)
        read = capture.read(str(path))
        if named:
            names.add(read)
        found = profile.Profile(read)
        return _wall(found), found


def _converted(source, made, **how):
    """Convert another tool's file; return sentences on the result. A file with
    an unknown ending counts as SMPI's; a text in another form is an error."""
    try:
        return operations.convert(str(source), str(made), **how).notes
    except UserError as error:
        if source.suffix == ".goal":
            raise
        raise UserError(
            f"{source}: neither recorded operations (*.swops), nor a "
            "trace (*.swtrace), nor GOAL\n  (*.goal), and read as SMPI's list "
            f"of traces: {_without(source, str(error))}",
            error.status) from None


def _without(source, message):
    """A message that does not name the file again."""
    message = message.replace(f"{source} is ", "it is ", 1)
    return re.sub(rf"^{re.escape(str(source))}:(\d+): ", r"line \1: ", message)


def _magic(path):
    try:
        with open(path, "rb") as file:
            return file.read(8)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None


def _said(text):
    """The native program's message, as the text of a UserError."""
    return text.strip().removeprefix("straightway-whatif: ")


def _wall(p):
    """The longest rank's time, less the cost of recording its calls."""
    return max(r.wall - min(0.5 * r.wall, r.calls * r.capture.own_call_cost)
               for r in p.ranks)
