"""Where ranks ran: what crosses parts of the machine, and when other places are
advised. Every capture here has a matrix that is known to the byte."""

import pytest
from harness import captures
from harness.captures import MS, S
from harness.machines import Machine
from straightway import profile
from straightway.machine import domains, processors
from straightway.profile import findings, placement
from straightway.reporters import words

KIB = 1024
# On 2 nodes of 2 packages of 2 cores: what rank 0 sends to each other rank.
TO = {1: 5 * KIB, 2: 7 * KIB, 3: 11 * KIB, 4: 13 * KIB, 7: 17 * KIB}


def job_of(sent, ranks=8, node_ranks=4, time=100 * MS, **header):
    """{(from, to): bytes}; each sender moves data for `time`."""
    job = captures.Job(ranks, wall=10 * S, node_ranks=node_ranks, **header)
    for (a, b), size in sent.items():
        job.ranks[a].call("MPI_Send", 1, time, size=size, peer=b, waited=0)
    return job


def known(**header):
    return job_of({(0, b): size for b, size in TO.items()}, **header)


def load(job, tmp_path):
    return profile.load(job.write(tmp_path / "a.swcap"))


def bytes_of(p):
    found = {level: one.bytes for level, one in p.crossing.rows}
    return {**found, "inside": p.crossing.inside.bytes,
            "unknown": p.crossing.unknown.bytes}


def advice(job, tmp_path):
    return next((f for f in findings.find(load(job, tmp_path))
                 if f.kind == "placement"), None)


# Domains ----------------------------------------------------------------------

@pytest.mark.parametrize("machine, levels", [
    (Machine(cores=4), ("package", "numa", "cache", "core")),
    (Machine(2, 2, 2, 3, threads=2), ("package", "numa", "cache", "core")),
    (Machine(1, 2, 2, 2, l3_over_numa=True), ("package", "numa", "core"))])
def test_domains_tell_what_each_processor_lies_in(machine, levels):
    places = machine.places()
    lists = {kind: [processors.text(one) for one in
                    places["L3" if kind == "cache" else kind]]
             for kind in domains.KINDS}
    found = domains.read(lists)
    assert set(levels) >= set(found.levels) and found.levels[-1] == "core"
    for at, kind in enumerate(found.levels):
        groups = {}
        for cpu, path in found.paths.items():
            groups.setdefault(path[:at + 1], []).append(cpu)
        assert sorted(map(sorted, groups.values())) == sorted(
            processors.members(processors.parse(text))
            for text in lists[kind])
    for number in range(machine.count):
        for cpu in processors.members(machine.core(number)):
            assert found.core[cpu] == number


@pytest.mark.parametrize("lists", [
    {}, {"package": ["0-3"]}, {"core": ["0-"]}, {"core": ["0-1", "1-2"]},
    {"package": ["0-1", "1-2"], "core": ["0", "1", "2"]}])
def test_lists_that_are_no_tree_tell_nothing(lists):
    assert domains.read(lists) is None


# What crosses -----------------------------------------------------------------

def test_bytes_count_where_two_ranks_part(tmp_path):
    p = load(known().bind(), tmp_path)
    assert p.places.levels == ("node", "package", "core")
    assert p.places.paths[7] == (1, 1, 3)
    assert bytes_of(p) == {"node": TO[4] + TO[7], "package": TO[2] + TO[3],
                           "inside": TO[1], "unknown": 0}
    assert p.crossing.total == sum(TO.values())
    assert [text for text, _, _ in words.crossing(p)] == [
        "between nodes", "between packages of a node", "inside a package"]
    assert not words.places(p)


def test_numa_domains_lie_inside_packages(tmp_path):
    p = load(known(ranks=8, node_ranks=8).bind(2, 2, numas=2), tmp_path)
    assert p.places.shared == ("package", "numa")
    assert bytes_of(p) == {"package": TO[4] + TO[7], "numa": TO[2] + TO[3],
                           "inside": TO[1], "unknown": 0}
    assert words.crossing(p)[1][0] == "between NUMA domains of a package"


def test_a_rank_that_is_not_bound_has_no_place_in_its_node(tmp_path):
    job = known().bind()
    job.ranks[2].header["cpus"] = "0-3"
    p = load(job, tmp_path)
    assert p.places.paths[2] == (0,) and p.places.loose == [2]
    assert bytes_of(p) == {"node": TO[4] + TO[7], "package": TO[3],
                           "inside": TO[1], "unknown": TO[2]}
    assert words.places(p) == [
        "Rank 2 may run in several packages: the profile does not know what "
        "it sends across these."]


def test_a_rank_bound_to_a_package_has_no_core(tmp_path):
    job = known().bind()
    job.ranks[1].header["cpus"] = "0-1"
    p = load(job, tmp_path)
    assert p.places.paths[1] == (0, 0) and not p.places.loose
    assert bytes_of(p)["inside"] == TO[1]


def test_ranks_that_left_nothing_are_not_known(tmp_path):
    p = load(known(absent=[4]).bind(), tmp_path)
    assert bytes_of(p) == {"node": TO[7], "package": TO[2] + TO[3],
                           "inside": TO[1], "unknown": TO[4]}
    assert p.better(0.1) is None


def test_a_node_that_nobody_describes_is_dark(tmp_path):
    """Its first rank, which tells of the node, was killed."""
    sent = {(0, 1): KIB, (5, 6): 2 * KIB, (5, 0): 4 * KIB}
    p = load(job_of(sent, absent=[4]).bind(), tmp_path)
    assert bytes_of(p) == {"node": 4 * KIB, "package": 0, "inside": KIB,
                           "unknown": 2 * KIB}
    assert words.places(p) == [
        "The capture does not tell the places inside node1."]


def test_older_captures_tell_nodes_alone(tmp_path):
    p = load(known(), tmp_path)
    assert bytes_of(p) == {"node": TO[4] + TO[7], "unknown": 0,
                           "inside": TO[1] + TO[2] + TO[3]}
    assert not words.places(p)
    assert load(known(node_ranks=8), tmp_path).crossing is None


def test_ranks_that_share_everything_cross_nothing(tmp_path):
    p = load(known(node_ranks=8).bind(1, 8), tmp_path)
    assert p.places.shared == () and p.crossing is None
    assert p.better(0.1) is None


def test_a_region_has_no_matrix(tmp_path):
    job = known().bind()
    job.ranks[0].region("solve", 1, S)
    p = profile.load(job.write(tmp_path / "a.swcap"), region="solve")
    assert p.crossing is None and p.better(0.1) is None


def test_regions_tell_what_they_send_to_other_nodes(tmp_path):
    job = captures.Job(2, node_ranks=1)
    for rank in job.ranks:
        outer = rank.region("solve", 1, S)
        inner = rank.region("solve/halo", 1, S)
        rank.call("MPI_Send", 1, MS, size=KIB, region=outer, sent=KIB)
        rank.call("MPI_Send", 2, MS, size=KIB, region=inner, sent=2 * KIB,
                  sent_between=2 * KIB)
    found = {r.name: (r.sent, r.sent_between)
             for r in load(job, tmp_path).regions()}
    assert found == {"": (0, 0), "solve": (6 * KIB, 4 * KIB),
                     "solve/halo": (4 * KIB, 4 * KIB)}


# Advice -----------------------------------------------------------------------

def pairs(ranks, far, size=1 << 20):
    """Each rank exchanges with the one `far` from it."""
    return {(a, a ^ far): size for a in range(ranks)}


def test_advice_says_what_other_places_would_change(tmp_path):
    # Ranks r and r ^ 4 are on different nodes; nothing need cross.
    f = advice(job_of(pairs(8, 4)).bind(), tmp_path)
    assert f.title == "Ranks that exchange much are on different nodes"
    assert f.seconds == pytest.approx(0.1)
    assert f.evidence == {
        "level": "node", "moving_s": pytest.approx(0.1),
        "total_bytes": 8 << 20, "between_bytes": 8 << 20,
        "between_after_bytes": 0, "busiest_bytes": 4 << 20,
        "busiest_after_bytes": 0, "reorder": []}
    for told in ("8 MiB of 8 MiB go between nodes", "4 MiB of them through",
                 "on the same cores it is 0 bytes, and 0 bytes",
                 "straightway map CAPTURE --write place",
                 "(--map-by rankfile)", "straightway profile --trace"):
        assert told in f.text
    assert "--reorder" not in f.text


def test_advice_inside_a_node(tmp_path):
    f = advice(job_of(pairs(4, 2), ranks=4).bind(), tmp_path)
    assert f.evidence["level"] == "package"
    assert (f.evidence["between_bytes"], f.evidence["between_after_bytes"]) \
        == (4 << 20, 0)
    assert "on different packages" in f.title


def test_no_advice_where_blocked_is_the_best(tmp_path):
    assert not advice(job_of(pairs(8, 1)).bind(), tmp_path)
    everywhere = {(a, b): KIB for a in range(8) for b in range(8) if a != b}
    assert not advice(job_of(everywhere, time=20 * MS).bind(), tmp_path)


@pytest.mark.parametrize("more, told", [(10, False), (13, True)])
def test_no_advice_for_a_small_gain(more, told, tmp_path):
    """With ranks 0 and 2 on a node 200 bytes go between nodes; as it ran, twice
    so much `more`, and 10 % of that is the least that counts."""
    sent = {(0, 1): 100, (2, 3): 100, (0, 2): 100 + more, (1, 3): 100 + more}
    assert bool(advice(job_of(sent, ranks=4, node_ranks=2, time=S).bind(1, 2),
                       tmp_path)) == told


def test_no_advice_where_the_time_does_not_matter(tmp_path):
    assert advice(job_of(pairs(8, 4), time=101 * MS).bind(), tmp_path)
    assert not advice(job_of(pairs(8, 4), time=99 * MS).bind(), tmp_path)


def test_only_what_crosses_concerns_time(tmp_path):
    sent = {**pairs(8, 4, 1 << 20), (0, 1): 8 << 20}
    f = advice(job_of(sent, time=800 * MS).bind(), tmp_path)
    # 9 calls of 0.8 s over 8 ranks, half of whose bytes cross.
    assert f.seconds == pytest.approx(0.9 / 2)


def test_ranks_that_are_not_bound_may_change_nodes_alone(tmp_path):
    job = job_of(pairs(8, 4)).bind()
    for rank in job.ranks:
        rank.header["cpus"] = "0-3"
    f = advice(job, tmp_path)
    assert f.evidence["level"] == "node" and "on the same nodes" in f.text
    alone = job_of(pairs(4, 2), ranks=4).bind()
    alone.ranks[3].header["cpus"] = "0-3"
    assert not advice(alone, tmp_path)


def test_a_program_that_makes_a_grid_may_be_reordered(tmp_path):
    job = job_of(pairs(8, 4)).bind()
    for rank in job.ranks:
        rank.call("MPI_Cart_create", 1, MS)
        rank.call("MPI_Comm_split", 1, MS)
    f = advice(job, tmp_path)
    assert "The program calls MPI_Cart_create: if it allows new ranks" in f.text
    assert "straightway run --reorder" in f.text
    assert f.evidence["reorder"] == ["MPI_Cart_create"]


def test_a_replay_of_a_trace_tells_the_time(tmp_path):
    p = load(job_of(pairs(8, 4)).bind(), tmp_path)
    p.find_replayed = lambda: (2.0, 1.5)
    f = next(f for f in findings.find(p) if f.kind == "placement")
    assert f.text.endswith("A replay of this trace predicts 1.50 s in place of "
                           "2.00 s.")
    assert (f.evidence["replayed_before_s"],
            f.evidence["replayed_after_s"]) == (2.0, 1.5)


@pytest.mark.parametrize("mpi, option", [
    ("Open MPI v4.1.4", "--rankfile"), ("MPICH Version: 4.2", "-bind-to user"),
    ("Intel(R) MPI Library 2021.19", "-machinefile")])
def test_the_option_is_the_launchers(mpi, option, tmp_path):
    assert f"({option})" in advice(
        job_of(pairs(8, 4), mpi=mpi).bind(), tmp_path).text


def test_a_rank_that_is_missing_leaves_no_advice(tmp_path):
    assert not advice(job_of(pairs(8, 4), absent=[5]).bind(), tmp_path)


# For the launcher -------------------------------------------------------------

def test_the_slots_are_the_cores_on_which_ranks_ran(tmp_path):
    job = job_of(pairs(4, 2), ranks=4, node_ranks=2).bind(2, 4)
    for rank, cpu in zip(job.ranks, (6, 1, 3, 0)):
        rank.header["cpus"] = str(cpu)
    slots, before = placement.seats(load(job, tmp_path))
    assert slots.levels == ("node", "package", "core")
    assert slots.paths == [(0, 0, 1), (0, 1, 6), (1, 0, 0), (1, 0, 3)]
    assert (slots.cpus, slots.cores) == ([1, 6, 0, 3], [1, 6, 0, 3])
    assert before == [1, 0, 3, 2]
    assert slots.names == ("node0", "node1")


def test_ranks_that_share_a_core_have_no_slot_of_their_own(tmp_path):
    job = job_of(pairs(4, 2), ranks=4).bind()
    job.ranks[1].header["cpus"] = "0"
    slots, before = placement.seats(load(job, tmp_path))
    assert slots.levels == ("node", "package", "core") and not slots.cpus
    assert before == [0, 1, 2, 3]


def test_the_heaviest_partners_of_a_dense_matrix(tmp_path):
    sent = {(a, b): 1000 + (a * 7 + b * 5) % 11 for a in range(8)
            for b in range(8) if a != b}
    p = load(job_of(sent), tmp_path)
    few = placement.traffic(p, partners=2)
    assert len(few.sent) == 16
    for a in range(8):
        assert sorted(few.sent[pair] for pair in few.sent if pair[0] == a) \
            == sorted(sent[a, b] for b in range(8) if b != a)[-2:]
    assert placement.traffic(p).sent == sent
    assert placement.traffic(p, "messages").total == 56
