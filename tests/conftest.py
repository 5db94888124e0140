"""The `host` fixture: a test that takes it runs under every MPI there is.

    def test_sum(host):
        program = host.compile(HERE / "sum.c")
        host.run(4, [program], check=True)                    # with us
        host.run(4, [program], straightway=False, check=True) # the host alone

Choose hosts with --hosts=openmpi,mpich or STRAIGHTWAY_TEST_HOSTS. The end of
a run names the hosts and the tests that were not run, and why.
"""

import collections
import os

import pytest

from harness import hosts, shm
from straightway import cli

_ABSENT = pytest.StashKey()
_LEFT = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption("--hosts", default=os.environ.get(
        "STRAIGHTWAY_TEST_HOSTS"), help="MPIs to test under, of: "
        + ", ".join(hosts.FINDERS))


def pytest_configure(config):
    try:
        found, absent = hosts.find(config.getoption("--hosts"))
    except LookupError as why:
        raise pytest.UsageError(str(why)) from None
    config.stash[_ABSENT] = absent
    config.straightway_hosts = found


def pytest_generate_tests(metafunc):
    if "host" in metafunc.fixturenames:
        found = metafunc.config.straightway_hosts
        metafunc.parametrize("host", found, ids=[h.name for h in found],
                             indirect=True, scope="session")


@pytest.fixture(scope="session")
def _scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


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


@pytest.fixture(scope="session", autouse=True)
def _dev_shm_stays_clean(request):
    before = shm.entries()
    yield
    ours, of_hosts = shm.left_behind(before)
    request.config.stash[_LEFT] = of_hosts
    assert not ours, f"left in /dev/shm: {', '.join(ours)}"


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
    for one in config.straightway_hosts:
        if one.false_starts:
            say(f"the launcher of {one.name} did not begin, and was run "
                f"again: {one.false_starts} times", yellow=True)
    for name in config.stash.get(_LEFT, ()):
        say(f"a host left /dev/shm/{name}", yellow=True)


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
