"""A sender waits for a late receiver, also if the receiver asks for any source.

A receive from any source, or with any tag, tells whose message it has taken
only at its end. The sender's call may be over before, and must still have its
waiting.
"""

import pytest
from harness import programs
from harness.hosts import ROOT
from test_profile import profiled, regions


@programs.measures
@pytest.mark.parametrize("enable", [False, True], ids=["alone", "ours"])
def test_late_receivers_from_anybody(host, enable, tmp_path):
    program = host.compile(programs.source("profile_anybody.c"),
                           f"-I{ROOT / 'include'}", "-ldl")
    done, found = profiled(host, 2, [program], tmp_path, enable)
    programs.well(done)
    late, waiting = (regions(rank) for rank in found.ranks)
    cases = [name for name in waiting if name]
    assert len(cases) == 26
    for name in cases:
        time, probed, waited = waiting[name]
        assert waited <= probed <= time * 1.01, (name, waiting[name])
        assert late.get(name, (0, 0, 0))[2] < 50e6, (name, late[name])
        if name.startswith("early"):
            assert waited < 50e6, (name, waiting[name])
        else:
            # A sender that lost its core comes late, too.
            assert time > 30e6, (name, waiting[name])
            assert waited > 0.5 * time, (name, waiting[name])
