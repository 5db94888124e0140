"""The harness itself: what the other tests take for granted."""

import collections
import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest
from harness import hosts, jobs, patience, programs, spread
from straightway.whatif import programs as whatif

RING = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int me, n, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d: %d\\n", me, n, sum);
    MPI_Finalize();
    return sum == n * (n - 1) / 2 ? 0 : 1;
}
"""


@pytest.mark.parametrize("n", [1, 2, 5])
def test_host_compiles_and_runs(host, n):
    program = host.compile(RING)
    done = host.run(n, program, straightway=False, check=True)
    lines = sorted(done.stdout.split("\n")[:-1])
    assert lines == [f"rank {r} of {n}: {n * (n - 1) // 2}" for r in range(n)]


Named = collections.namedtuple("Named", "name flavour")
SIX = [Named(name, flavour) for name, flavour in (
    ("a", "ompi"), ("b", "mpich"), ("c", "mpich"), ("d", "mpich"),
    ("e", "ompi"), ("f", "mpich"))]


def variations(count, file="a.py"):
    return {(f"{file}::t", (("enable", bool(i % 2)), ("n", i // 2))): SIX
            for i in range(count)}


@pytest.mark.parametrize("count, kept", [
    (1, 1), (2, 1), (4, 2), (24, 12), (101, 51)])
def test_a_short_run_spreads_tests_over_mpis(count, kept):
    """Both families meet the variations of a test, and each half of many."""
    shown = spread.in_turn(variations(count))
    assert set(shown) <= set(variations(count)) and len(shown) == kept
    assert len(set(shown.values())) == min(kept, 2)
    assert len({host.flavour for host in shown.values()}) == min(kept, 2)
    if kept >= 12:
        for on in True, False:
            assert len({shown[v].flavour for v in shown
                        if v[1][0][1] == on}) == 2


def test_a_short_run_spreads_files_over_mpis():
    shown = [host for file in range(40) for host in
             spread.in_turn(variations(4, f"test_{file}.py")).values()]
    assert set(shown) == set(SIX)


def test_a_short_run_takes_mpis_that_can():
    for can in (SIX[:1], SIX[1:3], SIX[1:2]):
        shown = spread.in_turn(dict.fromkeys(variations(9), can))
        assert set(shown.values()) <= set(can)


@programs.needs_mpi4py
def test_host_serves_mpi4py(host):
    code = ("from mpi4py import MPI; c = MPI.COMM_WORLD; "
            "import os; os.write(1, b'%d\\n' % c.allreduce(c.rank))")
    done = host.run(2, [host.python, "-c", code], straightway=False,
                    check=True)
    assert done.stdout.split() == ["1", "1"]


def test_timeout_ends_every_process(host):
    program = host.compile(
        "#include <mpi.h>\n#include <unistd.h>\n"
        "int main(void) { MPI_Init(0, 0); for (;;) pause(); }\n")
    with pytest.raises(jobs.JobTimeout) as told:
        host.run(2, program, straightway=False, timeout=3)
    assert not shutil.which("gdb") or str(told.value).count("pause") >= 2
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        assert os.fsencode(str(program)) not in words.split(b"\0")


def test_a_killed_launcher_leaves_no_folder(host, tmp_path):
    """Open MPI 5 does not start with the process id of one that did."""
    say = tmp_path / "say"
    program = host.compile(
        "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
        "#include <unistd.h>\nint main(int n, char **words)\n"
        "{ MPI_Init(0, 0); FILE *f = fopen(words[1], \"w\");\n"
        "fputs(getenv(\"TMPDIR\"), f); fclose(f); for (;;) pause(); }\n")
    words = host.command_line(1, [program, say], straightway=False)
    with jobs.background(words, host.environment()) as job:
        while not (say.exists() and say.read_text()):
            assert job.launcher.poll() is None, job.printed
            time.sleep(.01)
        folder = pathlib.Path(say.read_text())
        assert folder.is_dir() and folder.name.startswith("job-")
    assert not folder.exists()


BUSY = "import time\nwhile time.process_time() < 2: pass\n"


@pytest.fixture(params=[
    "a job", *(pytest.param(which, marks=pytest.mark.deep)
               for which in ("a command", "a command's child"))])
def limited(request):
    """Runs a Python program, for so many seconds of the machine's."""
    env = dict(os.environ)

    def run(seconds, *words):
        words = [*words[:-1], sys.executable, "-c", words[-1]]
        if request.param == "a job":
            return jobs.run(words, env, timeout=seconds)
        if request.param == "a command's child":
            words = ["sh", "-c", '"$@"; exit $?', "sh", *words]
        return patience.run(words, timeout=seconds)
    return run


def test_a_limit_holds_where_others_load_the_machine(limited):
    """A job of two seconds' computing is not cut off after six of the clock,
    though others keep it from the cores for longer: eight in all."""
    cores = sorted(os.sched_getaffinity(0))[:1]
    pinned = ["taskset", "-c", str(cores[0])]
    others = [subprocess.Popen([*pinned, sys.executable, "-c",
                                "while True: pass"]) for _ in range(3)]
    try:
        assert limited(6, *pinned, BUSY).returncode == 0
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_what_does_not_end_is_cut_off_also_then(limited):
    for does in "time.sleep(15)", "exec('while True: pass')":
        with pytest.raises((jobs.JobTimeout, subprocess.TimeoutExpired)):
            limited(1, "import resource, time\n"
                    "resource.setrlimit(resource.RLIMIT_CPU, (15, 15))\n"
                    f"{does}")


def test_a_command_gets_its_input_and_gives_its_output():
    done = patience.run(["sh", "-c", "cat; sleep 2; echo error >&2; exit 3"],
                        timeout=30, input="word", text=True,
                        capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (
        3, "word", "error\n")
    with pytest.raises(subprocess.CalledProcessError):
        patience.run(["false"], timeout=30, check=True)


def test_a_job_that_is_cut_off_on_both_sides_is_no_failure():
    def cut():
        raise jobs.JobTimeout("late")

    assert jobs.both(lambda: 1, lambda: 2) == (1, 2)
    assert jobs.both(cut, lambda: 2) == (None, 2)
    with pytest.raises(jobs.JobTimeout):
        jobs.both(lambda: 1, cut)
    with pytest.raises(pytest.skip.Exception):
        jobs.both(cut, cut)


def test_stragglers_are_found_and_killed():
    env = dict(os.environ)
    argv = ["sh", "-c", "setsid sleep 60 & exit 0"]
    with pytest.raises(AssertionError, match="outlived"):
        jobs.run(argv, env, timeout=20)
    assert jobs.run(argv, env, timeout=20, stragglers="kill").returncode == 0


@pytest.fixture(params=[0, 1, 2])
def launcher(request, tmp_path):
    """One that begins after so many failures; `.runs()` counts them all."""
    class Launcher:
        path, failures = tmp_path / "mpirun", request.param

        def runs(self):
            return len((tmp_path / "runs").read_text())

    Launcher.path.write_text(
        f"#!/bin/sh\necho >> {tmp_path}/runs\n"
        f"[ $(wc -l < {tmp_path}/runs) -gt {request.param} ] && exit 0\n"
        "echo \"The PMIx server's listener thread failed to start. We\"\n"
        "exit 1\n")
    Launcher.path.chmod(0o755)
    return Launcher()


def test_launcher_that_does_not_begin_is_run_again_once(launcher, tmp_path):
    host = hosts.Host("fake", "ompi", tmp_path, tmp_path, {}, launcher.path)
    done = host.run(2, ["true"], straightway=False)
    assert done.returncode == (launcher.failures == 2)
    assert host.false_starts == min(launcher.failures, 1)
    assert launcher.runs() == min(launcher.failures, 1) + 1


def test_whatif_starts_a_launcher_again_once(launcher, monkeypatch):
    monkeypatch.setattr(whatif.Job, "words", lambda *_: [str(launcher.path)])
    status, *_ = whatif.Job(["true"]).run(2, {}, "the run")
    assert status == (launcher.failures == 2)
    assert launcher.runs() == min(launcher.failures, 1) + 1
