"""straightway where: what a user types, and what the terminal shows."""

import io
import json
import os
import pathlib
import subprocess
import sys

import jsonschema
import pytest
import straightway
from readings import Made
from straightway import native
from straightway.reporters import where_terminal
from straightway.where import launched, places, saved

SCHEMA = json.loads((pathlib.Path(straightway.__file__).parent / "schemas"
                     / "where.schema.json").read_text())


def hanging(ranks=4, job="job-1", node="alpha", node_ranks=None):
    """Ranks in a barrier, and one that waits for a message."""
    made = Made(ranks, job, node, node_ranks)
    row = made.world()
    for number in range(ranks):
        made.collective(number, "MPI_Barrier", row, 2)
    made.began(ranks - 1, row, "MPI_Barrier")
    made.blocked(ranks - 1, "MPI_Recv", comm=row, peer=0, tag=8,
                 bytes=1 << 20)
    made.sent(0, ranks - 1, row, {9: 2})
    return made


@pytest.fixture(autouse=True)
def _a_pipe_of_80_columns(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)


def page(report):
    out = io.StringIO()
    where_terminal.render(report, out)
    return out.getvalue()


# One job, several, none -----------------------------------------------------

def test_the_job_that_runs_is_shown(run, shown):
    asked = shown(hanging())
    status, out, _ = run("where")
    assert status == 0
    assert "rank 3 waits for tag 8 from rank 0, which has sent tag 9" in out
    assert "ranks" in out and "MPI_Barrier #2" in out and "0-2" in out
    first, second = asked.read_text().splitlines()
    assert first == "--list" and second == "1000 1001 1002 1003"


def test_no_sample_reaches_the_reader(run, shown):
    asked = shown(hanging())
    assert run("where", "--no-sample")[0] == 0
    assert asked.read_text().splitlines()[1].startswith("--no-sample 1000")


def test_several_jobs_are_listed(run, shown):
    second = hanging(2, "job-2")
    for i, process in enumerate(second.processes):
        process.update(pid=2000 + i, started=5.0)
    shown(hanging(), second)
    status, _, err = run("where")
    assert status == 2
    assert "2 jobs run here; name one, as in straightway where job-2" in err
    assert "job-1" in err and "4 ranks" in err and "pid 2000" in err
    status, out, _ = run("where", "job-2")
    assert status == 0 and "job job-2" in out
    status, _, err = run("where", "job")
    assert status == 2 and "job means 2 jobs" in err


def test_a_process_names_its_job(run, shown):
    made = hanging(1)
    made[0]["pid"] = os.getpid()
    shown(made)
    # A rank itself, and what is above it.
    for pid in (os.getpid(), os.getppid()):
        status, out, err = run("where", pid)
        assert status == 0, err
        assert "job job-1" in out


def test_no_job_says_what_to_do(run, shown):
    shown()
    status, _, err = run("where")
    assert status == 2
    assert "no MPI job of yours" in err
    assert "`straightway where PID` asks gdb" in err


@pytest.mark.parametrize("words, text", [
    (["nothing"], "there is no job nothing here"),
    (["999999999"], "there is no process 999999999"),
    (["a", "b"], "there is no file a"),
    (["--watch", "x"], "give seconds"),
    (["--watch", "0"], "give seconds"),
    (["--watch", "1", "--json"], "omit --watch"),
    (["--out", "x"], "belongs to --json"),
    (["--jsn"], "did you mean --json")])
def test_a_mistake_is_named(run, shown, words, text):
    shown(hanging())
    status, _, err = run("where", *words)
    assert status == 2 and text in err


def test_a_missing_part_is_named(run, monkeypatch):
    monkeypatch.setattr(native, "where_executable",
                        lambda: pathlib.Path("/nowhere/straightway-where"))
    status, _, err = run("where")
    assert status == 1 and "reinstall" in err


def test_help_fits_80_columns(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = run("where", "--help")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80


def test_watch_shows_it_again_until_the_job_has_ended(run, shown, tmp_path,
                                                      monkeypatch):
    shown(hanging())
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        if len([s for s in slept if s == 7]) == 2:
            (tmp_path / "answer.json").write_text('{"processes": []}')

    monkeypatch.setattr("straightway.commands.where.time.sleep", sleep)
    status, out, err = run("where", "--watch", "7")
    assert status == 0
    assert out.count("which has sent tag 9") == 2
    assert "has ended" in err


# JSON, several nodes --------------------------------------------------------

def valid(plain):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(plain)
    return plain


def test_json_is_as_the_schema_says(run, shown):
    shown(hanging())
    status, out, _ = run("where", "--json")
    assert status == 0
    plain = valid(json.loads(out))
    assert plain["verdict"].startswith("rank 3 waits for tag 8")
    assert plain["findings"][0]["kind"] == "wrong-tag"
    assert set(SCHEMA["$defs"]["report"]["properties"]) == set(plain)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**plain, "more": 1}, SCHEMA)


def test_each_kind_of_rank_is_as_the_schema_says():
    made = hanging(12)
    made.drop(1)
    for number, state in ((2, "T"), (3, "t"), (4, "Z")):
        made[number]["state"] = state
    made.user(5, last=made.call("MPI_Test"))
    made.user(6)
    made.moves(7)
    made[8]["finalized"] = True
    made.new(9, 12)
    valid(saved.plain(made.report()))


def test_files_of_several_nodes_are_put_together(run, shown, tmp_path):
    files = []
    for node, own in (("alpha", (0, 1)), ("beta", (2, 3))):
        made = hanging(4, node=node, node_ranks=2)
        for number in set(range(4)) - set(own):
            made.drop(number)
        path = tmp_path / f"where.{node}.json"
        path.write_text(json.dumps(saved.plain(made.report())))
        files.append(path)
    status, out, _ = run("where", *files)
    assert status == 0
    assert "rank 3 waits for tag 8 from rank 0, which has sent tag 9" in out
    assert "2 nodes" in out and "Put all nodes together" not in out
    both = tmp_path / "both.json"
    both.write_text("\n".join(path.read_text() for path in files))
    assert run("where", both)[1] == out
    status, out, _ = run("where", files[0])
    assert "ranks 2 and 3" in out and "Put all nodes together" in out


def test_out_has_the_node_in_its_name(run, shown, tmp_path):
    shown(hanging())
    status, _, _ = run("where", "--json", "--out", tmp_path / "w.%h.json")
    assert status == 0
    path, = tmp_path.glob("w.*.json")
    assert "%" not in path.name
    assert "which has sent tag 9" in run("where", path)[1]


@pytest.mark.parametrize("text", ["", "no", "[1]", '{"schema": 1}',
                                  '{"schema": "straightway-where/1", '
                                  '"readings": [{}]}'])
def test_a_file_of_something_else_is_refused(run, tmp_path, text):
    path = tmp_path / "odd.json"
    path.write_text(text)
    status, _, err = run("where", path)
    assert status == 2 and err


# The terminal ---------------------------------------------------------------

def wide():
    """Long names, many ranks, and a bit of everything."""
    made = Made(200)
    long = "a_communicator_with_quite_a_long_name_for_a_terminal"
    row = made.comm(long, range(200))
    for number in range(200):
        made.collective(number, "MPI_Reduce_scatter_block", row, 123456,
                        bytes=1 << 30, at=("a_file_with_a_long_name.f90",
                                           number % 7 * 1000))
    for number in range(0, 200, 3):
        made.blocked(number, "MPI_Sendrecv_replace", comm=row, peer=number,
                     tag=1 << 20, to=number, to_tag=77, bytes=123456789)
        made.sent(number, (number + 1) % 200, row, {5: 1})
    made.drop(3)
    made[5]["state"] = "T"
    return made


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("made", [hanging, wide])
def test_no_line_is_wider_than_the_terminal(monkeypatch, made, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = page(made().report())
    assert max(map(len, text.splitlines())) <= columns


def test_the_verdict_comes_first():
    text = page(hanging().report()).splitlines()
    assert "job job-1" in text[0] and "4 ranks" in text[0]
    assert text[2] == \
        "rank 3 waits for tag 8 from rank 0, which has sent tag 9"


def test_ranks_in_the_same_place_share_a_row():
    rows = {str(row.ranks): row for row in hanging().report().rows}
    assert set(rows) == {"[0, 1, 2]", "[3]"}
    assert rows["[3]"].what == \
        "MPI_Recv from rank 0, tag 8, 1 MiB"
    assert rows["[3]"].place == "work (x.c:10)"


def test_messages_and_receives_without_a_partner_are_shown():
    text = page(hanging().report())
    assert "Messages that no receive takes" in text
    assert "Receives that no message meets" in text


def test_names_cannot_steer_the_terminal():
    made = Made(2, job="j\x1b[31m")
    row = made.comm("c\x1b[2J\n", range(2))
    made.collective(0, "MPI_Barrier", row, 1)
    made[1]["program"] = "\x1b]0;x\x07"
    made.user(1, "\x1b.c", 1)
    assert "\x1b" not in page(made.report())


def test_many_messages_are_counted_not_listed():
    made = Made(64)
    row = made.world()
    for number in range(64):
        made.sent(number, (number + 1) % 64, row, {1: 2})
        made.request(number, "MPI_Irecv", "receives", comm=row,
                     peer=(number + 1) % 64, tag=2)
        made.waitall(number)
    text = page(made.report())
    assert text.count("64 in all") == 2
    assert len(text.splitlines()) < 60


# Places ---------------------------------------------------------------------

def native_frame(module, offset=1):
    return {"module": module, "offset": offset, "build_id": ""}


@pytest.mark.parametrize("modules, which", [
    (["/usr/lib/libc.so.6", "/home/u/app"], 1),
    (["/opt/mpi/lib/libmpi.so.40", "/opt/mpi/lib/libmpi_mpifh.so.40",
      "/home/u/app"], 2),
    (["/v/site-packages/mpi4py/MPI.cpython-311-x86_64.so", "/usr/bin/py"], 1),
    (["/home/u/.venv/lib/libstraightway.so", "/home/u/libsolver.so",
      "/home/u/app"], 1),
    (["/usr/lib/libblas.so.3", "/home/u/app"], 1),
    (["/usr/lib/x86_64-linux-gnu/libc.so.6"], 0)])
def test_the_frame_of_the_program_is_shown(modules, which):
    from straightway.where import model
    frames = model._frames([native_frame(m, i) for i, m in
                            enumerate(modules)])
    assert places.shown(frames) is frames[which]


def test_the_innermost_line_of_python_is_shown():
    from straightway.where import model
    frames = model._frames([
        {"file": "/v/site-packages/mpi4py/util/x.py", "line": 1,
         "function": "f"},
        {"file": "/home/u/app.py", "line": 7, "function": "solve"},
        native_frame("/usr/bin/python3")])
    assert places.Names().label(places.shown(frames)) == "solve (app.py:7)"


def test_each_frame_is_looked_up_once(monkeypatch):
    from straightway import symbols
    asked = []

    def resolve(frames, patience=None):
        asked.append(list(frames))
        return [{"function": "f", "file": "/x.c", "line": 3} for _ in frames]

    monkeypatch.setattr(symbols, "resolve", resolve)
    made = hanging(8)
    for process in made.processes:
        for thread in process["threads"]:
            thread["call"]["stack"] = [native_frame("/home/u/app", 64)]
    assert made.report().rows[0].place == "f (x.c:3)"
    assert asked == [[("/home/u/app", "", 64)]]


# Processes ------------------------------------------------------------------

def test_a_process_name_may_hold_anything(tmp_path):
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text("7 (a) S 9 (b) R 3 0 0")
    assert launched.stat(7, tmp_path) == (3, "a) S 9 (b", "R")


def test_ranks_in_mpi_init_are_found_by_their_launcher(tmp_path):
    table = {10: (1, "mpirun"), 11: (10, "sh"), 12: (11, "app"),
             13: (10, "app")}
    for pid, (parent, name) in table.items():
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "stat").write_text(f"{pid} ({name}) S {parent} 0")
        rank = {11: 0, 12: 0, 13: 1}.get(pid)
        (folder / "environ").write_text(
            "" if rank is None else
            f"PMI_RANK={rank}\0PMI_SIZE=2\0HOME=/root\0")
    plain = {"processes": [{"pid": 12, "rank": -1}]}
    found = launched.known(plain, tmp_path)
    assert found[12].rank == 0 and found[13].rank == 1
    assert found[12].size == 2 and found[12].job == found[13].job
    assert launched.known({"processes": [{"pid": 12, "rank": 0}]}) == {}


def test_the_command_loads_no_symbols_without_need():
    code = ("import sys; from straightway.commands import where; "
            "from straightway.reporters import where_terminal; "
            "assert not {'elftools', 'jinja2', 'numpy'} & set(sys.modules)")
    subprocess.run([sys.executable, "-c", code], check=True)
