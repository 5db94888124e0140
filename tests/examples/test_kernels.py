"""The kernels give exact answers, alone and with Straightway, and notice when
they do not."""

import re

import pytest
from harness import spread
from harness.hosts import ROOT

KERNELS = ROOT / "examples" / "kernels"
# Arguments, so small that a run takes milliseconds.
TINY = {"ft": (16, 4), "is": (4096, 4), "mg": (16, 2), "cg": (256, 2),
        "alltoall": (4096, 7), "planewave": (8, 3, 10)}
EACH = pytest.mark.parametrize("name", TINY)
LINE = re.compile(r"(\w+): (\d+) ranks, [^,]+, \d+\.\d{6} s, "
                  r"((?:NOT )?VERIFIED)\n"
                  r"\1: (\d+) iterations of \d+\.\d{3} us, communication "
                  r"\d+\.\d{6} s, result (\S+)\n")


def program(host, name):
    # MPICH 4.0's header lets gcc take MPI_STATUSES_IGNORE for an array.
    return host.compile(KERNELS / f"{name}.c", "-std=c17", "-Wall", "-Wextra",
                        "-Werror", "-Wno-stringop-overflow", "-lm")


def outcome(done):
    """(name, ranks, verdict, iterations, result)"""
    found = LINE.search(done.stdout)
    assert found, done.stdout + done.stderr
    return found.groups()


def result(host, name, n, *, straightway, source=None):
    run = host.run(n, [source or program(host, name), *TINY[name]],
                   straightway=straightway, check=True)
    said = outcome(run)
    assert said[:4] == (name, str(n), "VERIFIED", str(TINY[name][-1]))
    return said[4]


def same(one, other):
    """To the digits that another order of summing leaves alone."""
    if "." not in one:
        return one == other
    return float(one) == pytest.approx(float(other), rel=1e-9)


@EACH
@pytest.mark.parametrize("n", [2, pytest.param(4, marks=pytest.mark.deep)])
def test_same_results_alone_and_with_straightway(host, name, n):
    assert same(result(host, name, n, straightway=False),
                result(host, name, n, straightway=True))


@EACH
def test_a_spoilt_number_is_noticed(host, name):
    done = host.run(2, [program(host, name), *TINY[name], "spoil"])
    assert done.returncode and outcome(done)[2] == "NOT VERIFIED"


def test_results_do_not_depend_on_the_ranks(one_host):
    """Of those whose result is a number of physics. mg needs two for that:
    one rank goes on to a coarser grid."""
    for name, n in ("ft", 4), ("mg", 8), ("cg", 4), ("planewave", 4):
        assert same(result(one_host, name, 2, straightway=False),
                    result(one_host, name, n, straightway=False)), name


def test_one_rank_is_enough(one_host):
    for name in TINY:
        result(one_host, name, 1, straightway=False)


# What communication that goes wrong would look like.
MUTATIONS = [
    ("ft", "whole = slab + (size_t)zy * n + d * planes;",
     "whole = slab + (size_t)zy * n + (size - 1 - d) * planes;"),
    ("is", "first[++whose] = b;", "first[++whose] = b + rank;"),
    ("is", "MPI_Alltoallv(out, sending, to,",
     "to[rank] += sending[rank] > 1; MPI_Alltoallv(out, sending, to,"),
    ("mg", "exchange(g, g->u);", "if (g != grids) exchange(g, g->u);"),
    ("mg", "come[1], count, type, high[d], 1,",
     "come[0], count, type, high[d], 1,"),
    ("cg", "part[i] += come[i];", "part[i] += part[i];"),
    ("cg", "int across = col / ratio * columns + row * ratio + col % ratio;",
     "int across = rank;"),
    ("alltoall", "out = in, in = swap;", "(void)swap;"),
    ("planewave", "back ? whole : part, back ? part : whole,",
     "back ? whole : part, back ? blocks : whole,"),
    ("planewave", "    across(state, m, 1);", "    across(state, m, -1);"),
]


@pytest.mark.parametrize("name, right, wrong", MUTATIONS,
                         ids=[f"{m[0]}{i}" for i, m in enumerate(MUTATIONS)])
def test_wrong_communication_is_noticed(one_host, name, right, wrong):
    text = (KERNELS / f"{name}.c").read_text()
    assert right in text
    mutant = one_host.compile(text.replace(right, wrong), "-lm")
    done = one_host.run(4, [mutant, *TINY[name]], straightway=False)
    assert done.returncode and outcome(done)[2] == "NOT VERIFIED"


@pytest.mark.parametrize("name, n, args", spread.some([
    ("ft", 3, (16, 4)), ("ft", 2, (24, 4)), ("ft", 2, (16, 0)),
    ("ft", 2, (16, 4, "soil")), ("is", 3, (4096, 4)), ("is", 2, ("many",)),
    ("mg", 3, (16, 2)), ("mg", 8, (4, 2)), ("cg", 3, (256, 2)),
    ("cg", 8, (16, 2)), ("alltoall", 2, (12, 4)), ("alltoall", 2, (0,)),
    ("planewave", 3, (8, 3, 10)), ("planewave", 2, (8, 0)),
    ("micro", 2, ("reduce",)), ("micro", 2, ("all", 12))]))
def test_says_what_it_wants(one_host, name, n, args):
    done = one_host.run(n, [program(one_host, name), *args],
                        straightway=False)
    assert done.returncode and f"usage: {name} [" in done.stderr
    assert not LINE.search(done.stdout)


MICRO = re.compile(r"micro: (\d+) ranks, (\w+) (\d+) bytes, (\d+\.\d+) us "
                   r"\((\d+\.\d+) to (\d+\.\d+)\), \d+ calls, VERIFIED")


@pytest.mark.parametrize("straightway", [False, True],
                         ids=["alone", "ours"])
def test_micro(host, straightway):
    done = host.run(2, [program(host, "micro"), "all", 16384, 3],
                    straightway=straightway, check=True)
    found = MICRO.findall(done.stdout)
    assert [f[:3] for f in found] == [("2", o, "16384") for o in (
        "alltoall", "allreduce", "bcast")]
    assert all(0 < float(low) <= float(middle) <= float(high)
               for *_, middle, low, high in found)


def test_micro_goes_through_all_sizes(one_host):
    done = one_host.run(2, [program(one_host, "micro"), "allreduce", 0, 1],
                        check=True, straightway=False)
    assert [int(f[2]) for f in MICRO.findall(done.stdout)] == [
        2 ** i for i in range(3, 23)]


def test_micro_notices_a_spoilt_number(one_host):
    done = one_host.run(2, [program(one_host, "micro"), "all", 64, 1,
                            "spoil"])
    assert done.returncode and done.stdout.count("NOT VERIFIED") == 3
