"""Random programs of collective calls give the host's results, byte for byte,
and are really served by Straightway."""

import os

import pytest
from harness import spread
from harness.programs import (accelerated, kept_alone, run, same_logs, source,
                              too_slow_crowded, well)

REFUSALS = ["memfd", "map", "map:3", "peerfd", "cma", "futex", "huge", "punch",
            "topology", "memfd,cma"]


def calls_for(host, n, few):
    """MPICH oversubscribed takes milliseconds a call on its own."""
    if n > 2 and "mpich" in host.name:
        return few // 20
    return few


def compare(host, n, seed, calls, folder, *options, env=None, share=0.5):
    arguments = [seed, calls, *options]
    kept = kept_alone(host, n, "random_collectives", arguments, "calls right")
    done = well(run(host, n, "random_collectives", *arguments, "--log",
                    folder / "log", env=env), "calls right")
    same_logs(kept, folder, n)
    if n > 1 and share:
        served, made = accelerated(done)
        assert made > 0 and served >= share * made, \
            f"only {served} of {made} calls were served by Straightway"


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_random_programs_give_the_hosts_bytes(host, n, tmp_path):
    compare(host, n, seed=1 + n, calls=calls_for(host, n, 2000),
            folder=tmp_path)


@pytest.mark.parametrize("n, form", [(2, "immediate"), (2, "persistent"),
                                     (3, "mixed"), (3, "immediate")])
def test_several_collectives_go_on_at_a_time(host, n, form, tmp_path):
    """They give what the host's blocking ones give. Persistent ones are started
    up to four times. Intel MPI's own give wrong data, so all members meet at
    first."""
    program = ["random_collectives", 20 + n, calls_for(host, n, 2000)]
    meet = [] if form == "immediate" else ["--meet"]
    as_form = [*program, "--form", form, *meet]
    kept = kept_alone(host, n, program[0], program[1:], "calls right")
    done = run(host, n, *as_form, "--log", tmp_path / "log")
    if done.returncode and host.name == "debian-openmpi":
        # Some calls are the host's own, which go wrong in this one.
        kept_alone(host, n, as_form[0], as_form[1:], "calls right")
    well(done, "calls right")
    same_logs(kept, tmp_path, n, ordered=False)
    served, made = accelerated(done, nonblocking=True)
    assert served >= 0.5 * made > 0, f"only {served} of {made} calls"


@pytest.mark.parametrize("n", [2, 3])
def test_what_ends_while_collectives_go_on(host, n):
    well(run(host, n, "started_ends"))


@pytest.mark.parametrize("n", [2, 3])
def test_persistent_ones_are_not_complete_too_early(host, n):
    well(run(host, n, "persistent_testall"))


@pytest.mark.parametrize("n", [2, 3])
def test_collectives_go_on_while_a_member_is_in_the_host(host, n):
    well(run(host, n, "held_up"))


@pytest.mark.parametrize("bytes_", [200_000, 1 << 20, 5_000_000])
def test_so_they_do_with_large_thread_local_data(host, bytes_):
    """The helper thread's stack has to hold it."""
    program = host.compile(source("held_up.c"), f"-DTHREAD_LOCAL={bytes_}")
    done = well(host.run(2, [program], env={"STRAIGHTWAY_STATS": "1"}))
    assert "no thread" not in done.stderr
    served, made = accelerated(done, nonblocking=True)
    assert served == made > 0


# The rank that runs this has no thread of ours; alone if it is 0.
NO_THREAD = """
case {one}-${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} in
True-1) ;;
*) export STRAIGHTWAY_REFUSE=thread;;
esac
exec "$@"
"""


@pytest.mark.parametrize("one", [False, True])
def test_so_they_do_without_helper_threads(host, one):
    """The host serves where a member can have none."""
    program = host.compile(source("held_up.c"))
    done = well(host.run(2, ["sh", "-c", NO_THREAD.format(one=one), "sh",
                             program], env={"STRAIGHTWAY_STATS": "1"}))
    assert "a member's system gives no thread for its helper" in done.stderr
    assert accelerated(done, nonblocking=True)[0] == 0


def test_so_they_do_where_no_thread_is_to_be_had_later(host):
    """A rank takes its thread when MPI starts."""
    done = well(run(host, 2, "held_up", env={
        "STRAIGHTWAY_REFUSE": "thread:2", "STRAIGHTWAY_STATS": "1"}))
    served, made = accelerated(done, nonblocking=True)
    assert served == made > 0


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: no user of its own")
def test_so_they_do_where_the_user_has_no_more_threads(host):
    program = host.compile(source("held_up.c"), "-DLAST_THREAD=64321",
                           "-lpthread")
    well(host.run(2, [program]))


def test_so_they_do_over_nodes(host):
    """The host alone must serve these."""
    well(run(host, 4, "held_up", env={"STRAIGHTWAY_NODE_SIZE": "2",
                                      "STRAIGHTWAY_SPAN_WAY": "leaders"}))


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 105))
@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9])
def test_long_random_programs_give_the_hosts_bytes(host, n, seed, tmp_path):
    compare(host, n, seed, calls_for(host, n, 10000), tmp_path)


@pytest.mark.parametrize("service", spread.some(REFUSALS))
def test_a_refused_service_costs_no_correctness(host, service, tmp_path):
    compare(host, 2, 7, 400, tmp_path, env={"STRAIGHTWAY_REFUSE": service},
            share=0)


def test_virtual_nodes_give_the_hosts_bytes(host, tmp_path):
    compare(host, 4, 11, calls_for(host, 4, 1000), tmp_path,
            env={"STRAIGHTWAY_NODE_SIZE": "2",
                 "STRAIGHTWAY_SPAN_WAY": "leaders"}, share=0.6)


@pytest.mark.parametrize("n", [2, pytest.param(4, marks=too_slow_crowded)])
def test_the_same_input_gives_the_same_bits(host, n):
    well(run(host, n, "bits_equal"))


@pytest.mark.parametrize("n", [3, 4, 7, *(
    pytest.param(n, marks=pytest.mark.deep)
    for n in (2, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16))])
def test_reductions_have_the_digits_of_recursive_doubling(host, n):
    done = well(run(host, n, "same_digits"))
    served, made = accelerated(done)
    assert served == made > 0


@pytest.mark.parametrize("n", [4, *(
    pytest.param(n, marks=pytest.mark.deep)
    for n in (3, 5, 6, 7, 8, 12, 16))])
def test_these_are_the_hosts_own_digits_of_short_vectors(host, n):
    """With three ranks Open MPI adds along a ring from 4 KiB on. Of more than
    four ranks Intel MPI has orders of its own for a few lengths, and at all
    ranks its complex products round otherwise; on some processors it adds one
    after the other (docs/digits.md)."""
    if host.name == "impi" and n > 4:
        pytest.skip("Intel MPI has other orders for some lengths")
    only = ["sums"] if host.name == "impi" else []
    done = run(host, n, "same_digits", "alone", 200, *only, straightway=False)
    if host.name == "impi" and "is not that of recursive" in (
            done.stdout + done.stderr):
        pytest.skip("Intel MPI has another order on this processor")
    well(done)


@pytest.mark.parametrize("type_", ["null", "int"])
def test_empty_blocks_need_no_type(host, type_):
    well(run(host, 3, "empty_blocks", type_))


@pytest.mark.parametrize("n", [2, 3])
def test_members_of_a_reduction_may_differ(host, n):
    """Not all hosts alone can: Intel MPI's members wait for ever."""
    well(run(host, n, "differing", n, 100))


@pytest.mark.unable("mpich", "mpich-abi", "debian-mpich", "impi",
                    why="the host alone gives wrong data, or hangs")
def test_so_they_may_over_nodes(host):
    well(run(host, 4, "differing", 5, 60, 4,
             env={"STRAIGHTWAY_NODE_SIZE": "2",
                  "STRAIGHTWAY_SPAN_WAY": "leaders"}))


@pytest.mark.deep
@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("seed", range(10, 14))
def test_members_of_many_reductions_may_differ(host, n, seed):
    well(run(host, n, "differing", seed, 1000))


@pytest.mark.parametrize("n, groups", [(3, []), (4, ["between"])])
def test_arguments_that_mpi_ignores_may_be_anything(host, n, groups):
    well(run(host, n, "ignored", *groups))


@pytest.mark.parametrize("n", [2, 3])
def test_ranks_may_run_ahead_and_lag(host, n):
    well(run(host, n, "overlap", calls_for(host, n, 100000)))


@pytest.mark.parametrize("n", [2, 3])
def test_nobody_waits_without_helping(host, n):
    well(run(host, n, "progress"))


# Open MPI alone loses partitioned messages: ours must serve them.
def test_thousands_of_requests_live_at_once(host):
    well(run(host, 2, "ten_thousand_requests", 2000))


@pytest.mark.parametrize("call", ["waitany", "testany", "waitsome",
                                  "testsome", "waitall", "testall"])
@pytest.mark.parametrize("kind", spread.some([
    "receives", "sends", "persistent", "others", "collectives", "all"]))
def test_each_of_many_requests_completes_once(host, kind, call):
    well(run(host, 2, "many_completed", kind, call, 600))


@pytest.mark.deep
def test_ten_thousand_requests_live_at_once(host):
    well(run(host, 3, "ten_thousand_requests", 10000, timeout=300))
