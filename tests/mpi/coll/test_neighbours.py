"""Neighbourhood collectives give the host's bytes, over random topologies,
types and counts, and are really served by Straightway."""

import pytest
from harness.programs import accelerated, rounds_for, run, well

DEEP = pytest.mark.deep
ROUNDS = 40
# MPICH 5.0 reads many pieces at once from the other process, at times more
# than the system takes ("process_vm_readv failed (errno 22)").
HOSTS = {"MPIR_CVAR_CH4_CMA_ENABLE": 0}
SETTINGS = [
    {"STRAIGHTWAY_EAGER_MAX": 64},
    *(pytest.param(env, marks=DEEP) for env in (
        {"STRAIGHTWAY_EAGER_MAX": 100000, "STRAIGHTWAY_ARENA_THRESHOLD": 4096},
        {"STRAIGHTWAY_REFUSE": "cma"},
        {"STRAIGHTWAY_P2P_MIN": 192})),
]


def compare(host, n, seed, rounds, most=100000, form="blocking", env=None,
            share=0.45):
    """The program makes every call on both sides, and compares."""
    arguments = [seed, rounds_for(host, n, rounds), most, form]
    done = well(run(host, n, "random_neighbours", *arguments,
                    env={**HOSTS, **(env or {})}))
    # Every communicator has a topology, and its ways could be learned.
    assert "no topology" not in done.stderr, done.stderr
    ours, made = accelerated(done, nonblocking=form != "blocking")
    assert made > 0 and ours >= share * made, \
        f"only {ours} of {made} calls were served by Straightway"


@pytest.mark.parametrize("n", [3, *(pytest.param(n, marks=DEEP)
                                    for n in (2, 4))])
def test_random_neighbourhoods_give_the_hosts_bytes(host, n):
    # A communicator of one rank stays with the host.
    compare(host, n, n, ROUNDS, share=0.2)


@pytest.mark.parametrize("form", ["immediate", "persistent"])
@pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=DEEP)])
def test_several_collectives_go_on_at_a_time(host, n, form):
    compare(host, n, 20 + n, ROUNDS, form=form, share=0.2)


@pytest.mark.parametrize("n", [2, 3])
def test_what_ends_while_neighbourhood_collectives_go_on(host, n):
    ours, made = accelerated(well(run(host, n, "near_ends")),
                             nonblocking=True)
    assert ours >= 0.9 * made > 0, f"only {ours} of {made} calls"


@pytest.mark.parametrize("env", SETTINGS, ids=lambda env: list(env)[0][12:])
def test_settings_give_the_hosts_bytes(host, env):
    compare(host, 2, 7, ROUNDS, env=env, share=0.2)


@pytest.mark.parametrize("service", [
    "memfd", *(pytest.param(service, marks=DEEP)
               for service in ("map", "map:3", "peerfd", "memfd,cma"))])
def test_a_refused_service_costs_no_correctness(host, service):
    compare(host, 2, 8, ROUNDS // 2, env={"STRAIGHTWAY_REFUSE": service},
            share=0)


@pytest.mark.parametrize("form", ["blocking", "immediate", "persistent"])
def test_a_full_zone_costs_no_correctness(host, form):
    compare(host, 3, 10, ROUNDS // 2, form=form, share=0, env={
        "STRAIGHTWAY_SHOW": "off", "STRAIGHTWAY_REFUSE": "room,cma:40"})


def test_virtual_nodes_give_the_hosts_bytes(host):
    compare(host, 4, 9, ROUNDS // 2, env={"STRAIGHTWAY_NODE_SIZE": 2}, share=0)


@DEEP
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_many_random_neighbourhoods_give_the_hosts_bytes(host, n, seed):
    compare(host, n, seed, 300, most=1000 if seed % 2 else 100000,
            form=("blocking", "immediate", "persistent")[seed % 3], share=0.2)
