"""bench collectives --tune: what it writes, and that jobs go by it.

The nodes are virtual. Nothing here depends on which way is the quickest.
"""

import multiprocessing
import re

import pytest
from harness.hosts import COMMAND, TESTS
from straightway.bench import collectives, ways
from straightway.commands.bench import collectives as bench
from straightway.errors import UserError

NODES = {"STRAIGHTWAY_NODE_SIZE": 2}


def cell(operation, size, host, leaders, lanes):
    return {"operation": operation, "size": size, **{
        way: {"median": time} for way, time in zip(
            ways.WAYS, (host, leaders, lanes))}}


def test_a_way_must_win_by_the_margin():
    assert ways.best(cell("bcast", 8, 100, 96, 96)) == "host"
    assert ways.best(cell("bcast", 8, 100, 94, 91)) == "leaders"
    assert ways.best(cell("bcast", 8, 100, 94, 80)) == "lanes"
    assert ways.best(cell("bcast", 8, 100, 200, 80)) == "lanes"
    assert ways.best(cell("bcast", 8, 100, 200, 96)) == "host"


def test_choices_stand_by_size_class():
    found = ways.lines([
        cell("bcast", 8, 100, 10, 10), cell("bcast", 1 << 20, 100, 90, 50),
        cell("bcast", 1 << 26, 100, 100, 100),
        cell("reduce_scatter", 1024, 100, 10, 10),
        cell("reduce_scatter", 4096, 100, 100, 10),
        cell("gatherv", 8, 100, 10, 10), cell("gatherv", 64, 100, 110, 10),
        cell("barrier", 0, 100, 10, 50),
        cell("neighbor_alltoall", 8, 100, 10, 10)], 4)
    assert found == {
        # The class between 8 and 1 MiB that is nearer to either.
        "bcast": "bcast 0:leaders 4096:lanes 16777216:host",
        # All members' parts together: 4 KiB and 16 KiB.
        "reduce_scatter": "reduce_scatter 0:leaders 16384:lanes",
        "gatherv": "gatherv 0:lanes",
        "barrier": "barrier 0:leaders"}


def test_entries_are_replaced_and_the_others_stay(tmp_path):
    file = tmp_path / "folder" / "ways"
    one, two = "[a tcp nodes=2 ranks=2]", "[b tcp nodes=2 ranks=2]"
    ways.write(file, one, {"bcast": "bcast 0:host", "scan": "scan 0:host"})
    ways.write(file, two, {"bcast": "bcast 0:host"})
    ways.write(file, one, {"bcast": "bcast 0:lanes"})
    assert file.read_text().splitlines() == [
        ways.HEAD, "# written by straightway",
        "", one, "bcast 0:lanes", "scan 0:host", "", two, "bcast 0:host"]
    assert [f.name for f in file.parent.iterdir()] == ["ways"]


def _write(file, number):
    for _ in range(5):
        ways.write(file, f"[host{number} tcp nodes=2 ranks=2]",
                   {"scan": "scan 0:host"})


def test_two_commands_may_write_at_once(tmp_path):
    file = tmp_path / "ways"
    writers = [multiprocessing.Process(target=_write, args=(file, i))
               for i in range(4)]
    for one in writers:
        one.start()
    for one in writers:
        one.join(60)
        assert one.exitcode == 0
    assert len(re.findall(r"^\[host\d tcp", file.read_text(), re.M)) == 4


def test_another_file_is_not_overwritten(tmp_path):
    file = tmp_path / "notes"
    file.write_text("milk\n")
    with pytest.raises(UserError, match="first line"):
        ways.write(file, "[a tcp nodes=2 ranks=2]", {})
    assert file.read_text() == "milk\n"


def test_the_least_that_nodes_must_send():
    least = collectives.least_sent
    nodes = [0, 0, 1, 1, 1]
    assert least("bcast", 10, nodes) == 10
    assert least("allreduce", 10, nodes) == 20
    assert least("gather", 10, nodes) == 30
    assert least("allgatherv", 10, nodes) == 50
    assert least("alltoall", 10, nodes) == 120
    assert least("reduce_scatter", 10, nodes) == 50
    assert least("barrier", 0, nodes) is None
    assert least("neighbor_alltoall", 10, nodes) is None


@pytest.mark.parametrize("arguments, words", [
    (["--launcher", "srun", "-n", "2"], "omit -n"),
    (["--launcher", " "], "needs words"),
    (["--tune", "--datatype", "rows", "--ops", "bcast"], "--tune takes no"),
])
def test_a_mistake_is_named(arguments, words):
    from straightway import cli
    options = cli._parser("bench").parse_args(["bench", "collectives",
                                               *arguments])
    with pytest.raises(UserError, match=words):
        bench.Collectives.run(options)


@pytest.fixture(scope="module")
def tuned(all_hosts, tmp_path_factory):
    """(the host, its file of ways) after a run of --tune."""
    if not all_hosts:
        pytest.skip("no MPI at all")
    one_host = next((h for h in all_hosts if h.name == "mpich"), all_hosts[0])
    file = tmp_path_factory.mktemp("ways") / "ways"
    done = one_host.start(
        [COMMAND, "bench", "collectives", "--mpi", one_host.library,
         "-n", "4", "--tune", "--seconds", "0.002", "--ops",
         "allreduce,barrier", "--sizes", "8"],
        env={**NODES, "STRAIGHTWAY_WAYS": file}, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cannot be read" not in done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    return one_host, file


@pytest.fixture(scope="module")
def program(tuned):
    return tuned[0].compile(TESTS / "mpi" / "job" / "solver.c", "-lm")


def run(host, program, env):
    """The row of MPI_Allreduce in --stats, and all of stderr."""
    program = program if isinstance(program, list) else [program]
    done = host.run(4, program, timeout=120, env={
        **NODES, "STRAIGHTWAY_STATS": 1, **env})
    assert done.returncode == 0, done.stderr
    row = re.search(r"^straightway: allreduce .*", done.stderr, re.M | re.I)
    assert row, done.stderr
    return row.group(), done.stderr


def entry(tuned, text, tmp_path, name="ways"):
    """A file with the entry of this host and these lines."""
    head = re.search(r"^\[.*", tuned[1].read_text(), re.M).group()
    file = tmp_path / name
    file.write_text(f"{ways.HEAD}\n{head}\n{text}\n")
    return file


ALL_OURS = re.compile(r"ours [1-9]\d* +(\(over nodes \d+\) +)?host 0\b")
ALL_HOST = re.compile(r"ours 0 +host [1-9]\d* .*the host's way wins")


def test_the_file_has_an_entry_for_the_run(tuned):
    text = tuned[1].read_text()
    assert text.startswith(ways.HEAD + "\n")
    assert re.search(r"^\[(openmpi|mpich|intel)-[\d.]+\S* \S+ nodes=2 "
                     r"ranks=2\]$", text, re.M)
    for name in ("allreduce", "barrier"):
        assert re.search(rf"^{name} 0:(host|leaders|lanes)", text, re.M)


def test_a_job_goes_by_the_file(tuned, program, tmp_path):
    for text, right in (("allreduce 0:leaders", ALL_OURS),
                        ("allreduce 0:lanes", ALL_OURS),
                        ("allreduce 0:host", ALL_HOST),
                        ("allreduce 0:host 64:leaders", ALL_HOST)):
        file = entry(tuned, text, tmp_path)
        row, said = run(tuned[0], program, {"STRAIGHTWAY_WAYS": file})
        assert right.search(row), (text, said)
        assert str(file) not in said


def test_a_forced_way_comes_before_the_file(tuned, program, tmp_path):
    file = entry(tuned, "allreduce 0:host", tmp_path)
    row, said = run(tuned[0], program, {"STRAIGHTWAY_WAYS": file,
                                        "STRAIGHTWAY_SPAN_WAY": "lanes"})
    assert ALL_OURS.search(row), said
    row, said = run(tuned[0], program, {"STRAIGHTWAY_SPAN_WAY": "host"})
    assert ALL_HOST.search(row), said


def test_members_with_different_files_use_none(tuned, program, tmp_path):
    host, _ = tuned
    plain, without = run(host, program, {"XDG_CONFIG_HOME": tmp_path})
    one = entry(tuned, "allreduce 0:host", tmp_path, "one")
    two = entry(tuned, "allreduce 0:host\nscan 0:host", tmp_path, "two")
    turn = tmp_path / "turn"
    row, said = run(host, ["sh", "-c", f"mkdir {turn} 2>/dev/null && "
                           f"export STRAIGHTWAY_WAYS={two}; exec $0",
                           program], {"STRAIGHTWAY_WAYS": one})
    assert turn.exists()
    assert said.count("the nodes have different files of ways") == 1
    assert row == plain, without


@pytest.mark.parametrize("text, words", [
    ("straightway ways 1\nbcats 0:host\n", ":2: a line begins with"),
    ("straightway ways 9\n", ":1: the first line must be"),
    (None, " cannot be read (No such file"),
])
def test_a_bad_file_is_said_once(tuned, program, tmp_path, text, words):
    file = tmp_path / "ways"
    if text:
        file.write_text(text)
    _, said = run(tuned[0], program, {"STRAIGHTWAY_WAYS": file})
    assert said.count(f"{file}{words}") == 1
    assert said.count(str(file)) == 1
