"""bench overlap: all forms, right figures, wrong results found, clear errors.

Nothing is timed: what is tested is that each form runs, is checked and is
reported, and what the times add up to.
"""

import json
import xml.etree.ElementTree as xml

import pytest
from harness import jobs, patience, schemas
from harness.hosts import COMMAND
from harness.programs import SWITCH, bench
from straightway import cli
from straightway.bench import collectives, overlap
from straightway.reporters import output, overlap_svg, overlap_terminal

# The host carries the nonblocking sum out at once, and the request is that of
# a barrier.
SPOILS = SWITCH + r"""
int MPI_Iallreduce(const void *in, void *out, int n, HANDLE type, HANDLE op,
                   HANDLE comm, void *request)
{
    int (*sum)(const void *, void *, int, HANDLE, HANDLE, HANDLE) =
        dlsym(RTLD_DEFAULT, "PMPI_Allreduce");
    int (*barrier)(HANDLE, void *) = dlsym(RTLD_DEFAULT, "PMPI_Ibarrier");
    int error = sum(in, out, n, type, op, comm);
    if (state && n > 3)
        ((double *)out)[n - 1] += 1;
    return error | barrier(comm, request);
}
"""
UNSERVED = "int straightway_accelerate(int on) { return -1; }\n"
BESIDE_COMPUTING = ["plain_0", "plain_0.5", "plain_1", "plain_2",
                    "tested_0.5", "tested_1", "tested_2", "late_0",
                    "late_0.5", "late_1", "late_2", "held_2"]


def run(host, *arguments, **options):
    return bench(host, "overlap", "-n", 2, *arguments, **options)


def library(host, folder, text):
    source = folder / "lib.c"
    source.write_text(text)
    handle = "int" if host.flavour == "mpich" else "void *"
    patience.run(["cc", "-shared", "-fPIC", f"-DHANDLE={handle}", source,
                  "-o", folder / "lib.so"], check=True, timeout=60)
    return folder / "lib.so"


def sound(time):
    assert time["right"] and len(time["samples"]) >= 5
    assert 0 <= time["min"] <= time["low"] <= time["median"] <= time["high"]


def test_every_form_of_every_collective_is_measured(host, tmp_path):
    out, plot = tmp_path / "o.json", tmp_path / "o.svg"
    done = run(host, "--sizes", "4k", "--tests", 3, "--json", out, "--svg",
               plot, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    for words in ("immediate, µs", "overlap %, host", "skew hidden %, ours"):
        assert words in done.stdout

    found = json.loads(out.read_text())
    assert found["schema"] == "straightway-bench-overlap/1"
    schemas.check("bench", found, "cells")
    assert found["switchable"] and found["ranks"] == 2 and found["tests"] == 3
    assert [(c["operation"], c["size"]) for c in found["cells"]] == [
        (op, 0 if op == "barrier" else 4096)
        for op in collectives.OPERATIONS]
    for cell in found["cells"]:
        assert cell["late_rank"] == int(
            cell["operation"] not in ("gather", "gatherv", "reduce"))
        for mode in ("host", "ours"):
            one = cell[mode]
            for form in ("blocking", "immediate", "apart", "pure",
                         "computing"):
                sound(one[form])
            assert bool(one["persistent"]) == found["persistent"]
            for way in ("plain", "tested"):
                assert list(one[way]) == ["0.5", "1", "2"]
                for each in one[way].values():
                    sound(each["time"])
                    assert each["overlap"]["median"] >= 0
                    assert 0 < each["gain"]["low"] <= each["gain"]["median"]
            assert list(one["late"]) == ["0", "0.5", "1", "2"]
            for each in one["late"].values():
                sound(each["wait"])
                assert each["hidden"]["median"] <= 1
            sound(one["held"]["time"])

    picture = xml.fromstring(plot.read_text())
    titles = [e.text for e in picture.iter() if e.get("class") == "name"]
    assert titles == [title for op in collectives.OPERATIONS
                      for title in (op, "overlap", "skew hidden")]


@pytest.mark.unable("debian-openmpi",
                    why="Open MPI 4.1 has no persistent collectives")
def test_persistent_collectives_are_measured(host):
    done = run(host, "--ops", "allreduce", "--sizes", 8, "--json", "-")
    assert done.returncode == 0, done.stderr
    (cell,) = json.loads(done.stdout)["cells"]
    sound(cell["host"]["persistent"])
    sound(cell["ours"]["persistent"])


def test_a_wrong_result_is_found_in_each_form(host, tmp_path):
    done = run(host, "--ops", "allreduce,bcast", "--sizes", "8,64",
               library=library(host, tmp_path, SPOILS))
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if "WRONG" in line]
    assert "allreduce at 64 bytes with Straightway" in line
    forms = line.rpartition(": ")[2].split(", ")
    assert sorted(forms) == sorted([*BESIDE_COMPUTING, "immediate"])
    assert "WRONG" in done.stdout


def test_the_host_alone_is_said_to_be(host, tmp_path):
    done = run(host, "--ops", "barrier",
               library=library(host, tmp_path, UNSERVED))
    assert done.returncode == 1
    assert "the run measured only" in done.stderr
    assert "overlap %, host" in done.stdout
    assert "overlap %, ours" not in done.stdout


@pytest.mark.deep
def test_more_ranks_than_cores_on_two_nodes(one_host):
    env = one_host.environment({"STRAIGHTWAY_NODE_SIZE": 2})
    done = jobs.run(
        [COMMAND, "bench", "overlap", "--mpi", one_host.library, "-n", "4",
         "--ops", "reduce,alltoallv", "--sizes", "1k", "--seconds", "0.002",
         "--json", "-"], env, 240)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["nodes"] == [0, 0, 1, 1]
    assert [c["late_rank"] for c in found["cells"]] == [3, 0]


@pytest.mark.parametrize("arguments, words, status", [
    (["--ops", "alreduce"], "did you mean allreduce", 2),
    (["--ops", "allreduce,"], "unknown operation (none)", 2),
    (["--sizes", "8,12"], "multiple of 8", 2),
    (["--sizes", "many"], "many is no size", 2),
    (["--tests", "0"], "from 1 to 1000", 2),
    (["-n", "1"], "2 ranks or more", 2),
    (["-n", "2", "--launcher", "mpirun -n 2"], "omit -n", 2),
    (["-n", "4000", "--sizes", "1g"], "need", 1),
    (["--seconds", "0"], "more than 0", 2),
    (["--svg", "/nowhere/at/all.svg"], "there is no folder", 1),
    (["--mpi", "/nowhere"], "does not exist", 1),
])
def test_a_mistake_is_named_before_anything_runs(arguments, words, status,
                                                 capsys):
    try:
        ended = cli.main(["bench", "overlap", *arguments])
    except SystemExit as end:
        ended = end.code
    error = capsys.readouterr().err
    assert ended == status
    assert words in error and error.startswith("straightway: ")


# The arithmetic ---------------------------------------------------------

def line(persistent=True, **given):
    """A cell with a pure time of 100 and no overlap: all else adds up."""
    times = {"plain_0": 100, "computing": 100, "apart": 90, "blocking": 40,
             "immediate": 80, "persistent": 60,
             **{f"{way}_{name}": 100 + 100 * float(name)
                for way in ("plain", "tested") for name in overlap.FACTORS},
             **{f"late_{name}": 100 for name in ("0", *overlap.FACTORS)},
             "held_2": 300}
    found = {"cell": "allreduce", "size": 64, "late_rank": 1}
    for mode in ("host", "ours"):
        mine = dict(times, **(given if mode == "ours" else {}))
        if not persistent:
            del mine["persistent"]
        for form, time in mine.items():
            found.update({f"{mode}_{form}": [float(time)] * 6,
                          f"{mode}_{form}_calls": 1,
                          f"{mode}_{form}_right": True})
    return found


def test_shares_are_as_defined():
    cell = overlap.cell(line(**{
        "plain_0.5": 110, "plain_1": 250, "tested_2": 200, "late_1": 20,
        "late_2": 130, "immediate": 20, "computing": 90, "held_2": 145}))
    host, ours = cell["host"], cell["ours"]
    assert cell["ratios"] == {"blocking": 1, "immediate": 4, "persistent": 1}
    for name in overlap.FACTORS:
        assert host["plain"][name]["overlap"]["median"] == 0
        assert host["late"][name]["hidden"]["median"] == 0
    assert host["plain"]["1"]["gain"]["median"] == pytest.approx(190 / 200)
    # 1 - (110 - 45) / 100; 1 - (250 - 90) / 100 is less than none
    assert ours["plain"]["0.5"]["overlap"]["median"] == pytest.approx(.35)
    assert ours["plain"]["1"]["overlap"]["median"] == 0
    assert ours["plain"]["1"]["overlap"]["high"] == pytest.approx(-.6)
    assert ours["tested"]["2"]["overlap"]["median"] == pytest.approx(.8)
    assert ours["plain"]["1"]["gain"]["median"] == pytest.approx(180 / 250)
    assert ours["late"]["1"]["hidden"]["median"] == pytest.approx(.8)
    assert ours["late"]["2"]["hidden"]["median"] == pytest.approx(-.3)
    # (300 - 100) / 200; (145 - 100) / 180
    assert host["held"]["median"] == pytest.approx(1)
    assert ours["held"]["median"] == pytest.approx(.25)
    assert host["steady"] and ours["steady"]
    assert not overlap.cell(line(computing=130))["ours"]["steady"]


def test_bounds_hold_what_their_medians_allow():
    given = line()
    given["host_plain_1"] = [150.0, 160, 170, 180, 190, 200]
    given["host_plain_0"] = [90.0, 95, 100, 100, 105, 110]
    found = overlap.cell(given)["host"]["plain"]["1"]["overlap"]
    assert found["median"] == pytest.approx(.25)
    assert (found["low"], found["high"]) == pytest.approx(
        (1 - 100 / 90, 1 - 50 / 110))


def report(*lines):
    cells = [overlap.cell(one) for one in lines]
    return {"cells": cells, "ranks": 2, "switchable": True, "floors": {},
            "oversubscribed": False,
            "persistent": bool(cells[0]["host"]["persistent"]),
            "summary": overlap.summary(cells, collectives.OPERATIONS),
            "mpi": {"name": "A & B"},
            "machine": {"cpu": "<x>", "cores": 2, "kernel": "6",
                        "date": "2026-01-01"}}


def test_the_tables_show_every_share():
    text = output.text(overlap_terminal, report(
        line(plain_1=150, late_1=1200, tested_1=110, late_2=0)))
    rows = [one.split() for one in text.splitlines()
            if one.startswith("allreduce")]
    assert rows == [
        ["allreduce", "64", "40", "40", "80", "80", "1.00", "60", "60",
         "1.00"],
        ["allreduce", "64", "0", "0", "0", "0", "0.95",
         "0", "50", "0", "90", "1.27"],
        ["allreduce", "64", "0", "0", "0", "0", "0", "0", "<-999", "100"]]
    assert max(map(len, text.splitlines())) <= 80
    assert "did not keep steady" not in text
    assert "In 1 of 2 measurements" in output.text(
        overlap_terminal, report(line(computing=50)))


def test_an_mpi_without_persistent_collectives_has_no_column_for_them():
    text = output.text(overlap_terminal, report(line(persistent=False)))
    assert "no persistent collectives" in text and "persistent, µs" not in text
    assert "persistent, µs" in output.text(overlap_terminal, report(line()))


def test_the_figure_keeps_shares_within_its_frame():
    text = output.text(overlap_svg, report(
        line(late_1=900), dict(line(plain_1=50), size=4096)))
    picture = xml.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    lines = list(picture.iter(space + "polyline"))
    assert [e.get("class") for e in lines] == ["host", "ours"] * 3
    frame = next(e for e in picture.iter(space + "rect")
                 if e.get("class") == "frame")
    top = float(frame.get("y"))
    bottom = top + float(frame.get("height"))
    for one in lines:
        for point in one.get("points").split():
            assert top <= float(point.split(",")[1]) <= bottom
    assert "floor" not in [e.get("class") for e in picture.iter()]
