"""cmake/arrows.py: includes that run back are found and named."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


def check(src):
    return subprocess.run([sys.executable, ROOT / "cmake" / "arrows.py", src],
                          text=True, capture_output=True)


@pytest.fixture
def src(tmp_path):
    """Two rooms: high may include low."""
    for name, text in {
            "arrows.txt": "low:   -   # the lowest\nhigh:  low\n",
            "low/a.h": "",
            "low/a.c": '#include "a.h"\n#include <high/b.h>\n',
            "high/b.h": '#include "low/a.h"\n',
            "high/b.c": '#include "b.h"\n#include "nowhere.h"\n'}.items():
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "src"


def test_no_include_of_ours_runs_back():
    done = check(ROOT / "src")
    assert done.returncode == 0, done.stderr


def test_an_allowed_include_passes(src):
    assert check(src).returncode == 0


@pytest.mark.parametrize("line", ['#include "high/b.h"',
                                  '  #  include "../high/b.h"'])
def test_an_include_that_runs_back_is_named(src, line):
    (src / "low" / "c.c").write_text(f"\n{line}\n")
    done = check(src)
    assert done.returncode == 1
    assert "src/low/c.c:2: low may not include high" in done.stderr


def test_a_room_must_be_named(src):
    (src / "new").mkdir()
    (src / "new" / "c.h").write_text('#include "low/a.h"\n')
    done = check(src)
    assert done.returncode == 1 and "no room new" in done.stderr


@pytest.mark.parametrize("line", ["low: -", "what is this", "other: higher",
                                  "other: hi", "first: second\nsecond: -"])
def test_a_list_that_is_wrong_is_refused(src, line):
    with open(src / "arrows.txt", "a") as file:
        file.write(line + "\n")
    assert check(src).returncode == 1
