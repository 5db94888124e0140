"""bench pingpong --protocol: each column's messages went the column's way.

The library counts its messages by the way that they went, so nothing is timed.
A machine that is busy with other work may keep a rank from helping in time,
or make it late: then the cell has a dash.
"""

import json
import sys
import xml.etree.ElementTree as xml

import pytest
from harness import schemas
from harness.programs import bench
from straightway.bench import ladder
from straightway.reporters import ladder_svg, ladder_terminal, output

ALL = list(ladder.PROTOCOLS)
SPACE = "{http://www.w3.org/2000/svg}"


def measured(host, folder, *arguments, **options):
    """The completed process, and its report."""
    out = folder / "p.json"
    done = bench(host, "pingpong", *arguments, "--json", out, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done, json.loads(out.read_text())


def gone(cell):
    """The protocols by which any message of a cell went."""
    return {name for name, share in cell["went"].items() if share}


def test_every_protocol_goes_its_own_way(host, tmp_path):
    plot = tmp_path / "p.svg"
    for _ in range(3):          # a busy machine may hide joint copies
        done, found = measured(host, tmp_path, "--protocol", "all", "--sizes",
                               "64,8k,256k", "--svg", plot)
        if gone(found["cells"][-1]) == set(ALL):
            break
    assert found["schema"] == "straightway-bench-protocols/1"
    schemas.check("bench", found, "cells")
    assert found["plan"]["protocols"] == ALL
    small, middle, large = found["cells"]
    assert [c["size"] for c in found["cells"]] == [64, 8192, 262144]
    assert gone(small) == {"host"}
    assert gone(middle) == set(ALL) - {"joint"}
    assert gone(large) == set(ALL)
    for cell in found["cells"]:
        assert cell["host"]["right"] and cell["went"]["host"] == 1
        for name in ALL:
            went = cell["went"].get(name, 0)
            assert went <= 1
            assert bool(cell[name]) == (went >= ladder.ENOUGH)
            if cell[name]:
                assert cell[name]["right"]
                assert len(cell[name]["samples"]) >= 5
                assert cell[name]["bandwidth"] == pytest.approx(
                    cell["size"] / cell[name]["median"])
    assert all(name in done.stdout for name in ALL)
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "joint: no message of 64, 8k bytes goes so." in done.stdout
    assert "two-copy, cma, one-copy, give: no message of 64 bytes goes so." \
        in done.stdout
    picture = xml.fromstring(plot.read_text())
    lines = [e.get("class") for e in picture.iter(SPACE + "polyline")]
    assert lines.count("way-host") == 2


def test_without_cma_no_message_goes_by_it(one_host, tmp_path):
    _, found = measured(one_host, tmp_path, "--protocol", "cma,one-copy",
                        "--sizes", "16k", env={"STRAIGHTWAY_REFUSE": "cma"})
    (cell,) = found["cells"]
    assert cell["cma"] is None and gone(cell) <= {"one-copy"}


def test_a_flipped_byte_of_a_protocol_is_found(one_host):
    done = bench(one_host, "pingpong", "--protocol", "two-copy,give",
                 "--sizes", "9k", "--corrupt")
    assert done.returncode == 1
    for name in ("two-copy", "give"):
        assert (f"WRONG RESULT: pingpong at 9216 bytes with {name}: byte 4608"
                in done.stderr)


def timed(size, us):
    return dict(median=us, low=us, high=us, min=us, right=True,
                bandwidth=size / us)


def report(sizes, protocols=ALL):
    cells = []
    for n in sizes:
        one = {"operation": "pingpong", "size": n, "floor": 0.1 + n / 1e4,
               "memcpy": n / 1e4, "ratio": None,
               "went": dict.fromkeys(protocols, 1)}
        one.update({name: timed(n, 0.2 + n / (i + 1) / 1e3)
                    for i, name in enumerate(protocols)})
        cells.append(one)
    if "joint" in protocols:
        cells[0].update(joint=None, went=dict(cells[0]["went"], joint=.4))
    return {"cells": cells, "ranks": 2, "oversubscribed": False,
            "floors": {}, "mpi": {"name": "A & B"},
            "plan": {"patterns": ["pingpong"], "protocols": protocols},
            "machine": {"cpu": "<x>", "cores": 2, "kernel": "6",
                        "date": "2026-01-01"}}


@pytest.mark.parametrize("sizes", [(0,), (64,), (0, 1 << 22), (1, 64, 8192)])
@pytest.mark.parametrize("protocols", [ALL, ["give"]])
def test_any_set_of_sizes_can_be_drawn(sizes, protocols, capsys):
    one = report(sizes, protocols)
    ladder_terminal.render(one, sys.stdout)
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert ("(40%) bytes went so" in text) == ("joint" in protocols)
    picture = xml.fromstring(output.text(ladder_svg, one))
    names = [e.get("class") for e in picture.iter()]
    assert names.count("frame") == 2 * any(sizes)
    for name in protocols:      # in the legend, if nowhere else
        assert f"way-{name}" in names


def test_page_tables_carry_messages(host, tmp_path):
    """Each byte is checked, and either rank writes."""
    done, found = measured(host, tmp_path, "--pattern", "remap", "--sizes",
                           "9k,96k", "--seconds", "0.05")
    assert [c["operation"] for c in found["cells"]] == [
        pattern for pattern in ladder.REMAP[0] for _ in range(2)]
    for cell in found["cells"]:
        assert cell["remap"]["right"] and cell["went"]["remap"] == 1
        # Only some systems give huge pages to shared memory.
        assert cell["remap-huge"] is None or cell["remap-huge"]["right"]
    for pattern in ladder.REMAP[0]:
        assert ladder.PATTERNS[pattern] in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("arguments, why", [
    (["--pattern", "remap", "--svg", "x.svg"], "give one"),
    (["--pattern", "ring", "--protocol", "give"], "does not go by protocols"),
    (["--pattern", "remap", "--buffers", "stack"], "omit --buffers"),
    (["--protocol", "remop"], "did you mean remap?")])
def test_what_contradicts_protocols(one_host, arguments, why):
    done = bench(one_host, "pingpong", *arguments)
    assert done.returncode == 2
    assert why in done.stderr
