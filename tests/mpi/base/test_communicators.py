"""Communicators come and go without growth."""

import pytest
from harness.programs import run, well


def test_communicators_made_and_freed_leave_nothing(host):
    well(run(host, 2, "ten_thousand_communicators", 2000, 200))


@pytest.mark.deep
def test_ten_thousand_communicators(host):
    well(run(host, 2, "ten_thousand_communicators", 10000, 1000, timeout=600))


@pytest.mark.parametrize("handler", ["return", "user"])
@pytest.mark.parametrize("nodes", [{}, {"STRAIGHTWAY_NODE_SIZE": "2"}])
def test_a_refused_call_makes_no_later_member_wait(host, handler, nodes):
    well(run(host, 3, "refused", handler, env=nodes))
