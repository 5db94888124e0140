"""straightway study: prediction beside measurement, on one page."""

import dataclasses
import json
import pathlib

import jsonschema
import pytest
import straightway
from harness import captures
from harness import whatif_standin as standin
from harness.calibrations import calibration
from harness.turned import turned
from straightway import profile, study
from straightway.commands import study as command
from straightway.errors import UserError
from straightway.machine import hardware as machine
from straightway.study import computing, figures, shared
from straightway.whatif import measured, needs, outcomes, placements
from straightway.whatif import runs as whatif
from test_whatif_command import SCHEMA as FORECAST

SCHEMA = pathlib.Path(straightway.__file__).parent / "schemas" / \
    "study.schema.json"


def ran(monkeypatch, job, tmp_path):
    """Let the measured runs be those of a capture."""
    path = job.write(tmp_path / "ran.swcap")
    new = whatif.Runner

    def placed(*arguments):
        one = new(*arguments)
        one.profile = profile.load(path)
        return one

    monkeypatch.setattr(whatif, "Runner", placed)


RUNS = ("--runs", "3")


def report_of(run, *words, way=RUNS):
    """`way`: how the gain is measured, an option."""
    status, out, err = run("study", "--json", "-", "--html", "page.html",
                           *way, *words)
    assert status == 0, err
    report = json.loads(out)
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    jsonschema.validate(report["forecast"], json.loads(FORECAST.read_text()))
    return report


def test_the_prediction_stands_beside_the_measured_gain(run, runner):
    report = report_of(run, "-n", "2", "./app")
    assert report["predicted"] == pytest.approx(
        {"host_s": 4.0, "ours_s": 3.0, "speed_up": 4 / 3, "speed": 1.0})
    assert report["measured"]["host"]["median_s"] == pytest.approx(4.08)
    assert report["measured"]["ours"]["median_s"] == pytest.approx(3.06)
    assert report["error"]["host"] == pytest.approx(4 / 4.08 - 1)
    assert report["error"]["gain"] == pytest.approx(0, abs=1e-12)


def test_both_sides_run_in_turns_and_each_is_first_as_often(monkeypatch, run,
                                                            runner):
    order = []
    normal = standin.Runner.measured

    def noted(self, ranks, accelerated=False):
        order.append(accelerated)
        return normal(self, ranks, accelerated)

    monkeypatch.setattr(standin.Runner, "measured", noted)
    report_of(run, "-n", "2", "./app", way=("--runs", "4"))
    pairs = [tuple(order[i:i + 2]) for i in range(0, 8, 2)]
    assert all(sorted(pair) == [False, True] for pair in pairs)
    assert pairs.count((True, False)) == pairs.count((False, True)) == 2


def test_the_program_runs_in_virtual_time_once(run, runner):
    report_of(run, "-n", "2", "./app")
    # And first: it tells a deadlock, in which a normal run would hang.
    assert runner.made[0].asked == [("live", 2)] + [("measured", 2)] * 6 + \
        [("replay", 4), ("replay", 4)]


def test_the_model_has_what_the_program_calls(monkeypatch, run, runner):
    """The measured runs come before, and tell which operations."""
    wanted = []
    monkeypatch.setattr(measured, "load", lambda *given: (
        wanted.append(given[-1]), calibration())[1])
    report_of(run, "-n", "2", "./app")
    assert wanted == [needs.of(
        {r.procedure for r in runner.made[0].profile.records})]
    assert wanted[0] < measured.PARTS


def test_the_first_measured_run_is_without_straightway(monkeypatch, run,
                                                       runner):
    """A program that fails by itself must not look as if that were ours."""
    normal, order = standin.Runner.measured, []

    def noted(self, ranks, accelerated=False):
        order.append(accelerated)
        return normal(self, ranks, accelerated)

    monkeypatch.setattr(standin.Runner, "measured", noted)
    report_of(run, "-n", "2", "./app")
    assert order == [False, True, True, False, False, True]


def test_the_part_of_nonblocking_collectives(monkeypatch, run, runner,
                                             tmp_path):
    """By the calibration their own part is 0.9 of a call by the MPI, and 0.1 of
    a shorter one with Straightway."""
    monkeypatch.setattr(standin, "NONBLOCKING", standin.SECOND)
    job = captures.halo(2)
    for rank in job.ranks:
        rank.call("MPI_Ialltoall", 100, captures.S)
    ran(monkeypatch, job, tmp_path)
    report = report_of(run, "-n", "2", "./app")
    part = report["nonblocking"]
    assert part["calls"] == 200
    # 4.9 s alone; 3.1 s with Straightway, of 150 ns a call
    assert report["predicted"]["host_s"] == pytest.approx(4.9)
    assert report["predicted"]["ours_s"] == pytest.approx(3.1)
    assert part["alone"]["predicted_s"] == pytest.approx(4.05)
    assert part["predicted"] == pytest.approx(
        {"left_s": 4.8, "ours_s": 3.1, "speed_up": 4.8 / 3.1})
    assert part["measured"]["left"]["median_s"] == pytest.approx(3.57)
    assert part["measured"]["speed_up"] == pytest.approx(3.57 / 3.06)
    status, out, _ = run("study", "-n", "2", "./app")
    assert status == 0 and max(map(len, out.splitlines())) <= 80
    for words in ("Nonblocking collectives", "speed-up by these", "1.55x",
                  "1.17x", "make this program 1.55 times as fast"):
        assert words in out


def test_without_nonblocking_collectives_there_is_no_such_part(run, runner):
    assert report_of(run, "-n", "2", "./app")["nonblocking"] is None


# Placement ------------------------------------------------------------------

def crossed(packages, ranks=4):
    """Each rank exchanges with the one two places away."""
    job = captures.Job(ranks, node_ranks=ranks).bind(packages,
                                                     ranks // packages)
    for rank in job.ranks:
        rank.call("MPI_Send", 8, captures.S, size=1 << 20, waited=0,
                  peer=rank.number ^ 2)
    return job


def predicted(monkeypatch, before, after):
    def predict(runner, models, ops, placed, slots, network=None):
        assert placed["before"] == [0, 1, 2, 3]
        found = slots.parts(slots.levels.index("package"))
        assert found[placed["after"][0]] == found[placed["after"][2]]
        one = standin.outcome(models.write(runner.path("model"), 2))
        return {"before": dataclasses.replace(one, end=before),
                "after": dataclasses.replace(one, end=after)}

    monkeypatch.setattr(placements, "predict", predict)


def test_the_best_placement_is_predicted(monkeypatch, run, runner, tmp_path):
    ran(monkeypatch, crossed(2), tmp_path)
    predicted(monkeypatch, 4e9, 3.2e9)
    found = report_of(run, "-n", "4", "./app")["placement"]
    assert found["levels"] == ["package"] and not found["loose"]
    assert [row["share"] for row in found["crossing"]] == [1, 0, 0]
    (level,) = found["better"]["levels"]
    assert level == {"level": "package", "before": 32 << 20, "after": 0,
                     "busiest_before": 16 << 20, "busiest_after": 0}
    assert found["better"]["predicted"] == pytest.approx(
        {"before_s": 4, "after_s": 3.2, "speed_up": 1.25})
    status, out, _ = run("study", "-n", "4", "./app", "x y")
    assert status == 0
    flat = " ".join(out.split())
    for told in ("With the ranks in other places 0 bytes go between packages "
                 "in place of 32 MiB. The program is predicted to be 1.25 "
                 "times as fast.", "between packages 32 MiB 0 bytes 16 MiB",
                 "straightway profile -n 4 -o study.swcap ./app 'x y'",
                 "straightway map study.swcap --write place"):
        assert told in flat
    assert max(map(len, out.splitlines())) <= 80


def test_a_placement_that_is_not_predicted_says_why(monkeypatch, run, runner,
                                                    tmp_path):
    ran(monkeypatch, crossed(2), tmp_path)

    def refuse(*_):
        raise UserError("no network is measured\n  measure one")

    monkeypatch.setattr(placements, "predict", refuse)
    better = report_of(run, "-n", "4", "./app")["placement"]["better"]
    assert better["predicted"] is None
    assert better["not_predicted"] == "no network is measured"
    assert "Not predicted: no network is measured." in run(
        "study", "-n", "4", "./app")[1]


def test_a_placement_without_effect_says_so(monkeypatch, run, runner,
                                            tmp_path):
    ran(monkeypatch, crossed(2), tmp_path)
    predicted(monkeypatch, 4e9, 3.99e9)
    assert "the prediction does not show in the run time" in " ".join(
        run("study", "-n", "4", "./app")[1].split())


def unbound(job):
    for rank in job.ranks:
        rank.header["cpus"] = "0-3"
    return job


def best(job):
    for rank in job.ranks:
        rank.peers = {(0, rank.number ^ 1): [1, 4096, 0, 0]}
    return job


@pytest.mark.parametrize("job, told", [
    (crossed(1), "All ranks share everything that this machine has but cores: "
     "no placement can help."),
    (unbound(crossed(2)), "Ranks 0-3 may run in several packages: bind each "
     "rank to a core"),
    (best(crossed(2)), "No placement was found that is better"),
    (captures.Job(4), "The run does not tell where on their node the ranks")])
def test_no_other_placement_says_why_in_a_line(monkeypatch, run, runner,
                                               tmp_path, job, told):
    ran(monkeypatch, job, tmp_path)
    report = report_of(run, "-n", "4", "./app")
    assert report["placement"]["better"] is None
    (sentence,) = study.placement.said(report["placement"])
    assert told in sentence
    assert told in " ".join(run("study", "-n", "4", "./app")[1].split())


def test_a_gain_beyond_the_bound_is_said(monkeypatch, run, runner):
    report = report_of(run, "-n", "2", "./app")
    assert not any("gained more" in note for note in report["notes"])
    monkeypatch.setattr(
        standin.Runner, "measured",
        lambda self, ranks, ours=False: (1e9 if ours else 4e9, self.profile))
    report = report_of(run, "-n", "2", "./app")
    assert any("gained more than the bound" in note
               for note in report["notes"])


def test_a_busy_machine_is_said(monkeypatch, run, runner):
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (2.9, 0, 0))
    assert not any("busy" in note for note in report_of(
        run, "-n", "2", "./app")["notes"])
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (3.2, 0, 0))
    assert "This machine was busy (load 3.2 on 2 cores)" in report_of(
        run, "-n", "2", "./app")["notes"][0]


@pytest.mark.parametrize("alone, ours, told", [
    ([4.0, 4.0], [3.0, 3.0], "1.33 times as fast"),
    ([4.0, 4.1], [3.0, 4.05], "do not tell the two apart"),
    ([3.0, 3.1], [4.0, 4.1], "slower here")])
def test_the_verdict_is_as_good_as_the_runs(alone, ours, told):
    measured_ = figures.side_by_side({"host": [1e9 * t for t in alone],
                                      "ours": [1e9 * t for t in ours]})
    report = {"measured": measured_, "turns": None, "runs": 2,
              "error": {"gain": 0.01, "host": 0.02, "host_low": -0.01,
                        "host_high": 0.03, "plain": 0.2},
              "predicted": {"host_s": 4, "ours_s": 3, "speed_up": 4 / 3}}
    said = " ".join(study.verdict(report))
    assert told in said
    assert "measured gain is smaller by 1.0 % of the run's time" in said
    assert "With the measured computation, the predicted time alone is off " \
        "by +2.0 % (−1.0 to +3.0 % over the runs); without it, by +20.0 %." \
        in said


@pytest.mark.parametrize("way", ["--runs 2", "--in-turns"])
def test_the_prediction_has_the_measured_runs_computing(monkeypatch, run,
                                                        runner, way):
    """In virtual time the machine was 1.25 times as fast: the program computes
    for 2 s a rank there, for 2.5 s in the measured runs."""
    longer = 1.25
    monkeypatch.setattr(standin.Runner, "turned", turned(pairs=40))
    monkeypatch.setattr(computing, "of", lambda p: longer * standin.COMPUTE)
    report = report_of(run, "-n", "2", "./app", way=way.split())
    p = report["predicted"]
    assert p["speed"] == pytest.approx(1 / longer)
    assert p["host_s"] == pytest.approx(4.5)
    assert p["ours_s"] == pytest.approx(3.5)
    assert report["error"]["host_low"] <= report["error"]["host"] <= \
        report["error"]["host_high"]
    assert any("1.25 times as long" in note for note in report["notes"])
    assert report["error"]["plain"] == pytest.approx(
        4.0 / report["measured"]["host"]["median_s"] - 1)
    # Of at most: what communication takes of the longer run.
    assert report["forecast"]["bounds"]["communication"]["ratio"] == \
        pytest.approx(4.5 / 2.5)


def test_each_run_alone_has_its_own_error(monkeypatch, run, runner):
    """Two runs on a machine that moves: the prediction moves with it."""
    moves = iter([1.0, 1.5, 2.0, 1.0])
    factor = []

    def of(p):
        factor.append(next(moves))
        return factor[-1] * standin.COMPUTE

    monkeypatch.setattr(computing, "of", of)
    monkeypatch.setattr(standin.Runner, "measured", lambda self, ranks,
                        accelerated=False: (4.08e9, self.profile))
    report = report_of(run, "-n", "2", "./app", way=("--runs", "2"))
    found = report["error"]
    ends = [2 + 2 * one for one in factor[:2]]
    assert found["host_low"] == pytest.approx(
        min(ends) / 4.08 - 1, abs=1e-5)
    assert found["host_high"] == pytest.approx(
        max(ends) / 4.08 - 1, abs=1e-5)


def test_computing_is_the_time_outside_of_mpi(tmp_path):
    p = profile.load(captures.halo(2).write(tmp_path / "a.swcap"))
    took = computing.of(p)
    assert took == p.elapsed - p.communication.time > 0

    def recorded(ns):
        sums = outcomes.RankTime(0, ns, 0.0, 0, 0)
        return outcomes.Outcome(2, 1.0, sums=sums)

    assert computing.speed(recorded(2 * took), [took, took]) == 2
    for none in (recorded(0), outcomes.Outcome(2, 1.0)):
        assert computing.speed(none, [took]) == 1
    assert computing.speed(recorded(took), []) == 1
    assert computing.speed(recorded(took), [0]) == 1


def test_ranks_without_a_core_each_are_not_scaled(monkeypatch, run, runner):
    monkeypatch.setattr(computing, "of", lambda p: 3 * standin.COMPUTE)
    assert report_of(run, "-n", "8", "./app")["predicted"]["speed"] == 1


def test_more_ranks_than_cores_are_not_compared_in_silence(run, runner):
    report = report_of(run, "-n", "8", "./app")
    assert report["oversubscribed"]
    assert "cannot be compared" in report["notes"][0]


def test_the_page_fits_80_columns(run, runner):
    status, out, err = run("study", "-n", "2", "./app", "with", "arguments")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    for told in ("predicted", "measured", "1.33x", "Where the time goes",
                 "No improvement of collectives"):
        assert told in out
    assert pathlib.Path("app.2.study.html").exists()
    assert "wrote app.2.study.html" in err


@pytest.mark.parametrize("words, name", [
    (["./app", "x"], "app.2.study.html"),
    (["python3", "-u", "dir/solve.py", "8"], "solve.2.study.html"),
    (["/usr/bin/python", "examples/taylor_green"],
     "taylor_green.2.study.html")])
def test_the_page_is_named_after_the_program(words, name):
    assert command.page_name(words, 2) == name


@pytest.mark.parametrize("words, told", [
    (["-n", "2"], "which program?"), (["./app"], "how many ranks?"),
    (["-n", "2", "--runs", "0", "./app"], "give 1 to"),
    (["-n", "2", "--html", "/none/at/all.html", "./app"], "no folder")])
def test_mistakes_are_told_in_a_line(run, runner, words, told):
    status, out, err = run("study", *words)
    assert status in (1, 2) and not out and told in err


# The page -------------------------------------------------------------------

@pytest.mark.parametrize("width, dark", [(1280, False), (390, True)])
def test_the_page_has_gain_bound_and_profile(run, runner, browser, width,
                                             dark):
    report_of(run, "-n", "2", "./<app>")
    text = pathlib.Path("page.html").read_text()
    assert "&lt;app&gt;" in text
    shown = browser.open("page.html", width=width, dark=dark)
    assert not shown.complaints
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    for part in ("gain", "bound", "predictions", "placement", "findings",
                 "ranks", "operations"):
        assert shown.evaluate(f"!!document.getElementById('{part}')"), part
    # No name twice: links go where they say.
    assert shown.evaluate(
        "[...document.querySelectorAll('[id]')].map(e => e.id)"
        ".filter((id, i, all) => all.indexOf(id) != i).length") == 0




def test_tables_fit_a_page_or_show_that_they_scroll(
        monkeypatch, run, runner, browser, tmp_path):
    job = captures.halo(8)
    for rank in job.ranks:
        for name in "MPI_Neighbor_alltoallw_init", "MPI_Ineighbor_allgatherv":
            for size in 8, 3 << 20:
                rank.call(name, 123456, 12 * captures.S, size=size)
    ran(monkeypatch, job, tmp_path)
    report_of(run, "-n", "2", "./app")
    too_wide = ("[...document.querySelectorAll('.scroll')].filter(e => "
                "e.scrollWidth > e.clientWidth + 1)"
                ".map(e => e.getAttribute('aria-label'))")
    shown = browser.open("page.html", width=1280)
    assert shown.evaluate(too_wide) == []
    shown.size(400, 900)
    assert "MPI operations" in shown.evaluate(too_wide)
    edges = shown.evaluate("getComputedStyle(document.querySelector("
                           "'#operations .scroll')).backgroundAttachment")
    assert edges == "local, local, scroll, scroll"


# What messages stand for in predictions --------------------------------------

def side(folder, calls):
    job = captures.Job(ranks=2)
    for rank in job.ranks:
        for procedure, time, sent, received in calls:
            rank.call(procedure, 10, time * captures.MS, sent=sent,
                      received=received, waited=0)
    return profile.load(job.write(folder / "side.swcap"))


def test_a_study_shows_what_no_model_knows(tmp_path):
    host = side(tmp_path, [("MPI_Put", 30, 1 << 20, 0),
                           ("MPI_Win_fence", 10, 0, 0),
                           ("MPI_Isend", 5, 1 << 20, 0),
                           ("MPI_Pready", 1, 0, 0)])
    ours = side(tmp_path, [("MPI_Put", 6, 1 << 20, 0),
                           ("MPI_Win_fence", 2, 0, 0),
                           ("straightway_give", 1, 1 << 20, 0),
                           ("straightway_take", 1, 0, 1 << 20),
                           ("MPI_Pready", 1, 0, 0)])
    found = {one["kind"]: one for one in shared.section(host, ours)}
    assert [*found] == ["one-sided", "given", "partitioned"]
    assert found["one-sided"]["host"]["time_s"] == pytest.approx(0.04)
    assert found["one-sided"]["ours"]["time_s"] == pytest.approx(0.008)
    assert found["one-sided"]["host"]["bytes"] == 2 << 20
    assert found["given"]["host"] is None
    assert found["given"]["ours"]["bytes"] == 2 << 20
    text = " ".join(shared.said([*found.values()]))
    for words in ("40.0 ms", "8.00 ms", "2 MiB changed hands",
                  "partitioned messages"):
        assert words in text
    jsonschema.validate(
        [*found.values()],
        {**json.loads(SCHEMA.read_text())["properties"]["shared"],
         "$defs": json.loads(SCHEMA.read_text())["$defs"]})


def test_a_study_of_other_programs_says_nothing_of_it(tmp_path):
    plain = side(tmp_path, [("MPI_Send", 30, 1 << 20, 0)])
    assert shared.section(plain, plain) == []
    assert shared.said([]) == []
