"""The nodes of a job: lists, host files, and what batch systems say."""

import pytest
from straightway.errors import UserError
from straightway.machine.readers import allocation


@pytest.mark.parametrize("text, names, slots", [
    ("n1,n2", ["n1", "n2"], {}),
    ("n[01-02],login1", ["n01", "n02", "login1"], {}),
    ("alice@n1,alice@n2", ["n1", "n2"], {}),
    ("n1:4,n2:2", ["n1", "n2"], {"n1": 4, "n2": 2}),
    ("n1,n1,n2", ["n1", "n2"], {"n1": 2, "n2": 1}),
    (" n1, n2.cluster.org", ["n1", "n2.cluster.org"], {})])
def test_a_list(text, names, slots):
    found = allocation.given(text)
    assert (found.names, found.slots) == (names, slots)


@pytest.mark.parametrize("text, says", [
    ("", "entry 1: nothing"), ("a,,b", "entry 2: nothing"),
    ("a,b c", "entry 2"), ("a[1-", "not closed"), ("a,n[x]", "entry 2"),
    ("a;b", "entry 1"), ("n[0-99999][0-99999]", "more than 1048576 names")])
def test_a_list_that_is_none(text, says):
    with pytest.raises(UserError, match=says):
        allocation.given(text)


FILES = {
    "of PBS": ("n1\nn1\nn2\nn2\n", ["n1", "n2"], {"n1": 2, "n2": 2}),
    "of Open MPI": ("# ours\nalice@n1 slots=4 max_slots=8\n\n"
                    "n2 slots = 2 # b\n",
                    ["n1", "n2"], {"n1": 4, "n2": 2}),
    "of Hydra": ("n1:4\nn2:2\n", ["n1", "n2"], {"n1": 4, "n2": 2}),
    "of Grid Engine": ("n1 4 all.q@n1 UNDEFINED\nn2 2 all.q@n2 UNDEFINED\n",
                       ["n1", "n2"], {"n1": 4, "n2": 2}),
    "of names": ("n2\nn1\n", ["n2", "n1"], {}),
    "of Slurm's list": ("n[1-3]\n", ["n1", "n2", "n3"], {})}


@pytest.mark.parametrize("kind", FILES)
def test_a_host_file(kind, tmp_path):
    text, names, slots = FILES[kind]
    path = tmp_path / "hosts"
    path.write_text(text)
    found = allocation.given(str(path))
    assert (found.names, found.slots) == (names, slots)


@pytest.mark.parametrize("text, says", [
    ("n1\n%%\n", "line 2: %% is no name"), ("# none\n", "no name of a node"),
    ("n1\nn[2\n", "line 2")])
def test_a_host_file_that_is_none(text, says, tmp_path):
    path = tmp_path / "hosts"
    path.write_text(text)
    with pytest.raises(UserError, match=says):
        allocation.given(str(path))


def test_the_job_around(tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("n7\nn7\nn8\n")
    for around, names in (
            ({}, None),
            ({"SLURM_JOB_NODELIST": "n[01-02]"}, ["n01", "n02"]),
            ({"SLURM_NODELIST": "n3"}, ["n3"]),
            ({"PBS_NODEFILE": str(hosts)}, ["n7", "n8"]),
            ({"LSB_DJOB_HOSTFILE": str(hosts)}, ["n7", "n8"]),
            ({"LSB_MCPU_HOSTS": "n1 4 n2 2"}, ["n1", "n2"]),
            ({"PE_HOSTFILE": str(hosts)}, ["n7", "n8"]),
            # A variable that cannot be read counts as absent.
            ({"SLURM_JOB_NODELIST": "n[", "PBS_NODEFILE": str(hosts)},
             ["n7", "n8"]),
            ({"PBS_NODEFILE": "/not/there"}, None)):
        found = allocation.around(around)
        assert (found and found.names) == names
        if found:
            assert found.source in around
    assert allocation.around({"LSB_MCPU_HOSTS": "n1 4 n2 2"}).slots == {
        "n1": 4, "n2": 2}
