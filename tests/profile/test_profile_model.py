"""The model of a profile: numbers that can be worked out by hand."""

import pytest
from harness import captures
from harness.captures import MS, US, S
from straightway import profile
from straightway.capture import procedures
from straightway.errors import UserError
from straightway.profile import recorded


def load(job, tmp_path, **part):
    return profile.load(job.write(tmp_path / "a.swcap"), **part)


def one(p, by, key):
    return next(t for t in p.totals(by) if t.key == key)


# Waiting ------------------------------------------------------------------

def test_waiting_is_the_probed_ratio(tmp_path):
    job = captures.Job(1)
    job.ranks[0].call("MPI_Recv", 10, 1000, probed=400, waited=100)
    total = one(load(job, tmp_path), "operation", "MPI_Recv")
    assert (total.time, total.waiting, total.moving) == (1000, 250, 750)


def test_unprobed_calls_take_their_procedures_ratio(tmp_path):
    job = captures.Job(3)
    job.ranks[0].call("MPI_Recv", 10, 1000, size=8, waited=500)
    job.ranks[0].call("MPI_Recv", 10, 200, size=16)
    job.ranks[1].call("MPI_Recv", 10, 1000, waited=100)
    job.ranks[2].call("MPI_Recv", 10, 200)
    job.ranks[2].call("MPI_Send", 10, 200)
    p = load(job, tmp_path)
    assert [r.waiting for r in p.ranks] == [600, 100, 200 * 600 / 2000]
    assert one(p, "operation", "MPI_Send").waiting == 0


def test_waiting_is_never_more_than_the_time(tmp_path):
    job = captures.Job(1)
    job.ranks[0].call("MPI_Recv", 10, 1000, probed=10, waited=99)
    assert load(job, tmp_path).communication.waiting == 1000


@pytest.mark.parametrize("by", [*recorded.GROUPINGS, ("operation", "site"),
                                ("rank", "region", "class")])
def test_all_groupings_add_up(tmp_path, by):
    p = load(captures.halo(8, extra_rows=5), tmp_path)
    totals = p.totals(by)
    for name in ("calls", "time", "sent", "received", "probed", "waited"):
        assert sum(getattr(t, name) for t in totals) == sum(
            getattr(r, name) for r in p.records), name
    assert sum(t.waiting for t in totals) == pytest.approx(
        sum(r.waiting for r in p.ranks))
    assert [t.time for t in totals] == sorted(
        (t.time for t in totals), reverse=True)


def test_sides_of_a_run_in_turns_add_up(tmp_path):
    """As if the calls of both sides were one row."""
    job, whole = captures.Job(2), captures.Job(2)
    for rank in job.ranks:
        for side in (0, 1):
            rank.call("MPI_Bcast", 10, 1000 + 500 * side, size=8, sent=80,
                      probed=500, waited=100, side=side)
    for rank in whole.ranks:
        rank.call("MPI_Bcast", 20, 2500, size=8, sent=160, probed=1000,
                  waited=200, min_time=50)
    p, other = load(job, tmp_path), load(whole, tmp_path)
    assert [r.side for r in p.records] == [0, 1, 0, 1]
    for by in recorded.GROUPINGS:
        assert [(t.label, t.calls, t.time, t.sent, t.waiting)
                for t in p.totals(by)] == [
            (t.label, t.calls, t.time, t.sent, t.waiting)
            for t in other.totals(by)], by
    assert {r.side for r in load(captures.halo(2), tmp_path).records} == {0}


# Ranks --------------------------------------------------------------------

def test_a_rank_computes_waits_moves_and_does_io(tmp_path):
    job = captures.Job(2, wall=10 * S)
    job.ranks[0].call("MPI_Recv", 1, 2 * S, waited=1 * S, received=8)
    job.ranks[0].call("MPI_File_read", 1, 3 * S, received=99)
    p = load(job, tmp_path)
    rank = p.ranks[0]
    assert (rank.elapsed, rank.compute, rank.communication, rank.waiting,
            rank.moving, rank.io) == (10 * S, 5 * S, 2 * S, S, S, 3 * S)
    assert rank.share == 0.2 and p.share == 0.1 and p.waiting_share == 0.05
    assert rank.received == 8
    assert p.communication.time == 2 * S and p.io.time == 3 * S
    assert p.wall == 10 * S and p.elapsed == 20 * S and p.compute == 15 * S


def test_threads_have_their_time_together(tmp_path):
    job = captures.Job(1, wall=10 * S)
    job.ranks[0].call("MPI_Recv", 1, 9 * S)
    job.ranks[0].call("MPI_Recv", 1, 5 * S, thread=1)
    rank = load(job, tmp_path).ranks[0]
    assert (rank.threads, rank.elapsed, rank.compute) == (2, 20 * S, 6 * S)


def test_missing_ranks_and_bad_ends_are_named(tmp_path):
    job = captures.Job(10, absent=(0, 3, 4, 9))
    job.ranks[2].header.update(end="signal", signal=15)
    job.ranks[5].header.update(end="signal", signal=15)
    job.ranks[6].header.update(end="signal", signal=15)
    job.ranks[7].header.update(end="abort")
    p = load(job, tmp_path)
    assert str(p.missing) == "0, 3-4, 9" and p.missing.count == 4
    assert {end: str(r) for end, r in p.ended_badly.items()} == {
        "signal 15": "2, 5-6", "abort": "7"}


def test_folded_calls_are_told(tmp_path):
    job = captures.Job(2)
    job.ranks[0].header["folded"] = 70
    assert "70 calls" in load(job, tmp_path).problems[0]


def test_nodes(tmp_path):
    p = load(captures.Job(6, node_ranks=4, node_processors=2), tmp_path)
    assert [(n.name, n.ranks, n.processors) for n in p.nodes] == [
        ("node0", [0, 1, 2, 3], 2), ("node1", [4, 5], 2)]


# Call sites, communicators, regions ---------------------------------------

def test_sites_of_different_ranks_are_one(tmp_path):
    job = captures.Job(3)
    for rank in job.ranks:
        for i in range(rank.number):            # other numbers on each rank
            rank.call("MPI_Send", 1, 1, site=[rank.native("x.c", i, "x")])
        rank.call("MPI_Send", 1, 10 * US, site=[
            rank.native("/src/halo.c", 42, "exchange"),
            rank.native("/src/main.c", 7, "main")])
    total = load(job, tmp_path).totals("site")[0]
    assert total.ranks == [0, 1, 2] and total.calls == 3
    assert total.label == "exchange (halo.c:42)"
    assert total.key.stack == "exchange (halo.c:42) < main (main.c:7)"


def test_two_addresses_of_one_line_are_one_site(tmp_path):
    job = captures.Job(1)
    rank = job.ranks[0]
    for offset in (100, 200):
        rank.call("MPI_Send", 1, 1, site=[
            rank.native("a.c", 5, "f", offset=offset)])
        rank.call("MPI_Recv", 1, 1, site=[
            rank.native(None, 0, "", offset=offset)])
    labels = [t.label for t in load(job, tmp_path).totals("site")]
    assert labels == ["f (a.c:5)"]


def test_frames_without_names_are_module_and_offset(tmp_path):
    job = captures.Job(1)
    rank = job.ranks[0]
    rank.call("MPI_Send", 1, 1, site=[
        rank.native(None, 0, "", "/lib/libx.so.1", 0x12ab)])
    rank.call("MPI_Recv", 1, 1, site=[rank.python("/a/solve.py", 7, "step")])
    rank.call("MPI_Wait", 1, 1)
    p = load(job, tmp_path)
    assert {t.label for t in p.totals("site")} == {
        "libx.so.1+0x12ab", "step (solve.py:7)", "(unknown)"}


def test_the_line_of_python_stands_before_what_carries_it_out(tmp_path):
    job = captures.Job(1)
    rank = job.ranks[0]
    glue = rank.native("MPI.c", 1, "__pyx_f", "/lib/mpi4py/MPI.abi3.so")
    petsc = rank.native("ksp.c", 7, "KSPSolve", "/lib/libpetsc.so")
    line = rank.python("/a/solve.py", 9, "step")
    rank.call("MPI_Send", 1, 3, site=[glue, line])
    rank.call("MPI_Recv", 1, 2, site=[petsc, line])
    rank.call("MPI_Wait", 1, 1, site=[glue])
    assert [t.key.stack for t in load(job, tmp_path).totals("site")] == [
        "step (solve.py:9)", "KSPSolve (ksp.c:7) < step (solve.py:9)",
        "__pyx_f (MPI.c:1)"]


def test_communicators_are_told_apart_by_their_id(tmp_path):
    job = captures.Job(4)
    for rank in job.ranks:
        half = rank.number // 2
        rank.call("MPI_Barrier", 1, 10, communicator=rank.communicator(
            "half", f"{half + 10:x}", [[2 * half, 2 * half + 1]]))
        rank.call("MPI_Barrier", 1, 5)
    p = load(job, tmp_path)
    assert [(t.label, t.ranks, t.calls) for t in p.totals("communicator")] \
        == [("MPI_COMM_WORLD", [0, 1, 2, 3], 4), ("half #a", [0, 1], 2),
            ("half #b", [2, 3], 2)]
    assert one(p, "communicator", p.communicators[2]).key.world_rank(1) == 3
    assert p.communicators[2].world_rank(2) is None


def test_communicators_with_one_name_differ_in_few_digits(tmp_path):
    job = captures.Job(4)
    ids = "12345678aaaaaaaa", "12345678bbbbbbbb", "9876543210fedcba"
    for rank in job.ranks:
        for number in ids:
            rank.call("MPI_Barrier", 1, 10, communicator=rank.communicator(
                "split x3 of MPI_COMM_WORLD", number, [[0, 3]]))
    labels = {t.label for t in load(job, tmp_path).totals("communicator")}
    assert labels == {"split x3 of MPI_COMM_WORLD #" + digits for digits in (
        "12345678a", "12345678b", "987654321")}


def test_members_of_a_reordered_communicator(tmp_path):
    c = recorded.Communicator("1", "", 4, 0, [(6, 7), (0, 1)])
    assert [c.world_rank(i) for i in range(5)] == [6, 7, 0, 1, None]


def test_a_region_holds_those_within_it(tmp_path):
    job = captures.Job(1, wall=10 * S)
    rank = job.ranks[0]
    outer = rank.region("solve", 1, 6 * S)
    inner = rank.region("solve/io", 3, 2 * S)
    rank.region("solver", 1, 1 * S)             # no part of solve
    rank.call("MPI_Recv", 1, 1 * S, region=outer, waited=S // 2)
    rank.call("MPI_Recv", 1, 500 * MS, region=inner)
    rank.call("MPI_File_write", 1, 100 * MS, region=inner)
    rank.call("MPI_Recv", 1, 200 * MS)
    p = load(job, tmp_path)
    rows = {r.label: (r.time, r.communication, r.io, r.entered)
            for r in p.regions()}
    assert rows == {"(outside)": (3 * S, 200 * MS, 0, 0),
                    "solve": (6 * S, 1500 * MS, 100 * MS, 1),
                    "solve/io": (2 * S, 500 * MS, 100 * MS, 3),
                    "solver": (1 * S, 0, 0, 1)}
    part = load(job, tmp_path, region="solve")
    assert part.wall == 6 * S and part.communication.time == 1500 * MS
    assert [r.name for r in part.regions()] == ["solve", "solve/io"]
    assert load(job, tmp_path, region="").wall == 3 * S
    with pytest.raises(UserError, match="it has solve, solve/io, solver"):
        load(job, tmp_path, region="sole")


def test_only_some_ranks(tmp_path):
    p = load(captures.halo(8), tmp_path, only={1, 2})
    assert [r.rank for r in p.ranks] == [1, 2]
    assert {r.rank for r in p.records} == {1, 2}
    assert not p.missing
    with pytest.raises(UserError, match="it has 0-7"):
        load(captures.halo(8), tmp_path, only={99})


# Sizes, durations, the matrix ---------------------------------------------

@pytest.mark.parametrize("size, bin, label, low, high", [
    (0, 0, "no data", 0, 0), (1, 1, "1 B", 1, 1), (2, 2, "2-3 B", 2, 3),
    (7, 3, "4-7 B", 4, 7), (1024, 11, "1-2 KiB", 1024, 2047),
    (1 << 20, 21, "1-2 MiB", 1 << 20, (2 << 20) - 1)])
def test_size_bins(size, bin, label, low, high):
    assert captures.size_bin(size) == bin
    assert recorded.size_range(bin) == (low, high)
    assert recorded.size_label(bin) == label


def test_durations_are_added_up(tmp_path):
    job = captures.Job(2)
    for rank in job.ranks:
        rank.call("MPI_Send", 8, 8 * 1000)      # 2 at 512, 4 at ... and so on
    total = load(job, tmp_path).totals("operation")[0]
    assert total.histogram() == {8: 4, 9: 8, 10: 4}


def test_the_matrix_is_what_senders_tell(tmp_path):
    job = captures.Job(4, absent=(3,))
    job.ranks[0].peer(1, 5, 500, 2, 20)
    job.ranks[1].peer(0, 2, 20, 4, 400)         # one message is lost
    job.ranks[1].peer(3, 1, 10, 7, 70)          # what rank 3 sent
    job.ranks[2].peer(0, 1, 8, 3, 24, kind=1)   # puts and gets
    p = load(job, tmp_path)
    assert p.matrix() == {(0, 1): (5, 500), (1, 0): (2, 20),
                          (1, 3): (1, 10), (3, 1): (7, 70),
                          (2, 0): (1, 8), (0, 2): (3, 24)}
    assert p.matrix("one-sided") == {(2, 0): (1, 8), (0, 2): (3, 24)}
    assert p.matrix("collective") == {}


# Classes ------------------------------------------------------------------

@pytest.mark.parametrize("name, kind", [
    ("MPI_Allreduce", "collective"), ("MPI_Alltoallw_c", "collective"),
    ("MPI_Ibcast", "nonblocking collective"),
    ("MPI_Ireduce_scatter_block", "nonblocking collective"),
    ("MPI_Barrier_init", "persistent collective"),
    ("MPI_Neighbor_alltoall", "neighbourhood collective"),
    ("MPI_Ineighbor_allgatherv", "neighbourhood collective"),
    ("MPI_Issend_c", "send"), ("MPI_Imrecv", "receive"),
    ("MPI_Sendrecv_replace", "send-receive"),
    ("MPI_Send_init", "persistent start"), ("MPI_Startall",
                                            "persistent start"),
    ("MPI_Waitsome", "completion"), ("MPI_Testany", "test"),
    ("MPI_Improbe", "probe"), ("MPI_Win_fence", "one-sided"),
    ("MPI_Rget_accumulate", "one-sided"), ("MPI_Unpack", "pack"),
    ("MPI_Comm_split", "communicator management"),
    ("MPI_Cart_create", "communicator management"),
    ("MPI_Type_commit", "datatype management"),
    ("MPI_File_iwrite_at_all", "I/O"), ("MPI_Init_thread", "start and end"),
    ("MPI_Finalize", "start and end"), ("MPI_Wtime", "other")])
def test_classes(name, kind):
    assert procedures.class_of(name) == kind
    assert kind in procedures.CLASSES


# Nodes --------------------------------------------------------------------

def older(monkeypatch):
    """Captures lack the columns that came with bytes between nodes."""
    monkeypatch.setattr(captures, "_CALLS", [
        name for name in captures._CALLS if not name.endswith("_between")])


def test_bytes_between_nodes_add_up(tmp_path):
    p = load(captures.halo(8), tmp_path)
    assert p.tells_between
    moved = p.between()
    assert [t.key for t in moved][:2] == ["MPI_Isend", "MPI_Waitall"]
    assert "MPI_File_write_at_all" not in [t.key for t in moved]
    assert one(p, "operation", "MPI_Allreduce").sent_between == 8 * 8 * 1000
    assert sum(r.sent_between for r in p.ranks) == \
        p.communication.sent_between == sum(t.sent_between for t in moved)
    assert all(t.sent_between <= t.sent for t in moved)


def test_an_older_capture_does_not_tell_nodes_apart(tmp_path, monkeypatch):
    older(monkeypatch)
    p = load(captures.halo(8), tmp_path)
    assert not p.tells_between and p.between() == []
    assert p.communication.sent_between is None
    assert p.ranks[0].received_between is None


def test_an_older_capture_of_one_node_has_all_bytes_inside(tmp_path,
                                                           monkeypatch):
    older(monkeypatch)
    p = load(captures.halo(4, node_ranks=4), tmp_path)
    assert not p.tells_between
    assert p.communication.sent_between == 0
