"""straightway study on a real program, with all native parts. Only the
calibration is a stand-in: a real one takes as long as all tests here."""

import json
import pathlib
import shutil
import sys

import jsonschema
import pytest
import straightway
from harness import calibrations, jobs, programs
from harness.hosts import COMMAND
from straightway import native
from test_whatif_command import SCHEMA as FORECAST

SCHEMA = pathlib.Path(straightway.__file__).parent / "schemas" / \
    "study.schema.json"


@pytest.fixture(scope="module", autouse=True)
def _built():
    if not native.whatif_executable().exists():
        pytest.skip("straightway-whatif is not built")


@pytest.fixture
def place(host, tmp_path):
    """(folder to run in, environment): with a calibration, and with a folder
    for temporary files of its own."""
    for name in ("here", "tmp", "cache"):
        (tmp_path / name).mkdir()
    return tmp_path / "here", calibrations.keep(
        host, tmp_path / "cache", host.environment({
            "STRAIGHTWAY_COMMAND": COMMAND, "TMPDIR": tmp_path / "tmp",
            "COLUMNS": 80}))


@pytest.fixture
def study(host, place):
    """study(words...): the finished job; ./app is the program."""
    here, environment = place
    (here / "app").symlink_to(host.compile(programs.source("solver.c"), "-lm"))

    def call(*words, environment=environment):
        done = jobs.run([sys.executable, "-m", "straightway", "study", "--mpi",
                         host.mpirun, *words], environment, 120, cwd=here)
        # Nothing of what it made for itself is left.
        assert not list((here.parent / "tmp").glob("straightway*"))
        return done

    call.here, call.environment = here, environment
    return call


def made_by(study):
    return {p.name for p in study.here.iterdir()} - {"app"}


def test_prediction_and_measurement_of_a_real_program(study):
    done = study("-n", "2", "--runs", "2", "--json", "app.json", "./app")
    assert done.returncode == 0, done.stdout + done.stderr
    assert made_by(study) == {"app.json", "app.2.study.html"}
    report = json.loads((study.here / "app.json").read_text())
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    jsonschema.validate(report["forecast"], json.loads(FORECAST.read_text()))
    # The model takes half as long with Straightway: so does the prediction,
    # as far as these tables go.
    predicted = report["predicted"]
    assert 0 < predicted["ours_s"] < predicted["host_s"]
    for who in ("host", "ours"):
        one = report["measured"][who]
        assert len(one["samples_s"]) == 2
        assert 0 < one["low_s"] <= one["median_s"] <= one["high_s"]
    calls = report["forecast"]["baseline"]["collectives"]
    assert calls["alltoall"]["calls"] == calls["allreduce"]["calls"] == 200
    assert {one["operation"]: one["calls"]
            for one in report["profile"]["operations"]}["MPI_Alltoall"] == 200
    assert report["placement"]["known"]
    if not report["placement"]["levels"]:
        assert "no placement can help" in " ".join(done.stdout.split())
    # And on the terminal.
    for told in ("Prediction and measurement", "with Straightway", "alltoall",
                 "No improvement of collectives", "2 runs"):
        assert told in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "wrote app.2.study.html" in done.stderr


@pytest.mark.parametrize("what, kind, words", [
    ("windows", "one-sided", "One-sided calls"),
    ("gives", "given", "320 KiB changed hands")])
def test_what_no_model_knows_stands_beside_the_prediction(study, host, what,
                                                          kind, words):
    program = host.compile(programs.source("seen.c"), "-ldl")
    (study.here / "seen").symlink_to(program)
    done = study("-n", "2", "--runs", "1", "--json", "app.json", "./seen",
                 what, environment={**study.environment,
                                    "STRAIGHTWAY_P2P": "on"})
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((study.here / "app.json").read_text())
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    (one,) = report["shared"]
    assert one["kind"] == kind and one["ours"]["calls"] > 0
    assert bool(one["host"]) == (what == "windows")
    assert words in " ".join(done.stdout.split())


def test_its_page_is_drawn(study, browser):
    assert study("-n", "2", "--runs", "1", "./app").returncode == 0
    page = study.here / "app.2.study.html"
    assert page.stat().st_size < 3 << 20
    for width, dark in ((1280, False), (400, True)):
        shown = browser.open(page, width=width, dark=dark)
        assert not shown.complaints
        assert shown.evaluate(
            "document.documentElement.scrollWidth") <= width
        widths = shown.evaluate(
            "[...document.querySelectorAll('#table-gain .bar i')]"
            ".map(e => e.getBoundingClientRect().width)")
        assert len(widths) == 4 and min(widths) > 0
        # Its main source, with the operation that takes longest first.
        assert shown.evaluate("document.querySelector("
                              "'#table-operations tbody td').innerText") \
            in ("MPI_Alltoall", "MPI_Allreduce")


@pytest.mark.parametrize("word, told", [
    ("fail", ("ended with status 3", "no such file: input.nml",
              "straightway run --enable=off -n 2 ./app fail")),
    ("die", ("./app ended with status", " died")),
    ("deadlock", ("deadlock", "rank 0: receive from 1, tag 7"))])
def test_a_program_that_fails_is_told_with_what_it_said(study, word, told):
    done = study("-n", "2", "./app", word)
    assert done.returncode == 1 and not done.stdout
    for words in told:
        assert words in done.stderr
    assert ("deadlock" in done.stderr) == (word == "deadlock")
    assert "Traceback" not in done.stderr and not made_by(study)


def test_a_program_without_mpi_is_told(study):
    done = study("-n", "2", "/bin/true")
    assert done.returncode == 1 and not made_by(study)
    assert "/bin/true has not called MPI_Init" in done.stderr


def test_a_machine_that_cannot_be_measured(host, place, study):
    """An installation that was built without this MPI's benchmarks, and no
    calibration that is kept."""
    here, environment = place
    root = here.parent / "installed"
    (root / "bin").mkdir(parents=True)
    (root / "lib" / "straightway").mkdir(parents=True)
    shutil.copy2(COMMAND, root / "bin" / "straightway")
    for path in native.folder().iterdir():
        if not path.name.startswith("libstraightway-bench"):
            (root / "lib" / "straightway" / path.name).symlink_to(path)
    done = study("-n", "2", "./app", environment=dict(
        environment, STRAIGHTWAY_COMMAND=str(root / "bin" / "straightway"),
        XDG_CACHE_HOME=str(here)))
    assert done.returncode == 1 and not made_by(study)
    assert "libstraightway-bench" in done.stderr
    assert "Traceback" not in done.stderr
