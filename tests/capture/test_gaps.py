"""What ranks compute beside their calls, from a trace, and the advice on it."""

import json

import pytest
from harness import captures, traces
from harness.captures import MS, S
from straightway import cli, native
from straightway.capture import file as capture
from straightway.capture import traces as trace

TICKS = 3       # of a ns: harness/traces.py


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def gaps(path):
    return native.answer(native.trace_executable(), ["gaps", path])["gaps"]


def job(ranks=1, wall=10 * S):
    return traces.Trace(captures.Job(ranks, wall=wall))


def test_gaps_are_those_before_and_behind_each_call():
    made = job()
    reduce, send = (made.call(0, name, communicator=None)
                    for name in ("MPI_Allreduce", "MPI_Send"))
    for record, gap, duration, waited in (
            (reduce, 50, 100, 80), (send, 30, 10, 0), (reduce, 5, 70, 40),
            (reduce, 60, 20, 20), (send, 0, 10, 0)):
        made.event(0, record, gap, duration,
                   [traces.waited(waited)] if waited else [])
    # Computed behind the reductions: 30, 60, 0; before them: (none), 5, 60.
    assert gaps(made.write("a.swtrace")) == [
        [0, 0, reduce, 3, 65, 90, 140, 30 + 40],
        [0, 0, send, 2, 30, 5, 0, 0]]


def test_gaps_go_on_over_blocks_but_not_over_damage():
    made = job()
    record = made.call(0, "MPI_Barrier", communicator=None)
    count = 3 * traces.BLOCK
    for _ in range(count):
        made.event(0, record, 10, 20, [traces.waited(8)])
    path = made.write("a.swtrace")
    assert gaps(path) == [[0, 0, record, count, 10 * (count - 1),
                           10 * (count - 1), 8 * count, 8 * (count - 1)]]
    middle = list(capture.trace_blocks(path))[1].payload
    with open(path, "r+b") as file:
        file.seek(middle.offset + 30)
        file.write(b"\xff\xff")
    left = 2 * traces.BLOCK
    assert gaps(path) == [[0, 0, record, left, 10 * (left - 2),
                           10 * (left - 2), 8 * left, 8 * (left - 2)]]


def test_threads_and_ranks_have_gaps_of_their_own():
    made = job(2)
    for rank in (0, 1):
        for thread in (0, 1):
            record = made.call(rank, "MPI_Barrier", thread=thread)
            for _ in range(2):
                made.event(rank, record, 100 * rank + 10 * thread, 5,
                           thread=thread)
    found = {(row[0], row[1]): row[4]
             for row in gaps(made.write("a.swtrace"))}
    assert found == {(0, 0): 0, (0, 1): 10, (1, 0): 100, (1, 1): 110}


def test_no_file_is_an_error(capfd):
    with open("a.swtrace", "w") as file:
        file.write("nothing")
    with pytest.raises(Exception, match="no capture file"):
        gaps("a.swtrace")


# The advice ---------------------------------------------------------------

def late(ranks=2, wait=2 * S, after=S, procedure="MPI_Allreduce"):
    """Rank 1 comes late to each of two reductions, and all compute then."""
    made = job(ranks)
    for rank in made.job.ranks:
        waits = wait if rank.number != 1 else 0
        site = [rank.native("solve.c", 42, "solve")]
        record = made.call(rank.number, procedure, calls=2, site=site,
                           time=2 * waits + 2 * MS, waited=2 * waits)
        last = made.call(rank.number, "MPI_Send", time=MS)
        for gap in (100 * MS, after):
            made.event(rank.number, record, TICKS * gap,
                       TICKS * (waits + MS),
                       [traces.waited(TICKS * waits)])
        made.event(rank.number, last, TICKS * after, TICKS * MS)
    return made


def advice(path, kind="complete-later"):
    assert cli.main(["report", path, "--json", "report.json"]) == 0
    with open("report.json") as file:
        found = json.load(file)["findings"]
    return next((f for f in found if f["kind"] == kind), None)


def test_a_collective_that_could_go_on_meanwhile(capsys):
    made = late()
    found = advice(made.write("a.swtrace"))
    # Twice 1 s of computing hide as much of 2 s of waiting, on one of 2 ranks.
    assert found["seconds"] == pytest.approx(1.0)
    assert found["evidence"]["waiting_s"] == pytest.approx(2.0)
    assert found["evidence"]["after_s"] == pytest.approx(2.0)
    assert found["evidence"]["before_s"] == pytest.approx(1.0)
    for words in ("In MPI_Allreduce in solve (solve.c:42) ranks wait 2.00 s",
                  "MPI_Iallreduce", "hides 1.00 s of the waiting at most"):
        assert words in found["text"]
    # A capture alone does not know in which order calls came.
    made.job.write("b.swcap")
    assert not advice("b.swcap")


@pytest.mark.parametrize("change", [
    dict(after=0), dict(wait=0), dict(procedure="MPI_Iallreduce"),
    dict(procedure="MPI_Recv")])
def test_where_nothing_can_be_hidden_nothing_is_said(change):
    assert not advice(late(**change).write("a.swtrace"))


def test_gaps_are_in_ns_of_the_rank():
    made = late()
    found = capture.read(made.write("a.swtrace"))
    ns = trace.gaps(found, gaps("a.swtrace"))
    assert ns[0, 0, 1] == pytest.approx(trace.Gap(2, S, 2 * S, 4 * S, 2 * S))
