"""A profile where the system refuses something: memory, files, calls.

The program runs as it would on the host alone. What the system leaves
possible of the profile is there, and one line says what is not.
"""

import os
import sys

import pytest
from harness import jobs, programs
from straightway import capture
from test_profile import QUIET, known, pairs_of, sums

PAGE = {"STRAIGHTWAY_PROFILE_REPORT": "on", "STRAIGHTWAY_PROFILE_PAGE": "on",
        "STRAIGHTWAY_PYTHON": sys.executable}
LINE = "straightway: "
PATH = "to see it: straightway report "
WAITING = "waiting cannot be told from moving"
UNSEEN = "straightway where will not see this job"


def ours(done):
    """The lines that are ours, without those of the page."""
    return [line for line in done.stderr.splitlines()
            if line.startswith(LINE)]


def profiled(host, argv, folder, env=None):
    """Run well under a profile; (our lines, the capture or None)."""
    path = folder / "run.swcap"
    done = host.run(2, argv, timeout=120, env={
        "STRAIGHTWAY_PROFILE": "on", "STRAIGHTWAY_ENABLE": "off",
        "STRAIGHTWAY_PROFILE_OUTPUT": str(path), **QUIET, **(env or {})})
    programs.well(done)
    return ours(done), capture.read(path) if path.exists() else None


# Limits ----------------------------------------------------------------------

def limited(host, folder, what, n, env=None):
    """As profiled, without the line that names the file; skips where the
    host alone does not bear the limit."""
    program = host.compile(programs.source("profile_limits.c"))
    argv = [program, what, n]
    alone = host.run(2, argv, straightway=False, timeout=120)
    if alone.returncode:
        pytest.skip(f"the host alone fails: {alone.stderr[:100]}")
    lines, found = profiled(host, argv, folder, env)
    return [line for line in lines if PATH not in line], found


def whole(found):
    assert not found.problems and len(found.ranks) == 2
    for rank in found.ranks:
        assert sums(rank)["MPI_Bcast"][0] == 1000


@pytest.mark.parametrize("room", [64 << 10, 2 << 20])
def test_memory(host, room, tmp_path):
    """With some memory the capture is whole; with none there is no file."""
    lines, found = limited(host, tmp_path, "memory", room)
    if room >= 2 << 20:
        assert not lines
        whole(found)
    elif not found:
        line, = lines
        assert "2 of 2 ranks have no profile" in line and "memory" in line


def test_file_size(host, tmp_path):
    """A file that may not be as long as it must: no signal ends the program,
    and a file without any rank is not left there."""
    (tmp_path / "no").mkdir()
    lines, found = limited(host, tmp_path / "no", "file", 1000,
                           PAGE)
    line, = lines
    assert "File too large (0 of 2 ranks are there)" in line
    assert not found
    # Room for one rank, and not for two.
    _, found = limited(host, tmp_path, "file", 1 << 20)
    whole(found)
    n = 3 * (tmp_path / "run.swcap").stat().st_size // 4
    lines, found = limited(host, tmp_path, "file", n)
    assert "File too large (1 of 2 ranks are there)" in lines[0]
    assert [rank.number for rank in found.ranks] == [0]
    assert sums(found.ranks[0])["MPI_Bcast"][0] == 1000


def test_descriptors(host, tmp_path):
    """A program that has opened all the files it may."""
    lines, found = limited(host, tmp_path, "descriptors", 200, PAGE)
    assert not lines and found.symbols
    whole(found)
    (tmp_path / "no").mkdir()
    lines, found = limited(host, tmp_path / "no", "descriptors-for-good", 200,
                           PAGE)
    line, = lines
    assert "Too many open files" in line and not found


# Calls -----------------------------------------------------------------------


@pytest.mark.parametrize("names, said", [
    (["memfd", "flock"], [UNSEEN, WAITING]), (["cma"], []), (["exec"], []),
    (["spawn"], [])], ids=["memory", "cma", "exec", "spawn"])
def test_calls(host, names, said, tmp_path):
    """Calls that a container's seccomp filter refuses. Where no other program
    may start, the lines about the profile stand in for the page."""
    refuse = host.compile(programs.source("refuse.c"))
    program = host.compile(programs.source("profile_known.c"))
    argv = [refuse, *names, "--", program, tmp_path]
    try:
        alone = host.run(2, argv, straightway=False, timeout=20)
    except jobs.JobTimeout:     # Open MPI 4 tries again and again
        pytest.skip("the host alone hangs")
    if alone.returncode:
        pytest.skip(f"the host alone fails: {alone.stderr[:100]}")
    lines, found = profiled(host, argv, tmp_path, PAGE)
    assert bool(found.symbols) == (names[0] not in ("exec", "spawn"))
    assert len(lines) == len(said)
    for line, words in zip(lines, said):
        assert words in line
    assert not found.problems
    for rank in found.ranks:
        procedures, pairs = known(tmp_path / f"known.{rank.number}")
        assert sums(rank) == procedures and pairs_of(rank) == pairs


@pytest.mark.parametrize("name", ["device.swcap", "link.swcap"])
def test_devices_are_not_files(host, tmp_path, name):
    """A capture replaces nothing but a file, even if the user may do it."""
    device = tmp_path / "device.swcap"
    os.mkfifo(device)
    (tmp_path / "link.swcap").symlink_to(device)
    program = host.compile(programs.source("profile_limits.c"))
    (tmp_path / "tmp").mkdir()
    done = host.run(2, [program, "file", 1 << 20], env={
        "STRAIGHTWAY_PROFILE": "on", **QUIET,
        "TMPDIR": str(tmp_path / "tmp"),
        "STRAIGHTWAY_PROFILE_OUTPUT": str(tmp_path / name)})
    programs.well(done)
    line = ours(done)[0]
    assert "it is there, and is no file" in line
    assert device.is_fifo() and (tmp_path / "link.swcap").is_symlink()
    found, = (tmp_path / "tmp").glob("*/*.swcap")
    whole(capture.read(found))
