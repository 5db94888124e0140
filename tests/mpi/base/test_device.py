"""Buffers in a device's memory: nothing of ours touches them, whichever rank
passes them, and the right data arrive.

The test needs no device. A stand-in for a driver answers for pages without
access, and device_memory.h makes the host serve them."""

import os
import subprocess

import pytest
from harness.hosts import ROOT, TESTS
from harness.programs import accelerated, run, well

STANDIN = TESTS / "device" / "standin" / "cuda"
SMALL = {"STRAIGHTWAY_P2P": "on", "STRAIGHTWAY_P2P_MIN": 512}


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    library = tmp_path_factory.mktemp("driver") / "libcuda.so.1"
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu17", "-D_GNU_SOURCE",
                    "-O1", "-g", "-shared", "-fPIC", "-fvisibility=hidden",
                    "-Wl,-z,nodelete", f"-I{ROOT / 'src'}", "-o", library,
                    *sorted(STANDIN.glob("*.c")), "-lpthread", "-ldl"],
                   check=True)
    return library


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


# A wrong driver, or a poor one.
TROUBLES = {
    "no kernels": {"STRAIGHTWAY_GPU_KERNELS": "/nowhere"},
    "no launches": {"STANDIN_REFUSE": "cuLaunchKernel"},
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
    """More than 150 of them on a communicator, some members with ordinary
    memory."""
    launches, _ = random_calls(host, driver, gpu, n, 60 + n,
                               100 if "mpich" in host.name and n > 2 else 700,
                               "--form", form)
    assert launches


def test_neighbours_with_a_device(host, driver, gpu):
    well(run(host, 3, "gpu_neighbours", driver, 8, env=gpu))


@no_reduce_local
@pytest.mark.parametrize("n", [2, 3])
def test_large_blocks_go_from_device_to_device(host, driver, gpu, n):
    _, openings = random_calls(host, driver, gpu, n, 70 + n,
                               60 if "mpich" in host.name and n > 2 else 250,
                               "--large", "--max", 1 << 20)
    assert openings


@no_reduce_local
@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_with_the_driver_costs_no_bytes(host, driver, gpu, trouble):
    random_calls(host, driver, gpu, 2, 80, 150, "--large", "--max", 400000,
                 env=TROUBLES[trouble])


@pytest.fixture
def gpu(kernels):
    return {"STRAIGHTWAY_GPU": "on", "STRAIGHTWAY_GPU_AWARE": "off",
            "STRAIGHTWAY_GPU_KERNELS": str(kernels)}


@pytest.fixture
def kernels(tmp_path):
    """A file of kernels for the stand-in, which needs their names alone."""
    shapes = ["ROW", "PLANE", "BOX", "LIST", "RUNS"]
    names = [f"sw_move_{width}_{source}_{target}_{unit}"
             for width, some in (("narrow", shapes), ("wide", shapes[2:]))
             for source in some for target in some
             for unit in (1, 2, 4, 8, 16, 32)]
    (tmp_path / "move.ptx").write_text(".version 7.0\n" + "".join(
        f".visible .entry {name}()\n{{\n}}\n" for name in names))
    return tmp_path


@pytest.mark.parametrize("ranks", [2, 3])
def test_our_kernels_serve_where_the_host_knows_no_devices(host, driver,
                                                           gpu, ranks):
    done = well(run(host, ranks, "gpu", driver, env={**SMALL, **gpu}))
    assert "messages moved" in done.stderr
