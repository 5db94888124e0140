"""doctor over several nodes: which nodes, what lies between them, lanes."""

import json
import sys
import types

import pytest
from harness import patience
from harness import nodes as test_nodes
from harness.hosts import COMMAND
from straightway.machine import nodes
from test_command import environment


def doctor(host, *arguments, before=(), **changes):
    words = [*before, COMMAND, "doctor", "--mpi", host.mpirun, "--json", "-",
             *arguments]
    done = patience.run(list(map(str, words)), text=True,
                        capture_output=True, timeout=120, env={
                            **environment(), **host.environment(changes)})
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found, {c["name"]: c for c in found["checks"]}


def job(host, ranks, **changes):
    words = " ".join(host.launcher_args)
    return doctor(host, "-n", ranks, *(
        [f"--launcher-args={words}"] if words else []), **changes)


def test_what_lies_between_nodes_is_reported(host, tmp_path):
    path = tmp_path / "ways"
    found, checks = doctor(host, STRAIGHTWAY_WAYS=path, FI_PROVIDER="tcp",
                           STRAIGHTWAY_SPAN_MAX="7")
    assert found["job"] is None
    assert "up to 7 comm" in checks["collectives over nodes"]["finding"]
    assert checks["table of ways"]["finding"].startswith(f"no file {path}")
    (transport,) = [c for name, c in checks.items()
                    if name.startswith("transport of")]
    assert "FI_PROVIDER=tcp" in transport["finding"]
    path.touch()
    _, checks = doctor(host, STRAIGHTWAY_WAYS=path, STRAIGHTWAY_SPANS="off")
    assert checks["table of ways"]["finding"] == str(path)
    off = checks["collectives over nodes"]
    assert off["status"] == "degraded" and off["cost"] and off["mend"]


def test_a_job_on_one_node_has_no_lanes(host):
    found, checks = job(host, 2)
    assert found["job"]["lanes"] == 0
    assert [n["ranks"] for n in found["job"]["nodes"]] == [[0, 1]]
    assert checks["MPI_COMM_WORLD"]["finding"] == "all ranks are on one node"


def test_a_job_over_virtual_nodes(host):
    found, checks = job(host, 5, STRAIGHTWAY_NODE_SIZE="2")
    assert [n["ranks"] for n in found["job"]["nodes"]] == [
        [0, 1], [2, 3], [4]]
    assert checks["MPI_COMM_WORLD"]["finding"] == \
        "3 nodes; 1 lane between them"


@test_nodes.able
def test_a_job_over_nodes(host):
    test_nodes.need()
    found, checks = doctor(host, "-n", "4", before=[
        sys.executable, test_nodes.SCRIPT, "--mpirun", host.mpirun, "--plain",
        "-k", "2", "--ppn", "2", "--"])
    names = [n["name"] for n in found["job"]["nodes"]]
    assert len(set(names)) == 2 and found["job"]["lanes"] == 2
    assert checks[names[1]]["finding"].startswith("ranks 2-3")
    assert "none" not in checks["network interfaces"]["finding"]
    assert "TCP by eth0, 10." in checks["transport"]["finding"]


def ranks(*places, processors=8):
    return [types.SimpleNamespace(number=i, node=f"n{node}", node_number=node,
                                  node_processors=processors)
            for i, node in enumerate(places)]


@pytest.mark.parametrize("placed, lanes, said", [
    ([0, 1, 0, 1], 2, "2 nodes; 2 lanes between them"),
    ([0, 0, 0, 1], 1, "2 nodes; 1 lane between them"),
    ([0, 1, 2], 1, "3 nodes of one rank"),
    ([0] * 40 + [1] * 40, 40, "2 nodes; 40 lanes between them"),
], ids=["cyclic", "unequal", "single", "many"])
def test_lanes(placed, lanes, said):
    job = nodes.places(ranks(*placed, processors=64))
    assert job["lanes"] == lanes and job["ranks"] == len(placed)
    assert nodes.job_checks(job, str)[-1].finding == said


@pytest.mark.parametrize("wires, status, said", [
    ({"tcp": ["203.0.113.7"], "devices": []}, "ok", "TCP from 203.0.113.7"),
    ({"tcp": [], "devices": ["/dev/cxi0"]}, "ok", "/dev/cxi0 is open"),
    ({"tcp": [], "devices": []}, "note", "no TCP connection"),
])
def test_what_reaches_another_node(wires, status, said):
    check, = [c for c in nodes.job_checks(nodes.places(ranks(0, 1), wires),
                                          str) if c.name == "transport"]
    assert check.status == status and said in check.finding
    assert not [c for c in nodes.job_checks(nodes.places(ranks(0, 0), wires),
                                            str) if c.name == "transport"]


def test_crowded_nodes_and_long_lists():
    job = nodes.places(ranks(*range(20), 0, processors=1))
    checks = nodes.job_checks(job, str)
    assert checks[0].status == "note" and checks[0].mend
    assert checks[1].status == "ok"
    assert checks[nodes.SHOWN].finding == "4 nodes"
