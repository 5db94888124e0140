"""straightway tune: what it decides, what it writes, and what doctor says of
it. Nothing here depends on which side is the quicker."""

import json
import re
import types

import pytest
from harness import schemas
from harness.hosts import COMMAND
from straightway import cli
from straightway.bench import overlap, tuned, tuning, ways
from straightway.commands import tune
from straightway.errors import UserError
from straightway.machine import checks

ONE = "[a-1.0 shm nodes=1 ranks=4 machine=beef]"


def timed(median):
    return {"median": median, "low": median, "high": median}


def cell(operation, size, host, ours):
    return {"operation": operation, "size": size, "host": timed(host),
            "ours": timed(ours)}


def started(immediate, total, computing, persistent=None):
    """One side of a cell of bench overlap."""
    return {"immediate": timed(immediate), "computing": timed(computing),
            "plain": {"1": {"time": timed(total)}},
            "persistent": persistent and timed(persistent)}


def measured(*passes):
    """Passes over cells (operation, size, score) of blocking calls."""
    found = {}
    for one in passes:
        for operation, size, score in one:
            tuning.add(found, {("", operation, size): score})
    return found


def test_a_cell_must_lose_each_time():
    found = measured(
        [("bcast", 8, 0.5), ("scan", 8, 0.5), ("gather", 8, 0.98),
         ("reduce", 8, 1.5), ("scatter", 8, 0.5)],
        [("bcast", 8, 0.96), ("scan", 8, 0.98), ("gather", 8, 0.9)])
    assert tuning.left(found) == [("", "bcast", 8)]
    assert tuning.doubtful(found, tuning.FORMS[:1]) == [
        ("bcast", 8), ("gather", 8), ("scan", 8), ("scatter", 8)]
    assert tuning.doubtful(found, tuning.FORMS[1:]) == []


def test_lines_go_by_size_class():
    low, high = 0.8, 2.0
    both = [("bcast", 8, high), ("bcast", 1 << 20, low), ("barrier", 0, low),
            ("reduce_scatter", 1024, low), ("reduce_scatter", 4096, high),
            ("scan", 8, high)]
    assert tuning.lines(measured(both, both), 4) == {
        "bcast": "bcast 0:ours 4096:host",
        "barrier": "barrier 0:host",
        # All members' parts together: 4 KiB and 16 KiB.
        "reduce_scatter": "reduce_scatter 0:host 16384:ours"}


def test_without_a_common_size_the_mean_decides():
    for operation in ("alltoallv", "neighbor_alltoall"):
        lost = [(operation, 8, 0.8), (operation, 1024, 0.9)]
        found = measured(lost, lost)
        assert tuning.lines(found, 4) == {operation: f"{operation} 0:host"}
        assert len(tuning.left(found)) == 2
        mixed = [(operation, 8, 0.8), (operation, 1024, 3.0)]
        assert tuning.left(measured(mixed, mixed)) == []


def scores(host, ours):
    return tuning.started_scores({"operation": "bcast", "size": 8,
                                  "host": host, "ours": ours})


def test_a_nonblocking_call_has_two_uses():
    # Both sides would take 30 with the longer computing of 20.
    found = scores(started(10, 30, 20, 10), started(10, 20, 10, 20))
    assert found == {("i", "bcast", 8): 1.0, ("_init", "bcast", 8): 0.5}
    # It loses while ranks compute, and wins little otherwise.
    found = scores(started(11, 27, 10), started(10, 30, 10))
    assert found == {("i", "bcast", 8): pytest.approx(0.9)}
    # ... or much: the mean counts.
    found = scores(started(20, 27, 10), started(10, 30, 10))
    assert found[("i", "bcast", 8)] > 1.3
    assert tuning.name("i", "bcast") == "ibcast"
    assert tuning.name("_init", "bcast") == "bcast_init"


def test_cells_that_were_not_measured_are_ours():
    assert tuning.blocking_scores(dict(cell("bcast", 8, 1, 1), ours=None)) \
        == {}
    assert tuning.started_scores({"operation": "bcast", "size": 8,
                                  "host": None, "ours": None}) == {}
    assert tuning.lines({}, 4) == {}


def test_a_setting_must_win_by_the_margin():
    plain = {("bcast", 8): 1.0, ("bcast", 64): 2.0}
    assert tuning.wins(plain, {("bcast", 8): 1.2, ("bcast", 64): 2.0})
    assert not tuning.wins(plain, {("bcast", 8): 1.04, ("bcast", 64): 2.08})
    assert not tuning.wins(plain, {("bcast", 8): 2.0, ("bcast", 64): 1.8})
    assert not tuning.wins(plain, {})
    assert {trial.setting for trial in tuning.TRIALS} == {
        "eager_max", "slice_min", "p2p_min", "p2p_joint", "stream_min",
        "show_after"}
    for trial in tuning.TRIALS:
        words = trial.arguments(3)
        assert words[1] == "ring" or trial.operations
        assert trial.cells(3) <= trial.cells(4)


def test_an_entry_is_written_anew(tmp_path):
    file = tmp_path / "ways"
    over = "[a-1.0 tcp nodes=2 ranks=4]"
    ways.write(file, over, {"bcast": "bcast 0:lanes"})
    ways.write(file, ONE, {"scan": "scan 0:host"}, "yesterday, 1 of 2")
    ways.write(file, ONE, {"bcast": "bcast 0:host",
                           "eager_max": "eager_max 1024"}, "today, 1 of 2")
    ways.write(file, over, {"scan": "scan 0:host"})
    assert file.read_text().splitlines() == [
        ways.HEAD, "# written by straightway",
        "", over, "bcast 0:lanes", "scan 0:host",
        "", ONE + " # today, 1 of 2", "bcast 0:host", "eager_max 1024"]


def findings(monkeypatch, file):
    monkeypatch.setenv("STRAIGHTWAY_WAYS", str(file))
    host = types.SimpleNamespace(title="A 1.0", kind="a", launcher="/a/mpirun",
                                 version="A 1.0", served=True)
    return tuned.checks([host, host], {"machine": "beef"})


def test_doctor_shows_what_is_in_force(monkeypatch, tmp_path):
    file = tmp_path / "ways"
    none, = findings(monkeypatch, file)
    assert none.status == checks.NOTE
    assert none.mend == "straightway tune --mpi /a/mpirun -n RANKS"
    ways.write(file, ONE, {"scan": "scan 0:host",
                           "eager_max": "eager_max 1024"}, "today, 1 of 2")
    for other in ("[a-1.1 shm nodes=1 ranks=4 machine=beef]",
                  "[a-1.0 shm nodes=1 ranks=4 machine=dead]",
                  "[a-1.0 tcp nodes=2 ranks=4]"):
        ways.write(file, other, {"scan": "scan 0:host"})
    found, = findings(monkeypatch, file)
    assert found.status == checks.OK and found.name == "A 1.0, 4 ranks"
    assert found.finding == f"today, 1 of 2, eager_max 1024; {file}"
    monkeypatch.setenv("STRAIGHTWAY_TUNED", "off")
    off, = findings(monkeypatch, file)
    assert off.status == checks.DEGRADED
    monkeypatch.delenv("STRAIGHTWAY_TUNED")
    file.write_text("milk\n")
    bad, = findings(monkeypatch, file)
    assert bad.status == checks.DEGRADED and str(file) in bad.mend


@pytest.mark.parametrize("arguments, words", [
    (["--seconds", "0"], "--seconds"),
    (["--ops", "bcats"], "unknown operation"),
    (["-n", "1"], "2 ranks or more"),
    (["--mpi", "/nowhere/at/all"], "/nowhere/at/all")])
def test_a_mistake_in_the_options_is_named(arguments, words):
    options = cli._parser("tune").parse_args(["tune", *arguments])
    with pytest.raises(UserError, match=re.escape(words)):
        tune.Tune.run(options)


def command(host, file, *arguments):
    return host.start(
        [COMMAND, *arguments, "--mpi", host.library],
        env={"STRAIGHTWAY_WAYS": file}, timeout=300)


def test_the_command_writes_what_jobs_read(all_hosts, tmp_path):
    if not all_hosts:
        pytest.skip("no MPI at all")
    host = next((h for h in all_hosts if h.name == "mpich"), all_hosts[0])
    file, out = tmp_path / "ways", tmp_path / "tune.json"
    done = command(host, file, "tune", "-n", "2", "--seconds", "4", "--ops",
                   "allreduce,barrier", "--sizes", "8", "--started-sizes", "8",
                   "--json", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    found = json.loads(out.read_text())
    assert found["schema"] == "straightway-tune/1"
    schemas.check("bench", found, "cells")
    assert file.read_text().splitlines()[3].startswith(found["entry"])
    assert re.fullmatch(r"\[\S+ shm nodes=1 ranks=2 machine=[\da-f]{8}\]",
                        found["entry"])
    names = {one["name"] for one in found["cells"]}
    assert names <= {*(form.format(op) for op in ("allreduce", "barrier")
                       for form in ("{}", "i{}", "{}_init"))}
    assert all(one["scores"] for one in found["cells"])
    told = command(host, file, "doctor")
    assert "2 ranks" in told.stdout and "cells left" in " ".join(
        told.stdout.split()), told.stdout
    # A job reads it without a word.
    job = host.start(host.command_line(2, ["true"]),
                     env={"STRAIGHTWAY_WAYS": file})
    assert str(file) not in job.stderr


def test_the_shape_of_a_cell_is_that_of_bench_overlap():
    line = {"cell": "bcast", "size": 8, "late_rank": 1}
    for mode in ("host", "ours"):
        for form in ("plain_0", "plain_0.5", "plain_1", "plain_2",
                     "tested_0.5", "tested_1", "tested_2", "computing",
                     "apart", "late_0", "late_0.5", "late_1", "late_2",
                     "held_2", "blocking", "immediate"):
            line[f"{mode}_{form}"] = [2.0 if mode == "host" else 1.0] * 6
            line[f"{mode}_{form}_calls"] = 1
            line[f"{mode}_{form}_right"] = True
    found = tuning.started_scores(overlap.cell(line))
    assert [*found] == [("i", "bcast", 8)]
