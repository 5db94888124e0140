"""The tree of a machine: nesting, slots, groups by figures, ranks' places."""

import random

import pytest
from harness import machines
from straightway.machine import groups, job, survey, tree, tree_slots
from straightway.machine.readers import furnish, hwloc, number_nodes
from straightway.machine.tree import Crossing, Device, Place
from straightway.ranges import ranges


def parts(*arguments):
    found = tree_slots.slots(*arguments)
    return found.levels, found.paths, found.names, found.cpus


def read(machine, name="alpha"):
    return hwloc.parse(machines.xml(machine, name), "x")


def cluster(*switches, node=None):
    """Switches with so many nodes each."""
    found = number_nodes(Place("cluster", parts=[
        Place("switch", name=f"s{i}", parts=[
            Place("node", name=f"n{i}{k}") for k in range(count)])
        for i, count in enumerate(switches)]))
    return furnish(found, node) if node else found


# Nesting ----------------------------------------------------------------------

def test_places_nest_by_their_processors():
    node = tree.nest(Place("node", cpus=0xff), [
        Place("thread", 3, cpus=8), Place("numa", 1, cpus=0xf0),
        Place("cache", level=3, cpus=0xff), Place("package", cpus=0xff),
        Place("numa", 0, cpus=0x0f), Place("core", cpus=0x0c)])
    (package,) = node.parts
    (cache,) = package.parts
    assert [p.title() for p in cache.parts] == ["numa 0", "numa 1"]
    assert [p.title() for p in node.cover(8).walk()] == ["thread 3"]
    assert node.cover(0x18) is node         # of equal ones the outermost


@pytest.mark.parametrize("cpus", [0x06, 0x1e, 0x100])
def test_places_that_cross_are_refused(cpus):
    with pytest.raises(Crossing):
        tree.nest(Place("node", cpus=0xff), [
            Place("core", cpus=3), Place("core", cpus=0xc),
            Place("cache", level=3, cpus=0xf), Place("core", cpus=cpus)])


def test_nearness_of_devices():
    node = read(machines.GPUS)
    found = {d.name: d for d, _ in survey.devices(node)}
    near = {gpu: ([a.name for a in adapters], how)
            for gpu in ("card0", "card1", "card2")
            for adapters, how in [survey.nearest_adapters(node, found[gpu])]}
    assert near == {"card0": (["mlx5_0"], "PCI switch"),
                    "card1": (["mlx5_0"], "package 0"),
                    "card2": (["mlx5_1"], "package 1")}
    # Two functions of one device.
    one, two = (Device("network", "x", address=f"0000:07:00.{i}")
                for i in (0, 1))
    node.devices += [one, two]
    assert tree.nearness(node, one, two) == "PCI switch"


# Slots ------------------------------------------------------------------------

@pytest.mark.parametrize("name, levels, last", [
    ("desktop", "node package numa cache core", (0, 0, 0, 0, 3)),
    ("caches", "node package numa cache core", (0, 0, 0, 7, 63)),
    ("halves", "node package numa core", (0, 1, 3, 23)),
    ("domains", "node package numa cache core", (0, 1, 7, 15, 63))])
def test_slots_of_a_node(name, levels, last):
    found, paths, names, cpus = parts(read(machines.ALL[name]))
    assert names == ("alpha",) and cpus == list(range(len(paths)))
    assert found == tuple(levels.split()) and paths[-1] == last
    assert len(set(paths)) == len(paths) == machines.ALL[name].count


def test_slots_of_a_cluster():
    network = cluster(2, 3, node=read(machines.TWO_BY_FOUR))
    levels, paths, names, cpus = parts(network)
    assert names == ("n00", "n01", "n10", "n11", "n12")
    assert cpus == list(range(8)) * 5
    assert levels == ("switch 1", "node", "package", "numa", "cache", "core")
    assert len(set(paths)) == 5 * 8 and paths == sorted(paths)
    assert paths[-1] == (1, 4, 9, 9, 9, 39)
    levels, paths, _, cpus = parts(cluster(2, 3))
    assert cpus is None
    assert levels == ("switch 1", "node")
    assert paths == [(0, 0), (0, 1), (1, 2), (1, 3), (1, 4)]
    levels, paths, *_ = parts(read(machines.DESKTOP), "thread")
    assert levels[-1] == "thread" and len(paths) == 8


def test_slots_where_some_cores_share_a_cache():
    node = tree.nest(Place("node", cpus=0xff), [
        Place("package", cpus=0xff), Place("cache", level=2, cpus=0x03),
        Place("cache", level=2, cpus=0x18),
        *(Place("core", cpus=1 << c) for c in range(8))])
    levels, paths, _, cpus = parts(node)
    assert levels == ("node", "package", "cache", "core")
    assert paths == sorted(set(paths)) and sorted(cpus) == list(range(8))
    shared = [c for path, c in zip(paths, cpus) if path[2] == 0]
    assert shared == [0, 1]


def test_slots_below_switches_of_different_depth():
    network = cluster(1, 1)
    network.parts[0] = Place("switch", name="pod", parts=[network.parts[0]])
    levels, paths, *_ = parts(network)
    assert levels == ("switch 1", "switch 2", "node")
    assert paths == [(0, 0, 0), (1, 1, 1)]


# Groups by figures ----------------------------------------------------------

def times(node, cpus, by, seed=1):
    """Round trips by the smallest place of two cores, 5 % apart."""
    draw = random.Random(seed)

    def ns(a, b):
        place = node.cover(1 << a | 1 << b)
        key = f"L{place.level}" if place.kind == "cache" else place.kind
        return by[key] * draw.uniform(0.96, 1.04)

    found = [[None] * len(cpus) for _ in cpus]
    for i, a in enumerate(cpus):
        for k, b in enumerate(cpus[:i]):
            found[i][k] = found[k][i] = ns(a, b)
    return found


FAR = {"L3": 40, "numa": 100, "package": 160, "node": 400}


def compare(machine, by):
    node = read(machine)
    cpus = groups.cores(node, node.cpus)
    return groups.compare(node, cpus, times(node, cpus, by))


def test_figures_show_the_groups_that_the_system_claims():
    levels, unseen = compare(machines.DOMAINS, FAR)
    assert [level.claimed for level in levels] == ["L3", "numa", "package"]
    assert [len(level.groups) for level in levels] == [16, 8, 2]
    assert not unseen
    assert levels[0].inside[1] < 42 and levels[0].outside[0] > 95


def test_claims_without_figures_and_figures_without_claims():
    levels, unseen = compare(machines.DOMAINS, dict(FAR, numa=40))
    assert [level.claimed for level in levels] == ["numa", "package"]
    assert list(unseen) == ["L3"]
    # Pairs of cores that no place of the tree holds.
    node = read(machines.DESKTOP)
    cpus = groups.cores(node, node.cpus)
    matrix = [[None if a == b else 30 if a // 2 == b // 2 else 90
               for b in range(4)] for a in range(4)]
    (level,), unseen = groups.compare(node, cpus, matrix)
    assert level.groups == [(0, 1), (2, 3)] and not level.claimed
    assert not unseen


def test_alike_figures_are_no_groups():
    assert compare(machines.DESKTOP, {"package": 50, "L3": 50, "numa": 50,
                                      "node": 50}) == ([], {})
    assert groups.compare(read(machines.DESKTOP), [0], [[None]]) == ([], {})


def test_cores_are_those_that_the_process_may_use():
    node = read(machines.DESKTOP)       # core c has the processors c, c + 4
    assert groups.cores(node, 0b11100010) == [1, 6, 7]


# Ranks ----------------------------------------------------------------------

def judge(node, *cpus, memory=None):
    """[(status, finding)] of ranks with these processors."""
    found = [job.Rank(i, 0, "alpha", c, -1 if memory is None else memory)
             for i, c in enumerate(cpus)]
    return [(check.status, check.finding) for check in job.checks(
        node, found, lambda numbers: str(ranges(numbers)))]


def test_ranks_with_cores_of_their_own_are_well():
    node = read(machines.TWO_BY_FOUR)
    assert judge(node, 1, 2, 16, 32, memory=None) == [
        ("ok", "ranks 0-3: nothing looks like a mistake")]


def test_ranks_on_one_core():
    node = read(machines.DESKTOP)
    found = judge(node, 0x11, 0x11, 0x22)
    assert found[0] == ("degraded", "bound to the same core: ranks 0-1 on "
                        "core 0")
    assert judge(node, 0x01, 0x10)[0] == (
        "note", "bound to hardware threads of the same core: ranks 0-1 on "
        "core 0")
    assert judge(node, 0x01, 0x01, 0x02)[1][0] == "degraded"    # 3 on 2


def test_more_ranks_than_processors():
    node = read(machines.TWO_BY_FOUR)
    found = judge(node, *[0xff] * 9)
    assert ("degraded", "ranks 0-8 share 8 processors") in found
    found = judge(read(machines.DESKTOP), *[0xff] * 6)
    assert ("note", "ranks 0-5 share 4 cores") in found
    assert ("note", "ranks 0-5: not bound") in found


def test_an_idle_package():
    found = judge(read(machines.TWO_BY_FOUR), 1, 2)
    assert found == [("note", "ranks 0-1 use 1 of 2 packages")]
    assert judge(read(machines.TWO_BY_FOUR), 1)[0][0] == "ok"


def test_ranks_across_parts_of_two_domains():
    found = judge(read(machines.TWO_BY_FOUR), 0b00011000, 0b11100000)
    assert found == [("note", "rank 0: bound across parts of two packages or "
                      "more")]
    assert judge(read(machines.TWO_BY_FOUR), 0x0f, 0xf0)[0][0] == "ok"


def test_memory_of_another_domain():
    node = read(machines.TWO_BY_FOUR)
    found = judge(node, 1, 16, memory=1)
    assert found == [("degraded", "rank 0: memory of numa 1, processors of "
                      "another domain")]


@pytest.mark.parametrize("cpus, text", [
    (0x01, "a thread of core 0"), (0x11, "core 0"), (0xff, "the whole node"),
    (0x33, "2 cores of the node"), (0x103, "2 cores of the node"),
    (0x100, "not known")])
def test_words_for_a_binding(cpus, text):
    node = read(machines.DESKTOP)
    assert job.bound_to(node, cpus) == text


def test_words_for_a_binding_inside_packages():
    node = read(machines.TWO_BY_FOUR)
    said = [job.bound_to(node, cpus) for cpus in (0x0f, 0x06, 0x18)]
    assert said == ["package 0", "2 cores of package 0",
                    "2 cores of the node"]


@pytest.mark.parametrize("variables, rank, first", [
    ({}, None, True),
    ({"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_LOCAL_RANK": "1"}, 3,
     False),
    ({"PMI_RANK": "0", "MPI_LOCALRANKID": "0"}, 0, True),
    ({"PMI_RANK": "2"}, 2, True),
    ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, None, True),   # a script
    ({"SLURM_PROCID": "1", "SLURM_NTASKS": "4", "SLURM_STEP_ID": "0",
      "SLURM_LOCALID": "1"}, 1, False),
    ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_STEP_ID": "0"}, None,
     True)])
def test_the_rank_is_the_launchers(monkeypatch, variables, rank, first):
    for name in (*job._RANK, *job._LOCAL, "SLURM_PROCID", "SLURM_NTASKS",
                 "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert job.rank() == rank and job.is_first_here() is first


@pytest.mark.parametrize("numbers, end, gaps", [
    ((), 4, "0-3"), ((0, 1, 2, 3), 4, ""), ((1, 5), 8, "0, 2-4, 6-7"),
    ((2, 9), 4, "0-1, 3"), ((), 0, ""), ((0,), 10 ** 9, "1-999999999")])
def test_gaps_of_ranges(numbers, end, gaps):
    assert str(ranges(numbers).gaps(end)) == gaps
