"""A reader finds the entry of each MPI call: a function with the standard's
parameters, in the tree or in the build folder."""

import re
import subprocess

import pytest
from harness.hosts import ROOT

BUILD = ROOT / "build" / "wheel"


def flavours():
    return sorted(path.parent for path in BUILD.glob("generated/*/entries"))


@pytest.fixture(scope="module", params=flavours(), ids=lambda path: path.name)
def flavour(request):
    return request.param


@pytest.fixture(scope="module")
def defined(flavour):
    """The procedures that a flavour library serves itself, by the symbols of
    its objects: weak ones are of the guard."""
    folder = BUILD / "CMakeFiles" / f"straightway-{flavour.name}.dir"
    symbols = subprocess.run(["nm", "-P", "-g", *folder.rglob("*.c.o")],
                             text=True, check=True, capture_output=True).stdout
    names = set(re.findall(r"^(sw_MPI_\w+) T ", symbols, re.MULTILINE))
    assert len(names) > 150
    return names


def written(folder):
    """{name: text of the parameters} of the functions in these files"""
    return {name: parameters for path in folder.rglob("*.c")
            for name, parameters in re.findall(
                r"^int (sw_MPI_\w+)\(([^{};]*)\)\n\{", path.read_text(), re.M)}


def test_every_call_is_a_function_to_be_found(flavour, defined):
    found = {**written(ROOT / "src" / "mpi"), **written(flavour / "entries")}
    assert defined <= set(found)


def test_entries_have_the_parameters_of_the_standard(flavour):
    found = written(flavour / "entries")
    for name, words in {
            "sw_MPI_Allreduce": "sendbuf recvbuf count datatype op comm",
            "sw_MPI_Ialltoallw": "sendbuf sendcounts sdispls sendtypes recvbuf"
                                 " recvcounts rdispls recvtypes comm request",
            "sw_MPI_Recv": "buf count datatype source tag comm status",
            "sw_MPI_Win_lock": "lock_type rank assert win"}.items():
        assert re.findall(r"(\w+)(?:\[\])?(?:,|$)", found[name]) == \
            words.split()


def test_a_file_has_all_forms_of_its_procedure(flavour):
    text = (flavour / "entries" / "MPI_Bcast.c").read_text()
    names = re.findall(r"^int sw_(\w+)\(", text, re.M)
    assert {"MPI_Bcast", "MPI_Ibcast"} <= set(names)
    assert all(re.fullmatch(r"MPI_I?[Bb]cast(_init)?(_c)?", name)
               for name in names)
    assert "host.Bcast(buffer, count, datatype, root, comm)" in \
        " ".join(text.split())
