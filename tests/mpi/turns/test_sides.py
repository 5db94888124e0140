"""The host's side and ours in turns: results are right, and the file tells what
was done."""

import json
import os

import pytest
from harness import spread
from harness.programs import run, source, well

from straightway.study import turns

STEPS = 400


def in_turns(host, tmp_path, kind, n=3, env=None, steps=STEPS):
    """The Run of in_turns.c, whose sides change as often as they can."""
    path = tmp_path / "turns.json"
    done = well(run(host, n, "in_turns", kind, steps, env={
        "STRAIGHTWAY_TURNS": path, "STRAIGHTWAY_TURNS_EPOCH": "0",
        **(env or {})}))
    return turns.load(str(path)), json.loads(path.read_text()), done


def changes(found):
    """How often the sides have changed."""
    sides = [row[0] for row in found["epochs"]]
    return sum(a != b for a, b in zip(sides, sides[1:]))


@pytest.mark.parametrize("kind", spread.some([
    "plain", "once", "nonblocking", "serial", "parts", "probed", "refused"]))
def test_results_are_right_on_both_sides(host, tmp_path, kind):
    _, found, _ = in_turns(host, tmp_path, kind)
    assert found["state"] == "turned"
    assert found["messages"] == "turns"
    assert changes(found) > 10
    assert len(found["times"]) == len(found["epochs"])
    assert all(len(row) == 3 for row in found["times"])


@pytest.mark.parametrize("kind,why", [
    ("open", "open"), ("persistent", "persistent"), ("freed", "unseen")])
def test_messages_that_may_be_under_way_stay(host, tmp_path, kind, why):
    steps = STEPS if kind != "open" else 3 * STEPS
    _, found, _ = in_turns(host, tmp_path, kind, steps=steps)
    assert (found["messages"], found["messages_why"]) == ("ours", why)
    assert changes(found) > 10


@pytest.mark.parametrize("kind", ["any", "thread", "late"])
def test_collectives_of_several_threads_end_the_turns(host, tmp_path, kind):
    _, found, _ = in_turns(host, tmp_path, kind, n=2)
    assert found["state"] == "threads"
    assert found["messages"] == "ours"


def test_without_collectives_of_all_ranks_there_are_no_turns(host, tmp_path):
    _, found, _ = in_turns(host, tmp_path, "alone")
    assert (found["state"], found["epochs"]) == ("no collective", [])


@pytest.mark.parametrize("env", [
    {"STRAIGHTWAY_NODE_SIZE": "2"}, {"STRAIGHTWAY_WHERE": "off"},
    {"STRAIGHTWAY_PATIENCE": "on"}, {"STRAIGHTWAY_P2P": "off"}],
    ids=["nodes", "unseen", "patient", "collectives"])
def test_settings(host, tmp_path, env):
    _, found, _ = in_turns(host, tmp_path, "plain", n=4, env=env, steps=100)
    assert found["messages"] == (
        "ours" if "STRAIGHTWAY_WHERE" in env else
        "host" if "STRAIGHTWAY_P2P" in env else "turns")
    assert changes(found) > 10


def test_an_epoch_takes_as_long_as_it_should(host, tmp_path):
    """Whole pairs of at least so many microseconds; both sides in each."""
    run_, found, _ = in_turns(
        host, tmp_path, "plain", n=2, steps=4000,
        env={"STRAIGHTWAY_TURNS_EPOCH": "2000"})
    assert found["seed"] != "0" * 16
    assert [e for e in found["epochs"] if e[4] & 1]
    for pair in run_.pairs:
        assert pair.host.side == 0 and pair.ours.side == 1


# The ranks of this pattern have no memory for a second growth of the log.
NO_MEMORY = """
case ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} in
{ranks}) export STRAIGHTWAY_REFUSE=heap:2;;
esac
exec "$@"
"""


@pytest.mark.parametrize("ranks", ["0", "1", "*"])
def test_without_memory_the_turns_end_on_all_ranks(host, tmp_path, ranks):
    path, program = tmp_path / "turns.json", host.compile(source("in_turns.c"))
    done = well(host.run(3, ["sh", "-c", NO_MEMORY.format(ranks=ranks), "sh",
                             program, "plain", STEPS], env={
        "STRAIGHTWAY_TURNS": path, "STRAIGHTWAY_TURNS_EPOCH": "0"}))
    assert done.stderr.count("no memory for more epochs") == 1
    assert len(turns.load(str(path)).epochs) == 16


@pytest.mark.parametrize("name", ["no/turns.json", "fifo"])
def test_a_file_that_cannot_be_written_is_said(host, tmp_path, name):
    os.mkfifo(tmp_path / "fifo")
    done = well(run(host, 2, "in_turns", "plain", 50, env={
        "STRAIGHTWAY_TURNS": tmp_path / name}))
    assert (tmp_path / "fifo").is_fifo()
    assert "epochs cannot be written" in done.stderr
    assert done.stderr.count("epochs cannot be written") == 1
