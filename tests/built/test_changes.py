"""News: each file of changes/ comes into CHANGELOG.md at the next release."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def news(root):
    """What a release would write."""
    done = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--draft", "--version",
         "99.0"], cwd=root, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return " ".join(done.stdout.split())


def test_each_change_becomes_news():
    found = news(ROOT)
    for change in (ROOT / "changes").glob("[!.]*"):
        assert re.fullmatch(r"[a-z0-9-]+\.(added|fixed|changed)\.md",
                            change.name), f"{change.name}: NAME.KIND.md"
        text = " ".join(change.read_text().split())
        assert text and text in found, change.name


@pytest.mark.parametrize("kind, title", [
    ("added", "### Added"), ("fixed", "### Fixed"), ("changed", "### Changed")])
def test_a_release_gathers_them(tmp_path, kind, title):
    for name in "pyproject.toml", "CHANGELOG.md":
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / f"words.{kind}.md").write_text("Some words.\n")
    assert f"{title} - Some words." in news(tmp_path)
    assert "## 99.0" in news(tmp_path)
