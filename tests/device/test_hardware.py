"""The scripts for a machine with a GPU and many cores, rehearsed without
one."""
import json
import os
import re
import shutil
import subprocess

import pytest
from harness import gpus
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


# The MPI programs ---------------------------------------------------------

@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """What the part `mpi` takes of a machine with a GPU. The programs cannot
    tell the stand-in from CUDA's driver."""
    folder = tmp_path_factory.mktemp("machine")
    return {"LIBCUDA": str(gpus.true_driver(folder)),
            "GPU_KERNELS": str(gpus.kernels(folder))}


# The limits of a run and of all, on a busy machine.
PATIENT = {"MPI_EACH": "120", "MPI": "360"}


def mpi_lines(folder):
    """(runs, summaries) of mpi.txt: runs by (MPI, ranks, name)."""
    runs, said = {}, {}
    for line in (folder / "mpi.txt").read_text().splitlines()[1:]:
        found = re.match(r"(\S+) +(\d) +(.+?) +(well|WRONG|LATE|UNUSED|"
                         r"left-out) +\S+ +(\S+) +(\S+) +(\S+) +(\S+)$",
                         line)
        if found:
            host, ranks, name, *rest = found.groups()
            runs[host, int(ranks), name] = rest
        elif line.startswith("mpi: "):
            said[line.split(":")[1].strip()] = line
    return runs, said


def mpis_of_the_script():
    there = [name for name in ("openmpi", "mpich", "impi")
             if (ROOT / ".hosts" / name / "ready").exists()]
    if not there:
        pytest.skip("make hosts installs the MPIs of the script")
    return there


def test_the_mpi_programs_run_as_on_a_gpu(tmp_path, machine):
    hosts = mpis_of_the_script()[:2]
    done = run("on_hardware.sh", tmp_path, "mpi", **machine, MPI_RANKS="2",
               MPI_PLACES=" ".join(hosts), MPI_LANES="2",
               MPI_WANTED="gpu steady unready", **PATIENT)
    runs, said = mpi_lines(tmp_path)
    assert len(runs) == 4 * len(hosts), done.stdout + done.stderr
    assert {verdict for verdict, *_ in runs.values()} == {"well"}, done.stdout
    # One launch a message, here counted by --stats: 35 of each of two types.
    for host in hosts:
        assert int(runs[host, 2, "gpu_messages steady"][1]) >= 70
        assert int(runs[host, 2, "gpu"][1]) > 10
    assert "0 wrong, 0 late" in said["gpu_messages"] in done.stdout
    assert (tmp_path / "mpi.tar.gz").stat().st_size


def test_a_failed_run_stops_no_other(tmp_path, machine):
    """The driver refuses its copies. What a run has said is kept."""
    host = mpis_of_the_script()[0]
    done = run("hardware/mpi.sh", tmp_path, 300, **machine, **PATIENT,
               MPI_RANKS="2", MPI_PLACES=host, MPI_WANTED="gpu killed",
               STANDIN_REFUSE="cuMemcpyDtoH:2")
    runs, _ = mpi_lines(tmp_path)
    assert [found[0] for found in runs.values()] == ["WRONG", "WRONG", "well"]
    assert "WRONG" in done.stdout
    assert "cuMemcpyDtoH: error" in (tmp_path / f"mpi/{host}-2-gpu.txt") \
        .read_text()


def test_a_run_that_hangs_ends(tmp_path, machine):
    host = mpis_of_the_script()[0]
    run("hardware/mpi.sh", tmp_path, 300, **machine, MPI_RANKS="2",
        MPI_PLACES=host, MPI_WANTED="unready", MPI_EACH="5",
        STANDIN_DELAY="100000000")
    runs, _ = mpi_lines(tmp_path)
    assert [found[0] for found in runs.values()] == ["LATE"]


def test_no_run_begins_without_time(tmp_path, machine):
    host = mpis_of_the_script()[0]
    run("hardware/mpi.sh", tmp_path, 6, **machine, MPI_RANKS="2 3 4",
        MPI_PLACES=host)
    runs, said = mpi_lines(tmp_path)
    assert {found[0] for found in runs.values()} == {"left-out"}
    assert len(runs) > 20 and "9 left out" not in said["gpu_messages"]


@pytest.mark.deep
def test_all_mpi_programs_run_as_on_a_gpu(tmp_path, machine):
    hosts = mpis_of_the_script()
    done = run("hardware/mpi.sh", tmp_path, 380, **machine, MPI_LANES="1",
               MPI_PLACES=" ".join(hosts))
    runs, _ = mpi_lines(tmp_path)
    bad = {which: found for which, found in runs.items()
           if found[0] not in ("well", "left-out")}
    assert not bad, done.stdout
    assert sum(found[0] == "well" for found in runs.values()) > 20


@pytest.mark.deep
def test_the_tables_have_host_and_ours(tmp_path):
    if not shutil.which("lscpu") or not (ROOT / ".hosts/mpich/ready").exists():
        pytest.skip("make hosts installs the MPIs of the tables")
    done = run("tables.sh", tmp_path, 30, RANKS="2", BRIEF="0.01",
               WANTED="messages")
    assert "messages-mpich-2: status 0" in done.stdout, done.stdout
    found = json.loads((tmp_path / "messages-mpich-2.json").read_text())
    assert all(cell["ratio"] > 0 for cell in found["cells"])
