"""straightway.h is found in three ways, in an installation that has moved, too:
pkg-config, CMake's find_package and the option --cflags."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from harness import patience
from harness.hosts import COMMAND

PROGRAM = """
#include <straightway.h>
#include <stdio.h>
int main(void)
{
    printf("%d of %d\\n", straightway_version(), STRAIGHTWAY_VERSION);
    return 0;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(program LANGUAGES C)
find_package(Straightway 0.1 REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE straightway::straightway)
"""


@pytest.fixture(params=["in place", "moved"])
def prefix(request, tmp_path):
    """The installation, or what of it tells of the headers in another place."""
    here = COMMAND.resolve().parent.parent
    if request.param == "in place":
        return here
    there = tmp_path / "moved"
    for name in "include", "share/pkgconfig", "share/cmake":
        shutil.copytree(here / name, there / name)
    (there / "bin").mkdir()
    shutil.copy(COMMAND, there / "bin")
    return there


def run(*words, **changes):
    done = patience.run(list(map(str, words)), timeout=60, text=True,
                        capture_output=True, env={**os.environ, **changes})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def flags_of_command(prefix):
    return run(prefix / "bin" / "straightway", "--cflags")


def flags_of_pkg_config(prefix):
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config")
    return run("pkg-config", "--cflags", "straightway",
               PKG_CONFIG_PATH=str(prefix / "share" / "pkgconfig"))


def check(program):
    alone = run(program).split(" of ")
    loaded = run(COMMAND, "run", program).split(" of ")
    assert alone[0] == "0" and loaded[0] == loaded[1].strip() != "0"


@pytest.mark.parametrize("way", ["command", "pkg_config"])
def test_a_compiler_gets_the_folder(prefix, tmp_path, way):
    flags = globals()[f"flags_of_{way}"](prefix).split()
    folder = pathlib.Path(flags[0].removeprefix("-I"))
    assert len(flags) == 1 and folder.samefile(prefix / "include")
    (tmp_path / "program.c").write_text(PROGRAM)
    run("cc", *flags, tmp_path / "program.c", "-o", tmp_path / "program")
    check(tmp_path / "program")


def test_cmake_finds_the_package(prefix, tmp_path):
    cmake = shutil.which("cmake") or f"{sys.prefix}/bin/cmake"
    (tmp_path / "program.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    build = tmp_path / "build"
    run(cmake, "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    cache = (build / "CMakeCache.txt").read_text()
    assert f"Straightway_DIR:PATH={prefix}/share/cmake/Straightway" in cache
    run(cmake, "--build", build)
    check(build / "program")


def test_a_version_to_come_is_not_found(tmp_path):
    cmake = shutil.which("cmake") or f"{sys.prefix}/bin/cmake"
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.replace("0.1", "99.0"))
    (tmp_path / "program.c").write_text(PROGRAM)
    done = subprocess.run(
        [cmake, "-S", tmp_path, "-B", tmp_path / "build",
         f"-DCMAKE_PREFIX_PATH={COMMAND.resolve().parent.parent}"], text=True,
        capture_output=True)
    assert done.returncode and "99.0" in done.stderr


def test_a_missing_header_is_named(tmp_path):
    """A build folder has the command and no headers."""
    (tmp_path / "bin").mkdir()
    shutil.copy(COMMAND, tmp_path / "bin")
    done = subprocess.run(
        [tmp_path / "bin" / "straightway", "--cflags"], text=True,
        capture_output=True)
    assert done.returncode == 1 and not done.stdout
    assert "include/straightway.h is missing" in done.stderr
