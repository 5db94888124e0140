"""The machine as a model: what calibrations become, and where they are kept."""

import json
import re
import subprocess
import sys
import time
import types

import pytest
from straightway import native
from straightway.errors import UserError
from straightway.machine import hardware as machine
from straightway.machine import hosts
from straightway.whatif import accesses, measured, started
from straightway.whatif.models import check
from straightway.whatif.models.lines import text

BENCHES = 3 * (1 + len(measured.STATES)) + 2 + len(check.MEMORY)
HOST = hosts.Host("libmpi.so.40", "ompi", "/usr/bin/mpiexec", "",
                  "Open MPI v5.0.11")


def cell(operation, size, host, ours):
    return {"operation": operation, "size": size,
            "host": {"median": host}, "ours": ours and {"median": ours}}


def nonblocking(operation, size):
    """Of a pure time of 10 us by the host, 2 are the start's. A rank that is
    away for 20 us finds 7 undone, and holds the others for 16."""
    def side(times, late, held):
        pure, blocking, immediate, both = ({"median": t} for t in times)
        return {"pure": pure, "blocking": blocking, "immediate": immediate,
                "computing": {"median": 10.0}, "held": {"median": held},
                "plain": {"2": {"time": both}},
                "late": {name: {"wait": {"median": wait}}
                         for name, wait in zip(("0", "0.5", "1", "2"), late)}}

    return {"operation": operation, "size": size,
            "host": side((10.0, 8.0, 12.0, 30.0), (8.0, 8.0, 7.5, 7.0), 0.8),
            "ours": side((5.0, 4.0, 5.0, 23.0), (4.0, 2.0, 0.5, 0.5), -0.1)}


def onesided(memory):
    """By the host a put of 8 bytes and a flush take 1 us, each of eight 0.3:
    so a call 0.2, and a flush 0.8. Eight of 4096 bytes take no less each."""
    more = 0.0 if memory == "created" else 0.5
    cells = [cell(name, size, more + host, 0.1)
             for name in ("put", "get", "accumulate", "get_accumulate")
             for name, size, host in ((name, 8, 1.0), (f"{name}s", 8, 0.3),
                                      (name, 4096, 3.0),
                                      (f"{name}s", 4096, 3.5))]
    return [*cells, cell("count", 8, 0.5, 0.05), cell("lock", 8, 1.6, 0.2),
            cell("fence", 0, 0.7 + more, 0.2)]


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """A stand-in for the benchmarks; remembers what was asked."""
    asked = []

    def run(host, words, limit=None):
        asked.append(words)
        swept = [s[0] for s in measured.STATES]
        more = 1.0 + swept.index(int(words[-1])) \
            if words[-2] == "--computing" else 0.0
        if words[0] == "pingpong":
            sizes = words[words.index("--sizes") + 1].split(",")
            cells = [cell(p, int(n), t + more + int(n) / 1e4,
                          t / 2 + int(n) / 1e4)
                     for n in sizes
                     for p, t in (("pingpong", 0.2), ("stream", 0.15))]
            if "give" in words:
                cells = [cell("give", int(n), 5.0, 0.3) for n in sizes]
        elif words[0] == "onesided":
            cells = onesided(words[words.index("--memory") + 1])
        elif words[0] == "overlap":
            cells = [nonblocking("allreduce", 8)]
        else:
            sizes = words[words.index("--sizes") + 1].split(",")
            cells = [cell(op, 0 if op == "barrier" else int(n),
                          0.3 + more + int(n) / 1e3, 0.1 + int(n) / 1e3)
                     for op in words[words.index("--ops") + 1].split(",")
                     for n in (["0"] if op == "barrier" else sizes)]
        return {"cells": cells, "ranks": 2,
                "floors": {"memcpy": {"65536": 3.2}}}

    run.asked, run.others = asked, []       # others: cores, at each look
    monkeypatch.setattr(measured, "bench", run)
    monkeypatch.setattr(measured.runs, "check_parts", lambda host: None)
    monkeypatch.setattr(machine, "cores", lambda: 2)
    monkeypatch.setattr(machine, "others", lambda seconds: run.others.pop(0)
                        if run.others else 0.0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return run


def lines_of(found, who):
    """The lines of the model's file."""
    return text(measured.lines(found, who)).splitlines()


def test_a_message_is_split_into_parts_that_sum_to_half_a_round_trip():
    for trip, share in ((200.0, 150.0), (200.0, 300.0), (200.0, 50.0)):
        size, send, wire, gap, receive = measured.split(8, trip, share)
        assert send + wire + receive == pytest.approx(trip)
        assert min(send, wire, gap, receive) >= 0
        assert gap == share and max(send, receive) <= gap


def test_calibrations_are_made_once(bench):
    said = []
    one = measured.load(HOST, 2, note=said.append)
    assert len(bench.asked) == BENCHES
    assert [re.search(r"part \d of 6: [a-z ]+", s)[0] for s in said] == [
        f"part {n} of 6: {name}" for n, name in enumerate(
            ("collectives ", "messages ", "nonblocking ", "windows ",
             "after computation ", "after computation "), 1)]
    assert "(a minute or more, once)" in said[0] and "so far" in said[1]
    assert measured.load(HOST, 2, note=said.append) == one
    assert len(bench.asked) == BENCHES and len(said) == 6
    measured.load(HOST, 2, recalibrate=True)
    assert len(bench.asked) == 2 * BENCHES


def test_a_known_program_needs_the_times_of_its_calls_alone(bench):
    """A later program that needs more has all of them measured anew."""
    one = measured.load(HOST, 2, wanted=frozenset({"alltoall"}))
    assert set(one["parts"]) == {"alltoall", "barrier"}
    assert set(one["collectives"]["host"]) == {"alltoall", "barrier"}
    assert one["started"] == {} and one["given"] == []
    assert not {"overlap", "onesided"} & {words[0] for words in bench.asked}
    assert "table alltoall" in "\n".join(lines_of(one, "ours"))
    asked = len(bench.asked)
    assert measured.load(HOST, 2, wanted=frozenset({"barrier"})) == one
    assert len(bench.asked) == asked and not measured.is_kept(HOST, 2)
    more = measured.load(HOST, 2, wanted=frozenset({measured.NONBLOCKING}))
    assert set(more["parts"]) == {"alltoall", "barrier", "nonblocking"}
    words, = (words for words in bench.asked if words[0] == "overlap")
    assert words[words.index("--ops") + 1] == "barrier,alltoall"
    measured.load(HOST, 2)
    assert measured.is_kept(HOST, 2)


LOOKS = 5 + len(measured.STATES)


@pytest.mark.parametrize("others", [[2.0], [0.1, 0.9, 0.1, 0.5]])
def test_what_a_busy_machine_gave_serves_while_it_is_busy(bench, others):
    """A run that finds the machine quiet measures anew, unasked."""
    bench.others[:] = (others * LOOKS)[:LOOKS]
    found = measured.load(HOST, 2)
    assert len(bench.asked) == BENCHES and not bench.others
    for _ in range(3):
        bench.others[:] = [1.0]
        assert measured.load(HOST, 2) == found and not bench.others
        said, = measured.doubts(found)
        assert "busy during the measurement" in said
        assert "on the quiet machine measures anew" in said
        bench.others[:] = [1.0]
        assert measured.is_kept(HOST, 2)
    assert len(bench.asked) == BENCHES
    assert not measured.is_kept(HOST, 2)
    for _ in range(2):
        found = measured.load(HOST, 2)
        assert len(bench.asked) == 2 * BENCHES
        assert measured.doubts(found) == [] and measured.is_kept(HOST, 2)


def test_a_disturbance_without_a_cause_is_kept_for_an_hour(bench, monkeypatch):
    """A hypervisor that takes the processor away, say, which no run sees."""
    monkeypatch.setattr(measured, "_disturbed", lambda found: True)
    found = measured.load(HOST, 2)
    assert measured.load(HOST, 2) == found and len(bench.asked) == BENCHES
    found["made"] = "2020-01-01T00:00:00+00:00"
    measured.write(found, measured.path(found["key"]))
    measured.load(HOST, 2)
    assert len(bench.asked) == 2 * BENCHES


def test_a_state_that_is_cut_short_costs_only_itself(bench, monkeypatch):
    """An interrupted benchmark has no report: what was measured before
    stays."""
    clock, plain = [0.0], measured.bench

    def slow(host, words, limit=None):
        if "--computing" in words:
            clock[0] += measured.LONGEST + 1
            raise UserError("had measured nothing", 1)
        return plain(host, words, limit)

    monkeypatch.setattr(measured, "bench", slow)
    monkeypatch.setattr(measured.time, "monotonic", lambda: clock[0])
    found = measured.load(HOST, 2)
    assert found["states"] == [] and found["cut"] and found["collectives"]
    assert measured.load(HOST, 2) == found
    monkeypatch.setattr(measured, "LONGEST", 1 << 40)   # it fails in time
    with pytest.raises(UserError, match="measured nothing"):
        monkeypatch.setattr(measured.time, "monotonic", lambda: 0.0)
        measured.load(HOST, 2, recalibrate=True)


def test_a_benchmark_is_interrupted_after_its_time(monkeypatch, tmp_path):
    """It may write what it has; one that does not end is killed."""
    monkeypatch.setattr(measured, "TO_END", 1)
    for then in ("exit 0", ":"):
        with open(tmp_path / "said", "w+") as said:
            began = time.monotonic()
            assert measured._ended(["sh", "-c", f"""
trap 'echo interrupted >&2; {then}' INT
while :; do sleep 0.1; done
"""], said, 3) is None
            assert time.monotonic() - began < 30
            said.seek(0)
            assert said.read() == "interrupted\n"
    with open(tmp_path / "said", "w+") as said:
        assert measured._ended([sys.executable, "-c", "exit(7)"], said, 60) == 7


def test_nonblocking_collectives_may_be_missing(bench, monkeypatch):
    """Where the MPI fails with them, or the time is over."""
    plain = measured.bench

    def fails(host, words, limit=None):
        if words[0] == "overlap":
            raise UserError("status 124", 1)
        return plain(host, words, limit)

    monkeypatch.setattr(measured, "bench", fails)
    found = measured.load(HOST, 2)
    assert found["started"] == {} and found["collectives"]["ours"]
    for who in measured.WHO:
        assert "started" not in "\n".join(lines_of(found, who))


def test_a_calibration_ends(bench, monkeypatch):
    """Where each benchmark takes minutes, those that are left are cut short,
    and the model has no times after computation."""
    clock, limits = [0.0], []
    plain = measured.bench

    def slow(host, words, limit=None):
        limits.append(limit)
        clock[0] += min(limit, 200)
        return plain(host, words, limit)

    monkeypatch.setattr(measured, "bench", slow)
    monkeypatch.setattr(measured.time, "monotonic", lambda: clock[0])
    found = measured.load(HOST, 2)
    assert limits[0] == measured.LONGEST and min(limits) == measured.LEAST
    assert sum(limits[-2:]) == 2 * measured.LEAST
    assert found["states"] == [] and found["cut"]
    said, = measured.doubts(found)
    assert "ended after 15 minutes" in said
    asked = len(bench.asked)
    assert measured.load(HOST, 2) == found and len(bench.asked) == asked
    for who in measured.WHO:
        assert "state" not in "\n".join(lines_of(found, who))


def test_what_an_idle_machine_gave_outlasts_a_busy_one(bench):
    one = measured.load(HOST, 2)
    bench.others[:] = [1.0] * LOOKS
    assert measured.load(HOST, 2) == one and len(bench.others) == LOOKS
    assert measured.doubts(measured.load(HOST, 2, recalibrate=True))
    assert measured.load(HOST, 2) == one


def test_what_a_busy_machine_adds_leaves_what_an_idle_one_gave(
        bench, monkeypatch):
    def slower(times):
        return lambda report, into, ranks: times(
            {"cells": [cell(c["operation"], c["size"],
                            9 * c["host"]["median"], 9.0)
                       for c in report["cells"]]}, into, ranks)

    one = measured.load(HOST, 2, wanted=frozenset({"alltoall"}))
    monkeypatch.setattr(measured, "_times", slower(measured._times))
    bench.others[:] = [1.0] * LOOKS
    wanted = frozenset({"bcast", measured.WINDOWS})
    found = measured.load(HOST, 2, wanted=wanted)
    assert set(found["parts"]) == {"alltoall", "barrier", *wanted}
    assert found["onesided"]["host"]
    for now, before in ((found, one), *zip(found["states"], one["states"])):
        assert now["links"] == before["links"]
        for who in measured.WHO:
            tables = now["collectives"][who]
            assert tables["alltoall"] == before["collectives"][who]["alltoall"]
            assert tables["bcast"]["2"]["8"] >= 9 * 100
    assert "busy during the measurement" in measured.doubts(found)[0]
    bench.others[:] = [1.0]
    assert measured.load(HOST, 2, wanted=wanted) == found


def test_a_short_task_of_others_is_no_load(bench):
    bench.others[:] = [0.9]
    assert measured.doubts(measured.load(HOST, 2)) == []
    assert list(measured.folder().iterdir())


def test_what_was_kept_without_a_look_is_measured_anew(bench):
    """By a former version, say, whose load average had our own ranks in it."""
    measured.load(HOST, 2)
    kept, = measured.folder().iterdir()
    found = json.loads(kept.read_text())
    found["key"]["schema"] = "straightway-measured/2"
    kept.write_text(json.dumps(found))
    measured.load(HOST, 2)
    assert len(bench.asked) == 2 * BENCHES


STAT = """cpu  9 9 9 9 9 9 9 9 0 0
cpu0 {user} 10 200 5000 70 80 90 {steal} 1 1
cpu7 900 0 0 0 0 0 0 0 0 0
intr 1 2 3"""


def test_the_time_of_others(monkeypatch):
    """Not waiting, interrupts or processors that are not ours; not our own."""
    monkeypatch.setattr(machine, "affinity", lambda: [0])
    monkeypatch.setattr(machine.os, "sysconf", lambda name: 100)
    monkeypatch.setattr(machine.os, "times", lambda: types.SimpleNamespace(
        user=0.5, system=0.25, children_user=9.0, children_system=9.0))
    assert machine.processor_time(STAT.format(user=300, steal=40)) == \
        pytest.approx(5.5 - 0.75)
    assert machine.processor_time("") is None
    assert machine.processor_time("cpu0 1 2 3") is None


@pytest.mark.parametrize("before, after, cores", [
    (10.0, 10.5, 2.5), (10.0, 9.9, 0.0), (None, 10.0, 0.0)])
def test_how_many_cores_others_use(monkeypatch, before, after, cores):
    times, clock = [before, after], [100.0, 100.2]
    monkeypatch.setattr(machine, "processor_time", lambda: times.pop(0))
    monkeypatch.setattr(machine.time, "monotonic", lambda: clock.pop(0))
    monkeypatch.setattr(machine.time, "sleep", lambda seconds: None)
    assert machine.others(0.2) == pytest.approx(cores)


def test_another_mpi_has_its_own(bench):
    measured.load(HOST, 2)
    other = hosts.Host("libmpi.so.12", "mpich", "mpiexec", "", "MPICH 5.0")
    measured.load(other, 2)
    assert len(bench.asked) == 2 * BENCHES
    assert len(list(measured.folder().iterdir())) == 2


def test_more_ranks_than_cores_are_not_measured(bench):
    found = measured.load(HOST, 64)
    assert found["key"]["ranks"] == 2
    assert all("64" != words[words.index("-n") + 1] for words in bench.asked)


@pytest.mark.parametrize("cores, ranks, counts", [
    (1, 1, [2]), (2, 64, [2]), (8, 4, [2, 4]), (64, 64, [2, 8, 32, 64])])
def test_which_numbers_of_ranks(monkeypatch, cores, ranks, counts):
    monkeypatch.setattr(machine, "cores", lambda: cores)
    assert measured.rank_counts(ranks) == counts


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"key": 1}'])
def test_a_damaged_calibration_is_made_anew(bench, text):
    one = measured.load(HOST, 2)
    kept, = measured.folder().iterdir()
    kept.write_text(text)
    assert measured.load(HOST, 2)["collectives"] == one["collectives"]
    assert len(bench.asked) == 2 * BENCHES


def test_a_calibration_that_lacks_a_part_is_made_anew(bench):
    measured.load(HOST, 2)
    kept, = measured.folder().iterdir()
    for part in ("links", "collectives", "eager", "states", "started",
                 "onesided", "given"):
        found = json.loads(kept.read_text())
        del found[part]
        kept.write_text(json.dumps(found))
        before = len(bench.asked)
        measured.load(HOST, 2)
        assert len(bench.asked) > before


def test_a_cache_that_cannot_be_written_costs_only_time(bench, monkeypatch,
                                                        tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert measured.load(HOST, 2)["collectives"]["host"]


def test_tables_hold_for_what_was_measured(bench):
    lines = lines_of(measured.load(HOST, 2), "host")
    assert "table alltoall 2 8 308 308" in lines
    assert "table barrier 2 0 300 300" in lines
    assert "table other 2 0 300 300" in lines
    measured_lines = [x for x in lines if x.startswith("inside ")]
    assert all(x.split()[-2:] == ["2", "2"] for x in measured_lines)
    # tables stand before what uses them
    for line in measured_lines:
        name = line.split()[1]
        assert max(i for i, x in enumerate(lines)
                   if x.startswith(f"table {name} ")) < lines.index(line)


def test_one_sided_calls_are_split_as_their_flush_shows(bench):
    """By the kind of the window's memory; a lock is what it takes beyond its
    put, half of it the unlock's."""
    found = measured.load(HOST, 2)
    lines = lines_of(found, "host")
    for name in ("put", "get", "accumulate"):
        assert f"access created {name} 8 200 800" in _rounded(lines)
        assert f"access created {name} 4096 3000 0" in _rounded(lines)
    # of several calls each took more: its own time is the one with a flush
    assert "access allocated put 8 700 800" in _rounded(lines)
    assert "access created fetch 8 100 400" in _rounded(lines)
    assert "locks created 300 300" in _rounded(lines)
    assert "table fence 2 0 700 700" in lines
    assert "table fence 2 0 1700 1700 1" in lines       # as barriers after it
    assert any(line.startswith("inside fence ") for line in lines)
    ours = _rounded(lines_of(found, "ours"))
    assert "access created put 8 100 0" in ours
    assert "locks created 50 50" in ours
    assert "table fence 2 0 200 200" in ours


def _rounded(lines):
    return [" ".join(word if i < 4 and not line.startswith("locks") or i < 2
                     else f"{float(word):.0f}"
                     for i, word in enumerate(line.split()))
            if line.startswith(("access", "locks")) else line
            for line in lines]


def test_a_block_that_is_given_costs_the_same_at_any_size(bench):
    """With Straightway; the MPI sends it."""
    found = measured.load(HOST, 2)
    ours = lines_of(found, "ours")
    assert f"given node {measured.GIVEN[0]} 150 0 300 150" in ours
    assert not [x for x in lines_of(found, "host")
                if x.startswith("given")]


def test_an_mpi_that_fails_with_windows_has_no_times_for_them(
        bench, monkeypatch):
    """Messages stand for one-sided calls then, and a barrier for a fence."""
    def refuses(host, words, limit=None):
        if words[0] == "onesided":
            assert limit
            raise UserError("it failed")
        return bench(host, words)

    monkeypatch.setattr(measured, "bench", refuses)
    lines = lines_of(measured.load(HOST, 2), "host")
    assert not [x for x in lines if x.startswith(("access", "locks"))]
    assert "table fence 2 0 300 300" in lines


def test_fences_of_more_ranks_are_measured_apart(bench):
    asked = []

    def run(words):
        asked.append(words)
        return {"ranks": int(words[2]), "cells": onesided(words[4])[-1:]
                if words[6] == "fence" else onesided(words[4])}

    found, fences = accesses.measure(run, 8)
    assert [words[2] for words in asked] == ["2", "2", "8"]
    assert set(found["host"]) == set(check.MEMORY)
    assert set(fences["host"]) == {"2", "8"}


def test_what_a_rank_has_computed_counts(bench):
    lines = lines_of(measured.load(HOST, 2), "host")
    for k, (swept, after, after_byte) in enumerate(measured.STATES, 1):
        asked = [words for words in bench.asked if words[-2:] ==
                 ["--computing", str(swept)]]
        assert [words[0] for words in asked] == ["collectives", "collectives",
                                                 "pingpong"]
        state = lines.index(f"state {k} {after} {after_byte}")
        more = 1000 * k
        assert f"table alltoall 2 8 {308 + more} {308 + more} {k}" in lines
        assert f"table other 2 0 {300 + more} {300 + more} {k}" in lines
        first = next(i for i, x in enumerate(lines)
                     if x.startswith("point ") and x.endswith(f" {k}"))
        assert state < first
    # the ranks that copy pay the time beyond that with warm caches
    point = next(x for x in lines if x.startswith("point node 0 ") and
                 x.endswith(" 2")).split()
    send, wire, gap, receive = map(float, point[3:7])
    assert send + wire + receive == pytest.approx(2200)
    assert wire == 50 and send == receive == gap


def test_ours_are_other_tables(bench):
    found = measured.load(HOST, 2)
    assert "table alltoall 2 8 108 108" in lines_of(found, "ours")


def test_nonblocking_collectives_come_in_parts_of_the_blocking_one(bench):
    """Of the pure time: as long as a call in a row that is waited for."""
    found = measured.load(HOST, 2)["started"]
    assert found["host"]["allreduce"]["8"] == pytest.approx({
        "blocking": 8000, "start": 2400, "shared": 1200, "own": 8400,
        "aside": 0, "held": 0.8})
    # Of 23 us computing takes 20, the start 1, own work 0.5: 1.5 are left of
    # what is shared, 3.5
    assert found["ours"]["allreduce"]["8"] == pytest.approx({
        "blocking": 4000, "start": 1000, "shared": 3500, "own": 500,
        "aside": 1 - 1.5 / 3.5, "held": 0})
    for words, line in (
            (["host"], "0.3 0.15 1.05 0 0.8"),
            (["ours"], "0.25 0.875 0.125 0.5714 0"),
            (["ours", "host", ["allreduce"]],
             "0.125 0.4375 0.0625 0.5714 0")):
        assert text(started.lines(found, *words)) == \
            f"started allreduce 8 {line}\n"
    assert started.lines(found, "ours", "host", ["bcast"]) == []


@pytest.mark.parametrize("change", [
    {"late": {"0": {"wait": {"median": 12.0}},
              "2": {"wait": {"median": 90.0}}}},
    {"late": {"0": {"wait": {"median": 1.0}}, "2": {"wait": {"median": 9.0}}}},
    {"plain": {"2": {"time": {"median": 99.0}}}},
    {"plain": {"2": {"time": {"median": 1.0}}}}, {"held": {"median": 5.0}}])
def test_noise_makes_no_impossible_parts(change):
    one = dict(nonblocking("bcast", 8)["host"], **change)
    found = started.parts(one)
    assert all(ns >= 0 for ns in found.values())
    assert sum(found[form] for form in ("start", "shared", "own")) == \
        pytest.approx(12000)
    assert found["aside"] <= 1 and found["held"] <= 1


def test_points_come_by_their_bytes(bench):
    lines = lines_of(measured.load(HOST, 2), "host")
    for kind in ("self", "domain", "node"):
        sizes = [int(x.split()[2]) for x in lines
                 if x.startswith(f"point {kind} ") and len(x.split()) == 7]
        assert sizes == sorted(set(sizes)) and sizes[0] == 0
        assert sizes[-1] == measured.LARGEST


def test_an_mpi_that_is_not_accelerated_has_no_second_model(bench,
                                                            monkeypatch):
    alone = measured.bench

    def run(host, words, limit=None):
        report = alone(host, words)
        for one in report["cells"]:
            one["ours"] = None
        return report

    monkeypatch.setattr(measured, "bench", run)
    found = measured.load(HOST, 2)
    assert not measured.served(found)
    assert lines_of(found, "host")


def test_a_failed_benchmark_is_told_with_what_it_said(monkeypatch):
    def failed(words, said, limit):
        said.write("straightway: no MPI\n")
        return 1

    monkeypatch.setattr(measured, "_ended", failed)
    with pytest.raises(UserError) as caught:
        measured.bench(HOST, ["collectives", "-n", "2"])
    assert "no MPI" in str(caught.value)
    assert "straightway bench collectives -n 2 ended with status 1" in \
        str(caught.value)
    monkeypatch.setattr(measured, "_ended", lambda *_: None)
    with pytest.raises(UserError, match="had measured nothing after 60 s"):
        measured.bench(HOST, ["overlap"], 60)


# A real one -----------------------------------------------------------------

@pytest.mark.deep
def test_the_engine_takes_a_real_calibration(one_host, monkeypatch, tmp_path):
    """A small one: two operations, few sizes."""
    if not native.whatif_executable().exists():
        pytest.skip("straightway-whatif is not built")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(measured, "OPERATIONS", ("barrier", "allreduce"))
    monkeypatch.setattr(measured, "CLOSELY", ("allreduce",))
    monkeypatch.setattr(measured, "LARGEST", 4096)
    monkeypatch.setattr(measured, "SECONDS", 0.01)
    monkeypatch.setattr(measured, "STATES", measured.STATES[:1])
    monkeypatch.setattr(started, "SECONDS", 0.01)
    monkeypatch.setattr(started, "SIZES", (8, 4096))
    for name, value in one_host.environment().items():
        monkeypatch.setenv(name, value)
    host = hosts.choose(str(one_host.mpirun))
    found = measured.load(host, 2)
    model = tmp_path / "model"
    assert set(found["started"]) == set(measured.WHO)
    for who in measured.WHO:
        model.write_text("ranks 2\n" + "\n".join(
            lines_of(found, who)) + "\n")
        done = subprocess.run([native.whatif_executable(), "check", model],
                              text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
        node = json.loads(done.stdout)["classes"]
        assert "self" in node


def test_a_disturbed_calibration_is_told(bench):
    found = measured.load(HOST, 2)
    assert measured.doubts(found) == []
    point = found["states"][1]["links"]["host"][1]
    point[1] += 300_000             # a time slice, for a few bytes
    assert measured.is_busy(found)
    said, = measured.doubts(found)
    assert "busy during the measurement" in said
