"""The file of a run in turns: what it says, and what is wrong with it."""

import json

import pytest
from harness.turned import turned
from straightway.errors import UserError
from straightway.study import turns


def load(tmp_path, found):
    path = tmp_path / "turns.json"
    path.write_text(found if isinstance(found, str) else json.dumps(found))
    return turns.load(path)


def test_epochs_become_pairs(tmp_path):
    run = load(tmp_path, turned(pairs=40, gain=0.1))
    assert (run.state, run.ranks, run.period) == ("turned", 2, 4)
    assert len(run.pairs) == 40 and not run.unused and not run.loose
    assert run.periods == 40 * 2 * 5
    assert [one.learning for one in run.learnt] == [True]
    for pair in run.pairs:
        host, ours = pair.sides()
        assert ours / host == pytest.approx(0.9, abs=0.01)
        assert pair.sides(1)[0] <= host


def test_the_slowest_rank_counts(tmp_path):
    found = turned(pairs=1)
    found["times"][1:] = [[5, 9], [7, 3]]
    (pair,) = load(tmp_path, found).pairs
    assert {pair.host.time, pair.ours.time} == {9, 7}
    assert {pair.host.times[1], pair.ours.times[1]} == {9, 3}


def test_longer_epochs_count_by_their_calls(tmp_path):
    found = turned(pairs=1)
    for row, ns in zip(found["epochs"][1:], found["times"][1:]):
        row[3] = 20 if row[0] == 0 else 30
        ns[:] = [1000 * row[3]] * 2
    (pair,) = load(tmp_path, found).pairs
    assert pair.sides() == (25000, 25000)


def test_pairs_that_cannot_count_are_left_out(tmp_path):
    found = turned(pairs=5)
    del found["epochs"][-1], found["times"][-1]
    found["epochs"][3][3] = 0
    found["times"][5][0] = 0
    run = load(tmp_path, found)
    assert (len(run.pairs), run.unused) == (2, 3)


@pytest.mark.parametrize("pairs", [0, 1])
def test_few_pairs_can_be_read(tmp_path, pairs):
    assert len(load(tmp_path, turned(pairs=pairs)).pairs) == pairs


def test_a_file_that_was_cut_is_told(tmp_path):
    text = json.dumps(turned(pairs=9))
    for end in (0, 1, len(text) // 2, len(text) - 1):
        with pytest.raises(UserError, match="cut short"):
            load(tmp_path, text[:end])


def test_no_file_is_told(tmp_path):
    with pytest.raises(UserError, match="written no file"):
        turns.load(tmp_path / "none")


def change(**more):
    return lambda found: found.update(more)


def shorten(name):
    return lambda found: found[name].pop()


@pytest.mark.parametrize("spoil, told", [
    (change(schema="straightway-turns/2"), "schema"),
    (change(ranks=3), "init_ns"), (change(ranks=0), "init_ns"),
    (change(ranks="2"), '"ranks"'), (change(period=-1), '"period"'),
    (change(state="odd"), "'odd'"), (change(columns=["side"]), "columns"),
    (change(epochs={}), "differ in number"),
    (shorten("times"), "differ in number"),
    (lambda found: found["epochs"][1].pop(), "epoch 1"),
    (lambda found: found["times"][1].pop(), "epoch 1"),
    (lambda found: found["times"][1].__setitem__(0, -5), "epoch 1"),
    (lambda found: found["times"][1].__setitem__(0, 1.5), "epoch 1"),
    (lambda found: found["epochs"][1].__setitem__(0, 2), "epoch 1")])
def test_what_is_wrong_is_told(tmp_path, spoil, told):
    found = turned(pairs=3)
    spoil(found)
    with pytest.raises(UserError, match=told):
        load(tmp_path, found)
    with pytest.raises(UserError):
        load(tmp_path, "[]")
