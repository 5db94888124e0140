"""What a process shows of its messages is what it has sent and received, by all
kinds of procedures, and no request is left."""

import collections
import json
import re
import subprocess
import time

import pytest
from harness import hosts, jobs
from harness.programs import source

READER = hosts.COMMAND.parent.parent / "lib/straightway/straightway-where"


def shown(pids):
    done = subprocess.run([READER, "--no-sample", *map(str, pids)], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["processes"]


def children(pid):
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], text=True,
                          capture_output=True)
    for child in map(int, done.stdout.split()):
        yield child
        yield from children(child)


def await_line(job, pattern, n):
    end = time.monotonic() + 120
    while len(re.findall(pattern, job.printed, re.M)) < n:
        assert job.launcher.poll() is None and time.monotonic() < end, \
            job.printed + job.stacks()
        time.sleep(0.05)


def counted(processes):
    """{(what, rank, communicator, partner): (messages, the sum of their tags,
    that of the squares)}"""
    found = collections.defaultdict(lambda: (0, 0, 0))
    for p in processes:
        names = {c["row"]: c["name"] for c in p["comms"]}
        for pair in p["pairs"]:
            which = {"MPI_COMM_WORLD": 0, "second": 1}[names[pair["comm"]]]
            key = ("sent" if pair["sends"] else "got", p["rank"], which,
                   pair["peer"])
            sums = (pair["messages"], pair["tag_sum"], pair["tag_squares"])
            found[key] = tuple(a + int(b) for a, b in zip(found[key], sums))
    return dict(found)


def told(text):
    """The same, as the program has counted."""
    found = collections.defaultdict(lambda: (0, 0, 0))
    for what, *numbers in re.findall(
            r"^(sent|got) (\d+) (\d+) (\d+) (\d+) (\d+)$", text, re.M):
        *key, tag, count = map(int, numbers)
        found[(what, *key)] = tuple(
            sum + tag ** power * count
            for power, sum in enumerate(found[(what, *key)]))
    return dict(found)


@pytest.mark.parametrize("env", [
    {}, {"STRAIGHTWAY_P2P": "off", "STRAIGHTWAY_COLLECTIVES": "off"},
    {"STRAIGHTWAY_NODE_SIZE": "2"}], ids=["ours", "host", "nodes"])
@pytest.mark.parametrize("n, seed", [(2, 1), (3, 2)])
def test_messages_are_counted(host, n, seed, env):
    are_counted(host, n, ["counts.c", seed, 60], env)


@pytest.mark.parametrize("rounds", [
    1, 40, pytest.param(400, marks=pytest.mark.deep)])
def test_messages_of_threads_are_counted(host, rounds):
    """A host may give the request of one thread to another before the first has
    heard that it is done."""
    are_counted(host, 2, ["counts_threads.c", rounds], {})


def are_counted(host, n, words, env):
    name, *arguments = words
    program = host.compile(source(name), "-lpthread")
    argv = host.command_line(n, [program, *arguments])
    with jobs.background(argv, host.environment(env)) as job:
        await_line(job, r"^ready \d+$", n)
        processes = shown(children(job.launcher.pid))
        assert sorted(p["rank"] for p in processes) == list(range(n))
        assert counted(processes) == told(job.printed)
        for p in processes:
            assert p["requests"] == []
            assert not any(p["lost"].values())
