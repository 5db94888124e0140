"""The scripts for a machine with a GPU and many cores, rehearsed without
one."""
import json
import os
import shutil
import subprocess

import pytest
from harness.hosts import ROOT

SCRIPTS = ROOT / "tests/device"


def run(script, *words, **env):
    return subprocess.run(
        ["bash", SCRIPTS / script, *map(str, words)], cwd=ROOT, timeout=400,
        capture_output=True, text=True, env={**os.environ, **env})


def test_a_part_that_is_not_there_is_named(tmp_path):
    done = run("on_hardware.sh", tmp_path, "tabels")
    assert "no part is called tabels" in done.stderr
    assert (tmp_path / "machine.txt").read_text()


@pytest.mark.deep
def test_the_program_for_a_gpu_runs_on_a_driver_of_its_own(tmp_path):
    done = run("hardware/gpu.sh", tmp_path, "fake")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "check within a process:" in done.stdout
    assert " 0 wrong" in done.stdout and "WRONG" not in done.stdout
    assert (tmp_path / "report.json").stat().st_size > 1000


@pytest.mark.deep
def test_the_tables_have_host_and_ours(tmp_path):
    if not shutil.which("lscpu") or not (ROOT / ".hosts/mpich/ready").exists():
        pytest.skip("make hosts installs the MPIs of the tables")
    done = run("tables.sh", tmp_path, 30, RANKS="2", BRIEF="0.01",
               WANTED="messages")
    assert "messages-mpich-2: status 0" in done.stdout, done.stdout
    found = json.loads((tmp_path / "messages-mpich-2.json").read_text())
    assert all(cell["ratio"] > 0 for cell in found["cells"])
