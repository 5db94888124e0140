"""A job with --hang-after tells of its own hang, and ends where it shall.

Each job runs for seconds only: the time after which it tells is one second.
"""

import os
import re
import signal
import subprocess
import time

import pytest
from harness import hosts, jobs, patience

import hangs

SECONDS = 30            # within which something happens
HEAD = re.compile(r"^straightway: no rank on \S+ has finished an MPI call for "
                  r"1 s$", re.M)
VERDICT = "rank 0 waits for tag 8 from rank 1, which has sent none"
ENDED = "straightway: the job is being ended"


def hanging(host):
    return [host.compile(hangs.HERE / "messages.c", "-O1", "-lpthread"),
            "missing_send"]


def start(host, argv, *options, n=2):
    return jobs.background(host.command_line(n, argv, run_args=options),
                           host.environment())


def within(job, true, what):
    """Wait until the function says true of what the job has printed."""
    end = time.monotonic() + SECONDS
    while not true(job.printed):
        assert time.monotonic() < end, f"{what}\n{job.printed}{job.stacks()}"
        time.sleep(0.05)


def ready(job, n=2):
    pattern = re.compile(r"^ready (\d+)$", re.M)
    within(job, lambda text: len(pattern.findall(text)) == n, "no start")
    return [int(pid) for pid in pattern.findall(job.printed)]


def is_there(pid):
    return os.path.exists(f"/proc/{pid}")


def sentries(job):
    found = []
    for pid in job.processes():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if b"straightway-where\0--sentry" in f.read():
                    found.append(pid)
        except OSError:
            pass
    return found


def ends(job):
    """The job's exit status. No sentry outlives the launcher."""
    status = patience.wait(job.launcher, SECONDS, job.processes)
    assert not sentries(job)
    return status


def test_a_hang_is_told_once_and_the_job_goes_on(host):
    with start(host, hanging(host), "--hang-after", "1") as job:
        pids = ready(job)
        within(job, lambda text: VERDICT in text, "no report")
        assert len(sentries(job)) == 1
        time.sleep(2.5)
        assert len(HEAD.findall(job.printed)) == 1, job.printed
        assert job.launcher.poll() is None, job.printed
        assert all(map(is_there, pids))


def test_a_hang_ends_the_job(host):
    with start(host, hanging(host), "--hang-after=1s", "--hang-action",
               "abort") as job:
        pids = ready(job)
        assert ends(job) != 0
        assert len(HEAD.findall(job.printed)) == 1, job.printed
        assert VERDICT in job.printed, job.printed
        assert f"{ENDED} (--hang-action abort)" in job.printed
        within(job, lambda _: not any(map(is_there, pids)), "a rank is left")


def test_a_job_that_moves_is_left_alone(host, tmp_path):
    program = host.compile(hangs.HERE / "pingpong.c")
    with start(host, [program, tmp_path / "end"], "--hang-after", "1",
               "--hang-action", "abort") as job:
        ready(job)
        time.sleep(2.5)
        assert len(sentries(job)) == 1
        (tmp_path / "end").touch()
        assert ends(job) == 0, job.printed
        assert "straightway:" not in job.printed, job.printed


def test_a_short_job_ends_as_soon_and_sees_no_child(host):
    program = host.compile(hangs.HERE / "children.c")
    with start(host, [program, "alone"], "--hang-after", "1h") as job:
        assert ends(job) == 0, job.printed
        assert len(re.findall(r"rank \d: no child, 0 signals",
                              job.printed)) == 2, job.printed
        assert "straightway:" not in job.printed, job.printed


def test_sigterm_tells_where_the_job_stands(host):
    with start(host, hanging(host), "--hang-after", "1h") as job:
        pids = ready(job)
        time.sleep(2)       # a job that moves is only ended
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        assert ends(job) != 0
        assert f"{ENDED} (SIGTERM)" in job.printed, job.printed
        assert job.printed.count(VERDICT) == 1, job.printed
        assert "messages.c:" in job.printed.split(VERDICT)[1], job.printed


def test_a_program_that_handles_sigterm_ends_as_it_wants(host):
    program = host.compile(hangs.HERE / "children.c")
    with start(host, [program, "waits"], "--hang-after", "1h") as job:
        pids = ready(job)
        time.sleep(2)
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        ends(job)
        assert "the program's own handler" in job.printed, job.printed
        assert ENDED not in job.printed, job.printed


@pytest.mark.parametrize("words, fix", [
    (["--hang-after", "soon"], "--hang-after soon: give a time such as 30s"),
    (["--hang-after=0"], "--hang-after 0: give a time such as 30s, 10m or 2h"),
    (["--hang-after", "1.5h"], "--hang-after 1.5h: give a time"),
    (["--hang-action", "kill"], "--hang-action kill: give report or abort"),
])
def test_a_bad_value_is_refused(words, fix):
    done = subprocess.run([hosts.COMMAND, "run", *words, "true"], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 2
    assert fix in done.stderr


def test_a_bad_value_of_the_environment_is_told_once(host):
    program = host.compile(hangs.HERE / "children.c")
    done = host.run(2, [program, "alone"],
                    env={"STRAIGHTWAY_HANG_AFTER": "soon"})
    assert done.returncode == 0
    assert done.stderr.count("STRAIGHTWAY_HANG_AFTER=soon is not understood: "
                             "give a time such as 30s, 10m or 2h") == 1
