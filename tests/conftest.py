"""The `host` fixture: a test that takes it runs under several MPIs.

    def test_sum(host):
        program = host.compile(HERE / "sum.c")
        host.run(4, [program], check=True)                    # with us
        host.run(4, [program], straightway=False, check=True) # the host alone

A short run takes one MPI for each test (harness/spread.py), a deep one every
MPI there is. Choose with --hosts=openmpi,mpich or STRAIGHTWAY_TEST_HOSTS, which
takes each of these for every test, or with --every-host.

Workers of pytest-xdist run tests side by side; one marked `alone` has the
machine to itself (harness/turns.py). The end of a run names the slowest tests,
the hosts and the tests that were not run, and why.
"""

import collections
import os
import pathlib
import shutil
import tempfile

import pytest

from harness import browser as browsers
from harness import hosts, shm, spread, turns
from straightway import cli

_ABSENT = pytest.StashKey()
_BEFORE = pytest.StashKey()
_LEFT = pytest.StashKey()
_SHARED = pytest.StashKey()     # the folder of what all workers share
_STARTS = pytest.StashKey()     # launchers that did not begin, by host


def pytest_addoption(parser):
    parser.addoption("--hosts", default=os.environ.get(
        "STRAIGHTWAY_TEST_HOSTS"), help="MPIs to test under, of: "
        + ", ".join(hosts.FINDERS))
    parser.addoption("--every-host", action="store_true",
                     help="each test under every MPI, not under one of them")


def pytest_configure(config):
    try:
        found, absent = hosts.find(config.getoption("--hosts"))
    except LookupError as why:
        raise pytest.UsageError(str(why)) from None
    config.stash[_ABSENT] = absent
    config.straightway_hosts = found
    config.stash[_STARTS] = collections.Counter()
    if _is_worker(config):
        config.stash[_SHARED] = pathlib.Path(config.workerinput["shared"])
    else:
        config.stash[_BEFORE] = shm.entries()
        config.stash[_SHARED] = pathlib.Path(tempfile.mkdtemp(
            prefix="straightway-tests-"))


def pytest_unconfigure(config):
    if not _is_worker(config) and _SHARED in config.stash:
        shutil.rmtree(config.stash[_SHARED], ignore_errors=True)


def _is_worker(config):
    """Is this one of xdist's processes, not the one that reports?"""
    return hasattr(config, "workerinput")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    node.workerinput["shared"] = str(node.config.stash[_SHARED])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash[_STARTS].update(
        getattr(node, "workeroutput", {}).get("false starts", {}))


def pytest_generate_tests(metafunc):
    if "host" in metafunc.fixturenames:
        found = metafunc.config.straightway_hosts
        metafunc.parametrize("host", found, ids=[h.name for h in found],
                             indirect=True, scope="session")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    kept = list(items)
    if not config.getoption("--hosts") and \
            not config.getoption("--every-host"):
        kept = spread.chosen(items)
    for item in kept:
        why = spread.unable(item)
        if why:
            item.add_marker(pytest.mark.skip(reason=why))
    # Those that must be alone come last: the others wait for them once.
    kept.sort(key=_is_alone)
    left = set(items).difference(kept)
    items[:] = kept
    if left:
        config.hook.pytest_deselected(items=list(left))


def _is_alone(item):
    return item.get_closest_marker("alone") is not None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    machine = turns.Machine(item.config.stash[_SHARED])
    with machine.turn(_is_alone(item)):
        return (yield)


@pytest.fixture(scope="session")
def _scratch(request):
    """The folder of programs, which are compiled once for all workers."""
    folder = request.config.stash[_SHARED] / "programs"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def host(request, _scratch):
    """One of the MPIs: see harness.hosts.Host."""
    request.param.scratch = _scratch
    return request.param


@pytest.fixture(scope="session")
def all_hosts(request, _scratch):
    """Every host there is, for a test that chooses by itself."""
    for one in request.config.straightway_hosts:
        one.scratch = _scratch
    return request.config.straightway_hosts


@pytest.fixture
def one_host(all_hosts):
    """For what does not depend on the MPI."""
    if not all_hosts:
        pytest.skip("no MPI at all")
    return all_hosts[0]


def pytest_sessionfinish(session):
    config = session.config
    config.stash[_STARTS].update({host.name: host.false_starts for host in
                                  config.straightway_hosts})
    if _is_worker(config):
        config.workeroutput["false starts"] = dict(config.stash[_STARTS])
        return
    # Nothing of ours has a name in /dev/shm once all jobs have ended.
    config.stash[_LEFT] = shm.left_behind(config.stash[_BEFORE])
    if config.stash[_LEFT][0] and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    say = terminalreporter.write_line
    say("tested under: " + (", ".join(
        h.name for h in config.straightway_hosts) or "no MPI at all"),
        bold=True)
    for name, why in config.stash[_ABSENT].items():
        say(f"NOT TESTED under {name}: {why}", yellow=True)
    reasons = collections.Counter()
    for report in terminalreporter.stats.get("skipped", ()):
        where = report.nodeid.split("::")[0]
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) \
            else str(report.longrepr)
        reasons[(where, why.removeprefix("Skipped: "))] += 1
    for (where, why), count in sorted(reasons.items()):
        say(f"SKIPPED {count} in {where}: {why}", yellow=True)
    for report in terminalreporter.stats.get("rerun", ()):
        say(f"run again: {report.nodeid}", yellow=True)
    for name, times in (+config.stash[_STARTS]).items():
        say(f"the launcher of {name} did not begin, and was run again: "
            f"{times} times", yellow=True)
    ours, of_hosts = config.stash.get(_LEFT, ((), ()))
    for name in of_hosts:
        say(f"a host left /dev/shm/{name}", yellow=True)
    for name in ours:
        say(f"FAILED: left in /dev/shm: {name}", red=True)


@pytest.fixture
def run(capsys):
    """The command in this process: run(words) -> (status, stdout, stderr)"""
    def call(*words):
        try:
            status = cli.main([str(word) for word in words])
        except SystemExit as end:
            status = end.code
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        return status, shown.out, shown.err
    return call


@pytest.fixture(scope="module")
def browser():
    """A real browser, or the test is skipped."""
    if not browsers.installed():
        pytest.skip("there is no Chromium")
    pytest.importorskip("websocket", reason="no websocket-client")
    with browsers.Browser() as one:
        yield one
