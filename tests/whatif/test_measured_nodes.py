"""Several nodes as a model: what measurements become, where they are kept,
and which experiments take them."""

import json
import subprocess
import sys

import pytest
from harness import calibrations, jobs, programs
from harness import nodes as test_nodes
from harness.hosts import COMMAND
from straightway import native
from straightway.errors import UserError
from straightway.machine import hosts
from straightway.whatif import (experiments, forecast, measured,
                                measured_nodes, supposed)

HOST = hosts.Host("libmpi.so.40", "ompi", "/usr/bin/mpiexec", "",
                  "Open MPI v5.0.11")
ONE_EACH, TWO_EACH = "srun -n 2", "srun -n 4"
WHERE = {ONE_EACH: [0, 1], TWO_EACH: [0, 0, 1, 1], "srun -n 3": [0, 1, 2],
         "srun -N 1": [0, 0]}


def median(value):
    return {"median": value}


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """A stand-in for the benchmarks; remembers what was asked. In µs, an empty
    message takes 10 and its share of a stream 2. Each KiB takes 1 more, and
    memcpy 0.25. Collectives take 20 µs alone and 12 with Straightway."""
    asked = []

    def run(host, words):
        asked.append(words)
        launcher = words[words.index("--launcher") + 1]
        sizes = [int(n) for n in (words[words.index("--sizes") + 1].split(",")
                                  if "--sizes" in words else ())]
        if words[0] == "pingpong":
            cells = [{"operation": pattern, "size": n, "memcpy": n / 4096,
                      "host": median(t + n / 1024),
                      "ours": median(t + n / 1024)}
                     for pattern, t in (("pingpong", 10), ("stream", 2))
                     for n in sizes]
        else:
            cells = [{"operation": op, "size": n, "host": median(20 + n),
                      "ours": median(12 + n)}
                     for op in words[words.index("--ops") + 1].split(",")
                     for n in ([0] if op == "barrier" else sizes)]
        return {"cells": cells, "nodes": WHERE[launcher],
                "node_names": ["alpha", "beta"], "transport": "tcp",
                "wires": {"tcp": ["10.0.0.1"], "devices": []},
                "oversubscribed": launcher == TWO_EACH}

    run.asked = asked
    monkeypatch.setattr(measured, "bench", run)
    monkeypatch.setattr(measured_nodes.runs, "check_parts", lambda host: None)
    monkeypatch.setattr(hosts, "choose", lambda mpi=None: HOST)
    monkeypatch.setattr(measured, "host_of", lambda job, ranks: HOST)
    monkeypatch.setattr(measured, "load",
                        lambda host, ranks, *_: calibrations.calibration())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return run


def make(*launchers):
    for launcher in launchers:
        measured_nodes.keep(measured_nodes.measure(HOST, launcher))
    return measured_nodes.find(HOST)


# Measuring ------------------------------------------------------------------

def test_the_parts_of_a_message_sum_to_half_a_round_trip():
    for trip, share, own in ((10.0, 8.0, 1.0), (10.0, 30.0, 20.0),
                             (10.0, 1.0, 3.0)):
        size, send, wire, gap, receive = measured_nodes.split(8, trip, share,
                                                              own)
        assert send + wire + receive == pytest.approx(trip)
        assert min(send, wire, gap, receive) >= 0
        assert send == receive == min(own, share / 2, trip / 2)
        assert gap == share


def test_one_rank_on_each_node_shows_messages(bench):
    found, = make(ONE_EACH)
    points = {row[0]: row for row in found["links"]["host"]}
    # half of 2 us, and 1 us a KiB of which a copy takes a quarter
    assert points[0] == [0, 1000, 8000, 2000, 1000]
    assert points[4096] == [4096, 2000, 10000, 6000, 2000]
    assert [words[0] for words in bench.asked] == [
        "collectives", "pingpong", "collectives"]
    assert (found["nodes"], found["most"], found["ranks"]) == (2, 1, 2)


def test_more_ranks_on_a_node_show_collectives_alone(bench):
    found, = make(TWO_EACH)
    assert found["links"] is None and not measured_nodes.linked([found])
    assert "pingpong" not in [words[0] for words in bench.asked]
    assert found["collectives"]["host"]["allreduce"]["8"] == 28000
    assert found["collectives"]["ours"]["allreduce"]["8"] == 20000
    assert set(found["collectives"]["host"]) == set(measured.OPERATIONS)


@pytest.mark.parametrize("launcher, told", [
    ("srun -N 1", "all ranks are on one node"),
    ("srun -n 3", "start an even number")])
def test_what_cannot_be_measured_is_told(bench, launcher, told):
    with pytest.raises(UserError) as caught:
        measured_nodes.measure(HOST, launcher)
    assert told in str(caught.value) and launcher in str(caught.value)


def test_a_shape_replaces_itself_and_no_other(bench):
    assert len(make(ONE_EACH, TWO_EACH, TWO_EACH)) == 2
    other = hosts.Host("libmpi.so.12", "mpich", "mpiexec", "", "MPICH 5.0")
    assert measured_nodes.find(other) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"made": "x"}'])
def test_a_damaged_measurement_counts_as_none(bench, text):
    make(ONE_EACH, TWO_EACH)
    for file in measured.folder().glob("*nodes-2x2*"):
        file.write_text(text)
    found, = measured_nodes.find(HOST)
    assert found["most"] == 1


def test_the_mpi_is_that_of_the_launcher(monkeypatch, tmp_path):
    monkeypatch.setattr(hosts, "choose", lambda mpi=None: mpi)
    launcher = tmp_path / "mpirun"
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    asked = measured_nodes.host_of
    assert asked(f"{launcher} -n 2") == str(launcher)
    assert asked("srun -n 2") is None and asked("srun", "mpich") == "mpich"
    assert asked(f"{launcher} -n 2", "mpich") == "mpich"


def test_the_command_says_where_it_writes(bench, run):
    status, _, err = run("whatif", "measure", "--launcher", TWO_EACH)
    assert status == 0
    file, = measured.folder().glob("*nodes-2x2*")
    assert f"wrote {file}" in err
    # Messages are not measured yet.
    assert "also measure messages" in err and "ppr:1:node" in err
    status, _, err = run("whatif", "measure", "--launcher", ONE_EACH,
                         "--launcher", TWO_EACH)
    assert status == 0 and err.count("wrote") == 2
    assert "also measure" not in err
    for words in ([], ["--launcher", " "]):
        status, _, err = run("whatif", "measure", *words)
        assert status == 2 and "which nodes?" in err


# Models ---------------------------------------------------------------------

def models(*names):
    return supposed.Models(list(names or ("measured",)), None, 4)


def lines(text, *names, ranks=4):
    found = models(*names)
    return [str(line) for line in found.lines(
        ranks, experiments.parse(text))], found


def test_nodes_take_the_measured_network(bench):
    make(ONE_EACH, TWO_EACH)
    found, made = lines("nodes=2")
    assert "place 2 0" in found
    assert "point network 0 1000 8000 2000 1000" in found
    assert "span_table allreduce 2 2 8 28000 28000" in found
    assert "span_table allreduce 2 1 8 28000 28000" in found
    assert "span_table other 2 2 0 20000 20000" in found
    assert any(line.startswith("inside alltoall") for line in found)
    assert "leaders all" not in found
    said = " ".join(made.about)
    assert "between alpha and beta (TCP from 10.0.0.1)" in said
    assert "2 nodes of 2 ranks (20" in said
    assert "more ranks than cores" in " ".join(made.doubts)
    assert lines("nodes=2 network=measured")[0] == found


def test_with_straightway_it_is_that_of_straightway(bench):
    make(ONE_EACH, TWO_EACH)
    for text, names in (("nodes=2 model=measured-straightway", ()),
                        ("nodes=2", ("measured-straightway",)),
                        ("network=measured nodes=2",
                         ("measured-straightway",))):
        found, _ = lines(text, *names)
        assert "span_table allreduce 2 2 8 20000 20000" in found
        # Other shapes go by the leaders: before what is measured.
        assert found.index("leaders all") < found.index(
            "span_table allreduce 2 2 8 20000 20000")


def test_free_collectives_stay_free(bench):
    make(ONE_EACH, TWO_EACH)
    found, _ = lines("nodes=2 free=allreduce")
    last = [x for x in found if " allreduce" in x and "table" not in x]
    assert last[-1] == "free allreduce"
    found, _ = lines("nodes=2 offload=allreduce")
    assert found[-1].startswith("offload allreduce 1000 8000 ")


def test_one_node_and_other_networks_take_none_of_it(bench):
    for text, names in (("nodes=1", ()), ("cpu-speed=2", ()),
                        ("network=hdr200 nodes=2", ()),
                        ("free=communication nodes=2", ()),
                        ("nodes=2", ("node", "hdr200"))):
        found, made = lines(text, *names)
        assert not [x for x in found if x.startswith("span_table")]
        assert not any("Between nodes" in x for x in made.about)


def test_without_a_measurement_the_command_is_named(bench, run):
    make(TWO_EACH)      # collectives alone make no network
    for words in (["--nodes", "2"], ["--ranks-per-node", "1"],
                  ["--network", "measured", "--nodes", "2"],
                  ["--experiment", "model=measured-straightway nodes=2"],
                  ["--model", "measured", "--nodes", "2"]):
        status, _, err = run("whatif", "-n", "4", *words, "./app")
        assert status == 2 and "none is measured under Open MPI 5.0.11" in err
        assert "straightway whatif measure --launcher" in err
    assert bench.asked[0][0] == "collectives"


def test_the_engine_takes_the_lines(bench, tmp_path):
    if not native.whatif_executable().exists():
        pytest.skip("straightway-whatif is not built")
    make(ONE_EACH, TWO_EACH)
    for name in measured.NAMES:
        found, _ = lines("nodes=2", name)
        model = tmp_path / "model"
        model.write_text("\n".join(found) + "\n")
        done = subprocess.run([native.whatif_executable(), "check", model],
                              text=True, capture_output=True)
        assert done.returncode == 0, done.stderr


# Real nodes -----------------------------------------------------------------

_MEASURE = """
import sys
from straightway import cli
from straightway.whatif import measured
measured.OPERATIONS = ("barrier", "allreduce", "alltoall")
measured.LARGEST = 4096
sys.exit(cli.main(["whatif", "measure", "--launcher", sys.argv[1],
                   "--seconds", "0.01"]))
"""


def measure(host, environment, tmp_path, per_node):
    launcher = " ".join([str(host.mpirun), "-n", str(2 * per_node),
                         *host.launcher_args])
    done = jobs.run(
        [sys.executable, test_nodes.SCRIPT, "--mpirun", host.mpirun,
         "--plain", "-k", "2", "--ppn", str(per_node), "--", sys.executable,
         "-c", _MEASURE, launcher], environment, 120, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"nodes-2x{per_node}" in done.stderr


def whatif(host, environment, tmp_path, *words):
    out = tmp_path / "report.json"
    done = jobs.run(
        [sys.executable, "-m", "straightway", "whatif", "-n", "4", "--mpi",
         host.mpirun, "--json", out, "--check", *words,
         host.compile(programs.source("solver.c"), "-lm")],
        environment, 120, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(out.read_text())


@test_nodes.able
@pytest.mark.deep
def test_a_program_over_measured_nodes(host, tmp_path):
    """Measure test nodes, then predict a program on them, alone and with
    Straightway, in experiments that also change something else."""
    test_nodes.need()
    environment = calibrations.keep(host, tmp_path, host.environment(
        {"STRAIGHTWAY_COMMAND": COMMAND}))
    for per_node in (1, 2):
        measure(host, environment, tmp_path, per_node)
    report = whatif(
        host, environment, tmp_path, "--nodes", "2",
        "--network", "measured",
        "--experiment", "ours: model=measured-straightway nodes=2",
        "--experiment", "fast: network=measured nodes=2 free=all",
        "--experiment", "one each: network=measured nodes=4")
    host_s, ours, free, one_each = report["experiments"]
    base = report["baseline"]["time_s"]
    assert host_s["time_s"] > base and one_each["time_s"] > base
    # The program's collectives are all over the nodes: none is left.
    assert free["time_s"] < host_s["time_s"]
    assert ours["time_s"] != host_s["time_s"] and ours["time_s"] > 0
    said = " ".join(report["model_about"])
    assert "between node0 and node1 (TCP from 10." in said
    assert "2 nodes of 2 ranks" in said
    assert forecast.verdict(report)
