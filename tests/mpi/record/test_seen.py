"""One-sided calls, blocks that are given away and partitioned messages, as
--stats, a profile, a trace and virtual time see them: no more and no less."""

import json
import re
import subprocess
import sys

import pytest
from harness import jobs, patience
from harness.hosts import COMMAND
from harness.programs import measures, needs_mpi4, run, source, well
from straightway import native, profile
from straightway.whatif import operations

N, PARTS = 4096, 4
MS = 120
WAITED = 0.5 * MS * 1e6     # of what a rank waits for, the least that is seen
SIDES = pytest.mark.parametrize("enable", ["off", "on"])
WHATIF = native.whatif_executable()
MODEL = "ranks 2\nlink node o_send 1000 o_recv 1000 L 5000 g 100 G 0.1\n"


def seen(host, what, ms=0, env=None):
    return well(run(host, 2, "seen", what, ms, env={
        "STRAIGHTWAY_P2P": "on", **(env or {})}))


def profiled(host, folder, what, enable, ms=0, trace="off"):
    seen(host, what, ms, {
        "STRAIGHTWAY_PROFILE": "on", "STRAIGHTWAY_PROFILE_REPORT": "off",
        "STRAIGHTWAY_PROFILE_OUTPUT": folder / "a.swcap",
        "STRAIGHTWAY_ENABLE": enable, "STRAIGHTWAY_TRACE": trace})
    return profile.load(folder / "a.swcap")


def of(p, rank):
    """{procedure: (calls, sent, received)} of a rank."""
    return {t.key[0].removesuffix("_c"): (t.calls, t.sent, t.received)
            for t in p.totals(("operation", "rank")) if t.key[1] == rank}


def waited(p, rank):
    """{procedure: ns} that a rank has waited in."""
    return {t.key[0].removesuffix("_c"): t.waiting
            for t in p.totals(("operation", "rank")) if t.key[1] == rank}


# --stats ---------------------------------------------------------------------

def test_stats_count_accesses_and_epochs(host):
    told = seen(host, "windows").stderr
    assert "windows: 2 of 2 ours; 16 accesses to these" in told
    assert ("one-sided calls that were ours: put 4 (79 KiB), get 1 (0 KiB), "
            "accumulate 1 (0 KiB), fetch 10 (0 KiB), fence 4, lock 4, start 2, "
            "flush 11") in told
    assert "windows of the MPI" not in told


@pytest.mark.parametrize("env, why", [
    ({"STRAIGHTWAY_RMA": "off"}, "switched off"),
    ({"STRAIGHTWAY_NODE_SIZE": "1"}, "over several nodes"),
    ({"STRAIGHTWAY_REFUSE": "memfd"}, "without arenas")])
def test_stats_tell_why_a_window_is_the_mpis(host, env, why):
    told = seen(host, "windows", env=env).stderr
    assert "windows: 0 of 2 ours; 0 accesses to these" in told
    reason, = re.findall(r"windows of the MPI, (.*): 2$", told, re.M)
    assert why in reason
    assert "one-sided calls that were ours" not in told


def test_stats_count_blocks_and_their_bytes(host):
    told = seen(host, "gives").stderr
    assert ("blocks: 5 given, 5 taken, 1 went by value; 320 KiB given, 0 KiB "
            "by value") in told
    assert "blocks by value, small: 1" in told
    assert "point to point" not in told
    told = seen(host, "gives", env={"STRAIGHTWAY_P2P": "off"}).stderr
    assert "0 given, 0 taken, 6 went by value; 0 KiB given, 320 KiB" in told


@needs_mpi4
def test_stats_count_partitions(host):
    told = seen(host, "parts").stderr
    assert ("partitioned messages: started 6 times, at both ends; sent 12 "
            "partitions, 384 KiB") in told


# A profile -------------------------------------------------------------------

@SIDES
def test_a_profile_has_the_bytes_of_accesses(host, enable, tmp_path):
    p = profiled(host, tmp_path, "windows", enable)
    first, second = of(p, 0), of(p, 1)
    assert first["MPI_Put"] == second["MPI_Put"] == (2, 8 * (N + 1000), 0)
    assert first["MPI_Get"] == (1, 0, 800)
    assert second["MPI_Accumulate"] == (1, 80, 0)
    assert first["MPI_Fetch_and_op"] == (5, 40, 40)
    moved = {pair: one.bytes for pair, one in p.matrix("one-sided").items()}
    assert moved == {(0, 1): 8 * (N + 1000) + 40,
                     (1, 0): 8 * (N + 1000) + 80 + 40,
                     (0, 0): 800 + 40 + 40}


@measures
@SIDES
def test_a_profile_tells_who_is_late_at_a_window(host, enable, tmp_path):
    p = profiled(host, tmp_path, "windows", enable, MS)
    late, waiting = waited(p, 0), waited(p, 1)
    assert waiting["MPI_Win_fence"] > WAITED
    # Where the host puts off a lock, the end of the epoch waits for it.
    assert sum(waiting[f"MPI_Win_{name}"] for name in ("lock", "unlock")) \
        > WAITED
    # For the post of rank 0, and its complete. Some hosts alone do not complete
    # while the target is out of MPI: rank 1 then comes to its wait later.
    assert sum(waiting[name] for name in (
        "MPI_Win_start", "MPI_Put", "MPI_Win_complete", "MPI_Win_wait")) \
        > (2 if enable == "on" else 1) * WAITED
    one_sided = sum(ns for name, ns in late.items() if "Win_" in name)
    assert one_sided < WAITED, late


@needs_mpi4
@SIDES
def test_a_profile_counts_a_partitioned_message_once_a_start(
        host, enable, tmp_path):
    p = profiled(host, tmp_path, "parts", enable)
    whole = 3 * PARTS * 8 * N
    assert of(p, 0)["MPI_Start"] == (3, whole, 0)
    assert of(p, 0)["MPI_Pready"] == (3 * PARTS, 0, 0)
    assert of(p, 0)["MPI_Psend_init"] == (1, 0, 0)
    assert of(p, 1)["MPI_Wait"] == (3, 0, whole)
    (pair, one), = p.matrix("messages").items()
    assert pair == (0, 1) and one.messages == 3 and one.bytes == whole


@measures
@needs_mpi4
@SIDES
def test_a_profile_tells_that_a_partition_is_late(host, enable, tmp_path):
    p = profiled(host, tmp_path, "parts", enable, MS)
    assert waited(p, 1)["MPI_Wait"] > 3 * WAITED
    assert waited(p, 0)["MPI_Wait"] < WAITED


def test_a_profile_has_gives_as_messages(host, tmp_path):
    p = profiled(host, tmp_path, "gives", "on")
    assert of(p, 0)["straightway_give"] == (5, 5 * 65536, 0)
    assert of(p, 0)["MPI_Isend"] == (1, 100, 0)
    assert of(p, 1)["straightway_take"] == (6, 0, 5 * 65536 + 100)
    (pair, one), = p.matrix("messages").items()
    assert pair == (0, 1) and (one.messages, one.bytes) == (6, 5 * 65536 + 100)


@SIDES
def test_a_profile_knows_which_messages_came_early(host, enable, tmp_path):
    m = profiled(host, tmp_path, "early", enable).matched
    if enable == "off":
        assert not any(m)
        return
    # Of the five, one may be taken for the first receive.
    assert m.messages == 12 and 4 <= m.early <= 5
    assert m.early_bytes == 8 * m.early and m.waiting_most <= m.early
    assert m.posted_most == 7


@measures
def test_a_profile_tells_that_a_giver_is_late(host, tmp_path):
    p = profiled(host, tmp_path, "gives", "on", MS)
    assert waited(p, 1)["straightway_take"] > 3 * WAITED
    assert waited(p, 0)["straightway_give"] == 0


# A trace, and virtual time ---------------------------------------------------

def replayed(ops, folder):
    (folder / "a.model").write_text(MODEL)
    done = patience.run([WHATIF, "replay", "--check", folder / "a.model",
                         ops], text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@SIDES
def test_a_trace_of_windows_replays_all_of_them(host, enable, tmp_path):
    p = profiled(host, tmp_path, "windows", enable, 20, trace="on")
    made = operations.from_trace(p, tmp_path / "a.swops")
    assert not [note for note in made.notes if "left out" in note]
    text = subprocess.run(
        [WHATIF, "convert", "--to", "text", tmp_path / "a.swops",
         "/dev/stdout"], text=True, capture_output=True, check=True).stdout
    for line, count in (
            (f"put {8 * N} at 1 context ", 1), ("get 800 at 0", 1),
            ("accumulate 80 at 0", 1), ("fetch 8 at 0", 10),
            (" lock at 0", 2), ("unlock at 0", 2), ("unlock all", 2),
            ("make window", 2), ("free window", 2)):
        assert text.count(line) == count, (line, text)
    # Rank 0 comes late four times.
    assert replayed(tmp_path / "a.swops", tmp_path)["end_ns"] > 3 * 20e6


@pytest.mark.parametrize("what", [
    "gives", pytest.param("parts", marks=needs_mpi4)])
def test_a_trace_of_given_blocks_and_partitions_replays(host, what, tmp_path):
    p = profiled(host, tmp_path, what, "on", 10, trace="on")
    made = operations.from_trace(p, tmp_path / "a.swops")
    assert not [note for note in made.notes if "left out" in note]
    result = replayed(tmp_path / "a.swops", tmp_path)
    assert result["end_ns"] > 3 * 10e6


@pytest.mark.parametrize("what", [
    "windows", "gives", "ring", pytest.param("parts", marks=needs_mpi4)])
def test_virtual_time_runs_to_its_end(host, what, tmp_path):
    out = tmp_path / "report.json"
    done = jobs.run(
        [sys.executable, "-m", "straightway", "whatif", "run", "-n", "2",
         "--mpi", host.mpirun, "--json", out, "--model", "node", "--check",
         "--runs", "1", "--show-output", host.compile(source("seen.c"),
                                                      "-ldl"), what, "10"],
        host.environment({"STRAIGHTWAY_COMMAND": COMMAND}), 120, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all is well" in done.stdout + done.stderr
    report = json.loads(out.read_text())
    assert report["baseline"]["time_s"] > 0.03
    assert "could not be modelled" not in done.stdout + done.stderr
