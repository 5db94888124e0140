"""The placement that a launcher reads today: rankfiles, orders, host files."""

import random

import pytest
from straightway.errors import UserError
from straightway.machine import slots as machines
from straightway.machine.readers import launch_files
from straightway.mapping import launchers

NAMES = ["n1", "n2"]


def read(text, folder, machine="2x2x2", ranks=8, names=("n1", "n2")):
    path = folder / "file"
    path.write_text(text)
    slots = machines.parse(machine)
    return launch_files.read(str(path), slots.named(names) if names else slots,
                        ranks)


def test_a_rankfile(tmp_path):
    """Cores count through the node, or in a package."""
    assert read("rank 1=n1 slot=0\n# a\nrank 0=bob@n2 slot=1:1\n"
                "rank 2=+n1 slot=0-1\nrank 3=n1 slot=0:*\n",
                tmp_path, ranks=4) == [7, 0, 4, 1]


def test_nodes_without_names_come_in_the_files_order(tmp_path):
    assert read("rank 0=x slot=1\nrank 1=y slot=0\n", tmp_path, "2x2", 2,
                None) == [1, 2]


@pytest.mark.parametrize("text, found", [
    ("0,1,2,3,4,5,6,7\n", list(range(8))),
    ("4-7\n0,2\n1,3\n", [4, 6, 5, 7, 0, 1, 2, 3])])
def test_an_order_of_ranks(text, found, tmp_path):
    assert read(text, tmp_path) == found


@pytest.mark.parametrize("text, ranks, found", [
    ("n2 slots=3\nn1 slots=4\n", 7, [4, 5, 6, 0, 1, 2, 3]),
    ("n2:1\nn1:1\n", 4, [4, 0, 5, 1]),      # Hydra begins again
    ("n1\nn2\nn2\nn1\n", 4, [0, 4, 5, 1]),  # a line for each rank
    ("n2\nn1\n", 6, [4, 5, 6, 7, 0, 1])])
def test_a_host_file(text, ranks, found, tmp_path):
    assert read(text, tmp_path, ranks=ranks) == found


@pytest.mark.parametrize("text, says", [
    ("", "is empty"),
    ("rank 0=n1 slot=0\n", "no line for rank 1"),
    ("rank 0=n1 slot=0\nrank 0=n1 slot=1\n", "line 2: rank 0 is here twice"),
    ("rank 0=n1 slot=0\nrank 1=n1 slot=0\n", "earlier rank has this core"),
    ("rank 0=n1 slot=9\n", "no such core"),
    ("rank 0=n1 slot=2:0\n", "has 2 packages"),
    ("rank 0=n1 slot=x\n", "is no core"),
    ("rank 0=n3 slot=0\n", "no node n3; name its nodes"),
    ("rank 0=n1 core=3\n", "no line of a rankfile"),
    ("0-3,3\n4-7", "line 1: rank 3 is there twice"),
    ("0-7,0\n", "rank 0 is there twice"),
    ("0-6\n", "rank 7 is missing"),
    ("0-7,8\n", "no list of ranks below 8"),
    ("7-0\n", "no list of ranks"),
    ("n1 slots=5\nn2 slots=3\n", "n1: more ranks than the node's 4 cores"),
    ("n1\n", "8 ranks, and 4 cores"),
    ("n7 slots=8\n", "no node n7")])
def test_what_fits_no_machine(text, says, tmp_path):
    with pytest.raises(UserError, match=says):
        read(text, tmp_path)


@pytest.mark.parametrize("name", ["openmpi", "openmpi4", "cray"])
def test_what_map_writes_is_read_back(name, tmp_path):
    slots = machines.parse("2x2x2").named(NAMES)
    for seed in range(20):
        placement = random.Random(seed).sample(range(8), 8)
        made = launchers.launch(name, placement, slots, str(tmp_path / "p"))
        text = next(text for path, text in made.files.items()
                    if not path.endswith(".hosts"))
        assert read(text, tmp_path) == placement


@pytest.mark.parametrize("name", ["intel", "slurm"])
def test_machine_files_are_read_back_node_by_node(name, tmp_path):
    slots = machines.parse("2x4").named(NAMES)
    for seed in range(20):
        placement = random.Random(seed).sample(range(8), 8)
        made = launchers.launch(name, placement, slots, str(tmp_path / "p"))
        text = next(text for path, text in made.files.items()
                    if path.endswith((".hosts", ".machines")))
        found = read(text, tmp_path, "2x4")
        assert [one // 4 for one in found] == [one // 4 for one in placement]
