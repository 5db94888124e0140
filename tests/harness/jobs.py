"""Running a job so that nothing of it outlives its test.

A launcher starts daemons, daemons start ranks, and each may sit in a session
of its own: killing a process group does not end an MPI job. So every job
carries a mark in its environment, which all its descendants inherit, and
what carries the mark is what belongs to the job. After each job the mark is
looked for: a process that is still there is killed and fails the test.

Output goes to files, not pipes: a straggler that keeps a pipe open could
otherwise hold the test up past its own timeout.

Each job has a folder of its own for temporary files, which goes with the job:
a launcher that is killed leaves its session's folder, named by its process id.
Open MPI 5 does not start where that folder is, once the id comes again.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

import pytest

from . import patience

# Not STRAIGHTWAY_...: the demos remove such names from their runs.
MARK = "TEST_JOB_MARK"


class JobTimeout(AssertionError):
    """The job did not end in its time; carries what it had printed."""


def _environment(pid):
    """As bytes. In the midst of exec it reads empty: then it is read again
    (kernel threads and zombies have none, nor an executable)."""
    for _ in range(20):
        with open(f"/proc/{pid}/environ", "rb") as f:
            text = f.read()
        if text:
            return text
        os.readlink(f"/proc/{pid}/exe")
        time.sleep(0.001)
    return b""


def processes_marked(mark):
    """The process ids of all living processes that carry the mark."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if wanted in _environment(name).split(b"\0"):
                found.append(int(name))
        except OSError:
            continue        # gone, a zombie, or another user's
    return found


def _segments(pids):
    """The files in /dev/shm that these processes have mapped."""
    found = set()
    for pid in pids:
        try:
            with open(f"/proc/{pid}/maps") as f:
                for line in f:
                    path = line.rstrip("\n").partition("/")[2]
                    if path.startswith("dev/shm/") and "(deleted" not in path:
                        found.add("/" + path)
        except OSError:
            pass
    return found


def end_marked(mark, segments=(), patience=5.0):
    """Kill every process of a job, and what a host then leaves in /dev/shm.

    Killed MPIs cannot remove their segments: that is their way and not what
    a test that ends in a timeout is about. Returns the processes killed.
    """
    killed, segments = set(), set(segments)
    end = time.monotonic() + patience
    while True:
        left = processes_marked(mark)
        if not left:
            for path in segments:
                try:
                    os.unlink(path)
                except OSError:
                    pass
            return killed
        segments |= _segments(left)
        for pid in left:
            killed.add(pid)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if time.monotonic() > end:
            raise AssertionError(f"processes {left} survive SIGKILL")
        time.sleep(0.02)


def _name(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().replace(b"\0", b" ").decode(errors="replace")[:200]
    except OSError:
        return "?"


def _stacks(pids, lines=25, patience=20):
    """The names of these processes, and where they stand, as gdb tells."""
    gdb = shutil.which("gdb")
    told = []
    for pid in pids:
        told.append(f"--- {pid}: {_name(pid)}")
        if not gdb:
            continue
        try:
            done = subprocess.run(
                [gdb, "-q", "-nx", "-batch", "-ex",
                 f"thread apply all bt {lines}", "-p", str(pid)],
                text=True, errors="replace", timeout=patience,
                stdin=subprocess.DEVNULL, capture_output=True)
        except subprocess.TimeoutExpired:
            continue
        frames = [line for line in done.stdout.splitlines()
                  if line.startswith(("#", "Thread "))]
        told += frames[:3 * lines]
    return "\n".join(told)


@contextlib.contextmanager
def _environment_of(env, mark):
    """A job's environment: its mark, and its folder, unless a test gives one.
    """
    folder = tempfile.mkdtemp(prefix="job-")
    env = dict(env, **{MARK: mark})
    if env.get("TMPDIR") == os.environ.get("TMPDIR"):
        env["TMPDIR"] = folder
    try:
        yield env
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(argv, env, timeout, cwd=None, stragglers="fail"):
    """Run argv to its end; returns a CompletedProcess with text output.

    Past `timeout` seconds (of the machine's: see patience.py) the whole job is
    killed and JobTimeout raised, which tells where its processes stood.
    Processes that outlive the launcher by more than two seconds are killed;
    they fail the test unless stragglers="kill".
    """
    mark = uuid.uuid4().hex
    argv = [str(a) for a in argv]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, \
            _environment_of(env, mark) as env:
        def printed():
            texts = []
            for f in (out, err):
                f.seek(0)
                texts.append(f.read().decode(errors="replace"))
            return texts

        job = subprocess.Popen(argv, env=env, cwd=cwd, stdout=out, stderr=err,
                               stdin=subprocess.DEVNULL,
                               start_new_session=True)
        try:
            code = patience.wait(job, timeout,
                                 lambda: processes_marked(mark))
        except subprocess.TimeoutExpired:
            # Ask the launcher first: it can remove its own files.
            stood = processes_marked(mark)
            segments, stacks = _segments(stood), _stacks(stood)
            job.terminate()
            try:
                job.wait(5)
            except subprocess.TimeoutExpired:
                pass
            end_marked(mark, segments)
            job.wait()
            stdout, stderr = printed()
            raise JobTimeout(
                f"not finished after {timeout} s: {' '.join(argv)}\n"
                f"--- stdout\n{stdout[-4000:]}\n"
                f"--- stderr\n{stderr[-4000:]}\n{stacks}") from None
        except BaseException:
            end_marked(mark)
            job.wait()
            raise
        end = time.monotonic() + 2
        left = processes_marked(mark)
        while left and time.monotonic() < end:
            time.sleep(0.02)
            left = processes_marked(mark)
        names = [f"{pid}: {_name(pid)}" for pid in left]
        end_marked(mark)
        stdout, stderr = printed()
        if names and stragglers == "fail":
            raise AssertionError(
                f"processes outlived their job {' '.join(argv)}:\n"
                + "\n".join(names) + f"\n--- stderr\n{stderr[-4000:]}")
        return subprocess.CompletedProcess(argv, code, stdout, stderr)


class Background:
    """A job that runs: its launcher, and what it has printed so far."""

    def __init__(self, launcher, mark, out):
        self.launcher = launcher
        self._mark, self._out = mark, out

    @property
    def printed(self):
        size = os.fstat(self._out.fileno()).st_size
        return os.pread(self._out.fileno(), size, 0).decode(errors="replace")

    def processes(self):
        return processes_marked(self._mark)

    def stacks(self):
        return _stacks(self.processes())


@contextlib.contextmanager
def background(argv, env, cwd=None):
    """Start argv, and yield the Background job. All of it is killed at the
    block's end, where a test has not ended it."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryFile() as out, _environment_of(env, mark) as env:
        launcher = subprocess.Popen(
            [str(a) for a in argv], env=env, cwd=cwd,
            stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            start_new_session=True)
        job = Background(launcher, mark, out)
        try:
            yield job
        finally:
            end_marked(mark, _segments(job.processes()))
            launcher.wait()


def both(alone, ours):
    """What two runs of a job return: on the host alone, and with Straightway. A
    job that was cut off on both sides says nothing: its test is skipped. One
    that was cut off alone is None."""
    try:
        first = alone()
    except JobTimeout as why:
        first, cut = None, why
    try:
        return first, ours()
    except JobTimeout:
        if first is None:
            pytest.skip(f"cut off on both sides: {str(cut)[:200]}")
        raise
