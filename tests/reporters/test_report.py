"""straightway report, diff and merge: what a user types, and what is shown."""

import csv
import io
import json
import os
import pathlib
import re
import sys
import time
import types

import jsonschema
import pytest
import straightway
from harness import captures, schemas
from harness.captures import MS, S
from straightway import profile, units
from straightway.capture import file as capture
from straightway.errors import UserError
from straightway.profile import tables
from straightway.reporters import page, profile_json, profile_terminal, words

SCHEMA = pathlib.Path(straightway.__file__).parent / "schemas" / \
    "profile.schema.json"


@pytest.fixture(autouse=True)
def _a_pipe_of_80_columns(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return captures.halo(8).write("halo.swcap")


@pytest.fixture
def symbols(monkeypatch):
    """A stand-in that names every frame after its offset."""
    module = types.ModuleType("straightway.symbols")
    module.asked = []

    def resolve(frames, patience=None):
        module.asked += frames
        return [{"function": f"at_{offset:x}", "file": "/src/x.c",
                 "line": offset} if offset != 0x666 else {}
                for _, _, offset in frames]

    module.resolve = resolve
    monkeypatch.setitem(sys.modules, "straightway.symbols", module)
    monkeypatch.setattr(straightway, "symbols", module, raising=False)
    return module


def widths(text):
    return max(map(len, text.splitlines()))


@pytest.mark.parametrize("program, arguments, said", [
    ("work", ["work.py", "8"], "work.py 8"), ("app", ["8"], "app 8"),
    ("work", ["-u", "/home/me/work.py"], "-u /home/me/work.py"),
    ("solver", ["-m", "solver"], "-m solver"), ("app", ["app"], "app app")])
def test_a_script_is_named_once(path, run, program, arguments, said):
    job = captures.Job(2, program=program, arguments=arguments)
    job.write(path)
    assert run("report", path)[1].startswith(f"{said}  ")
    assert f"Command : {said}\n" in re.sub(
        " +", " ", run("report", path, "--text")[1])


def test_a_full_disk_does_not_cost_the_page(path, run, symbols, monkeypatch):
    def full(*_, **__):
        raise UserError("halo.swcap: No space left on device", 1)

    captures.halo(2).write(path, symbols=False)
    monkeypatch.setattr(capture, "append", full)
    status, _, err = run("report", "--finish", path)
    assert status == 0 and "Operations" in err
    assert "no names in halo.swcap: No space left on device" in err


# The page -----------------------------------------------------------------

def damaged():
    job = captures.halo(40, absent=(3, 4), arguments=["--input", "x" * 200])
    job.ranks[1].header.update(end="signal", signal=9)
    job.ranks[9].header.update(end="abort")
    job.header["mpi"] = "Open MPI " + "long words " * 30
    job.ranks[0].header["regions"].append(
        {"name": "region/" * 40, "entered": 1, "time": 5})
    job.ranks[0].call("MPI_Ineighbor_alltoallw", 10 ** 14, 10 * S, site=[
        job.ranks[0].native("/x/" + "f" * 300, 1, "g" * 300)],
        size=2 ** 60)
    return job


PAGES = {"usual": captures.halo, "one": lambda: captures.halo(1),
         "many": lambda: captures.halo(150, extra_rows=2),
         "damaged": damaged, "silent": lambda: captures.Job(3),
         "instant": lambda: captures.Job(2, wall=0),
         "python": lambda: captures.halo(4, python=True)}


@pytest.mark.parametrize("columns", [60, 80, 100, 140, 300])
@pytest.mark.parametrize("job", PAGES)
def test_the_page_is_no_wider_than_the_terminal(run, tmp_path, monkeypatch,
                                                job, columns):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(columns))
    status, out, err = run("report", PAGES[job]().write("a.swcap"))
    assert (status, err) == (0, "")
    assert widths(out) <= min(columns, page.WIDE)
    assert "\x1b" not in out
    assert not re.search(" $", out, re.M)


def test_a_pipe_gets_80_columns_and_no_colour(run, path):
    _, out, _ = run("report", path)
    assert 70 < widths(out) <= 80 and "\x1b" not in out


def test_the_page_says_what_matters(run, path):
    _, out, _ = run("report", path)
    lines = out.splitlines()
    assert lines[0].split() == ["app", "-n", "512", "8", "ranks", "on", "2",
                                "nodes,", "20.0", "s"]
    assert "Communication 11.1 % of the time: waiting 10.3 %" in out
    assert re.search(r"^   0  █+░+▓+▒+ +21\.1 %$", out, re.M)
    assert "MPI_Waitall" in out and "exchange_halo (halo.c:150)" in out
    assert "MPI_COMM_WORLD" in out and "rows #a0" in out
    assert "solve/checkpoint" in out
    assert "Ranks 6-7 come late" in out
    assert re.search(r"^MPI_Allreduce +62\.5 KiB +62\.5 KiB$", out, re.M)
    assert lines[-1] == "More: straightway report halo.swcap --html"


def test_a_busy_machine_is_said_first(run, tmp_path):
    job = captures.halo(8)
    for rank in job.ranks:
        rank.header["cpu"] = job.wall // 2
    _, out, _ = run("report", job.write(tmp_path / "a.swcap"))
    first = " ".join(" ".join(out.splitlines()[:5]).split())
    assert "Outside of waits the ranks used no processor for 3" in first
    _, out, _ = run("report", captures.halo(8).write(tmp_path / "b.swcap"))
    assert "used no processor" not in out


def test_several_programs_in_one_job_are_all_named(run, tmp_path):
    job = captures.halo(8)
    for rank in job.ranks[3:]:
        rank.header["job"] = {**rank.header["job"], "program": "/opt/ocean"}
    _, out, _ = run("report", job.write(tmp_path / "a.swcap"))
    assert out.startswith("-n 3 app : -n 5 ocean ")


def test_waiting_of_a_region_is_the_same_on_all_pages(run, path, tmp_path):
    one = next(r for r in profile.load(path).regions() if r.name == "solve")
    assert 0 < one.waiting < one.communication < one.time
    share = units.share(one.waiting / one.time)
    _, out, _ = run("report", path)
    line = next(x for x in out.splitlines() if x.strip().startswith("solve "))
    assert share in line
    run("report", path, "--html", tmp_path / "a.html")
    row = re.search(r"<tr[^>]*>(?:(?!</tr>).)*>solve<.*?</tr>",
                    (tmp_path / "a.html").read_text(), re.S)[0]
    assert share in row


def test_one_node_has_no_bytes_between_nodes(run, tmp_path):
    path = captures.halo(4, node_ranks=4).write(tmp_path / "a.swcap")
    for form in ([], ["--text"], ["--html", "-"]):
        _, out, _ = run("report", path, *form)
        assert "etween nodes" not in out and "etween Nodes" not in out


def test_a_bar_is_as_long_as_its_parts():
    shown = page.Page(sys.stdout)
    bar = shown.bar({"compute": 5, "waiting": 3, "moving": 2}, 20, 10)
    assert bar.plain == "█" * 10 + "░" * 6 + "▓" * 4
    bar = shown.bar({"compute": 1}, 20, 4)
    assert bar.plain == "█" * 5
    assert shown.bar({}, 5, 0).plain == ""


@pytest.mark.parametrize("ranks, rows", [(16, 16), (17, 9), (1000, 16)])
def test_many_ranks_are_grouped(run, tmp_path, ranks, rows):
    _, out, _ = run("report", captures.halo(ranks).write(tmp_path / "a"))
    bars = re.findall(r"^ *([\d-]+)  █", out, re.M)
    assert len(bars) == rows and bars[-1].endswith(str(ranks - 1))
    assert f"least 1.1 % (rank {ranks - 1})" in out


def test_letters_that_the_terminal_lacks(path, monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, "ascii"))
    profile_terminal.render(profile.load(path), sys.stdout)
    sys.stdout.flush()
    text = raw.getvalue().decode("ascii")
    assert re.search(r"^   0  #+\.+=+o+ +21\.1 %$", text, re.M)
    assert "150 us" in text


def test_what_went_wrong_stands_at_the_top(run, tmp_path):
    _, out, _ = run("report", damaged().write(tmp_path / "a.swcap"))
    top = " ".join(out.partition("Communication")[0].split())
    assert "Rank 1 ended by signal 9." in top
    assert "Rank 9 called MPI_Abort." in top
    assert "2 ranks of 40 left nothing" in top and "ranks 3-4." in top


def test_a_cut_file_is_shown_with_what_is_lost(run, path, symbols):
    raw = open(path, "rb").read()
    open(path, "wb").write(raw[:len(raw) // 2])
    status, out, _ = run("report", path)
    assert status == 0
    assert "The file ends within a block" in out and "left nothing" in out


def test_calls_that_failed_are_told(run, tmp_path):
    job = captures.Job(1)
    job.ranks[0].call("MPI_Recv", 5, MS, errors=3)
    job.ranks[0].call("MPI_Send", 5, MS)
    _, out, _ = run("report", job.write(tmp_path / "a.swcap"))
    assert "3 calls returned an error: MPI_Recv 3." in out


def test_a_run_without_mpi_calls(run, tmp_path):
    _, out, _ = run("report", captures.Job(2).write(tmp_path / "a.swcap"))
    assert "No MPI call was recorded" in out


def test_texts_are_not_markup(run, tmp_path):
    job = captures.Job(1)
    job.ranks[0].call("MPI_Send", 1, MS, site=[
        job.ranks[0].native("/a/[red]x.c", 1, "operator[]")])
    _, out, _ = run("report", job.write(tmp_path / "a.swcap"))
    assert "operator[] ([red]x.c:1)" in out


# Parts and groupings ------------------------------------------------------

def test_by_top_and_sort(run, path):
    _, out, _ = run("report", path, "--by", "operation", "--top", 2,
                    "--sort", "calls")
    rows = out.partition("By operation")[2].splitlines()[2:]
    assert [row.split()[0] for row in rows[:3]] == [
        "MPI_Isend", "MPI_Irecv", "and"]
    _, out, _ = run("report", path, "--by", "region,class")
    assert re.search(r"^solve, completion ", out, re.M)


def test_a_region_and_some_ranks(run, path):
    _, out, _ = run("report", path, "--region", "solve/checkpoint",
                    "--ranks", "0-2,5")
    assert "region solve/checkpoint; ranks 0-2, 5 only" in out
    assert "4 of 8 ranks on 2 nodes, 1.00 s" in out
    assert "MPI_File_write_at_all" in out and "Waitall" not in out
    _, out, _ = run("report", path, "--region", "(outside)")
    assert "MPI_Bcast" in out and "Waitall" not in out


# Text ---------------------------------------------------------------------

def test_the_text_has_the_sections_of_mpip(run, path):
    status, out, _ = run("report", path, "--text")
    assert status == 0 and widths(out) <= 80
    heads = [line[5:].rstrip("-").strip() for line in out.splitlines()
             if line.startswith("@---")]
    assert heads == [
        "Units", "MPI Time (seconds)", "Callsites: 8",
        "Aggregate Time (top twenty, descending, milliseconds)",
        "Aggregate Time by Procedure (milliseconds)",
        "Aggregate Time by Class (milliseconds)",
        "Aggregate Sent Message Size (top twenty, descending, bytes)",
        "Callsite Time statistics (all, milliseconds): 7",
        "Callsite Message Sent statistics (all, sent bytes)",
        "Callsite I/O statistics (all, milliseconds and bytes)",
        "Communicators (milliseconds)",
        "Regions (with those within them, milliseconds)",
        "Message Sizes (bytes, milliseconds)",
        "Pairs of Ranks (top twenty of 24, by bytes)",
        "Bytes Inside and Between Nodes",
        "Pairs of Ranks by What Lies Between Them (bytes)",
        "Findings (seconds concerned, per rank on average)",
        "End of Report"]
    assert re.search(r"^ +\* 160\.000000 +17\.769600 11\.11 16\.433600 "
                     r"1\.336000 3\.200000$", out, re.M)
    assert re.search(r"^Alltoall +4 +\* +800 +3\.600 +1\.200 +0\.600000 "
                     r"+240\.000 +0\.60 +5\.40$", out, re.M)


def test_the_text_is_the_same_each_time(run, path):
    assert run("report", path, "--text") == run("report", path, "--text",
                                                "-")


def test_a_text_of_every_page(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "damaged", "silent", "instant"):
        status, out, _ = run("report", PAGES[name]().write("a.swcap"),
                             "--text")
        assert status == 0 and "End of Report" in out


# JSON and CSV -------------------------------------------------------------

@pytest.mark.parametrize("job", PAGES)
def test_json_is_as_the_schema_says(run, tmp_path, job):
    path = PAGES[job]().write(tmp_path / "a.swcap")
    status, out, _ = run("report", path, "--json", "-")
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    report = json.loads(out)
    jsonschema.Draft202012Validator(schema).validate(report)
    assert report["schema"] == profile_json.SCHEMA == schema["title"]


def test_the_schema_knows_every_key_and_no_other(path):
    schema = json.loads(SCHEMA.read_text())
    report = profile_json.report(profile.load(path))
    assert set(schema["properties"]) == {*report, "devices"}
    assert set(profile_json.VIEWS) < set(report)
    report["operations"][0]["surprise"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report, schema)


def test_messages_that_straightway_matched(path):
    """Rank by rank in the capture; sums and the most in a report."""
    p = profile.load(path)
    assert not words.matched(p)
    for rank, seen in zip(p.ranks, ((30, 6, 48, 2, 7), (10, 4, 8, 3, 1))):
        rank.capture.matched = capture.Matched(*seen)
    assert p.__dict__.pop("matched") and p.matched == (40, 10, 56, 3, 7)
    first, second = words.matched(p)
    assert "40 messages" in first and "25.0 %" in first
    assert "3 messages waiting" in second and "7 receives posted" in second


def test_json_numbers(path):
    report = profile_json.report(profile.load(path))
    assert report["summary"]["wall_s"] == 20
    assert report["summary"]["communication"]["time_s"] == \
        pytest.approx(17.7696)
    assert report["ranks"][7]["communication_s"] == 0.2212
    first = report["operations"][0]
    assert (first["operation"], first["calls"], first["ranks"]) == (
        "MPI_Waitall", 8000, 8)
    assert report["sites"][0]["line"] == 150


@pytest.mark.parametrize("name", tables.TABLES)
def test_csv_round_trip(run, path, name):
    if name == "devices":
        path = with_device("device.swcap")
    status, out, err = run("report", path, "--csv", name)
    assert (status, err) == (0, "")
    rows = tables.table(profile.load(path), name)
    assert rows
    assert list(csv.DictReader(io.StringIO(out))) == [
        {key: str(value) for key, value in row.items()} for row in rows]


def with_device(path, pieces=0):
    """A capture of a rank that sends from the memory of a GPU."""
    job = captures.Job(2)
    here = job.ranks[0].native("/src/halo.c", 42, "exchange")
    job.ranks[0].call("MPI_Send", 10, 40 * MS, site=[here], size=4096,
                      datatype="MPI_DOUBLE", peer=1, device_pieces=pieces)
    job.ranks[1].call("MPI_Recv", 10, 40 * MS, size=4096, received=40960,
                      datatype="MPI_DOUBLE")
    return job.write(path)


def test_memory_of_a_gpu_in_every_form(run, tmp_path):
    path = with_device(tmp_path / "a.swcap", 5120)
    status, out, _ = run("report", path)
    assert status == 0 and widths(out) <= 80
    shown = out.partition("\nMemory of GPUs")[2].partition("\n\n")[0]
    assert re.search(r"Send +exchange.* 10 +40 KiB +5,120", shown), out
    assert "Recv" not in shown
    report = json.loads(run("report", path, "--json", "-")[1])
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    row, = report["devices"]
    assert (row["operation"], row["line"], row["calls"], row["sent_bytes"],
            row["received_bytes"], row["pieces"]) == (
        "MPI_Send", 42, 10, 40960, 0, 5120)
    text = run("report", path, "--text")[1].partition("Memory of GPUs")[2]
    assert re.search(r"^Send +10 +40960 +0 +5120 exchange", text, re.MULTILINE)
    page = run("report", path, "--html", "-")[1]
    assert 'id="devices"' in page and 'href="#devices"' in page


def test_pieces_are_shown_only_where_there_are_any(run, tmp_path):
    _, out, _ = run("report", with_device(tmp_path / "a.swcap"))
    assert "Memory of GPUs" in out and "pieces: " not in out


def test_a_run_without_a_gpu_looks_as_it_did(run, path):
    report = json.loads(run("report", path, "--json", "-")[1])
    assert "devices" not in report
    for form in ((), ("--text",), ("--html", "-")):
        said = run("report", path, *form)[1]
        assert "GPU" not in said and "devices" not in said


def test_places_in_every_form(run, tmp_path):
    job = captures.halo(16, node_ranks=8).bind(2, 2, numas=2)
    job.ranks[3].header["cpus"] = "0-7"
    path = job.write(tmp_path / "a.swcap")
    status, out, _ = run("report", path)
    assert status == 0 and widths(out) <= 80
    shown = out.partition("\nPlaces")[2].partition("\n\n")[0]
    for told in ("between nodes", "between packages of a node",
                 "between NUMA domains of a package", "inside a NUMA domain",
                 "not known", "Rank 3 may run in several NUMA domains"):
        assert told in shown
    report = json.loads(run("report", path, "--json", "-")[1])
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    levels = {row["level"]: row for row in report["crossing"]}
    assert list(levels) == ["node", "package", "numa", "inside", "unknown"]
    assert sum(row["bytes"] for row in levels.values()) == sum(
        one["bytes"] for one in report["matrix"])
    assert sum(row["share"] for row in levels.values()) == pytest.approx(1)
    assert report["ranks"][3]["processors"] == "0-7"
    text = run("report", path, "--text")[1].partition("What Lies")[2]
    text = text.partition("\n\n")[0]
    node = levels["node"]
    assert widths(text) <= 80
    assert re.search(f"^between_nodes +{node['messages']} +{node['bytes']} +"
                     f"{100 * node['share']:.2f}$", text, re.MULTILINE)


def test_csv_with_hard_texts(run, tmp_path):
    job = captures.Job(1)
    name = 'operator,()"x"'
    job.ranks[0].call("MPI_Send", 1, 1, site=[
        job.ranks[0].native("/a b/c,d.c", 1, name)])
    _, out, _ = run("report", job.write(tmp_path / "a.swcap"), "--csv",
                    "sites")
    row, = csv.DictReader(io.StringIO(out))
    assert row["function"] == name and row["file"] == "/a b/c,d.c"


def test_csv_of_nothing_says_so(run, tmp_path):
    path = captures.halo(2, regions=False).write(tmp_path / "a.swcap")
    status, out, err = run("report", path, "--csv", "regions")
    assert (status, out) == (0, "") and "has no regions" in err


def test_several_forms_at_once(run, path):
    status, out, err = run("report", path, "--json", "a.json", "--text",
                           "a.txt", "--csv", "ranks", "a.csv")
    assert (status, out) == (0, "")
    assert json.load(open("a.json"))["job"]["ranks"] == 8
    assert "End of Report" in open("a.txt").read()
    assert len(open("a.csv").readlines()) == 9
    assert "wrote a.txt" in err and "wrote a.csv" in err


# HTML's way ---------------------------------------------------------------

def test_html_lies_beside_its_capture(run, path, monkeypatch):
    module = types.ModuleType("straightway.reporters.profile_html")
    module.render = lambda p, out: out.write(f"<html>{p.job.ranks}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(straightway.reporters, "profile_html", module,
                        raising=False)
    assert run("report", path, "--html")[0] == 0
    assert open("halo.html").read() == "<html>8"
    assert run("report", "--html", path, "--ranks", "0")[0] == 0
    assert run("report", path, "--html", "-")[1] == "<html>8"


def test_communicators_are_cut_in_their_middle(run, path):
    """Names that differ at their ends stay apart in 80 columns."""
    job = captures.Job(4)
    for rank in job.ranks:
        for number in "abc1", "abc2":
            rank.call("MPI_Barrier", 1, 10 ** 9,
                      communicator=rank.communicator(
                          "a long name that the program has given it " * 2,
                          number, [[0, 3]]))
    job.write(path)
    _, out, _ = run("report", path)
    rows = [line for line in out.splitlines() if " #abc" in line]
    assert len(rows) == 2 and all(len(row) <= 80 for row in rows)
    assert all(re.match("a long name.*….* #abc[12] ", row) for row in rows)


# Names --------------------------------------------------------------------

def unnamed(path):
    job = captures.Job(2)
    for rank in job.ranks:
        rank.call("MPI_Send", 1, MS, site=[
            rank.native(None, 0, "", "/opt/app", 0x10)])
        rank.call("MPI_Recv", 1, MS, site=[
            rank.native(None, 0, "", "/opt/app", 0x666)])
    return job.write(path)


def test_frames_are_named_where_the_modules_are(run, tmp_path, symbols):
    """The first report keeps the names, so that the file can travel. It asks
    again for those that it did not find: another machine may have them."""
    path = unnamed(tmp_path / "a.swcap")
    _, out, _ = run("report", path)
    assert "at_10 (x.c:16)" in out and "app+0x666" in out
    assert symbols.asked == [("/opt/app", "b1d", 0x10),
                             ("/opt/app", "b1d", 0x666)]
    symbols.asked.clear()
    for _ in range(2):
        _, out, _ = run("report", path)
        assert "at_10 (x.c:16)" in out and "app+0x666" in out
    assert set(symbols.asked) == {("/opt/app", "b1d", 0x666)}


def test_what_would_name_an_address_is_told(run, tmp_path, symbols):
    path = unnamed(tmp_path / "a.swcap")
    _, out, _ = run("report", path)
    text = " ".join(out.split())
    assert "no name for addresses in app: " in text
    assert "debug symbols, and ask again." in text


def test_a_report_without_new_names_changes_no_file(run, tmp_path, symbols):
    path = unnamed(tmp_path / "a.swcap")
    run("report", path)
    before = open(path, "rb").read()
    run("report", path)
    assert open(path, "rb").read() == before


@pytest.mark.parametrize("how", ["read-only", "cut"])
def test_a_report_leaves_a_file_that_it_cannot_write(run, tmp_path, symbols,
                                                     monkeypatch, how):
    path = unnamed(tmp_path / "a.swcap")
    if how == "cut":
        with open(path, "ab") as file:
            file.write(b"RANK")
    else:
        def refuse(*_, **__):
            raise UserError("a.swcap: Permission denied", 1)

        monkeypatch.setattr(capture, "append", refuse)
    before = open(path, "rb").read()
    status, out, err = run("report", path)
    assert (status, err) == (0, "") and "at_10 (x.c:16)" in out
    assert open(path, "rb").read() == before


def test_finish_keeps_the_names_in_the_file(run, tmp_path, symbols):
    path = unnamed(tmp_path / "a.swcap")
    status, out, err = run("report", "--finish", path)
    assert (status, out) == (0, "") and "at_10 (x.c:16)" in err
    assert ("/opt/app", "b1d", 0x10) in capture.read(path).symbols
    symbols.asked.clear()
    _, out, _ = run("report", path)
    assert "at_10 (x.c:16)" in out and "app+0x666" in out
    assert ("/opt/app", "b1d", 0x10) not in symbols.asked


@pytest.mark.parametrize("inner", ["--finish", "--join", "--seen-from"])
def test_inner_options_are_not_advertised(run, inner):
    assert inner not in run("report", "--help")[1]


# Mistakes -----------------------------------------------------------------

@pytest.mark.parametrize("words, said", [
    (["report"], "which file?"),
    (["report", "none.swcap"], "none.swcap: No such file"),
    (["report", "halo.swcap", "--csv", "ranx"], "did you mean ranks?"),
    (["report", "halo.swcap", "--csv", "zzz"], "give one of operations"),
    (["report", "--csv", "halo.swcap"], "--csv needs a table"),
    (["report", "halo.swcap", "--csv", "ranks", "a", "b"], "--csv takes"),
    (["report", "halo.swcap", "--by", "sight"], "did you mean site?"),
    (["report", "halo.swcap", "--by", ""], "unknown grouping (none)"),
    (["report", "halo.swcap", "--sort", "tim"], "did you mean time?"),
    (["report", "halo.swcap", "--ranks", "3-1"], "as in 0-3,7"),
    (["report", "halo.swcap", "--ranks", "99"], "it has 0-7"),
    (["report", "halo.swcap", "--region", "x"], "it has solve"),
    (["report", "halo.swcap", "--top", "0"], "1 or more"),
    (["report", "halo.swcap", "--json"], "--json needs a value"),
    (["report", "halo.swcap", "--text", "halo.swcap"], "the capture itself"),
    (["report", "halo.swcap", "--json", "halo.swcap"], "the capture itself"),
    (["report", "halo.swcap", "--jsn", "x"], "did you mean --json?"),
    (["report", "halo.swcap", "--text", "no/such/a.txt"], "No such file"),
    (["repotr", "halo.swcap"], "did you mean report?"),
    (["dif", "halo.swcap", "halo.swcap"], "did you mean diff?"),
    (["diff", "halo.swcap"], "B missing\n  usage: straightway"),
    (["merge", "halo.swcap"], "IN missing\n  usage: straightway"),
    (["merge", "halo.swcap", "halo.swcap"], "exists already"),
    (["merge", "a.swcap", "halo.swcap", "--lats"], "did you mean --last?"),
    (["merge", "a.swcap", "halo.swcap", "halo.swcap"], "is given twice"),
])
def test_a_mistake_is_answered_in_plain_words(run, path, words, said):
    before = open(path, "rb").read()
    status, out, err = run(*words)
    assert status in (1, 2) and out == ""
    assert said in err and err.startswith("straightway: ")
    assert open(path, "rb").read() == before


@pytest.mark.parametrize("words", [
    ["--help"], ["report", "--help"], ["diff", "--help"],
    ["merge", "--help"]], ids=" ".join)
def test_help_fits_80_columns(run, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = run(*words)
    assert status == 0 and widths(out) <= 80


# diff ---------------------------------------------------------------------

def pair(ranks=4, **second):
    jobs = []
    for mean, header in ((80, {}), (20, second)):
        job = captures.Job(ranks, wall=(1 if mean == 20 else 2) * S,
                           **header)
        for rank in job.ranks:
            rank.call("MPI_Alltoall", 1000, mean * 10 ** 6, size=24576,
                      waited=mean * 10 ** 5)
            rank.call("MPI_Barrier", 10, 10 ** 6)
        jobs.append(job)
    return jobs[0].write("a.swcap"), jobs[1].write("b.swcap")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_diff_shows_time_per_call_and_speed_up(run, here):
    status, out, _ = run("diff", *pair(accelerated=True))
    assert status == 0 and widths(out) <= 80 and "differ" not in out
    assert re.search(r"^run time +2\.00 s +1\.00 s +2\.00$", out, re.M)
    assert re.search(r"^MPI_Alltoall +4,000 +80\.0 ms +20\.0 ms +80\.0 µs "
                     r"+20\.0 µs +4\.00$", out, re.M)
    assert "with Straightway" in " ".join(out.split())


def test_diff_warns_of_what_cannot_be_compared(run, here):
    captures.Job(4, program="/x/one").write("a.swcap")
    captures.Job(8, program="/x/two", node_ranks=4, absent=(5,)).write(
        "b.swcap")
    _, out, _ = run("diff", "a.swcap", "b.swcap")
    for said in ("programs differ: one and two", "ranks differ: 4 and 8",
                 "nodes differ: 1 and 2", "B lacks ranks 5"):
        assert said in out


def test_diff_as_json_and_csv(run, here):
    files = pair()
    report = json.loads(run("diff", *files, "--json", "-")[1])
    assert report["schema"] == "straightway-profile-diff/1"
    schemas.check("diff", report, "summary")
    rows = {row["what"]: row for row in report["summary"]}
    assert rows["waiting"]["speedup"] == pytest.approx(4, rel=0.1)
    assert rows["communication share"]["a"] == pytest.approx(0.0405)
    assert report["operations"][0]["a_mean_s"] == 8e-5
    rows = list(csv.DictReader(io.StringIO(
        run("diff", *files, "--csv", "-")[1])))
    assert rows[0]["operation"] == "MPI_Alltoall"
    assert float(rows[0]["speedup"]) == 4


def test_diff_never_writes_over_what_it_reads(run, here):
    a, b = pair()
    for form in (["--json", a], ["--csv", b]):
        assert "the capture itself" in run("diff", a, b, *form)[2]


def test_diff_of_what_only_one_calls(run, here):
    pair()
    captures.Job(4).write("c.swcap")
    status, out, _ = run("diff", "a.swcap", "c.swcap")
    assert status == 0 and re.search(r"^MPI_Alltoall +4,000 ", out, re.M)
    assert "Neither calls MPI." in run("diff", "c.swcap", "c.swcap")[1]


# merge --------------------------------------------------------------------

def parts():
    """One job in two files, as its nodes wrote them."""
    job = captures.halo(8)
    blocks = job.blocks()
    capture.write("node0.swcap", blocks[:4] + blocks[8:])
    capture.write("node1.swcap", blocks[4:])
    job.write("whole.swcap")
    return job


def test_merge_gives_the_whole(run, here):
    parts()
    status, out, err = run("merge", "all.swcap", "node0.swcap",
                           "node1.swcap")
    assert (status, err) == (0, "") and "8 ranks of 8" in out
    whole, merged = (json.loads(run("report", f"{name}.swcap", "--json",
                                    "-")[1]) for name in ("whole", "all"))
    assert {**merged, "file": ""} == {**whole, "file": ""}


def test_merge_tells_what_is_missing(run, here):
    parts()
    status, out, err = run("merge", "all.swcap", "node1.swcap")
    assert status == 0 and "4 ranks of 8" in out
    assert "ranks 0-3 are still missing" in err


def test_merge_refuses_ranks_that_are_in_two(run, here):
    job = parts()
    job.ranks[4].header["node"] = "later"
    capture.write("again.swcap", job.blocks()[4:5])
    words = ["merge", "all.swcap", "node1.swcap", "again.swcap"]
    status, _, err = run(*words)
    assert status == 2 and "rank 4 is in node1.swcap and" in err
    assert not os.path.exists("all.swcap")
    assert run(*words, "--last")[0] == 0
    assert capture.read("all.swcap").ranks[0].node == "later"


@pytest.mark.parametrize("other", [
    dict(id="9"), dict(ranks=9), dict(began=1780009999)])
def test_merge_refuses_another_job(run, here, other):
    captures.Job(absent=(1, 2, 3)).write("a.swcap")
    captures.Job(**{"absent": (0,), **other}).write("b.swcap")
    status, _, err = run("merge", "all.swcap", "a.swcap", "b.swcap")
    assert status == 2 and "different jobs" in err
    assert not os.path.exists("all.swcap")


def test_merge_leaves_out_what_is_damaged_and_says_so(run, here):
    parts()
    raw = open("node1.swcap", "rb").read()
    open("node1.swcap", "wb").write(raw[:-400])
    status, _, err = run("merge", "all.swcap", "node0.swcap", "node1.swcap")
    assert status == 0 and "node1.swcap: The file ends within" in err
    assert capture.read("all.swcap").problems == []


# How long it takes --------------------------------------------------------

def test_how_long_a_large_report_takes(run, tmp_path, capsys):
    path = captures.halo(64, extra_rows=300).write(tmp_path / "a.swcap")
    start = time.perf_counter()
    capture.read(path)
    read = time.perf_counter() - start
    start = time.perf_counter()
    assert run("report", path)[0] == 0
    page = time.perf_counter() - start
    start = time.perf_counter()
    assert run("report", path, "--text", "-")[0] == 0
    text = time.perf_counter() - start
    with capsys.disabled():
        print(f"\n64 ranks of 309 records: read in {read:.3f} s, page in "
              f"{page:.2f} s, text in {text:.2f} s")


# What a terminal obeys --------------------------------------------------------

def test_control_characters_of_files_are_shown_and_not_sent(run, tmp_path):
    status, out, err = run("map", tmp_path / "a\x1b[31m\x9bb.swcap")
    assert status == 2 and "a\\x1b[31m\\x9bb.swcap" in err
    assert not set("\x1b\x9b") & set(out + err)
    path = tmp_path / "topology.conf"
    path.write_text("SwitchName=\x1b]0;title\x07 Nodes=n1\n")
    status, out, err = run("topo", "--slurm", path)
    assert status == 0 and "\\x1b]0;title\\x07" in out
    assert "\x1b" not in out + err


def test_no_color_leaves_no_style(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    for value, styled in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", value)
        out = io.StringIO()
        page.Page(out).heading("A title", "a note")
        assert ("\x1b" in out.getvalue()) is styled


@pytest.mark.parametrize("text", [None, "junk", "0 compute"])
def test_an_error_names_a_file_once(run, tmp_path, text):
    path = tmp_path / "odd"
    path.write_text(text) if text else path.mkdir()
    status, out, err = run("whatif", "replay", path)
    assert status == 1 and not out
    assert err.count(str(path)) == 1 and "SMPI" in err


@pytest.mark.parametrize("width", [60, 80, 120])
def test_what_explains_a_page_is_never_cut(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    said = "time from MPI_Init to MPI_Finalize; speed-up: over the " \
        "baseline that this machine measured, on average of all ranks"
    out = io.StringIO()
    shown = page.Page(out)
    shown.heading("Predictions", said)
    shown.line("  " + said)
    assert max(map(len, out.getvalue().splitlines())) <= width
    assert "\u2026" not in out.getvalue()
    assert " ".join(out.getvalue().split()).count(said) == 2


def test_a_page_goes_to_stdout(run):
    status, out, _ = run("topo", "--html", "-")
    assert status == 0 and out.lstrip().lower().startswith("<!doctype html>")
    assert out.rstrip().endswith("</html>") and not os.path.exists("-")


# What a file claims -----------------------------------------------------------

def test_a_claim_of_many_ranks_costs_nothing(run, tmp_path):
    job = captures.Job(4, node_ranks=2)
    job.header["ranks"] = 10 ** 9
    for rank in job.ranks:
        rank.call("MPI_Send", 1, MS, size=4096, peer=(rank.number + 1) % 4)
    path = job.write(tmp_path / "claim.swcap")
    for command in (("report", path), ("report", path, "--html",
                                       tmp_path / "page.html"),
                    ("merge", tmp_path / "m.swcap", path)):
        status, _, err = run(*command)
        assert status == 0, err
    assert "ranks 4-999999999 are still missing" in err
