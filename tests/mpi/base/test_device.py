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


def test_a_communicator_that_uses_a_device_is_the_hosts(host, driver):
    done = well(run(host, 2, "device", driver, "leaving", env=SMALL))
    assert "buffers in the memory of a device" in done.stderr


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
                                                           kernels, ranks):
    done = well(run(host, ranks, "gpu", driver, env={
        **SMALL, "STRAIGHTWAY_GPU": "on",
        "STRAIGHTWAY_GPU_KERNELS": str(kernels)}))
    assert "messages moved" in done.stderr
