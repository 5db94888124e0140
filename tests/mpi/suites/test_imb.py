"""Intel's benchmarks, built to check their data, run to their end and find no
defect. What fails with us must fail on the host alone, too."""

import re

import pytest
from harness import suites

# Each program's own list names its benchmarks, those too that it leaves out
# unless they are named.
PROGRAMS = ["MPI1", "NBC", "RMA", "EXT", "MPI4"]
# A row of numbers, with one that is not nought at its end.
DEFECTS = re.compile(r"[\d. ]* (?!0+\.0+)\d+\.\d+ *")
SHORT = ["-iter", 20, "-time", 0.2, "-msglog", "0:18"]


def of(host, name):
    """The program and the names of its benchmarks."""
    program = suites.IMB.program(host, name)
    done = host.run(1, [program, "-list"], straightway=False, check=True)
    _, _, listed = done.stdout.partition(f"IMB-{name}:\n")
    names = re.findall(r"^ {4}(\S+)", listed, re.M)
    assert names, done.stdout
    return program, names


def defects(text):
    """Lines of results whose last column counts defects, above nought."""
    found, counts = [], False
    for line in text.splitlines():
        words = line.split()
        if "#bytes" in line or "#repetitions" in line:
            counts = bool(words) and words[-1] == "defects"
        elif counts and DEFECTS.fullmatch(line):
            found.append(line)
    return found


def wrong(done):
    found = defects(done.stdout)
    if done.returncode or found or \
            "All processes entering MPI_Finalize" not in done.stdout:
        return "\n".join([f"exit status {done.returncode}", *found[:5],
                          done.stdout[-3000:], done.stderr[-3000:]])
    return None


@suites.three
@pytest.mark.deep
@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_defects(host, name, n):
    program, names = of(host, name)
    suites.compare(host, n, [program, *SHORT, "-npmin", n, *names], wrong,
                   timeout=1800)


@suites.three
@pytest.mark.deep
def test_threads_find_no_defects(host):
    program, names = of(host, "MT")

    def fails(done):
        if done.returncode or "threads: 3" not in done.stdout or \
                "CHECK FAILURES" in done.stdout:
            return f"exit status {done.returncode}: {done.stdout[-3000:]}"
        return None

    suites.compare(host, 2, [program, "-thread_level", "multiple", "-check",
                             "true", "-count", "1,64,4096,65536", "-repeat",
                             50, *names],
                   fails, timeout=1800, env={"OMP_NUM_THREADS": 3})
