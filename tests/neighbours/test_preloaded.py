"""Libraries that users preload beside ours, before it and behind."""

from pathlib import Path

import pytest

# The library, and the package of Debian that has it.
OTHERS = {
    "libjemalloc.so.2": "libjemalloc2",
    "libtcmalloc.so.4": "libgoogle-perftools4",
    "libtcmalloc_minimal.so.4": "libtcmalloc-minimal4",
    "libtcmalloc_minimal_debug.so.4": "libtcmalloc-minimal4",
    "libmimalloc.so.2": "libmimalloc2.0",
    "libtbbmalloc_proxy.so.2": "libtbbmalloc2",
    "libefence.so.0": "electric-fence",
    "libprofiler.so.0": "libgoogle-perftools4",
    "libeatmydata.so.1": "libeatmydata1",
}
SHORT = ["libjemalloc.so.2", "libefence.so.0"]
# MPICH itself asks for blocks of 0 bytes, which Electric Fence takes for a
# fault.
SETTINGS = {"EF_ALLOW_MALLOC_0": "1"}


@pytest.mark.parametrize("name", [
    name if name in SHORT else pytest.param(name, marks=pytest.mark.deep)
    for name in OTHERS])
def test_a_program_runs_with_another_preloaded_library(ordinary, name):
    found = [*Path("/usr/lib").glob(f"*-linux-gnu/{name}"),
             *Path("/usr/lib").glob(name), *Path("/usr/lib64").glob(name)]
    if not found:
        pytest.skip(f"no {name} here (apt-get install {OTHERS[name]})")
    for order in (f"{found[0]}:$LD_PRELOAD", f"$LD_PRELOAD:{found[0]}"):
        ordinary.same([], ["sh", "-c", f'LD_PRELOAD={order} exec "$0"'],
                      env=SETTINGS)
