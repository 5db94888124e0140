"""Random nested datatypes give the host's bytes, statuses and counts, in
messages and in collectives; and datatypes come and go as the host has them."""

import re

import pytest
from harness.programs import kept_alone, rounds_for, run, same_logs, well

DEEP = pytest.mark.deep
ROUNDS = 40         # of short runs
LEAST = [192, pytest.param(1000, marks=DEEP), 4096,
         pytest.param(16384, marks=DEEP)]
PARTS = ["messages", "collectives", "neighbours"]


# MPICH 5.0 reads many pieces at once from the other process, at times more
# than the system takes ("process_vm_readv failed (errno 22)").
HOSTS = {"MPIR_CVAR_CH4_CMA_ENABLE": 0}


def on(least=192, **more):
    return {"STRAIGHTWAY_P2P": "on", "STRAIGHTWAY_P2P_MIN": least, **HOSTS,
            **more}


def compare(host, n, seed, rounds, folder, *options, env=None):
    arguments = [seed, rounds, *options]
    kept = kept_alone(host, n, "random_types", arguments, "datatypes right",
                      env=HOSTS)
    well(run(host, n, "random_types", *arguments, "--log", folder / "log",
             env=env or on()), "datatypes right")
    same_logs(kept, folder, n)


@pytest.mark.parametrize("n, seed, least", [
    (2, 1, 192), (2, 1, 4096), (2, 2, 192), (3, 3, 192)])
def test_random_types_give_the_hosts_bytes(host, n, seed, least, tmp_path):
    compare(host, n, seed, rounds_for(host, n, ROUNDS), tmp_path,
            env=on(least))


@pytest.mark.deep
def test_small_messages_of_random_types_give_the_hosts_bytes(host, tmp_path):
    compare(host, 2, 4, ROUNDS, tmp_path, "--max", 3000)


@pytest.mark.parametrize("part", [
    "collectives", *(pytest.param(part, marks=DEEP)
                     for part in ("messages", "neighbours"))])
def test_each_part_gives_the_hosts_bytes(host, part, tmp_path):
    compare(host, 2, 5, ROUNDS // 2, tmp_path, "--only", part)


def test_helpers_give_the_hosts_bytes(host, tmp_path):
    compare(host, 2, 2, ROUNDS, tmp_path,
            env=on(STRAIGHTWAY_AGENT=1, STRAIGHTWAY_P2P_JOINT=20000,
                   STRAIGHTWAY_STREAM_MIN=50000))


@pytest.mark.parametrize("service", [
    "memfd,cma", *(pytest.param(service, marks=DEEP)
                   for service in ("cma", "memfd", "map", "peerfd"))])
def test_a_refused_service_costs_no_correctness(host, service, tmp_path):
    compare(host, 2, 1, ROUNDS, tmp_path, env=on(STRAIGHTWAY_REFUSE=service))


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 120))
@pytest.mark.parametrize("n", [2, 3, 4])
def test_many_random_types_give_the_hosts_bytes(host, n, seed, tmp_path):
    compare(host, n, seed, rounds_for(host, n, 300), tmp_path,
            env=on([192, 1000, 4096, 16384][seed % 4]))


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(200, 210))
@pytest.mark.parametrize("part", PARTS)
def test_many_of_each_part_give_the_hosts_bytes(host, part, seed, tmp_path):
    compare(host, 2, seed, 200, tmp_path, "--only", part,
            env=on([192, 4096][seed % 2]))


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=DEEP)
                                       for seed in range(10, 20))])
def test_a_freed_type_and_one_with_its_handle(host, seed):
    well(run(host, 2, "type_lifetimes", "reuse", seed, 100, env=on()))


@pytest.mark.parametrize("threads, rounds", [
    (3, 40), pytest.param(4, 1000, marks=DEEP)])
def test_types_come_and_go_in_threads(host, threads, rounds):
    done = run(host, 2, "type_lifetimes", "reuse", 2, rounds, threads,
               env=on())
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip("this host has no MPI_THREAD_MULTIPLE")
    if host.name == "debian-mpich" and \
            "worker->inprogress" in done.stdout + done.stderr:
        pytest.skip("MPICH 4.0 lets two threads into UCX at once, rarely")
    well(done)


@pytest.mark.parametrize("when", ["after", "under_way"])
def test_attributes_of_types_are_called_as_by_the_host(host, when, tmp_path):
    for who in "alone", "ours":
        well(run(host, 2, "type_lifetimes", "attributes", tmp_path / who,
                 when, straightway=who == "ours", env=on()))
    for rank in range(2):
        alone = (tmp_path / f"alone.{rank}").read_text()
        assert "delete of first's other value" in alone
        assert (tmp_path / f"ours.{rank}").read_text() == alone


@pytest.mark.parametrize("cycles", [
    100000, pytest.param(1000000, marks=DEEP)])
@pytest.mark.unable("debian-mpich",
                    why="MPICH 4.0 alone loses 64 bytes a cycle at times")
def test_types_leave_no_memory_behind(host, cycles):
    well(run(host, 2, "type_lifetimes", "cycles", cycles, env=on(),
             timeout=600))


def test_a_senders_layout_crosses_once(host):
    """Of fifty messages of one type, each way: each receiver brings the
    sender's layout once. Of some messages the sender looks up the receiver's,
    to help. All buffers are shown: else it hangs on where the heap puts
    them."""
    done = well(run(host, 2, "type_lifetimes", "again", 50, env=on(
        STRAIGHTWAY_STATS=1, STRAIGHTWAY_SHOW_AFTER=0)))
    counts = re.search(r"known (\d+) times, brought (\d+) times", done.stderr)
    assert counts, done.stderr
    assert int(counts[2]) == 2
    assert 98 <= int(counts[1]) <= 198
