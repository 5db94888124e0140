"""Communicators come and go without growth."""

import pytest
from harness.programs import run, well


def test_communicators_made_and_freed_leave_nothing(host):
    well(run(host, 2, "ten_thousand_communicators", 2000, 200))


@pytest.mark.deep
def test_ten_thousand_communicators(host):
    well(run(host, 2, "ten_thousand_communicators", 10000, 1000, timeout=600))
