"""Launch files: what launchers read starts each rank where it belongs.

Those of Open MPI, Hydra and Intel MPI start programs here, on this machine and
over test nodes. Slurm's and Cray's are compared with their documents: srun(1)
on SLURM_HOSTFILE and map_cpu, intro_mpi(3) on MPICH_RANK_ORDER.
"""

import os
import subprocess
import sys

import pytest
from harness import nodes, patience
from straightway.errors import UserError
from straightway.machine import slots as machines
from straightway.machine.readers import sysfs
from straightway.mapping import launchers

WHERE = nodes.TESTS / "nodes" / "where.c"
OF_HOST = {"openmpi": "openmpi", "mpich": "mpich", "mpich-abi": "mpich",
           "impi": "intel", "debian-openmpi": "openmpi4"}
TWO = ["node0", "node1"]


def launched(name, placement, slots, folder, bind=True):
    """The Launch, with its files written."""
    made = launchers.launch(name, placement, slots, str(folder / "place"),
                            bind)
    for path, text in made.files.items():
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755 if path in made.scripts else 0o644)
    return made


def starts(made, host):
    """The words of the command, with this host's launcher."""
    return [str(host.mpirun), *made.command[1:]]


def seen(done):
    """{rank: (node, first core, last core)} of where.c"""
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    return {int(it[0]): (it[1], int(it[4]), int(it[5])) for it in lines}


def over_nodes(host, made, program):
    words = [sys.executable, nodes.SCRIPT, "--plain", "-k", "2", "--ppn", "2",
             "--cores", "all", "--timeout", "90", "--mpirun", host.mpirun,
             "--", *starts(made, host), program]
    return patience.run(
        list(map(str, words)), text=True, capture_output=True, timeout=120,
        stdin=subprocess.DEVNULL, env=host.environment(made.settings))


able = pytest.mark.unable(
    "debian-mpich", why="Debian's Hydra has no -rankmap")


@able
@pytest.mark.parametrize("placement", [[1, 2, 0, 3], [2, 3, 0, 1]], ids=str)
def test_ranks_may_get_nodes_and_no_cores(host, placement, tmp_path):
    nodes.need()
    cores = sorted(os.sched_getaffinity(0))
    made = launched(OF_HOST[host.name], placement,
                    machines.parse("2x2").named(TWO), tmp_path, bind=False)
    found = seen(over_nodes(host, made, host.compile(WHERE)))
    assert found == {rank: (TWO[slot // 2], cores[0], cores[-1])
                     for rank, slot in enumerate(placement)}


needs_cores = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one core tells nothing")


@able
@needs_cores
@pytest.mark.parametrize("placement", [
    pytest.param([1, 2, 0, 3], id="nodes bind differently"),
    pytest.param([1, 3, 0, 2], id="nodes bind alike"),
    pytest.param([2, 3, 0, 1], id="the second node first"),
    pytest.param([0, 1, 2, 3], id="blocked")])
def test_ranks_sit_where_the_placement_says(host, placement, tmp_path):
    nodes.need()
    cores = sorted(os.sched_getaffinity(0))[:2]
    slots = machines.Slots(("node", "core"), [
        (node, core) for node in (0, 1) for core in (0, 1)], tuple(TWO),
        cores * 2)
    made = launched(OF_HOST[host.name], placement, slots, tmp_path)
    found = seen(over_nodes(host, made, host.compile(WHERE)))
    assert found == {
        rank: (TWO[slot // 2], cores[slot % 2], cores[slot % 2])
        for rank, slot in enumerate(placement)}


@needs_cores
@pytest.mark.unable("mpich-abi", why="as mpich")
def test_ranks_sit_on_the_cores_of_this_machine(host, tmp_path):
    slots = sysfs.slots().first(2)
    made = launched(OF_HOST.get(host.name, "mpich"), [1, 0], slots, tmp_path)
    done = patience.run(
        list(map(str, [*starts(made, host), host.compile(WHERE)])), text=True,
        capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
        env=host.environment(made.settings))
    assert {rank: cores[1:] for rank, cores in seen(done).items()} == {
        0: (slots.cpus[1],) * 2, 1: (slots.cpus[0],) * 2}


# Their text -------------------------------------------------------------------

def text_of(made, ending):
    (found,) = [text for path, text in made.files.items()
                if path.endswith(ending)]
    return found


def made_for(name, placement, machine="2x2", names=("a", "b", "c")):
    return launchers.launch(name, placement,
                            machines.parse(machine).named(names), "p")


def test_a_rankfile_has_a_line_for_each_rank():
    made = made_for("openmpi", [1, 2, 0, 3])
    assert text_of(made, ".rankfile") == (
        "rank 0=a slot=1\nrank 1=b slot=0\nrank 2=a slot=0\nrank 3=b slot=1\n")
    assert made.command == ["mpirun", "-n", "4", "--hostfile", "p.hosts",
                            "--bind-to", "core", "--map-by",
                            "rankfile:file=p.rankfile"]
    assert made_for("openmpi4", [0, 1]).command[-2:] == ["--rankfile",
                                                         "p.rankfile"]


def test_slurm_gets_a_host_for_each_task_and_one_map():
    made = made_for("slurm", [1, 3, 0, 2])
    assert text_of(made, ".hosts") == "a\nb\na\nb\n"
    assert made.settings == {"SLURM_HOSTFILE": "p.hosts"}
    assert made.command == ["srun", "-n", "4", "-N", "2",
                            "--distribution=arbitrary",
                            "--cpu-bind=map_cpu:1,0"]
    assert "--exclusive" in made.note


def test_nodes_that_bind_differently_get_a_script():
    made = made_for("slurm", [1, 2, 0, 3])
    assert made.command[-2:] == ["--cpu-bind=none", "./p.bind"]
    assert text_of(made, ".cores") == "1\n0\n0\n1\n"
    assert made.scripts == ("p.bind",) and "p.bind" in made.note


@pytest.mark.parametrize("name, words", [
    ("openmpi", ["--bind-to", "none", "--map-by", "seq"]),
    ("openmpi4", ["--bind-to", "none", "--map-by", "seq"]),
    ("mpich", ["-bind-to", "none"]), ("slurm", ["--cpu-bind=none"]),
    ("cray", ["--cpu-bind=none"])])
def test_ranks_without_cores_need_no_script(name, words):
    made = launchers.launch(name, [1, 2, 0, 3], machines.parse("2x2").named(
        ("a", "b")), "p", bind=False)
    assert made.command[-len(words):] == words
    assert not made.scripts and not made.note
    assert not any("slot=" in text for text in made.files.values())


def test_a_smaller_node_takes_the_begin_of_the_map():
    made = made_for("slurm", [1, 3, 0], "2x2")
    assert made.command[-1] == "--cpu-bind=map_cpu:1,0"


def test_cray_lists_ranks_in_the_order_of_slots():
    made = made_for("cray", [1, 2, 0, 3])
    assert text_of(made, "MPICH_RANK_ORDER") == "2,0,1,3\n"
    assert made.settings["MPICH_RANK_REORDER_METHOD"] == "3"
    assert "--ntasks-per-node=2" in made.command
    many = made_for("cray", list(range(40)), "2x20")
    assert text_of(many, "MPICH_RANK_ORDER").splitlines()[1].startswith("16,")


def test_cray_needs_equal_nodes():
    with pytest.raises(UserError, match="only the last node"):
        made_for("cray", [0, 1, 2], "1x1+1x2")


def test_nodes_need_names():
    with pytest.raises(UserError, match="give --hosts"):
        made_for("openmpi", [0, 1, 2, 3], names=("a",))


def test_the_launcher_of_an_mpi():
    for title, name in (("Open MPI v5.0.11, package: x", "openmpi"),
                        ("Open MPI v4.1.4, package: x", "openmpi4"),
                        ("MPICH Version: 4.3", "mpich"),
                        ("Intel(R) MPI Library 2021.14", "intel"),
                        ("CRAY MPICH version 8.1", "cray")):
        assert launchers.of_mpi(title) == name
