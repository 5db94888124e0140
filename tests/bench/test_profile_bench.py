"""bench profile: every variant takes its turns, what is not recorded is
found, clear errors.

Nothing is timed: what is tested is that each item runs, is checked and is
reported. What does not depend on the MPI is tested under one of them.
"""

import json
import pathlib
import re
import sys

import pytest
from harness import schemas
from harness.hosts import TESTS
from harness.programs import bench
from straightway import cli
from straightway.bench import medians as statistics
from straightway.bench import recording
from straightway.reporters import recording_terminal

TOOL = TESTS / "front" / "tool.c"
CELLS = [("comm_rank", 0), ("iprobe", 0), ("self_bcast", 8),
         ("self_allreduce", 8), ("self_exchange", 8), ("pingpong", 8),
         ("pingpong", 65536), ("allreduce", 8), ("allreduce", 65536),
         ("alltoall", 16384), ("barrier", 0), ("halo", 8192)]


def run(host, *arguments, **options):
    return bench(host, "profile", *arguments, **options)


def test_every_item_is_measured_in_each_variant(host, tmp_path):
    out = tmp_path / "p.json"
    done = run(host, "--rounds", 2, "--json", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    for word in [*recording.ITEMS.values(), "ns a call", "own_call_cost"]:
        assert word in done.stdout

    found = json.loads(out.read_text())
    assert found["schema"] == "straightway-bench-profile/1"
    schemas.check("bench", found, "cells")
    assert found["machine"]["cpu"] and found["mpi"]["version"]
    assert found["ranks"] == 2 and found["plan"]["tool"] is None
    variants = found["variants"]
    assert variants == list(found["commands"]) == [
        "host", "profile", "off", "trace"]
    assert min(found["floors"].values()) > 0
    assert [(c["operation"], c["size"]) for c in found["cells"]] == CELLS
    for cell in found["cells"]:
        for variant in variants:
            one = cell[variant]
            assert 0 < one["low"] <= one["median"] <= one["high"]
            assert len(one["runs"]) == 2
            for each in one["runs"]:
                assert len(each["samples"]) >= 5
                assert each["median"] == pytest.approx(
                    statistics.median(each["samples"]))
        assert "added" not in cell["host"]
        assert cell["trace"]["per_call"]["median"] == pytest.approx(
            cell["trace"]["added"]["median"] / cell["path"])


def test_the_variants_take_turns(one_host, tmp_path):
    out = tmp_path / "p.json"
    done = run(one_host, "--rounds", 3, "--items", "iprobe", "--seed", 3,
               "--json", out)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())
    rounds = [[turn["variant"] for turn in found["order"]
               if turn["round"] == number] for number in range(3)]
    assert [sorted(one) for one in rounds] == [sorted(found["variants"])] * 3
    assert len({tuple(one) for one in rounds}) > 1
    assert [turn["round"] for turn in found["order"]] == sorted(
        list(range(3)) * len(found["variants"]))


def test_another_tool_stands_beside(host, tmp_path):
    tool = host.compile(TOOL, "-shared", "-fPIC")
    out = tmp_path / "p.json"
    done = run(host, "--rounds", 1, "--items", "comm_rank,barrier,pingpong",
               "--tool", tool, "--json", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall("^ +tool ", done.stdout, re.M)) == 4
    found = json.loads(out.read_text())
    assert found["variants"] == list(recording.VARIANTS)
    for cell in found["cells"]:
        assert cell["tool"]["median"] > 0
    assert f"LD_PRELOAD={tool}" in found["commands"]["tool"]
    assert "libstraightway.so" not in found["commands"]["tool"]


def test_a_tool_is_in_the_program_alone(one_host, tmp_path):
    """What it leaves in the working directory goes, too."""
    source = tmp_path / "who.c"
    source.write_text("""
        #define _GNU_SOURCE
        #include <errno.h>
        #include <stdio.h>
        __attribute__((constructor)) static void begin(void)
        {
            FILE *left = fopen("left", "w");
            FILE *list = fopen(LIST, "a");
            fprintf(list, "%s\\n", program_invocation_short_name);
            fclose(list);
            fclose(left);
        }
        """)
    names = tmp_path / "names"
    tool = one_host.compile(source, "-shared", "-fPIC", f'-DLIST="{names}"')
    done = run(one_host, "--rounds", 1, "--items", "barrier", "--tool", tool)
    assert done.returncode == 0, done.stdout + done.stderr
    assert names.read_text().split() == ["straightway-bench"] * 2
    assert not pathlib.Path("left").exists()


def test_a_tool_that_breaks_the_program_is_named(one_host, tmp_path):
    source = tmp_path / "breaks.c"
    source.write_text("""
        #include <stdio.h>
        #include <stdlib.h>
        int MPI_Alltoall(void)
        {
            fputs("I refuse\\n", stderr);
            exit(7);
        }
        """)
    tool = one_host.compile(source, "-shared", "-fPIC")
    done = run(one_host, "--rounds", 1, "--items", "barrier,alltoall",
               "--tool", tool)
    assert done.returncode == 1
    assert "the run with breaks ended with status" in done.stderr
    assert "I refuse" in done.stderr and "straightway-bench" in done.stderr


def test_what_the_system_does_not_preload_is_no_tool(one_host):
    done = run(one_host, "--rounds", 1, "--items", "barrier", "--tool",
               "/bin/sh")
    assert done.returncode == 1
    assert "the system does not preload it" in done.stderr


def test_a_wrong_result_is_found(one_host):
    done = run(one_host, "--rounds", 1, "--corrupt")
    assert done.returncode == 1
    assert done.stderr.count("(--corrupt spoilt it)") == 8
    for operation, size in CELLS:
        if size and operation != "self_bcast":
            assert f"WRONG RESULT: {operation} at {size} bytes with " \
                in done.stderr


def test_a_library_that_records_nothing_is_found(one_host, tmp_path):
    source = tmp_path / "lib.c"
    source.write_text("int nothing;\n")
    library = one_host.compile(source, "-shared", "-fPIC")
    done = run(one_host, "--rounds", 1, "--items", "barrier",
               library=library)
    assert done.returncode == 1
    assert "Straightway recorded nothing under this MPI" in done.stderr


def test_a_trace_that_is_cut_short_is_no_trace(one_host, monkeypatch):
    def limited(host, *arguments):
        environment = host.environment
        monkeypatch.setattr(host, "environment", lambda env=None: environment(
            dict(env or {}, STRAIGHTWAY_TRACE_LIMIT="4k")))
        return run(host, *arguments)
    done = limited(one_host, "--rounds", 1, "--items", "iprobe")
    assert done.returncode == 1
    assert "is not whole" in done.stderr
    assert "a larger STRAIGHTWAY_TRACE_LIMIT" in done.stderr


def test_three_ranks_on_any_number_of_cores(one_host):
    done = run(one_host, "-n", 3, "--rounds", 1)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("arguments, words", [
    (["--tool", "/nowhere/lib.so"], "does not exist; give a shared library"),
    (["--tool", __file__], "is no shared library"),
    (["--tool", "/"], "directory"),
    (["--items", "comm_rnk"], "did you mean comm_rank?"),
    (["--rounds", "0"], "give a number from 1"),
    (["--round", "3"], "did you mean --rounds?"),
    (["-n", "1"], "2 ranks or more"),
    (["--seconds", "0"], "more than 0"),
    (["--json", "/nowhere/at/all.json"], "there is no folder"),
    (["--mpi", "/nowhere"], "does not exist"),
])
def test_a_mistake_is_named_before_anything_runs(arguments, words, capsys):
    try:
        status = cli.main(["bench", "profile", *arguments])
    except SystemExit as end:
        status = end.code
    error = capsys.readouterr().err
    assert status in (1, 2)
    assert words in error and error.startswith("straightway: ")


# The arithmetic ---------------------------------------------------------

def line(*microseconds, cell="halo", size=8192, path=9):
    return {"cell": cell, "size": size, "path": path, "time_calls": 4,
            "time": list(microseconds)}


def test_quartiles():
    assert statistics.quartiles([5]) == dict(median=5, low=5, high=5)
    assert statistics.quartiles([4, 1, 2, 3, 5]) == dict(median=3, low=2,
                                                         high=4)
    assert statistics.quartiles([1, 2]) == dict(median=1.5, low=1.25,
                                                high=1.75)


def test_the_difference_is_that_within_a_round():
    """The machine grew slower from round to round; recording did not."""
    runs = {"host": [[line(9, 10, 11)], [line(20)], [line(30)]],
            "profile": [[line(10.9)], [line(20.9)], [line(30.9)]]}
    cell, = recording.cells(runs)
    assert cell["host"]["median"] == pytest.approx(20000)
    one = cell["profile"]
    assert one["added"]["low"] == pytest.approx(900)
    assert one["added"]["high"] == pytest.approx(900)
    assert one["per_call"]["median"] == pytest.approx(100)
    assert one["percent"] == pytest.approx(4.5)


@pytest.mark.parametrize("alone, ours", [(.002, 9000), (9e7, 1), (50, 50)])
def test_any_figures_fit_the_page(alone, ours, capsys):
    runs = {variant: [[line(time)], [line(3 * time)]] for variant, time in
            zip(recording.VARIANTS, (alone, *4 * [ours]))}
    recording_terminal.render({
        "cells": recording.cells(runs), "variants": recording.VARIANTS,
        "plan": {"rounds": 2, "tool": "/x/lib" + 50 * "long" + ".so"},
        "floors": {"clock_reads": 20.0, "own_call_cost": 40},
        "oversubscribed": True}, sys.stdout)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
