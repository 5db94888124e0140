"""Traces: read, gathered, merged, and shown to Perfetto."""

import json
import os
import random
import re
import resource
import subprocess
import sys
import tracemalloc

import pytest
from harness import captures, patience, perfetto_traces, traces
from harness.captures import MS, S
from harness.traces import (amount, came, collective, posts, sends, starts,
                            waited)
from straightway import cli, native, profile
from straightway.capture import file as capture
from straightway.capture import traces as trace
from straightway.errors import UserError
from straightway.reporters import perfetto


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def events_of(path):
    """{rank: [the blocks' payloads]} of a file."""
    found = {}
    for block in capture.trace_blocks(path):
        span = block.payload
        with open(span.path, "rb") as file:
            file.seek(span.offset)
            found.setdefault(block.rank, []).append(file.read(span.length))
    return found


def made_of(made):
    return {rank: [b.payload for b in made.blocks(rank)]
            for rank in range(len(made.job.ranks))}


def swtraces():
    return sorted(name for name in os.listdir() if name.endswith(".swtrace"))


# Captures with a trace ----------------------------------------------------

def test_a_trace_says_what_its_capture_says(run):
    made = traces.ring()
    made.job.write("a.swcap")
    made.write("a.swtrace")
    for words in (["--text"], ["--json", "-"], ["--csv", "calls"], []):
        _, one, _ = run("report", "a.swcap", *words)
        status, two, err = run("report", "a.swtrace", *words)
        assert (status, err) == (0, "")
        assert two.replace("a.swtrace", "a.swcap") == one


def test_what_a_file_has_of_a_trace_is_counted():
    made = traces.ring(3, 50)
    found = capture.read(made.write("a.swtrace"))
    assert found.problems == []
    assert {rank: t.events for rank, t in found.traced.items()} == {
        0: 200, 1: 200, 2: 200}
    assert {rank: t.bytes for rank, t in found.traced.items()} == {
        rank: sum(map(len, blocks))
        for rank, blocks in made_of(made).items()}


def large(path, rank=0, blocks=12, size=4 << 20, more=()):
    """A file whose trace is large, and holds nothing."""
    one = capture.Block(b"TRAC", rank, traces.payload([]) + bytes(size))
    capture.write(path, [*more, *[one] * blocks])
    return blocks * len(one.payload)


def peak_of(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_large_trace_takes_no_memory():
    job = captures.Job(2)
    job.write("small.swcap")
    size = large("a.swtrace", more=job.blocks())
    capture.read("small.swcap")
    assert os.path.getsize("a.swtrace") > size > 48 << 20
    assert peak_of(lambda: capture.read("a.swtrace")) < 1 << 20


def test_a_large_trace_is_gathered_and_merged_in_little_memory():
    captures.Job(2).write("a.swcap")
    total = sum(large(f"a.rank{rank}.swtrace", rank) for rank in (0, 1))
    words = ["merge", "b.swtrace", "a.swcap", "a.rank0.swtrace",
             "a.rank1.swtrace"]
    assert peak_of(lambda: cli.main(words)) < 8 << 20
    assert peak_of(lambda: trace.gather("a.swcap")) < 8 << 20
    assert os.path.getsize("a.swtrace") > total
    assert events_of("a.swtrace") == events_of("b.swtrace")


def test_a_cut_trace_is_told_and_costs_nothing_else(run):
    made = traces.ring()
    size = os.path.getsize(made.write("a.swtrace"))
    os.truncate("a.swtrace", size - 100)
    found = capture.read("a.swtrace")
    assert [r.number for r in found.ranks] == [0, 1, 2, 3]
    assert found.problems == ["The file ends within a block of the trace of "
                              "rank 3: it was cut short, or is damaged "
                              "there."]
    status, out, _ = run("report", "a.swtrace")
    assert status == 0 and "trace of rank 3" in " ".join(out.split())


def test_a_wrong_length_costs_its_block_and_no_other():
    made = traces.ring()
    raw = bytearray(open(made.write("a.swtrace"), "rb").read())
    at = raw.find(b"TRAC", raw.find(b"TRAC") + 1)
    for length in (1, 100, 1000, 2 ** 40):
        raw[at + 8:at + 16] = length.to_bytes(8, "little")
        open("b.swtrace", "wb").write(raw)
        found = capture.read("b.swtrace")
        assert len(found.problems) == 1
        assert sum(t.blocks for t in found.traced.values()) == \
            sum(map(len, made_of(made).values())) - 1


def test_no_bytes_make_reading_fail():
    made = traces.ring(2, 20)
    raw = open(made.write("a.swtrace"), "rb").read()
    chance = random.Random(1)
    for _ in range(200):
        bad = bytearray(raw)
        for _ in range(chance.randrange(1, 60)):
            bad[chance.randrange(16, len(bad))] = chance.randrange(256)
        open("b.swtrace", "wb").write(bad[:chance.randrange(20, len(bad))])
        try:
            capture.read("b.swtrace", part=True)
        except UserError:
            pass


def test_names_are_added_to_a_trace(run):
    made = traces.ring()
    capture.write("a.swtrace", [*made.job.blocks(symbols=False),
                                *made.blocks(0), *made.blocks(1)])
    os.truncate("a.swtrace", os.path.getsize("a.swtrace") - 5)
    before = events_of("a.swtrace")
    found = capture.read("a.swtrace")
    capture.append("a.swtrace", b"SYMS",
                   capture.names_payload(made.job.symbols))
    after = capture.read("a.swtrace")
    assert len(found.problems) == 1 and not found.named
    assert after.problems == [] and after.named
    assert events_of("a.swtrace") == before


# Pieces and merge ---------------------------------------------------------

def test_the_pieces_are_gathered(run):
    made = traces.ring()
    made.write_pieces("app.4.17")
    status, _, err = run("report", "app.4.17.swcap", "--finish")
    assert status == 0 and swtraces() == ["app.4.17.swtrace"]
    last = err.strip().splitlines()[-1]
    assert re.fullmatch(r"straightway: wrote app\.4\.17\.swtrace: [\d.]+ KiB,"
                        r" 800 events of 4 ranks", last)
    assert events_of("app.4.17.swtrace") == made_of(made)
    found = capture.read("app.4.17.swtrace")
    assert found.problems == [] and found.named and len(found.ranks) == 4


def test_without_a_trace_nothing_is_gathered(run):
    captures.halo(4).write("a.swcap")
    status, _, err = run("report", "a.swcap", "--finish")
    assert status == 0 and swtraces() == [] and "trace" not in err


def test_what_is_missing_or_ends_early_is_told(run):
    made = traces.ring(6)
    for rank in (1, 2):
        made.job.ranks[rank].header["trace"] = {
            "events": 200, "bytes": 1000, "lost": 3000, "stopped": "limit"}
    made.job.ranks[3].header["trace"] = {"events": 200, "bytes": 1000,
                                         "lost": 0}
    made.write_pieces("a")
    os.unlink("a.rank4.swtrace")
    os.unlink("a.rank5.swtrace")
    _, _, err = run("report", "a.swcap", "--finish")
    assert "800 events of 4 ranks\n" in err
    assert "straightway: ranks 4-5 left no trace\n" in err
    assert ("straightway: the trace of ranks 1-2 ends early and lacks 6,000 "
            "events: it reached its limit\n") in err


def test_a_cut_piece_gives_what_it_has(run):
    made = traces.ring()
    made.write_pieces("a")
    os.truncate("a.rank2.swtrace", os.path.getsize("a.rank2.swtrace") - 7)
    _, _, err = run("report", "a.swcap", "--finish")
    assert err.count("a.rank2.swtrace: The file ends within a block of the "
                     "trace") == 1
    assert capture.read("a.swtrace").problems == []
    expected = made_of(made)
    expected[2].pop()
    assert events_of("a.swtrace") == expected and swtraces() == ["a.swtrace"]


def test_other_files_are_no_pieces(run):
    made = traces.ring(3)
    made.write_pieces("a")
    raw = open("a.rank0.swtrace", "rb").read()
    others = ["a.rank01.swtrace", "a.x.swtrace", "a.rank-1.swtrace",
              "a.rank7.swtrace", "a.1.rank2.swtrace", "ab.rank1.swtrace",
              "a.1.swtrace"]
    for name in others:
        open(name, "wb").write(raw)
    made.write("a.rank1.swtrace")           # a whole trace
    open("a.rank2.swtrace", "wb").write(b"rubbish")
    run("report", "a.swcap", "--finish")
    assert swtraces() == sorted([*others, "a.swtrace", "a.rank1.swtrace",
                                 "a.rank2.swtrace"])
    assert list(events_of("a.swtrace")) == [0]


def test_gathering_again_adds_what_is_new(run):
    made = traces.ring()
    made.write_pieces("a")
    last = open("a.rank3.swtrace", "rb").read()
    first = open("a.rank0.swtrace", "rb").read()
    os.unlink("a.rank3.swtrace")
    assert trace.gather("a.swcap") == "a.swtrace"
    # Rank 0's is as after a crash between renaming and removing.
    open("a.rank3.swtrace", "wb").write(last)
    open("a.rank0.swtrace", "wb").write(first)
    run("report", "a.swcap", "--perfetto", "a.pftrace")
    found = perfetto_traces.read("a.pftrace")
    assert [len(t.slices) for t in found.tracks.values()] == [200] * 4
    assert trace.gather("a.swcap") == "a.swtrace"
    assert events_of("a.swtrace") == made_of(made)
    assert swtraces() == ["a.swtrace"]


def test_a_piece_that_grows_is_kept(run, monkeypatch):
    made = traces.ring(2)
    made.write_pieces("a")
    write = capture.write

    def while_rank_1_writes(path, blocks):
        write(path, blocks)
        with open("a.rank1.swtrace", "ab") as piece:
            piece.write(b"more")

    monkeypatch.setattr(capture, "write", while_rank_1_writes)
    _, _, err = run("report", "a.swcap", "--finish")
    assert "a.rank1.swtrace still grows, and stays" in err
    assert swtraces() == ["a.rank1.swtrace", "a.swtrace"]


def test_a_trace_of_an_earlier_run_is_replaced():
    """As with -o a.swcap in a batch job, whose number stays the same."""
    traces.ring(3, 90, began=1780000000).write("a.swtrace")
    made = traces.ring(3, 5, began=1780000009)
    made.write_pieces("a")
    trace.gather("a.swcap")
    assert events_of("a.swtrace") == made_of(made)


def test_pieces_without_events_are_no_loss(run):
    made = traces.ring(3)
    made.write_pieces("a")
    capture.write("a.rank1.swtrace", [])
    open("a.rank2.swtrace", "wb").close()
    _, _, err = run("report", "a.swcap", "--finish")
    assert "200 events of 1 rank\n" in err and "is empty" not in err
    assert "straightway: ranks 1-2 left no trace\n" in err
    assert swtraces() == ["a.swtrace"]
    captures.Job(1).write("b.swcap")
    capture.write("b.rank0.swtrace", [])
    _, _, err = run("report", "b.swcap", "--finish")
    assert "0 events of 0 ranks" in err and "rank 0 left no trace" in err


def test_a_file_in_the_way_is_not_overwritten(run):
    traces.ring(3, 7).write_pieces("a")
    raw = open("a.rank2.swtrace", "rb").read()
    open("a.swtrace", "wb").write(raw)
    status, _, err = run("report", "a.swcap", "--finish")
    assert status == 0
    assert "a.swtrace is a part of another trace" in err and \
        "rename it" in err
    assert open("a.swtrace", "rb").read() == raw
    assert len(swtraces()) == 4


def test_a_full_disk_leaves_the_pieces(tmp_path):
    made = traces.ring(4, 2000)
    made.write_pieces("a")
    before = {name: open(name, "rb").read() for name in os.listdir()}
    limit = max(map(len, before.values())) + 1000

    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = patience.run(
        [sys.executable, "-m", "straightway", "report", "--finish",
         "a.swcap"], stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL, preexec_fn=little_room, timeout=100,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    assert done.returncode == 0
    assert "a.swtrace: File too large" in done.stderr
    assert "parts of the trace stay" in done.stderr
    fix = re.search("straightway (merge .*)", done.stderr).group(1)
    assert {name: open(name, "rb").read()
            for name in os.listdir()} == before
    # What it says mends it, once there is room.
    words = fix.split()
    assert words[-1] == "a.rank*.swtrace"
    assert cli.main([*words[:-1], *sorted(swtraces())]) == 0
    assert events_of("a.swtrace") == made_of(made)


def test_merge_takes_pieces_and_traces(run):
    made = traces.ring()
    made.write_pieces("a")
    pieces = [f"a.rank{rank}.swtrace" for rank in range(4)]
    status, out, err = run("merge", "b.swtrace", *pieces, "a.swcap")
    assert (status, err) == (0, "")
    assert out == "b.swtrace: 4 ranks of 4, the trace of 4\n"
    assert events_of("b.swtrace") == made_of(made)
    assert len(swtraces()) == 5
    status, out, _ = run("merge", "--last", "c.swtrace", "b.swtrace",
                         pieces[0])
    assert status == 0 and events_of("c.swtrace") == made_of(made)


@pytest.mark.parametrize("words, says", [
    (["b.swtrace", "a.rank0.swtrace"],
     "the trace of rank 0 is in b.swtrace and"),
    (["a.rank0.swtrace", "a.rank1.swtrace"], "also give the job's capture"),
    (["a.swcap", "x.9.swtrace"], "x.9.swtrace has rank 9")])
def test_merge_refuses(run, words, says):
    made = traces.ring()
    made.write_pieces("a")
    made.write("b.swtrace")
    capture.write("x.9.swtrace", [traces.block(9, [])])
    status, _, err = run("merge", "out.swtrace", *words)
    assert status == 2 and says in err and not os.path.exists("out.swtrace")


# Perfetto -----------------------------------------------------------------

def shown(run, made, *words, path="a.swtrace"):
    """What `report --perfetto` makes of a Trace."""
    made.write(path)
    status, out, err = run("report", path, "--perfetto", "out.pftrace",
                           *words)
    assert (status, out) == (0, "")
    return perfetto_traces.read("out.pftrace"), err


def test_every_event_is_there_once_and_at_its_time(run):
    made = traces.ring(3, 0)
    for rank in range(3):
        header = made.job.ranks[rank].header
        header.update(start=5 * S + 1000 * rank, start_ticks=10 ** 15 + rank,
                      stop_ticks=10 ** 15 + rank + 28_937_654_321 + rank)
    chance = random.Random(2)
    expected = {}
    for i in range(1000):
        rank = chance.randrange(3)
        record = chance.randrange(1, 5)
        size = chance.choice([0, 1, 100, 10 ** 5, 10 ** 7])
        notes = [waited(size // 3)] if i % 3 and size else []
        begin, end = made.event(rank, record, chance.randrange(10 ** 6),
                                size, notes)
        name = ("MPI_Isend", "MPI_Recv", "MPI_Wait", "MPI_Allreduce")[
            record - 1]
        waiting = made.time(rank, begin + size // 3) if notes and \
            size // 3 else None
        expected.setdefault(rank, []).append(
            (name, made.time(rank, begin), made.time(rank, end), waiting))
    found, err = shown(run, made)
    assert "1,000 events" in err and "ui.perfetto.dev" in err
    assert set(found.tracks) == {(f"rank {r}", "thread 0") for r in range(3)}
    for rank, events in expected.items():
        track = found.tracks[f"rank {rank}", "thread 0"]
        assert [(s.name, s.begin, s.end,
                 s.children[0].end if s.children else None)
                for s in track.slices] == events
        for s in track.slices:
            assert [(c.name, c.begin, c.children) for c in s.children] in (
                [], [("waiting", s.begin, [])])


def test_what_a_call_was_is_told(run):
    job = captures.Job(3)
    made = traces.Trace(job)
    rank = job.ranks[0]
    row = rank.communicator("row", "ab", [[0, 1]])
    region = rank.region("solve", 1, MS)
    site = [rank.native("/app/x.c", 7, "pass_on")]
    send = made.call(0, "MPI_Send", communicator=row, datatype="MPI_DOUBLE",
                     site=site, region=region)
    reduce = made.call(0, "MPI_Reduce", operation="MPI_SUM", root=2)
    wait = made.call(0, "MPI_Waitall")
    irecv = made.call(0, "MPI_Irecv")
    made.event(0, send, notes=[amount(80, 80, 0), sends(1, 5, 1)])
    made.event(0, send, notes=[sends(1, 6, 1)], failed=True)
    made.event(0, reduce, notes=[amount(8, 8, 16), collective(3)])
    made.event(0, irecv, notes=[amount(99, 0, 0), posts(-1, -1), starts(1)])
    made.event(0, wait, notes=[came(1, 1, 2, 3, 4)])
    made.event(0, wait, notes=[came(1, 1, 2, 3, 4), came(2, 2, 2, 3, 4),
                               traces.note(70, 1, 2)])
    made.event(0, 0)
    found, err = shown(run, made)
    slices = found.tracks["rank 0", "thread 0"].slices
    alike = {"communicator": "row", "call site": "pass_on (x.c:7)",
             "datatype": "MPI_DOUBLE", "region": "solve", "bytes sent": 80,
             "to rank": 1}
    world = {"communicator": "MPI_COMM_WORLD"}
    assert [s.notes for s in slices] == [
        dict(alike, **{"to tag": 5}),
        dict(alike, **{"to tag": 6, "failed": True}),
        dict(world, **{"reduction": "MPI_SUM", "root": 2, "bytes sent": 8,
                       "bytes received": 16, "collective": 3}),
        dict(world, **{"size": 99, "from rank": -1, "from tag": -1}),
        dict(world, **{"from rank": 1, "from tag": 2}),
        dict(world, **{"messages received": 2}), {}]
    assert [(s.name, s.category) for s in slices] == [
        ("MPI_Send", "send")] * 2 + [
        ("MPI_Reduce", "collective"), ("MPI_Irecv", "receive"),
        ("MPI_Waitall", "completion"), ("MPI_Waitall", "completion"),
        ("(unknown)", "MPI")]
    assert "the capture does not name the calls of 1 event" in err
    assert found.processes["rank 0"]["process_labels"] == [
        "node0, process 4000"]


def test_flows_lead_from_each_send_to_its_receive(run):
    steps, ranks = 30, 4
    found, _ = shown(run, traces.ring(ranks, steps))
    messages = collectives = 0
    for way in perfetto_traces.flows(found).values():
        names = [s.name for _, _, s in way]
        if names == ["MPI_Allreduce"] * ranks:
            assert len({process for _, process, _ in way}) == ranks
            assert len({s.notes["collective"] for _, _, s in way}) == 1
            collectives += 1
            continue
        (kind, sender, send), (last, receiver, receive) = sorted(
            way, key=lambda step: step[0])
        assert (kind, send.name) == ("begin", "MPI_Isend")
        assert (last, receive.name) == ("end", "MPI_Recv")
        assert send.begin < receive.end
        assert f"rank {send.notes['to rank']}" == receiver
        assert f"rank {receive.notes['from rank']}" == sender
        index = [found.tracks[name, "thread 0"].slices.index(s)
                 for name, s in ((sender, send), (receiver, receive))]
        assert index[0] // 4 == index[1] // 4       # the step
        messages += 1
    assert (messages, collectives) == (ranks * steps, steps)


def test_flows_end_where_a_request_does(run):
    """The communicator is that of the message, not of the call."""
    job = captures.Job(2)
    made = traces.Trace(job)
    comms = [[r.communicator(name, id, [[0, 1]]) for name, id in
              (("one", "a1"), ("two", "a2"))] for r in job.ranks]
    send = [made.call(0, "MPI_Send", communicator=c) for c in comms[0]]
    irecv = [made.call(1, "MPI_Irecv", communicator=c) for c in comms[1]]
    wait = made.call(1, "MPI_Waitall")
    for i in range(100):
        which = i % 2
        # Both communicators have the same numbers.
        made.event(0, send[which], notes=[
            sends(1, 3, i // 2 + 1, comms[0][which])])
        made.event(1, irecv[which], notes=[posts(-1, 3), starts(i + 1)])
    for i in reversed(range(100)):
        made.event(1, wait, notes=[
            came(i + 1, 0, 3, i // 2 + 1, 8, comms[1][i % 2])])
    made.event(1, wait, notes=[came(7, 0, 3, 4, 8, 0)])
    made.event(1, wait, notes=[came(0, -2, 3, 4, 8)])
    made.event(0, send[0], notes=[sends(1, 3, 0), sends(-2, 3, 9)])
    found, _ = shown(run, made)
    ways = perfetto_traces.flows(found)
    assert len(ways) == 100
    sent = found.tracks["rank 0", "thread 0"].slices
    waits = found.tracks["rank 1", "thread 0"].slices[100:]
    for i in range(100):
        assert [w[2] for w in ways[sent[i].starts[0]]] == [
            sent[i], waits[99 - i]]


def test_threads_have_tracks_of_their_own(run):
    made = traces.Trace(captures.Job(2))
    for thread in (0, 3):
        for rank in (0, 1):
            call = made.call(rank, f"MPI_T{thread}", thread=thread)
            for _ in range(200):
                made.event(rank, call, thread=thread)
    made.event(1, 1, thread=9)      # that the capture does not know
    found, _ = shown(run, made)
    assert {key: {s.name for s in t.slices} for key, t in
            found.tracks.items()} == {
        ("rank 0", "thread 0"): {"MPI_T0"},
        ("rank 0", "thread 3"): {"MPI_T3"},
        ("rank 1", "thread 0"): {"MPI_T0"},
        ("rank 1", "thread 3"): {"MPI_T3"},
        ("rank 1", ""): {"(unknown)"}}
    ids = [t.thread["tid"] for t in found.tracks.values()]
    assert len(set(ids)) == 5


def test_nodes_are_aligned_by_their_clocks(run):
    made = traces.ring(4, 3, node_ranks=2)
    for rank in (2, 3):
        made.job.ranks[rank].header.update(
            start=900 * S, stop=910 * S,
            epoch=10 ** 18 - 895 * S + 250 + rank)
    found, _ = shown(run, made)
    begins = [found.tracks[f"rank {r}", "thread 0"].slices[0].begin
              for r in range(4)]
    # One clock for a node: that of its first rank counts.
    assert begins[0] == begins[1]
    assert begins[2] == begins[3] == begins[0] + 252
    for rank in range(4):
        made.job.ranks[rank].header["epoch"] = 0
    found, _ = shown(run, made)
    assert len({t.slices[0].begin for t in found.tracks.values()}) == 1


def test_some_ranks_alone_keep_their_times(run):
    made = traces.ring()
    whole, _ = shown(run, made)
    found, err = shown(run, made, "--ranks", "1,3")
    assert "400 events" in err and "left no trace" not in err
    assert {p for p, _ in found.tracks} == {"rank 1", "rank 3"}
    for key, track in found.tracks.items():
        assert [(s.begin, s.end) for s in track.slices] == [
            (s.begin, s.end) for s in whole.tracks[key].slices]


@pytest.mark.parametrize("of", ["app.swcap", "app.swtrace"])
def test_pieces_do_until_they_are_gathered(run, of):
    made = traces.ring()
    made.write_pieces("app")
    if of == "app.swtrace":
        trace.gather("app.swcap")
    before = swtraces()
    status, _, err = run("report", "--perfetto", of)
    assert status == 0 and "wrote app.pftrace: 800 events" in err
    assert swtraces() == before
    assert len(perfetto_traces.read("app.pftrace").tracks) == 4


def test_a_capture_finds_the_trace_beside_it(run):
    made = traces.ring()
    made.write_pieces("app")
    trace.gather("app.swcap")
    status, _, err = run("report", "app.swcap", "--perfetto", "x.pftrace")
    assert status == 0 and "wrote x.pftrace: 800 events" in err


@pytest.mark.parametrize("words, says", [
    (["report", "none.swcap", "--perfetto"],
     "none.swcap has no trace; profile again with --trace"),
    (["report", "a.swtrace", "--perfetto", "a.swtrace"],
     "is the capture itself"),
    (["report", "a.swtrace", "--perfetto", "-"], "needs a file"),
    (["report", "a.swtrace", "--perfetto", "--region", "(outside)"],
     "omit --region"),
    (["report", "a.swtrace", "--perfetto", "/nowhere/x"],
     "No such file or directory"),
    (["report", "app.rank0.swtrace", "--perfetto"], "is a part of a trace")])
def test_what_cannot_be_is_said(run, words, says):
    captures.halo(2).write("none.swcap")
    made = traces.ring()
    made.write("a.swtrace")
    made.write_pieces("app")
    before = sorted(os.listdir())
    status, _, err = run(*words)
    assert status in (1, 2) and says in err
    assert len(err.splitlines()) <= 2
    assert sorted(os.listdir()) == before


def test_damage_is_told_and_costs_its_block(run):
    made = traces.ring(2, 64)
    raw = bytearray(open(made.write("a.swtrace"), "rb").read())
    raw[raw.find(b"TRAC") + 100] ^= 1
    open("a.swtrace", "wb").write(raw)
    status, _, err = run("report", "a.swtrace", "--perfetto")
    assert status == 0 and "448 events" in err
    assert "a.swtrace: 1 block of the trace is damaged" in err
    found = perfetto_traces.read("a.pftrace")
    assert [len(t.slices) for t in found.tracks.values()] == [192, 256]


def test_ranks_that_left_no_capture_are_told(run):
    made = traces.ring(4, 5)
    made.job.absent = {2}
    found, err = shown(run, made)
    assert len(found.tracks) == 3
    assert "the trace of rank 2 is left out" in err


def test_texts_of_a_program_cannot_do_harm(run):
    job = captures.Job(1)
    made = traces.Trace(job)
    name = job.ranks[0].communicator("a\tb\nrank\t9\ud800\x00é" + "x" * 500,
                                     "cd", [[0, 0]])
    call = made.call(0, "MPI_Bar\n\trier", communicator=name)
    made.event(0, call)
    found, _ = shown(run, made)
    one, = found.tracks["rank 0", "thread 0"].slices
    assert one.name == "MPI_Bar  rier"
    assert one.notes["communicator"].endswith("é" + "x" * 500)


def test_a_large_trace_is_shown_in_little_memory(run):
    """50 MB of events, with 32 MiB of addresses for all."""
    made = traces.Trace(captures.Job(2))
    call = made.call(0, "MPI_Send")
    events = [traces.event(call, 10, 20, [amount(8, 8, 0), sends(1, 7, n)])
              for n in range(1, 16000)]
    capture.write("a.swtrace", [*made.job.blocks(), *(
        [traces.block(0, events, base=15 * S)] * 250)])
    assert os.path.getsize("a.swtrace") > 48 << 20
    found = profile.load("a.swtrace")
    names = perfetto.names(found, trace.parts(found.capture))
    done = patience.run(
        [native.trace_executable(), "perfetto", "/dev/null", "a.swtrace"],
        input=names, stdout=subprocess.PIPE, timeout=100,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                              (32 << 20, 32 << 20)))
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert told["events"] == 250 * len(events) and not told["unnamed"]
    assert told["files"] == [{"blocks": 250, "damaged": 0, "cut": False}]


def test_a_full_disk_is_told(tmp_path):
    traces.ring(4, 2000).write("a.swtrace")
    done = patience.run(
        [sys.executable, "-m", "straightway", "report", "--perfetto",
         "a.swtrace"], stderr=subprocess.PIPE, text=True, timeout=100,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                              (50000, 50000)),
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    assert done.returncode == 1 and "File too large" in done.stderr
    assert os.listdir() == ["a.swtrace"]


def test_perfetto_knows_every_field(run):
    """Against Perfetto's own schema: what it reads is what we read."""
    schema = pytest.importorskip(
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2",
        reason="Perfetto's schema is missing (pip install perfetto)")
    made = traces.ring(2, 20)
    made.event(0, 1, failed=True)
    shown(run, made)

    def check(message, ours, kind):
        for field, value in message.ListFields():
            name, stored = perfetto_traces.FIELDS[kind][field.number]
            assert field.name == name
            if stored.rstrip("*") in perfetto_traces.FIELDS:
                mine = ours[name]
                pairs = zip(value, mine) if stored.endswith("*") else [
                    (value, mine)]
                for one, other in pairs:
                    check(one, other, stored.rstrip("*"))
                continue
            values = list(value) if stored.endswith("*") else [value]
            mine = ours[name] if stored.endswith("*") else [ours[name]]
            assert [v.decode() if isinstance(v, bytes) else v
                    for v in values] == mine
        assert len(message.ListFields()) == len(ours)

    raw = open("out.pftrace", "rb").read()
    message = schema.Trace()
    message.ParseFromString(raw)
    check(message, perfetto_traces.decode(raw), "Trace")
