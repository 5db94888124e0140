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
