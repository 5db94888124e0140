"""The examples give the right answers, alone and with Straightway.

Each example checks itself; these tests also check that the check can fail.
"""

import json
import os
import re
import sys

import pytest
from harness import calibrations, hosts, jobs, nodes, programs
from straightway.study import gains

EXAMPLES = hosts.ROOT / "examples"
DEEP = pytest.mark.deep
RUNS = pytest.mark.parametrize("n, straightway", [
    pytest.param(n, ours, marks=marks,
                 id=f"{n}-{'ours' if ours else 'alone'}")
    for n, ours, marks in ((1, False, DEEP), (1, True, DEEP), (2, False, ()),
                           (2, True, ()), (4, False, DEEP), (4, True, ()))])


@RUNS
def test_transpose(host, n, straightway):
    program = host.compile(EXAMPLES / "transpose.c")
    for size, rounds in (256, 4), (128, 3), (n, 1):
        done = host.run(n, [program, size, rounds], check=True,
                        straightway=straightway)
        assert done.stdout.split()[-1] == "PASS", done.stdout


@RUNS
def test_give(host, n, straightway):
    done = host.run(n, [host.compile(EXAMPLES / "give.c"), 100000, 20],
                    check=True, straightway=straightway)
    assert done.stdout.split()[-1] == "PASS", done.stdout


@programs.needs_mpi4py
@pytest.mark.parametrize("straightway", [False, True])
def test_give_arrays(host, straightway):
    done = host.run(2, [sys.executable, EXAMPLES / "give.py", 50000],
                    check=True, straightway=straightway)
    assert " 0 elements are wrong" in done.stdout, done.stdout


SOLVER = EXAMPLES / "solver.c"


def solver(host, source=SOLVER):
    return host.compile(source, "-lm")


@RUNS
@pytest.mark.parametrize("words", [[], ["--pipelined"]],
                         ids=["plain", "pipelined"])
def test_solver(host, n, straightway, words):
    for size in 33, 7, n:
        done = host.run(n, [solver(host), size, *words], check=True,
                        straightway=straightway)
        assert done.stdout.split()[-1] == "PASS", done.stdout


def test_a_solver_that_hides_its_sums_takes_as_many_steps(host):
    plain, pipelined = (
        int(re.search(r"(\d+) steps", host.run(
            2, [solver(host), 64, *words], check=True).stdout).group(1))
        for words in ([], ["--pipelined"]))
    assert plain <= pipelined <= plain + 5


@pytest.mark.parametrize("right, wrong, words", [
    ("MPI_Irecv(x, n,", "MPI_Irecv(y, n,", []),
    ("1, MPI_DOUBLE, MPI_SUM,", "1, MPI_DOUBLE, MPI_MAX,", []),
    ("MPI_Irecv(x, n,", "MPI_Irecv(y, n,", ["--pipelined"]),
    ("2, MPI_DOUBLE, MPI_SUM,", "2, MPI_DOUBLE, MPI_MAX,", ["--pipelined"]),
], ids=["halo", "sum", "pipelined-halo", "pipelined-sum"])
def test_solver_fails_where_its_communication_does(host, right, wrong, words):
    text = SOLVER.read_text()
    assert text.count(right) == 1
    text = text.replace("STEPS_MAX 10000", "STEPS_MAX 100")
    done = host.run(2, [solver(host, text.replace(right, wrong)), 16, *words])
    assert done.returncode and "FAIL" in done.stdout, done.stdout + done.stderr


PLANES = EXAMPLES / "planes.c"
WAYS = pytest.mark.parametrize(
    "words", [[], ["--blocking"], ["--uneven", 1.5]],
    ids=["nonblocking", "blocking", "uneven"])


def planes(host, source=PLANES):
    return host.compile(source, "-lm")


def error(done):
    """What planes.c printed of its distance from the known field."""
    assert done.stdout.split()[-1] == "PASS", done.stdout
    return re.search(r"error (\S+)", done.stdout).group(1)


@RUNS
@WAYS
def test_planes(host, n, straightway, words):
    # One row or an odd number of them, messages of 16 bytes to 18 KiB.
    for size, steps in (n, 3), (9 * n, 3), (48, 2):
        done = host.run(n, [planes(host), size, steps, *words], check=True,
                        straightway=straightway)
        assert float(error(done)) < 1e-12


@pytest.mark.parametrize("n", [2, 3, pytest.param(5, marks=DEEP)])
def test_planes_are_the_same_however_they_travel(host, n):
    """The program computes alike in each way, so its error is the same."""
    errors = {error(host.run(n, [planes(host), 15 * n, 3, *words], check=True,
                             straightway=straightway))
              for words in ([], ["--blocking"]) for straightway in (0, 1)}
    assert len(errors) == 1


def test_planes_go_our_way(host):
    done = host.run(2, [planes(host), 32, 3], check=True,
                    run_args=["--stats"])
    # Three steps of two ranks, forth and back, of 16 planes.
    assert re.search(r" Ialltoall +calls 192 +ours 192 ", done.stderr), \
        done.stderr


@pytest.mark.parametrize("right, wrong", [
    ("MPI_Ialltoall(plane,", "MPI_Ialltoall(slab,"),
    ("int i = z % planes,", "int i = (z + 1) % planes,"),
    ("x + me * planes + row", "x + row"),
    ("MPI_Waitall(planes, under_way, MPI_STATUSES_IGNORE)",
     "MPI_Waitall(planes, under_way, MPI_STATUSES_IGNORE), "
     "memset(come, 0, sizeof *come)"),
], ids=["wrong plane", "wrong place", "wrong wave", "one number"])
def test_planes_fails_where_its_communication_does(host, right, wrong):
    text = PLANES.read_text()
    assert text.count(right) == 1
    done = host.run(2, [planes(host, text.replace(right, wrong)), 16, 3])
    assert done.returncode and "FAIL" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("words", [
    [15], [2048], [16, 0], [16, 2, 3], ["--blocked"], ["--uneven", -1],
    ["--uneven"], ["16x"]])
def test_planes_says_what_it_wants(one_host, words):
    done = one_host.run(2, [planes(one_host), *words])
    assert done.returncode and "usage: planes" in done.stderr


COLUMNS = EXAMPLES / "columns.c"


def columns(host, source=COLUMNS):
    return host.compile(source, "-lm")


@RUNS
def test_columns(host, n, straightway):
    # Faces of 1 KiB, of 64 KiB, and of one number.
    for words in (8, 16, 30), (32, 256, 5), (1, 1, 3):
        done = host.run(n, [columns(host), *words], check=True,
                        straightway=straightway)
        assert done.stdout.split()[-1] == "PASS", done.stdout


@pytest.mark.parametrize("right, wrong", [
    ("MPI_Irecv(axis ? column(field, 1, 0)",
     "MPI_Irecv(axis ? column(field, 1, 1)"),
    ("column(field, n + 1, 1), count", "column(field, n, 1), count"),
    ("MPI_Type_vector(n, levels, (n + 2) * levels",
     "MPI_Type_vector(n, levels, (n + 1) * levels")],
    ids=["west", "south", "vector"])
def test_columns_fails_where_its_communication_does(host, right, wrong):
    text = COLUMNS.read_text()
    assert text.count(right) == 1
    done = host.run(4, [columns(host, text.replace(right, wrong)), 8, 16, 30])
    assert done.returncode and "FAIL" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("words", [[0], ["8x"], [8, 16, 30, 1], [100000]])
def test_columns_says_what_it_wants(one_host, words):
    done = one_host.run(2, [columns(one_host), *words])
    assert done.returncode and "usage: columns" in done.stderr


HEAT = EXAMPLES / "heat.f90"


def heat(host, source=HEAT):
    return host.compile(source, language="fortran")


@programs.needs_fortran
@programs.no_f08
@RUNS
def test_heat(host, n, straightway):
    program = heat(host)
    # The halo of two ranks has 1, 12 and 80 KiB: below the threshold, between
    # it and where Open MPI keeps what is strided so finely, and beyond.
    for cells, steps, fields in (64, 200, 2), (96, 60, 16), (64, 30, 160):
        done = host.run(n, [program, cells, steps, fields], check=True,
                        straightway=straightway)
        assert done.stdout.split()[-1] == "PASS", done.stdout


@programs.needs_fortran
@programs.no_f08
@pytest.mark.parametrize("n", [3, pytest.param(6, marks=DEEP)])
def test_heat_on_an_uneven_grid(host, n):
    done = host.run(n, [heat(host), 96, 20, 16], check=True)
    assert done.stdout.split()[-1] == "PASS", done.stdout


@programs.needs_fortran
@programs.no_f08
def test_heat_has_its_halo_moved(host):
    done = host.run(2, [heat(host), 96, 60, 16], check=True,
                    run_args=["--stats"])
    assert re.search(r" 120 messages moved", done.stderr), done.stderr


@pytest.mark.parametrize("right, wrong", [
    ("call exchange(u)", "if (step < 10) call exchange(u)"),
    ("edge = [block([1, 1], [1, ny])", "edge = [block([2, 1], [2, ny])"),
], ids=["once too few", "wrong column"])
@programs.needs_fortran
@programs.no_f08
def test_heat_fails_where_the_halo_does(host, right, wrong):
    text = HEAT.read_text()
    assert text.count(right) == 1
    done = host.run(2, [heat(host, text.replace(right, wrong)), 64, 10, 16])
    assert done.returncode and "FAIL" in done.stdout, done.stdout + done.stderr


@programs.needs_fortran
@programs.no_f08
def test_heat_says_what_it_wants(host):
    done = host.run(2, [heat(host), 95])
    assert done.returncode and "usage: heat" in done.stderr


def flow(host, n, tmp_path, *args, straightway=False):
    """The solver's JSON."""
    result = tmp_path / "result.json"
    done = host.run(n, [host.python, EXAMPLES / "taylor_green",
                        "--json", result, *args],
                    straightway=straightway, timeout=120)
    assert result.exists(), done.stdout + done.stderr
    data = json.loads(result.read_text())
    assert data["ranks"] == n
    assert data["good"] == (done.returncode == 0)
    return data


@programs.needs_mpi4py
@pytest.mark.parametrize("n", [
    pytest.param(1, marks=DEEP), 2, pytest.param(4, marks=DEEP)])
def test_taylor_green_is_the_same_flow(host, n, tmp_path):
    args = "--n", 32, "--steps", 10
    alone = flow(host, n, tmp_path, *args)
    ours = flow(host, n, tmp_path, *args, straightway=True)
    assert alone["good"] and ours["good"]
    # Against the fine run, whatever the number of ranks.
    assert any("against 96^3" in c["what"] for c in ours["checks"])
    assert alone["field"] == ours["field"]      # bit for bit
    assert len(alone["history"]) == len(ours["history"]) == 11
    for a, b in zip(alone["history"], ours["history"]):
        assert a["energy"] == pytest.approx(b["energy"], rel=1e-13)
        assert a["dissipation"] == pytest.approx(b["dissipation"], rel=1e-13)


@programs.needs_mpi4py
def test_taylor_green_fails_where_physics_does(host, tmp_path):
    """Steps far beyond the limit of stability."""
    unstable = flow(host, 2, tmp_path, "--n", 16, "--steps", 20, "--dt", 2)
    assert not unstable["good"]
    broken = {c["what"] for c in unstable["checks"] if not c["holds"]}
    assert "dE/dt = -2 nu enstrophy" in broken


def demo(host, *args, **env):
    return jobs.run([sys.executable, EXAMPLES / "demo.py", *map(str, args)],
                    host.environment({
                        "MPIEXEC": host.mpirun,
                        "STRAIGHTWAY_COMMAND": hosts.COMMAND, **env}), 300)


@programs.needs_mpi4py
@pytest.mark.deep
def test_demo(host):
    done = demo(host, "--small", "--steps", 10, "--repeats", 2)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "final field, all 4 runs:" in done.stdout
    assert "FAILED" not in done.stdout
    assert "with Straightway" in done.stdout
    assert max(map(len, done.stdout.split("What Straightway did")[0]
                   .splitlines())) <= 80


@programs.needs_mpi4py
def test_demo_ends_in_the_study(host, tmp_path):
    """As make demo runs it."""
    env = calibrations.keep(host, tmp_path, host.environment(
        {"STRAIGHTWAY_COMMAND": hosts.COMMAND, "COLUMNS": 80}))
    page = tmp_path / "demo.study.html"
    done = demo(host, "--small", "--steps", 10, "--study", page, COLUMNS=80,
                XDG_CACHE_HOME=env["XDG_CACHE_HOME"])
    assert done.returncode == 0, done.stdout + done.stderr
    before, _, study = done.stdout.partition("The study:")
    assert "final field, all 2 runs:     the same bits" in before
    assert "FAILED" not in before and "times as fast" not in before
    assert done.stdout.count("The result:\n  ") == 1
    # What it is, what was predicted and measured, why, and what to do next.
    for told in ("taylor_green --n 32 --steps 10", "2 ranks",
                 "Prediction and measurement", "alone", "with Straightway",
                 "The prediction was", "Collectives, predicted", "alltoall",
                 "Where the time goes", "No improvement of communication",
                 f"for a browser: {page}", "whatif -n 64 --free alltoall"):
        assert told in study, told
    assert max(map(len, study.splitlines())) <= max(
        80, len(f"The whole study, for a browser: {page}"))
    assert "<title>taylor_green: Straightway study</title>" in \
        page.read_text()


@pytest.mark.parametrize("gain, low, high, said", [
    (39, 30, 48, "Straightway makes this run 3.9 % shorter "
     "(95 % interval: 3.0 % to 4.8 %)."),
    (-20, -31, -9, "Straightway makes this run 2.0 % longer "
     "(95 % interval: 0.9 % to 3.1 %)."),
    (4, -10, 18, "The turns do not tell the two apart: the gain is "
     "between −1.0 % and 1.8 %. A run of 120 s, 12.2 times as long, would "
     "tell a gain of 0.40 %.")])
def test_the_demo_says_its_result(monkeypatch, gain, low, high, said):
    monkeypatch.syspath_prepend(EXAMPLES)
    import demo as script
    turned = {**gains.failed(None), "gain": gain / 1000, "low": low / 1000,
              "high": high / 1000,
              "apart": low * high > 0, "longer": {
                  "gain": 0.004, "times": 12.25, "seconds": 120}}
    assert script.result_of({
        "measured": {"how": "turns"}, "turns": turned,
        "predicted": {"speed_up": None}}) == said


def test_demo_says_what_is_missing(host):
    done = demo(host, MPIEXEC="/nowhere/mpiexec")
    assert done.returncode == 1 and "MPIEXEC" in done.stderr
    assert "Traceback" not in done.stderr


@programs.needs_mpi4py
def test_demo_fails_without_the_library(host, tmp_path):
    """A `straightway` that only starts the program is found out."""
    stand_in = tmp_path / "straightway"
    stand_in.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\n'
                        'shift\nexec "$@"\n')
    os.chmod(stand_in, 0o755)
    done = demo(host, "--small", "--steps", 2, "--repeats", 1,
                STRAIGHTWAY_COMMAND=stand_in)
    assert done.returncode == 1 and "not loaded" in done.stderr


# Begins a command that can make no test nodes.
WITHOUT_NODES = ["unshare", "--user", "--map-root-user", "sh", "-c",
                 "echo 0 >/proc/sys/user/max_net_namespaces && exec \"$@\"",
                 "sh"]


def over_nodes(script, host, *args, before=(), **env):
    return jobs.run([*before, sys.executable, EXAMPLES / script,
                     "--repeats", "1", *map(str, args)], host.environment({
                         "MPIEXEC": host.mpirun,
                         "MPICC": str(host.compilers["c"]),
                         "STRAIGHTWAY_COMMAND": hosts.COMMAND, **env}), 300)


def demo_nodes(host, *args, **more):
    return over_nodes("demo_nodes.py", host, *args, **more)


def assert_served(done):
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"ratio +\d", done.stdout), done.stdout
    (served,) = re.findall(r"served (\d+) collectives over", done.stdout)
    assert int(served) > 0
    assert max(map(len, done.stdout.splitlines())) <= 80


@nodes.able
def test_demo_nodes(host):
    nodes.need()
    done = demo_nodes(host, "--grid", 12)
    assert_served(done)
    sent = re.findall(r"s?\) +([\d,]+)$", done.stdout, re.M)
    assert len(sent) == 2, done.stdout
    # At least the right-hand side, for a node without it.
    assert min(int(it.replace(",", "")) for it in sent) > 12 * 12 * 8


@nodes.able
@pytest.mark.deep
def test_demo_nodes_takes_virtual_nodes_where_it_must(host):
    """A user namespace whose limit allows no network refuses test nodes."""
    nodes.need()
    done = demo_nodes(host, "--grid", 12, before=WITHOUT_NODES)
    assert_served(done)
    (said,) = [line for line in done.stdout.splitlines()
               if line.startswith("No test nodes here (")]
    assert said.endswith("): virtual nodes serve.")
    assert done.stdout.count(" none\n") == 2


# The effect of a placement ----------------------------------------------------

def place(host, *args, **more):
    """examples/place.py with few steps, as it ended."""
    return over_nodes("place.py", host, "--steps", 20, *args, **more)


def between_nodes(done):
    """{row: (round robin, as mapped)} of the bytes."""
    return {name: tuple(int(n.replace(",", "")) for n in figures)
            for name, *figures in re.findall(
                r"^  (predicted|counted, .*?) +([\d,]+) +([\d,]+) +[\d.]+$",
                done.stdout, re.M)}


@nodes.able
@pytest.mark.deep
def test_a_mapped_program_sends_between_nodes_what_map_predicts(host):
    """The interfaces of the nodes count, with and without Straightway."""
    nodes.need()
    done = place(host)
    assert done.returncode == 0, done.stdout + done.stderr
    found = between_nodes(done)
    # In a grid of 4 x 2 ranks, round robin cuts four edges, and the best two.
    assert found.pop("predicted") == (8 * 20 * 65536, 4 * 20 * 65536)
    assert sorted(found) == ["counted, MPI alone", "counted, Straightway"]
    for before, after in found.values():
        assert after / before == pytest.approx(0.5, rel=0.05)
    assert max(map(len, done.stdout.splitlines())) <= 80


@nodes.able
@pytest.mark.deep
def test_a_wrong_prediction_of_the_effect_is_found_out(one_host, tmp_path):
    """A `straightway` whose map promises too much."""
    nodes.need()
    stand_in = tmp_path / "straightway"
    stand_in.write_text(
        f'#!/bin/sh\n"{hosts.COMMAND}" "$@" || exit 1\n'
        '[ "$1" = map ] || exit 0\n'
        'for last; do :; done\nsed -i "s/5242880/4242880/" "$last"\n')
    os.chmod(stand_in, 0o755)
    done = place(one_host, STRAIGHTWAY_COMMAND=stand_in)
    assert done.returncode == 1 and "did not count" in done.stdout, \
        done.stdout + done.stderr


def test_the_effect_is_only_predicted_without_nodes(one_host):
    nodes.need()
    done = place(one_host, before=WITHOUT_NODES)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(between_nodes(done)) == ["predicted"]
    assert "user namespaces, or root" in done.stdout


@pytest.mark.parametrize("script, args, told", [
    ("place.py", ["-k", 1], "-k must be at least 2"),
    ("place.py", ["--levels", 0], "must be at least 1"),
    ("demo_nodes.py", ["--ppn", 0], "must be at least 1"),
    ("predict_nodes.py", ["--ppn", 0], "must be at least 1"),
    ("predict_nodes.py", ["--grid", 3], "number of ranks, 4"),
    ("predict_nodes.py", ["-k", 3], "predict_nodes: -k 3: messages go between "
     "pairs of nodes; give an even number\n"),
])
def test_demos_over_nodes_say_what_they_cannot_do(host, script, args, told):
    done = over_nodes(script, host, *args)
    assert done.returncode and told in done.stderr
    assert "Traceback" not in done.stderr and not done.stdout


@nodes.able
@pytest.mark.deep
def test_predict_nodes(host, tmp_path):
    """The table has both sides; what the nodes took is where --keep says."""
    nodes.need()
    calibrations.keep(host, tmp_path, host.environment(
        {"STRAIGHTWAY_COMMAND": hosts.COMMAND}))
    done = over_nodes("predict_nodes.py", host, "--ppn", 1, "--grid", 12,
                      "--seconds", 0.001, "--keep", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^  (MPI alone|Straightway) +([\d.]+) +([\d.]+) +\("
                      r"[\d.]+ to [\d.]+\) +([\d.]+)$", done.stdout, re.M)
    assert [row[0] for row in rows] == ["MPI alone", "Straightway"], done.stdout
    assert all(float(ratio) > 0 for *_, ratio in rows)
    assert "between node0 and node1 (TCP from 10." in done.stdout
    assert "2 nodes of 1 rank " in done.stdout
    assert list(tmp_path.rglob("*nodes-2x1*"))
