"""What the project's page reads: templates, the workflow; and a release's news.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
YAML = [str(path.relative_to(ROOT)) for folder in (".github", "packaging")
        for path in sorted((ROOT / folder).rglob("*.y*ml"))]
TEMPLATES = sorted(
    path.name for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.md"))


@pytest.mark.parametrize("name", YAML)
def test_each_yaml_file_is_one(name):
    assert isinstance(yaml.safe_load((ROOT / name).read_text()), dict)


@pytest.mark.parametrize("name", TEMPLATES)
def test_an_issue_template_has_a_head(name):
    _, head, body = (GITHUB / "ISSUE_TEMPLATE" / name).read_text().split(
        "---\n", 2)
    head = yaml.safe_load(head)
    assert set(head) == {"name", "about", "labels"} and all(head.values())
    assert body.count("```") % 2 == 0


def commands_in(text):
    return set(re.findall(r"`?straightway ([a-z]+)", text))


def test_templates_ask_for_commands_that_exist():
    from straightway import commands
    asked = set().union(*(commands_in(path.read_text())
                          for path in GITHUB.rglob("*.md")))
    assert {"doctor", "where", "study"} <= asked
    assert asked <= {"run", *commands.CLASSES}, asked


@pytest.fixture
def workflow():
    return yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text())


def test_the_workflow_tests_both_processors(workflow):
    job = workflow["jobs"]["test"]
    assert any(runner.endswith("-arm")
               for runner in job["strategy"]["matrix"]["runner"])
    assert len(job["strategy"]["matrix"]["runner"]) == 2
    assert any(".ci/run" in step.get("run", "") for step in job["steps"])
    assert (ROOT / ".ci" / "run").exists()


def test_the_workflow_builds_the_wheels(workflow):
    steps = workflow["jobs"]["wheels"]["steps"]
    assert any(step.get("run") == "make wheel" for step in steps)
    assert workflow["permissions"] == {"contents": "read"}


def test_actionlint_finds_nothing():
    program = pathlib.Path(sys.executable).parent / "actionlint"
    found = program if program.exists() else shutil.which("actionlint")
    if not found:
        pytest.skip("no actionlint")
    done = subprocess.run([found, GITHUB / "workflows" / "ci.yml"], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_release_cuts_the_changelog(tmp_path):
    """CONTRIBUTING.md's step: the fragments become a section, and are gone."""
    for name in "pyproject.toml", "CHANGELOG.md":
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "changes", tmp_path / "changes")
    assert "towncrier build --version X.Y.Z --yes" in (
        ROOT / "CONTRIBUTING.md").read_text()
    done = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--version", "99.0.0",
         "--yes"], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    cut = (tmp_path / "CHANGELOG.md").read_text()
    assert re.search(r"^## 99\.0\.0 \(\d{4}-\d\d-\d\d\)$", cut, re.M)
    assert not list((tmp_path / "changes").glob("*.md"))
    old = (ROOT / "CHANGELOG.md").read_text().partition("## ")
    assert cut.startswith(old[0].rstrip()) and cut.endswith(old[2])


def test_a_tag_of_another_version_is_refused(tmp_path):
    """Before anything is built."""
    clone = tmp_path / "clone"
    if subprocess.run(["git", "clone", "--quiet", ROOT, clone],
                      capture_output=True).returncode:
        pytest.skip("no clone of git's")
    shutil.copy(ROOT / "packaging" / "wheel.py", clone / "packaging")
    subprocess.run(["git", "tag", "v99.0.0"], cwd=clone, check=True)
    done = subprocess.run(
        [sys.executable, clone / "packaging" / "wheel.py", "x86_64"],
        text=True, capture_output=True)
    assert done.returncode == 1
    assert "the tag v99.0.0, and pyproject.toml the version" in done.stderr
