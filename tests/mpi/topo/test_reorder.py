"""Topologies with reorder = true: what the standard promises holds, and fewer
messages cross nodes."""

import re

import pytest
from harness import nodes
from harness.programs import (AT_ONCE, accelerated, needs_fortran,
                              needs_mpi4py, rounds_for, run, source, well)

MODEL = """\
ranks 4
link node o_send 1000 o_recv 2000 L 5000 g 0 G 0.5 S 65536
link domain o_send 1000 o_recv 2000 L 5000 g 0 G 0.5 S 65536
link self o_send 1000 o_recv 2000 L 5000 g 0 G 0.5 S 65536
cpu_speed 1e9
test 100
"""
CROSS = re.compile(r"between nodes:? (\d+) before, (\d+) after")


def settings(node, **more):
    return {"STRAIGHTWAY_REORDER": "1", "STRAIGHTWAY_NODE_SIZE": node,
            **AT_ONCE, **more}


def reordered(host, n, name, *arguments, node=2, env=None, **options):
    return run(host, n, name, *arguments,
               env={**settings(node), **(env or {})}, **options)


def crossing(text):
    """(messages between nodes without reordering, with it)."""
    return tuple(map(int, CROSS.search(text).groups()))


@pytest.mark.parametrize("n, node, seed", [
    (4, 2, 1), (6, 2, 2), (6, 3, 3), (5, 3, 4),
    *(pytest.param(8, 3, seed, marks=pytest.mark.deep)
      for seed in range(5, 10))])
def test_neighbours_are_those_of_the_topology(host, n, node, seed):
    done = well(reordered(host, n, "reordered", node, seed,
                          rounds_for(host, n, 60), node=node))
    before, after = crossing(done.stdout)
    assert after < 0.95 * before, done.stdout
    # The statistics count those that are reordered, and no others.
    said = crossing(done.stderr)
    assert before - after == said[0] - said[1] > 0


def test_without_the_setting_the_host_decides(host):
    done = well(run(host, 4, "reordered", 2, 1, rounds_for(host, 4, 30), "off",
                    env={"STRAIGHTWAY_NODE_SIZE": 2}))
    before, after = crossing(done.stdout)
    assert before == after > 0
    assert "topologies" not in done.stderr


def test_ranks_that_sit_alike_are_left_alone(host):
    """On one node, with ranks that are bound nowhere or all told apart by
    their cores, no message need cross more than a core."""
    done = well(run(host, 4, "reordered", 4, 1, rounds_for(host, 4, 30),
                    env={"STRAIGHTWAY_REORDER": "1"}))
    assert crossing(done.stdout) == (0, 0)


@nodes.able
@pytest.mark.parametrize("ranks, placement", [
    ([2, 2], "cyclic"), ([3, 1, 2], "random:3")], ids=["cyclic", "uneven"])
def test_over_test_nodes(host, ranks, placement):
    nodes.need()
    program = host.compile(source("reordered.c"), "-lm", "-lpthread", "-ldl")
    done = well(nodes.run_on_nodes(
        host, ranks, [program, 1, 1, 9, "elsewhere"],
        placement=placement, timeout=120,
        env={**AT_ONCE, "OMPI_MCA_mpi_yield_when_idle": "1",
             "OMPI_MCA_coll_han_priority": "0", "STRAIGHTWAY_REORDER": "1"}))
    before, after = crossing(done.stderr)
    assert after < before


def test_nothing_to_do_is_said(host):
    program = host.compile("""
        #include <mpi.h>
        int main(int argc, char **argv)
        {
            MPI_Init(&argc, &argv);
            return MPI_Finalize();
        }
    """)
    env = {"STRAIGHTWAY_STATS": "1"}
    done = host.run(2, [program], check=True, env=env)
    assert "topologies" not in done.stderr
    done = host.run(2, [program], check=True,
                    env={**env, "STRAIGHTWAY_REORDER": "1"})
    assert done.stderr.count("--reorder had nothing to do") == 1


@pytest.mark.parametrize("n, seed", [
    (4, 7), *(pytest.param(5, seed, marks=pytest.mark.deep)
              for seed in (1, 2, 5))])
def test_collectives_of_neighbours_give_the_hosts_bytes(host, n, seed):
    # MPICH reads more pieces at once than the system takes (test_neighbours).
    done = well(reordered(host, n, "random_neighbours", seed,
                          rounds_for(host, n, 24), 20000, "blocking",
                          env={"MPIR_CVAR_CH4_CMA_ENABLE": 0}))
    assert re.search(r"looked at, [1-9]\d* reordered", done.stderr)
    assert accelerated(done)[1] > 0


def test_wrong_calls_and_heritage_are_the_hosts(host, tmp_path):
    few = [] if host.flavour == "ompi" else ["few"]
    well(run(host, 4, "reorder_wrong", tmp_path / "alone", *few,
             straightway=False))
    done = well(reordered(host, 4, "reorder_wrong", tmp_path / "ours", *few))
    assert crossing(done.stderr)[0] > 20
    for rank in range(4):
        alone = (tmp_path / f"alone.{rank}").read_text().splitlines()
        ours = (tmp_path / f"ours.{rank}").read_text().splitlines()
        assert len(alone) > 25
        assert ours == alone


def test_threads_reorder_at_once(host):
    well(reordered(host, 4, "reorder_threads", rounds_for(host, 4, 30)))


def test_reordered_topologies_leave_nothing(host):
    well(reordered(host, 4, "reorder_growth", rounds_for(host, 4, 300)))


@pytest.mark.deep
def test_ten_thousand_reordered_topologies(host):
    well(reordered(host, 4, "reorder_growth", 10000, timeout=600))


@pytest.mark.unable("impi", "debian-mpich",
                    why="MPI_Comm_spawn fails in this build, on its own")
def test_grids_with_spawned_processes_are_left_alone(host):
    """These may run without us, and cannot be asked. (MPICH hangs where
    members differ in `reorder`.)"""
    done = well(reordered(host, 3, "spawn"), "well with the parents")
    assert "0 reordered" in done.stderr or "nothing to do" in done.stderr


def test_virtual_time_has_the_mpis_order(host, tmp_path):
    model = tmp_path / "run.model"
    model.write_text(MODEL)
    done = well(reordered(host, 4, "reordered", 2, 1, 6, "off", env={
        "STRAIGHTWAY_WHATIF": model,
        "STRAIGHTWAY_WHATIF_RESULT": tmp_path / "result.json"}))
    before, after = crossing(done.stdout)
    assert before == after > 0 and (tmp_path / "result.json").exists()


def test_a_profile_knows_reordered_topologies(host, tmp_path):
    done = well(reordered(host, 4, "reordered", 2, 1, rounds_for(host, 4, 30),
                          env={"STRAIGHTWAY_PROFILE": "1",
                               "STRAIGHTWAY_PROFILE_OUTPUT":
                                   tmp_path / "it.swcap"}))
    before, after = crossing(done.stdout)
    assert after < before and (tmp_path / "it.swcap").exists()


FORTRAN = """
program grid
  implicit none
  include 'mpif.h'
  integer :: ierror, me, n, comm, made, rank, mapped, down, up, got, old(0:3)
  logical :: periods(2)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, mod(me, 2) * n + me, comm, ierror)
  periods = [.false., .true.]
  call MPI_Cart_map(comm, 2, [2, 2], periods, mapped, ierror)
  call MPI_Cart_create(comm, 2, [2, 2], periods, .true., made, ierror)
  call MPI_Comm_rank(made, rank, ierror)
  if (rank /= mapped) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  call MPI_Cart_shift(made, 0, 1, down, up, ierror)
  got = -1
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, up, 0, got, 1, MPI_INTEGER, down, 0, &
                    made, MPI_STATUS_IGNORE, ierror)
  if (rank >= 2 .and. got /= rank - 2) call MPI_Abort(MPI_COMM_WORLD, 2, ierror)
  call MPI_Allgather(me, 1, MPI_INTEGER, old, 1, MPI_INTEGER, made, ierror)
  if (me == 0) print '(a,4i2)', 'old', old
  call MPI_Comm_free(made, ierror)
  call MPI_Finalize(ierror)
end program
"""
PYTHON = """
from mpi4py import MPI
world = MPI.COMM_WORLD
comm = world.Split(0, world.rank % 2 * world.size + world.rank)
grid = comm.Create_cart([2, 2], periods=[False, True], reorder=True)
down, up = grid.Shift(0, 1)
got = grid.sendrecv(grid.rank, up, source=down)
assert got == (grid.rank - 2 if grid.rank >= 2 else None)
old = grid.allgather(world.rank)
if world.rank == 0:
    print("old", *old, flush=True)
"""


def in_rows(done):
    """Ranks 0 and 1 are on one virtual node, 2 and 3 on the other. The second
    dimension has two messages for each pair, so each node takes a row."""
    assert done.returncode == 0, done.stdout + done.stderr
    old = list(map(int, done.stdout.split()[-4:]))
    assert {frozenset(old[:2]), frozenset(old[2:])} == {
        frozenset([0, 1]), frozenset([2, 3])}, old


@needs_fortran
def test_fortran(host):
    program = host.compile(FORTRAN, language="fortran")
    in_rows(host.run(4, [program], env=settings(2)))


@needs_mpi4py
def test_mpi4py(host):
    in_rows(host.run(4, [host.python, "-c", PYTHON], env=settings(2)))
