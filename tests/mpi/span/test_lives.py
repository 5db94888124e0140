"""What programs do to communicators over several nodes, besides calling
collectives: threads, errors, small stacks, messages, many of them."""

import pytest
from harness import nodes
from harness.programs import (accelerated, needs_mpi4, run, source,
                              too_slow_crowded, well)

# The table of ways depends on the cores of this machine.
TWO = {"STRAIGHTWAY_NODE_SIZE": 2, "STRAIGHTWAY_SPAN_WAY": "leaders"}
YIELD = {"STRAIGHTWAY_STATS": "1", "STRAIGHTWAY_SPAN_WAY": "leaders",
         "OMPI_MCA_mpi_yield_when_idle": "1"}


def mostly_ours(done, share=0.9):
    served, calls = accelerated(done)
    assert served > share * calls > 0, f"{served} of {calls} calls were ours"


def moved(done):
    """(messages of ours, their KiB), from the statistics."""
    for line in done.stderr.splitlines():
        word = line.split()
        if line.startswith("straightway: point to point:"):
            return int(word[4]), int(word[7])
    return 0, 0


def test_communicators_come_and_go(host):
    """More of them than there may be spans, and thousands one by one."""
    rounds = 60 if "mpich" in host.name else 300
    done = well(run(host, 4, "span_lives", 70, rounds,
                    env={**TWO, "STRAIGHTWAY_SPAN_MAX": 48}))
    mostly_ours(done, 0.5)
    assert "no room for one more" in done.stderr    # those past the limit
    # Messages of over a MiB go to the rank beside in each of 8 rounds. In 4 of
    # them one more arrives after its communicator is gone.
    messages, kib = moved(done)
    assert messages >= 8 * 2 + 4 * 2 and kib > 1000 * messages


def test_communicators_end_in_every_way(host):
    mostly_ours(well(run(host, 4, "span_ends", env=TWO)), 0.8)


def test_the_hosts_collectives_may_be_pending(host):
    mostly_ours(well(run(host, 4, "span_pending", env=TWO)))


@pytest.mark.deep
@nodes.able
@pytest.mark.parametrize("program", ["span_ends", "span_pending"])
@pytest.mark.parametrize("ranks", [[2, 2], [1, 3], [2, 1, 2]])
def test_so_they_may_over_test_nodes(host, program, ranks):
    nodes.need()
    path = host.compile(source(f"{program}.c"))
    well(nodes.run_on_nodes(host, ranks, [path], "cyclic", env=YIELD,
                            timeout=120))


@pytest.mark.deep
def test_three_thousand_communicators(host):
    well(run(host, 4, "span_lives", 100, 3000, env=TWO, timeout=600))


@nodes.able
def test_nodes_that_come_and_go_leave_nothing(host):
    """Over test nodes the host's network carries what spans send."""
    nodes.need()
    program = host.compile(source("span_lives.c"))
    done = well(nodes.run_on_nodes(host, [2, 2], [program, 6, 8], env=YIELD,
                                   timeout=120))
    mostly_ours(done, 0.6)
    messages, kib = moved(done)
    assert messages >= 8 * 2 + 4 * 2 and kib > 1000 * messages


@pytest.mark.parametrize("where", [
    "virtual", pytest.param("test", marks=pytest.mark.deep)])
def test_a_solver_gives_the_hosts_bits(host, where, tmp_path):
    steps = [16, 1024] if "mpich" in host.name else [40, 2048]
    well(run(host, 4, "halo", tmp_path / "alone", *steps, straightway=False))
    if where == "virtual":
        done = run(host, 4, "halo", tmp_path / "ours", *steps, env=TWO)
    else:
        nodes.need()
        program = host.compile(source("halo.c"))
        done = nodes.run_on_nodes(host, [2, 2],
                                  [program, tmp_path / "ours", *steps],
                                  env=YIELD, timeout=120)
    well(done)
    served, calls = accelerated(done)
    # The host carries out reductions with a user's operation over nodes: one
    # in each step of the first loop.
    assert served == calls - steps[0] > 2 * 4 * steps[0]
    # Each step two of its messages stay on each node, both ways.
    assert moved(done)[0] >= 2 * 2 * steps[0]
    for rank in range(4):
        assert (tmp_path / f"ours.{rank}").read_text() == \
            (tmp_path / f"alone.{rank}").read_text()


@pytest.mark.parametrize("threads", [
    2, pytest.param(4, marks=too_slow_crowded)])
def test_threads_mix_collectives_and_messages(host, threads):
    done = run(host, 4, "threads", threads, 40, env=TWO)
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip("this host has no MPI_THREAD_MULTIPLE")
    well(done)
    mostly_ours(done)
    assert moved(done)[0] > 0


def test_collectives_need_little_stack(host):
    """As little as the host alone, some of which need more than 64 KiB."""
    stack = next(kib for kib in (64, 128, 256, 512, 1024) if not run(
        host, 4, "small_stacks", kib, straightway=False).returncode)
    done = well(run(host, 4, "small_stacks", stack, env=TWO))
    mostly_ours(done, 0.5)


@pytest.mark.deep
def test_a_call_that_one_member_repeats_is_carried_out_once(host, tmp_path):
    few = [] if host.flavour == "ompi" else ["few"]
    well(run(host, 3, "one_wrong", tmp_path / "alone", *few,
             straightway=False, timeout=300))
    done = well(run(host, 3, "one_wrong", tmp_path / "ours", *few, env=TWO,
                    timeout=300))
    served, calls = accelerated(done)
    assert served > 0.8 * calls > 1000
    alone = [(tmp_path / f"alone.{rank}").read_text() for rank in range(3)]
    assert sum(text.count("class") for text in alone) > 80
    assert alone == [(tmp_path / f"ours.{rank}").read_text()
                     for rank in range(3)]


def test_wrong_arguments_get_the_hosts_error_classes(host, tmp_path):
    few = ["few"] if "mpich" in host.name else []
    well(run(host, 3, "errors", "return", tmp_path / "alone", *few,
             straightway=False))
    done = well(run(host, 3, "errors", "return", tmp_path / "ours", *few,
                    env=TWO))
    assert accelerated(done)[0] > 100
    for rank in range(3):
        assert (tmp_path / f"ours.{rank}").read_text() == \
            (tmp_path / f"alone.{rank}").read_text()


@pytest.mark.parametrize("type_", ["null", "int"])
def test_empty_blocks_need_no_type(host, type_):
    mostly_ours(well(run(host, 3, "empty_blocks", type_, env=TWO)))


def test_a_member_that_waits_helps_the_others(host):
    mostly_ours(well(run(host, 4, "progress", env=TWO)))


@pytest.mark.deep
@too_slow_crowded
def test_the_same_input_gives_the_same_bits(host):
    mostly_ours(well(run(host, 4, "bits_equal", env=TWO)))


@needs_mpi4
@pytest.mark.unable("impi", why="Intel MPI has no sessions")
def test_sessions_without_a_world(host):
    well(run(host, 4, "sessions", 1, env=TWO))


@pytest.mark.unable("impi", "debian-mpich",
                    why="MPI_Comm_spawn fails in this build, on its own")
def test_spawned_processes_join(host):
    done = well(run(host, 4, "spawn", env=TWO),
                "all is well with the parents")
    assert "all is well with the children" in done.stdout


def test_one_member_on_each_node_is_left_to_the_host(host):
    done = well(run(host, 3, "progress", env={
        "STRAIGHTWAY_NODE_SIZE": 1, "STRAIGHTWAY_VERBOSE": "1"}))
    assert accelerated(done)[0] == 0
    assert "one member on each node" in done.stderr
