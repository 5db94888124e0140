"""Jobs over test nodes (tests/nodes/), in the manner of Host.run.

A test that takes them is skipped where the machine allows no such nodes; the
reason is what the script says. Virtual nodes (`straightway run --node-size`)
need nothing of the machine.
"""

import functools
import json
import sys
import tempfile

import pytest

from . import patience
from .hosts import TESTS

SCRIPT = TESTS / "nodes" / "nodes"
REFUSED = 77
_SAYS = "nodes: not possible here: "
_LEFT = "nodes: left behind: "


# For a test over several nodes.
able = pytest.mark.unable(
    "debian-mpich", why="over several nodes Debian's MPICH alone may hang in "
    "MPI_Finalize")


@functools.lru_cache(None)
def refusal():
    """Why the machine allows no test nodes; "" where it does."""
    done = patience.run(
        [sys.executable, str(SCRIPT), "-k", "2", "--plain", "true"],
        text=True, capture_output=True, timeout=60)
    if done.returncode == REFUSED:
        return _reason(done)
    assert done.returncode == 0, done.stderr
    return ""


def _reason(done):
    return done.stderr.strip()[len(_SAYS):]


def need():
    """Skip the test where the machine allows no test nodes."""
    if refusal():
        pytest.skip(f"no test nodes: {refusal()}")


def command_line(host, ranks, argv, placement="block", straightway=True,
                 launcher_args=(), run_args=(), options=()):
    """The whole command that run_on_nodes() would start."""
    if not isinstance(placement, str):
        placement = ",".join(map(str, placement))
    return [sys.executable, SCRIPT, "--mpirun", host.mpirun,
            "--ranks", ",".join(map(str, ranks)), "--placement", placement,
            "--launcher-args="
            + " ".join(map(str, [*host.launcher_args, *launcher_args])),
            *options, "--", *host.program_line(argv, straightway, run_args)]


def run_on_nodes(host, ranks, argv, placement="block", straightway=True,
                 env=None, timeout=60, launcher_args=(), cwd=None, check=False,
                 run_args=(), cores="share", left="fail"):
    """Run argv on so many ranks of each node, with or without Straightway.

    `placement` is block, cyclic, random:SEED or the node of each rank. Each
    node has its share of the cores; cores="all" gives it every core. What a
    job leaves on a node, a process or a file in /dev/shm, fails the test
    unless left="allow". Returns a CompletedProcess with text output, whose
    `bytes` are {node: {"tx_bytes": , "rx_bytes": }} of the whole run.
    """
    need()
    with tempfile.NamedTemporaryFile("r") as counts:
        done = host.start(
            command_line(host, ranks, argv, placement, straightway,
                         launcher_args, run_args,
                         ["--cores", cores, "--count-bytes", counts.name]),
            env, timeout, cwd, check)
        text = counts.read()
    if done.returncode == REFUSED and done.stderr.startswith(_SAYS):
        pytest.skip(f"no such job over test nodes: {_reason(done)}")
    done.bytes = json.loads(text) if text else {}
    if left == "fail" and _LEFT in done.stderr:
        raise AssertionError(done.stderr[-8000:])
    return done
