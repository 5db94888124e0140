"""`straightway where` tells why a job hangs, and the line of each rank.

Each kind of hangs.py is a job of its own. The test looks at it until two looks
in a row agree with the table, and then kills the whole job.
"""

import json
import os
import re
import subprocess
import time

import pytest
from harness import hosts, jobs, patience

import hangs

READER = hosts.COMMAND.parent.parent / "lib/straightway/straightway-where"
SECONDS = 15            # within which a report becomes right
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def start(host, n, argv, env=None):
    return jobs.background(host.command_line(n, argv), host.environment(env))


def await_ready(job, n, seconds=60):
    """The processes that have said `ready`."""
    end = time.monotonic() + seconds
    while True:
        found = re.findall(r"^ready (\d+)$", job.printed, re.M)
        if len(found) >= n:
            return [int(pid) for pid in found]
        assert job.launcher.poll() is None, job.printed
        assert time.monotonic() < end, job.printed + job.stacks()
        time.sleep(0.05)


def where(host, *words):
    """What `straightway where --json` prints."""
    done = patience.run([hosts.COMMAND, "where", "--json", *map(str, words)],
                        env=host.environment(), text=True,
                        capture_output=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr, done.stderr
    return json.loads(done.stdout)


def reader(*words, before=()):
    """What the native reader prints."""
    done = patience.run([*before, READER, *map(str, words)], text=True,
                        capture_output=True, timeout=60)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def wrong(kind, report):
    """What a report says other than the table: lines, none where it is
    right."""
    found = []
    if not re.search(kind.said(), report["verdict"] or "", re.S):
        found.append(f"the verdict is not\n    {kind.said()}")
    if not report["hangs"]:
        found.append("it says that nothing hangs")
    told = {one["rank"]: one for one in report["ranks"]}
    for rank, lines in kind.places().items():
        place = told.get(rank, {}).get("place", "")
        line = re.search(rf"{re.escape(kind.source)}:(\d+)", place)
        if rank not in kind.silent and not (
                line and int(line.group(1)) in lines):
            found.append(f"rank {rank} is at {place!r}, not in a line of "
                         f"{sorted(lines)}")
    return found


def shown(report):
    """A report in few lines, for the message of a test that fails."""
    findings = [f"    {one['sentence']}" for one in report["findings"]]
    ranks = [f"    {one['rank']}: {one['does']} {one.get('place', '')}"
             for one in report["ranks"]]
    return "\n".join(["it found:", *findings, "its ranks:", *ranks])


@pytest.mark.parametrize("which", hangs.PARAMETERS)
def test_the_cause_and_the_lines_are_named(host, which):
    kind = hangs.BY_ID[which]
    with start(host, kind.ranks, kind.argv(host), kind.env) as job:
        pids = await_ready(job, kind.ranks)
        end, right = time.monotonic() + SECONDS, 0
        while right < 2:
            report = where(host, job.launcher.pid)
            faults = wrong(kind, report)
            right = 0 if faults else right + 1
            assert job.launcher.poll() is None, job.printed
            assert right or time.monotonic() < end, "\n".join(
                ["", *faults, shown(report)])
            time.sleep(0.2)
        assert not any(tracer(pid) for pid in pids)


def _status(pid, name):
    try:
        with open(f"/proc/{pid}/status") as f:
            return re.search(rf"^{name}:\s*(\S+)", f.read(), re.M).group(1)
    except OSError:
        return "0"      # it has ended


def tracer(pid):
    """The process that traces another one; 0 for none."""
    return int(_status(pid, "TracerPid"))


def test_the_table_has_the_textbook_kinds():
    assert len(hangs.KINDS) == len({kind.id for kind in hangs.KINDS}) >= 50
    for kind in hangs.KINDS:
        assert kind.marked() == {other.name for other in hangs.KINDS
                                 if other.source == kind.source}
        unmarked = [rank for rank, lines in kind.places().items() if not lines]
        assert set(unmarked) <= set(kind.silent), kind.id


# Of a job that runs ---------------------------------------------------------

def pingpong(host, end):
    return start(host, 2, [host.compile(hangs.HERE / "pingpong.c"), end])


def ends_well(job, end):
    end.touch()
    assert patience.wait(job.launcher, 60, job.processes) == 0, job.printed
    rounds = re.search(r"^(\d+) rounds are right$", job.printed, re.M)
    assert rounds and int(rounds.group(1)) > 10, job.printed


def test_a_busy_job_does_not_hang(host, tmp_path):
    with pingpong(host, tmp_path / "end") as job:
        await_ready(job, 2)
        for _ in range(5):
            report = where(host, job.launcher.pid)
            assert not report["hangs"], shown(report)
        ends_well(job, tmp_path / "end")


def _holds(pid):
    """(descriptors, threads) of a process"""
    return (len(os.listdir(f"/proc/{pid}/fd")),
            len(os.listdir(f"/proc/{pid}/task")))


@pytest.mark.parametrize("times", [
    50, pytest.param(1000, marks=pytest.mark.deep)])
def test_looks_change_nothing_and_leave_nothing(host, times, tmp_path):
    with pingpong(host, tmp_path / "end") as job:
        pids = await_ready(job, 2)
        reader(*pids)
        before = [_holds(pid) for pid in pids]
        for _ in range(times):
            seen = reader(*pids)
            assert not seen["refused"], seen["refused"]
            assert {one["pid"] for one in seen["processes"]} == set(pids)
        assert [_holds(pid) for pid in pids] == before
        assert not any(tracer(pid) for pid in pids)
        ends_well(job, tmp_path / "end")


def test_a_reader_that_is_killed_stops_no_rank(host, tmp_path):
    with pingpong(host, tmp_path / "end") as job:
        pids = await_ready(job, 2)
        for turn in range(20):
            one = subprocess.Popen([READER, *map(str, pids)],
                                   stdout=subprocess.DEVNULL)
            time.sleep(0.001 * turn)
            one.kill()
            one.wait()
        assert not any(tracer(pid) for pid in pids)
        ends_well(job, tmp_path / "end")


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone becomes another user")
def test_the_job_of_another_user_is_refused(one_host, tmp_path):
    if subprocess.run([*NOBODY, "test", "-x", READER]).returncode:
        pytest.skip("this installation lies where no other user may read")
    with pingpong(one_host, tmp_path / "end") as job:
        pids = await_ready(job, 2)
        seen = reader(*pids, before=NOBODY)
        assert not seen["processes"]
        assert {one["pid"] for one in seen["refused"]} == set(pids)
        assert all(one["why"] for one in seen["refused"])
        every = reader("--list", before=NOBODY)
        assert not {one["pid"] for one in every["processes"]} & set(pids)
        ends_well(job, tmp_path / "end")
