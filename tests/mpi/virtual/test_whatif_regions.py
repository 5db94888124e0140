"""Regions of a program in virtual time: what ranks compute, communicate and
wait in each, as it is known by hand; live, replayed, extrapolated, out of a
trace; and on the pages."""

import json
import pathlib
import sys

import jsonschema
import pytest
import straightway
import test_replay as replays
import test_whatif_live as live
from harness import captures, programs, traces
from harness.hosts import ROOT
from straightway import capture
from straightway.profile.recorded import OUTSIDE
from straightway.whatif import forecast, operations
from straightway.whatif import outcomes as whatif_runs

INCLUDE = ROOT / "include"
MS, MESSAGE = 1e6, live.one_way(8)      # ns
PARTS = ("compute_ns", "messages_ns", "collectives_ns", "waiting_ns")


@pytest.fixture
def recorded(host, tmp_path):
    """recorded(n, words): (result, operations) of virtual_regions.c
    in virtual time; the model is run.model."""
    program = host.compile(programs.source("virtual_regions.c"), f"-I{INCLUDE}",
                           "-ldl", "-lpthread")

    def call(n, *words, env=None):
        done, result = live.virtual(
            host, n, [program, *words], tmp_path, env={
                "STRAIGHTWAY_WHATIF_RECORD": str(tmp_path / "a.swops"),
                **(env or {})})
        programs.well(done)
        assert "the end of region 'halo'" in done.stderr or words
        return result, tmp_path / "a.swops"

    return call


def sections(result):
    return {one["name"]: one for one in result["sections"]}


def spent(one):
    return [one[part] for part in PARTS]


def replayed(ops, folder, more=""):
    (folder / "b.model").write_text((folder / "run.model").read_text() + more)
    done = replays.whatif("replay", "--check", folder / "b.model", ops)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_two(found):
    """As virtual_regions.c says it; a message is called for 10 ms
    after the receiver has gone on, which is MESSAGE less 1 us after the
    sender has."""
    late = 10 * MS - (MESSAGE - 1000)
    assert list(found) == sorted(found) == [
        "", "phase 2", "phase 3", "solve", "solve/halo"]
    assert all(one["ranks"] == 2 for one in found.values())
    assert spent(found["phase 2"]["sums"]) == pytest.approx(
        [30 * MS, 3000 + 10 * MS + 2 * late + 3 * MESSAGE, 0,
         10 * MS + 2 * late], abs=100)
    assert found["phase 2"]["longest"] == 1
    # Rank 1 comes so much later than rank 0, which waits for it when it has
    # sent; rank 1 has only to send and to receive what is there.
    later = MESSAGE - 1000
    assert spent(found["solve/halo"]["sums"]) == pytest.approx(
        [0, later + MESSAGE + 3000, 0, later - 1000], abs=100)
    assert spent(found["solve"]["sums"]) == pytest.approx(
        [10 * MS, *spent(found["solve/halo"]["sums"])[1:]], abs=100)
    assert found[""]["sums"]["compute_ns"] == pytest.approx(4 * MS, abs=100)
    assert found[""]["sums"]["messages_ns"] == 0
    three = found["phase 3"]["sums"]
    assert three["compute_ns"] == pytest.approx(4 * MS, abs=100)
    # Rank 1 was quicker before by as much as it saved there.
    assert three["waiting_ns"] == pytest.approx(
        4 * MS - (later + MESSAGE - 3000) + later, abs=100)
    assert three["messages_ns"] == 0
    assert three["collectives_ns"] > three["waiting_ns"]


def whole(result):
    """Top-level regions and what is outside are the whole."""
    found = sections(result)
    for part in (*PARTS, "end_ns"):
        assert sum(one["sums"][part] for name, one in found.items()
                   if "/" not in name) == pytest.approx(
            result["sums"][part], abs=0.01)


@pytest.mark.parametrize("enable", ["off", "on"])
def test_regions_known_by_hand(recorded, enable, tmp_path):
    result, ops = recorded(2, env={"STRAIGHTWAY_ENABLE": enable})
    found = sections(result)
    check_two({name: found[name] for name in sorted(found)})
    whole(result)
    again = replayed(ops, tmp_path)
    assert sections(again) == found
    # The collective is in one region alone.
    free = replayed(ops, tmp_path, "free all\n")
    whole(free)
    other = sections(free)
    changed = {name for name in found
               if spent(other[name]["sums"]) != spent(found[name]["sums"])}
    assert changed == {"phase 3"}
    assert other["phase 3"]["sums"]["collectives_ns"] == pytest.approx(
        other["phase 3"]["sums"]["waiting_ns"], abs=0.01)
    assert other["phase 3"]["sums"]["waiting_ns"] == pytest.approx(
        found["phase 3"]["sums"]["waiting_ns"], abs=0.01)


def test_a_thread_that_is_waited_for(recorded, tmp_path):
    result, ops = recorded(2, "joins")
    found = sections(result)
    if "join" not in found:
        pytest.skip("no MPI_THREAD_MULTIPLE")
    whole(result)
    # The first thread sleeps as long as the other computes and communicates.
    assert spent(found["join"]["sums"]) == pytest.approx(
        [0, 2 * (10 * MS + MESSAGE), 0, 2 * (10 * MS + MESSAGE)], abs=1000)
    assert found[""]["sums"]["compute_ns"] == pytest.approx(2 * MS, abs=1000)
    assert sections(replayed(ops, tmp_path)) == found


@pytest.mark.parametrize("serialized", [0, 1])
def test_a_thread_without_mpi_begins_a_region(recorded, serialized, tmp_path):
    result, ops = recorded(2, "helper", serialized)
    found = sections(result)
    whole(result)
    one = found["elsewhere"]["sums"]
    assert one["compute_ns"] == pytest.approx(4 * MS, abs=1000)
    assert one["collectives_ns"] > 0 and one["messages_ns"] == 0
    assert found[""]["sums"]["compute_ns"] == pytest.approx(8 * MS, abs=1000)
    assert sections(replayed(ops, tmp_path)) == found


def test_more_ranks_are_in_the_regions_of_those_they_are_made_of(recorded,
                                                                 tmp_path):
    """The ranks need not enter the same regions."""
    result, ops = recorded(4, "ring")
    found = sections(result)
    assert found["step"]["ranks"] == 4 and found["step/log"]["ranks"] == 1
    assert found["step/log"]["sums"]["compute_ns"] == pytest.approx(6 * MS,
                                                                    abs=100)
    operations.extrapolate(ops, 8, tmp_path / "more.swops")
    model = tmp_path / "run.model"
    model.write_text(model.read_text().replace("ranks 4", "ranks 8"))
    more = replayed(tmp_path / "more.swops", tmp_path)
    other = sections(more)
    assert more["extrapolated"]
    assert other["step"]["ranks"] == 8 and other["step/log"]["ranks"] == 2
    assert other["step/log"]["sums"]["compute_ns"] == pytest.approx(
        2 * found["step/log"]["sums"]["compute_ns"], abs=1)
    assert other["step"]["sums"]["compute_ns"] == pytest.approx(
        2 * found["step"]["sums"]["compute_ns"], abs=1)
    whole(more)


@pytest.mark.parametrize("form", ["goal", "smpi"])
def test_other_forms_know_no_regions(recorded, form, tmp_path):
    """The notes name what is lost, and nothing else."""
    result, ops = recorded(4, "ring")
    made = operations.convert(ops, tmp_path / f"a.{form}")
    # In and out of each, twice; rank 0 has one more, twice.
    assert made.figures["sections"] == 4 * 2 * 2 + 2 * 2
    assert "20 region changes are left out: the form has no regions" in \
        made.notes
    operations.convert(tmp_path / f"a.{form}", tmp_path / "b.swops")
    again = replayed(tmp_path / "b.swops", tmp_path)
    assert again["sections"] == []
    assert result["sums"]["compute_ns"] == pytest.approx(14 * MS, abs=100)
    free = replays.replay(tmp_path / "b.swops", "free", 4, tmp_path)
    assert 14 * MS - 100 <= free["sums"]["compute_ns"] < 50 * MS


@pytest.mark.parametrize("n, words", [(2, ()), (3, ("ring",))])
def test_a_trace_knows_them(host, n, words, tmp_path):
    program = host.compile(programs.source("virtual_regions.c"), f"-I{INCLUDE}",
                           "-ldl", "-lpthread")
    done = host.run(n, [program, *words], timeout=60, env={
        **replays.QUIET, "STRAIGHTWAY_PROFILE_OUTPUT": str(tmp_path)})
    programs.well(done)
    path, = tmp_path.glob("*.swcap")
    made = operations.from_trace(capture.read(path), tmp_path / "a.swops")
    result = replays.replay(made.path, "free", n, tmp_path)
    found = sections(result)
    whole(result)
    if words:
        # What rank 0 slept in "log", no call was in.
        assert set(found) == {"", "step"}
        assert found["step"]["sums"]["compute_ns"] >= 2 * n * MS
        return
    assert set(found) == {"", "phase 2", "phase 3", "solve", "solve/halo"}
    assert found["phase 2"]["sums"]["compute_ns"] >= 30 * MS
    assert found["phase 3"]["sums"]["waiting_ns"] >= 0
    assert found["solve/halo"]["sums"]["compute_ns"] >= 10 * MS


# Without an MPI -------------------------------------------------------------

def test_text_names_them(tmp_path, monkeypatch):
    """A trace made by hand, with names that are not fit for a line."""
    monkeypatch.chdir(tmp_path)
    job = captures.Job(1)
    names = ["a\tb", "a\tb/c\n"]
    for name in names:
        job.ranks[0].region(name, 1, 1000)
    trace = traces.Trace(job)
    write = [trace.call(0, "MPI_Barrier", communicator=job.ranks[0].world,
                        region=region) for region in range(3)]
    for call in (1, 2, 1, 0, 1):
        trace.event(0, write[call], 100, 50,
                    [traces.collective(job.ranks[0].world, 0)])
    trace.write("a.swtrace")
    operations.from_trace(capture.read("a.swtrace"), "a.swops")
    lines = replays.whatif("convert", "a.swops", "-").stdout.splitlines()
    assert [line for line in lines if line.startswith("# section")] == [
        '# section 1 is "a b"', '# section 2 is "a b/c "']
    said = [line.strip() for line in lines if "section" in line
            and not line.startswith("#")]
    assert said == ["section 1", "section 2", "section 1", "no section",
                    "section 1", "no section"]


def times(end, **more):
    return whatif_runs.RankTime(end, **{
        name: more.get(name, 0.0) for name in (
            "compute", "noise", "messages", "collectives", "waiting")})


def section(name, end, **more):
    """Of two ranks that are as long there."""
    one = times(end, **more)
    both = times(2 * end, **{k: 2 * v for k, v in more.items()})
    return whatif_runs.Section(name, 2, both, 1, one)


def forecasted(names=("", "solve", "solve/halo"), experiments=1):
    """A report; k times as much is gained in the k-th region."""
    def outcome(factor):
        return dict(whatif_runs.Outcome(
            2, 10e6 / factor, sums=times(20e6 / factor, compute=20e6 / factor),
            sections=[section(name, (k + 1) * 1e6 / (1 + k * (factor - 1)),
                              compute=(k + 1) * 0.5e6,
                              messages=(k + 1) * 0.5e6,
                              waiting=(k + 1) * 0.25e6)
                      for k, name in enumerate(names)]).describe(),
            ratio=factor)
    return {
        "schema": forecast.SCHEMA, "machine": {
            "straightway": "1", "cpu": "A processor", "cores": 2,
            "kernel": "5.10", "date": "2026-11-22"},
        "program": ["./app"], "replay": None, "mpi": "An MPI", "models": ["m"],
        "model_about": [], "ranks": 2, "baseline": outcome(1),
        "rank_times": [], "measured": None, "not_measured": "as it is",
        "error": None, "experiments": [
            dict(outcome(2), title=f"experiment {i}", experiment="free=x",
                 by="replay") for i in range(experiments)],
        "bounds": {name: dict(outcome(4), title=name, experiment="free=all",
                              by="replay")
                   for name in ("collectives", "communication")},
        "sweep": None, "notes": [], "seconds": 1.0}


def test_regions_of_a_report():
    report = forecasted()
    rows = forecast.regions(report)
    assert [row[0] for row in rows] == ["solve/halo", "solve", OUTSIDE]
    label, time, one, under = rows[0]
    assert time == pytest.approx(3e-3) and one["communication"] == 0.5
    assert under[0] == (pytest.approx(1e-3), pytest.approx(3))
    assert under[1] == (pytest.approx(3e-3 / 7), pytest.approx(7))
    schema = pathlib.Path(straightway.__file__).parent / "schemas" / \
        "whatif.schema.json"
    jsonschema.validate(report, json.loads(schema.read_text()))


@pytest.mark.parametrize("experiments", [0, 1, 9])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_terminal_has_a_table(experiments, width, capsys, monkeypatch):
    from straightway.reporters import whatif_terminal
    monkeypatch.setenv("COLUMNS", str(width))
    many = ["", "a region with a name that is far too long for its column/x",
            *(f"region {i}" for i in range(20))]
    whatif_terminal.render(forecasted(many, experiments), sys.stdout)
    out = capsys.readouterr().out
    assert "Regions" in out and "and 14 more" in out
    assert max(map(len, out.splitlines())) <= max(width, 80)
    assert ("region 1" in out or width < 80) and "all collectives free" in out
    assert ("more experiments" in out) == (experiments == 9)


def test_without_regions_nothing_is_shown(capsys):
    from straightway.reporters import output, whatif_html, whatif_terminal
    report = forecasted([])
    whatif_terminal.render(report, sys.stdout)
    assert "Regions" not in capsys.readouterr().out
    assert "Regions" not in output.text(whatif_html, report)


def test_the_page_has_a_table():
    from straightway.reporters import output, whatif_html
    page = output.text(whatif_html, forecasted(["", "<solve>"], 2))
    assert 'id="regions"' in page and "&lt;solve&gt;" in page
    assert "<solve>" not in page and OUTSIDE in page
