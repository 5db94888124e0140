"""Calls that straightway tune leaves to the MPI: all members leave the same
ones, and results stay right. Files that differ or are damaged serve nothing."""

import random
import re

import pytest
from harness.hosts import COMMAND, TESTS
from harness.programs import kept_alone, rounds_for, run, same_logs, well
from straightway import native
from straightway.bench import tuned, tuning, ways
from straightway.collectives import COLLECTIVES
from straightway.machine import hosts

TUNED = "faster so, by straightway tune"
DIFFER = "the ranks of a node have read different files of ways"


def entry(host, ranks, lines):
    """The text of a file's entry for this MPI on this machine."""
    probe = COMMAND.resolve().parent.parent / \
        "lib" / "straightway" / "straightway-probe"
    machine = native.answer(probe, ["--services"])["machine"]
    found, = hosts.find(str(host.library))[:1]
    head = ways.near_head(tuned.host_name(found), ranks, machine)
    return "\n".join([head, *lines, ""])


def written(folder, text, name="ways"):
    file = folder / name
    file.write_text(f"{ways.HEAD}\n{text}")
    return file


@pytest.fixture
def program(host):
    return host.compile(TESTS / "mpi" / "job" / "solver.c", "-lm")


def rows(host, program, env, n=3):
    """{collective: its row in --stats}, and all of stderr."""
    done = host.run(n, program if isinstance(program, list) else [program],
                    timeout=120, env={"STRAIGHTWAY_STATS": 1, **env})
    assert done.returncode == 0, done.stderr
    return {row.split()[1]: row for row in done.stderr.splitlines()
            if re.match(r"straightway: (Allreduce|Alltoall) ", row)}, \
        done.stderr


def drawn(host, seed, n):
    """Entries for communicators of 2 to n ranks, in which each collective
    changes its side with its size."""
    draw, text = random.Random(seed), ""
    for ranks in range(2, n + 1):
        lines = [f"eager_max {draw.choice([0, 1024, 100000])}"]
        for one in COLLECTIVES:
            for name in (one.name, f"I{one.name}", f"{one.name}_init"):
                sizes = [0, *sorted(draw.sample(
                    [1 << k for k in range(21)], 4))]
                lines.append(ways.line(name, [
                    (size, draw.choice(["host", "ours"])) for size in sizes]))
        text += entry(host, ranks, lines)
    return text


def change_sides(host, n, calls, folder, *options):
    arguments = [70 + n, rounds_for(host, n, calls), *options]
    kept = kept_alone(host, n, "random_collectives", arguments, "calls right")
    file = written(folder, drawn(host, n, n))
    done = well(run(host, n, "random_collectives", *arguments, "--log",
                    folder / "log", env={"STRAIGHTWAY_WAYS": file}),
                "calls right")
    same_logs(kept, folder, n, ordered=not options)
    assert TUNED in done.stderr, done.stderr


@pytest.mark.parametrize("n", [2, 3])
def test_random_calls_change_sides(host, n, tmp_path):
    change_sides(host, n, 600, tmp_path)


def test_so_do_calls_that_go_on(host, tmp_path):
    """Of both sides at a time, on one communicator."""
    if host.name in ("impi", "debian-openmpi"):
        pytest.skip("this MPI's own give wrong data")
    change_sides(host, 2, 400, tmp_path, "--form", "mixed", "--meet")


def test_calls_are_left_to_the_host(host, program, tmp_path):
    file = written(tmp_path, entry(host, 3, ["allreduce 0:host"]))
    found, said = rows(host, program, {"STRAIGHTWAY_WAYS": file})
    assert re.search(f"ours 0 +host [1-9].*{TUNED}", found["Allreduce"]), said
    assert "host 0" in found["Alltoall"], said
    assert str(file) not in said
    for env in ({"STRAIGHTWAY_TUNED": "off"}, {}):
        # Without, and for another number of ranks.
        found, said = rows(host, program, {"STRAIGHTWAY_WAYS": file, **env},
                           3 if env else 2)
        assert "host 0" in found["Allreduce"], said


def test_the_size_tells_the_side(host, program, tmp_path):
    # Blocks of 32 KiB.
    for text, words in (("alltoall 0:ours 65536:host", "host 0"),
                        ("alltoall 0:host 65536:ours", "ours 0")):
        file = written(tmp_path, entry(host, 3, [text]))
        found, said = rows(host, program, {"STRAIGHTWAY_WAYS": file})
        assert words in found["Alltoall"], said


def test_each_collective_with_a_size_goes_by_it(host, tmp_path):
    """Half of the calls have blocks of 1 KiB, the others of 64 KiB."""
    names = [form + one.name for one in COLLECTIVES for form in ("", "I")
             if one.lower not in tuning.UNSIZED and one.lower != "barrier"
             and not one.lower.startswith("neighbor_")]
    file = written(tmp_path, entry(
        host, 3, [ways.line(name, [(0, "ours"), (8192, "host")])
                  for name in names]))
    said = well(run(host, 3, "sized_calls",
                    env={"STRAIGHTWAY_WAYS": file, "STRAIGHTWAY_STATS": 1}),
                "done").stderr
    for name in names:
        assert re.search(rf": {name} +calls 24 +ours 12 +host 12 \({TUNED}",
                         said, re.IGNORECASE), (name, said)


def test_ranks_with_different_files_use_none(host, program, tmp_path):
    one = written(tmp_path, entry(host, 3, ["allreduce 0:host"]), "one")
    two = written(tmp_path, entry(host, 3, ["alltoall 0:host"]), "two")
    turn = tmp_path / "turn"
    found, said = rows(host, [
        "sh", "-c", f"mkdir {turn} 2>/dev/null && "
        f"export STRAIGHTWAY_WAYS={two}; exec $0", program],
        {"STRAIGHTWAY_WAYS": one})
    assert turn.exists() and said.count(DIFFER) == 1
    for row in found.values():
        assert "host 0" in row, said


@pytest.mark.parametrize("text, words", [
    ("bcats 0:host\n", "a line begins with"),
    ("allreduce 0:leaders\n", "host or ours"),
    ("eager_max all\n", "a number of bytes")])
def test_a_damaged_file_is_said_once(host, program, tmp_path, text, words):
    file = written(tmp_path, entry(host, 3, ["alltoall 0:host", text]))
    found, said = rows(host, program, {"STRAIGHTWAY_WAYS": file})
    assert said.count(f"{file}:4: ") == 1 and words in said
    assert said.count(str(file)) == 1
    for row in found.values():
        assert "host 0" in row, said


def test_a_setting_is_tuned_unless_it_is_given(host, program, tmp_path):
    file = written(tmp_path, entry(host, 3, ["show_after 1000000000"]))
    for env, shows in (({}, False), ({"STRAIGHTWAY_SHOW_AFTER": 0}, True),
                       ({"STRAIGHTWAY_TUNED": "off"}, True)):
        # Of the usual 32 bytes the program moves enough.
        _, said = rows(host, program, {
            "STRAIGHTWAY_WAYS": file, "STRAIGHTWAY_SHOW_AFTER": "", **env})
        shown = int(re.search(r"shown to peers (\d+) KiB", said)[1])
        assert bool(shown) == shows, (env, said)
