"""bench/applications.py: real programs, alone and with us in turns.

A shell script stands for a program, and a folder of scripts for the launcher
and for dpkg: nothing of Debian's is needed. The script knows by LD_PRELOAD that
it runs with Straightway. The last test runs the real programs that are there.
"""
import json
import os
import shutil
import sys

import application
import comparison
import comparison_table as table
import job
import memory
import pytest
from harness import calibrations, jobs
from harness.hosts import ROOT

SCRIPT = ROOT / "bench" / "applications.py"
REAL = application.read_all(ROOT / "applications")

LAUNCHER = """#!/bin/sh
[ "$1 $2" = "--oversubscribe -n" ] || exit 9
ranks=$3
shift 3
for rank in $(seq "$ranks"); do RANK=$rank "$@" || exit 1; done
"""
DPKG = """#!/bin/sh
for name in "$@"; do
    case $name in
    openmpi-bin|libopenmpi-dev|there) echo "$name installed" ;;
    removed) echo "$name config-files" ;;
    esac
done
"""
PROGRAM = """title = "A program"
packages = ["there"]
prepare = ["echo $RANKS > ranks"]
command = "sh program.sh"
result = ['^energy']
timer = 'took ([0-9.]+) s'
tolerance = 1e-6
"""
GOOD = """[ "$RANK" = 1 ] || exit 0
echo "energy -1.25 of $(cat ranks)"
echo "took 0.5 s"
"""


@pytest.fixture
def there(tmp_path):
    """A folder of programs, and the environment with its own launcher."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in (("mpirun.openmpi", LAUNCHER), ("dpkg-query", DPKG)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    programs = tmp_path / "programs"
    programs.mkdir()
    return programs, {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}


def program(folder, name, script=GOOD, text=PROGRAM):
    (folder / name).mkdir()
    (folder / name / "program.toml").write_text(text)
    (folder / name / "program.sh").write_text(script)


def call(there, *arguments, limit=60):
    programs, env = there
    return jobs.run(
        [sys.executable, SCRIPT, "--programs", programs, "--no-bound",
         "--profiles", "0", *map(str, arguments)], env, limit)


# The whole ------------------------------------------------------------------

def test_a_program_has_a_line_and_its_samples(there, tmp_path):
    program(there[0], "good")
    out, page = tmp_path / "a.json", tmp_path / "a.md"
    done = call(there, "--pairs", 3, "--ranks", "2,3", "--json", out,
                "--page", page)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[:3] for line in lines[1:3]] == [
        ["A", "program", "2"], ["A", "program", "3"]]
    assert lines[3].startswith("geometric mean of 2: ")
    report = json.loads(out.read_text())
    assert report["schema"] == "straightway-bench-applications/1"
    for row, ranks in zip(report["rows"], (2, 3)):
        assert (row["state"], row["ranks"], row["pairs"]) == ("ok", ranks, 3)
        assert row["own"]["ratio"]["median"] == 1
        # Each side is first as often as the other, but for an odd pair.
        assert [one["way"] for one in row["samples"]] == [
            "alone", "ours", "ours", "alone", "alone", "ours"]
        for one in row["samples"]:
            assert one["result"] == [f"energy -1.25 of {ranks}"]
            assert len(one["each"]) == ranks and one["rss"] > 500
            assert one["minor"] > 100 and one["voluntary"] >= 0
    text = page.read_text()
    assert text.startswith(table.BEGIN) and text.endswith(table.END)
    assert text.count("| A program |") == 2


@pytest.mark.parametrize("script, state, why", [
    (GOOD + '[ -z "$LD_PRELOAD" ] || echo energy 3\n', "WRONG",
     "2 lines of its result in place of 1"),
    ('echo "energy ${LD_PRELOAD:+1}1"\n', "WRONG",
     "ours: «energy 11» in place of «energy 1»"),
    ('[ -n "$LD_PRELOAD" ] || echo energy\n', "WRONG", "no line"),
    (GOOD + '[ -z "$LD_PRELOAD" ] || { echo no room >&2; exit 7; }\n',
     "FAILS", "no room"),
    (GOOD + '[ -z "$LD_PRELOAD" ] || sleep 60\n', "HANGS", "limit"),
])
def test_what_only_we_do_to_a_program_is_an_error(there, script, state, why):
    program(there[0], "good")
    program(there[0], "bad", script)
    done = call(there, "--pairs", 1, "--ranks", 1, "--limit", 5)
    assert done.returncode == 1
    bad, good = done.stdout.splitlines()[1:3]
    assert f" {state}: " in bad and why in bad
    assert good.split()[4] == "s"
    assert "geometric mean of 1" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("script, state", [
    ('date "+energy %N"\n', "varies alone"),
    ("exit 3\n", "fails alone"), ("echo nothing\n", "fails alone")])
def test_what_a_program_does_alone_is_no_error(there, script, state):
    program(there[0], "odd", script)
    done = call(there, "--pairs", 2, "--ranks", 1)
    assert done.returncode == 0
    assert f" {state}: " in done.stdout.splitlines()[1]
    assert "nothing was measured" in done.stdout


def test_a_program_that_is_not_installed_is_named(there):
    program(there[0], "gone", text=PROGRAM.replace(
        '"there"', '"there", "removed", "unknown"'))
    done = call(there, "--pairs", 1)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == \
        "A program: not installed: apt-get install removed unknown"


def test_a_machine_without_dpkg_has_none(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert application.absent(["bash"]) == ["bash"]


def test_a_preparation_that_fails_is_named(there):
    program(there[0], "odd", text=PROGRAM.replace(
        "echo $RANKS > ranks", "echo no compiler; exit 4"))
    done = call(there, "--pairs", 1, "--ranks", 1)
    assert "fails alone: echo no compiler; exit 4: no compiler" in done.stdout


@pytest.mark.parametrize("arguments, words", [
    (["--only", "good,goood"], "did you mean good?"),
    (["--pairs", "0"], "numbers above 0"),
    (["--ranks", "two"], "numbers above 0")])
def test_a_mistake_is_named(there, arguments, words):
    program(there[0], "good")
    done = call(there, *arguments)
    assert done.returncode and words in done.stderr
    assert "Traceback" not in done.stderr


# The files ------------------------------------------------------------------

@pytest.mark.parametrize("text, words", [
    (PROGRAM + "tolerence = 1\n", "tolerence is not known"),
    (PROGRAM.replace("command", "#"), "command is missing"),
    ("title =", "program.toml: ")])
def test_a_bad_file_is_named(there, text, words):
    program(there[0], "bad", text=text)
    done = call(there, "--pairs", 1)
    assert done.returncode == 1 and words in done.stderr


@pytest.mark.parametrize("name", REAL)
def test_every_file_says_what_it_needs(name):
    app = REAL[name]
    assert all(isinstance(one, list) or one == () for one in
               (app.packages, app.result, app.prepare, app.ranks))
    assert app.result and len(app.title) <= 16
    # Elk reads elk.in without being told.
    shown = " ".join([app.command, *app.prepare, "elk.in"])
    for path in app.folder.glob("*"):
        assert path.suffix not in (".py", ".in", ".ctl", ".edp", ".R", ".top") \
            or path.name in shown


def read(there, **keys):
    program(there[0], "one")
    app = application.read(there[0] / "one" / "program.toml")
    return application.Application(**{**vars(app), **keys})


@pytest.mark.parametrize("wanted, found, equal", [
    ("energy -1.0000000 eV", "energy -1.0000001 eV", True),
    ("energy -1.0000000 eV", "energy -1.0001000 eV", False),
    ("energy -1.0 eV", "energy 1.0 eV", False),
    ("energy 1 eV", "energies 1 eV", False),
    ("1.00D+03", "1000.0", True), ("x= 1e-12", "x=-1e-12", True),
    ("x 0", "x 1e-10", True), ("x 0", "x 1e-8", False),
    ("x 1.5", "x NaN", False), ("x NaN", "x NaN", True),
    ("1.5-2.5i", "1.5-2.5000001i", True), ("1 2", "1 2 3", False)])
def test_results_agree_within_the_tolerance(there, wanted, found, equal):
    app = read(there, floor=1e-9)
    assert (app.difference([wanted], [found]) is None) is equal


def test_without_a_tolerance_every_digit_counts(there):
    app = read(there, tolerance=0)
    assert app.difference(["1.0"], ["1.0"]) is None
    assert app.difference(["1.0"], ["1.1"])
    assert app.difference(["1.0"], [])


def test_a_result_is_lines_or_their_groups(there, tmp_path):
    app = read(there, result=[r"step (\d+) .* is (\S+)", "^end"], file="out")
    (tmp_path / "out").write_text("step 1 in 0.3 s is 7\nx\n  end\nend\n")
    assert app.lines(app.text("step 2", tmp_path)) == ["1 7", "end"]
    assert app.lines(app.text("step 2", tmp_path / "gone")) == []
    assert app.own_time("took 1 s", "took 2.5 s") == 2.5
    assert app.own_time("nothing") is None


# The figures ----------------------------------------------------------------

def sample(way, pair, wall, **more):
    keys = dict.fromkeys(comparison.SUMS, 1)
    return {"way": way, "pair": pair, "wall": wall, "own": None,
            "rss": 1024, "result": [], "said": [], **keys, **more}


def test_ratios_are_those_of_a_pair():
    found = comparison.figures([
        sample("alone", 0, 2), sample("ours", 0, 1),
        sample("ours", 1, 4), sample("alone", 1, 4),
        sample("alone", 2, 6), sample("ours", 2, 4),
        sample("profile", 0, 5), sample("alone", 3, 9)])
    assert found["pairs"] == 3
    assert found["wall"]["alone"] == 4 and found["wall"]["ours"] == 4
    assert found["wall"]["ratio"] == {
        "median": 1.5, "low": 1, "high": 2, "min": 1}
    assert found["profile"] == 1 and found["own"] is None
    assert comparison.figures([sample("alone", 0, 1)]) == {"pairs": 0}


def test_memory_that_two_processes_map_counts_once():
    """A child maps the parent's 64 MiB, which both have touched. The launcher's
    own memory is not counted."""
    text = ("import mmap, os, time\n"
            "a = mmap.mmap(-1, 64 << 20)\n"
            "os.fork()\n"
            "for i in range(0, 64 << 20, 4096): a[i] = 1\n"
            "time.sleep(0.5)\n")
    launcher = ("import subprocess, sys; a = bytearray(64 << 20); "
                f"subprocess.run([sys.executable, '-c', {text!r}])")
    sampler = memory.Sampler()
    done = job.run([sys.executable, "-c", launcher], os.environ, "/", 60,
                   watch=sampler)
    assert not done.status, done.errors
    assert 64 << 10 <= sampler.peak < 120 << 10


def test_the_column_of_memory_is_the_difference():
    assert table.more({"memory": {"alone": 2048, "ours": 3584}}) == "+1.5"
    assert table.more({"memory": None}) == "–"


def test_a_count_of_nothing_has_no_ratio():
    found = comparison.figures([sample("alone", 0, 2, voluntary=0),
                                sample("ours", 0, 1, voluntary=5)])
    assert found["voluntary"] == {"alone": 0, "ours": 5}
    assert table.ratio(found["voluntary"]) == "–"


@pytest.mark.parametrize("most, gained, part", [
    (2.0, 1.25, 0.4), (1.25, 1.25, 1.0), (2.0, 0.8, -0.5), (1.005, 1.2, None),
    (None, 1.2, None)])
def test_the_part_taken_is_of_the_time_that_communication_costs(
        most, gained, part):
    row = {"most": most, "pairs": 1, "wall": {"ratio": {"median": gained}}}
    assert comparison.taken(row) == (part and pytest.approx(part))


def test_the_mean_is_geometric():
    rows = [{"state": "ok", "wall": {"ratio": {"median": it}}}
            for it in (2, 0.5)]
    assert comparison.mean([*rows, {"state": "WRONG"}]) == {
        "ratio": 1, "programs": 2, "lowest": 0.5}
    assert comparison.mean([{"state": "HANGS"}]) is None


def test_a_page_renews_the_table_between_its_marks():
    report = {"machine": {"cpu": "A", "cores": 2, "kernel": "6",
                          "date": "2030-01-01T00"}, "pairs": 1, "rows": [
        {"title": "It", "ranks": 2, "state": "WRONG", "pairs": 0}]}
    one = table.renewed("", report)
    assert "| It | 2 | WRONG |" in one
    two = table.renewed(f"# Page\n{one}end\n", report)
    assert two == f"# Page\n{one}end\n"


# Under an MPI ---------------------------------------------------------------

SMALL = """title = "Small"
packages = []
prepare = ["mpicc.openmpi -o small small.c"]
command = "./small"
result = ['^sum']
"""
SOURCE = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int one = 1, sum = 0, me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < 200; i++)
        MPI_Alltoall(&one, 1, MPI_INT, (int[2]){0}, 1, MPI_INT,
                     MPI_COMM_WORLD);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!me)
        printf("sum %d\\n", sum);
    MPI_Finalize();
    return 0;
}
"""


def test_profile_and_bound_are_measured_under_an_mpi(all_hosts, tmp_path):
    host = next((one for one in all_hosts if one.name == "debian-openmpi"),
                None)
    if not host:
        pytest.skip("Debian's Open MPI is not there")
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "program.toml").write_text(SMALL)
    (tmp_path / "small" / "small.c").write_text(SOURCE)
    env = calibrations.keep(host, tmp_path, host.environment({}))
    out = tmp_path / "a.json"
    done = jobs.run([sys.executable, SCRIPT, "--programs", tmp_path,
                     "--pairs", "1", "--ranks", "2", "--json", out], env, 240)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(out.read_text())
    row, = report["rows"]
    assert row["state"] == "ok", row["why"]
    assert [one["way"] for one in row["samples"]] == [
        "alone", "ours", "profile"]
    assert not report["notes"] and row["most"] >= 1
    assert row["profile"] is not None and not row["said"]


# The real programs ----------------------------------------------------------

@pytest.mark.deep
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("name", REAL)
def test_a_real_program_has_the_same_result(name, ranks, tmp_path):
    app = REAL[name]
    absent = app.missing()
    if absent or not shutil.which(application.LAUNCHER):
        pytest.skip(table.missing(app, absent))
    row = comparison.Comparison(tmp_path, job.LIMIT).measure(
        app, ranks, 1, 0, False)
    if row["state"] == comparison.ALONE:
        pytest.skip(f"{app.title} fails alone: {row['why']}")
    assert row["state"] == comparison.FINE, row["why"]
    assert not row["said"]
