"""straightway whatif on a real program, with all native parts."""

import json
import pathlib
import re
import sys

import jsonschema
import pytest
import straightway
from harness import calibrations, jobs, programs
from harness.hosts import COMMAND
from straightway import native

SCHEMA = pathlib.Path(straightway.__file__).parent / "schemas" / \
    "whatif.schema.json"


@pytest.fixture(scope="module", autouse=True)
def _built():
    if not native.whatif_executable().exists():
        pytest.skip("straightway-whatif is not built")


@pytest.fixture
def whatif(host, tmp_path):
    """whatif(words): (report, what was printed), of a real run."""
    program = host.compile(programs.source("solver.c"), "-lm")

    def call(*words, arguments=(), check=True, program=program,
             subcommand="run"):
        out = tmp_path / "report.json"
        done = jobs.run(
            [sys.executable, "-m", "straightway", "whatif", subcommand, "--mpi",
             host.mpirun, "--json", out, "--model", "node", "--check", *words,
             *([program, *arguments] if program else [])],
            host.environment({"STRAIGHTWAY_COMMAND": COMMAND}), 120,
            cwd=tmp_path)
        if not check:
            return done
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads(out.read_text())
        jsonschema.validate(report, json.loads(SCHEMA.read_text()))
        return report, done.stdout

    return call


def test_a_real_program_and_its_replay_agree(whatif):
    live, shown = whatif("-n", "2", "--runs", "1", "--free", "alltoall",
                         "--record", "app.swops")
    base = live["baseline"]
    assert base["collectives"]["alltoall"]["calls"] == 200
    assert base["collectives"]["allreduce"]["calls"] == 200
    assert live["experiments"][0]["time_s"] < base["time_s"]
    assert live["bounds"]["collectives"]["time_s"] <= \
        live["experiments"][0]["time_s"] * (1 + 1e-9)
    assert live["measured"]["runs"] == 1
    assert "alltoall free" in shown
    # The same operations under the same models: the same times, exactly.
    again, _ = whatif("app.swops", "--free", "alltoall", program=None,
                      subcommand="replay")
    for key in ("baseline", "bounds"):
        one, other = ([x.get("time_s") for x in (
            [r[key]] if key == "baseline" else r[key].values())]
            for r in (live, again))
        assert one == pytest.approx(other, rel=1e-9)


def test_more_ranks_than_cores(whatif):
    report, _ = whatif("-n", "8", "--free", "all")
    assert report["ranks"] == 8 and report["measured"] is None
    assert len(report["rank_times"]) == 8
    for one in report["rank_times"]:
        parts = sum(one[k] for k in ("compute_s", "noise_s", "messages_s",
                                     "collectives_s"))
        assert parts == pytest.approx(one["time_s"], rel=1e-6)


def test_a_deadlock_is_told(whatif):
    done = whatif("-n", "2", arguments=["deadlock"], check=False)
    assert done.returncode == 1
    assert "deadlock" in done.stderr and "rank 0" in done.stderr


def test_a_program_without_mpi_is_told(whatif):
    done = whatif("-n", "2", program="/bin/true", check=False)
    assert done.returncode == 1 and "MPI_Init" in done.stderr


def test_a_program_that_is_not_there(whatif):
    done = whatif("-n", "2", program="./nowhere", check=False)
    assert done.returncode == 127 and "./nowhere: not found" in done.stderr


FAST = "cpu_speed = 1e9\n"           # computing takes no time
MINE = FAST + """
[onesided.created]
put = [[8, "1 us", "0.5 us"]]
fetch = [[8, "2 us", "3 us"]]
lock = "4 us"
unlock = "6 us"
[[collective]]
op = "fence"
use = "table"
ranks = 2
rows = [[0, "10 us", "10 us"]]
[[collective]]
op = "fence"
use = "measured"
"""


@pytest.mark.parametrize("names, put, fence, locks, fetch", [
    (("node", "mine.toml"), 1500, 10000, 10000, 5000),
    (("measured", "fast.toml"), 250, 400, 600, 250),
    (("measured-straightway", "fast.toml"), 30, 100, 600, 250)])
def test_one_sided_calls_take_their_measured_times(
        one_host, tmp_path, names, put, fence, locks, fetch):
    """The times of a file, and those of a calibration of known times: of the
    MPI, and of Straightway."""
    (tmp_path / "mine.toml").write_text(MINE)
    (tmp_path / "fast.toml").write_text(FAST)
    program = one_host.compile(programs.source("counted_windows.c"))
    environment = calibrations.keep(one_host, tmp_path, one_host.environment(
        {"STRAIGHTWAY_COMMAND": COMMAND}))
    models = [word for name in names for word in ("--model", name)]
    done = jobs.run(
        [sys.executable, "-m", "straightway", "whatif", "--mpi",
         one_host.mpirun, "-n", "2", "--show-output", "--runs", "0", *models,
         program],
        environment, 120, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {name: int(ns) for name, ns in re.findall(
        r"^(fence|lock|count) (\d+)$", done.stdout, re.M)}
    assert found == pytest.approx(
        {"fence": 10 * (put + fence), "lock": 10 * (put + locks),
         "count": 10 * fetch}, abs=5)
