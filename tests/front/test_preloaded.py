"""Libraries that users preload beside ours, before it or behind."""

from pathlib import Path

import pytest
from harness.programs import well

# The library, and the package of Debian that has it.
OTHERS = {
    "libtcmalloc.so.4": "libgoogle-perftools4",
    "libtcmalloc_minimal_debug.so.4": "libtcmalloc-minimal4",
    "libprofiler.so.0": "libgoogle-perftools4",
    "libjemalloc.so.2": "libjemalloc2",
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_program_runs_with_another_preloaded_library(host, name):
    found = [*Path("/usr/lib").glob(f"*-linux-gnu/{name}"),
             *Path("/usr/lib64").glob(name)]
    if not found:
        pytest.skip(f"no {name} here (apt-get install {OTHERS[name]})")
    program = host.compile(Path(__file__).parent / "sanitized.c")
    env = {"LD_PRELOAD": str(found[0])}
    alone = host.run(2, [program], straightway=False, env=env)
    if alone.returncode:
        pytest.skip(f"the host alone fails on it: {alone.stderr[-200:]}")
    well(host.run(2, [program], env=env))
