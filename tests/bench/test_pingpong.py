"""bench pingpong: right figures, wrong bytes found, clear errors.

Nothing is timed: what is tested is that each pattern runs, is checked and is
reported. What does not depend on the MPI is tested under one of them.
"""

import json
import sys
import xml.etree.ElementTree as xml

import pytest
from harness import jobs, patience, schemas
from harness import nodes as test_nodes
from harness.hosts import COMMAND
from harness.programs import SWITCH, bench
from straightway import cli
from straightway.bench import messages, results
from straightway.commands.bench import choices, pingpong
from straightway.errors import UserError
from straightway.reporters import output, pingpong_svg, pingpong_terminal

SPOILS = SWITCH + r"""
int MPI_Recv(void *to, int n, HANDLE type, int from, int tag, HANDLE comm,
             void *status)
{
    int (*host)(void *, int, HANDLE, int, int, HANDLE, void *) =
        dlsym(RTLD_DEFAULT, "PMPI_Recv");
    int error = host(to, n, type, from, tag, comm, status);
    if (state && n > SPOIL_FROM)
        ((unsigned char *)to)[WHERE] += 1;
    return error;
}
"""
PAIRS = ["pingpong", "bidirectional", "stream", "window"]
OTHERS = ["ring", "random", "give", "read", "giveread", "write", "rewrite",
          "partitioned"]


def run(host, *arguments, **options):
    return bench(host, "pingpong", *arguments, **options)


def test_every_pattern_is_measured_in_both_modes(host, tmp_path):
    out, plot = tmp_path / "p.json", tmp_path / "p.svg"
    done = run(host, "--pattern", "all", "--window", 3, "--sizes", "0,20k",
               "--perturb", 3, "--json", out, "--svg", plot)
    assert done.returncode == 0, done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    others = OTHERS
    if host.name == "debian-openmpi":       # older than MPI 4.0
        others = OTHERS[:-1]
        assert "partitioned is left out" in done.stderr
    for word in [*PAIRS, *others, "ratio", "floor", "MB/s", "20477"]:
        assert word in done.stdout

    found = json.loads(out.read_text())
    assert found["schema"] == "straightway-bench-pingpong/1"
    schemas.check("bench", found, "cells")
    assert found["switchable"] and found["ranks"] == 2
    assert found["machine"]["cpu"] and found["mpi"]["version"]
    plan = found["plan"]
    sizes = [0, 3, 20477, 20480, 20483]
    assert plan["patterns"] == [*PAIRS, *others]
    assert (plan["sizes"], plan["window"]) == (sizes, 3)
    assert [(c["operation"], c["size"]) for c in found["cells"]] == [
        (p, n) for p in plan["patterns"] for n in sizes]
    for cell in found["cells"]:
        assert cell["floor"] >= cell["memcpy"] >= 0
        assert cell["floor"] > 0 and cell["ratio"] > 0
        for mode in ("host", "ours"):
            one = cell[mode]
            assert one["right"] and one["wrong"] is None
            assert len(one["samples"]) >= 5 and one["calls"] >= 1
            assert 0 < one["min"] <= one["low"] <= one["median"] \
                <= one["high"]
            assert one["bandwidth"] == pytest.approx(
                cell["size"] / one["median"]
                * messages.lanes(cell["operation"], 2))
    count = len(plan["patterns"])
    assert set(found["summary"]["peaks"]) == {*PAIRS, *others}

    space = "{http://www.w3.org/2000/svg}"
    picture = xml.fromstring(plot.read_text())
    assert picture.tag == space + "svg"
    classes = [e.get("class") for e in picture.iter()]
    # bandwidth and time, of each pattern; one size alone is no line
    for name in ("host", "ours"):
        assert sum(e.get("class") == name
                   for e in picture.iter(space + "polyline")) == count
    assert sum(e.get("class") == "floor"
               for e in picture.iter(space + "polygon")) == 2 * count
    assert classes.count("frame") == 2 * count
    # in each panel of bandwidth, and in the legend
    assert classes.count("peer") == (count + 1 if found["floors"]["peer_read"]
                                     else 0)


def test_four_ranks_are_two_pairs(one_host, tmp_path):
    out = tmp_path / "p.json"
    done = run(one_host, "-n", 4, "--pattern", "window,ring,random",
               "--window", 2, "--sizes", "8k", "--json", out)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())
    window, ring, _ = found["cells"]
    assert window["host"]["bandwidth"] == pytest.approx(
        2 * 8192 / window["host"]["median"])
    assert ring["ours"]["bandwidth"] == pytest.approx(
        4 * 8192 / ring["ours"]["median"])


def test_messages_after_computing(host, tmp_path):
    out = tmp_path / "p.json"
    done = run(host, "--pattern", "pingpong", "--sizes", "0,8,96k",
               "--computing", "64k", "--json", out)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())
    assert found["plan"]["computing"] == 65536
    assert [c["size"] for c in found["cells"]] == [0, 8, 98304]
    assert all(c["host"]["median"] > 0 for c in found["cells"])


@test_nodes.able
def test_messages_between_nodes(host, tmp_path):
    test_nodes.need()
    out = tmp_path / "p.json"
    words = " ".join(map(str, [host.mpirun, "-n", 2, *host.launcher_args]))
    done = jobs.run(
        [sys.executable, test_nodes.SCRIPT, "--mpirun", host.mpirun,
         "--plain", "-k", "2", "--", COMMAND, "bench", "pingpong", "--mpi",
         host.mpirun, "--launcher", words, "--pattern", "pingpong,stream",
         "--sizes", "0,8,96k", "--seconds", "0.01", "--json", out],
        host.environment(), 100, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text())
    assert found["nodes"] == [0, 1] and found["ranks"] == 2
    assert found["node_names"] == ["node0", "node1"]
    assert found["wires"]["tcp"][0].startswith("10.")
    assert len(found["cells"]) == 6


def test_an_odd_rank_has_no_partner(one_host, tmp_path):
    words = " ".join(map(str, [one_host.mpirun, "-n", 3,
                               *one_host.launcher_args]))
    done = jobs.run(
        [COMMAND, "bench", "pingpong", "--mpi", one_host.mpirun, "--launcher",
         words, "--sizes", "8", "--seconds", "0.01"],
        one_host.environment(), 100, cwd=tmp_path)
    assert done.returncode == 1
    assert "start an even number of ranks" in done.stderr


def test_a_flipped_byte_is_found(one_host):
    done = run(one_host, "--corrupt", "--pattern", "stream,ring", "--sizes",
               "0,9k", "--cache", "cold", "--cold-area", "1m", "--buffers",
               "mmap", "--offset-send", 3, "--offset-receive", 5)
    assert done.returncode == 1
    for pattern, rank in (("stream", 1), ("ring", 0)):
        for who in (" ", "Straightway"):
            lines = [line for line in done.stderr.splitlines()
                     if f"WRONG RESULT: {pattern} at 9216 bytes with" in line
                     and who in line]
            assert lines and f"byte 4608 of rank {rank}'s" in lines[0]
            assert "--corrupt flipped it" in lines[0]
        assert f"{pattern} at 0 bytes" in done.stderr
    assert "byte 1 behind the buffer" in done.stderr
    assert "walk through 1m each" in done.stdout
    assert "WRONG" in done.stdout


@pytest.mark.parametrize("where, words", [
    ("n - 1", "byte 63 of rank 0's message 0"),
    ("-3", "byte 3 before the buffer of rank 0's message 0"),
])
def test_a_wrong_byte_of_ours_is_ours(one_host, tmp_path, where, words):
    source = tmp_path / "lib.c"
    source.write_text(SPOILS)
    handle = "int" if one_host.flavour == "mpich" else "void *"
    patience.run(["cc", "-shared", "-fPIC", f"-DHANDLE={handle}",
                  "-DSPOIL_FROM=8", f"-DWHERE={where}", source, "-o",
                  tmp_path / "lib.so"], check=True, timeout=60)
    done = run(one_host, "--sizes", "8,64", library=tmp_path / "lib.so")
    assert done.returncode == 1
    assert "WRONG RESULT: pingpong at 64 bytes with Straightway: " + words \
        in done.stderr
    assert done.stderr.count("WRONG") == 1


def test_messages_may_lie_on_the_stack(one_host):
    done = run(one_host, "--buffers", "stack", "--sizes", "1,5m",
               "--offset-receive", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on the stack" in done.stdout


@pytest.mark.parametrize("arguments, words", [
    (["--pattern", "pingpnog"], "did you mean pingpong?"),
    (["--pattern", "x"], "give one of pingpong"),
    (["--pattern", "partitioned,ring", "--cache", "cold"],
     "is for --cache warm"),
    (["--protocol", "wire"],
     "give one of host, two-copy, cma, one-copy, joint, give"),
    (["--protocol", "all", "--pattern", "stream"],
     "does not go by protocols"),
    (["--protocol", "host", "--buffers", "mmap"], "omit --buffers"),
    (["--cache", "cod"], "did you mean cold?"),
    (["--buffers", "heep"], "did you mean heap?"),
    (["--patern", "ring"], "did you mean --pattern?"),
    (["-n", "1"], "2 ranks or more"),
    (["-n", "3"], "works in pairs; give -n 4"),
    (["--launcher", "srun -n 2", "-n", "2"], "omit -n"),
    (["--launcher", " "], "--launcher needs words"),
    (["--computing", "1m", "--pattern", "stream"],
     "is for --pattern pingpong"),
    (["--computing", "1m", "--pattern", "pingpong", "--cache", "cold"],
     "with --cache warm"),
    (["--sizes", "8,banana"], "banana is no size"),
    (["--sizes", "8", "--factor", "2"], "give one of them"),
    (["--from", "9", "--to", "2"], "give a smaller --from"),
    (["--from", "0"], "give a size from 1 to 1g"),
    (["--factor", "1"], "give a factor"),
    (["--factor", "1.02"], "give a larger --factor"),
    (["--perturb", "-1"], "0 for none"),
    (["--window", "0"], "from 1 to 4096"),
    (["--offset-send", "4096"], "from 0 to 4095"),
    (["--offset-receive", "-1"], "from 0 to 4095"),
    (["--seconds", "0"], "more than 0"),
    (["--cold-area", "1m"], "needs --cache cold"),
    (["--buffers", "stack", "--sizes", "1g"], "or --buffers heap"),
    (["--pattern", "window", "--window", "4096", "--sizes", "1g"],
     "or a smaller --window"),
    (["--json", "/nowhere/at/all.json"], "there is no folder"),
    (["--svg", "/nowhere/at/all.svg"], "there is no folder"),
    (["--mpi", "/nowhere"], "does not exist"),
])
def test_a_mistake_is_named_before_anything_runs(arguments, words, capsys):
    try:
        status = cli.main(["bench", "pingpong", *arguments])
    except SystemExit as end:
        status = end.code
    error = capsys.readouterr().err
    assert status in (1, 2)
    assert words in error and error.startswith("straightway: ")


# The arithmetic ---------------------------------------------------------

def test_sizes_are_a_ladder_with_neighbours():
    assert messages.ladder(1, 64, 4) == [1, 4, 16, 64]
    assert messages.ladder(2, 9, 1.5) == [2, 3, 4, 7]
    assert messages.perturbed([1, 64], 3) == [1, 4, 61, 64, 67]
    assert messages.perturbed([0, 8], 0) == [0, 8]


def test_patterns_are_read():
    def read(text):
        return choices.parse_names("--pattern", "pattern", text,
                                     messages.PATTERNS)
    assert read("ring,pingpong") == ["pingpong", "ring"]
    assert read("all") == [*PAIRS, *OTHERS]
    with pytest.raises(UserError, match="did you mean window"):
        read("windw")


def test_the_floor_is_a_line_or_a_copy():
    floors = {"round_trip": 0.2, "line": 0.01}
    assert messages.floor("pingpong", 0.05, floors) == 0.1
    assert messages.floor("window", 0.05, floors) == 0.05
    assert messages.floor("ring", 3, floors) == 3
    assert messages.floor("ring", 3, {}) == 3


def cell(size, host, ours):
    def one(time):
        return dict(median=time, low=time, high=time, min=time,
                    right=True, bandwidth=size / time)
    return {"operation": "pingpong", "size": size, "floor": 0.05,
            "memcpy": 0.01,
            "ratio": host / ours if ours else None, "host": one(host),
            "ours": one(ours) if ours else None}


@pytest.mark.parametrize("sizes", [(0,), (64,), (0, 1 << 22), (1, 64, 8192)])
@pytest.mark.parametrize("ours", [1, 0])
def test_any_set_of_sizes_can_be_drawn(sizes, ours, capsys):
    cells = [cell(n, 2, ours) for n in sizes]
    report = {"cells": cells, "ranks": 2, "oversubscribed": False,
              "floors": {}, "mpi": {"name": "A & B"},
              "plan": {"patterns": ["pingpong"], "cache": "cold",
                       "cold_area": 4096, "offset_send": 0,
                       "offset_receive": 0, "buffers": "heap"},
              "summary": dict(results.summary(cells, messages.PATTERNS),
                              peaks=pingpong.peaks(cells)),
              "machine": {"cpu": "<x>", "cores": 2, "kernel": "6",
                          "date": "2026-01-01"}}
    pingpong_terminal.render(report, sys.stdout)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
    picture = xml.fromstring(output.text(pingpong_svg, report))
    names = [e.get("class") for e in picture.iter()]
    panels = any(sizes) + any(0 < n <= pingpong_svg.SMALL for n in sizes)
    assert names.count("frame") == panels
    assert names.count("edge") == panels
