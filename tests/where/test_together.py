"""The processes of `straightway where` that a launcher has started on several
nodes: process 0 shows what the others hand it."""

import json
import os
import threading

import pytest
from test_where import hanging, valid

from straightway.where import launched, saved, together
from straightway.where.together import Part

RANKS = {"PMI_RANK": "1", "PMI_SIZE": "3"}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(together, "PATIENCE", 5)


def above(monkeypatch, *names):
    """Let these be the processes above this one, the nearest first."""
    table = {os.getppid() if not i else 10 ** 8 + i:
             (10 ** 8 + i + 1, name, "S") for i, name in enumerate(names)}
    monkeypatch.setattr(launched, "stat", table.get)


@pytest.mark.parametrize("names, environment, found", [
    (["hydra_pmi_proxy"], RANKS, Part(1, 3, "")),
    (["sh", "prted"], {"OMPI_COMM_WORLD_RANK": "0",
                       "OMPI_COMM_WORLD_SIZE": "2"}, Part(0, 2, "")),
    (["slurmstepd"], {"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "4"},
     Part(2, 4, "")),
    # A script of Slurm's, a single process, a rank's child, another's shell.
    (["bash", "slurmstepd"], {"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, None),
    (["hydra_pmi_proxy"], {"PMI_RANK": "0", "PMI_SIZE": "1"}, None),
    (["app", "hydra_pmi_proxy"], RANKS, None),
    (["bash", "sshd"], RANKS, None),
    (["hydra_pmi_proxy"], {}, None)])
def test_a_launcher_starts_parts(monkeypatch, names, environment, found):
    above(monkeypatch, *names)
    assert together.part("", environment) == found


def start(function, *arguments):
    """A thread, and where its answer comes."""
    answers = []
    thread = threading.Thread(
        target=lambda: answers.append(function(*arguments)))
    thread.start()
    return thread, answers


def test_each_message_is_taken_once(tmp_path):
    threads = [start(together.hand, Part(n, 4, "job"), {"is": n})
               for n in (3, 1, 2)]
    assert together.take(Part(0, 4, "job")) == {n: {"is": n}
                                                for n in (1, 2, 3)}
    for thread, answers in threads:
        thread.join()
        assert answers == [True]
    assert not list(tmp_path.iterdir())


def test_no_one_takes_a_message(tmp_path, monkeypatch):
    monkeypatch.setattr(together, "PATIENCE", 0.1)
    assert not together.hand(Part(1, 2, "job"), {})
    assert together.take(Part(0, 2, "job")) == {}
    assert not list(tmp_path.iterdir())
    monkeypatch.chdir("/proc")      # where no file can be made
    monkeypatch.setattr(together, "PATIENCE", 60)
    assert not together.hand(Part(1, 2, "job"), {})
    assert together.take(Part(0, 2, "job")) == {}


@pytest.mark.parametrize("spoil", [
    lambda path: os.utime(path, (1, 1)),
    lambda path: path.write_text("{"),
    lambda path: (path.unlink(), path.symlink_to("/dev/null")),
    lambda path: (path.unlink(), os.mkfifo(path))],
    ids=["old", "cut", "link", "pipe"])
def test_what_is_no_message_is_left_alone(tmp_path, monkeypatch, spoil):
    monkeypatch.setattr(together, "PATIENCE", 0.1)
    path = tmp_path / Part(1, 2, "job").path()
    path.write_text("{}")
    spoil(path)
    assert together.take(Part(0, 2, "job")) == {}


# The command ----------------------------------------------------------------

def node(name, *own):
    """The Report of a node with some ranks of four."""
    made = hanging(4, node=name, node_ranks=2)
    for number in set(range(4)) - set(own):
        made.drop(number)
    return made


@pytest.fixture
def first(run, monkeypatch):
    """Runs the command as process 0, which takes such messages."""
    def call(messages, *words, size=3):
        above(monkeypatch, "hydra_pmi_proxy")
        monkeypatch.setenv("PMI_RANK", "0")
        monkeypatch.setenv("PMI_SIZE", str(size))
        monkeypatch.setattr(together, "take", lambda _: messages)
        return run("where", *words)
    return call


def message(made=None, error=None, name="beta"):
    part = saved.part(made.report().readings if made else [])
    return json.loads(json.dumps({"node": name, "error": error,
                                  "part": part}))


def test_process_0_shows_all_nodes(first, shown):
    shown(node("alpha", 0, 1))
    status, out, err = first({1: message(node("beta", 2, 3))}, "--json",
                             size=2)
    assert status == 0 and not err
    plain = valid(json.loads(out))
    assert plain["nodes"] == ["alpha", "beta"]
    assert plain["verdict"].startswith("rank 3 waits for tag 8")


def test_process_0_tells_what_is_missing(first, shown):
    shown(node("alpha", 0, 1))
    status, out, err = first({1: message(error="there is no job\n  here")})
    assert status == 0 and "ranks 2 and 3" in out
    assert "straightway: beta: there is no job\n" in err
    assert "1 of 3 processes have handed nothing to process 0" in err
    shown()
    status, out, err = first({1: message(node("beta", 2, 3))}, size=2)
    assert status == 0 and "rank 3 waits for tag 8" in out
    assert "no MPI job of yours" in err
    status, out, err = first({1: message(error="none")}, size=2)
    assert status == 2 and "no MPI job of yours" in err


@pytest.mark.parametrize("taken", [True, False])
def test_another_process_is_silent_where_it_is_heard(run, shown, monkeypatch,
                                                     taken):
    shown(node("alpha", 0, 1))
    above(monkeypatch, "hydra_pmi_proxy")
    for name, value in RANKS.items():
        monkeypatch.setenv(name, value)
    handed = []
    monkeypatch.setattr(together, "hand", lambda part, told: (
        handed.append(json.dumps(told)), taken)[1])
    status, out, _ = run("where")
    assert status == 0 and len(handed) == 1
    assert ("job job-1" in out) is not taken
    run("where", "--json", "--out", "w.%h.json")
    assert len(handed) == 1
