"""bench onesided: each operation is measured in windows of both kinds, and
checked; a wrong result is found."""

import json

import pytest
from harness import schemas
from harness.programs import bench
from straightway.bench import onesided
from straightway.commands.bench import onesided as onesided_command


def test_every_operation_is_measured_both_ways(host, tmp_path):
    out = tmp_path / "o.json"
    done = bench(host, "onesided", "--sizes", "8,64k", "--json", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    found = json.loads(out.read_text())
    assert found["schema"] == "straightway-bench-onesided/1"
    schemas.check("bench", found, "cells")
    assert found["switchable"] and found["ranks"] >= 2
    cells = [(cell["operation"], cell["size"]) for cell in found["cells"]]
    assert cells == [*((op, size) for op in onesided.SIZED
                       for size in (8, 65536)),
                     ("count", 8), ("lock", 8), ("fence", 0),
                     ("fetch_and_op", 8)]
    assert all(cell[mode]["right"] and cell["ratio"]
               for cell in found["cells"] for mode in ("host", "ours"))


@pytest.mark.parametrize("memory", onesided_command.MEMORY[1:])
def test_windows_of_all_kinds_are_measured(one_host, memory, tmp_path):
    out = tmp_path / "o.json"
    done = bench(one_host, "onesided", "--sizes", "64", "--memory", memory,
                 "--json", out)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())
    assert found["windows"] == memory
    assert all(cell["ours"]["right"] for cell in found["cells"])


def test_a_wrong_result_is_found(one_host):
    done = bench(one_host, "onesided", "--ops", "put,fetch*", "--sizes", "64",
                 "--corrupt")
    assert done.returncode == 1
    assert "WRONG RESULT: put at 64 bytes with Straightway" in done.stderr
    assert "WRONG RESULT: fetch_and_op" in done.stderr
