"""A profile has the calls whose buffers lie in a GPU's memory, and their
bytes, with Straightway and without. The GPU is the stand-in for CUDA's driver.
"""

import collections
import json

import pytest
from harness import gpus
from harness.programs import run, well
from straightway import profile
from straightway.reporters import profile_json
from straightway.whatif import runs


@pytest.fixture(scope="module")
def driver(_scratch):
    library = gpus.driver(_scratch)
    gpus.kernels(library.parent)
    return library


def noted(path):
    """{procedure: (calls, sent, received, pieces)} of a rank."""
    found = collections.defaultdict(lambda: (0, 0, 0, 0))
    for line in path.read_text().splitlines():
        name, *numbers = line.split()
        found[name] = tuple(map(sum, zip(found[name],
                                         (1, *map(int, numbers)))))
    return dict(found)


def recorded(p, rank):
    return {t.key[0].removesuffix("_c"): (
        t.device_calls, t.device_sent, t.device_received, t.device_pieces)
        for t in p.totals(("operation", "rank"))
        if t.key[1] == rank and t.device_calls}


# Where the MPI serves, the program lets its copies through.
OURS = {"STRAIGHTWAY_GPU": "on", "STRAIGHTWAY_GPU_AWARE": "off",
        "DEVICE_STRICT": "1"}


@pytest.mark.parametrize("enable", ["off", "on"])
def test_calls_with_memory_of_a_gpu(host, driver, enable, tmp_path):
    path = tmp_path / "a.swcap"
    well(run(host, 2, "profile_devices", driver, tmp_path, env={
        "STRAIGHTWAY_PROFILE": "on", "STRAIGHTWAY_PROFILE_OUTPUT": path,
        "STRAIGHTWAY_PROFILE_REPORT": "off", "STRAIGHTWAY_ENABLE": enable,
        "STRAIGHTWAY_GPU_KERNELS": driver.parent, "STRAIGHTWAY_P2P": "on",
        **(OURS if enable == "on" else {})}))
    p = profile.load(path)
    for rank in range(2):
        assert recorded(p, rank) == noted(tmp_path / f"devices.{rank}")
    rows = profile_json.report(p)["devices"]
    assert sum(row["sent_bytes"] for row in rows) == \
        p.communication.device_sent > 0
    assert json.dumps(rows)


def test_a_replay_of_a_trace_names_them(host, driver, tmp_path):
    path = tmp_path / "a.swcap"
    well(run(host, 2, "profile_devices", driver, tmp_path, env={
        "STRAIGHTWAY_TRACE": "on", "STRAIGHTWAY_PROFILE_OUTPUT": path,
        "STRAIGHTWAY_PROFILE": "on", "STRAIGHTWAY_PROFILE_REPORT": "off",
        "STRAIGHTWAY_ENABLE": "off"}))
    _, notes = runs.Runner(None, tmp_path).operations(path)
    assert sum("Data in the memory of GPUs: " in note and "MPI_Send" in note
               for note in notes) == 1


def test_arguments_that_mpi_ignores_are_not_looked_at(host, driver, tmp_path):
    well(run(host, 3, "ignored", env={
        "LD_PRELOAD": driver, "STRAIGHTWAY_PROFILE": "on",
        "STRAIGHTWAY_PROFILE_OUTPUT": tmp_path / "a.swcap",
        "STRAIGHTWAY_PROFILE_REPORT": "off", "STRAIGHTWAY_ENABLE": "off"}))


def test_no_call_has_any_without_a_driver(host, tmp_path):
    path = tmp_path / "a.swcap"
    well(run(host, 2, "seen", "parts" if host.flavour != "abi" else "gives", 0,
             env={"STRAIGHTWAY_PROFILE": "on",
                  "STRAIGHTWAY_PROFILE_OUTPUT": path,
                  "STRAIGHTWAY_PROFILE_REPORT": "off"}))
    assert "devices" not in profile_json.report(profile.load(path))
