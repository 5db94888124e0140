"""The call sites' Python lines, under every Python that this machine has."""

import glob
import os
import shutil
import sys
from pathlib import Path

import pytest
from harness import patience, spread
from harness.hosts import ROOT

SOURCES = Path(__file__).parent / "python"


def pythons():
    """{"3.11.7": path}: this one, those on the path, those of pyenv."""
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    found = {}
    for path in [sys.executable,
                 *(shutil.which(f"python3.{n}") for n in range(9, 15)),
                 *sorted(glob.glob(f"{pyenv}/versions/3.*/bin/python3"))]:
        if not path:
            continue
        done = patience.run(
            [path, "-c", "import sys, ctypes; "
             "print('%d.%d.%d' % sys.version_info[:3], "
             "sys.version_info >= (3, 9) and "
             "sys.implementation.name == 'cpython')"],
            text=True, capture_output=True, timeout=60)
        if done.returncode == 0 and done.stdout.endswith("True\n"):
            found.setdefault(done.stdout.split()[0], path)
    return found


PYTHONS = pythons()


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    out = tmp_path_factory.mktemp("sites") / "lines.so"
    rooms = {"profile/base": ["table"],
             "profile/stack": ["cfi", "frame", "module", "pycode", "site",
                               "thread", "unwind"],
             "node/base": ["array", "settings"],
             "node/os": ["os_files", "os_linux", "os_linux_memory"]}
    parts = [ROOT / "src" / room / f"{name}.c"
             for room, names in rooms.items() for name in names]
    patience.run(
        ["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O3", "-g", "-shared", "-fPIC",
         "-fvisibility=hidden", "-I", ROOT / "src", SOURCES / "lines.c",
         *parts, "-o", out, "-lpthread", "-ldl"],
        check=True, timeout=120)
    return out


@pytest.mark.parametrize("depth, first", [
    (8, "no-gil"), (32, "gil"), *(pytest.param(1, first, marks=pytest.mark.deep)
                                  for first in ("gil", "no-gil"))])
@pytest.mark.parametrize("version", spread.some(PYTHONS))
def test_a_site_has_the_lines_that_python_says(version, depth, first, library,
                                               tmp_path):
    done = patience.run(
        [PYTHONS[version], SOURCES / "lines.py", library, str(depth), first,
         tmp_path], text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sites as they should be" in done.stdout
    assert "straightway" not in done.stderr, done.stderr
