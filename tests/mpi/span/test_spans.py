"""Random programs of collective calls over several nodes give the host's
results, byte for byte, and spans really serve them."""

import collections
import random
import re
import warnings

import pytest
from harness import nodes, spread
from harness.programs import (AT_ONCE, kept_alone, run, same_logs, source,
                              well)

PROGRAM = "random_collectives"
COLLECTIVES = {
    "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv",
    "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Reduce",
    "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan"}
# Open MPI's collectives for several nodes gather wrong data with datatypes that
# have gaps. And it takes each node for a machine with a core for each rank.
OPEN_MPI = {"OMPI_MCA_coll_han_priority": "0",
            "OMPI_MCA_mpi_yield_when_idle": "1"}
# The table of ways depends on the cores of this machine.
FORCED = {"STRAIGHTWAY_SPAN_WAY": "leaders"}
# Of so few calls all may have an operation that no kernel knows.
FEW = 24
# Ranks of each node, and how the ranks are placed: their node, or a word.
PLACEMENTS = {
    "blocked": ([2, 2], "block"),
    "cyclic": ([2, 2], "cyclic"),
    "random": ([2, 2, 2], "random:5"),
    "unequal": ([3, 1, 2], "block"),
    "single": ([1, 3], [1, 0, 1, 1]),
    "four": ([2, 2, 2, 2], "block"),
}


def calls_for(host, few):
    """MPICH oversubscribed takes milliseconds a call on its own."""
    return few // 4 if "mpich" in host.name else few


def drawn(folder, most):
    """{collective: (apart, maybe near)}: the calls of all ranks, from their
    logs. A communicator of more than `most` ranks spans nodes; a smaller one,
    of two ranks and more, may lie on one."""
    found = collections.Counter()
    for log in folder.glob("log.*"):
        for line in log.read_text().splitlines():
            _, name, place, _, _ = line.split()
            size = int(place.partition("/")[2])
            if size > 1:
                found[name.removesuffix("_c"), size > most] += 1
    return {name: (found[name, True], found[name, False])
            for name in COLLECTIVES}


def ours(done):
    """{collective: the calls that were ours}, from the statistics."""
    return collections.Counter(
        {name: int(count) for name, count in re.findall(
            r"straightway: (\w+) +calls \d+  ours (\d+)", done.stderr)})


def served_by_spans(done, folder, most, excused=(), share=0.6):
    """Assert that spans served calls of each collective, and most of all."""
    calls, mine = drawn(folder, most), ours(done)
    apart = sum(it[0] for it in calls.values())
    near = sum(it[1] for it in calls.values())
    surely = sum(mine[name] for name in calls) - near
    assert apart > 100 and surely >= share * apart, \
        f"of {apart} calls between nodes spans served {surely} at least"
    for name, (far, close) in calls.items():
        assert name in excused or far < FEW or mine[name] > close, \
            f"{name}: {mine[name]} calls ours, {far} between nodes, {close} " \
            "maybe on one"


def over_virtual_nodes(host, n, size, seed, calls, folder, env=None,
                       share=0.6, excused=()):
    arguments = [seed, calls_for(host, calls)]
    kept = kept_alone(host, n, PROGRAM, arguments, "calls right")
    done = well(run(host, n, PROGRAM, *arguments, "--log", folder / "log",
                    env={"STRAIGHTWAY_NODE_SIZE": size, **(env or {})}),
                "calls right")
    same_logs(kept, folder, n)
    served_by_spans(done, folder, size, excused, share)
    return done


def once_over_nodes(host, placement, arguments, log, straightway, env):
    ranks, where = PLACEMENTS[placement]
    program = host.compile(source(f"{PROGRAM}.c"), "-lm", "-lpthread", "-ldl")
    return nodes.run_on_nodes(
        host, ranks, [program, *arguments, "--log", log], placement=where,
        straightway=straightway, timeout=120,
        env={**AT_ONCE, **OPEN_MPI, **(env or {})},
        left="fail" if straightway else "allow")


def over_nodes(host, placement, seed, calls, folder, env=None, share=0.6):
    """A host makes communicators by node, so it runs on the same nodes. Where
    it fails alone, what the program itself knows of its data must do."""
    nodes.need()
    ranks, where = PLACEMENTS[placement]
    for kind in ("alone", "ours"):
        (folder / kind).mkdir()
    alone = once_over_nodes(host, placement, [seed, calls],
                            folder / "alone" / "log", False, env)
    done = well(once_over_nodes(host, placement, [seed, calls],
                                folder / "ours" / "log", True, env),
                "calls right")
    if alone.returncode == 0:
        same_logs(folder / "alone", folder / "ours", sum(ranks))
    else:
        warnings.warn(f"{host.name} alone fails: {alone.stderr[-300:]}",
                      stacklevel=2)
    # Prefixes of nodes that take turns are not the host's order of ranks.
    excused = () if where == "block" else ("Scan", "Exscan")
    served_by_spans(done, folder / "ours", max(ranks), excused, share)


@pytest.mark.parametrize("n, size, way", [
    (3, 2, "leaders"), (4, 2, "lanes"), (5, 2, "leaders"),
    *(pytest.param(*one, marks=pytest.mark.deep)
      for one in ((4, 3, "leaders"), (6, 3, "lanes")))])
def test_virtual_nodes_give_the_hosts_bytes(host, n, size, way, tmp_path):
    over_virtual_nodes(host, n, size, 20 + n, 1200, tmp_path,
                       {"STRAIGHTWAY_SPAN_WAY": way})


@nodes.able
@pytest.mark.parametrize("placement", spread.some(PLACEMENTS))
def test_test_nodes_give_the_hosts_bytes(host, placement, tmp_path):
    over_nodes(host, placement, 31, calls_for(host, 240), tmp_path, FORCED)


# Three ranks on one node and two on the other: a root need not be a gate.
UNEQUAL = {"STRAIGHTWAY_NODE_SIZE": 3, "STRAIGHTWAY_SPAN_WAY": "leaders",
           "STRAIGHTWAY_STATS": "1"}
ROOTED = ["Gather", "Gatherv", "Scatter", "Scatterv"]


def through_gates(done):
    """(KiB that gates sent and received, those of them that they copied)."""
    return tuple(map(int, re.search(
        r"gates moved (\d+) KiB, (\d+) KiB of them through copies",
        done.stderr).groups()))


@pytest.mark.parametrize("name", spread.some(ROOTED))
def test_large_blocks_give_the_hosts_bytes(host, name, tmp_path):
    arguments = [51, calls_for(host, 160), "--only", name, "--large", "--max",
                 1600000]
    kept = kept_alone(host, 5, PROGRAM, arguments, "calls right")
    done = well(run(host, 5, PROGRAM, *arguments, "--log", tmp_path / "log",
                    env=UNEQUAL), "calls right")
    same_logs(kept, tmp_path, 5)
    moved, copied = through_gates(done)
    assert 0 < copied < moved


@pytest.mark.unable("debian-mpich", why="this build aborts when the program "
                    "tries its operations out")
@pytest.mark.parametrize("name", spread.some(ROOTED))
def test_large_blocks_go_from_and_to_their_places(host, name):
    """Gates copy nothing that lies in their members' arenas. Without these
    they have to."""
    arguments = [7, 40, "--only", name, "--large", "--max", 3000000,
                 "--plain"]
    share = {}
    for shown, setting in ((True, {"STRAIGHTWAY_SHOW_AFTER": "0"}),
                           (False, {"STRAIGHTWAY_SHOW": "off"})):
        done = well(run(host, 5, PROGRAM, *arguments,
                        env={**UNEQUAL, **setting}), "calls right")
        moved, copied = through_gates(done)
        assert moved > 10000
        share[shown] = copied / moved
    assert share[True] < 0.15 < 0.2 < share[False]


@pytest.mark.parametrize("ints", [10, 50000])
def test_blocks_larger_than_their_room_are_cut(host, ints):
    well(run(host, 5, "cut", 3, ints, env=UNEQUAL), "all is well")


@nodes.able
@pytest.mark.parametrize("name", spread.some(ROOTED))
def test_large_blocks_over_test_nodes(host, name):
    nodes.need()
    program = host.compile(source(f"{PROGRAM}.c"), "-lm", "-lpthread", "-ldl")
    ranks, where = PLACEMENTS["unequal"]
    done = well(nodes.run_on_nodes(
        host, ranks, [program, 61, calls_for(host, 60), "--only", name,
                      "--large", "--max", 1600000], placement=where,
        timeout=120, env={**AT_ONCE, **OPEN_MPI, **FORCED}), "calls right")
    assert through_gates(done)[0] > 1000


VERSION = """
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    puts(text);
}
"""


def drawn_ways(host, seed, folder):
    """A file of ways, in which each collective changes its way with its size.
    Calls of all ways meet on one communicator, and on its lanes. Reduce is the
    host's, at all sizes."""
    said = host.run(1, [host.compile(VERSION)], straightway=False).stdout
    kind = ("openmpi" if "Open MPI" in said else
            "intel" if "Intel" in said else "mpich")
    version = re.search(r"\d+(\.\d+)+[a-z\d]*", said)[0]
    draw, lines = random.Random(seed), ["Reduce 0:host"]
    for name in sorted(COLLECTIVES - {"Reduce"}):
        sizes = [0, *sorted(draw.sample([1 << k for k in range(21)], 5))]
        lines.append(f"{name} " + " ".join(
            f"{size}:{draw.choice(['host', 'leaders', 'lanes', 'lanes'])}"
            for size in sizes))
    file = folder / "ways"
    file.write_text(f"straightway ways 1\n[{kind}-{version} default nodes=2 "
                    "ranks=1]\n" + "\n".join(lines) + "\n")
    return {"STRAIGHTWAY_WAYS": file}


@pytest.mark.parametrize("n, size, seed", [
    (4, 2, 1), *(pytest.param(n, size, seed, marks=pytest.mark.deep)
                 for n, size in [(4, 2), (5, 3), (6, 3), (8, 2)]
                 for seed in range(2, 8))])
def test_ways_may_change_with_each_size(host, n, size, seed, tmp_path):
    done = over_virtual_nodes(host, n, size, 50 + seed, 1200, tmp_path,
                              drawn_ways(host, seed, tmp_path), share=0.4,
                              excused=["Reduce"])
    assert not re.search(r"Reduce .*over nodes \d", done.stderr)


def forced(seed):
    return {"STRAIGHTWAY_SPAN_WAY": ("leaders", "lanes")[seed % 2]}


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(200, 206))
@nodes.able
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_long_programs_over_test_nodes(host, placement, seed, tmp_path):
    over_nodes(host, placement, seed, calls_for(host, 1600), tmp_path,
               forced(seed))


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(300, 304))
@pytest.mark.parametrize("n, size", [(4, 2), (5, 4), (6, 5), (7, 3),
                                     (8, 4), (9, 2), (12, 4)])
def test_long_programs_over_virtual_nodes(host, n, size, seed, tmp_path):
    over_virtual_nodes(host, n, size, seed, 8000, tmp_path, forced(seed))


@pytest.mark.parametrize("service", spread.some([
    "memfd", "map:3", "peerfd", "cma", "futex", "topology"]))
def test_a_refused_service_costs_no_correctness(host, service, tmp_path):
    arguments = [41, calls_for(host, 600)]
    kept = kept_alone(host, 4, PROGRAM, arguments, "calls right")
    well(run(host, 4, PROGRAM, *arguments, "--log", tmp_path / "log",
             env={"STRAIGHTWAY_NODE_SIZE": 2, "STRAIGHTWAY_REFUSE": service}),
         "calls right")
    same_logs(kept, tmp_path, 4)
