"""The verdict on each kind of job that hangs, and on some that do not."""

import random

import pytest
from readings import Made
from straightway.where import chains, needs, phrases, rolling, verdict

A, B = ("a.c", 1), ("b.c", 2)


# Collectives ----------------------------------------------------------------

def test_a_rank_behind_in_a_collective():
    made = Made(32)
    row = made.comm("solver", range(32))
    for number in range(32):
        made.collective(number, "MPI_Allreduce", row, 4711)
    made.began(7, row, *["MPI_Allreduce"] * 8, first=4703)
    made.user(7, "assemble.f90", 212, made.call(
        "MPI_Allreduce", comm=row, number=4710))
    assert made.verdict() == (
        "31 ranks wait in MPI_Allreduce #4711 on 'solver'; rank 7 has begun "
        "4710 and is in user code at assemble.f90:212")


def test_a_rank_in_another_collective():
    made = Made(4)
    row = made.comm("solver", range(4))
    for number in range(4):
        made.collective(number, "MPI_Reduce", row, 12)
    made.collective(2, "MPI_Bcast", row, 12)
    made.began(2, row, *["MPI_Reduce"] * 7, "MPI_Bcast", first=5)
    assert made.verdict() == (
        "a collective mismatch: rank 2 is in MPI_Bcast #12 on 'solver', "
        "ranks 0, 1 and 3 are in MPI_Reduce #12".replace("are in", "in"))


def test_a_mismatch_that_one_rank_has_left_behind():
    made = Made(4)
    row = made.world()
    for number in (1, 2, 3):
        made.collective(number, "MPI_Barrier", row, 3)
    made.began(0, row, "MPI_Barrier", "MPI_Barrier", ("MPI_Bcast", 0),
               "MPI_Barrier")
    made.blocked(0, "MPI_Barrier", comm=row, number=4)
    assert made.verdict() == (
        "a collective mismatch: rank 0 was in MPI_Bcast #3 on "
        "'MPI_COMM_WORLD', ranks 1-3 in MPI_Barrier #3")


def test_two_ranks_in_two_collectives():
    made = Made(2)
    row = made.world()
    made.collective(0, "MPI_Bcast", row, 1, root=0)
    made.collective(1, "MPI_Barrier", row, 1)
    assert made.verdict() == (
        "a collective mismatch: rank 1 is in MPI_Barrier #1 on "
        "'MPI_COMM_WORLD', rank 0 in MPI_Bcast #1")


def test_a_wrong_root():
    made = Made(4)
    row = made.comm("c", range(4))
    for number in range(4):
        made.collective(number, "MPI_Bcast", row, 3, root=int(number == 2))
    assert made.verdict() == (
        "rank 2 names root 1 in MPI_Bcast #3 on 'c', ranks 0, 1 and 3 root 0")


def test_sizes_that_differ():
    made = Made(3)
    row = made.comm("c", range(3))
    for number in range(3):
        made.collective(number, "MPI_Allreduce", row, 2,
                        bytes=16 if number == 1 else 8)
    assert made.verdict() == (
        "rank 1 gives 16 bytes to MPI_Allreduce #2 on 'c', ranks 0 and 2 "
        "8 bytes")


def test_roots_of_groups_that_talk_to_each_other_may_differ():
    made = Made(4)
    row = made.comm("inter", range(4), remote=2)
    for number in range(4):
        made.collective(number, "MPI_Bcast", row, 1, root=number % 2)
    assert "root" not in made.verdict()


def test_a_nonblocking_collective_that_a_rank_never_waits_for():
    made = Made(2)
    row = made.world()
    for number in range(2):
        made.began(number, row, "MPI_Barrier", "MPI_Ibarrier")
        made.request(number, "MPI_Ibarrier", "collective", comm=row, number=2)
    made.waitall(0, "MPI_Wait")
    made.user(1, "x.c", 44, made.call("MPI_Ibarrier", comm=row, number=2))
    assert made.verdict() == (
        "rank 0 waits for MPI_Ibarrier #2 on 'MPI_COMM_WORLD'; rank 1 has "
        "begun it and never waits for it; it is in user code at x.c:44")


def test_a_nonblocking_collective_that_a_rank_has_not_begun():
    made = Made(3)
    row = made.world()
    for number in (0, 1):
        made.began(number, row, "MPI_Ibarrier")
        made.request(number, "MPI_Ibarrier", "collective", comm=row, number=1)
        made.waitall(number, "MPI_Wait")
    made.user(2, "y.c", 9)
    assert made.verdict() == (
        "ranks 0 and 1 wait for MPI_Ibarrier #1 on 'MPI_COMM_WORLD'; rank 2 "
        "has begun 0 and is in user code at y.c:9")


def test_collectives_of_two_communicators_in_two_orders():
    made = Made(2)
    a, b = made.comm("A", range(2)), made.comm("B", range(2))
    made.collective(0, "MPI_Barrier", a, 1)
    made.collective(1, "MPI_Barrier", b, 1)
    assert made.verdict() == (
        "rank 0 waits in MPI_Barrier #1 on 'A', rank 1 in MPI_Barrier #1 on "
        "'B': each waits for the other")


def test_the_root_of_a_chain_is_found():
    made = Made(4)
    row, pair = made.world(), made.comm("pair", [2, 3])
    for number in (0, 1):
        made.collective(number, "MPI_Barrier", row, 1)
    made.collective(2, "MPI_Barrier", pair, 1)
    made.user(3, "slow.c", 5)
    report = made.report()
    assert report.findings[0].suspects == [3]
    assert report.findings[0].waiting == [0, 1, 2]
    assert "rank 3 is in user code at slow.c:5" in \
        report.findings[0].sentence


# Messages -------------------------------------------------------------------

def test_two_ranks_wait_for_each_others_message():
    made = Made(6)
    row = made.world()
    for number in range(6):
        made.user(number, "x.c", 1)
    made.blocked(3, "MPI_Recv", comm=row, peer=5, tag=1)
    made.blocked(5, "MPI_Recv", comm=row, peer=3, tag=1)
    assert made.verdict() == "ranks 3 and 5 wait for each other's message"


def test_a_ring():
    made = Made(3)
    row = made.world()
    for number in range(3):
        made.blocked(number, "MPI_Recv", comm=row, peer=(number + 1) % 3,
                     tag=1)
    assert made.verdict() == "a ring: rank 0 waits for 1, 1 for 2, 2 for 0"


def test_a_ring_of_requests():
    made = Made(3)
    row = made.world()
    for number in range(3):
        made.request(number, "MPI_Irecv", "receives", comm=row,
                     peer=(number + 1) % 3, tag=1)
        made.waitall(number)
    assert made.verdict() == "a ring: rank 0 waits for 1, 1 for 2, 2 for 0"


def test_a_long_ring_is_cut():
    made = Made(300)
    row = made.world()
    for number in range(300):
        made.blocked(number, "MPI_Recv", comm=row, peer=(number + 1) % 300,
                     tag=1)
    assert made.verdict() == ("a ring of 300 ranks: rank 0 waits for 1, 1 for "
                              "2, 2 for 3 and so on, 299 for 0")


def test_sends_head_to_head():
    made = Made(2)
    row = made.world()
    for number in range(2):
        made.blocked(number, "MPI_Send", comm=row, peer=1 - number, tag=5,
                     bytes=1 << 20)
        made.sent(number, 1 - number, row, {5: 1})
    assert made.verdict() == ("ranks 0 and 1 both send (MPI_Send, 1 MiB, "
                              "tag 5) and neither receives")


def test_a_ring_of_sends():
    made = Made(3)
    row = made.world()
    for number in range(3):
        made.blocked(number, "MPI_Ssend", comm=row, peer=(number + 1) % 3,
                     tag=5)
        made.sent(number, (number + 1) % 3, row, {5: 1})
    assert made.verdict() == ("a ring: rank 0 sends to 1, 1 to 2, 2 to 0; "
                              "none receives")


def test_a_wrong_tag():
    made = Made(5)
    row = made.world()
    for number in range(5):
        made.collective(number, "MPI_Barrier", row, 1)
    made.began(4, row)
    made.blocked(4, "MPI_Recv", comm=row, peer=1, tag=8)
    made.sent(1, 4, row, {9: 1})
    assert made.verdict() == \
        "rank 4 waits for tag 8 from rank 1, which has sent tag 9"


def test_a_wrong_tag_of_a_send_that_waits():
    made = Made(2)
    row = made.world()
    made.blocked(0, "MPI_Ssend", comm=row, peer=1, tag=9)
    made.sent(0, 1, row, {9: 1})
    made.blocked(1, "MPI_Recv", comm=row, peer=0, tag=8)
    assert made.verdict() == \
        "rank 1 waits for tag 8 from rank 0, which has sent tag 9"


def test_a_wrong_communicator():
    made = Made(2)
    a, b = made.comm("A", range(2)), made.comm("B", range(2))
    made.blocked(1, "MPI_Recv", comm=a, peer=0, tag=3)
    made.blocked(0, "MPI_Ssend", comm=b, peer=1, tag=3)
    made.sent(0, 1, b, {3: 1})
    assert made.verdict() == (
        "rank 1 waits for a message on 'A' from rank 0, which has sent one "
        "on 'B' with the same tag")


def test_a_send_that_is_missing():
    made = Made(5)
    row = made.world()
    for number in range(5):
        made.user(number, "x.c", 10)
    made.blocked(4, "MPI_Recv", comm=row, peer=1, tag=8)
    assert made.verdict() == (
        "rank 4 waits for tag 8 from rank 1, which has sent none and is in "
        "user code at x.c:10")


def test_messages_that_have_been_received_count_no_more():
    made = Made(2)
    row = made.world()
    made.sent(0, 1, row, {8: 3}, {8: 3})
    made.blocked(1, "MPI_Recv", comm=row, peer=0, tag=8)
    made.user(0)
    assert "which has sent none" in made.verdict()
    assert not made.report().messages


def test_a_receive_that_is_missing():
    made = Made(2)
    row = made.world()
    made.blocked(0, "MPI_Send", comm=row, peer=1, tag=3, bytes=1 << 20)
    made.sent(0, 1, row, {3: 1})
    made.collective(1, "MPI_Barrier", row, 1)
    assert made.verdict() == (
        "rank 0 sends tag 3 to rank 1, which has posted no receive and is in "
        "MPI_Barrier #1 on 'MPI_COMM_WORLD' at x.c:10")
    assert [(m.source, m.target, m.tag, m.count)
            for m in made.report().messages] == [(0, 1, 3, 1)]


def test_a_receive_that_was_posted_and_that_nobody_waits_for():
    made = Made(2)
    row = made.world()
    made.blocked(0, "MPI_Send", comm=row, peer=1, tag=3)
    made.sent(0, 1, row, {3: 1})
    made.request(1, "MPI_Irecv", "receives", comm=row, peer=0, tag=3)
    made.user(1, "y.c", 7)
    assert made.verdict() == (
        "rank 0 sends tag 3 to rank 1, which has posted the receive and is "
        "in user code at y.c:7")


def test_a_message_that_comes_is_no_fault():
    made = Made(2)
    row = made.world()
    made.blocked(0, "MPI_Send", comm=row, peer=1, tag=3)
    made.sent(0, 1, row, {3: 1})
    made.blocked(1, "MPI_Recv", comm=row, peer=0, tag=3)
    report = made.report()
    assert report.findings[0].kind == "inside"
    assert not report.messages and not report.receives


def test_receives_from_any_source():
    made = Made(3)
    row = made.world()
    made.blocked(0, "MPI_Recv", comm=row, peer="any", tag=3)
    for number in (1, 2):
        made.user(number, "z.c", 8)
    assert made.verdict() == (
        "rank 0 waits for tag 3 from any rank, and none has sent one; ranks 1 "
        "and 2 are in user code at z.c:8")


def test_a_message_meets_a_receive_from_any_source():
    made = Made(3)
    row = made.world()
    made.sent(2, 0, row, {3: 1})
    made.blocked(0, "MPI_Recv", comm=row, peer="any", tag="any")
    made.user(1)
    made.user(2)
    assert made.report().receives == []


def test_all_wait_for_a_message_from_anyone():
    made = Made(3)
    row = made.world()
    for number in range(3):
        made.blocked(number, "MPI_Recv", comm=row, peer="any", tag=3)
    report = made.report()
    assert report.findings[0].hangs
    assert report.findings[0].sentence.startswith(
        "ranks 0-2 wait for each other")


def test_one_message_does_not_meet_two_receives():
    made = Made(2)
    row = made.world()
    for _ in range(2):
        made.request(0, "MPI_Irecv", "receives", comm=row, peer=1, tag=3)
    made.waitall(0)
    made.sent(1, 0, row, {3: 1})
    made.user(1, "x.c", 10)
    report = made.report()
    assert "rank 0 waits for tag 3 from rank 1, which has sent none" in \
        report.findings[0].sentence
    assert len(report.receives) == 1


def test_a_rank_that_waits_for_itself():
    made = Made(1)
    row = made.world()
    made.blocked(0, "MPI_Recv", comm=row, peer=0, tag=4)
    assert made.verdict() == \
        "rank 0 waits for tag 4 from itself, and has sent none"


def test_sendrecv_in_two_directions():
    made = Made(3)
    row = made.world()
    for number in range(3):
        # All expect from the left, and send there, too.
        left = (number - 1) % 3
        made.blocked(number, "MPI_Sendrecv", comm=row, peer=left, tag=1,
                     to=left, to_tag=1)
        made.sent(number, left, row, {1: 1})
    report = made.report()
    assert report.findings[0].kind in ("ring", "sends")
    assert report.findings[0].suspects == [0, 1, 2]


@pytest.mark.parametrize("name", ["MPI_Waitany", "MPI_Waitsome"])
def test_one_of_several_requests_is_enough(name):
    made = Made(3)
    row = made.world()
    for peer in (1, 2):
        made.request(0, "MPI_Irecv", "receives", comm=row, peer=peer, tag=1)
    made.waitall(0, name)
    made.blocked(1, "MPI_Recv", comm=row, peer=0, tag=7)
    made.user(2, "w.c", 3)
    report = made.report()
    assert report.findings[0].suspects == [2], report.findings


def test_a_partitioned_message():
    made = Made(2)
    row = made.world()
    made.request(1, "MPI_Precv_init", "receives", comm=row, peer=0, tag=2,
                 persistent=True)
    made.waitall(1, "MPI_Wait")
    made.request(0, "MPI_Psend_init", "sends", comm=row, peer=1, tag=2,
                 persistent=True, partitions=4, ready=3)
    made.user(0, "p.c", 6)
    assert made.verdict() == (
        "rank 1 waits for a partitioned message from rank 0, which has made "
        "3 of 4 partitions ready and is in user code at p.c:6")
    made[0]["requests"][0]["active"] = False
    assert "which has started none" in made.verdict()


def test_a_partitioned_message_whose_sender_waits_too_early():
    made = Made(2)
    row = made.world()
    made.request(1, "MPI_Precv_init", "receives", comm=row, peer=0, tag=2,
                 persistent=True)
    made.waitall(1, "MPI_Wait")
    made.request(0, "MPI_Psend_init", "sends", comm=row, peer=1, tag=2,
                 persistent=True, partitions=4, ready=3)
    made.waitall(0, "MPI_Wait")
    assert made.verdict() == (
        "rank 0 waits to send a partitioned message, of which it has made "
        "3 of 4 partitions ready")


def test_counts_that_are_not_whole_accuse_nobody():
    for change in ({"whole": False}, {"lost": {"pairs": 3}}):
        made = Made(2)
        row = made.world()
        made.blocked(1, "MPI_Recv", comm=row, peer=0, tag=8)
        made.user(0, "x.c", 10)
        made[0].update(change)
        report = made.report()
        assert report.findings[0].sentence == (
            "rank 1 waits for tag 8 from rank 0, which is in user code at "
            "x.c:10")
        assert report.hints


@pytest.mark.parametrize("tags, sums", [
    (dict.fromkeys(range(9), 5), True), ({9: 1}, False)])
def test_tags_that_are_not_known_are_not_judged(tags, sums):
    made = Made(2)
    row = made.world()
    made.sent(0, 1, row, tags, sums=sums)
    made.blocked(1, "MPI_Recv", comm=row, peer=0, tag=8)
    made.user(0, "x.c", 10)
    assert "none" not in made.verdict()
    assert "has sent tag" not in made.verdict()


# Processes ------------------------------------------------------------------

def barrier(ranks=4):
    made = Made(ranks)
    row = made.world()
    for number in range(ranks):
        made.collective(number, "MPI_Barrier", row, 2)
    return made, row


def test_a_rank_that_is_stopped():
    made, _ = barrier()
    made[2]["state"] = "T"
    assert made.verdict() == "rank 2 is stopped (SIGSTOP): kill -CONT 1002"
    made[2]["state"] = "t"
    assert made.verdict() == "rank 2 is held by a debugger"


def test_a_rank_that_is_gone():
    made, _ = barrier()
    made.drop(2)
    assert made.verdict() == "rank 2 is gone: its process has ended"
    made.refused.append({"pid": 1002, "why": "no such process"})
    assert made.verdict() == "rank 2 is gone: its process has ended"
    assert ("ranks 0, 1 and 3 wait in MPI_Barrier #2 on 'MPI_COMM_WORLD'; "
            "rank 2 is gone") in made.sentences()


def test_a_zombie():
    made, _ = barrier()
    made[1]["state"] = "Z"
    assert made.verdict() == "rank 1 is a zombie: its process has ended"


def test_ranks_on_another_node_are_not_gone():
    made = Made(4, node_ranks=2)
    row = made.world()
    for number in range(4):
        made.collective(number, "MPI_Barrier", row, 2)
    far = Made(4, node="beta", node_ranks=2)
    assert far.world() == row
    far.collective(2, "MPI_Barrier", row, 2)
    far.user(3, "far.c", 6)
    for number in (2, 3):
        made.drop(number)
    for number in (0, 1):
        far.drop(number)
    report = made.report()
    assert report.findings[0].sentence == (
        "ranks 0 and 1 wait in MPI_Barrier #2 on 'MPI_COMM_WORLD'; ranks 2 "
        "and 3 are on another node, which this report does not show")
    assert "`mpirun -ppn 1 -n NODES straightway where`" in report.hints[0]
    assert made.verdict(far) == (
        "ranks 0-2 wait in MPI_Barrier #2 on 'MPI_COMM_WORLD'; rank 3 has "
        "begun 0 and is in user code at far.c:6")
    assert not made.report(far).hints


def test_a_rank_of_one_of_two_nodes_is_gone():
    made = Made(4, node_ranks=2)
    made.world()
    for number in (1, 2, 3):
        made.drop(number)
    made.user(0)
    assert made.verdict() == "1 process has ended on alpha, of ranks 1-3"


def test_a_launch_that_is_not_complete():
    made = Made(4)
    for number in range(3):
        made.new(number, 4)
    made.drop(3)
    assert made.verdict() == "ranks 0-2 are in MPI_Init; rank 3 has not come"


def test_a_rank_that_computes_before_mpi_init():
    made = Made(2)
    made.new(0, 2)
    made.new(1, 2, inside=False)
    assert made.verdict() == ("rank 0 is in MPI_Init; rank 1 is in user code "
                              "at x.c:3 before MPI_Init")


def test_a_rank_in_mpi_finalize():
    made = Made(2)
    row = made.world()
    made.blocked(0, "MPI_Finalize", comm=row)
    made.blocked(1, "MPI_Recv", comm=row, peer=0, tag=3)
    assert made.verdict() == \
        "rank 0 is in MPI_Finalize; rank 1 still waits for tag 3 from rank 0"


def test_mpi_finalize_waits_for_a_rank():
    made = Made(3)
    row = made.world()
    for number in (0, 1):
        made.blocked(number, "MPI_Finalize", comm=row)
    made.user(2, "x.c", 77)
    assert made.verdict() == ("ranks 0 and 1 are in MPI_Finalize; rank 2 is "
                              "in user code at x.c:77")


def test_a_collective_without_a_rank_that_finalizes():
    made, row = barrier(3)
    made.began(1, row, "MPI_Barrier")
    made.blocked(1, "MPI_Finalize", comm=row)
    assert made.verdict() == (
        "ranks 0 and 2 wait in MPI_Barrier #2 on 'MPI_COMM_WORLD'; rank 1 has "
        "begun 1 and is in MPI_Finalize at x.c:10")


def test_one_rank_that_computes_keeps_all_others():
    made = Made(4)
    row = made.world()
    for number in (0, 1, 2):
        made.blocked(number, "MPI_Recv", comm=row, peer=3, tag=1)
    made.began(3, row, *["MPI_Allreduce"] * 7)
    made.user(3, "x.c", 12, made.call("MPI_Allreduce", comm=row, number=7))
    assert made.verdict() == (
        "rank 3 is in user code at x.c:12 since its MPI_Allreduce #7 on "
        "'MPI_COMM_WORLD'; all others wait for it")


def test_a_rank_that_polls_does_not_move():
    made, row = barrier(2)
    made.began(1, row, "MPI_Barrier")
    made.user(1, "poll.c", 4, made.call("MPI_Test"))
    assert made.verdict() == (
        "rank 0 waits in MPI_Barrier #2 on 'MPI_COMM_WORLD'; rank 1 has begun "
        "1 and polls with MPI_Test at poll.c:4")


def test_a_rank_that_polls_for_a_message_passes_the_blame_on():
    made, row = barrier(3)
    made.began(1, row, "MPI_Barrier")
    made.request(1, "MPI_Irecv", "receives", comm=row, peer=2, tag=6)
    made.user(1, "poll.c", 4, made.call("MPI_Test"))
    made.began(2, row, "MPI_Barrier")
    made.user(2, "slow.c", 5)
    assert made.report().findings[0].suspects == [2]


# Windows --------------------------------------------------------------------

def test_a_fence():
    made = Made(3)
    row = made.world()
    win = made.window(row, range(3), fences=3)
    for number in (0, 1):
        made.blocked(number, "MPI_Win_fence", comm=row, window=win, number=3)
    made.win(2, win, fences=2)
    made.user(2, "w.c", 4)
    assert made.verdict() == (
        "ranks 0 and 1 wait in MPI_Win_fence #3 of a window on "
        "'MPI_COMM_WORLD'; rank 2 has begun 2 and is in user code at w.c:4")


def test_an_exposure_that_no_origin_completes():
    made = Made(2)
    row = made.world()
    win = made.window(row, range(2))
    made.win(0, win, posts=1, origins=[1])
    made.win(1, win, starts=1, targets=[0])
    made.blocked(0, "MPI_Win_wait", window=win)
    made.user(1, "w.c", 4)
    assert made.verdict() == (
        "rank 0 waits in MPI_Win_wait for MPI_Win_complete of rank 1, which "
        "is in user code at w.c:4")


def test_an_access_that_no_target_posts():
    made = Made(2)
    row = made.world()
    win = made.window(row, range(2))
    made.win(1, win, starts=1, targets=[0])
    made.blocked(1, "MPI_Win_start", window=win)
    made.collective(0, "MPI_Barrier", row, 1)
    assert made.verdict() == (
        "rank 1 waits in MPI_Win_start for MPI_Win_post of rank 0, which is "
        "in MPI_Barrier #1 on 'MPI_COMM_WORLD' at x.c:10")


def test_a_lock_that_another_rank_holds():
    made = Made(3)
    row = made.world()
    win = made.window(row, range(3))
    made.win(2, win, locked=1, locks=1, exclusive=True)
    made.user(2, "l.c", 8)
    made.user(1, "m.c", 8)
    made.blocked(0, "MPI_Win_lock", window=win, peer=1)
    assert made.verdict() == (
        "rank 0 waits in MPI_Win_lock for rank 1's window; rank 2 holds the "
        "lock and is in user code at l.c:8")


def test_a_flush_that_its_target_does_not_help():
    made = Made(2)
    row = made.world()
    win = made.window(row, range(2))
    made.win(0, win, locked=1, locks=1)
    made.blocked(0, "MPI_Win_flush", window=win, peer=1)
    made.user(1, "m.c", 8)
    assert made.verdict() == ("rank 0 waits in MPI_Win_flush for rank 1, "
                              "which is in user code at m.c:8")


def test_a_window_that_one_rank_does_not_free():
    made = Made(2)
    row = made.world()
    win = made.window(row, range(2))
    made.blocked(0, "MPI_Win_free", window=win)
    made.user(1, "m.c", 8)
    assert made.verdict() == (
        "rank 0 waits in MPI_Win_free of a window on 'MPI_COMM_WORLD'; rank 1 "
        "is in user code at m.c:8")


# Threads --------------------------------------------------------------------

def test_a_thread_that_listens_does_not_make_its_rank_wait():
    made, row = barrier(2)
    made.blocked(1, "MPI_Recv", comm=row, peer="any", tag="any", thread=1)
    made.began(1, row, "MPI_Barrier")
    made.user(1, "main.c", 3, made.call("MPI_Barrier", comm=row, number=1))
    assert "rank 1 has begun 1 and is in user code at main.c:3" in \
        made.verdict()


def test_threads_of_a_rank_each_in_its_call():
    made = Made(2)
    row = made.world()
    for thread in (1, 2):
        made.blocked(0, "MPI_Recv", comm=row, peer=1, tag=thread,
                     thread=thread)
    made.user(0, "main.c", 3)
    made.user(1, "other.c", 9)
    report = made.report()
    assert report.findings[0].suspects == [1]
    row, = (row for row in report.rows if row.thread)
    assert row.ranks == [0] and "several tags" in row.what


# Jobs that do not hang ------------------------------------------------------

def test_a_job_that_moves():
    made, _ = barrier()
    for number in range(4):
        made.thread(number)["call"]["since"] = 0.001
    made.moves(0, 1)
    report = made.report()
    assert report.findings[0].sentence == \
        "no rank waits for long: all are busy"
    assert not report.findings[0].hangs


def test_a_job_in_which_one_rank_moves_and_the_others_hang():
    made, row = barrier()
    made.began(3, row, "MPI_Barrier")
    made.user(3, "spin.c", 2, made.call("MPI_Send", comm=row, peer=3, tag=1))
    made.moves(3)
    assert made.verdict() == (
        "ranks 0-2 wait in MPI_Barrier #2 on 'MPI_COMM_WORLD'; rank 3 has "
        "begun 1 and is busy: its last call is MPI_Send at spin.c:2")


def test_all_compute():
    made = Made(2)
    made.world()
    for number in range(2):
        made.user(number, "x.c", 4)
    assert made.verdict() == \
        "no rank waits: ranks 0 and 1 are in user code at x.c:4"


def test_all_have_ended():
    made = Made(2)
    for number in range(2):
        made[number]["finalized"] = True
    made.drop(1)
    assert made.verdict() == "rank 0 has left MPI_Finalize"


def test_a_short_wait_says_so():
    made, row = barrier(2)
    made.began(1, row, "MPI_Barrier")
    made.user(1)
    made.thread(0)["call"]["since"] = 0.1
    assert any("look again" in hint for hint in made.report().hints)


# What is odd ----------------------------------------------------------------

def test_communicators_without_ids_are_never_matched():
    made = Made(2)
    row = made.comm("c", range(2), known=False)
    made.collective(0, "MPI_Barrier", row, 2)
    made.user(1)
    report = made.report()
    assert report.findings[0].kind == "inside"
    assert report.findings[0].suspects == [0]


def test_junk_breaks_nothing():
    draw = random.Random(1)
    junk = [None, -1, "x\n\x1b[31m" * 9, [], {}, 1e300, True, "any", [[]],
            [None, {"tag": []}], 10 ** 30]

    def spoil(value, depth=0):
        if isinstance(value, dict):
            return {k: draw.choice(junk) if draw.random() < .08 and k not in
                    ("processes", "node", "job", "rank") else
                    spoil(v, depth + 1) for k, v in value.items()}
        if isinstance(value, list):
            return [spoil(v, depth + 1) for v in value]
        return value

    for _ in range(300):
        made, row = barrier(3)
        win = made.window(row, range(3), fences=1)
        made.request(1, "MPI_Irecv", "receives", comm=row, peer=2, tag=6)
        made.waitall(1)
        made.sent(2, 1, row, {7: 1, 6: 3}, {6: 3})
        made.blocked(2, "MPI_Win_fence", comm=row, window=win, number=2)
        made.processes = spoil(made.processes)
        assert made.verdict()


def test_no_process_at_all():
    made = Made(0)
    from straightway.where import model
    assert model.jobs([made.reading()]) == {}


def test_a_child_that_shows_its_parents_calls_counts_once():
    made, _ = barrier(2)
    made.processes.append({**made[0], "pid": 77})
    report = made.report()
    assert report.job.ranks[0].pid == 1000 and len(report.job.ranks) == 2


@pytest.mark.parametrize("numbers, text", [
    ([7], "rank 7"), ([3, 5], "ranks 3 and 5"), ([0, 1, 3],
                                                 "ranks 0, 1 and 3"),
    ([*range(7), 8], "ranks 0-6 and 8"), (range(31), "31 ranks")])
def test_ranks_in_words(numbers, text):
    assert phrases.ranks(numbers) == text


# Cost -----------------------------------------------------------------------

class Counted(list):
    """A list that counts what is taken from it."""

    taken = 0

    def __iter__(self):
        for one in super().__iter__():
            Counted.taken += 1
            yield one


@pytest.mark.parametrize("kind", ["one collective", "any source", "halves"])
def test_the_graph_takes_time_in_proportion_to_the_ranks(kind):
    """Counted, not timed: the arrows that all steps follow."""
    def arrows(size):
        made = Made(size)
        row = made.world()
        for number in range(size):
            made.collective(number, "MPI_Barrier", row, 2)
            if kind == "any source":
                made.blocked(number, "MPI_Recv", comm=row, peer="any", tag=1)
            elif kind == "halves" and number % 2:
                made.began(number, row, "MPI_Barrier")
                made.user(number)
        view = needs.look(made.report().job)
        for one in {id(need.meeting): need.meeting
                    for found in view.needs.values() for need in found
                    if need.meeting is not None}.values():
            name = "behind" if hasattr(one, "behind") else "suspects"
            setattr(one, name, Counted(getattr(one, name)))
        Counted.taken = 0
        graph = chains.Graph(view)
        graph.circles()
        graph.roots()
        return Counted.taken

    small, large = arrows(40), arrows(160)
    assert large <= 8 * max(small, 1)


@pytest.mark.parametrize("name", ["MPI_Waitall", "MPI_Waitany"])
def test_verdicts_take_time_in_proportion_to_the_requests(name, monkeypatch):
    """Counted, not timed: the needs that all steps look at."""
    def looks(size):
        made = Made(8)
        row = made.world()
        for number in range(8):
            for tag in range(size):
                made.request(number, "MPI_Irecv", "receives", comm=row, tag=tag,
                             peer=(number + 1 + tag % 3) % 8)
            made.waitall(number, name)
        view = needs.look(made.report().job)
        view.needs = {number: Counted(those)
                      for number, those in view.needs.items()}
        Counted.taken = 0
        assert verdict.findings(view)[0].kind == "ring"
        return Counted.taken

    small, large = looks(25), looks(100)
    assert 0 < large <= 8 * small


def test_tags_of_messages_under_way_follow_from_sums():
    for under_way in ([37], [5, 5, 5], [9, 2 ** 31 - 1], [0, 0], [3, 4, 4]):
        received = random.Random(4).choices(range(2 ** 31), k=100)
        sent = received + under_way
        sums = [tuple(sum(t ** power for t in tags) % 2 ** 64
                      for power in (1, 2)) for tags in (sent, received)]
        left = tuple((s - r) % 2 ** 64 for s, r in zip(*sums))
        found = rolling.tags(len(under_way), left, [3, 4, 8, 11])
        assert found == {t: under_way.count(t) for t in under_way}
    assert rolling.tags(3, (6, 26), [0, 1, 5]) == {0: 1, 1: 1, 5: 1}
    assert rolling.tags(1000, (1300, 1900), [1, 2]) == {1: 700, 2: 300}
    assert rolling.tags(3, (12, 51), [0, 9]) is None
    assert rolling.tags(1, (), [1]) is None


def test_a_tag_that_is_new_in_each_step():
    made = Made(2)
    row = made.world()
    made.sent(0, 1, row, dict.fromkeys(range(37), 1),
              received=dict.fromkeys(range(36), 1))
    made.blocked(1, "MPI_Recv", comm=row, peer=0, tag=136)
    made.blocked(0, "MPI_Recv", comm=row, peer=1, tag=37)
    assert made.verdict().startswith(
        "rank 1 waits for tag 136 from rank 0, which has sent tag 36")
