"""Programs that run in virtual time: as they are, and as long as the model says.

Random programs must get the bytes and statuses that the host gives. Programs
whose time is known by hand must be told just that by MPI_Wtime.
"""

import json
import re
import subprocess
import time

import pytest

import programs
from harness.hosts import COMMAND

# Per message of s bytes: o 1 us, L 5 us, G 0.5 ns a byte, o' 2 us. A processor
# so quick that computing takes no time.
MODEL = """\
# LogGPS, by hand
ranks {n}
link node o_send 1000 o_recv 2000 L 5000 g 0 G 0.5 S {eager}
link domain o_send 1000 o_recv 2000 L 5000 g 0 G 0.5 S {eager}
link self o_send 1000 o_recv 2000 L 5000 g 0 G 0.5 S {eager}
cpu_speed {speed}
test 100
{more}
"""


def virtual(host, n, argv, folder, eager=65536, speed="1e9", more="",
            env=None, timeout=60, **keywords):
    """Run in virtual time; (process, result or None)."""
    model, result = folder / "run.model", folder / "result.json"
    model.write_text(MODEL.format(n=n, eager=eager, speed=speed, more=more))
    if not isinstance(argv, list):
        argv = [argv]
    done = host.run(n, argv, timeout=timeout, env={
        "STRAIGHTWAY_WHATIF": str(model),
        "STRAIGHTWAY_WHATIF_RESULT": str(result),
        "STRAIGHTWAY_WHATIF_CHECK": "on",
        "STRAIGHTWAY_ENABLE": "off", **(env or {})}, **keywords)
    return done, json.loads(result.read_text()) if result.exists() else None


# Correctness -----------------------------------------------------------------

RANDOM = {
    "random_collectives": ("calls right", (11, 60), {}),
    "random_p2p": ("messages right", (11, 30), {}),
    "random_types": ("datatypes right", (11, 15),
                     {"MPIR_CVAR_CH4_CMA_ENABLE": "0"}),
}


@pytest.mark.parametrize("name, n, options", [
    pytest.param("random_collectives", 3, (), id="collectives"),
    pytest.param("random_p2p", 2, (), id="messages-2"),
    pytest.param("random_p2p", 3, (), id="messages"),
    pytest.param("random_p2p", 2, ("--threads", 3), id="threads"),
    pytest.param("random_types", 2, (), id="types")])
@pytest.mark.parametrize("enable", ["off", "on"])
def test_random_programs(host, name, n, options, enable, tmp_path):
    """Programs in virtual time get the bytes and statuses of the host."""
    words, (seed, rounds), env = RANDOM[name]
    arguments = [seed, programs.rounds_for(host, n, rounds), *options]
    kept = programs.kept_alone(host, n, name, arguments, words,
                               excused=["no MPI_THREAD"], env=env)
    program = host.compile(programs.MPI / f"{name}.c", "-lm", "-lpthread",
                           "-ldl")
    done, result = virtual(
        host, n, [program, *arguments, "--log", tmp_path / "log"], tmp_path,
        env={**env, **programs.AT_ONCE, "STRAIGHTWAY_ENABLE": enable})
    programs.well(done, words)
    programs.same_logs(kept, tmp_path, n)
    assert result["state"] == "done", result
    assert result["messages"] > 10 or name == "random_collectives"


@pytest.mark.parametrize("enable", ["off", "on"])
def test_random_neighbours(host, enable, tmp_path):
    """The program knows what must come."""
    program = host.compile(programs.MPI / "random_neighbours.c", "-lm",
                           "-lpthread", "-ldl")
    done, result = virtual(host, 3, [program, 11, 30], tmp_path,
                           env={**programs.AT_ONCE,
                                "STRAIGHTWAY_ENABLE": enable})
    programs.well(done)
    assert result["state"] == "done" and result["messages"] > 10


# Times known by hand ---------------------------------------------------------

def times(done):
    return {name: float(ns) for name, ns in
            re.findall(r"^(\w+) (\d+\.\d+)$", done.stdout, re.M)}


def one_way(size, eager=65536):
    if size <= eager:
        return 1000 + 5000 + 0.5 * size + 2000
    # A request, its answer, the data.
    return (1000 + 5000) + (1000 + 5000) + 5000 + 0.5 * size + 2000


def by_hand(n):
    """ns, of tests/mpi/virtual_times.c."""
    return {
        "ping_pong": 2 * one_way(1000),
        "rendezvous": 2 * one_way(100000),
        "ring": n * one_way(100),
        # The sender is done when the data have left.
        "late_receiver": 10 * one_way(0) + 6000 + 50000,
        "nonblocking": one_way(1000),
        # Rank n - 1 first, the others a message to themselves later each.
        "wildcards": (n - 1) * one_way(8),
        "waitany": 1000 + one_way(8),
        "polling": one_way(60000) + 2000,
    }


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("enable", ["off", "on"])
def test_times_known_by_hand(host, n, enable, tmp_path):
    program = host.compile(programs.MPI / "virtual_times.c")
    done, result = virtual(host, n, program, tmp_path,
                           env={"STRAIGHTWAY_ENABLE": enable})
    programs.well(done)
    assert "wrong" not in done.stdout, done.stdout
    assert times(done) == pytest.approx(by_hand(n), abs=5)
    assert result["state"] == "done" and result["undecided"] == 0
    assert result["end_ns"] >= sum(by_hand(n).values())


def test_late_sender(host, tmp_path):
    """What is computed counts, as the processor's time."""
    program = host.compile(programs.MPI / "virtual_times.c")
    done, _ = virtual(host, 2, [program, 50], tmp_path, speed=1)
    programs.well(done)
    assert 50.0e6 <= times(done)["late_sender"] <= 53e6
    done, _ = virtual(host, 2, [program, 50], tmp_path, speed=10)
    assert 5.0e6 <= times(done)["late_sender"] <= 5.4e6


def test_many_ranks(host, tmp_path):
    """More ranks than cores change nothing, and burn nothing."""
    program = host.compile(programs.MPI / "virtual_times.c")
    before = time.monotonic()
    done, result = virtual(host, 16, program, tmp_path, timeout=60)
    programs.well(done)
    assert times(done) == pytest.approx(by_hand(16), abs=5)
    assert time.monotonic() - before < 40
    done, _ = virtual(host, 8, [program, 30], tmp_path, speed=1)
    assert 30.0e6 <= times(done)["late_sender"] <= 33e6


# Threads that call MPI at once -----------------------------------------------

THREADS = 4
ALONE = 2 * one_way(0)          # there and back


def threads_by_hand(thread):
    """ns, of tests/mpi/virtual_threads.c, but for the collectives."""
    expected = dict.fromkeys(
        ("nonblocking", "probing", "matched_probing", "polling",
         "poll_for_message", "anybody"), ALONE)
    expected["ping_pong"] = 5 * (thread + 1) * ALONE
    # The last message's request waits there; its answer, and it leaves.
    expected["late_receiver"] = 11 * one_way(0) + 6000
    if thread == 0:
        expected["hand_over"] = ALONE + 40 * one_way(0)
    return {f"{name}_{thread}": ns for name, ns in expected.items()}


@pytest.mark.parametrize("how", [(), ("spin",)], ids=["sleep", "spin"])
@pytest.mark.parametrize("enable", ["off", "on"])
def test_threads(host, enable, how, tmp_path):
    """Each thread's time is its own, and is as if it were alone."""
    program = host.compile(programs.MPI / "virtual_threads.c", "-lpthread")
    # A thread that the system lets sleep between two calls, for a page, is
    # taken to have waited for the others: so it is where the machine is loaded.
    for last in (False, False, True):
        done, result = virtual(host, 2, [program, *how], tmp_path,
                               env={"STRAIGHTWAY_ENABLE": enable})
        if "no MPI_THREAD" in done.stdout:
            pytest.skip("the host has no MPI_THREAD_MULTIPLE")
        programs.well(done)
        assert result["state"] == "done" and result["undecided"] >= THREADS
        found = times(done)
        expected = {}
        for thread in range(THREADS):
            expected.update(threads_by_hand(thread))
            expected[f"collectives_{thread}"] = found["alone"]
        # Who has joined the others is where the last of them was.
        expected.update(alone=found["alone"], joined=0)
        if found == pytest.approx(expected, abs=5):
            break
        assert not last, (found, expected)


def test_a_silent_rank_is_not_waited_for(host, tmp_path):
    """It waits in a call that is not modelled, for who asks the time."""
    program = host.compile(programs.MPI / "virtual_silent.c")
    done, result = virtual(host, 3, [program, tmp_path / "file"], tmp_path,
                           timeout=40)
    programs.well(done)
    assert times(done) == pytest.approx(
        {"asked": 10 * one_way(0) + one_way(1000)}, abs=5)
    assert result["state"] == "done" and result["forced"] >= 1


# Ends ------------------------------------------------------------------------

def engines(folder):
    found = subprocess.run(["pgrep", "-f", f"serve.*{folder}"], text=True,
                           capture_output=True)
    return found.stdout.split()


@pytest.mark.parametrize("how", ["abort", "exit", "segv", "term"])
def test_ends_early(host, how, tmp_path):
    """Nothing of a job that ends badly is left."""
    program = host.compile(programs.MPI / "profile_ends.c")
    done, _ = virtual(host, 2, [program, how], tmp_path, timeout=40,
                      stragglers="kill")
    assert done.returncode != 0
    end = time.monotonic() + 5
    while engines(tmp_path) and time.monotonic() < end:
        time.sleep(0.1)
    assert not engines(tmp_path)


def test_no_model(host, tmp_path):
    program = host.compile(programs.MPI / "virtual_times.c")
    done = host.run(2, [program], env={
        "STRAIGHTWAY_WHATIF": str(tmp_path / "none.model")})
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines()
             if line.startswith("straightway")]
    assert len(lines) == 1 and "none.model" in lines[0], done.stderr


def test_broken_model(host, tmp_path):
    program = host.compile(programs.MPI / "virtual_times.c")
    done, _ = virtual(host, 2, program, tmp_path, more="cpu_speed zero")
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines()
             if line.startswith("straightway")]
    assert len(lines) == 1 and "line" in lines[0] and "zero" in lines[0]


def test_not_with_a_profile(host, tmp_path):
    program = host.compile(programs.MPI / "virtual_times.c")
    done, result = virtual(host, 2, program, tmp_path,
                           env={"STRAIGHTWAY_PROFILE": "on"})
    programs.well(done)
    assert done.stderr.count("nothing is profiled") == 1
    assert result["state"] == "done"
    assert not list(tmp_path.glob("*.swcap"))
