"""Advice: each piece is given where its evidence is, and not where it is
not."""

import pytest
from harness import captures
from harness.captures import MS, US, S
from straightway import profile
from straightway.profile import findings


def quiet(ranks=4, **header):
    """10 s a rank, of which 8 % is communication of no account."""
    job = captures.Job(ranks, wall=10 * S, **header)
    for rank in job.ranks:
        rank.call("MPI_Send", 1000, 300 * MS, size=1000,
                  site=[rank.native("a.c", 1, "f")],
                  peer=(rank.number + 1) % ranks)
        rank.call("MPI_Recv", 1000, 250 * MS, size=1000, waited=0,
                  site=[rank.native("a.c", 2, "f")])
        rank.call("MPI_Allreduce", 1000, 250 * MS, size=8, waited=0,
                  site=[rank.native("a.c", 3, "f")])
    return job


def found(job, tmp_path, kind=None):
    p = profile.load(job.write(tmp_path / "a.swcap"))
    all_of_them = findings.find(p)
    assert all_of_them == sorted(all_of_them, key=lambda f: (
        f.kind in ("start", "own-cost"), -f.seconds))
    for f in all_of_them:
        assert f.text.endswith((".", "straightway run", "run --gpu"))
        assert f.title
    if kind is None:
        return [f.kind for f in all_of_them]
    return next((f for f in all_of_them if f.kind == kind), None)


def test_nothing_is_said_of_a_quiet_run(tmp_path):
    assert found(quiet(), tmp_path) == []
    assert "Nothing stands out" in findings.NOTHING
    assert "1 %" in findings.NOTHING


def test_an_empty_run_is_no_mistake(tmp_path):
    assert found(captures.Job(2, wall=0), tmp_path) == []
    assert found(captures.Job(2), tmp_path) == ["little-communication"]


# imbalance ----------------------------------------------------------------

def uneven(waits, least=0):
    job = quiet()
    for rank in job.ranks:
        time = waits if rank.number < 3 else least
        if time:
            rank.call("MPI_Barrier", 1, time, waited=time)
    return job


def test_imbalance_names_the_late_ranks(tmp_path):
    f = found(uneven(2 * S), tmp_path, "imbalance")
    assert f.seconds == pytest.approx(1.5)
    assert f.evidence["late_ranks"] == [3]
    assert "Rank 3 comes late" in f.text
    assert "No library can win this back" in f.text


def test_waiting_of_all_alike_is_not_imbalance_of_compute(tmp_path):
    f = found(uneven(2 * S, 2 * S), tmp_path, "imbalance")
    assert "late_ranks" not in f.evidence
    assert "order of their messages" in f.text


def test_a_surplus_that_cannot_cause_the_waiting_is_no_cause(tmp_path):
    """100 ms of compute, 150 ms on rank 3: 38 ms more than the mean do not
    make the others wait for 9 s."""
    f = found(uneven(9100 * MS, 9050 * MS), tmp_path,
              "imbalance")
    assert "late_ranks" not in f.evidence
    assert "divide the work" not in f.text
    assert "explains at most 37.5 ms of it" in f.text
    assert "late in turns" in f.text


def test_lost_processors_are_the_cause_where_they_can_be(tmp_path):
    job = uneven(2 * S, 2 * S)
    for rank in job.ranks:
        rank.header["cpu"] = 5 * S
    f = found(job, tmp_path, "imbalance")
    assert f.evidence["without_processor_s"] == pytest.approx(3)
    assert "used no processor for 3.00 s" in f.text


def test_what_a_program_cannot_change_comes_last(tmp_path):
    job = uneven(2 * S)
    for rank in job.ranks:
        rank.header["init_time"] = 15 * S
    kinds = found(job, tmp_path)
    assert kinds[-1] == "start" and "imbalance" in kinds


def test_little_waiting_is_not_told(tmp_path):
    assert not found(uneven(99 * MS), tmp_path, "imbalance")
    assert found(uneven(150 * MS), tmp_path, "imbalance")


# little communication -----------------------------------------------------

@pytest.mark.parametrize("wall, said", [(10 * S, False), (17 * S, True)])
def test_little_communication_bounds_the_gain(tmp_path, wall, said):
    job = quiet()
    for rank in job.ranks:
        rank.header["stop"] = rank.header["start"] + wall
    f = found(job, tmp_path, "little-communication")
    assert bool(f) == said
    if said:
        assert "can gain more than 4.7 %" in f.text


# large blocks and messages ------------------------------------------------

def blocks(size, members=None, **job):
    job = quiet(**job)
    for rank in job.ranks:
        at = rank.number if members is None else rank.number // 2 * 2
        world = rank.world if members is None else rank.communicator(
            "c", f"{at:x}", members(rank.number))
        rank.call("MPI_Alltoall", 100, 2 * S, size=size, communicator=world,
                  waited=S // 2)
    return job


def test_large_blocks_gain_from_single_copy(tmp_path):
    f = found(blocks(24576), tmp_path, "large-blocks")
    assert "MPI_Alltoall moves blocks of 24 KiB" in f.text
    assert "gains from a single copy" in f.text
    assert f.text.endswith("straightway run")
    assert f.seconds == pytest.approx(1.5)      # what does not wait


@pytest.mark.parametrize("job", [
    dict(size=4095), dict(size=24576, accelerated=True),
    dict(size=24576, node_ranks=1),
    dict(size=24576, node_ranks=2,
         members=lambda r: [[r % 2, r % 2], [r % 2 + 2, r % 2 + 2]])])
def test_small_blocks_other_nodes_and_accelerated_runs(tmp_path, job):
    assert not found(blocks(**job), tmp_path, "large-blocks")


def test_members_on_one_node_of_several(tmp_path):
    assert found(blocks(24576, lambda r: [[r // 2 * 2, r // 2 * 2 + 1]],
                        node_ranks=2), tmp_path, "large-blocks")


def messages(size, **job):
    job = quiet(**job)
    for rank in job.ranks:
        rank.call("MPI_Send", 100, S, size=size, peer=(rank.number + 1) % 4)
    return job


def test_large_messages_inside_a_node(tmp_path):
    f = found(messages(1 << 20), tmp_path, "large-messages")
    assert "messages of 1 MiB" in f.text and "straightway run" in f.text
    assert f.evidence["share_inside_nodes"] == 1
    assert not found(messages(1 << 20, node_ranks=1), tmp_path,
                     "large-messages")
    assert not found(messages(1 << 20, accelerated=True), tmp_path,
                     "large-messages")
    assert not found(messages(10000), tmp_path, "large-messages")


def accesses(**how):
    job = quiet(**how)
    for rank in job.ranks:
        rank.call("MPI_Put", 100, S, size=1 << 16, peer=(rank.number + 1) % 4,
                  peer_kind=1)
        rank.call("MPI_Win_fence", 100, 2 * S, waited=S)
    return job


def test_one_sided_communication_inside_a_node(tmp_path):
    f = found(accesses(), tmp_path, "one-sided")
    assert "MPI_Put" in f.text and "straightway run" in f.text
    assert f.evidence["bytes_inside_nodes"] == 4 * 100 * (1 << 16)
    # The half of the fence that is waiting no library can win back.
    assert f.seconds == pytest.approx(2)
    assert not found(accesses(node_ranks=1), tmp_path, "one-sided")
    assert not found(accesses(accelerated=True), tmp_path, "one-sided")


def test_an_accelerated_run_is_not_told_to_run_with_straightway(tmp_path):
    job = captures.halo(8, accelerated=True)
    p = profile.load(job.write(tmp_path / "a.swcap"))
    assert not any("straightway run" in f.text for f in findings.find(p))


# tiny messages, packing ---------------------------------------------------

def tiny(size, calls):
    job = quiet()
    for rank in job.ranks:
        rank.call("MPI_Isend", calls, S, size=size, peer=(rank.number + 1) % 4)
    return job


def test_many_tiny_messages(tmp_path):
    f = found(tiny(16, 100_000), tmp_path, "tiny-messages")
    assert "16 bytes" in f.text and "Aggregate" in f.text
    assert f.evidence["tiny_messages"] == 400_000
    assert not found(tiny(300, 100_000), tmp_path, "tiny-messages")
    assert not found(tiny(16, 900), tmp_path, "tiny-messages")
    assert not found(tiny(16, 2000), tmp_path, "tiny-messages")  # 67 %


def test_packing_by_hand(tmp_path):
    job = quiet()
    job.ranks[0].call("MPI_Pack", 500, S)
    job.ranks[0].call("MPI_Send", 500, MS, size=4000, datatype="MPI_PACKED",
                      peer=1)
    job.ranks[1].call("MPI_Unpack", 500, S)
    f = found(job, tmp_path, "packed-copies")
    assert f.seconds == pytest.approx(0.5)
    assert "MPI_Pack and MPI_Unpack copy data" in f.text
    assert "500 messages of MPI_PACKED follow" in f.text
    assert "derived datatype avoids the copy" in f.text
    job = quiet()
    job.ranks[0].call("MPI_Pack", 500, 10 * MS)
    assert not found(job, tmp_path, "packed-copies")


# the rest -----------------------------------------------------------------

def test_oversubscription(tmp_path):
    job = quiet(node_processors=2)
    for rank in job.ranks:
        rank.header["cpu"] = 6 * S
    f = found(job, tmp_path, "oversubscription")
    assert "4 ranks on 2 processors" in f.text
    assert f.seconds == pytest.approx(4)
    job = quiet(node_processors=4)
    for rank in job.ranks:
        rank.header["cpu"] = 6 * S
    assert not found(job, tmp_path, "oversubscription")


def lost_share(job, tmp_path):
    return profile.load(job.write(tmp_path / "a.swcap")).lost_share


def test_a_busy_machine_is_seen_where_processor_time_is_known(tmp_path):
    """Of the ranks whose captures say it; a busy machine has no other sign."""
    job = quiet()
    for rank in job.ranks:
        rank.header["cpu"] = 5 * S
    assert lost_share(job, tmp_path) == pytest.approx(.5, abs=.1)
    for rank in job.ranks:
        rank.header["cpu"] = 0
    assert lost_share(job, tmp_path) == 0
    job.ranks[0].header["cpu"] = 10 * S
    assert lost_share(job, tmp_path) == 0


def test_one_hot_call_site(tmp_path):
    job = quiet()
    for rank in job.ranks:
        rank.call("MPI_Recv", 10, 900 * MS, waited=0,
                  site=[rank.native("hot.c", 99, "hot")])
    f = found(job, tmp_path, "hot-site")
    assert "MPI_Recv in hot (hot.c:99) takes 52.9 %" in f.text
    for rank in job.ranks:                      # 49 % then
        rank.call("MPI_Recv", 10, 140 * MS, waited=0,
                  site=[rank.native("cold.c", 99, "cold")])
    assert not found(job, tmp_path, "hot-site")


def rooted(procedure, waiter, part=1.0, root=lambda i: 2):
    job = quiet()
    for rank in job.ranks:
        for i in range(4):
            time = 500 * MS if waiter(rank.number) else MS
            rank.call(procedure, 10, time, size=8, root=root(i),
                      waited=int(part * time))
    return job


def test_a_root_that_is_late_or_overrun(tmp_path):
    f = found(rooted("MPI_Bcast", lambda r: r != 2), tmp_path, "root")
    assert f.title == "Rank 2 is a bottleneck"
    assert "MPI_Bcast has rank 2 as root" in f.text
    assert "The others wait for rank 2." in f.text
    f = found(rooted("MPI_Gather", lambda r: r == 2), tmp_path, "root")
    assert "Rank 2 waits for the others to deliver." in f.text


def test_roots_that_are_no_bottleneck(tmp_path):
    assert not found(rooted("MPI_Bcast", lambda r: r != 2, 0.4), tmp_path,
                     "root")
    assert not found(rooted("MPI_Bcast", lambda r: r != 2,
                            root=lambda i: i), tmp_path, "root")
    assert not found(rooted("MPI_Allreduce", lambda r: r != 2), tmp_path,
                     "root")


def barriers(calls):
    job = quiet()
    for rank in job.ranks:
        rank.call("MPI_Barrier", calls, 200 * MS, waited=0)
    return job


def test_many_barriers(tmp_path):
    assert "4,000 of 8,000" in found(barriers(1000), tmp_path,
                                     "barriers").text
    assert not found(barriers(400), tmp_path, "barriers")       # 29 %
    assert not found(barriers(99), tmp_path, "barriers")


def test_a_long_start(tmp_path):
    job = quiet()
    for rank in job.ranks:
        rank.header["init_time"] = S
    assert found(job, tmp_path, "start").seconds == 1
    for rank in job.ranks:
        rank.header["init_time"] = 90 * MS
    assert not found(job, tmp_path, "start")


@pytest.mark.parametrize("procedure, calls, time, said", [
    ("MPI_Comm_split", 100, S, True), ("MPI_Cart_create", 100, S, True),
    ("MPI_Comm_split", 10, S, False), ("MPI_Comm_split", 100, MS, False),
    ("MPI_Comm_rank", 100, S, False)])
def test_communicators_made_in_a_loop(tmp_path, procedure, calls, time,
                                      said):
    job = quiet()
    for rank in job.ranks:
        rank.call(procedure, calls, time, waited=0)
    assert bool(found(job, tmp_path, "communicators")) == said


@pytest.mark.parametrize("procedure, calls, said", [
    ("MPI_Iprobe", 300_000, True), ("MPI_Test", 300_000, True),
    ("MPI_Test", 200_000, False), ("MPI_Probe", 300_000, False)])
def test_polling(tmp_path, procedure, calls, said):
    job = quiet()
    for rank in job.ranks:
        rank.call(procedure, calls, S, waited=0)
    f = found(job, tmp_path, "polling")
    assert bool(f) == said
    if said:
        assert "1.20 M times" in f.text


def with_gaps(calls=100, each=MS, pieces=2000):
    """A rank that sends pieces of 8 bytes from the memory of a GPU."""
    job = captures.Job(2, wall=S)
    here = job.ranks[0].native("/src/halo.c", 42, "exchange")
    job.ranks[0].call("MPI_Send", calls, calls * each, site=[here],
                      size=8 * pieces, datatype="MPI_DOUBLE", peer=1,
                      waited=0, device_pieces=calls * pieces)
    return job


def test_data_with_gaps_in_the_memory_of_a_gpu(tmp_path):
    f = found(with_gaps(), tmp_path, "device-gaps")
    assert "MPI_Send in exchange" in f.text
    assert "moves 200 k pieces of 8 bytes" in f.text
    assert "takes 500 ns for each" in f.text
    assert f.evidence["piece_s"] == pytest.approx(5e-7)
    assert f.evidence["moved_bytes"] == 100 * 2000 * 8


@pytest.mark.parametrize("job", [
    with_gaps(each=100 * US),           # one kernel takes no longer
    with_gaps(pieces=10),               # the launch, not the pieces
    with_gaps(pieces=0)])
def test_no_advice_on_gaps_that_cost_little(tmp_path, job):
    assert not found(job, tmp_path, "device-gaps")


def test_buffers_that_are_shown_again(tmp_path):
    job = quiet()
    for rank in job.ranks:
        rank.call("MPI_Bcast", 10, S, size=64 << 20, showing=S // 4,
                  shown_again=60 << 20)
        rank.call("MPI_Sendrecv", 10, S, size=64 << 20, showing=S // 4,
                  shown_again=70 << 20)
    f = found(job, tmp_path, "shown-again")
    assert f.evidence["operation"] == "MPI_Sendrecv"
    assert f.seconds == pytest.approx(0.5)
    assert f.evidence["again_bytes"] == 130 * len(job.ranks) << 20
    assert "MPI_Sendrecv and 1 other call make" in f.text
    job = quiet()
    for rank in job.ranks:      # at first, all of it is shown once
        rank.call("MPI_Bcast", 10, S, size=64 << 20, showing=S // 4)
    assert not found(job, tmp_path, "shown-again")


def test_the_cost_of_recording(tmp_path):
    job = quiet()
    for rank in job.ranks:
        rank.header["own_call_cost"] = 1 * US
        rank.call("MPI_Iprobe", 9000, 2 * MS)
    f = found(job, tmp_path, "own-cost")        # 12,000 calls in 802 ms
    assert f.seconds == pytest.approx(0.012)
    for rank in job.ranks:
        rank.header["own_call_cost"] = 600      # 0.9 %
    assert not found(job, tmp_path, "own-cost")


def test_file_access(tmp_path):
    def job(procedure, size, time=S):
        job = quiet()
        for rank in job.ranks:
            rank.call(procedure, 1000, time, size=size)
        return job

    f = found(job("MPI_File_write_at", 4096), tmp_path, "io")
    assert "does not count as communication" in f.text
    assert "collective calls" in f.text and "4 KiB" in f.text
    assert "collective" not in found(job("MPI_File_write_at_all", 4096),
                                     tmp_path, "io").text
    assert "collective" not in found(job("MPI_File_write_at", 1 << 20),
                                     tmp_path, "io").text
    assert not found(job("MPI_File_write_at", 4096, MS), tmp_path, "io")
