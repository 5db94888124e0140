"""Programs that run in virtual time: unchanged, and for as long as the model
says.

Random programs must get the bytes and statuses that the host gives. Where a
program's time is known by hand, MPI_Wtime must tell exactly that.
"""

import contextlib
import json
import re
import subprocess
import time

import pytest
from harness import jobs, patience, programs
from harness.hosts import COMMAND

WHATIF = COMMAND.parents[1] / "lib" / "straightway" / "straightway-whatif"
TIMEOUT = 60        # s, of a job

# Per message of s bytes: o 1 us, L 5 us, G 0.5 ns a byte, o' 2 us. A processor
# so quick that computing takes no time.
MODEL = """\
# LogGPS, by hand
ranks {n}
link node o_send 1000 o_recv 2000 L 5000 g 0 G 0.5 S {eager}
link domain o_send 1000 o_recv 2000 L 5000 g 0 G 0.5 S {eager}
link self o_send 1000 o_recv 2000 L 5000 g 0 G 0.5 S {eager}
cpu_speed {speed}
test 100
{more}
"""


def virtual(host, n, argv, folder, eager=65536, speed="1e9", more="",
            env=None, timeout=TIMEOUT, **keywords):
    """Run in virtual time; (process, result or None)."""
    model, result = folder / "run.model", folder / "result.json"
    model.write_text(MODEL.format(n=n, eager=eager, speed=speed, more=more))
    if not isinstance(argv, list):
        argv = [argv]
    done = host.run(n, argv, timeout=timeout, env={
        "STRAIGHTWAY_WHATIF": str(model),
        "STRAIGHTWAY_WHATIF_RESULT": str(result),
        "STRAIGHTWAY_WHATIF_CHECK": "on",
        "STRAIGHTWAY_ENABLE": "off", **(env or {})}, **keywords)
    return done, json.loads(result.read_text()) if result.exists() else None


# Correctness -----------------------------------------------------------------

RANDOM = {
    "random_collectives": ("calls right", (11, 60), {}),
    "random_p2p": ("messages right", (11, 30), {}),
    "random_types": ("datatypes right", (11, 15),
                     {"MPIR_CVAR_CH4_CMA_ENABLE": "0"}),
}


@pytest.mark.parametrize("name, n, options", [
    pytest.param("random_collectives", 3, (), id="collectives"),
    pytest.param("random_p2p", 2, (), id="messages-2", marks=pytest.mark.deep),
    pytest.param("random_p2p", 3, (), id="messages"),
    pytest.param("random_p2p", 2, ("--threads", 3), id="threads"),
    pytest.param("random_types", 2, (), id="types", marks=pytest.mark.deep)])
@pytest.mark.parametrize("enable", ["off", "on"])
def test_random_programs(host, name, n, options, enable, tmp_path):
    """Programs in virtual time get the bytes and statuses of the host."""
    words, (seed, rounds), env = RANDOM[name]
    arguments = [seed, programs.rounds_for(host, n, rounds), *options]
    kept = programs.kept_alone(host, n, name, arguments, words,
                               excused=["no MPI_THREAD"], env=env)
    program = host.compile(programs.source(f"{name}.c"), "-lm", "-lpthread",
                           "-ldl")
    done, result = virtual(
        host, n, [program, *arguments, "--log", tmp_path / "log"], tmp_path,
        env={**env, **programs.AT_ONCE, "STRAIGHTWAY_ENABLE": enable})
    programs.well(done, words)
    programs.same_logs(kept, tmp_path, n)
    assert result["state"] == "done", result
    assert result["messages"] > 10 or name == "random_collectives"


@pytest.mark.parametrize("enable", ["off", "on"])
def test_random_neighbours(host, enable, tmp_path):
    """The program knows what must come."""
    program = host.compile(programs.source("random_neighbours.c"), "-lm",
                           "-lpthread", "-ldl")
    done, result = virtual(host, 3, [program, 11, 30], tmp_path,
                           env={**programs.AT_ONCE,
                                "STRAIGHTWAY_ENABLE": enable})
    programs.well(done)
    assert result["state"] == "done" and result["messages"] > 10


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("enable", ["off", "on"])
def test_random_groups(host, n, enable, tmp_path):
    """Collectives between groups, which know what must come."""
    arguments = [n, programs.rounds_for(host, n, 30)]
    alone = programs.run(host, n, "random_groups", *arguments,
                         straightway=False)
    programs.well(alone)
    program = host.compile(programs.source("random_groups.c"), "-lm",
                           "-lpthread", "-ldl")
    done, result = virtual(host, n, [program, *arguments], tmp_path,
                           env={**programs.AT_ONCE,
                                "STRAIGHTWAY_ENABLE": enable})
    programs.well(done)
    assert "could not be modelled" not in done.stderr, done.stderr
    assert result["state"] == "done", result


@pytest.mark.unable("impi", "debian-mpich", why="the host alone fails on it")
@pytest.mark.parametrize("n, groups", [(3, []), (4, ["between"])])
def test_arguments_that_mpi_ignores_are_not_read(host, n, groups, tmp_path):
    done, result = virtual(host, n, [
        host.compile(programs.source("ignored.c")), *groups], tmp_path,
        env={"STRAIGHTWAY_ENABLE": "on"})
    programs.well(done)
    assert result["state"] == "done", result


def one_sided(host):
    """Open MPI 4.1's messages by way of `vader` fail under osc/rdma."""
    return {"OMPI_MCA_osc": "^rdma"} if host.name == "debian-openmpi" else {}


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("enable", ["off", "on"])
def test_random_windows(host, n, enable, tmp_path):
    """One-sided communication, which knows what must come."""
    arguments = [n, programs.rounds_for(host, n, 12)]
    words = "operations right"
    programs.kept_alone(host, n, "random_windows", arguments, words,
                        env=one_sided(host))
    program = host.compile(programs.source("random_windows.c"), "-lm",
                           "-lpthread", "-ldl")
    done, result = virtual(
        host, n, [program, *arguments], tmp_path,
        env={**one_sided(host), **programs.AT_ONCE,
             "STRAIGHTWAY_ENABLE": enable})
    programs.well(done, words)
    assert "could not be modelled" not in done.stderr, done.stderr
    assert result["state"] == "done", result


# Times known by hand ---------------------------------------------------------

def times(done):
    # Intel MPI's launcher puts one rank's text before another's last newline.
    lines = done.stdout.replace("all is well", "\n")
    return {name: float(ns) for name, ns in
            re.findall(r"^(\w+) (\d+\.\d+)$", lines, re.M)}


def one_way(size, eager=65536):
    if size <= eager:
        return 1000 + 5000 + 0.5 * size + 2000
    # A request, its answer, the data.
    return (1000 + 5000) + (1000 + 5000) + 5000 + 0.5 * size + 2000


def by_hand(n):
    """ns, of virtual_times.c."""
    return {
        "ping_pong": 2 * one_way(1000),
        "rendezvous": 2 * one_way(100000),
        "ring": n * one_way(100),
        # The sender is done when the data have left.
        "late_receiver": 10 * one_way(0) + 6000 + 50000,
        "nonblocking": one_way(1000),
        # Rank n - 1 first, the others a message to themselves later each.
        "wildcards": (n - 1) * one_way(8),
        # The second is received behind the first.
        "waitany": one_way(8) + 2000,
        "polling": one_way(60000) + 2000,
    }


def check_times(done, n):
    found, expected = times(done), by_hand(n)
    # A test that is under way as the message comes is waited for.
    assert -5 <= found.pop("polling") - expected.pop("polling") <= 105
    assert found == pytest.approx(expected, abs=5)


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("enable", ["off", "on"])
def test_times_known_by_hand(host, n, enable, tmp_path):
    program = host.compile(programs.source("virtual_times.c"))
    done, result = virtual(host, n, program, tmp_path,
                           env={"STRAIGHTWAY_ENABLE": enable})
    programs.well(done)
    assert "wrong" not in done.stdout, done.stdout
    check_times(done, n)
    assert result["state"] == "done" and result["undecided"] == 0
    assert result["end_ns"] >= sum(by_hand(n).values())


def has(host, procedure):
    """Does the MPI's header have it?"""
    try:
        host.compile(f"#include <mpi.h>\nint main(void)\n"
                     f"{{ return {procedure} == 0; }}\n",
                     "-Werror=implicit-function-declaration")
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("n", [2, 4])
def test_procedures_that_few_call(host, n, tmp_path):
    """Duplicates that come later, statuses of requests that stay."""
    flags = ["-DSTATUSES"] * has(host, "MPI_Request_get_status_all") + \
        ["-DWITH_INFO"] * has(host, "MPI_Comm_idup_with_info")
    program = host.compile(programs.source("virtual_more.c"), *flags)
    done, result = virtual(host, n, program, tmp_path)
    programs.well(done)
    assert "wrong" not in done.stdout, done.stdout
    assert result["state"] == "done"
    found = times(done)
    # All wait for the last; making it is a few messages besides.
    assert 1e6 <= found.pop("idup") <= 1.1e6
    if "-DWITH_INFO" in flags:
        assert 1e6 <= found.pop("idup_with_info") <= 1.1e6
    if "-DSTATUSES" in flags:
        # The second message leaves 1 us after the first, and is taken when
        # it has come.
        both = 1000 + one_way(60000)
        for name, ns in (("status_all", both), ("status_any", one_way(8)),
                         ("status_some", one_way(8)), ("status_both", both)):
            assert found.pop(name) == pytest.approx(ns, abs=200), name
    assert not found


@programs.needs_mpi4
def test_what_is_not_modelled_is_counted(host, tmp_path):
    program = host.compile(programs.source("virtual_more.c"), "-DPARTITIONED")
    done, result = virtual(host, 2, [program, "counted"], tmp_path)
    programs.well(done)
    assert result["state"] == "done"
    asked = re.search(r"^asked (\d+)$", done.stdout, re.M).group(1)
    assert f"{asked} calls could not be modelled" in done.stderr


@programs.needs_mpi4
@pytest.mark.parametrize("n", [2, 4])
def test_persistent_ones_among_others(host, n, tmp_path):
    """Some hosts know them in no MPI_Testall, which is what waits are made of
    here."""
    program = host.compile(programs.source("virtual_persistent.c"), "-lm")
    done, result = virtual(host, n, program, tmp_path)
    programs.well(done)
    assert "could not be modelled" not in done.stderr, done.stderr
    assert result["state"] == "done", result


# Between two groups -----------------------------------------------------------

def rounds(n):
    return max(n - 1, 0).bit_length()


def groups_by_hand(n):
    """{name_rank: ns} of virtual_groups.c, for ranks 0, 1 and 9, the
    last; groups of n // 2 and the others, 1000 bytes."""
    first, second = n // 2, n - n // 2
    a, b, o = 8000, 0.5, 1000           # an empty message, a byte, its sender
    times = {}

    def tree(members, size):
        return rounds(members) * (a + size * b)

    def blocks(members, size):
        return rounds(members) * a + (members - 1) * size * b if members > 1 \
            else 0

    def add(name, of):
        """of(rank, own group, other group)."""
        for rank, label in {0: 0, 1: 1, n - 1: 9}.items():
            times[f"{name}_{label}"] = of(
                rank, *((first, second) if rank < first else (second, first)))

    all_of = rounds(n) * a
    add("create", lambda rank, own, far: all_of)
    add("barrier", lambda rank, own, far: tree(far, 0) + a + tree(own, 0))
    add("allreduce", lambda rank, own, far:
        tree(far, 1000) + (a + 1000 * b) + tree(own, 1000))
    add("allgather", lambda rank, own, far:
        blocks(far, 1000) + (a + far * 1000 * b) + tree(own, far * 1000))
    add("alltoall", lambda rank, own, far:
        max(own, far) * (a + 1000 * b))
    total = first * second * 8
    add("reduce_scatter", lambda rank, own, far:
        tree(far, total) + (a + total * b) + blocks(own, total // own))

    def rooted(root, waits, gives):
        def of(rank, own, far):
            if rank == root:
                return gives(own, far)
            near = (rank < first) == (root < first)
            return 0 if near else waits(own, far)
        return of

    def out(size):
        return max(o, size * b)

    for root, at in ((0, "first"), (n - 1, "last")):
        add(f"bcast_{at}", rooted(
            root, lambda own, far: a + 1000 * b + tree(own, 1000),
            lambda own, far: out(1000)))
        add(f"scatter_{at}", rooted(
            root, lambda own, far: a + own * 1000 * b + blocks(own, 1000),
            lambda own, far: out(far * 1000)))
        add(f"reduce_{at}", rooted(
            root, lambda own, far: out(1000),
            lambda own, far: tree(far, 1000) + a + 1000 * b))
        add(f"gather_{at}", rooted(
            root, lambda own, far: out(1000),
            lambda own, far: blocks(far, 1000) + a + far * 1000 * b))
    add("late", lambda rank, own, far:
        80000 + tree(far, 0) + a + tree(own, 0))
    for name in ("nonblocking", "persistent", "again"):
        add(name, lambda rank, own, far:
            tree(far, 1000) + (a + 1000 * b) + tree(own, 1000))
    for name in ("dup", "merge", "split"):
        add(name, lambda rank, own, far: all_of)
    # Recursive doubling: those beyond a power of two go before and after.
    doubling = rounds(n) + (1 if n & (n - 1) else 0)
    add("merged", lambda rank, own, far: doubling * (a + 4 * b))
    add("splitted", lambda rank, own, far:
        tree(far, 0) + a + tree(own, 0))
    return times


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("enable", ["off", "on"])
def test_groups_known_by_hand(host, n, enable, tmp_path):
    """Collectives between groups: their times, and the ranks they wait for."""
    program = host.compile(programs.source("virtual_groups.c"))
    done, result = virtual(host, n, program, tmp_path,
                           env={"STRAIGHTWAY_ENABLE": enable})
    programs.well(done)
    assert "wrong" not in done.stdout, done.stdout
    assert "could not be modelled" not in done.stderr, done.stderr
    found, known = times(done), groups_by_hand(n)
    if "persistent_0" not in found:     # not every host has them
        known = {name: time for name, time in known.items()
                 if name.split("_")[0] not in ("persistent", "again")}
    assert found == pytest.approx(known, abs=5)
    assert result["state"] == "done"


# One-sided --------------------------------------------------------------------

# A table of one-sided calls: of the window's memory, which is allocated, and of
# a dynamic one, which is the program's.
TIMED = """\
access allocated put 1000 9000 400
access allocated get 1000 2000 300
access allocated accumulate 1000 1 1
access allocated fetch 8 600 100
access allocated fetch 1000 7000 200
access created put 1000 8000 50
locks allocated 800 200
table fence 2 0 12000 12000
measured fence"""


def windows_by_hand(n, timed):
    """{name_rank: ns} of virtual_windows.c."""
    o, L, p, put = 1000, 5000, 2000, 500        # p: the receiver's
    all_of = fence = rounds(n) * (o + L + p)
    known = o + L + put + L                     # a put, until it is known
    start = o + L + p                           # what was posted is there
    own = {"put": known, "get": o + L + L + put, "local": o + put,
           "nothing": 0, "accumulate": known,
           "get_accumulate": o + L + put + L + put,
           "fetch_and_op": o + L + 4 + L + 4,
           "compare_and_swap": o + L + 4 + L + 4,
           "rput": o + put, "rget": o + L + L + put,
           "attached": known, "start": start, "start_again": start}
    asks, hears, unlock = o + L, L, o
    free = o + L            # from the beginning of the unlock on
    if timed:
        # MPI_REPLACE makes a put of an accumulate.
        known, fence = 9400, 12000 * rounds(n)
        own.update(put=known, get=2300, local=9000, accumulate=known,
                   get_accumulate=7200, fetch_and_op=700,
                   compare_and_swap=700, rput=9000, rget=2000 + 8000,
                   attached=8050)
        asks, hears, unlock, free = 400, 400, 200, 200
    times = {}
    for rank, label in {0: 0, 1: 1, n - 1: 9}.items():
        for name, ns in own.items():
            if rank == 0 or "start" not in name:
                times[f"{name}_{label}"] = ns if rank == 0 else 0
        for name in ("make", "dynamic", "free"):
            times[f"{name}_{label}"] = all_of
        times[f"fence_{label}"] = known + fence
        lock = asks + hears + known + unlock
        # The second one hears of it when the first has given it back.
        times[f"lock_{label}"] = {
            0: lock, 1: asks + hears + known + free + hears + known + unlock,
        }.get(rank, 0)
        times[f"shared_{label}"] = {0: lock, 1: 8000 + lock}.get(rank, 0)
        complete = start + known + o
        for name in ("exposed", "tested"):
            times[f"{name}_{label}"] = complete if rank == 0 else 0
    for name in ("exposed", "tested"):
        times[f"{name}_9"] = start + known + o + L + p
    times["post_9"] = times["post_again_9"] = o
    return times


@pytest.mark.parametrize("n, enable, timed", [
    (2, "off", False), (2, "on", False), (4, "off", False), (4, "on", False),
    (2, "on", True), (4, "off", True)])
def test_windows_known_by_hand(host, n, enable, timed, tmp_path):
    """With the times of messages, or those of a table."""
    program = host.compile(programs.source("virtual_windows.c"))
    ops = tmp_path / "a.swops"
    done, result = virtual(host, n, program, tmp_path,
                           more=TIMED if timed else "",
                           env={**one_sided(host),
                                "STRAIGHTWAY_WHATIF_RECORD": str(ops),
                                "STRAIGHTWAY_ENABLE": enable})
    programs.well(done)
    assert "wrong" not in done.stdout, done.stdout
    assert "could not be modelled" not in done.stderr, done.stderr
    found, known = times(done), windows_by_hand(n, timed)
    # A test without success takes 100 ns.
    assert abs(found.pop("tested_9") - known.pop("tested_9")) <= 105
    assert found == pytest.approx(known, abs=5)
    assert result["state"] == "done"
    assert result["undecided"] == 0 and result["forced"] == 0
    again = patience.run(
        [WHATIF, "replay", "--check", tmp_path / "run.model", ops], text=True,
        capture_output=True, timeout=60)
    assert again.returncode == 0, again.stderr
    # It did not test in vain.
    assert json.loads(again.stdout)["end_ns"] == \
        pytest.approx(result["end_ns"], abs=n * 200)


# Blocks that are given away ---------------------------------------------------

GIVEN = "given domain 4096 300 40 500 60"


@pytest.mark.parametrize("more, given", [(GIVEN, True), ("", False)])
def test_gives_known_by_hand(host, more, given, tmp_path):
    """At any size, where the model knows it; else as a message."""
    program = host.compile(programs.source("virtual_gives.c"))
    ops = tmp_path / "a.swops"
    done, result = virtual(host, 2, program, tmp_path, more=more, eager=1 << 21,
                           env={"STRAIGHTWAY_WHATIF_RECORD": str(ops)})
    programs.well(done)
    assert "wrong" not in done.stdout, done.stdout
    found = times(done)
    block = 300 + 40 + 60
    eager = 1 << 21
    assert {name: found[f"{name}_9"] for name in
            ("large", "middle", "small", "sent")} == pytest.approx({
                "large": block if given else one_way(1 << 20, eager),
                "middle": block if given else one_way(8192, eager),
                "small": one_way(1000, eager), "sent": one_way(8192, eager)},
                abs=5)
    listed = patience.run([WHATIF, "convert", ops, "-"],
                          text=True, capture_output=True, timeout=60)
    assert listed.stdout.count(" given") == 2, listed.stdout + listed.stderr


def test_nobody_posts(host, tmp_path):
    """The result of a deadlock tells what each rank waits for."""
    program = host.compile(programs.source("virtual_windows.c"))
    with contextlib.suppress(jobs.JobTimeout):      # as the host alone does
        virtual(host, 2, [program, "deadlock"], tmp_path, timeout=4,
                env=one_sided(host), stragglers="kill")
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["state"] == "deadlock"
    assert {s["rank"]: s["waits_for"] for s in result["stuck"]} == {
        0: "post of a window by 1", 1: "barrier on context 0"}


# A rank polls memory until the other rank writes there. The other asks for the
# time meanwhile. No MPI call tells the engine that the first rank waits.
LOOKS = r"""
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int me, unit;
    MPI_Aint size;
    MPI_Win window;
    int *mine, *its;
    double last = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                            &window);
    MPI_Win_shared_query(window, !me, &size, &unit, &its);
    *mine = 0;
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i <= 40; i++) {
        char token = 0;
        if (me == 0)
            __atomic_store_n(its, i, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(mine, __ATOMIC_SEQ_CST) != i)
            sched_yield();
        /* The other waits; this one's messages share a port. */
        MPI_Request r;
        MPI_Irecv(&token, 1, MPI_CHAR, me, 1, MPI_COMM_WORLD, &r);
        MPI_Send(&token, 1, MPI_CHAR, me, 1, MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        double now = MPI_Wtime();
        if (now < last)
            printf("wrong: back in time\n");
        last = now;
        if (me == 1)
            __atomic_store_n(its, i, __ATOMIC_SEQ_CST);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    if (me == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("enable", ["off", "on"])
def test_memory_is_looked_at(host, enable, tmp_path):
    program = host.compile(LOOKS)
    done, result = virtual(host, 2, program, tmp_path,
                           env={"STRAIGHTWAY_ENABLE": enable})
    programs.well(done)
    assert "wrong" not in done.stdout
    assert result["state"] == "done" and result["forced"] > 0


def test_late_sender(host, tmp_path):
    """What is computed counts, as the processor's time."""
    program = host.compile(programs.source("virtual_times.c"))
    for n, speed in ((2, 1), (2, 10), (8, 1)):
        done, _ = virtual(host, n, [program, 50], tmp_path, speed=speed,
                          env=programs.steady(host))
        programs.well(done)
        assert times(done)["late_sender"] == pytest.approx(
            50e6 / speed + one_way(8), abs=20000), (n, speed)


def test_many_ranks(host, tmp_path):
    """More ranks than cores change nothing."""
    program = host.compile(programs.source("virtual_times.c"))
    done, result = virtual(host, 16, program, tmp_path, timeout=60)
    programs.well(done)
    check_times(done, 16)


# Threads that call MPI at once -----------------------------------------------

THREADS = 4
ALONE = 2 * one_way(0)          # there and back


def threads_by_hand(thread):
    """ns, of virtual_threads.c, but for the collectives."""
    expected = dict.fromkeys(
        ("nonblocking", "probing", "matched_probing", "polling",
         "poll_for_message", "anybody"), ALONE)
    expected["ping_pong"] = 5 * (thread + 1) * ALONE
    # The last message's request waits there; its answer, and it leaves.
    expected["late_receiver"] = 11 * one_way(0) + 6000
    if thread == 0:
        expected["hand_over"] = ALONE + 40 * one_way(0)
    return {f"{name}_{thread}": ns for name, ns in expected.items()}


@pytest.mark.parametrize("how", [(), ("spin",)], ids=["sleep", "spin"])
@pytest.mark.parametrize("enable", ["off", "on"])
def test_threads(host, enable, how, tmp_path):
    """Each thread's time is its own, and is as if it were alone."""
    program = host.compile(programs.source("virtual_threads.c"), "-lpthread")
    # The system may let a thread sleep between two calls, for a page, if the
    # machine is loaded. The engine then counts this as waiting for the others.
    for last in (False, False, True):
        done, result = virtual(host, 2, [program, *how], tmp_path,
                               env={"STRAIGHTWAY_ENABLE": enable})
        if "no MPI_THREAD" in done.stdout:
            pytest.skip("the host has no MPI_THREAD_MULTIPLE")
        programs.well(done)
        assert result["state"] == "done" and result["undecided"] >= THREADS
        found = times(done)
        expected = {}
        for thread in range(THREADS):
            expected.update(threads_by_hand(thread))
            expected[f"collectives_{thread}"] = found["alone"]
        # A thread that joins the others goes on at the latest one's time.
        expected.update(alone=found["alone"], joined=0)
        if found == pytest.approx(expected, abs=5):
            break
        assert not last, (found, expected)


MESSAGES = """\
messages allreduce recursive_doubling
messages alltoall pairwise
messages allgather ring
messages bcast binomial
messages barrier dissemination
"""


@pytest.mark.parametrize("n", [
    2, pytest.param(4, marks=pytest.mark.deep)])
@pytest.mark.parametrize("more", ["", MESSAGES], ids=["cost", "messages"])
@pytest.mark.parametrize("enable", ["off", "on"])
def test_threads_on_their_own_communicators(host, n, more, enable, tmp_path):
    """Collectives by their cost, or composed of messages that meet at ports."""
    program = host.compile(programs.source("threads.c"), "-lm", "-lpthread")
    done, result = virtual(
        host, n, [program, 3, programs.rounds_for(host, n, 200)], tmp_path,
        more=more, env={**programs.AT_ONCE, "STRAIGHTWAY_ENABLE": enable})
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip("the host has no MPI_THREAD_MULTIPLE")
    programs.well(done)
    assert result["state"] == "done", result


def test_a_silent_rank_is_not_waited_for(host, tmp_path):
    """Rank 0 waits in an unmodelled call for rank 1, which asks the time."""
    program = host.compile(programs.source("virtual_silent.c"))
    done, result = virtual(host, 3, [program, tmp_path / "file"], tmp_path,
                           timeout=40)
    programs.well(done)
    assert times(done) == pytest.approx(
        {"asked": 10 * one_way(0) + one_way(1000)}, abs=5)
    assert result["state"] == "done" and result["forced"] >= 1


# Ends ------------------------------------------------------------------------

def engines(folder):
    found = subprocess.run(["pgrep", "-f", f"serve.*{folder}"], text=True,
                           capture_output=True)
    return found.stdout.split()


@pytest.mark.parametrize("how", ["abort", "exit", "segv", "term"])
def test_ends_early(host, how, tmp_path):
    """Nothing of a job that ends badly is left."""
    program = host.compile(programs.source("profile_ends.c"))
    done, _ = virtual(host, 2, [program, how], tmp_path, timeout=40,
                      stragglers="kill")
    assert done.returncode != 0
    end = time.monotonic() + 5
    while engines(tmp_path) and time.monotonic() < end:
        time.sleep(0.1)
    assert not engines(tmp_path)


def test_no_model(host, tmp_path):
    program = host.compile(programs.source("virtual_times.c"))
    done = host.run(2, [program], env={
        "STRAIGHTWAY_WHATIF": str(tmp_path / "none.model")})
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines()
             if line.startswith("straightway")]
    assert len(lines) == 1 and "none.model" in lines[0], done.stderr


def test_broken_model(host, tmp_path):
    program = host.compile(programs.source("virtual_times.c"))
    done, _ = virtual(host, 2, program, tmp_path, more="cpu_speed zero")
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines()
             if line.startswith("straightway")]
    assert len(lines) == 1 and "line" in lines[0] and "zero" in lines[0]


def test_not_with_a_profile(host, tmp_path):
    program = host.compile(programs.source("virtual_times.c"))
    done, result = virtual(host, 2, program, tmp_path,
                           env={"STRAIGHTWAY_PROFILE": "on"})
    programs.well(done)
    assert done.stderr.count("nothing is profiled") == 1
    assert result["state"] == "done"
    assert not list(tmp_path.glob("*.swcap"))
