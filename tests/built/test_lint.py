"""ruff finds nothing in our Python, by the rules of pyproject.toml."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["straightway", "src", "tests", "bench", "cmake", "packaging",
           "examples", "docs", "applications"]


def ruff(*words):
    return subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--config",
         ROOT / "pyproject.toml", "--output-format", "concise", *words],
        cwd=ROOT, text=True, capture_output=True)


@pytest.mark.parametrize("folder", FOLDERS)
def test_ruff_finds_nothing(folder):
    done = ruff(folder)
    assert done.returncode == 0, f"\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_ruff_leaves_no_file_out(folder):
    ours = {str(path) for path in (ROOT / folder).rglob("*.py")}
    if folder == "tests":
        ours.add(str(ROOT / "tests" / "nodes" / "nodes"))
    assert ours and ours <= set(ruff(folder, "--show-files").stdout.split("\n"))


@pytest.mark.parametrize("text, rule", [
    ("import os\n", "F401"), (f"a = {'1 + ' * 20}1\n", "E501"),
    ("def f(a=[]):\n    return a\n", "B006")])
def test_a_fault_is_found_and_named(tmp_path, text, rule):
    (tmp_path / "fault.py").write_text(text)
    done = ruff(tmp_path)
    assert done.returncode == 1
    assert "fault.py:1:" in done.stdout and rule in done.stdout, done.stderr


def test_what_the_house_allows_passes(tmp_path):
    (tmp_path / "fine.py").write_text("print(dict(a=1))\n")
    done = ruff(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
