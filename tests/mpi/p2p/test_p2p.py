"""Random programs of messages give the host's bytes, statuses and counts,
and the edges of what MPI allows are the host's."""

import functools
import os
import re

import pytest
from harness import jobs
from harness.programs import (kept_alone, needs_mpi4, rounds_for, run,
                              same_logs, well)

ON = {"STRAIGHTWAY_P2P": "on"}
DEEP = pytest.mark.deep
LEAST = [256, *(pytest.param(least, marks=DEEP)
                for least in (192, 1000, 16384))]
REFUSALS = ["memfd,cma", *(pytest.param(service, marks=DEEP)
                           for service in ("cma", "memfd", "map", "peerfd"))]
ROUNDS = 60         # of short runs
CASES = ["outstanding", "oneway", "lookalike", "headtohead", "progress",
         "computing", "finalize", "self", "shared", "uneven"]


def compare(host, n, seed, rounds, folder, *options, env=None):
    arguments = [seed, rounds, *options]
    kept = kept_alone(host, n, "random_p2p", arguments, "right",
                      excused=["no MPI_THREAD"])
    done = well(run(host, n, "random_p2p", *arguments, "--log",
                    folder / "log", env={**ON, **(env or {})}),
                "messages right")
    same_logs(kept, folder, n)
    moved = re.search(r"point to point: (\d+) messages moved", done.stderr)
    return int(moved[1]) if moved else 0


@pytest.mark.parametrize("n", [2, 3, 4])
def test_random_messages_give_the_hosts_bytes(host, n, tmp_path):
    # Few rounds have few large messages.
    least = {} if n == 2 else {"STRAIGHTWAY_P2P_MIN": 1000}
    assert compare(host, n, 1 + n, rounds_for(host, n, ROUNDS), tmp_path,
                   env=least) > 0


@pytest.mark.deep
def test_messages_left_to_the_host_are_its(host, tmp_path):
    assert not compare(host, 2, 3, ROUNDS, tmp_path,
                       env={"STRAIGHTWAY_MATCH": "off"})


@pytest.mark.parametrize("n, way, refused", [
    (3, "auto", "room,cma:0"), (2, "cma", "cma:3")])
def test_what_cannot_be_read_comes_in_pieces(host, n, way, refused, tmp_path):
    """From the start, or since the system has refused it in the midst."""
    compare(host, n, 3 + n, rounds_for(host, n, ROUNDS), tmp_path, env={
        "STRAIGHTWAY_MESSAGE_WAY": way, "STRAIGHTWAY_REFUSE": refused})


@pytest.mark.parametrize("least", LEAST)
def test_any_threshold_gives_the_hosts_bytes(host, least, tmp_path):
    compare(host, 2, 3, ROUNDS, tmp_path, env={"STRAIGHTWAY_P2P_MIN": least})


@pytest.mark.parametrize("way", ["two-copy", "cma", "one-copy", "joint"])
def test_any_way_gives_the_hosts_bytes(host, way, tmp_path):
    assert compare(host, 2, 3, ROUNDS, tmp_path, env={
        "STRAIGHTWAY_MESSAGE_WAY": way, "STRAIGHTWAY_AGENT": 1}) > 0


@pytest.mark.deep
def test_switched_off_it_gives_the_hosts_bytes(host, tmp_path):
    compare(host, 2, 3, ROUNDS, tmp_path, env={"STRAIGHTWAY_P2P": "off"})


@pytest.mark.parametrize("threads", [1, pytest.param(3, marks=DEEP)])
def test_helpers_give_the_hosts_bytes(host, threads, tmp_path):
    compare(host, 2, 3, ROUNDS, tmp_path,
            *(["--threads", threads] if threads > 1 else []),
            env={"STRAIGHTWAY_AGENT": 1, "STRAIGHTWAY_P2P_JOINT": 20000,
                 "STRAIGHTWAY_P2P_MIN": 192,
                 "STRAIGHTWAY_STREAM_MIN": 50000})


@pytest.mark.parametrize("agent", [0, 1])
def test_what_is_used_again_at_once(host, agent):
    well(run(host, 2, "p2p_lifetimes",
             env={**ON, "STRAIGHTWAY_AGENT": agent}))


def test_an_agent_refused_is_told(host):
    done = run(host, 2, "p2p_lifetimes",
               env={**ON, "STRAIGHTWAY_AGENT": 1,
                    "STRAIGHTWAY_REFUSE": "thread"})
    assert "no thread for the agent" in done.stderr
    well(done)


@pytest.mark.parametrize("p2p", ["on", "off"])
@pytest.mark.parametrize("how", ["send", "ssend", "rendezvous", "recv",
                                 "probe", "mprobe", "sendrecv"])
def test_a_thread_refused_late_keeps_no_message_waiting(host, how, p2p):
    """The system gives a thread when MPI starts, and none later."""
    done = well(run(host, 2, "unhelped", how, env={
        "STRAIGHTWAY_P2P": p2p, "STRAIGHTWAY_AGENT": 0,
        "STRAIGHTWAY_REFUSE": "thread:2"}))
    assert "no thread" not in done.stderr


@pytest.mark.parametrize("service", REFUSALS)
def test_a_refused_service_costs_no_correctness(host, service, tmp_path):
    compare(host, 2, 3, ROUNDS, tmp_path,
            env={"STRAIGHTWAY_REFUSE": service, "STRAIGHTWAY_P2P_MIN": 192})


def test_virtual_nodes_give_the_hosts_bytes(host, tmp_path):
    compare(host, 4, 5, rounds_for(host, 4, ROUNDS), tmp_path,
            env={"STRAIGHTWAY_NODE_SIZE": 2, "STRAIGHTWAY_P2P_MIN": 192})


@pytest.mark.parametrize("size", [2, pytest.param(3, marks=DEEP)])
@pytest.mark.parametrize("how", [
    ("order", 1, 40), ("away",), ("decided", 1, 40), ("away-ends",),
    ("many", 10000), ("ends",),
    *(pytest.param((what, seed, 400), marks=DEEP)
      for what in ("order", "decided") for seed in range(2, 12))],
    ids=lambda how: "-".join(map(str, how)))
def test_any_source_on_either_node(host, how, size):
    """The MPI matches what comes from another node, and we the rest."""
    well(run(host, 4, "either", *how, env={
        **ON, "STRAIGHTWAY_NODE_SIZE": size,
        **({"TEST_THREADS": 1} if size == 3 else {})}))


@pytest.mark.parametrize("how", ["freed", "cancelled", "behind"])
def test_what_the_program_forgets_goes_on(host, how):
    well(run(host, 2, "forgotten", how, env=ON, timeout=60))


@pytest.mark.parametrize("threads", [2, pytest.param(4, marks=DEEP)])
def test_threads_give_the_hosts_bytes(host, threads, tmp_path):
    compare(host, 2, 7, 30, tmp_path, "--threads", threads, "--max", 100000,
            env={"STRAIGHTWAY_P2P_MIN": 192})


@pytest.mark.parametrize("least", [192, pytest.param(16384, marks=DEEP)])
@pytest.mark.parametrize("n, messages, modes", [
    (2, 500, "mirnsm"), (2, 1000, "mmm"), (3, 150, "mmri"),
    *(pytest.param(n, 5000, modes, marks=DEEP) for n in (2, 3)
      for modes in ("mm", "mirnsm", "iirs", "rrnn"))])
def test_threads_share_a_stream(host, n, messages, modes, least):
    done = run(host, n, "p2p_consumers", messages, modes,
               env={**ON, "STRAIGHTWAY_P2P_MIN": least}, timeout=300)
    if "no MPI_THREAD_MULTIPLE" not in done.stdout:
        well(done)


@pytest.mark.parametrize("seed", [4, *(pytest.param(seed, marks=DEEP)
                                       for seed in range(100, 110))])
@pytest.mark.parametrize("n, least", [(2, 16384), (3, 192)])
def test_probes_tell_a_descriptor_from_a_message(host, n, least, seed):
    well(run(host, n, "p2p_lengths", seed, 60,
             env={**ON, "STRAIGHTWAY_P2P_MIN": least}))


def test_the_edges_of_what_mpi_allows(host):
    well(run(host, 2, "p2p_limits", "all", env=ON))


@pytest.mark.parametrize("agent", [0, 1])
@pytest.mark.parametrize("least", [
    192, pytest.param(16384, marks=DEEP)])
def test_what_goes_while_a_receive_is_pending(host, least, agent):
    well(run(host, 2, "p2p_pending", "all", env={
        **ON, "STRAIGHTWAY_P2P_MIN": least, "STRAIGHTWAY_AGENT": agent}))


def test_probes_after_very_many_tags(host):
    well(run(host, 3, "p2p_pending", "tags", env=ON))


def test_a_short_message_with_gaps_waits_for_nobody(host):
    well(run(host, 2, "p2p_gathered", env=ON))


@needs_mpi4
@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("how", ["all", "any", pytest.param(
    "some", marks=pytest.mark.unable(
        "debian-mpich", why="MPICH 4.0's MPI_Testsome knows none"))])
def test_persistent_collectives_among_messages(host, n, how):
    """MPICH's MPI_Testall does not know them; nor does MPICH 4.0's
    MPI_Testsome, which is all that can be asked for MPI_Waitsome."""
    alone = run(host, n, "persistent_among", how, straightway=False)
    if alone.returncode:
        pytest.skip("the MPI alone fails")
    well(run(host, n, "persistent_among", how, env=ON))


@pytest.mark.deep
@pytest.mark.parametrize("least", [192, 1000, 50000])
@pytest.mark.parametrize("case", CASES)
def test_each_edge_of_what_mpi_allows(host, case, least):
    well(run(host, 2, "p2p_limits", case,
             env={**ON, "STRAIGHTWAY_P2P_MIN": least}))


def test_a_message_after_one_cut_short_is_seen_as_it_is(host, tmp_path):
    well(run(host, 2, "p2p_limits", "aftercut", tmp_path / "report", "return",
             env={**ON, "STRAIGHTWAY_P2P_MIN": 4096}))


@pytest.mark.parametrize("handler", ["user", pytest.param("return",
                                                          marks=DEEP)])
def test_truncation_is_told_as_the_host_tells_it(host, handler, tmp_path):
    for who in "alone", "ours":
        well(run(host, 2, "p2p_limits", "truncate", tmp_path / who, handler,
                 straightway=who == "ours", env=ON))
    alone, ours = ((tmp_path / f"{who}.1").read_text().splitlines()
                   for who in ("alone", "ours"))
    # Some hosts write past the room; Straightway may do so only there.
    beyond = [line for line in alone if line.endswith("beyond")]
    assert {line for line in ours if line.endswith("beyond")} <= set(beyond)
    # One takes short messages into no room at all for good; a descriptor is
    # short.
    lax = any(line.startswith("192 into 0,") and "success, handler called 0"
              in line for line in alone)
    ours, alone = ([line for line in lines if not line.endswith("beyond")
                    and not (lax and " into 0," in line)]
                   for lines in (ours, alone))
    assert ours == alone
    assert len(alone) > 50


def ends_as_the_host_does(host, who, seed):
    """A job that hangs fails by its timeout."""
    for done in jobs.both(*(
            functools.partial(run, host, 2, "kill_p2p", who, seed, timeout=60,
                              **options)
            for options in ({"straightway": False}, {"env": ON}))):
        assert not done or done.returncode != 0
    assert not [name for name in os.listdir("/dev/shm")
                if "straightway" in name]


@pytest.mark.parametrize("who", ["receiver"])
def test_a_rank_lost_in_a_message_ends_the_job(host, who):
    ends_as_the_host_does(host, who, 1)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("who", ["sender", "receiver", "both"])
def test_a_rank_lost_at_any_moment_ends_the_job(host, who, seed):
    ends_as_the_host_does(host, who, seed)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("n", [2, 3, 4, 8])
def test_long_random_messages_give_the_hosts_bytes(host, n, seed, tmp_path):
    least = [192, 256, 1000, 4096, 16384][seed % 5]
    compare(host, n, seed, rounds_for(host, n, 2000), tmp_path,
            env={"STRAIGHTWAY_P2P_MIN": least})


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("threads", [2, 3, 4])
def test_many_threads_give_the_hosts_bytes(host, threads, seed, tmp_path):
    compare(host, 2, seed, 300, tmp_path, "--threads", threads,
            env={"STRAIGHTWAY_P2P_MIN": 192})
