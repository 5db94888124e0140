"""straightway map: what a user types, and what is shown."""

import json
import pathlib
import random
import types

import jsonschema
import pytest
import straightway
from harness import calibrations, captures, programs
from straightway import profile
from straightway.capture import traces
from straightway.commands import report as reports
from straightway.machine import hosts
from straightway.machine import slots as machines
from straightway.machine.readers import sysfs
from straightway.mapping import launchers
from straightway.mapping.traffic import Dense, Traffic
from straightway.profile import placement
from straightway.whatif import operations

SCHEMA = pathlib.Path(straightway.__file__).parent / "schemas" / \
    "map.schema.json"


@pytest.fixture(autouse=True)
def _usual_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)


def report_of(run, *words):
    status, out, err = run("map", "--json", "-", *words)
    assert status == 0, err
    report = json.loads(out)
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    assert sorted(report["after"]["placement"]) == list(
        range(report["ranks"]))
    return report


def said(run, *words, status=2):
    found, out, err = run("map", *words)
    assert found == status and not out, err
    assert err.startswith("straightway: ")
    return err


def across(report, when, level):
    return next(one["across"] for one in report[when]["levels"]
                if one["name"] == level)


# Patterns ---------------------------------------------------------------------

def test_a_grid_is_placed(run):
    report = report_of(run, "--grid", "4x4", "--machine", "4x4")
    assert (report["unit"], report["total"]) == ("messages", 48)
    assert across(report, "before", "node") == 24
    assert across(report, "after", "node") == 16
    assert report["after"]["total"] < report["before"]["total"]
    assert report["predicted"] is None and report["launch"] is None


def test_periods_and_stencils_count(run):
    faces = report_of(run, "--grid", "4x4", "--machine", "4x4", "--periods")
    assert faces["total"] == 64
    one = report_of(run, "--grid", "4x4", "--machine", "4x4", "--periods",
                    "1,0", "--stencil", "1,0")
    assert one["total"] == 16
    assert across(one, "after", "node") == 0


def test_the_page_fits_eighty_columns(run):
    status, out, _ = run("map", "--grid", "8x8x4", "--periods", "1,0,1",
                         "--machine", "4x2x32")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "between nodes" in out and "between packages" in out
    assert "This placement costs 0.76 times" in out


def test_a_placement_that_cannot_be_better_says_so(run):
    status, out, _ = run("map", "--grid", "4", "--machine", "2x2")
    assert status == 0 and "No placement was found that is better" in out


def test_weights_decide_between_levels(run):
    report = report_of(run, "--grid", "4x4", "--machine", "2x2x4",
                       "--weights", "node=5,package=5,core=5")
    assert report["machine"]["weights"] == [5, 5, 5]


def test_another_placement_to_compare_with(run):
    report = report_of(run, "--grid", "4x4", "--machine", "2x8", "--before",
                       "cyclic")
    assert report["before"]["name"] == "round robin"
    assert report["before"]["placement"][:3] == [0, 8, 1]


# Captures and operations ------------------------------------------------------

def halo(folder, ranks=8):
    path = folder / "halo.swcap"
    captures.halo(ranks).write(path)
    return path


def test_a_capture_gives_traffic_machine_and_names(run, tmp_path):
    path = halo(tmp_path)
    report = report_of(run, path)
    assert report["unit"] == "bytes" and report["total"] > 0
    assert report["before"]["name"] in ("as it ran", "blocked")
    more = report_of(run, path, "--by", "messages", "--machine", "2x2x2")
    assert more["unit"] == "messages"
    assert 0 < more["total"] < report["total"]
    assert "trace" in more["not_predicted"]


@pytest.mark.parametrize("absent", [(), (3, 9)], ids=["whole", "missing"])
@pytest.mark.parametrize("unit", ["bytes", "messages"])
def test_a_dense_capture_is_read_as_any_other(tmp_path, monkeypatch, absent,
                                              unit):
    draw = random.Random(1)
    job = captures.Job(12, absent=absent)
    for rank in job.ranks:
        for peer in range(12):
            rank.peer(peer, *(draw.randrange(100) for _ in range(4)),
                      kind=draw.randrange(3))
    p = profile.load(job.write(tmp_path / "dense.swcap"))
    plain = placement.traffic(p, unit)
    monkeypatch.setattr(placement, "DENSE", 12)
    dense = placement.traffic(p, unit)
    assert isinstance(plain, Traffic) and isinstance(dense, Dense)
    assert dense.sent == plain.sent and dense.total == plain.total


def ring(folder, ranks=8):
    """Operations in which ranks that lie far apart exchange much, and a region
    in which neighbours do."""
    lines = ["num_ranks 8"]
    for rank in range(ranks):
        peer = (rank + ranks // 2) % ranks
        lines.append(f"rank {rank} {{\nl1: send 100000b to {peer} tag 1\n"
                     f"l2: recv 100000b from {peer} tag 1\n"
                     "l3: calc 1000\nl3 requires l1\nl3 requires l2\n}")
    path = folder / "ring.goal"
    path.write_text("\n".join(lines) + "\n")
    made = folder / "ring.swops"
    operations.convert(str(path), str(made))
    return made


def test_the_time_is_predicted_and_the_better_placement_is_faster(run,
                                                                  tmp_path):
    report = report_of(run, ring(tmp_path), "--machine", "2x4", "--model",
                       "two-level")
    assert across(report, "before", "node") == 800000
    assert across(report, "after", "node") == 0
    made = report["predicted"]
    assert made["speed_up"] > 1.5
    assert made["before"]["time_s"] > made["after"]["time_s"] > 0
    status, out, _ = run("map", ring(tmp_path), "--machine", "2x4", "--model",
                         "two-level")
    assert "times as fast" in out and "Predicted time" in out


def test_nodes_without_a_network_are_an_error(run, tmp_path):
    err = said(run, ring(tmp_path), "--machine", "2x4", "--model", "node",
               "--before", "blocked")
    assert "no model has a network" in err
    assert report_of(run, ring(tmp_path), "--machine", "2x4", "--model",
                     "node", "--network", "hdr200")["predicted"]


def test_a_capture_gives_the_cores_on_which_it_ran(run, tmp_path):
    """Two nodes of 2 x 4 cores, of which each rank has the first of a package;
    ranks 0 and 3 belong together, and 1 and 2."""
    job = captures.Job(4, node_ranks=2).bind(2, 4)
    for rank in job.ranks:
        rank.header["cpus"] = str(4 * (rank.number % 2))
        rank.call("MPI_Send", 1, captures.MS, size=4096, peer=3 - rank.number)
    path = job.write(tmp_path / "a.swcap")
    report = report_of(run, path, "--write", tmp_path / "p")
    assert report["before"]["name"] == "as it ran"
    assert report["machine"]["text"] == "the capture's cores"
    assert across(report, "before", "node") == 4 * 4096
    assert across(report, "after", "node") == 0
    lines = (tmp_path / "p.rankfile").read_text().splitlines()
    assert sorted(line.split("=", 1)[1] for line in lines) == [
        "node0 slot=0", "node0 slot=4", "node1 slot=0", "node1 slot=4"]
    # A machine that the user names counts instead.
    assert report_of(run, path, "--machine", "4x1")["machine"]["nodes"] == 4


def test_one_rank_a_node_has_no_table(run):
    status, out, err = run("map", "--grid", "4", "--machine", "4x1")
    assert status == 0, err
    assert "no placement changes this traffic" in " ".join(out.split())
    assert "busiest" not in out


# Launching --------------------------------------------------------------------

def test_files_are_written_and_the_command_is_shown(run, tmp_path):
    for name in launchers.LAUNCHERS:
        prefix = tmp_path / name
        status, out, err = run("map", "--grid", "4x4", "--machine", "4x4",
                               "--hosts", "a,b,c,d", "--write", prefix,
                               "--launcher", name)
        assert status == 0, err
        assert "PROGRAM" in out and str(prefix) in out
        written = list(tmp_path.glob(f"{name}.*"))
        assert written
        assert all(str(path) in err for path in written)


def test_names_of_nodes_come_from_a_file(run, tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("# our nodes\none:4\n\ntwo slots=4  # the second\n")
    report = report_of(run, "--grid", "8", "--machine", "2x4", "--hosts",
                       hosts, "--write", tmp_path / "p")
    assert report["machine"]["names"] == ["one", "two"]
    assert report["launch"]["launcher"] == "openmpi"


def test_names_of_nodes_come_from_the_job_around(run, tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[01-02]")
    report = report_of(run, "--grid", "8", "--machine", "2x4", "--write",
                       tmp_path / "p")
    assert report["machine"]["names"] == ["n01", "n02"]
    assert "names are those of SLURM_JOB_NODELIST" in str(report["notes"])
    # A job of more nodes, and no word of the machine: each is like this one.
    for levels in ("core",), ("node", "core"):
        monkeypatch.setattr(sysfs, "slots", lambda levels=levels:
                            machines.Slots(levels, [
                                (0,) * (len(levels) - 1) + (core,)
                                for core in range(2)], None, [0, 1]))
        report = report_of(run, "--grid", "4", "--write", tmp_path / "p")
        assert (report["machine"]["nodes"], report["machine"]["names"]) == (
            2, ["n01", "n02"])
        assert [one["name"] for one in report["before"]["levels"]] == [
            "node", "core"]


def test_the_placement_before_is_that_of_a_file(run, tmp_path):
    """A rankfile on half of each node's cores: the ranks change places among
    these alone."""
    path = tmp_path / "rankfile"
    path.write_text("".join(f"rank {rank}=n{rank % 2 + 1} slot={rank // 2}\n"
                            for rank in range(4)))
    report = report_of(run, "--grid", "4", "--machine", "2x4", "--hosts",
                       "n1,n2", "--before", path, "--write", tmp_path / "p")
    assert report["before"]["name"] == f"as in {path}"
    assert across(report, "before", "node") == 6
    assert across(report, "after", "node") == 2
    written = (tmp_path / "p.rankfile").read_text()
    assert sorted(line.partition("=")[2] for line in written.splitlines()) == [
        "n1 slot=0", "n1 slot=1", "n2 slot=0", "n2 slot=1"]


def test_the_placement_before_is_that_of_another_capture(run, tmp_path):
    job = captures.Job(4, node_ranks=2)
    job.ranks[0].call("MPI_Send", 1, captures.MS, size=4096, peer=1)
    path = job.write(tmp_path / "a.swcap")
    report = report_of(run, "--grid", "4", "--machine", "2x4", "--before", path)
    assert report["before"]["placement"] == [0, 1, 2, 3]
    assert report["machine"]["nodes"] == 2
    assert "it has 4 ranks, and the traffic has 8" in said(
        run, "--grid", "8", "--machine", "2x4", "--before", path)


# Errors -----------------------------------------------------------------------

@pytest.mark.parametrize("words, says", [
    ((), "which traffic?"),
    (("none.swcap",), "no such file"),
    (("--grid", "4x4"), "16 ranks and"),
    (("--grid", "4x4", "--machine", "2x4"), "give a larger --machine"),
    (("--grid", "4xx", "--machine", "2x4"), "give sizes"),
    (("--grid", "4", "--machine", "2xy"), "is no number"),
    (("--grid", "4", "--machine", "4", "--region", "x"), "needs a trace"),
    (("--grid", "4", "--machine", "4", "--hosts", "a,b c"), "entry 2"),
    (("--grid", "4", "--machine", "2x2", "--hosts", "a,a"),
     "has 2 nodes, and the list 1"),
    (("--grid", "4", "--machine", "nofile.json"), "there is no such file"),
    (("--grid", "4", "--machine", "2x2", "--before", "cyclik"),
     "did you mean cyclic"),
    (("--grid", "4", "--machine", "2x2", "--before", "/no/file"),
     "no such file; give blocked, cyclic or a file"),
    (("--grid", "4", "--machine", "2x2", "--write", "p"), "give --hosts"),
    (("--grid", "4", "--machine", "2x2", "--launcher", "mpich"),
     "give --write"),
    (("--grid", "4", "--machine", "2x2", "--launcher", "mpi"), "did you mean"),
    (("--grid", "4", "--machine", "2x2", "--weights", "nod=1"),
     "no level nod"),
    (("--grid", "4", "--machine", "2x2", "--weights", "node=x"),
     "is no number"),
    (("--grid", "4", "--machine", "2x2", "--weights", "node=0.1"),
     "at least as much"),
    (("--grid", "4", "--machine", "2x2", "--write", "no/where/p"),
     "no folder"),
    (("some.swcap", "--grid", "4"), "give one of them"),
    (("some.swcap", "--periods", "1"), "belongs to --grid")])
def test_a_mistake_is_one_error_with_its_fix(run, words, says, monkeypatch):
    monkeypatch.setattr(sysfs, "slots", lambda: machines.parse("1"))
    status, out, err = run("map", *words)
    assert status in (1, 2) and not out
    assert says in err


def test_a_region_needs_a_trace(run, tmp_path):
    assert "record a trace" in said(run, halo(tmp_path), "--region", "x",
                                    "--machine", "2x4")


def test_a_damaged_file_is_an_error(run, tmp_path):
    path = tmp_path / "bad.swcap"
    path.write_bytes(halo(tmp_path).read_bytes()[:40])
    said(run, path, status=1)
    path.write_text("nothing of ours")
    said(run, path, "--machine", "2x4", status=1)


# A program, traced ------------------------------------------------------------

@pytest.fixture
def traced(host, tmp_path):
    """A trace of regions.c on four ranks."""
    done = host.run(4, host.compile(programs.source("regions.c")), env={
        "STRAIGHTWAY_PROFILE": "on", "STRAIGHTWAY_TRACE": "on",
        "STRAIGHTWAY_PROFILE_REPORT": "off", "STRAIGHTWAY_ENABLE": "off",
        "STRAIGHTWAY_PROFILE_OUTPUT": str(tmp_path)}, check=True)
    assert "regions done" in done.stdout
    (capture,) = tmp_path.glob("*.swcap")
    return capture


def test_a_trace_tells_the_traffic_of_its_regions(run, traced, tmp_path):
    # So slow a network hides all else that took the ranks' time.
    slow = tmp_path / "slow.toml"
    slow.write_text('[link.network]\nG = "0.1 MB/s"\n')
    words = ("--machine", "2x2", "--model", "two-level", "--model", slow,
             "--before", "blocked")
    whole = report_of(run, traced, *words)
    assert whole["total"] == 4 * 20 * (4096 + 1024)
    assert across(whole, "before", "node") == 4 * 20 * 4096
    assert across(whole, "after", "node") == 4 * 20 * 1024
    # About 4: what else the ranks did makes it less, messages in a queue more.
    assert 1.5 < whole["predicted"]["speed_up"] < 4.5
    far = report_of(run, traced, *words, "--region", "phase 2")
    assert far["total"] == 4 * 20 * 4096
    assert across(far, "after", "node") == 0
    beside = report_of(run, traced, *words, "--region", "phase 3", "--by",
                       "messages")
    assert beside["total"] == 4 * 20
    assert across(beside, "before", "node") == 0
    assert "did you mean phase 2" in said(run, traced, *words, "--region",
                                          "phase2")


def test_a_report_replays_a_trace_in_better_places(host, traced, tmp_path,
                                                  monkeypatch):
    traces.gather(str(traced))
    (whole,) = (p for p in tmp_path.glob("*.swtrace") if ".rank" not in p.name)
    p = profile.load(str(whole))
    assert p.traced and reports._replayed(p) is None     # nothing is better
    better = types.SimpleNamespace(placement=[0, 2, 1, 3])
    monkeypatch.setattr(p, "better", lambda least: better)
    find = hosts.find
    monkeypatch.setattr(hosts, "find",
                        lambda mpi=None: find(mpi or str(host.mpirun)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    assert reports._replayed(p) is None                  # nothing is measured
    calibrations.keep(host, tmp_path, host.environment({}))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before, after = reports._replayed(p)
    assert before == pytest.approx(after) and before > 0
    monkeypatch.setattr(reports, "REPLAYED", 10)
    assert reports._replayed(p) is None                  # it takes too long


def test_a_machine_may_be_what_topo_wrote(run, tmp_path):
    machine = tmp_path / "machine.json"
    status, _, err = run("topo", "--json", machine)
    assert status == 0, err
    cores = len(json.loads(machine.read_text())["tree"]["parts"])
    assert cores
    report = report_of(run, "--grid", "1x1", "--machine", machine)
    assert report["ranks"] == 1
    machine.write_text("{}")
    assert "topo" in said(run, "--grid", "1x1", "--machine", machine,
                          status=1)
