"""What is built once for several tests, and for all workers."""

import pathlib
import shutil
import subprocess
import sys

import pytest

from harness import patience, turns
from harness.hosts import ROOT


@pytest.fixture(scope="session")
def wheel(_scratch):
    """wheel(processor, folder): its wheel, built from the clone or a copy of
    its sources in this folder."""
    pytest.importorskip("ziglang", reason="no ziglang (make wheel)")

    def built(processor, folder=ROOT):
        kept = _scratch / f"wheel-{folder.name}-{processor}"
        with turns.once(kept):
            if not kept.exists():
                done = patience.run(
                    [sys.executable, folder / "packaging/wheel.py", processor],
                    text=True, capture_output=True, timeout=1500)
                assert done.returncode == 0, done.stdout + done.stderr
                kept.write_text(done.stdout.splitlines()[-1].split()[0])
        return folder / pathlib.Path(kept.read_text())
    return built


@pytest.fixture(scope="session")
def packages(_scratch):
    """The folder of the Debian packages, built from the clone."""
    if not shutil.which("dpkg-checkbuilddeps"):
        pytest.skip("no dpkg-dev")
    needed = subprocess.run(
        ["dpkg-checkbuilddeps", ROOT / "packaging/debian/control"], text=True,
        capture_output=True)
    if needed.returncode:
        pytest.skip(needed.stderr.strip())
    kept = _scratch / "packages"
    with turns.once(kept):
        if not kept.exists():
            done = patience.run(
                ["sh", "packaging/deb.sh", sys.executable], cwd=ROOT,
                text=True, capture_output=True, timeout=1500)
            assert done.returncode == 0, done.stderr
            kept.touch()
    return ROOT / "build/deb"
