"""straightway whatif: what a user types, what is asked of the native parts,
and what is shown."""

import json
import pathlib

import jsonschema
import pytest
import straightway
from harness import captures
from harness import whatif_standin as standin
from harness.calibrations import calibration
from straightway import profile
from straightway.errors import UserError
from straightway.machine import hardware as machine
from straightway.machine import hosts
from straightway.reporters import forecast_words, whatif_html
from straightway.whatif import (experiments, forecast, measured, outcomes,
                                supposed)
from straightway.whatif import runs as whatif
from straightway.whatif.models.lines import Line, combine

SCHEMA = pathlib.Path(straightway.__file__).parent / "schemas" / \
    "whatif.schema.json"


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch, tmp_path):
    """Everything is as it is but the native parts and the machine."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"):
        monkeypatch.delenv(name, raising=False)
    made = []

    def runner(*arguments):
        made.append(standin.Runner(*arguments))
        return made[-1]

    runner.made = made
    monkeypatch.setattr(whatif, "Runner", runner)
    monkeypatch.setattr(supposed, "_named", lambda: standin.Models)
    host = hosts.Host("libmpi.so.40", "ompi", "mpiexec", "",
                      "Open MPI v5.0.11")
    monkeypatch.setattr(measured, "host_of", lambda job, ranks: host)
    monkeypatch.setattr(hosts, "choose", lambda mpi=None: host)
    monkeypatch.setattr(measured, "load",
                        lambda host, ranks, *_: calibration())
    monkeypatch.setattr(machine, "cores", lambda: 2)
    return runner


def report_of(run, *words):
    # A subcommand's own options stand behind its first word, if it has one.
    own = {"run": 1, "replay": 2, "sweep": 2}.get(words[0], 0)
    status, out, err = run("whatif", *words[:own], "--json", "-", *words[own:])
    assert status == 0, err
    report = json.loads(out)
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    return report


def said(run, *words, status=2):
    found, out, err = run("whatif", *words)
    assert found == status and not out
    return err


# Experiments ----------------------------------------------------------------

def test_each_option_is_an_experiment(run):
    report = report_of(run, "-n", "2", "--free", "alltoall", "--scale",
                       "allreduce=0.5", "--cpu-speed", "2", "./app", "-x")
    base = report["baseline"]["time_s"]
    assert base == pytest.approx(2 + 2)
    assert [e["title"] for e in report["experiments"]] == [
        "alltoall free", "allreduce × 0.5", "processor × 2"]
    assert [e["time_s"] for e in report["experiments"]] == pytest.approx(
        [3.0, 3.75, 3.0])
    assert report["experiments"][0]["ratio"] == pytest.approx(4 / 3)
    assert report["program"] == ["./app", "-x"]


def test_changes_are_joined_in_one(run):
    report = report_of(run, "-n", "2", "--experiment",
                       "both: free=alltoall,allreduce cpu-speed=2", "./app")
    one, = report["experiments"]
    assert one["title"] == "both"
    assert one["time_s"] == pytest.approx(1 + 0.5)


def test_all_experiments_are_one_replay(run, _stand_ins):
    report_of(run, "-n", "2", "--free", "all", "--free", "alltoall",
              "--runs", "0", "./app")
    # two of the user's and the two bounds
    assert _stand_ins.made[0].asked == [("live", 2), ("replay", 4)]


def test_rerun_runs_the_program_for_each(run, _stand_ins):
    report = report_of(run, "-n", "2", "--free", "all", "--rerun", "--runs",
                       "0", "./app")
    assert _stand_ins.made[0].asked == [("live", 2)] * 4
    assert report["experiments"][0]["by"] == "run"


def test_the_bound_is_what_free_collectives_leave(run):
    report = report_of(run, "-n", "2", "./app")
    assert report["bounds"]["collectives"]["time_s"] == pytest.approx(2.5)
    assert report["bounds"]["communication"]["time_s"] == pytest.approx(2.0)
    assert forecast.verdict(report) == [
        "No improvement of collectives can make this program more than 1.6x "
        "faster.", "No improvement of communication can make this program "
        "more than 2x faster."]


def test_what_passes_the_bound_says_why(run):
    report = report_of(run, "-n", "2", "--later", "all", "./app")
    one, = report["experiments"]
    one["ratio"] = 2.5
    assert len(forecast.verdict(report)) == 3
    assert forecast.verdict(report)[2].startswith(
        "Calls that complete later pass this bound")
    one["ratio"] = 1.5
    assert len(forecast.verdict(report)) == 2


@pytest.mark.parametrize("ratio, told", [
    (1.876, "1.9"), (1.9, "1.9"), (1.901, "2"), (1.0211, "1.022"),
    (12.2, "13"), (1.103, "1.11")])
def test_a_bound_is_never_rounded_down(ratio, told):
    assert forecast._upwards(ratio) == told


def test_no_time_left_has_no_ratio():
    report = {"bounds": {name: {"ratio": None} for name in forecast.BOUNDS}}
    assert "no time is left" in forecast.verdict(report)[0]


# Models ---------------------------------------------------------------------

def models(*names, ranks=4):
    return supposed.Models(list(names), None, ranks)


def lines(experiment, *names, ranks=4):
    return [str(line) for line in models(
        *(names or ("measured",)), ranks=ranks).lines(ranks, experiment)]


def test_a_later_layer_replaces_what_only_one_can_hold():
    bcast, alltoall = Line("free", "bcast"), Line("free", "alltoall")
    link, place = Line("link", "node", {"L": 5}), Line("place", 2, 1)
    assert combine(4, [
        [Line("ranks", 9), Line("point", "node", 1, 2, 3, 4, 5),
         Line("link", "node", {"S": 7}), bcast, Line("place_rank", 1, 1, 0)],
        [link, place], [alltoall]]) == [
            ("ranks", 4), bcast, link, place, alltoall]


def test_another_node_has_other_one_sided_calls():
    node, other = (Line("link", "node", {key: 7}) for key in "SL")
    put, get = (Line("access", "created", op, 8, 1, 1)
                for op in ("put", "get"))
    locks = Line("locks", "created", 1, 1)
    measured = [node, put, get, locks]
    assert combine(4, [measured, [other]]) == [("ranks", 4), other]
    network = [Line("link", "network", {"L": 5}),
               Line("access", "created", "put", 8, 2, 2)]
    assert combine(4, [measured, network]) == [
        ("ranks", 4), node, get, locks, *network]


def test_a_network_is_laid_over_the_machine():
    one, = experiments.collect([("network", "hdr200")], 2, 2)
    found = lines(one)
    assert "place 2 0" in found
    assert "link network L 1000 o_send 150 G 0.04" in found
    assert any(line.startswith("point node") for line in found)
    assert one.title == "network hdr200, 2 nodes, 2 a node"


def test_without_places_a_node_is_a_machine_like_this():
    one, = experiments.collect([("network", "hdr200")])
    assert "place 2 0" in lines(one)


def test_communication_free_leaves_nothing_of_the_baseline():
    one = experiments.Experiment([experiments.change("free",
                                                     "communication")])
    assert lines(one) == ["ranks 4", "free all"]


def test_offloading_costs_what_the_network_does():
    one = experiments.parse("offload=allreduce network=hdr200")
    assert "offload allreduce 150 1000 0.04" in lines(one)
    given = experiments.parse("offload=allreduce:1us,2us,0.5")
    assert "offload allreduce 1000 2000 0.5" in lines(given)


def test_straightway_carries_out_the_nonblocking_ones():
    """In parts of the time of the blocking ones, which stay as they are."""
    one = experiments.parse("offload=all:straightway")
    assert one.title == "nonblocking collectives with Straightway"
    assert [line for line in lines(one) if line.startswith("started ")] == [
        "started alltoall 8 0.1 0 0.9 0 1",
        "started alltoall 8 0.1 0.35 0.05 0 0"]
    assert lines(one, "measured-straightway")[-1] == \
        "started alltoall 8 0.2 0.7 0.1 0 0"
    assert lines(one)[-1] == lines(
        experiments.parse("offload=alltoall:Straightway"))[-1]
    with pytest.raises(UserError, match="--model measured"):
        lines(one, "hockney")


def test_blocking_ones_may_be_completed_later(run):
    one = experiments.parse("later=allreduce,bcast")
    assert one.title == "allreduce, bcast completed later"
    assert lines(one)[-2:] == ["later allreduce", "later bcast"]
    assert "only a replay completes calls later" in said(
        run, "-n", "2", "--later", "all", "--rerun", "./app")


def test_noise_and_algorithm_are_lines_of_the_model():
    assert "noise 1e+06 25000 1" in lines(
        experiments.parse("noise=1ms,25us"))
    assert "messages allreduce recursive_doubling" in lines(
        experiments.parse("algorithm=allreduce=recursive-doubling"))


def test_ranks_on_the_domains_of_this_machine(monkeypatch):
    monkeypatch.setattr(machine, "cores_of", lambda part: 3)
    one = experiments.parse("ranks-on=numa")
    assert "place 4 3" in lines(one)
    assert one.title == "3 ranks on each NUMA domain"


@pytest.mark.parametrize("word, name", [
    ("MPI_Alltoall", "alltoall"), ("ialltoall", "alltoall"),
    ("MPI_Ialltoallv_c", "alltoallv"), ("Allreduce_init", "allreduce"),
    ("nothing", "nothing")])
def test_names_of_operations(word, name):
    assert experiments.collective(word) == name


# Mistakes -------------------------------------------------------------------

@pytest.mark.parametrize("words, told", [
    (["--free", "altoall"], "did you mean alltoall?"),
    (["--scale", "alltoall"], "as in alltoall=0.5"),
    (["--scale", "alltoall=x"], "x is no factor; give a number, 0 or more"),
    (["--network", "hdr20"], "--network hdr20: unknown; did you mean hdr200?"),
    (["--algorithm", "allreduce=rng"],
     "--algorithm allreduce=rng: allreduce has no algorithm 'rng'; it has "),
    (["--nodes", "0"], "--nodes 0: give how many nodes"),
    (["--nodes", "2"], "2 nodes: no model has a network between nodes, and "
                       "none is measured under Open MPI 5.0.11"),
    (["--model", "loggps", "--nodes", "2"], "2 ranks, 1 on each node, and no "
     "model has a network between nodes: give --network NAME"),
    (["--model", "hdr200"], "no model gives the time of a message inside a "
                            "node"),
    (["--record", "app.swop"], "name it *.swops"),
    (["--timeout", "0"], "give seconds, more than 0"),
    (["--timeout", "soon"], "--timeout soon: give a number"),
    (["--runs", "x"], "--runs x: give a whole number"),
    (["--model", "mesured"], "did you mean measured?"),
    (["--model", "./my.toml"], "there is no such file"),
    (["--noise", "1ms"], "PERIOD,DURATION"),
    (["--noise", "1ms,2ms"], "DURATION must be shorter"),
    (["--noise", "1,2"], "1 is no time"),
    (["--experiment", "fre=alltoall"], "did you mean free?"),
    (["--experiment", "free"], "free has no value"),
    (["--algorithm", "allreduce"], "as in allreduce=ring"),
    (["--ranks-on", "moon"], "unknown place moon"),
    (["--network", "hdr200", "--nodes", "1", "--ranks-per-node", "1"],
     "do not fit 1 node of 1"),
    (["--runs", "-1"], "give 0 to 1000"),
    (["--network", "hdr200"], "would use no network; give --nodes"),
])
def test_mistakes_are_told_in_a_line(run, words, told):
    assert told in said(run, "-n", "2", *words, "./app")


def test_what_is_missing_is_asked_for(run):
    assert "which program?" in said(run, "-n", "2")
    assert "how many ranks?" in said(run, "./app")
    assert "unknown option --fre" in said(run, "--fre", "alltoall", "./app")
    assert "-n needs" not in said(run, "./app", "2")
    assert "-n after ./app is" in said(run, "./app", "-n", "2")
    for ranks in ("0", "-3", "99999999"):
        assert f"-n {ranks}: give 1 to" in said(run, "-n", ranks, "./app")


def test_a_replay_needs_no_program(run, _stand_ins):
    report = report_of(run, "replay", "app.swops", "--free", "alltoall")
    assert report["program"] is None and report["replay"] == "app.swops"
    assert ("measured", 2) not in _stand_ins.made[0].asked
    for words, told in ((["./app"], "unknown argument ./app"),
                        (["--rerun"], "unknown option --rerun"),
                        (["--clocks"], "unknown option --clocks"),
                        (["--record", "b"], "unknown option --record"),
                        (["-n", "0"], "-n 0: give 1 to"),
                        (["--sweep", "ranks=2,4"], "needs the program")):
        assert told in said(run, "replay", "app.swops", *words)


# Subcommands ----------------------------------------------------------------

def test_without_a_subcommand_it_is_run(run):
    words = ["-n", "2", "--free", "alltoall", "./app", "-x"]
    expected, found = report_of(run, "run", *words), report_of(run, *words)
    for report in (expected, found):
        report.pop("seconds", None)
        for changing in ("load", "date"):
            report["machine"].pop(changing)
    assert found == expected


def test_the_options_of_a_replay_may_come_first(run):
    _, out, _ = run("whatif", "replay", "--json", "-", "--sweep",
                    "cpu-speed=1,2", "-n", "2", "app.swops")
    report = json.loads(out)
    assert report["replay"] == "app.swops"
    assert [row["value"] for row in report["sweep"]["rows"]] == [1, 2]


@pytest.mark.parametrize("words, told", [
    (["--replay", "app.swops", "--free", "all"], "replay app.swops"),
    (["-n", "2", "--sweep=cpu-speed=1,2", "./app"], "sweep cpu-speed=1,2")])
def test_what_was_an_option_names_its_subcommand(run, words, told):
    assert f" is a subcommand: straightway whatif {told}\n" in said(run, *words)


@pytest.mark.parametrize("words, told", [
    (["rnu", "-n", "2", "./app"], "unknown subcommand rnu; did you mean run?"),
    (["sweeep", "ranks=2,4", "./app"], "did you mean sweep?"),
    (["replay", "--fre", "all", "a.swops"], "--fre; did you mean --free?"),
    (["replay"], "FILE missing\n  usage: straightway"),
    (["run", "./app"], "how many ranks?"),
    (["run", "-n", "2", "--sweep", "ranks=2,4", "./app"],
     "unknown option --sweep"),
    (["sweep", "-n", "2", "./app"], "which values?"),
    (["sweep", "./app"], "give ranks=2,4,8"),
    (["sweep", "ranks=2,4"], "which program?"),
    (["sweep", "ranks=2,4", "-n", "2", "./app"],
     "-n 2 and sweep ranks=2,4: give one of them"),
    (["sweep", "ranks=2,x", "./app"],
     "sweep ranks=2,x: x is no number of ranks"),
    (["sweep", "cpu-speed=2,x", "./app"], "x is no factor"),
    (["sweep", "rank=2,4", "./app"], "did you mean ranks?"),
    (["sweep", "cpu-speed=2", "./app"], "two values or more"),
    (["convert", "-n", "0", "a.swops", "b.goal"], "-n 0: give 1 to"),
    (["convert", "a.swops", "b.txt"], "name it *.swops"),
    (["convert", "a.swops"], "OUT missing\n  usage: straightway")])
def test_a_mistake_in_a_subcommand_is_named(run, words, told):
    assert told in said(run, *words)


@pytest.mark.parametrize("word", ["run", "replay", "sweep", "convert",
                                  "measure"])
def test_a_subcommand_has_a_help_with_an_example(run, word):
    status, out, err = run("whatif", word, "--help")
    assert status == 0 and not err
    assert out.startswith(f"usage: straightway whatif {word} ")
    assert out.count(f"\n  straightway whatif {word} ") == 1
    assert max(map(len, out.splitlines())) <= 80


def test_the_help_begins_with_a_first_try(run):
    _, out, _ = run("whatif", "--help")
    usage, title, _, tried, *_ = out.split("\n\n")
    assert usage.startswith("usage:") and "Predict" in title
    assert tried.startswith("  straightway whatif run -n 4 ")


def test_the_help_names_the_subcommands_and_stays_short(run):
    status, out, err = run("whatif", "--help")
    assert status == 0 and not err
    for word in ("run", "replay", "sweep", "convert"):
        assert f"\n  {word} " in out
    assert len(out.splitlines()) <= 40
    assert max(map(len, out.splitlines())) <= 80


def test_inside_a_launcher_it_refuses(run, monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "2")
    assert "starts the launcher itself" in said(run, "-n", "2", "./app")


# Measured -------------------------------------------------------------------

def test_the_prediction_stands_beside_the_measured_run(run):
    report = report_of(run, "-n", "2", "./app")
    assert report["measured"]["median_s"] == pytest.approx(4.08)
    assert report["error"] == pytest.approx(4 / 4.08 - 1)


def test_more_ranks_than_cores_are_not_measured_unless_asked(run):
    report = report_of(run, "-n", "8", "./app")
    assert report["measured"] is None
    assert "8 ranks do not fit the 2 cores" in report["not_measured"]
    assert report_of(run, "-n", "8", "--measure", "./app")["measured"]


@pytest.mark.parametrize("pieces, told", [(None, []), (0, [
    "Data in the memory of GPUs: MPI_Send moved 40 KiB from or to it in 10 "
    "calls. In the last normal run these calls took 20.0 ms on each rank, on "
    "average. The models know ordinary memory alone, and predict these calls "
    "as if their data lay there."])])
def test_data_in_the_memory_of_gpus_is_named(run, monkeypatch, tmp_path,
                                             pieces, told):
    job = captures.Job(2)
    job.ranks[0].call("MPI_Send", 10, 40 * captures.MS, size=4096, peer=1,
                      device_pieces=pieces)
    job.ranks[1].call("MPI_Recv", 10, 40 * captures.MS, size=4096,
                      received=40960)
    monkeypatch.setattr(standin.Runner, "profile",
                        profile.load(job.write(tmp_path / "a.swcap")))
    notes = report_of(run, "-n", "2", "./app")["notes"]
    assert [note for note in notes if "GPU" in note] == told


# Sweeps ---------------------------------------------------------------------

def test_a_sweep_of_ranks_runs_each(run, _stand_ins):
    report = report_of(run, "sweep", "ranks=2,4,8", "--free", "alltoall",
                       "./app")
    rows = report["sweep"]["rows"]
    assert [r["value"] for r in rows] == [2, 4, 8]
    assert [r["baseline"]["time_s"] for r in rows] == pytest.approx(
        [4, 3, 2.5])
    assert [r["experiments"][0]["time_s"] for r in rows] == pytest.approx(
        [3, 2, 1.5])
    assert rows[0]["measured"] and not rows[2]["measured"]
    assert report["ranks"] == 8


def test_a_sweep_of_the_model_is_one_run(run, _stand_ins):
    report = report_of(run, "sweep", "cpu-speed=1,2,4", "-n", "2",
                       "--runs", "0", "--free", "all", "./app")
    assert [a[0] for a in _stand_ins.made[0].asked].count("live") == 1
    assert [r["baseline"]["time_s"] for r in report["sweep"]["rows"]] == \
        pytest.approx([4, 3, 2.5])


def test_a_sweep_of_nodes_has_the_network_between_them(run):
    """In its baseline and its experiments alike: nodes with nothing between
    them would exchange messages in no time."""
    report = report_of(run, "sweep", "ranks-per-node=1,2,4", "-n", "4",
                       "--network", "hdr200", "--free", "alltoall", "./app")
    assert [e["title"] for e in report["experiments"]] == ["alltoall free"]
    assert "network=hdr200" in report["experiments"][0]["experiment"]
    assert "The baseline of this sweep has network hdr200." in report["notes"]
    assert "no model has a network between nodes" in said(
        run, "sweep", "nodes=1,2", "-n", "4", "./app")


@pytest.mark.parametrize("given, base, titles", [
    (["network=qdr", "free=all"], "network qdr", ["all collectives free"]),
    (["network=qdr", "network=hdr200"], "network qdr", ["network hdr200"]),
    (["network=qdr", "free=communication"], "network qdr",
     ["all communication free"]),
    (["free=all", "network=qdr cpu-speed=2"], "",
     ["all collectives free", "network qdr, processor × 2"])])
def test_the_baseline_of_a_sweep_of_nodes(given, base, titles):
    one, rest = experiments.swept("nodes", list(map(experiments.parse,
                                                    given)))
    assert (one.title, [e.title for e in rest]) == (base, titles)
    for e in rest:
        assert not base or e.fresh or "network=" in e.text


# What is shown --------------------------------------------------------------

def test_the_page_fits_80_columns(run):
    status, out, _ = run("whatif", "-n", "2", "--free", "alltoall",
                         "--scale", "all=0.5", "./app", "with", "arguments")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    for told in ("baseline, predicted", "alltoall free", "1.33x", "measured",
                 "more than 1.6x faster", "Collectives of the baseline",
                 "The baseline is 2.0 % below the measured time"):
        assert told in out


def test_what_free_collectives_leave_is_waiting(run):
    """The column says why a large share of the run makes a small bound."""
    report = report_of(run, "-n", "2", "./app")
    free = report["bounds"]["collectives"]["collectives"]
    free["alltoall"] = {"calls": 1000, "time_s": 0.5}
    assert forecast_words.waiting(report, "alltoall") == \
        pytest.approx(0.5 / 2)
    assert forecast_words.waiting(report, "bcast") == 0
    table, _ = whatif_html.collective_table(report)
    assert [c.name for c in table.columns][4] == "waiting"
    assert table.rows[0][4].text == "250 ms"


def test_no_experiment_is_left_out_of_the_page(run, tmp_path):
    words = [w for i in range(30) for w in ("--scale", f"all=0.{i + 10}")]
    report = report_of(run, "-n", "2", *words, "./app")
    table, letters = whatif_html.collective_table(report)
    assert len(table.columns) == 5 + 30
    assert [letter for letter, _ in letters][24:28] == ["y", "z", "a2", "b2"]


def test_the_plot_says_how_many_experiments_it_has_no_room_for(run, tmp_path):
    words = [w for i in range(9) for w in ("--scale", f"all=0.{i + 1}")]
    status, _, _ = run("whatif", "sweep", "ranks=2,4", "--html",
                       tmp_path / "page.html", *words, "./app")
    text = (tmp_path / "page.html").read_text()
    assert status == 0 and "more experiments are in the table" in text


def test_labels_do_not_stand_on_one_another():
    places = whatif_html._labels((10.0 * i, str(i)) for i in range(10))
    assert [text for _, text in places] == [
        "0", "", "", "", "4", "", "", "", "8", ""]


@pytest.mark.parametrize("words, title", [
    (["./app", "-x"], "./app -x"),
    (["/opt/bin/app", "/data/in"], "app /data/in"),
    (["/usr/bin/python3", "/opt/solver/", "8"], "python3 solver 8")])
def test_titles_have_no_long_folders(words, title):
    assert forecast.short(words) == title


def test_a_sweep_fits_80_columns(run):
    status, out, _ = run("whatif", "sweep", "ranks=2,4,8", "--free",
                         "alltoall", "--scale", "all=0.5", "--free", "all",
                         "--cpu-speed", "2", "./app")
    assert status == 0 and "By ranks" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("width, dark", [(1280, False), (390, True)])
def test_the_page_for_browsers_stands_alone(run, browser, tmp_path, width,
                                            dark):
    path = tmp_path / "page.html"
    status, _, err = run("whatif", "sweep", "ranks=2,4,8", "--free",
                         "alltoall", "--html", path, "./<app>")
    assert status == 0 and "wrote" in err
    assert "&lt;app&gt;" in path.read_text()
    shown = browser.open(path, width=width, dark=dark)
    assert not shown.complaints
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.evaluate("document.querySelectorAll("
                          "'.curves circle').length") >= 9
    assert "x faster" in shown.evaluate("document.body.innerText")
    # One of the two plots is seen, and its letters can be read.
    seen = shown.evaluate(
        "[...document.querySelectorAll('svg.curves')].filter(e => "
        "e.getBoundingClientRect().width).map(e => e.getBoundingClientRect()"
        ".width / e.viewBox.baseVal.width)")
    assert len(seen) == 1 and seen[0] > 0.8
    # Tables sort.
    shown.click("#table-predictions th:nth-child(2) button")
    assert shown.evaluate(
        "[...document.querySelectorAll('#table-predictions tbody td:nth-child"
        "(2)')].map(e => +e.dataset.v).every((v, i, all) => !i || "
        "v <= all[i - 1])")


# The native parts' answers --------------------------------------------------

def test_a_deadlock_is_an_error_with_who_waits_for_what():
    with pytest.raises(UserError) as caught:
        outcomes.outcome({"state": "deadlock", "stuck": [
            {"rank": 0, "waits_for": "receive from 1, tag 7"},
            {"rank": 1, "waits_for": "receive from 0, tag 7"}]})
    assert "rank 0: receive from 1, tag 7" in str(caught.value)
    assert caught.value.status == 1


def test_a_rank_that_died_is_no_deadlock(tmp_path, monkeypatch):
    """The others wait for it for ever: the launcher is given time to end the
    job, and then it is ended."""
    result = tmp_path / "1.json"
    over = whatif._stuck(result)
    assert not over()
    found = {"state": "deadlock", "ranks": 2, "end_ns": 1.0,
             "notes": ["rank 1 died"]}
    result.write_text(json.dumps(found))
    assert whatif._ended_early(found) == "rank 1 died"
    assert not over()
    monkeypatch.setattr(whatif, "PATIENCE", -1)
    assert over()
    result.write_text(json.dumps(dict(found, notes=["a run of 2 ranks"])))
    assert whatif._stuck(result)()


def test_what_was_measured_in_a_node_holds_for_no_other():
    near = lines(experiments.parse("cpu-speed=2"))
    far = lines(experiments.parse("network=hdr200 ranks-per-node=2"))
    assert any(line.startswith("inside alltoall") for line in near)
    # The engine leaves communicators over several nodes out (plan.c).
    assert not any(line.startswith(("measured", "span_table")) for line in far)
