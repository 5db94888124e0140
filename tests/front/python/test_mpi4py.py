"""mpi4py's own suite: no failure with us that the host alone does not have.

The test fetches the suite by name, as the source that belongs to the installed
mpi4py. It runs the suite with Straightway under each host and number of ranks.
What fails, crashes or hangs with us must do so on the host alone, too.

`make test` runs the modules about communication, on 2 ranks. It runs them on
the host alone only if something is wrong with us. `make test-deep` runs
everything, on 1 to 4 ranks, both with us and alone, and as much must pass. It
also runs the modules about communication over two nodes.
"""

import collections
import hashlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import time

import pytest
from harness import hosts, jobs, nodes, turns
from harness.programs import needs_mpi4py

RECORD = pathlib.Path(__file__).parent / "record.py"

# What Straightway touches: collectives, reductions, communicators,
# datatypes, memory that MPI hands out, errors; and some of what it passes on.
NEAR = ["test_cco_buf", "test_cco_vec", "test_cco_obj", "test_cco_nb_buf",
        "test_cco_nb_vec", "test_cco_pr_buf", "test_cco_pr_vec",
        "test_cco_ngh_buf",
        "test_cco_ngh_obj", "test_comm", "test_op", "test_datatype",
        "test_mpimem", "test_rma", "test_win",
        "test_attributes", "test_errhandler", "test_exceptions",
        "test_threads", "test_p2p_buf", "test_p2p_obj",
        "test_p2p_buf_matched", "test_p2p_obj_matched", "test_request",
        "test_status"]

SHORT = ["test_cco_buf", "test_cco_nb_vec", "test_p2p_buf", "test_p2p_obj",
         "test_request", "test_rma", "test_status"]


@pytest.fixture(scope="session")
def suite():
    """The folder of mpi4py's tests."""
    version = importlib.metadata.version("mpi4py")
    store = hosts.ROOT / ".hosts" / "mpi4py"
    tests = store / f"mpi4py-{version}" / "test"
    with turns.once(store):
        if not (tests / "main.py").exists():
            fetch(version, store)
    return tests


def fetch(version, store):
    store.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
         "--disable-pip-version-check", "--no-binary=mpi4py", "--dest",
         store, f"mpi4py=={version}"], text=True, capture_output=True)
    if done.returncode:
        pytest.skip("mpi4py's source could not be fetched: "
                    + (done.stderr.strip().splitlines() or ["?"])[-1])
    (archive,) = store.glob(f"mpi4py-{version}*.tar.gz")
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(store, filter="data")
        else:
            tar.extractall(store)


# Beside other work, a rank of Open MPI's that polls keeps its partner from the
# processor: a busy loop made this suite four times as slow as with this.
YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}

PATIENCE = 5    # times the host's own time, with us

# `open`: tests that a rank was in when it was cut off.
Outcome = collections.namedtuple("Outcome", "bad passed says open seconds")
CUT_OFF = "not finished in time"


def total(n):
    """The ranks of all nodes."""
    return sum(n) if isinstance(n, tuple) else n


def run(host, n, suite, options, folder, straightway, timeout, env=None):
    """Run the suite: which tests went wrong on any rank, how many passed.
    `n`: ranks, or a tuple: ranks on each of several nodes."""
    folder.mkdir()
    argv = [host.python, "-W", "ignore", RECORD, suite, folder, "-q",
            *options]
    how = {"straightway": straightway, "timeout": timeout,
           "cwd": folder.parent, "env": {**YIELD, **(env or {})}}
    hung, begun = False, time.monotonic()
    try:
        if isinstance(n, tuple):
            done = nodes.run_on_nodes(host, n, argv, left="allow", **how)
        else:
            done = host.run(n, argv, stragglers="kill", **how)
        says = done.stderr[-6000:]
    except jobs.JobTimeout as why:
        hung, says = True, str(why)[-6000:]
    seconds = time.monotonic() - begun
    bad, passed, ranks, at = set(), 0, 0, set()
    for record in folder.iterdir():
        ranks += 1
        open_test = None
        for line in record.read_text().splitlines():
            try:
                test, event = json.loads(line)
            except ValueError:
                continue                     # cut off by a crash
            if event == "begun":
                open_test = test
                continue
            open_test = None
            if event == "failed":
                bad.add(test)
            passed += event == "passed"
        if open_test and hung:
            at.add(open_test)
        elif open_test:
            bad.add(f"{open_test} (crashes)")
    if ranks != total(n):
        bad.add(f"{ranks} of {n} ranks began")
    if hung:
        bad.add(CUT_OFF)
    return Outcome(bad, passed, says, at, seconds)


_alone = {}       # what the host does, of this session


def host_alone(host, n, suite, options, tmp_path, timeout):
    """What the host does by itself: run once, and remembered."""
    stamp = os.stat(host.library)
    key = hashlib.sha256(json.dumps(
        [host.name, str(host.library), stamp.st_size, stamp.st_mtime, n,
         str(suite), options, "with seconds"]).encode()).hexdigest()[:16]
    store = suite.parents[1] / f"alone-{host.name}-{n}-{key}.json"
    if store.exists():
        bad, passed, seconds = json.loads(store.read_text())
        return Outcome(set(bad), passed, f"(remembered in {store})", set(),
                       seconds)
    if key in _alone:
        return _alone[key]
    alone = run(host, n, suite, options, tmp_path / "alone", False, timeout)
    _alone[key] = alone
    if CUT_OFF not in alone.bad:
        new = store.with_suffix(".new")
        new.write_text(json.dumps([sorted(alone.bad), alone.passed,
                                   alone.seconds]))
        new.replace(store)
    return alone


def ours(host, n, suite, options, tmp_path, timeout, env=None):
    """What the suite does with us. A verdict on its time needs the host's: if
    it was cut off where the host was not, it runs again with much of that."""
    first = run(host, n, suite, options, tmp_path / "ours", True, timeout, env)
    if CUT_OFF not in first.bad:
        return first
    alone = host_alone(host, n, suite, options, tmp_path, 2 * timeout)
    if CUT_OFF in alone.bad:
        return first
    return run(host, n, suite, options, tmp_path / "again", True,
               max(timeout, PATIENCE * alone.seconds), env)


def allowed(host, n, options):
    if host.name == "impi" or isinstance(n, tuple):
        # Dynamic processes crash in this wheel, with nothing of ours. Over test
        # nodes the launchers have no room for them.
        options = [*options, "-e", "spawn", "-e", "dynproc", "-x", "Spawn",
                   "-x", "Connect", "-x", "Join"]
    return options


def no_new(with_us, alone):
    """What was cut off on both sides is no failure: which test each side was
    in then is chance."""
    new = with_us.bad - alone.bad
    assert not new, (f"{len(new)} fail with us only: "
                     + ", ".join(sorted(new)) + "; cut off in "
                     + ", ".join(sorted(with_us.open)) + "\n" + with_us.says)
    if CUT_OFF in with_us.bad:
        pytest.skip("cut off on both sides, with us after "
                    f"{with_us.seconds:.0f} s: {with_us.passed} tests passed")


def compare(host, n, suite, options, tmp_path, timeout, env=None):
    options = allowed(host, n, options)
    alone = host_alone(host, n, suite, options, tmp_path, timeout)
    with_us = ours(host, n, suite, options, tmp_path, timeout, env)
    no_new(with_us, alone)
    # As much was tested, or the comparison says nothing.
    assert with_us.passed >= 0.99 * alone.passed and \
        alone.passed > 100 * total(n), \
        (with_us.passed, alone.passed, alone.says)


def communication(host, n, suite, tmp_path, timeout, env=None, files=NEAR,
                  least=500):
    options = [o for name in files for o in ("-i", name + r"\.")]
    options += ["-x", "DatatypePickle"]      # slow, and local
    options = allowed(host, n, options)
    with_us = ours(host, n, suite, options, tmp_path, timeout, env)
    if with_us.bad:
        no_new(with_us, host_alone(host, n, suite, options, tmp_path,
                                   2 * timeout))
    assert with_us.passed > least * total(n), (with_us.passed, with_us.says)


@needs_mpi4py
def test_messages_and_windows(host, suite, tmp_path):
    communication(host, 2, suite, tmp_path, 120, files=SHORT, least=150)


@needs_mpi4py
@pytest.mark.deep
def test_communication(host, suite, tmp_path):
    communication(host, 2, suite, tmp_path, 120)


@needs_mpi4py
@nodes.able
@pytest.mark.deep
@pytest.mark.parametrize("way", ["leaders", "lanes"])
def test_communication_over_nodes(host, suite, tmp_path, way):
    nodes.need()
    communication(host, (2, 2), suite, tmp_path, 1800,
                  {"STRAIGHTWAY_SPAN_WAY": way})


@needs_mpi4py
@pytest.mark.deep
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_everything(host, suite, tmp_path, n):
    compare(host, n, suite, [], tmp_path, 1800)


@needs_mpi4py
@pytest.mark.deep
def test_everything_recorded(host, suite, tmp_path):
    compare(host, 2, suite, [], tmp_path, 1800, {
        "STRAIGHTWAY_PROFILE": "on", "STRAIGHTWAY_PROFILE_REPORT": "off",
        "STRAIGHTWAY_PROFILE_OUTPUT": str(tmp_path),
        "STRAIGHTWAY_ENABLE": "off"})
    assert list(tmp_path.glob("*.swcap"))
