"""Where memory is limited, what cannot be mapped costs speed only."""

import os
import shutil

import pytest
from harness.programs import AT_ONCE, source, well

MIB = 1 << 20


@pytest.mark.parametrize("room", [
    256 * MIB, pytest.param(1024 * MIB, marks=pytest.mark.deep),
    16384 * MIB])
def test_little_address_space_is_enough(host, room):
    """Neither arena nor pool of the usual size fits beside the host."""
    prlimit = shutil.which("prlimit")
    if not prlimit:
        pytest.skip("no prlimit command")
    program = host.compile(source("random_collectives.c"), "-lm", "-lpthread")
    arguments = [program, "21", "200", "--max", "65536"]
    limited = [prlimit, f"--as={room}", *arguments]
    alone = host.run(2, limited, straightway=False)
    if alone.returncode:
        pytest.skip(f"{room // MIB} MiB are too little for the host alone")
    if room < 1024 * MIB:
        # The run without the library has not counted the library's own pages.
        limited[1] = f"--as={room + 64 * MIB}"
    done = well(host.run(2, limited, env=AT_ONCE), "calls right")
    assert os.path.basename(program) == "random_collectives"
    assert "abort" not in done.stderr
