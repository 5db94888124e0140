"""Where ranks are patient, every call of the host's gives the host's bytes,
errors and statuses, whatever each rank was told."""

import pytest
from harness.programs import (kept_alone, rounds_for, run, same_logs, source,
                              well)

# Every call is the host's, in its patient form.
HOSTS = {"STRAIGHTWAY_PATIENCE": "on", "STRAIGHTWAY_COLLECTIVES": "off",
         "STRAIGHTWAY_P2P": "off", "STRAIGHTWAY_RMA": "off"}
BESIDE = {"STRAIGHTWAY_PATIENCE": "on"}
NODES = {"STRAIGHTWAY_PATIENCE": "on", "STRAIGHTWAY_NODE_SIZE": "2"}
STILL = {**HOSTS, "STRAIGHTWAY_REFUSE": "timer"}
WAYS = {"host": HOSTS, "beside": BESIDE, "nodes": NODES, "still": STILL}

# Starts a program with what only the odd ranks are told, or the first one.
EACH = """r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
[ $((r % 2)) = 1 ] && export STRAIGHTWAY_PATIENCE=$1
[ "$r" = 0 ] && export STRAIGHTWAY_PATIENCE=$2
shift 2
exec "$@"
"""


def ways(*names):
    return pytest.mark.parametrize("env", [WAYS[n] for n in names], ids=names)


def collectives(host, n, folder, env, form="blocking", calls=300, first=()):
    options = [40 + n, calls, "--max", 100000]
    kept = kept_alone(host, n, "random_collectives", options, "calls right")
    meet = [] if form == "blocking" else ["--form", form, "--meet"]
    program = host.compile(source("random_collectives.c"), "-lm", "-lpthread")
    argv = [*first, program, *options, *meet, "--log", folder / "log"]
    well(host.run(n, list(map(str, argv)), env=env, timeout=300),
         "calls right")
    same_logs(kept, folder, n, ordered=form == "blocking")


@ways("host", "beside", "nodes", "still")
@pytest.mark.parametrize("n", [2, 4])
def test_collectives_give_the_hosts_bytes(host, n, env, tmp_path):
    collectives(host, n, tmp_path, env, calls=100 // n)


@pytest.mark.parametrize("odd, first", [
    ("on", "auto"), ("on", "off"), ("auto", "on"), ("off", "off")])
def test_ranks_are_told_different_things(host, odd, first, tmp_path):
    """They agree, or the blocking form of one waits for ever."""
    collectives(host, 3, tmp_path, {**HOSTS, "STRAIGHTWAY_PATIENCE": "auto"},
                calls=60, first=["sh", "-c", EACH, "sh", odd, first])


@ways("host", "nodes")
@pytest.mark.parametrize("n", [2, 4])
def test_messages_give_the_hosts_bytes(host, n, env, tmp_path):
    arguments = [50 + n, rounds_for(host, n, 20)]
    kept = kept_alone(host, n, "random_p2p", arguments, "right",
                      excused=["no MPI_THREAD"])
    well(run(host, n, "random_p2p", *arguments, "--log", tmp_path / "log",
             env=env), "messages right")
    same_logs(kept, tmp_path, n)


def test_windows_of_the_host_give_its_bytes(host, tmp_path):
    arguments = [60, 6]
    kept = kept_alone(host, 2, "random_rma", arguments, "all is well")
    well(run(host, 2, "random_rma", *arguments, "--log", tmp_path / "log",
             env=HOSTS))
    same_logs(kept, tmp_path, 2)


@ways("host", "beside")
def test_attributes_are_copied_alike(host, env, tmp_path):
    well(run(host, 2, "attributes", 20, tmp_path / "alone",
             straightway=False))
    well(run(host, 2, "attributes", 20, tmp_path / "ours", env=env))
    for rank in range(2):
        assert (tmp_path / f"ours.{rank}").read_text() == \
            (tmp_path / f"alone.{rank}").read_text()


@ways("host", "nodes")
def test_duplicates_are_the_hosts(host, env, tmp_path):
    """Their names, topologies, error handlers, info; of communicators of every
    kind."""
    well(run(host, 3, "duplicates", tmp_path / "alone", straightway=False))
    well(run(host, 3, "duplicates", tmp_path / "ours", env=env))
    for rank in range(3):
        assert (tmp_path / f"ours.{rank}").read_text() == \
            (tmp_path / f"alone.{rank}").read_text()


@ways("host", "beside", "nodes")
def test_a_wait_for_a_message_goes_on_with_a_file(host, env, tmp_path):
    well(run(host, 4, "file_and_message", tmp_path / "file", env=env),
         "all written")


@ways("host", "beside")
def test_callbacks_sleep_as_long_as_they_ask(host, env, tmp_path):
    well(run(host, 4, "callbacks_sleep", env=env), "31 sleeps, 0 cut short")
