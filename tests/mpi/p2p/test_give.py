"""Blocks that are given away: the taker has what the giver wrote, by every way
to receive, under every MPI, with the library and without."""

import re
import shutil
import subprocess
import sys

import pytest
from harness.hosts import ROOT
from harness.programs import (needs_fortran, needs_mpi4py, rounds_for, run,
                              source, well)
from straightway import profile

ON = {"STRAIGHTWAY_P2P": "on"}
DEEP = pytest.mark.deep
ROUNDS = 16


def given(done):
    """(given, taken, by value), of a run."""
    told = re.search(r"blocks: (\d+) given, (\d+) taken, (\d+) went by value",
                     done.stderr)
    assert told, done.stderr
    return [int(n) for n in told.groups()]


@pytest.mark.parametrize("straightway", [True, False])
@pytest.mark.parametrize("n", [2, pytest.param(3, marks=pytest.mark.deep)])
def test_all_that_giving_promises(host, n, straightway):
    done = well(run(host, n, "give_cases", "all", straightway=straightway,
                    env=ON, timeout=200))
    if straightway:
        handed, taken, by_value = given(done)
        assert handed > 1000 and taken > 1000 and by_value > 0


@pytest.mark.parametrize("straightway", [True, False])
def test_a_wrong_give_changes_nothing(host, straightway):
    done = well(run(host, 2, "give_cases", "errors", straightway=straightway,
                    env=ON))
    for cause in ("not the beginning of a block", "given away", "fewer bytes"):
        assert (cause in done.stderr) == straightway, done.stderr


def test_more_bytes_than_an_int_counts(host):
    handed, _, _ = given(well(run(host, 2, "give_cases", "large", env=ON)))
    assert handed == 1


@pytest.mark.deep
@pytest.mark.parametrize("env", [{}, {"STRAIGHTWAY_P2P": "off"}, None])
def test_more_bytes_than_an_int_counts_go_by_value(host, env):
    well(run(host, 2, "give_cases", "large_copied", env=env, timeout=300,
             straightway=env is not None))


@pytest.mark.deep
def test_a_million_gives_take_no_memory(host):
    handed, taken, _ = given(well(run(host, 2, "give_cases", "many", env=ON,
                                      timeout=600)))
    assert min(handed, taken) >= 2 * 1000000


def test_who_has_a_block_outlives_its_killed_giver(host, tmp_path):
    told = tmp_path / "told"
    done = run(host, 3, "give_kill", told, env=ON)
    assert done.returncode != 0
    assert told.exists() and told.read_text() == "well", done.stderr


@pytest.mark.parametrize("n, threads", [
    (2, 1), (3, 1), (2, 2), pytest.param(4, 1, marks=DEEP),
    pytest.param(3, 4, marks=DEEP)])
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=DEEP)
                                       for seed in range(2, 12))])
def test_random_programs(host, n, threads, seed):
    rounds = rounds_for(host, n, ROUNDS)
    well(run(host, n, "give_random", seed, rounds, threads, straightway=False))
    done = well(run(host, n, "give_random", seed, rounds, threads, env=ON))
    assert min(given(done)) > 0


@pytest.mark.parametrize("env", [
    {"STRAIGHTWAY_NODE_SIZE": 2}, {"STRAIGHTWAY_AGENT": 1},
    {"STRAIGHTWAY_REFUSE": "memfd"}, {"STRAIGHTWAY_P2P": "off"},
    pytest.param({"STRAIGHTWAY_REFUSE": "map:9"}, marks=DEEP),
    pytest.param({"STRAIGHTWAY_REFUSE": "peerfd"}, marks=DEEP),
    pytest.param({"STRAIGHTWAY_ARENA": "off"}, marks=DEEP),
    pytest.param({"STRAIGHTWAY_ARENA_SIZE": "64M"}, marks=DEEP),
    pytest.param({"STRAIGHTWAY_SHOW": "eager"}, marks=DEEP)],
    ids=lambda env: "-".join(env))
def test_random_programs_where_something_is_missing(host, env):
    well(run(host, 4 if "STRAIGHTWAY_NODE_SIZE" in env else 2, "give_random",
             3, rounds_for(host, 4, ROUNDS), env={**ON, **env}))


@pytest.mark.parametrize("enable", [0, 1])
def test_a_profile_sees_sends_and_receives(host, enable, tmp_path):
    """What one rank sends or gives, the other receives or takes."""
    done = well(run(host, 2, "give_random", 3, 10, env={
        **ON, "STRAIGHTWAY_PROFILE": "on", "STRAIGHTWAY_PROFILE_REPORT": "off",
        "STRAIGHTWAY_ENABLE": enable,
        "STRAIGHTWAY_PROFILE_OUTPUT": tmp_path / "give.swcap"}))
    seen = profile.load(tmp_path / "give.swcap")
    calls = {t.label: t for t in seen.totals("operation")}
    if enable:
        handed, taken, _ = given(done)
        assert calls["straightway_give"].calls == handed > 0
        takes = calls["straightway_take"].calls
        assert 0 < takes
        assert calls["straightway_give"].sent > 4096 * handed
    else:
        assert "blocks:" not in done.stderr
        assert {"MPI_Isend", "MPI_Mprobe", "MPI_Mrecv"} <= {*calls}
    sent, received = (
        {(peer, rank.number) if what == "received" else (rank.number, peer):
         (messages, amount)
         for rank in seen.capture.ranks for kind, peer, messages, amount in zip(
             *(rank.table("peers")[name] for name in (
                 "kind", "peer", f"{what}_messages", f"{what}_bytes")))
         if kind == 0 and messages} for what in ("sent", "received"))
    assert sent == received


OWN_HEAP = """
#include "mpi/p2p/give_cases.c"
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t), __libc_free(void *);
extern void *__libc_memalign(size_t, size_t);
void *malloc(size_t n) { return __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
void free(void *p) { __libc_free(p); }
void *memalign(size_t a, size_t n) { return __libc_memalign(a, n); }
void *aligned_alloc(size_t a, size_t n) { return __libc_memalign(a, n); }
void *valloc(size_t n) { return __libc_memalign(4096, n); }
int posix_memalign(void **p, size_t a, size_t n)
{
    return (*p = __libc_memalign(a, n)) ? 0 : 12;
}
"""


def test_a_program_with_a_heap_of_its_own_gets_no_other_blocks(host):
    done = well(host.run(2, [host.compile(OWN_HEAP), "edges"],
                         env={"STRAIGHTWAY_STATS": "1"}))
    handed, _, by_value = given(done)
    assert handed == 0 and by_value > 0


STRICT = ["-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", "-c"]


@pytest.mark.parametrize("words", [
    ["-std=c99"], ["-std=c17", "-O0"], ["-x", "c++", "-std=c++11"],
    ["-x", "c++", "-std=c++20"]], ids=lambda words: words[-1])
def test_the_header_is_clean(one_host, words, tmp_path):
    include = subprocess.run([one_host.compilers["c"], "-show"], text=True,
                             capture_output=True, check=True).stdout.split()
    system = [word.replace("-I", "-isystem") for word in include
              if word.startswith("-I")]
    (tmp_path / "program").write_text(
        "#include <straightway_mpi.h>\n#include <straightway.h>\n"
        "int both(void **p, size_t *n, MPI_Comm c)\n{\n"
        "    return straightway_give(p, *n, 0, 0, c) ||\n"
        "        straightway_take(p, n, 0, 0, c, MPI_STATUS_IGNORE);\n}\n")
    language = [] if "-x" in words else ["-x", "c"]
    for compiler in "gcc", "clang":
        if shutil.which(compiler):
            subprocess.run(
                [compiler, *STRICT, *language, *words, *system,
                 f"-I{ROOT / 'include'}", tmp_path / "program", "-o",
                 tmp_path / "program.o"], check=True)


@needs_fortran
@pytest.mark.parametrize("straightway", [True, False])
def test_fortran(host, straightway):
    include = ROOT / "include"
    half = host.compile(include / "straightway_fortran.c", "-c", "-Wall",
                        "-Wextra", "-Werror")
    program = host.compile(
        include / "straightway_mpi.f90", source("give_fortran.f90"), "-xnone",
        half)
    done = well(host.run(2, [program], straightway=straightway,
                         env={"STRAIGHTWAY_STATS": "1"}))
    assert not straightway or given(done)[:2] == [60, 60]


@needs_mpi4py
@pytest.mark.parametrize("straightway", [True, False])
def test_arrays_of_numpy(host, straightway):
    program = [sys.executable, source("give_numpy.py")]
    done = well(host.run(2, program, straightway=straightway,
                         env={"STRAIGHTWAY_STATS": "1"}))
    assert not straightway or min(given(done)) > 0
