"""ruff finds nothing in our Python, by the rules of pyproject.toml, and C has
the layout of .clang-format."""
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


def clang_format(*words):
    program = pathlib.Path(sys.executable).parent / "clang-format"
    return subprocess.run([program, *words], cwd=ROOT, text=True,
                          capture_output=True)


def c_files():
    return sorted(path for folder in [*FOLDERS, "include"]
                  for path in (ROOT / folder).rglob("*.*")
                  if path.suffix in (".c", ".h", ".cc", ".cpp", ".cu"))


def test_c_has_the_layout_of_the_house():
    files = c_files()
    assert len(files) > 1000
    done = clang_format("--dry-run", "-Werror", "--ferror-limit=1", *files)
    assert done.returncode == 0, done.stderr


def test_another_layout_is_found_and_named(tmp_path):
    (tmp_path / ".clang-format").write_text(
        (ROOT / ".clang-format").read_text())
    (tmp_path / "fault.c").write_text("int f(void) { return 1; }\n")
    done = clang_format("--dry-run", "-Werror", tmp_path / "fault.c")
    assert done.returncode == 1
    assert "fault.c:1:" in done.stderr, done.stderr


def test_no_line_of_c_is_longer_than_the_house_allows():
    long = [f"{path.relative_to(ROOT)}:{number}"
            for path in c_files()
            for number, line in enumerate(path.read_text().split("\n"), 1)
            if len(line) > 80]
    assert not long, long
