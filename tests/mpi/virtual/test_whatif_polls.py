"""Programs that poll, and sleep, in virtual time. Every such loop ends, and a
rank that polls waits as long as it would in a blocking call."""

import json
import subprocess

import pytest
from harness import programs
from test_whatif_live import MODEL, WHATIF, one_sided, one_way, times, virtual

CLOCKS = {"STRAIGHTWAY_WHATIF_CLOCKS": "on"}
# Messages take no time.
FREE = "\n".join(f"link {name} o_send 0 o_recv 0 L 0 g 0 G 0 S 65536"
                 for name in ("node", "domain", "self"))


def polled(host, folder, *words, n=2, **keywords):
    """{what: ns}, and the result."""
    program = host.compile(programs.source("virtual_polls.c"))
    done, result = virtual(host, n, [program, *words], folder, **keywords)
    programs.well(done)
    assert "wrong" not in done.stdout, done.stdout
    assert result["state"] == "done" and result["forced"] == 0, result
    return times(done), result


@pytest.mark.parametrize("speed", ["1e9", "1"])
@pytest.mark.parametrize("how", ["iprobe", "any", "test", "testany",
                                 "two_tags", "two_requests", "clock", "nap"])
def test_polls_find_what_comes_late(host, how, speed, tmp_path):
    """The engine gets some thousands of polls, not millions."""
    ms = 300
    found, result = polled(host, tmp_path, how, ms, speed=speed,
                           env={**CLOCKS, **programs.steady(host)})
    # The last polls before the message are some 10 us apart.
    assert found["took"] == pytest.approx(ms * 1e6 + one_way(4), abs=20000)
    assert found["polls"] < 20000
    assert result["operations"] < 20000


def test_polls_with_other_messages_between(host, tmp_path):
    found, _ = polled(host, tmp_path, "work", 100)
    assert found["took"] == pytest.approx(100e6 + one_way(4),
                                          abs=2 * one_way(4))


@pytest.mark.parametrize("how", ["two_tags", "any"])
@pytest.mark.parametrize("n", [3, 5])
def test_polls_among_each_other(host, how, n, tmp_path):
    """Each of many may be the sender, and messages take no time. So the engine
    knows only for 100 ns that a poll finds nothing."""
    ms = 200
    found, _ = polled(host, tmp_path, how, ms, n=n, more=FREE)
    assert ms * 1e6 <= found["took"] <= ms * 1.05e6


@pytest.mark.parametrize("speed", ["1e9", "1"])
def test_polls_until_a_time(host, speed, tmp_path):
    """No rank sends. The clock reaches the deadline, no faster than a real
    one."""
    ms = 300
    found, _ = polled(host, tmp_path, "deadline", ms, speed=speed,
                      env=programs.steady(host))
    assert ms * 1e6 <= found["took"] <= ms * 1.05e6


def test_work_between_polls_is_no_polling(host, tmp_path):
    """A poll takes its own time, however often it finds nothing."""
    loops = 1200
    found, _ = polled(host, tmp_path, "useful", 900, loops)
    assert found["waited"] == pytest.approx(
        900e6 + one_way(4) - loops * 500100, abs=20000)


def test_polling_is_recorded_as_waiting(host, tmp_path):
    """Where messages are quicker, a replay polls for less."""
    ops = tmp_path / "polls.swops"
    slow = FREE.replace("L 0", "L 50e6")
    found, _ = polled(host, tmp_path, "two_requests", 10, more=slow,
                      env={"STRAIGHTWAY_WHATIF_RECORD": ops})
    assert found["took"] == pytest.approx(60e6, rel=.02)
    ends = []
    for more in (slow, FREE):
        model = tmp_path / "again.model"
        model.write_text(MODEL.format(n=2, eager=65536, speed="1e9",
                                      more=more))
        done = subprocess.run([WHATIF, "replay", model, ops], text=True,
                              capture_output=True, check=True)
        ends.append(json.loads(done.stdout)["end_ns"])
    # Two barriers, and what was waited for.
    assert ends[0] == pytest.approx(3 * 50e6 + 10e6, abs=1e6)
    assert ends[1] == pytest.approx(10e6, abs=1e5)


def test_polling_for_nothing_is_recorded(host, tmp_path):
    """Only the deadline has ended the polling."""
    ops = tmp_path / "polls.swops"
    _, result = polled(host, tmp_path, "deadline", 20,
                       env={"STRAIGHTWAY_WHATIF_RECORD": ops})
    done = subprocess.run([WHATIF, "replay", tmp_path / "run.model", ops],
                          text=True, capture_output=True, check=True)
    assert json.loads(done.stdout)["end_ns"] == \
        pytest.approx(result["end_ns"], rel=.001)


# A rank that its host keeps ---------------------------------------------------

@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("how", ["plain", "asks"])
def test_a_root_that_its_host_keeps(host, n, how, tmp_path):
    """The engine leaves the root behind only where other ranks ask for what it
    may do, and then at once."""
    program = host.compile(programs.source("virtual_kept.c"))
    done, result = virtual(host, n, [program, how], tmp_path)
    programs.well(done)
    assert result["state"] == "done"
    assert how == "asks" or result["forced"] == 0
    assert "nothing has happened" not in done.stderr, done.stderr


LAZY = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int me, x = 5, *mine;
    MPI_Win w;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &mine, &w);
    *mine = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, w);
        MPI_Recv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Put(&x, 1, MPI_INT, 2, 0, 1, MPI_INT, w);
        MPI_Win_unlock(2, w);
    } else if (me == 1) {
        usleep(50000);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, w);
        MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Win_unlock(2, w);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 2 && *mine == 5)
        printf("all is well\n");
    MPI_Win_free(&w);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.unable(lambda host: host.name != "debian-openmpi",
                    why="only Open MPI 4.1 has such locks")
@pytest.mark.parametrize("n", [3, 4])
def test_a_lock_that_is_granted_late(host, n, tmp_path):
    """Rank 0 holds the lock until rank 1 has it, too. Where the MPI grants a
    lock only at its first use, both go on, and so does a replay."""
    ops = tmp_path / "lazy.swops"
    done, result = virtual(host, n, host.compile(LAZY), tmp_path, env={
        "OMPI_MCA_osc": "pt2pt", "STRAIGHTWAY_WHATIF_RECORD": ops})
    programs.well(done)
    assert result["state"] == "done" and result["forced"] >= 1
    again = subprocess.run([WHATIF, "replay", "--check",
                            tmp_path / "run.model", ops], text=True,
                           capture_output=True)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["forced"] >= 1


# Threads ----------------------------------------------------------------------

@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("enable", ["off", "on"])
def test_threads_use_windows_at_once(host, n, enable, tmp_path):
    program = host.compile(programs.source("virtual_window_threads.c"),
                           "-lpthread")
    alone = host.run(n, [program], straightway=False, env=one_sided(host),
                     stragglers="kill")
    if "no MPI_THREAD" in alone.stdout:
        pytest.skip("the host has no MPI_THREAD_MULTIPLE")
    if alone.returncode and host.name == "debian-mpich":
        pytest.skip("the MPI itself gives other data")
    programs.well(alone)
    ops = tmp_path / "a.swops"
    for _ in range(5):
        done, result = virtual(host, n, [program], tmp_path, env={
            **one_sided(host), "STRAIGHTWAY_ENABLE": enable,
            "STRAIGHTWAY_WHATIF_RECORD": ops})
        programs.well(done)
        assert result["state"] == "done", result
    again = subprocess.run([WHATIF, "replay", "--check",
                            tmp_path / "run.model", ops], text=True,
                           capture_output=True)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["state"] == "done"


# Sleeps in a row --------------------------------------------------------------

@pytest.mark.parametrize("how", ["iprobe", "any"])
def test_who_sleeps_again_and_again_is_not_left_behind(host, how, tmp_path):
    """The engine learns of each sleep when it is over."""
    found, _ = polled(host, tmp_path, how, 3000, 5, env=CLOCKS)
    assert found["took"] == pytest.approx(3e9 + one_way(4), abs=100000)
