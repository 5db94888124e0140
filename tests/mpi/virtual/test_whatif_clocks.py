"""The system's clocks, and sleeps, of programs in virtual time."""

import json
import subprocess
import sys

import pytest
from harness import jobs, programs
from harness.hosts import COMMAND, TESTS
from straightway import native
from test_whatif_live import MODEL, TIMEOUT, one_way, times, virtual

CLOCKS = {"STRAIGHTWAY_WHATIF_CLOCKS": "on"}
LOOPS = 50
FORTRAN = TESTS / "front" / "fortran"


def alltoalls(n, loops=LOOPS):
    """ns: pairwise, in each step a message sent and one received."""
    return loops * (n - 1) * one_way(1000)


PAIRWISE = "formula alltoall pairwise"


def timed(host, argv, folder, env=CLOCKS, n=2, **keywords):
    """{what: ns} of what the program prints."""
    done, result = virtual(host, n, argv, folder, env=env, more=PAIRWISE,
                           **keywords)
    programs.well(done)
    assert "wrong" not in done.stdout, done.stdout
    assert result["state"] == "done"
    return times(done)


def clocks(host):
    return host.compile(programs.source("clocks.c"), "-lpthread")


# Clocks ----------------------------------------------------------------------

@pytest.mark.parametrize("n", [2, 4])
def test_clocks_are_as_mpi_wtime(host, n, tmp_path):
    """What a program times by any clock is what it times by MPI_Wtime."""
    found = timed(host, [clocks(host), "times", LOOPS], tmp_path, n=n)
    assert found.pop("wtime") == pytest.approx(alltoalls(n), abs=5)
    assert abs(found.pop("time")) <= 1
    assert len(found) == 7
    for name, ns in found.items():
        assert ns == pytest.approx(alltoalls(n), abs=1000), name


def test_clocks_of_cpp(host, tmp_path):
    program = host.compile(programs.source("clocks_chrono.cc"), "-lpthread")
    found = timed(host, [program, LOOPS], tmp_path)
    for name in ("wtime", "steady", "system", "high"):
        assert found.pop(name) == pytest.approx(alltoalls(2), abs=1000), name
    for name, ns in found.items():
        assert ns == pytest.approx(20e6, abs=20000), name
    assert len(found) == 2


@programs.needs_fortran
def test_clocks_of_fortran(host, tmp_path):
    program = host.compile(FORTRAN / "clocks.f90", "-fallow-argument-mismatch")
    loops = 1000
    found = timed(host, [program, loops], tmp_path)
    want = alltoalls(2, loops)
    assert found["wtime"] == pytest.approx(want, abs=1000)
    assert found["system_clock"] == pytest.approx(want, abs=1000)
    # The calendar has milliseconds.
    assert found["date_and_time"] == pytest.approx(want, abs=1.1e6)


@programs.needs_mpi4py
def test_clocks_of_python(host, tmp_path):
    found = timed(host, [host.python, programs.source("clocks.py"), LOOPS],
                  tmp_path)
    wtime = found.pop("wtime")
    assert wtime == pytest.approx(alltoalls(2), abs=1000)
    for name in ("perf_counter", "time", "monotonic"):
        # time.time() has 200 ns or so in a double.
        assert found.pop(name) == pytest.approx(wtime, abs=1000), name
    assert len(found) == 4
    for name, ns in found.items():
        assert ns == pytest.approx(20e6, abs=20000), name


def test_off_by_default(host, tmp_path):
    """Without the option the clocks are the system's: an Alltoall that takes
    seconds takes none of them."""
    done, _ = virtual(host, 2, [clocks(host), "times", 10], tmp_path,
                      more=PAIRWISE + "\nscale alltoall 1e6")
    programs.well(done)
    found = times(done)
    want = alltoalls(2, 10) * 1e6
    assert found.pop("wtime") == pytest.approx(want, rel=1e-6)
    found.pop("time")
    assert len(found) == 7 and max(found.values()) < want / 10, found


def test_not_without_virtual_time(host, tmp_path):
    """The option alone changes nothing."""
    done = host.run(2, [clocks(host), "wait", 20], env=CLOCKS)
    programs.well(done)
    assert "wrong" not in done.stdout
    found = times(done)
    assert len(found) == 23 and found.pop("late") > 0
    assert min(found.values()) >= 19.9e6


def test_seconds_in_no_time(host, tmp_path):
    """An hour of virtual time is an hour of every clock, and no timer of the
    MPI library runs out meanwhile."""
    done, _ = virtual(host, 2, [clocks(host), "times", 10], tmp_path,
                      env=CLOCKS, more=PAIRWISE + "\nscale alltoall 1e7")
    programs.well(done)
    found = times(done)
    found.pop("time")
    want = alltoalls(2, 10) * 1e7
    for name, ns in found.items():
        assert ns == pytest.approx(want, rel=1e-6), name
    assert want > 10 * TIMEOUT * 1e9    # or it would not have ended


# Sleeps ---------------------------------------------------------------------

SLEEPS = ["nanosleep", "clock_nanosleep", "usleep", "sleep", "select", "poll"]
BY_CLOCK = ["moment", "condition", "monotonic_condition", "semaphore"]


@pytest.mark.parametrize("speed", ["1e9", "1", "10"])
def test_sleeps_are_time(host, speed, tmp_path):
    """As long as they are, whatever the processor's speed."""
    found = timed(host, [clocks(host), "wait", 20], tmp_path, speed=speed,
                  env={**CLOCKS, **programs.steady(host)})
    late = found.pop("late")
    assert late == pytest.approx(20e6, abs=20000)
    assert len(found) == 22
    assert set(found) == {name + end for end in ("", "_clock") for name in
                          SLEEPS + BY_CLOCK + ["looking"]}
    for name, ns in found.items():
        assert ns == pytest.approx(20e6, abs=2000), name


def test_sleeps_are_time_without_the_option(host, tmp_path):
    found = timed(host, [clocks(host), "wait", 20], tmp_path, env={})
    assert found["late"] == pytest.approx(20e6, abs=20000)
    for name in SLEEPS:
        assert found[name] == pytest.approx(20e6, abs=1000), name
    for name in BY_CLOCK:
        assert found[name] == pytest.approx(20e6, abs=5e6), name


def test_sleeps_are_recorded_as_sleeps(host, tmp_path):
    """A replay on another processor does not shorten them."""
    ops = tmp_path / "run.swops"
    timed(host, [clocks(host), "wait", 20], tmp_path, speed="1",
          env={**CLOCKS, **programs.steady(host),
               "STRAIGHTWAY_WHATIF_RECORD": ops})
    model = tmp_path / "quick.model"
    model.write_text(MODEL.format(n=2, eager=65536, speed="1e9",
                                  more=PAIRWISE))
    done = subprocess.run([native.whatif_executable(), "replay", model, "--",
                           ops], text=True, capture_output=True, check=True)
    found = json.loads(done.stdout)["results"][0]
    # Ten on both ranks, and one for which the other waits; a loop that looks
    # at the clock is reading it, mostly.
    assert found["end_ns"] >= 11 * 20e6
    assert found["end_ns"] <= 12 * 20e6 + alltoalls(2, 1000) + 1e6


def test_who_sleeps_is_not_left_behind(host, tmp_path):
    """However silent it is: it will be back, and that is time."""
    ms = 2500
    done, result = virtual(host, 2, [clocks(host), "asleep", ms], tmp_path,
                           env=CLOCKS)
    programs.well(done)
    assert "wrong" not in done.stdout, done.stdout
    assert result["forced"] == 0
    assert times(done)["found"] == pytest.approx(ms * 1e6, rel=.01)


def test_who_waits_for_a_sleeping_thread(host, tmp_path):
    """A clock says so, before anything else has been put."""
    found = timed(host, [clocks(host), "joined", 50, "multiple"], tmp_path)
    assert found["joined"] == pytest.approx(50e6, rel=.01)


def test_handlers_of_who_waits(host, tmp_path):
    """What the MPI library computes while it waits is no time, however often
    a signal's handler looks at a clock."""
    found = timed(host, [clocks(host), "handled"], tmp_path, speed="1")
    assert found["wtime"] < 1e6
    # Each reading takes what it takes.
    assert found["clock"] == pytest.approx(found["wtime"], abs=1e6)


# Borders --------------------------------------------------------------------

@pytest.mark.parametrize("level", ["funneled", "serialized", "multiple"])
@pytest.mark.parametrize("what", ["borders", "threads"])
def test_no_clock_goes_back(host, what, level, tmp_path):
    """From before MPI_Init until after MPI_Finalize, in threads, signals'
    handlers, reductions and children; and none stands still."""
    arguments = [0] if level == "funneled" else [0, level]
    timed(host, [clocks(host), what, *arguments], tmp_path, speed="1")


@pytest.mark.parametrize("env", [{}, CLOCKS], ids=["off", "on"])
def test_clocks_before_anything(one_host, env, tmp_path):
    """A resolver that the dynamic linker calls before it has relocated us, and
    a constructor before ours, may read the clocks."""
    sources = {
        "a": ["""
#include <sys/time.h>
#include <time.h>
static long seconds;
static int the_one(void) { return seconds > 1000000000 ? 42 : 1; }
static int (*choose(void))(void)
{
    struct timespec t = {0, 0};
    struct timeval day = {0, 0};
    if (!clock_gettime(CLOCK_REALTIME, &t) && !gettimeofday(&day, 0) &&
        day.tv_sec - t.tv_sec <= 1 && time(0) - t.tv_sec <= 1 &&
        timespec_get(&t, TIME_UTC) == TIME_UTC)
        seconds = t.tv_sec;
    return the_one;
}
int f(void) __attribute__((ifunc("choose")));
"""],
        "b": ["""
#include <poll.h>
#include <time.h>
#include <unistd.h>
extern int f(void);
int (*volatile pointer)(void) = f;
int slept;
__attribute__((constructor)) static void early(void)
{
    struct timespec t, end;
    if (clock_gettime(CLOCK_MONOTONIC, &t))
        return;
    nanosleep(&(struct timespec){0, 1000000}, 0);
    usleep(1000);
    poll(0, 0, 1);
    clock_gettime(CLOCK_MONOTONIC, &end);
    slept = (end.tv_sec - t.tv_sec) * 1000000000 + end.tv_nsec - t.tv_nsec
            >= 3000000;
}
int g(void) { return slept ? pointer() : 0; }
""", "-la"],
        "main": ["""
extern int g(void);
int main(void) { return g(); }
""", "-lb", "-la"]}
    for name, (source, *libraries) in sources.items():
        path = tmp_path / f"{name}.c"
        path.write_text(source)
        shared = ["-shared", "-fPIC"] if name != "main" else []
        subprocess.run(
            ["cc", "-O1", *shared, "-Wl,-z,now", f"-L{tmp_path}",
             f"-Wl,-rpath,{tmp_path}", "-o",
             tmp_path / (f"lib{name}.so" if shared else name), path,
             *libraries], check=True)
    alone = subprocess.run([tmp_path / "main"])
    assert alone.returncode == 42
    done = subprocess.run([COMMAND, "run", tmp_path / "main"],
                          env=one_host.environment(
                              {"STRAIGHTWAY_WHATIF": "some.model", **env}))
    assert done.returncode == 42


def test_the_command(host, tmp_path):
    """straightway whatif --clocks: what the program prints is virtual."""
    out = tmp_path / "report.json"
    model = tmp_path / "slow.toml"
    model.write_text('[[collective]]\nop = "alltoall"\nuse = "scale"\n'
                     'factor = 1e6\n')
    seen = {}
    for words in ([], ["--clocks"]):
        done = jobs.run(
            [sys.executable, "-m", "straightway", "whatif", "--mpi",
             host.mpirun, "-n", 2, "--runs", 0, "--model", "node", "--model",
             model, "--show-output", "--json", out, *words, clocks(host),
             "times", 10],
            host.environment({"STRAIGHTWAY_COMMAND": COMMAND}), 120,
            cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        seen[bool(words)] = times(done)
    assert seen[True]["wtime"] > 1e9
    for name in ("realtime", "monotonic", "gettimeofday"):
        assert seen[True][name] == pytest.approx(seen[True]["wtime"], rel=.01)
        assert seen[False][name] < seen[False]["wtime"] / 10
