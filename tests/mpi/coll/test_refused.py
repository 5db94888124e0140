"""What the system refuses in the midst of a job, and a common zone that is
full, cost no correctness: collectives give the host's bytes."""

import shutil

import pytest
from harness import spread
from harness.programs import kept_alone, run, same_logs, source, well

FORMS = ["blocking", "immediate",
         pytest.param("persistent", marks=pytest.mark.deep)]
# From this call of a service on, the system refuses it.
MIDST = ["cma:9", "cma:60", "map:9", "room", "room:40", "room,cma:60",
         "room,cma", "show:5,share:9",
         "futex:20,huge:3,punch:2,dump:3,thread:2,place:2"]

# Starts a program with what only some ranks are refused.
SOME = """r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
[ $((r % 2)) = 0 ] && export STRAIGHTWAY_REFUSE="$1"
shift
exec "$@"
"""


def compare(host, n, folder, seed, env, form="blocking", calls=300, first=()):
    """random_collectives, as the host's blocking calls give it."""
    options = [seed, calls, "--max", 300000]
    meet = [] if form == "blocking" else ["--form", form, "--meet"]
    kept = kept_alone(host, n, "random_collectives", options, "calls right")
    program = host.compile(source("random_collectives.c"), "-lm", "-lpthread")
    argv = [*first, program, *options, *meet, "--log", folder / "log"]
    well(host.run(n, list(map(str, argv)), env=env, timeout=120),
         "calls right")
    same_logs(kept, folder, n, ordered=form == "blocking")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("refused", spread.some(MIDST))
def test_refusals_in_the_midst(host, form, refused, tmp_path):
    compare(host, 2, tmp_path, 31, {"STRAIGHTWAY_REFUSE": refused}, form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("refused", ["room,cma:40", "room:30"])
def test_members_differ_in_what_they_are_refused(host, form, refused,
                                                 tmp_path):
    compare(host, 3, tmp_path, 32, {"STRAIGHTWAY_SHOW": "off"}, form, 150,
            ["sh", "-c", SOME, "sh", refused])


@pytest.mark.parametrize("refused", ["", "cma:20", "room"])
@pytest.mark.parametrize("n", [2, 3])
def test_a_full_zone(host, n, refused):
    """The program has filled it, and the memory of ours is not shown."""
    well(run(host, n, "zone_full", 50, 30000, env={
        "STRAIGHTWAY_ARENA_SIZE": "64m", "STRAIGHTWAY_SHOW": "off",
        "STRAIGHTWAY_REFUSE": refused}))


@pytest.mark.parametrize("show", ["off", "lazy"])
@pytest.mark.parametrize("n", [2, 3])
def test_a_rank_drops_its_rights(host, n, show):
    """MPICH and its kin cannot bear that alone: their own copies fail."""
    well(run(host, n, "rights_dropped", 50000,
             env={"STRAIGHTWAY_SHOW": show}))


@pytest.mark.parametrize("pool", ["64k", "400k"])
def test_without_any_room_all_members_learn_of_it(host, pool):
    done = well(run(host, 3, "no_room", env={
        "STRAIGHTWAY_POOL_SIZE": pool, "STRAIGHTWAY_REFUSE": "room"}))
    assert not done.stdout.startswith("0 were")


# Address space, locked memory. (For threads see test_collectives.py.)
LIMITS = [f"--as={1500 << 20}", f"--memlock={64 << 10}"]
# Of a limited address space Straightway takes up to a quarter.
ENOUGH = {LIMITS[0]: f"--as={1125 << 20}"}


def limited(host, limit, argv):
    """A command under a limit that is enough for the host alone."""
    prlimit = shutil.which("prlimit")
    if not prlimit:
        pytest.skip("no prlimit command")
    if host.run(2, [prlimit, ENOUGH.get(limit, limit), *argv],
                straightway=False).returncode:
        pytest.skip("the host alone needs more")
    return [prlimit, limit]


@pytest.mark.parametrize("limit", LIMITS)
def test_many_communicators_with_little(host, limit):
    """Their nonblocking collectives are under way all at once."""
    argv = [str(host.compile(source("zone_full.c"))), "500", "1000"]
    well(host.run(2, [*limited(host, limit, argv), *argv]))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("limit", LIMITS)
def test_random_programs_with_little(host, limit, form, tmp_path):
    program = host.compile(source("random_collectives.c"), "-lm", "-lpthread")
    first = limited(host, limit, [str(program), "33", "1"])
    compare(host, 2, tmp_path, 33, {}, form, 150, first)
