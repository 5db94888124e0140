"""What a CI job gets from packaging/action.yml."""

import os
import pathlib
import re
import subprocess

from harness import hosts

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_action_calls_the_script_with_its_inputs():
    text = (ROOT / "packaging/action.yml").read_text()
    assert "using: composite" in text
    inputs = re.search(r"^inputs:\n(.*?)^runs:", text, re.M | re.S).group(1)
    named = re.findall(r"^  ([\w-]+):", inputs, re.M)
    used = re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", text)
    assert sorted(named) == sorted(used) == ["hang-after", "python"]
    assert (ROOT / "packaging/ci.sh").exists()


def test_the_script_tells_the_next_steps(tmp_path):
    """Straightway is built already: a make that does nothing takes the place
    of make."""
    path, environment = tmp_path / "path", tmp_path / "environment"
    make = tmp_path / "make"
    make.write_text("#!/bin/sh\necho \"$@\" >&2\n")
    make.chmod(0o755)
    done = subprocess.run(
        ["sh", ROOT / "packaging/ci.sh", "python3", "5m"], text=True,
        capture_output=True, timeout=120,
        env={**os.environ, "GITHUB_PATH": str(path),
             "GITHUB_ENV": str(environment),
             "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert "setup PYTHON=python3" in done.stderr
    assert done.returncode == 0, done.stderr
    assert not done.stdout and "cores" in done.stderr
    folder = pathlib.Path(path.read_text().strip())
    assert folder.samefile(hosts.COMMAND.parent)
    settings = dict(line.split("=", 1)
                    for line in environment.read_text().splitlines())
    assert settings["STRAIGHTWAY_HANG_AFTER"] == "5m"
    assert "OMPI_MCA_rmaps_base_oversubscribe" in settings
    said = subprocess.run([folder / "straightway", "run", "--stats", "true"],
                          env={**os.environ, **settings}, text=True,
                          capture_output=True)
    assert said.returncode == 0, said.stderr
