"""cmake/arrows.py: includes and imports that run back are found and named."""

import functools
import pathlib
import re
import subprocess
import sys

import pytest
from harness.hosts import ROOT

sys.path.insert(0, str(ROOT / "cmake"))

import arrows

ALLOWED = arrows.read_allowed(ROOT / "src" / "arrows.txt")
BUILT = ROOT / "build" / "wheel" / "CMakeFiles"


@functools.cache
def may_reach(room, other):
    """Whether `other` is the room, or below it: inline functions of headers
    bring calls of theirs into the files that include them."""
    return other == room or any(
        may_reach(below, other) for below in ALLOWED
        if below != room and arrows.is_allowed(ALLOWED.get(room, []), below))


@pytest.fixture(scope="module")
def reached():
    """{(room, symbol, the rooms that define it), ...} of the built objects. The
    contract's functions are defined on its other side, which is its purpose."""
    defined, used, rooms = {}, set(), {}
    contract = set(re.findall(r"\w+", "".join(
        path.read_text() for path in (ROOT / "src" / "contract").glob("*.h"))))
    for path in BUILT.rglob("src/**/*.c.o"):
        source = pathlib.Path(*path.relative_to(BUILT).parts[1:-1], path.stem)
        if (ROOT / source).exists():    # else its file was moved since
            rooms[str(path)] = str(source.parent.relative_to("src"))
    if not rooms:
        pytest.skip(f"no objects in {BUILT}")
    symbols = subprocess.run(["nm", "-A", "-P", "-g", *rooms], text=True,
                             capture_output=True).stdout
    for path, name, kind in re.findall(r"^(.*): (sw_\w+) (\w)\b", symbols,
                                       re.MULTILINE):
        if kind == "U":
            used.add((rooms[path], name))
        elif kind in "TDBRCVW":
            defined.setdefault(name, set()).add(rooms[path])
    return {(room, name, frozenset(defined[name])) for room, name in used
            if name in defined and name not in contract}


def check(src):
    return subprocess.run([sys.executable, ROOT / "cmake" / "arrows.py", src],
                          text=True, capture_output=True)


def written(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def src(tmp_path):
    """Two rooms: high may include low."""
    return written(tmp_path / "src", {
            "arrows.txt": "low:   -   # the lowest\nhigh:  low\n",
            "low/a.h": "",
            "low/a.c": '#include "a.h"\n#include <high/b.h>\n',
            "high/b.h": '#include "low/a.h"\n',
            "high/b.c": '#include "b.h"\n#include "nowhere.h"\n'})


@pytest.fixture
def package(tmp_path):
    """Three rooms: top may import high and low, high may import low."""
    return written(tmp_path / "pack", {
            "arrows.txt": "low:   -\nhigh:  low\ntop:   high\n       low\n",
            "__init__.py": "", "low/__init__.py": "import os\n",
            "low/a.py": "import json\nfrom elsewhere import high\n",
            "high/__init__.py": "from pack import low\nimport pack.low.a\n",
            "high/b.py": "from pack.low import a\nfrom . import c\n",
            "high/c.py": "from ..low import a\n",
            "top.py": "from pack import high\nfrom pack.high.b import a\n"})


def test_no_include_of_ours_runs_back():
    done = check(ROOT / "src")
    assert done.returncode == 0, done.stderr


def test_no_import_of_ours_runs_back():
    done = check(ROOT / "straightway")
    assert done.returncode == 0, done.stderr


def test_no_symbol_of_ours_runs_back(reached):
    """A function that is declared below and defined above is an arrow, too."""
    back = {f"{room} uses {name} of {', '.join(sorted(rooms))}"
            for room, name, rooms in reached
            if not any(may_reach(room, other) for other in rooms)}
    assert not back, "\n".join(sorted(back))
    assert len(reached) > 1000


def test_no_module_of_ours_is_named_as_one_of_python():
    known = getattr(sys, "stdlib_module_names", ())
    assert not [str(path) for path in (ROOT / "straightway").rglob("*.py")
                if path.stem in known and not path.stem.startswith("__")]


def test_an_allowed_include_passes(src):
    assert check(src).returncode == 0


@pytest.mark.parametrize("line", ['#include "high/b.h"',
                                  '  #  include "../high/b.h"'])
def test_an_include_that_runs_back_is_named(src, line):
    (src / "low" / "c.c").write_text(f"\n{line}\n")
    done = check(src)
    assert done.returncode == 1
    assert "src/low/c.c:2: low may not include high" in done.stderr


def test_an_allowed_import_passes(package):
    done = check(package)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("line", [
    "from pack import high", "import pack.high", "from pack.high import b",
    "import pack.high.b as other", "from pack.high.b import a",
    "from ..high import b", "from .. import high",
    "def later(): from pack.high import c"])
def test_an_import_that_runs_back_is_named(package, line):
    (package / "low" / "z.py").write_text(f"\n{line}\n")
    done = check(package)
    assert done.returncode == 1
    assert "pack/low/z.py:2: low may not import high" in done.stderr


def test_a_module_beside_the_folders_is_a_room(package):
    (package / "low" / "z.py").write_text("from pack import top\n")
    assert "low may not import top" in check(package).stderr
    (package / "other.py").write_text("import pack.low\n")
    assert "pack/arrows.txt has no room other" in check(package).stderr


def test_a_circle_of_imports_is_named(package):
    (package / "low" / "y.py").write_text("def f():\n    import pack.low.z\n")
    (package / "low" / "z.py").write_text("from pack.low import y\n")
    done = check(package)
    assert done.returncode == 1
    assert "a circle of imports: pack/low/y.py, pack/low/z.py" in done.stderr


def test_a_room_must_be_named(src):
    (src / "new").mkdir()
    (src / "new" / "c.h").write_text('#include "low/a.h"\n')
    done = check(src)
    assert done.returncode == 1 and "no room new" in done.stderr


@pytest.mark.parametrize("line", ["low: -", "what is this", "other: higher",
                                  "other: hi", "first: second\nsecond: -",
                                  "  higher"])
def test_a_list_that_is_wrong_is_refused(src, line):
    with open(src / "arrows.txt", "a") as file:
        file.write(line + "\n")
    assert check(src).returncode == 1
