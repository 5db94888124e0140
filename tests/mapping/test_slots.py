"""Slots: a machine from a short text, and what it says of two cores."""

import pytest
from straightway.errors import UserError
from straightway.machine import slots
from straightway.machine.readers import sysfs


def test_numbers_name_the_levels():
    found = slots.parse("2x3x4")
    assert found.levels == ("node", "package", "core")
    assert len(found) == 24
    assert found.nodes == [0] * 12 + [1] * 12
    assert found.parts(1) == [i // 4 for i in range(24)]
    assert slots.parse("8").levels == ("core",)
    assert slots.parse("8").nodes == [0] * 8
    assert slots.parse("2x2x2x2x2").levels == (
        "node", "package", "numa", "cache", "core")


def test_machines_join_and_lack_levels():
    found = slots.parse("2x2x2+1x3")
    assert found.levels == ("node", "package", "core")
    assert found.nodes == [0] * 4 + [1] * 4 + [2] * 3
    assert found.parts(1) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4]


def test_levels_with_names():
    found = slots.parse("switch=2,node=3,core=4")
    assert found.levels == ("switch", "node", "core")
    assert max(found.nodes) == 5
    assert found.weights() == sorted(found.weights(), reverse=True)


def test_switches_over_switches_weigh_more():
    found = slots.Slots(("switch 1", "switch 2", "node"),
                        [(0, 0, 0), (0, 1, 1), (1, 2, 2)])
    assert found.weights() == [20, 16, 12]


def test_a_machine_of_the_first_slots():
    found = slots.parse("2x4").first(5)
    assert found.nodes == [0, 0, 0, 0, 1]


def test_this_machine_has_its_cores():
    found = sysfs.slots()
    assert len(found) >= 1 and len(found.cpus) == len(found)
    assert len(set(found.cpus)) == len(found)


@pytest.mark.parametrize("text, says", [
    ("", "is no number"), ("2x", "is no number"), ("0x4", "is no number"),
    ("2xa", "is no number"), ("-2", "is no number"),
    ("1x2x3x4x5x6", "name the levels"), ("nod=2,core=2", "did you mean node"),
    ("node=2", "how many cores"), ("core=2,node=2", "core is not inside|node "
                                   "is not inside"),
    ("node=2,node=2,core=1", "is not inside"),
    ("2x4+", "is no number"), ("9999x9999", "is the most"),
    ("node=two,core=2", "is no number")])
def test_a_wrong_machine_is_an_error_with_its_fix(text, says):
    with pytest.raises(UserError, match=says):
        slots.parse(text)
