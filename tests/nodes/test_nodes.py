"""The test nodes themselves: what each test over several nodes relies on."""

import collections
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

import pytest
from harness import jobs, nodes, patience

HERE = pathlib.Path(__file__).resolve().parent
NOBODY = 65534

Rank = collections.namedtuple(
    "Rank", "rank name inside size first last setting sent")


@pytest.fixture
def where(host):
    nodes.need()
    return host.compile(HERE / "where.c")


def ranks(done):
    """The lines of where.c, by rank."""
    lines = [line.split() for line in done.stdout.splitlines()]
    return sorted(Rank(int(it[0]), it[1], *map(int, it[2:6]), it[6],
                       int(it[7])) for it in lines)


def script(*words, **options):
    """Run the script with `--plain` or what else needs no MPI."""
    return patience.run(
        [sys.executable, nodes.SCRIPT, *map(str, words)], text=True,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=60, **options)


def share(node, count):
    """The first and last core of a node's share, of this process's cores."""
    cores = sorted(os.sched_getaffinity(0))
    if count > len(cores):
        return cores[node % len(cores)], cores[node % len(cores)]
    return (cores[node * len(cores) // count],
            cores[(node + 1) * len(cores) // count - 1])


# Where ranks are -------------------------------------------------------------

@nodes.able
@pytest.mark.parametrize("counts, placement, expected", [
    ([2, 1], "block", [0, 0, 1]),
    ([2, 2], "cyclic", [0, 1, 0, 1]),
    ([1, 3, 1], "cyclic", [0, 1, 2, 1, 1]),
    ([1, 2], [1, 0, 1], [1, 0, 1]),
    ([0, 2], "block", [1, 1]),
], ids=str)
def test_ranks_lie_where_they_are_placed(host, where, counts, placement,
                                         expected):
    done = nodes.run_on_nodes(host, counts, where, placement, check=True,
                              straightway=False, env={"WHERE": "passed-on"})
    found = ranks(done)
    assert [it.name for it in found] == [f"node{i}" for i in expected]
    for number, it in enumerate(found):
        assert it.rank == number
        assert it.inside == expected[:number].count(expected[number])
        assert it.size == expected.count(expected[number])
        assert it.setting == "passed-on"
        assert (it.first, it.last) == share(expected[number], len(counts))
    assert sorted(done.bytes) == [f"node{i}" for i in range(len(counts))]


@nodes.able
def test_a_launcher_of_the_program_finds_the_nodes(host, where):
    """With --plain, and without options of its own: by block."""
    done = script("-k", 2, "--ppn", 2, "--plain", "--", host.mpirun, "-n", 4,
                  where, env=host.environment())
    assert done.returncode == 0, done.stderr
    assert [it.name for it in ranks(done)] == ["node0"] * 2 + ["node1"] * 2


@nodes.able
def test_straightway_serves_the_ranks_of_a_node(host, where):
    """The allreduce of where.c within a node is ours, on two nodes of two."""
    done = nodes.run_on_nodes(host, [2, 2], where, "cyclic", check=True,
                              env={"STRAIGHTWAY_STATS": "1"})
    assert [it.size for it in ranks(done)] == [2] * 4
    (line,) = [line.split() for line in done.stderr.splitlines()
               if "Allreduce" in line]
    assert line[line.index("ours") + 1] == "4", done.stderr


@nodes.able
def test_nodes_may_have_every_core(host, where):
    cores = sorted(os.sched_getaffinity(0))
    done = nodes.run_on_nodes(host, [1, 1], where, check=True,
                              straightway=False, cores="all")
    assert {(it.first, it.last) for it in ranks(done)} == \
        {(cores[0], cores[-1])}


@nodes.able
def test_bytes_on_the_wire_are_counted(host, where):
    """By a rank in its own /sys, and by the script for the whole run."""
    done = nodes.run_on_nodes(host, [1, 1], [where, "--bytes"], check=True,
                              straightway=False)
    root, other = ranks(done)
    size = 4 << 20
    # TCP sends again what a busy machine lets fall.
    assert size < root.sent < 1.5 * size
    assert other.sent < 0.1 * size
    assert root.sent <= done.bytes["node0"]["tx_bytes"]
    # The script reads one counter after the other; a last packet may pass.
    assert done.bytes["node1"]["rx_bytes"] == pytest.approx(
        done.bytes["node0"]["tx_bytes"], rel=0.01)


# How a run ends --------------------------------------------------------------

@nodes.able
def test_the_status_is_the_launchers(host, where):
    job = where, "--status", 3
    plain = host.compile("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); "
                         "MPI_Finalize(); return 3; }\n")
    alone = host.run(2, [plain], straightway=False)
    done = nodes.run_on_nodes(host, [1, 1], job, straightway=False)
    # Intel MPI's says 255 where ranks on two nodes end at about the same time.
    told = {alone.returncode, 255 if host.name == "impi" else alone.returncode}
    assert done.returncode in told and alone.returncode != 0


@nodes.able
def test_a_rank_that_dies_ends_the_run(host, where):
    """On all nodes; hosts may leave files, but no process."""
    done = nodes.run_on_nodes(host, [1, 2], [where, "--abort", 1],
                              straightway=False, left="allow")
    assert done.returncode not in (0, nodes.REFUSED)
    assert "left behind: process" not in done.stderr


def traces():
    """What a run could leave on the machine, outside of processes."""
    return (set(os.listdir("/sys/class/net")),
            sorted(pathlib.Path("/proc/self/mounts").read_text().split("\n")),
            os.path.isdir("/run/netns") and os.listdir("/run/netns"))


def sleeping(host, where, mark, out):
    """A job whose two ranks sleep; on a busy machine Open MPI's launcher at
    times does not begin, and is started again, once."""
    for _ in range(2):
        job = subprocess.Popen(
            [str(it) for it in nodes.command_line(
                host, [1, 1], [where, "--sleep"], straightway=False)],
            env=dict(host.environment(), **{jobs.MARK: mark}), stdout=out,
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while job.poll() is None and time.monotonic() < end:
            out.seek(0)
            if len(out.read().splitlines()) == 2:
                return job
            time.sleep(0.02)
        jobs.end_marked(mark)
        job.wait()
        out.seek(0)
        out.truncate()
    raise AssertionError("the job has not begun")


@nodes.able
@pytest.mark.parametrize("number", [
    signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP],
    ids=lambda it: it.name)
def test_a_signal_to_the_script_ends_everything(host, where, number):
    mark = uuid.uuid4().hex
    before, shared = traces(), set(os.listdir("/dev/shm"))
    with tempfile.TemporaryFile("w+") as out:
        job = sleeping(host, where, mark, out)
        try:
            assert len(jobs.processes_marked(mark)) >= 4
            job.send_signal(number)
            job.wait(10)
            end = time.monotonic() + 10
            while jobs.processes_marked(mark) and time.monotonic() < end:
                time.sleep(0.02)
            assert not jobs.processes_marked(mark)
        finally:
            jobs.end_marked(mark)
            job.wait()
    assert job.returncode == (-number if number == signal.SIGKILL
                              else 128 + number)
    assert traces() == before
    # Other jobs may come and go; those of hosts have names of their own.
    new = set(os.listdir("/dev/shm")) - shared
    assert not any(name.startswith(("node", "hosts", ".node"))
                   for name in new)


def test_a_signal_while_nodes_are_made_ends_the_script():
    nodes.need()
    for moment in 0.05, 0.1, 0.15, 0.2:
        job = subprocess.Popen([sys.executable, str(nodes.SCRIPT), "--plain",
                                "--", "sleep", "60"])
        time.sleep(moment)
        job.terminate()
        assert job.wait(20) in (-signal.SIGTERM, 128 + signal.SIGTERM)


def test_a_time_limit_ends_a_run():
    nodes.need()
    begun = time.monotonic()
    done = script("--plain", "--timeout", 0.5, "--", "sleep", 60)
    assert done.returncode == 124 and time.monotonic() - begun < 30
    assert "cut short: not finished after 0.5 s" in done.stderr


def test_what_a_run_leaves_on_a_node_is_told():
    nodes.need()
    line = "sleep 60 & echo > /dev/shm/mine"
    done = script("--plain", "--", "sh", "-c", line)
    assert done.returncode == 0
    assert "left behind: /dev/shm/mine on node0" in done.stderr
    assert ": sleep 60" in done.stderr
    assert not os.path.exists("/dev/shm/mine")


def test_a_run_passes_its_output_through():
    nodes.need()
    done = script("-k", 1, "--plain", "--", "sh", "-c",
                  "hostname; echo other >&2; exit 5", cwd="/usr")
    assert (done.returncode, done.stdout, done.stderr) == \
        (5, "node0\n", "other\n")


ENDS_AT_ONCE = """
import subprocess
import sys
import time

sys.path.insert(0, sys.argv[1])
import namespaces


class Slow(subprocess.Popen):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        time.sleep(0.5)


namespaces.subprocess.Popen = Slow
namespaces.AGENT = "false"
node = namespaces.Node(0, [0])
node.holder = 1
print(namespaces.run([node], ["word"], {}))
"""


def test_a_command_that_ends_at_once_is_waited_for():
    """Its status is there before run() waits, and Python may not take it."""
    done = patience.run([sys.executable, "-c", ENDS_AT_ONCE, str(HERE)],
                        text=True, capture_output=True, timeout=60)
    assert done.stdout == "(1, None)\n", done.stderr


# Where they are refused ------------------------------------------------------

def as_nobody(words, **options):
    return patience.run([str(it) for it in words], text=True, cwd="/",
                        capture_output=True, timeout=60, user=NOBODY,
                        group=NOBODY, extra_groups=[], **options)


def python_of_nobody(*needed):
    """A Python that an ordinary user may start, where it may read the files."""
    if os.geteuid():
        pytest.skip("not root: the other tests here run as an ordinary user")
    for path in needed:
        if as_nobody(["test", "-r", path]).returncode:
            pytest.skip(f"an ordinary user cannot read {path}")
    for python in sys.executable, "/usr/bin/python3":
        with contextlib.suppress(OSError):
            if as_nobody([python, "-c", ""]).returncode == 0:
                return python
    pytest.skip("no Python here that an ordinary user may start")


@nodes.able
def test_an_ordinary_user_has_nodes_or_is_told_why_not(host, where):
    python = python_of_nobody(nodes.SCRIPT, host.mpirun)
    with tempfile.TemporaryDirectory() as folder:   # that user may read it
        os.chmod(folder, 0o755)
        program = shutil.copy(where, folder)
        line = nodes.command_line(host, [1, 2], program, straightway=False)
        done = as_nobody([python, *line[1:]], env=host.environment())
    if done.returncode == nodes.REFUSED:
        assert done.stderr.startswith("nodes: not possible here: ")
        assert len(done.stderr.splitlines()) == 1
        pytest.skip(f"for an ordinary user {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert [it.name for it in ranks(done)] == ["node0", "node1", "node1"]


def test_without_its_tools_the_script_says_so():
    done = script("--plain", "--", "true", env={"PATH": "/nowhere"})
    assert done.returncode == nodes.REFUSED
    assert done.stderr == ("nodes: not possible here: no ip nor nsenter nor "
                           "taskset (iproute2, util-linux)\n")


def test_where_namespaces_are_refused_the_script_says_so():
    """A user namespace whose limit allows no network refuses them."""
    nodes.need()
    done = patience.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c",
         "echo 0 >/proc/sys/user/max_net_namespaces && exec \"$@\"", "sh",
         sys.executable, nodes.SCRIPT, "--plain", "--", "true"],
        text=True, capture_output=True, timeout=60)
    assert done.returncode == nodes.REFUSED, done.stderr
    assert done.stderr.startswith("nodes: not possible here: namespaces: ")


@pytest.mark.parametrize("words, says", [
    (["--placement", "sideways"], "no placement is called sideways"),
    (["--ranks", "0,0"], "not the ranks of nodes"),
])
def test_wrong_arguments_are_refused(words, says):
    done = script(*words, "--", "true")
    assert done.returncode == 2 and says in done.stderr


def test_a_missing_launcher_is_named():
    done = script("--mpirun", "/nowhere/mpirun", "--", "true")
    assert done.returncode == nodes.REFUSED
    assert "/nowhere/mpirun: No such file" in done.stderr
