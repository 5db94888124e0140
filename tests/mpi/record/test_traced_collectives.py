"""Collectives of which a trace must say more than their call: persistent
ones, those among neighbours, those between groups. Each becomes what it was,
with its sizes and its root; none is taken to wait for all members."""

import re

import pytest
import test_replay as replays
from harness import captures, traces
from straightway import capture
from straightway.whatif import operations

RANKS = 4


def lines_of(path):
    """{rank: [line]} without what is computed, without numbers of requests
    and of contexts."""
    return {rank: [re.sub(r" (request|context) \d+", "", line)
                   for line in lines if not line.startswith("compute")]
            for rank, lines in replays.text_of(path).items()}


def near(rank, size):
    """Messages with the neighbours on a line, however they are waited for."""
    beside = [n for n in (rank - 1, rank + 1) if 0 <= n < RANKS]
    return [f"{verb} {size} {way} {n} tag 0"
            for verb, way in (("send", "to"), ("receive", "from"))
            for n in beside] + ["wait"] * 2 * len(beside)


def persistent(rank):
    bcast = (f"bcast 400 sent {400 * (rank == 1)} "
             f"received {400 * (rank != 1)} root 1")
    return [bcast, "wait", bcast, "allreduce 400 sent 400 received 400",
            "wait", "wait"]


def groups(rank):
    first = rank == 0
    yield "barrier 0 sent 0 received 0"
    yield f"bcast 80 sent {80 * first} received {80 * (not first)} root 0"
    if first:
        yield "reduce 28 sent 28 received 0 root 0"
    elif rank == 2:
        yield "reduce 28 sent 0 received 28 root 0"
    # One has 24 bytes, three have 8: the mean of what travels.
    yield f"allgather 12 sent {24 if first else 8} received 24"
    size = 48 if first else 16
    yield f"alltoall 6 sent {size} received {size}"
    yield "allreduce 12 sent 12 received 12"
    yield "wait"


def test_each_is_what_it_was(host, tmp_path):
    found = replays.traced(host, RANKS, "traced_collectives", (),
                           "all is well", tmp_path)
    made = operations.from_trace(found, tmp_path / "a.swops")
    assert made.figures["approximate"] == made.figures["outside"] == 0
    assert not made.notes
    begun = any("MPI_Start" in rank.procedures for rank in found.ranks)
    for rank, ops in lines_of(made.path).items():
        made_one = "other 0 sent 0 received 0"
        assert ops == [
            *(persistent(rank) if begun else ()),
            made_one, *near(rank, 40), *near(rank, 48),
            *(near(rank, 40) if begun else ()),
            made_one, made_one, *groups(rank)]
    messages = sum(line.startswith("send") for lines in
                   lines_of(made.path).values() for line in lines)
    for model in replays.MODELS:
        result = replays.replay(made.path, model, RANKS, tmp_path)
        assert result["state"] == "done"
        assert result["messages"] == messages
        assert result["collectives"]["bcast"]["calls"] == \
            RANKS * (1 + 2 * begun)
        assert result["collectives"]["reduce"]["calls"] == 2


def test_any_neighbours_replay(host, tmp_path):
    found = replays.traced(host, 3, "random_neighbours", (3, 30),
                           "all is well", tmp_path)
    made = operations.from_trace(found, tmp_path / "a.swops")
    assert made.figures["approximate"] == 0
    for model in replays.MODELS:
        result = replays.replay(made.path, model, 3, tmp_path)
        assert result["state"] == "done" and result["messages"]


# Without an MPI -------------------------------------------------------------

def _means(what, root, *amounts):
    return traces.note(traces.MEANS, what, root, *amounts)


@pytest.mark.parametrize("notes, found, approximate", [
    ([_means(5, -1, 8, 16, 8)], "reduce_scatter 8 sent 16 received 8", 0),
    ([_means(2, 1, 30, 0, 30)], "bcast 30 sent 0 received 30 root 1", 0),
    # Not told, not known, no such root: they wait for each other.
    ([], "other 3 sent 4 received 5", 1),
    ([_means(99, -1, 8, 16, 8)], "other 8 sent 16 received 8", 1),
    ([_means(2, 7, 8, 16, 8)], "other 8 sent 16 received 8", 1),
    ([_means(20, -1, 8, 16, 8)], "other 8 sent 16 received 8", 1)])
def test_what_a_start_begins_is_believed_if_it_can_be(
        notes, found, approximate, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = traces.Trace(captures.Job(2))
    for rank in range(2):
        start = trace.call(rank, "MPI_Start")
        wait = trace.call(rank, "MPI_Wait")
        trace.event(rank, start, notes=[
            traces.amount(3, 4, 5), traces.collective(1), *notes,
            traces.starts(1)])
        trace.event(rank, wait, notes=[traces.ends(1)])
    trace.write("a.swtrace")
    made = operations.from_trace(capture.read("a.swtrace"), "a.swops")
    assert lines_of("a.swops") == {0: [found, "wait"], 1: [found, "wait"]}
    assert made.figures["approximate"] == 2 * approximate
    assert bool(made.notes) == bool(approximate)
