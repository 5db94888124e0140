"""Buffers in a device's memory: nothing of ours touches them, whichever rank
passes them, and the right data arrive.

The test needs no device. A stand-in for a driver answers for pages without
access, and device_memory.h makes the host serve them."""

import re

import pytest
from harness import gpus, spread
from harness.programs import accelerated, run, well

SMALL = {"STRAIGHTWAY_P2P": "on", "STRAIGHTWAY_P2P_MIN": 512}


@pytest.fixture(scope="session")
def driver(_scratch):
    return gpus.driver(_scratch)


def test_messages_from_and_to_a_device(host, driver):
    done = well(run(host, 2, "device", driver, "messages",
                    env={**SMALL, "STRAIGHTWAY_AGENT": 1}))
    assert "messages moved" in done.stderr


def test_threads_with_a_device(host, driver):
    well(run(host, 2, "device", driver, "threads", env=SMALL))


def test_members_differ_in_the_kind_of_their_buffers(host, driver):
    done = well(run(host, 2, "device", driver, "collectives", env=SMALL))
    ours, calls = accelerated(done)
    assert ours > calls // 2


LEFT = "buffers in the memory of a device"


@pytest.mark.parametrize("gpu", [{}, {"STRAIGHTWAY_GPU": "on",
                                      "STRAIGHTWAY_GPU_AWARE": "on"}])
def test_a_communicator_that_uses_a_device_is_the_hosts(host, driver, gpu):
    """With --gpu, too, where the host knows devices: the data have no gaps."""
    done = well(run(host, 2, "device", driver, "leaving",
                    env={**SMALL, **gpu}))
    assert LEFT in done.stderr


def test_it_stays_ours_where_the_host_knows_no_devices(host, driver, gpu):
    done = well(run(host, 2, "device", driver, "leaving",
                    env={**SMALL, **gpu, "DEVICE_STRICT": "1"}))
    assert LEFT not in done.stderr
    ours, calls = accelerated(done)
    assert ours == calls > 300


def test_it_stays_ours_where_the_data_have_gaps(host, driver, gpu):
    """Kernels of ours move these faster than any host."""
    done = well(run(host, 2, "device", driver, "gaps", env={
        **SMALL, **gpu, "STRAIGHTWAY_GPU_AWARE": "on", "DEVICE_STRICT": "1"}))
    assert LEFT not in done.stderr


def test_members_differ_and_the_host_knows_no_devices(host, driver, gpu):
    well(run(host, 2, "device", driver, "collectives",
             env={**SMALL, **gpu, "DEVICE_STRICT": "1"}))


# A wrong driver, or a poor one. A short run takes every fourth.
TROUBLES = {
    "no launches": {"STANDIN_REFUSE": "cuLaunchKernel"},
    "no kernels": {"STRAIGHTWAY_GPU_KERNELS": "/nowhere"},
    "later no launches": {"STANDIN_REFUSE": "cuLaunchKernel:40"},
    "no openings": {"STANDIN_REFUSE": "cuIpcOpenMemHandle"},
    "some openings": {"STANDIN_REFUSE": "cuIpcOpenMemHandle:=3"},
    "single ones": {"STANDIN_REFUSE": "cuMemcpyDtoHAsync:=20,"
                    "cuMemcpyHtoDAsync:=31,cuStreamQuery:=200,"
                    "cuLaunchKernel:=9,cuCtxPushCurrent:=50"},
    "no handles": {"STANDIN_REFUSE": "cuIpcGetMemHandle:2"},
    "slow": {"STANDIN_DELAY": "200"},
    "addresses come again": {"STANDIN_REUSE": "1"},
}


# Its MPI_Reduce_local, by which random_collectives finds what can be reduced.
no_reduce_local = pytest.mark.unable(
    "debian-mpich", why="MPICH 4.0.2 ends in MPI_Reduce_local, alone too")


def random_calls(host, driver, gpu, n, seed, calls, *options, env=None):
    done = well(run(host, n, "random_collectives", seed, calls, "--meet",
                    "--device", driver, *options, env={**gpu, **(env or {})},
                    timeout=240), "calls right")
    assert LEFT not in done.stderr
    words = done.stdout[done.stdout.index("launches"):].split()
    return int(words[1].rstrip(",")), int(words[3])


@no_reduce_local
@pytest.mark.parametrize("n, form", [(2, "blocking"), (3, "blocking"),
                                     (2, "mixed"), (3, "mixed")])
def test_random_collectives_with_a_device(host, driver, gpu, n, form):
    """More than 16 of them on a communicator, some members with ordinary
    memory."""
    launches, _ = random_calls(host, driver, gpu, n, 60 + n,
                               60 if "mpich" in host.name and n > 2 else 250,
                               "--form", form)
    assert launches


@no_reduce_local
def test_what_the_host_serves_over_nodes(host, driver, gpu):
    """The host gets copies of what lies in a device."""
    random_calls(host, driver, gpu, 4, 64, 40, "--form", "blocking",
                 env={"STRAIGHTWAY_NODE_SIZE": 2, "STRAIGHTWAY_SPANS": "off"})
    random_calls(host, driver, gpu, 4, 65, 40, "--form", "blocking",
                 env={"STRAIGHTWAY_NODE_SIZE": 2})


def test_neighbours_with_a_device(host, driver, gpu):
    well(run(host, 3, "gpu_neighbours", driver, 8, env=gpu))


@no_reduce_local
@pytest.mark.parametrize("n", [2, pytest.param(3, marks=pytest.mark.deep)])
def test_large_blocks_go_from_device_to_device(host, driver, gpu, n):
    _, openings = random_calls(host, driver, gpu, n, 70 + n,
                               60 if "mpich" in host.name and n > 2 else 100,
                               "--large", "--max", 1 << 20)
    assert openings


@no_reduce_local
@pytest.mark.parametrize("trouble", spread.some(TROUBLES, 4))
def test_trouble_with_the_driver_costs_no_bytes(host, driver, gpu, trouble):
    random_calls(host, driver, gpu, 2, 80, 60, "--large", "--max", 400000,
                 env=TROUBLES[trouble])


@pytest.fixture
def gpu(kernels):
    return {"STRAIGHTWAY_GPU": "on", "STRAIGHTWAY_GPU_AWARE": "off",
            "STRAIGHTWAY_GPU_KERNELS": str(kernels)}


@pytest.fixture
def kernels(tmp_path):
    return gpus.kernels(tmp_path)


def folded(host, driver, gpu, n, mode, calls, **env):
    """Launches: of kernels that reduce, as nothing else is launched."""
    done = well(run(host, n, "gpu_folds", driver, mode, calls,
                    env={**gpu, **env}))
    assert LEFT not in done.stderr
    return int(re.search(r"launches (\d+)", done.stdout)[1])


@pytest.mark.parametrize("n, mode", [(2, "all"), (3, "all"), (3, "some"),
                                     (2, "again")])
def test_reductions_by_kernels_have_the_same_bits(host, driver, gpu, n, mode):
    env = {"STANDIN_REUSE": "1"} if mode == "again" else {}
    assert folded(host, driver, gpu, n, mode, 70, **env)


def test_reductions_by_kernels_between_two_gpus(host, driver, gpu):
    """Most calls are long enough, and go so: one launch combines, another
    copies."""
    assert folded(host, driver, gpu, 2, "all", 70, STANDIN_DEVICES=2) > 40


@no_reduce_local
def test_local_reductions_of_a_gpu(host, driver, gpu):
    assert folded(host, driver, gpu, 1, "local", 60)


@pytest.mark.parametrize("trouble", [
    pytest.param(trouble, marks=[pytest.mark.deep] if i % 3 != 1 else [])
    for i, trouble in enumerate(TROUBLES)])
def test_trouble_with_the_driver_costs_no_reduction(host, driver, gpu, trouble):
    folded(host, driver, gpu, 2, "all", 60, **TROUBLES[trouble])


@pytest.mark.parametrize("ranks", [2, 3])
def test_our_kernels_serve_where_the_host_knows_no_devices(host, driver,
                                                           gpu, ranks):
    done = well(run(host, ranks, "gpu", driver, env={**SMALL, **gpu}))
    assert "messages moved" in done.stderr


def sent(host, driver, kernels, mode, ranks=2, **env):
    return run(host, ranks, "gpu_messages", driver, mode, env={
        **SMALL, "STRAIGHTWAY_GPU": "on", "STRAIGHTWAY_AGENT": 1,
        "STRAIGHTWAY_GPU_KERNELS": str(kernels), **env})


def counted(done):
    """(moved straight, copies) of the messages with buffers in a GPU."""
    found = re.search(r"buffers in a GPU: (\d+) moved straight from buffer to "
                      r"buffer, (\d+) copies", done.stderr)
    return tuple(map(int, found.groups())) if found else (0, 0)


@pytest.mark.parametrize("mode", spread.some(["random", "early", "half"], 3))
def test_random_messages_of_a_gpu(host, driver, kernels, mode):
    done = well(sent(host, driver, kernels, mode, ranks=3))
    straight, copies = counted(done)
    assert straight > 50 and copies > 0


@pytest.mark.deep
def test_messages_of_a_gpu_beside_other_nodes(host, driver, kernels):
    done = well(sent(host, driver, kernels, "nodes", ranks=4,
                    STRAIGHTWAY_NODE_SIZE=2))
    assert counted(done)[0] > 50


def test_messages_of_a_gpu_in_two_threads(host, driver, kernels):
    well(sent(host, driver, kernels, "threads", TEST_THREADS=1))


def test_a_message_of_a_gpu_is_one_launch(host, driver, kernels):
    done = well(sent(host, driver, kernels, "steady"))
    assert counted(done)[0] >= 70


def test_memory_of_a_gpu_is_freed_and_made_again(host, driver, kernels):
    done = well(sent(host, driver, kernels, "reuse", STANDIN_REUSE=1))
    assert counted(done)[0] >= 60


def test_a_late_receiver_gets_what_was_packed_aside(host, driver, kernels):
    done = well(sent(host, driver, kernels, "unready"))
    assert counted(done)[1] > 0


def test_a_helper_receives_from_a_gpu_without_its_driver(host, driver,
                                                         kernels):
    done = well(sent(host, driver, kernels, "away", STRAIGHTWAY_PATIENCE="off"))
    straight, copies = counted(done)
    assert straight < 3 and copies > 6


def test_a_helper_packs_nothing_in_a_gpu(host, driver, kernels):
    done = well(sent(host, driver, kernels, "late", STRAIGHTWAY_PATIENCE="off"))
    straight, copies = counted(done)
    assert straight >= 4 and copies < 3


@pytest.mark.parametrize("mode", ["packs", "others"])
def test_other_calls_with_memory_of_a_gpu(host, driver, kernels, mode):
    well(sent(host, driver, kernels, mode))


@pytest.mark.parametrize("refused", spread.some([
    "cuIpcOpenMemHandle:5", "cuIpcGetMemHandle", "cuIpcGetMemHandle:2"], 3))
def test_messages_of_a_gpu_whose_memory_no_peer_opens(host, driver, kernels,
                                                      refused):
    done = well(sent(host, driver, kernels, "random", STANDIN_REFUSE=refused))
    assert counted(done)[1] > 50


@pytest.mark.parametrize("refused", spread.some([
    "cuLaunchKernel:20", "cuLaunchKernel:=9", "cuStreamQuery:30",
    "cuPointerGetAttributes:=200", "cuMemHostAlloc"], 3))
def test_the_host_serves_messages_that_the_driver_refuses(
        host, driver, kernels, refused):
    well(sent(host, driver, kernels, "served", STANDIN_REFUSE=refused))


def test_a_rank_ends_while_a_gpu_moves_its_message(host, driver, kernels):
    done = sent(host, driver, kernels, "killed", STANDIN_DELAY=20000)
    assert done.returncode != 0
    assert "all is well" not in done.stdout


@pytest.mark.deep
def test_messages_of_a_gpu_without_our_kernels(host, driver):
    """Beside a driver at the start messages are the host's."""
    done = well(run(host, 2, "gpu_messages", driver, "served",
                    env={**SMALL, "STRAIGHTWAY_AGENT": 1}))
    assert counted(done) == (0, 0)
