"""Without HOME, or one that is no folder, all works and nothing is kept."""

import pytest
from straightway.bench import tuned
from straightway.errors import UserError
from straightway.machine import checks, nodes
from straightway.whatif import measured, measured_nodes

ABOUT = {"mpi": "A 1.0", "ranks": 2}
FOUND = {"key": ABOUT, "nodes": 2, "most": 1}


@pytest.fixture
def homeless(monkeypatch, tmp_path):
    """The folder of a process whose environment names no home."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
                 "STRAIGHTWAY_WAYS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not list(tmp_path.iterdir())


def test_no_measurement_is_kept(homeless):
    measured._keep(FOUND)
    assert measured._kept(ABOUT) is None


def test_a_home_that_is_no_folder_keeps_none(homeless, monkeypatch):
    monkeypatch.setenv("HOME", "/proc/none")
    measured._keep(FOUND)
    assert measured._kept(ABOUT) is None


def test_what_was_to_be_kept_says_why_not(homeless):
    with pytest.raises(UserError, match="neither HOME nor XDG_CACHE_HOME"):
        measured_nodes.keep(FOUND)
    with pytest.raises(UserError, match="neither HOME nor XDG_CONFIG_HOME"):
        nodes.ways()


def test_doctor_says_why_there_is_no_file(homeless):
    found = dict(line[:3:2] for line in nodes._settings())
    assert found["table of ways"].startswith("no file: neither HOME nor")
    one, = tuned.checks([], {"machine": "dead"})
    assert one.status == checks.NOTE and "neither HOME nor" in one.finding
