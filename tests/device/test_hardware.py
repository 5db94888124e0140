"""The scripts for a machine with a GPU and many cores, rehearsed without
one."""
import json
import os
import re
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


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory):
    """What the program for a GPU finds of the stand-in: stdout, the folder."""
    folder = tmp_path_factory.mktemp("rehearsal")
    done = run("hardware/gpu.sh", folder, "fake")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, folder


@pytest.mark.deep
def test_the_program_for_a_gpu_runs_on_the_stand_in(rehearsal):
    said, folder = rehearsal
    assert "check within a process:" in said
    assert re.search(r"check of reductions: \d+, 0 wrong, \d+ of 56", said)
    assert " 0 wrong" in said and "WRONG" not in said
    assert (folder / "report.json").stat().st_size > 1000


# Probes whose answers a stand-in can give: all but costs and times.
PROBES = ["pointers", "granularity", "reuse", "refused", "register", "ipc",
          "ipc-self", "killed", "ipc-events", "contexts", "fork"]


# Lines that no two drivers have alike: a handle's bytes, modules that were not
# there, an event that may have been reached meanwhile.
OWN = re.compile(r"[0-9a-f]{8} |no kernels|query it")


def answers(report, probe):
    """A probe's lines in a report, without addresses, ids and times."""
    found = re.findall(rf"^{probe}: (.*)$", report.read_text(), re.M)
    for pattern, name in [(r"0x[0-9a-f]{4,}", "ADDRESS"),
                          (r"\bid(=0x[0-9a-f]+| [1-9]\d*)", "ID"),
                          (r"[\d.]+ us", "TIME"),
                          (r"hash of handle \w+", "HASH")]:
        found = [re.sub(pattern, name, line) for line in found]
    return {line for line in found if not OWN.match(line)}


@pytest.mark.deep
@pytest.mark.parametrize("probe", PROBES)
def test_the_stand_in_answers_as_the_driver_did(rehearsal, probe):
    driver = answers(SCRIPTS / "hardware/h200.txt", probe)
    assert driver and answers(rehearsal[1] / "report.txt", probe) == driver


@pytest.mark.deep
def test_the_tables_have_host_and_ours(tmp_path):
    if not shutil.which("lscpu") or not (ROOT / ".hosts/mpich/ready").exists():
        pytest.skip("make hosts installs the MPIs of the tables")
    done = run("tables.sh", tmp_path, 30, RANKS="2", BRIEF="0.01",
               WANTED="messages")
    assert "messages-mpich-2: status 0" in done.stdout, done.stdout
    found = json.loads((tmp_path / "messages-mpich-2.json").read_text())
    assert all(cell["ratio"] > 0 for cell in found["cells"])
