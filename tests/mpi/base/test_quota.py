"""Ranks that fit the cores, but not the processor time of their container, are
patient."""

import os
import pathlib
import subprocess

import pytest
from harness.programs import source

PATIENT = "ranks share cores: no call stays in the MPI library"
# What a container sees of its control group, by the version of these.
FILES = {
    "new": {"cpu.max": "{quota} 100000"},
    "old": {"cpu/cpu.cfs_quota_us": "{quota}",
            "cpu/cpu.cfs_period_us": "100000"}}
MOUNT = "mount --bind \"$1\" /sys/fs/cgroup && shift && exec \"$@\""


def can_mount():
    return subprocess.run(["unshare", "-m", "true"],
                          capture_output=True).returncode == 0


@pytest.mark.unable(lambda host: host.name != "debian-mpich",
                    why="the MPI yields by itself")
@pytest.mark.skipif(os.getuid() != 0 or not can_mount(),
                    reason="needs root and unshare")
@pytest.mark.parametrize("version", FILES)
@pytest.mark.parametrize("quota, patient", [(100000, True), (200000, False)])
def test_a_quota_counts_as_cores(host, version, quota, patient, tmp_path):
    groups = pathlib.Path("/proc/self/cgroup").read_text()
    if version == "new" and "0::/" not in groups:
        pytest.skip("the kernel has control groups of version 1")
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two ranks share one core here")
    for name, text in FILES[version].items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(quota=quota) + "\n")
    program = host.compile(source("callbacks_sleep.c"))
    done = host.run(2, ["unshare", "-m", "sh", "-c", MOUNT, "sh", tmp_path,
                        program],
                    env={"STRAIGHTWAY_VERBOSE": "on"})
    assert done.returncode == 0, done.stderr
    assert (PATIENT in done.stderr) == patient, done.stderr
