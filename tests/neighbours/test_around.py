"""Tools that run a program, between `straightway run` and the program, and
before both."""

import re
import shutil
import sys
from pathlib import Path

import pytest

DEEP = pytest.mark.deep
# A tool: its command, and the package of Debian that has it.
TOOLS = {
    "strace": (["strace", "-f", "-o", "/dev/null"], "strace"),
    "gdb": (["gdb", "-q", "-batch", "-ex", "run", "-ex", "quit $_exitcode",
             "--args"], "gdb"),
    "stdbuf": (["stdbuf", "-oL"], "coreutils"),
    "ltrace": (["ltrace", "-o", "/dev/null"], "ltrace"),
    "perf": (["perf", "record", "-q", "-o", "/dev/null"], "linux-perf"),
    "heaptrack": (["heaptrack", "-o", "heaptrack"], "heaptrack"),
    "fakeroot": (["fakeroot"], "fakeroot"),
    "bwrap": (["bwrap", "--dev-bind", "/", "/"], "bubblewrap"),
    "setarch": (["setarch", "-R"], "util-linux"),
}
SHORT = ["strace", "gdb"]
# A frame of a library that is neither valgrind's nor libc's.
OTHERS = re.compile(r"\(in (?!\S*(?:valgrind|libc\.so))")
VALGRIND = ["valgrind", "--leak-check=full", "--log-file=valgrind.%p"]


def needs(command, package):
    if not shutil.which(command):
        pytest.skip(f"no {command} here (apt-get install {package})")


@pytest.mark.parametrize("place", ["inside", "around"])
@pytest.mark.parametrize("name", [*SHORT, *(
    pytest.param(one, marks=DEEP) for one in TOOLS if one not in SHORT)])
def test_a_program_runs_under_a_tool(ordinary, name, place, tmp_path):
    words, package = TOOLS[name]
    needs(name, package)
    env = {"HOME": tmp_path}
    if place == "inside":
        ordinary.same([], words, cwd=tmp_path, env=env)
    else:
        ordinary.same(words, cwd=tmp_path, env=env)


def test_valgrind_ends_and_finds_no_error_of_ours(ordinary, tmp_path):
    needs("valgrind", "valgrind")
    ordinary.same([], VALGRIND, cwd=tmp_path)
    logs = [path.read_text() for path in tmp_path.glob("valgrind.*")]
    assert len(logs) >= 2
    for log in logs:
        for error in re.split(r"==\d+== \n", log):
            inner, _, caller = error.split("Address 0x")[0].partition("sw_")
            if caller and not OTHERS.search(inner):
                assert " loss record " in error, error


@DEEP
def test_one_rank_under_valgrind_works_with_one_that_is_not(ordinary):
    """They have no memory in common, or valgrind would look through the large
    pool of the other."""
    needs("valgrind", "valgrind")
    half = ["sh", "-c", 'case ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} in 0) exec '
            'valgrind -q --log-file=/dev/null "$0";; *) exec "$0";; esac']
    ordinary.same([], half, served=False)


@DEEP
def test_a_namespace_for_each_rank_costs_the_gain_and_no_result(ordinary):
    """The ranks may not read each other's memory, as in some containers."""
    needs("unshare", "util-linux")
    ordinary.same(["unshare", "--user", "--map-root-user"], served=False)


@DEEP
def test_py_spy_samples_a_program_and_changes_no_result(host, tmp_path):
    """py-spy is static: no library can be loaded into it, so that `straightway
    run` comes after it."""
    py_spy = Path(sys.executable).parent / "py-spy"
    if not py_spy.exists() or not host.mpi4py:
        pytest.skip("no py-spy, or no mpi4py for this MPI")
    program = [host.python, "-m", "mpi4py.bench", "ringtest", "-n", "10000"]
    samples = [py_spy, "record", "-f", "raw", "-o", "samples", "--"]
    done = host.run(2, [*samples, *host.program_line(program)],
                    straightway=False, cwd=tmp_path, check=True)
    assert "time for" in done.stdout
    assert "ringtest" in (tmp_path / "samples").read_text()
    refused = host.run(2, [*samples, *program], cwd=tmp_path)
    assert refused.returncode and "py-spy ... straightway run" in refused.stderr
