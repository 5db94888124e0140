"""A program as the user gives it, and its runs under `straightway run`."""

import dataclasses
import os
import signal
import subprocess
import tempfile
import time

from straightway import native
from straightway.errors import UserError

# Open MPI's launcher prints this when it fails to start: once in some tens of
# thousands of runs, of any program, before any rank has started.
NOT_BEGUN = "The PMIx server's listener thread failed to start"


@dataclasses.dataclass
class Job:
    """A program as the user gives it."""

    program: list
    mpi: str = None
    launcher_args: str = ""
    timeout: float = None
    quiet: bool = True          # hide the program's output

    @property
    def title(self):
        words = [os.path.basename(self.program[0]), *self.program[1:]]
        return " ".join(words)

    def words(self, ranks, settings):
        """The command that starts the program; `settings` are those of `run`.
        """
        words = [str(native.command()), "run", "-n", str(ranks)]
        if self.mpi:
            words += ["--mpi", self.mpi]
        if self.launcher_args:
            words += ["--launcher-args", self.launcher_args]
        words += [f"--{name}={value}" for name, value in settings.items()]
        return [*words, "--", *self.program]

    def run(self, ranks, settings, what, over=lambda: False):
        """Run the program to its end, or until `over` says so. Return (status,
        its two outputs, the command).

        UserError where it takes too long. A launcher that could not start gets
        a second try.
        """
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
    """End a launcher and its ranks, which may be children of a script: first
    by request, then by force."""
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
