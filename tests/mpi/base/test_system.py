"""What programs do often asks the system no more than the host does."""

import re

import pytest
from harness.programs import run, well


def asked(done):
    return {name: int(times) for name, times in re.findall(
        r"^(.*\S): (\d+)$", done.stdout, re.M)}


@pytest.mark.parametrize("env", [
    {}, {"STRAIGHTWAY_RMA": "off", "STRAIGHTWAY_MATCH": "off"}])
def test_frequent_calls_read_no_tables_of_the_system(host, env):
    alone = asked(well(run(host, 2, "asks_the_system", straightway=False)))
    with_us = asked(well(run(host, 2, "asks_the_system", env=env)))
    assert len(alone) == len(with_us) == 10
    # Of 40 rounds; to make a new block of the heap shared takes a few looks.
    more = {name: (alone[name], times) for name, times in with_us.items()
            if times > alone[name] + 8}
    assert not more, more
