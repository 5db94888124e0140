"""A job without Straightway: what gdb's stacks tell."""

import io
import json
import pathlib
import shutil
import stat
import subprocess

import jsonschema
import pytest
from straightway import native
from straightway.reporters import where_terminal
from straightway.where import plain, saved
from test_where import SCHEMA

HERE = pathlib.Path(__file__).parent
OUTPUT = """
Thread 2 (Thread 0x7f (LWP 12) "app"):
#0  0x00007f01 in epoll_wait (epfd=9, timeout=-1) at ../sysdeps/x.c:30
#1  0x00007f02 in start_thread () from /lib/x86_64-linux-gnu/libc.so.6

Thread 1 (Thread 0x7f (LWP 11) "app"):
#0  0x00007f03 in poll () from /lib/x86_64-linux-gnu/libc.so.6
#1  0x00007f04 in opal_progress () from /usr/lib/libopen-pal.so.40
#2  0x00007f05 in PMPI_Recv () from /usr/lib/libmpi.so.40
#3  0x00007f06 in pmpi_recv__ () from /usr/lib/libmpi_mpifh.so.40
#4  0x000055aa in exchange (n=3, to=..., f=0x1 <g(int)>) at /src/halo.c:42
#5  0x000055ab in main (argc=1, argv=0x7ffc) at /src/main.c:9
"""


def of(text):
    return [plain.of_stack(n, frames) for n, frames in
            sorted(plain.stacks(text).items())]


def test_the_innermost_call_and_its_caller_are_found():
    first, second = of(OUTPUT)
    assert (first.call, first.place) == ("MPI_Recv", "exchange (halo.c:42)")
    assert second.call == ""


@pytest.mark.parametrize("function, name", [
    ("MPI_Allreduce", "MPI_Allreduce"), ("PMPI_Wait", "MPI_Wait"),
    ("mpi_barrier_", "MPI_Barrier"), ("pmpi_send__", "MPI_Send"),
    ("MPIR_Barrier_impl", ""), ("main", ""), ("ompi_mpi_finalize", "")])
def test_names_of_procedures(function, name):
    assert plain._name(function) == name


def gdb(folder, script):
    """A stand-in for gdb."""
    path = folder / "gdb"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def shown(found):
    out = io.StringIO()
    where_terminal.render_plain(found, out)
    text = " ".join(out.getvalue().split())
    assert max(map(len, out.getvalue().splitlines())) <= 80
    report = saved.without(found, where_terminal.plain_hints(found))
    jsonschema.validate(report, SCHEMA)
    assert json.dumps(report)
    return text


def test_ranks_in_the_same_place_share_a_row(tmp_path):
    program = gdb(tmp_path, f"cat <<'END'{OUTPUT}END")
    found = [plain.look(pid, program) for pid in (2 ** 30, 2 ** 30 + 1)]
    assert all(len(process.threads) == 1 for process in found)
    for rank, process in enumerate(found):
        process.rank = rank
    text = shown(found)
    assert "0, 1 MPI_Recv exchange (halo.c:42)" in text
    assert "No verdict is possible" in text


def test_a_refusal_is_told_with_its_remedy(tmp_path):
    program = gdb(tmp_path, "echo 'ptrace: Operation not permitted.'")
    found = plain.look(2 ** 30, program)
    assert "refuses to let gdb attach: Operation not permitted" in found.why
    text = shown([found])
    assert "Yama" in text or "SYS_PTRACE" in text


def test_a_missing_gdb_is_told(tmp_path):
    found = plain.look(2 ** 30, str(tmp_path / "gdb"))
    assert "is missing" in found.why and not found.threads
    assert "gdb is missing: install it" in shown([found])


def test_a_gdb_that_hangs_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "SECONDS", .2)
    found = plain.look(2 ** 30, gdb(tmp_path, "exec sleep 60"))
    assert "no answer" in found.why


def test_a_process_without_mpi_is_refused(run, monkeypatch, tmp_path):
    program = tmp_path / "straightway-where"
    program.write_text("#!/bin/sh\necho '{\"processes\": []}'\n")
    program.chmod(0o755)
    monkeypatch.setattr(native, "where_executable", lambda: program)
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            status, _, err = run("where", process.pid)
        finally:
            process.kill()
    assert status == 2 and "is no MPI process" in err


@pytest.mark.skipif(not shutil.which("gdb"), reason="no gdb")
def test_a_job_of_an_mpi(host, run, monkeypatch, tmp_path):
    """A real job: gdb tells the lines of its ranks."""
    program = tmp_path / "straightway-where"
    program.write_text("#!/bin/sh\necho '{\"processes\": []}'\n")
    program.chmod(0o755)
    monkeypatch.setattr(native, "where_executable", lambda: program)
    words = host.command_line(3, [host.compile(HERE / "hangs_plain.c", "-g")],
                              straightway=False)
    with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE,
                          env=host.environment(), text=True) as job:
        try:
            for _ in range(3):
                assert job.stdout.readline().startswith("rank")
            status, out, err = run("where", job.pid)
            if "refuses" in out:
                pytest.skip("the system refuses ptrace")
        finally:
            job.terminate()
    assert status == 0, err
    assert "gdb stops each of 3 processes" in err
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "0, 1 MPI_Recv receive (hangs_plain.c:13)" in rows
    assert any(row.startswith("2 not in MPI main (hangs_plain.c:")
               for row in rows), out
