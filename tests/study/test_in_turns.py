"""straightway study --in-turns: one run, its gain, and what is said of it."""

import json
import pathlib
import re

import jsonschema
import pytest
from harness import captures
from harness import whatif_standin as standin
from harness.captures import MS, S
from harness.turned import turned
from straightway import profile
from straightway.errors import UserError
from straightway.study import figures, gains, sites, turn_sentences, turns
from straightway.whatif import runs as whatif
from test_study import report_of

TURNS = ("--in-turns",)


def sided():
    """A capture with sides: Allreduce gains a half, Bcast nothing."""
    job = captures.Job(2, wall=10 * S)
    for rank in job.ranks:
        sum_, start = (rank.native(f"/a/{name}.c", 7, name)
                       for name in ("residual", "input"))
        rank.call("MPI_Bcast", 3, 90 * MS, size=8, site=[start], side=1)
        for side, each in ((0, 400), (1, 200)):
            rank.call("MPI_Allreduce", 1000, 1000 * each * 1000, size=8,
                      site=[sum_], operation="MPI_SUM", side=side)
            rank.call("MPI_Barrier", 10, 10 * MS, site=[start], side=side)
            rank.call("MPI_Recv", 50, 50 * MS, size=8, site=[start],
                      side=side)
        rank.call("MPI_Iallreduce", 40, MS, size=8, side=1)
        rank.call("MPI_Put", 30, MS, size=8, side=1)
    return job


@pytest.fixture
def turn(monkeypatch, runner, tmp_path):
    """turn(found): the run in turns writes this, and a capture with sides."""
    def call(found, job=None):
        path = (job or sided()).write(tmp_path / "sided.swcap")
        new = whatif.Runner

        def made(*arguments):
            one = new(*arguments)
            one.turned, one.profile = found, profile.load(path)
            return one

        monkeypatch.setattr(whatif, "Runner", made)

    call.made = runner.made
    return call


# The report -----------------------------------------------------------------

def test_one_run_tells_the_gain(run, turn):
    turn(turned(pairs=100, gain=0.05))
    report = report_of(run, "-n", "2", "./app", way=TURNS)
    assert turn.made[0].asked == [("live", 2), ("in turns", 2), ("replay", 4),
                                  ("replay", 1)]
    found = report["turns"]
    assert found["why"] is None and found["apart"]
    assert found["low"] < 0.05 < found["high"] < 0.053
    assert found["typical"]["gain"] == pytest.approx(0.05, abs=0.001)
    assert not found["differ"] and found["longer"] is None
    assert len(found["ranks"]) == 2 and len(found["epochs"]) == 201
    assert (found["pairs"], found["periods"]) == (100, 1000)
    assert report["runs"] == 0 and report["nonblocking"] is None
    m = report["measured"]
    assert m["how"] == "turns" and m["apart"]
    assert m["ours"]["median_s"] / m["host"]["median_s"] == pytest.approx(
        1 - found["gain"])
    # The run was 3.06 s, and a little more than half of it with Straightway.
    assert m["ours"]["median_s"] < 3.06 < m["host"]["median_s"]
    for one in (m["host"], m["ours"]):
        assert one["low_s"] <= one["median_s"] <= one["high_s"]
    assert report["error"]["gain"] == pytest.approx(0.25 - found["gain"])


def test_turns_come_first_by_themselves(run, turn):
    turn(turned())
    report = report_of(run, "-n", "2", "./app", way=())
    assert report["measured"]["how"] == "turns"
    assert turn.made[0].asked[1:2] == [("in turns", 2)]


def test_runs_are_the_old_way(run, turn):
    turn(turned())
    report = report_of(run, "-n", "2", "./app", way=("--runs", "1"))
    assert report["turns"] is None and report["measured"]["how"] == "runs"
    assert turn.made[0].asked[1:2] == [("measured", 2)]
    assert run("study", "-n", "2", "--runs", "1", "--in-turns", "./app")[0] \
        == 2


def test_what_is_paid_once_pays_back(run, turn):
    turn(turned(gain=0.05, noise=0.0001, learning=30 * MS))
    found = report_of(run, "-n", "2", "./app", way=TURNS)["turns"]
    # Of 30 ms of learning its calls take 9.5 ms later on; MPI_Init 8 ms.
    assert found["init_s"] == pytest.approx(0.008)
    assert found["once_s"] == pytest.approx(0.0285, rel=0.01)
    assert found["pays_back_s"] == pytest.approx(0.0285 * 0.95 / 0.05,
                                                 rel=0.03)
    said = turn_sentences.said(found)
    assert "Straightway costs at most 28." in said[2]
    assert "and pays back after 5" in said[2]


def test_learning_never_costs_less_than_nothing(run, turn):
    turn(turned(learning=2 * MS))
    found = report_of(run, "-n", "2", "./app", way=TURNS)["turns"]
    assert found["once_s"] == pytest.approx(0.008)


def test_a_short_learning_tells_no_cost(run, turn):
    given = turned()
    given["epochs"][0][3] = 7
    turn(given)
    found = report_of(run, "-n", "2", "./app", way=TURNS)["turns"]
    assert found["once_s"] is found["pays_back_s"] is None
    assert any("costs once is not known" in one
               for one in turn_sentences.said(found))


def test_call_sites_have_their_gain(run, turn):
    turn(turned())
    rows = report_of(run, "-n", "2", "./app", way=TURNS)["turns"]["sites"]
    assert [one["operation"] for one in rows] == [
        "MPI_Allreduce", "MPI_Barrier", "MPI_Recv"]
    top = rows[0]
    assert top["site"] == "residual (residual.c:7)"
    assert (top["host_calls"], top["ours_calls"]) == (2000, 2000)
    assert top["host_mean_s"] == pytest.approx(400e-6)
    assert top["gain"] == pytest.approx(0.5)
    # 200 us of each of 4000 calls; alone two ranks take 20 s and half of it.
    assert top["part"] == pytest.approx(0.8 / 20.4)
    assert rows[1]["gain"] == rows[1]["part"] == 0


def test_what_takes_no_turns_is_told(run, turn):
    turn(turned(messages="ours", messages_why="persistent"))
    found = report_of(run, "-n", "2", "./app", way=TURNS)["turns"]
    assert found["left_out"] == [
        {"kind": "nonblocking collectives", "calls": 80},
        {"kind": "one-sided calls", "calls": 60}]
    assert "MPI_Recv" not in [one["operation"] for one in found["sites"]]
    said = " ".join(turn_sentences.said(found))
    assert ("Messages took no turns, and their gain is not in this figure: "
            "the program has persistent requests.") in said
    assert ("The gain of these is not in this figure either: 80 nonblocking "
            "collectives, 60 one-sided calls.") in said


@pytest.mark.parametrize("procedure, kind", [
    ("MPI_Psend_init", "partitioned messages"),
    ("MPI_Pready_range", "partitioned messages"),
    ("MPI_Startall", "persistent messages"),
    ("MPI_Allreduce_init", "persistent collectives"),
    ("straightway_give", "blocks given away"),
    ("MPI_Win_fence", "one-sided calls"), ("MPI_Bcast", None),
    ("MPI_Isend", None)])
def test_each_kind_without_turns_is_known(tmp_path, procedure, kind):
    job = captures.Job(1)
    job.ranks[0].call(procedure, 3, MS, size=8)
    found = sites.left_out(profile.load(job.write(tmp_path / "a.swcap")))
    assert [one["kind"] for one in found] == ([kind] if kind else [])


# Where turns cannot tell ----------------------------------------------------

def loose(found):
    for row in found["epochs"][1:]:
        row[4] = 2
    return found


CANNOT = [
    (turned(pairs=0, state="learning"), "still learnt"),
    (turned(pairs=0, state="threads"), "Several threads"),
    (turned(pairs=0, state="no collective"), "no blocking collective"),
    (turned(period=0), "repeat in no period"),
    (loose(turned()), "Of the epochs 100 % ended within a period"),
    (turned(pairs=0), "0 pairs of epochs"), (turned(pairs=1), "1 pair of"),
    (turned(pairs=5), "5 pairs of"),
    (turned(pairs=29, period=40), "29 periods of the program"),
    ({"schema": "none"}, "told nothing: its file is no file of a run"),
    (None, "told nothing: the run has written no file")]


@pytest.mark.parametrize("found, told", CANNOT, ids=[b for _, b in CANNOT])
def test_separate_runs_measure_where_turns_cannot_tell(run, turn, found, told):
    turn(found)
    report = report_of(run, "-n", "2", "./app", way=())
    assert told in report["turns"]["why"]
    assert report["measured"]["how"] == "runs" and report["runs"] == 3
    assert [what for what, _ in turn.made[0].asked].count("measured") >= 6
    status, out, _ = run("study", "-n", "2", "./app")
    flat = " ".join(out.split())
    assert status == 0 and report["turns"]["why"] in flat
    assert "So separate runs measure the gain." in flat
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("found, told", [
    (turned(pairs=0, state="learning"), "still learnt"),
    (turned(pairs=5), "5 pairs of"), (None, "has written no file")])
def test_turns_alone_that_tell_nothing_are_an_error(run, turn, found, told):
    turn(found)
    status, out, err = run("study", "-n", "2", "--in-turns", "./app")
    assert status == 1 and not out and told in err
    assert not pathlib.Path("app.2.study.html").exists()


def test_turns_alone_tell_their_doubt(run, turn):
    turn(turned(pairs=29, period=40))
    report = report_of(run, "-n", "2", "./app", way=TURNS)
    assert report["measured"]["how"] == "turns"
    assert any("29 periods" in one and "with care" in one
               for one in turn_sentences.said(report["turns"]))


def test_a_program_that_fails_in_turns_fails_by_itself(monkeypatch, run,
                                                       turn):
    """Its message is that of the run without Straightway."""
    turn(turned())
    normal, order = standin.Runner.measured, []

    def fails(self, ranks, accelerated=False, **settings):
        order.append(accelerated)
        if not accelerated or "turns" in settings:
            raise UserError("app ended with status 3", 1)
        return normal(self, ranks, accelerated, **settings)

    monkeypatch.setattr(standin.Runner, "measured", fails)
    status, _, err = run("study", "-n", "2", "./app")
    assert status == 1 and "status 3" in err and order == [True, False]


# Sentences ------------------------------------------------------------------

def section(tmp_path, given, bound=0.062):
    path = tmp_path / "turns.json"
    path.write_text(json.dumps(given))
    p = profile.load(sided().write(tmp_path / "a.swcap"))
    return dict(gains.section(turns.load(path), p), bound=bound)


def test_the_gain_stands_with_its_interval_and_bound(tmp_path):
    said = turn_sentences.said(section(tmp_path, turned(gain=0.026)))
    assert re.fullmatch(r"With Straightway this program takes 2\.\d+ % ± "
                        r"0\.\d+ % less time\.", said[0]), said[0]
    assert re.match(r"That is 2\.\d % of at most 6\.2 %", said[1])


def test_a_loss_is_said(tmp_path):
    found = section(tmp_path, turned(gain=-0.04))
    said = turn_sentences.said(found)
    assert re.match(r"With Straightway this program takes [34]\.\d+ % ± "
                    r"0\.\d+ % more time", said[0]), said[0]
    assert found["pays_back_s"] is None
    assert not any("at most 6.2" in one for one in said)


def test_too_short_a_run_says_how_long_would_do(tmp_path):
    found = section(tmp_path, turned(pairs=40, gain=0.002, noise=0.05))
    assert not found["apart"]
    longer = found["longer"]
    assert longer["times"] > 2 and longer["gain"] >= 0.005
    assert longer["seconds"] == pytest.approx(longer["times"] * 0.83, rel=0.05)
    assert re.match(r"The turns do not tell the two apart: the gain is between "
                    r"−\d\.\d+ % and \d\.\d+ %\. A run of [\d.]+ s, [\d.]+ "
                    "times as long, would tell a gain of",
                    turn_sentences.headline(found))


def test_no_gain_that_is_known_well_needs_no_longer_run(tmp_path):
    found = section(tmp_path, turned(pairs=200, gain=0, noise=0.002))
    assert found["longer"] is None and found["high"] < 0.001


def test_periods_that_differ_are_said(tmp_path):
    found = section(tmp_path, turned(
        gains=lambda pair: 0.3 if 40 <= pair < 50 else 0.0))
    assert found["differ"] and found["low"] < 0.03 < found["high"]
    assert any("Periods differ: the typical pair" in one
               for one in turn_sentences.said(found))


def test_a_check_and_spikes_are_said(tmp_path):
    given = turned(gain=0, same=True)
    for i in range(5, 200, 12):
        given["times"][i] = [10 * ns for ns in given["times"][i]]
    said = " ".join(turn_sentences.said(section(tmp_path, given)))
    assert "Both sides were the MPI alone" in said and "Spikes took" in said


def test_percents_keep_a_digit_that_tells():
    assert [turn_sentences.percent(part) for part in (
        0.041, 0.0004, 0.00949, 0.0096, -0.02, 0)] == [
        "4.1 %", "0.04 %", "0.95 %", "1.0 %", "−2.0 %", "0.00 %"]
    assert turn_sentences.interval(
        {"gain": 0.03, "low": 0.01, "high": 0.10}) == "3.0 % (1.0 % to 10.0 %)"


def test_the_bound_is_a_part_of_the_time():
    assert figures.most({"ratio": 1.25}) == pytest.approx(0.2)
    assert figures.most({"ratio": None}) == 1


# Terminal and page ----------------------------------------------------------

@pytest.mark.parametrize("found", [
    turned(gain=0.05), turned(gain=-0.4, noise=0.2, messages="ours",
                              messages_why="open"),
    turned(pairs=2000, ranks=5), turned(gain=0.9)])
def test_the_terminal_has_80_columns(run, turn, found):
    turn(found)
    status, out, _ = run("study", "-n", "2", "--in-turns", "./app")
    assert status == 0 and max(map(len, out.splitlines())) <= 80
    lines = [line for line in out.splitlines() if line]
    gain = next(i for i, line in enumerate(lines) if line.startswith("Gain"))
    assert gain < next(i for i, line in enumerate(lines)
                       if line.startswith("Prediction and"))
    for words in ("whole run", "typical pair of epochs",
                  "Call sites in turns", "MPI_Allreduce", "residual"):
        assert words in out


@pytest.mark.parametrize("pairs", [30, 1500])
@pytest.mark.parametrize("width, dark", [(1280, False), (390, True)])
def test_the_page_has_the_run_in_turns(run, turn, browser, width, dark, pairs):
    turn(turned(pairs=pairs, gain=0.05))
    report_of(run, "-n", "2", "./app", way=TURNS)
    shown = browser.open("page.html", width=width, dark=dark)
    assert not shown.complaints
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    first = shown.evaluate("document.querySelector('.cards li').innerText")
    first = first.replace("\u00a0", " ")
    assert re.match(r"(4\.9|5\.)\d* %\s+gain in turns\s+± 0\.\d+ %, of the "
                    "run's time; of at most 50", first), first
    for part in ("gain", "turns", "turn-sites", "bound", "operations"):
        assert shown.evaluate(f"!!document.getElementById('{part}')"), part
    assert shown.evaluate(
        "[...document.querySelectorAll('[id]')].map(e => e.id)"
        ".filter((id, i, all) => all.indexOf(id) != i).length") == 0
    for kind in ("turn-host", "turn-ours"):
        marks = shown.evaluate(
            f"document.querySelectorAll('#turns rect.{kind}').length")
        assert 25 <= marks <= 125
    # The two colours, told by a legend.
    assert shown.evaluate("document.querySelectorAll('#turns .legend span')"
                          ".length") == 3
    fills = shown.evaluate(
        "[...document.querySelectorAll('#turns .area rect:not(.hit)')]"
        ".map(e => getComputedStyle(e).fill)")
    assert len(set(fills)) == 3
    assert "per call" in shown.evaluate(
        "document.querySelector('#turns .hit').dataset.tip")
    if width == 1280:
        assert shown.evaluate(
            "[...document.querySelectorAll('.scroll')].filter(e => "
            "e.scrollWidth > e.clientWidth + 1)"
            ".map(e => e.getAttribute('aria-label'))") == []


def test_the_schema_knows_a_run_that_told_nothing():
    from test_study import SCHEMA
    schema = json.loads(SCHEMA.read_text())
    jsonschema.validate(gains.failed("The run in turns told nothing."), {
        **schema["properties"]["turns"], "$defs": schema["$defs"]})
