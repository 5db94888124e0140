"""Sentences name their actor and are short; see words.py."""
import pathlib
import subprocess

import pytest

import words

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tracked(folder):
    """The files of a folder that belong to the project."""
    found = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", folder],
                           capture_output=True, text=True)
    names = found.stdout.split("\0") if found.returncode == 0 else \
        map(str, (ROOT / folder).rglob("*.*"))
    return [ROOT / name for name in names if name]


@pytest.mark.parametrize("folder", [
    "src", "include", "straightway", "bench", "cmake", "packaging", "docs",
    "changes",
    "applications", "examples", "tests", "README.md", "ARCHITECTURE.md",
    "CONTRIBUTING.md"])
def test_sentences_are_plain(folder):
    files = [path for path in tracked(folder) if path.is_file()]
    assert files
    found = [f"{path.relative_to(ROOT)}:{line}: {why}: {sentence}"
             for path in files for line, why, sentence in words.wrong(path)]
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize("name, text, count", [
    ("a.c", "/* Who waits, works. */\nint who;\n", 1),
    ("a.c", "/*\n * " + "word " * 26 + ".\n */\n", 1),
    ("a.c", "/*\n * a   --> " + "word " * 26 + "\n */\n", 0),
    ("a.py", '"""It is to be done."""\nwho = "who"  # nobody\n', 1),
    ("a.md", "    who runs this\n\nA rank waits.\n\n* " + "w " * 26, 1),
    ("a.sh", "# The file\n# that was to be\nwho\n", 1)])
def test_what_hides_its_actor_is_found(tmp_path, name, text, count):
    path = tmp_path / name
    path.write_text(text)
    assert len(list(words.wrong(path))) == count
