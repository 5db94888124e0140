"""What is built once for several tests."""

import shutil
import subprocess
import sys

import pytest

from harness import patience
from harness.hosts import ROOT


@pytest.fixture(scope="session")
def wheel():
    """The wheel for this processor, built from this clone."""
    pytest.importorskip("ziglang", reason="no ziglang (make wheel)")
    done = subprocess.run(
        [sys.executable, ROOT / "packaging" / "wheel.py", "x86_64"],
        text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / done.stdout.splitlines()[-1].split()[0]


@pytest.fixture(scope="session")
def packages():
    """The folder of the Debian packages, built from this clone."""
    if not shutil.which("dpkg-checkbuilddeps"):
        pytest.skip("no dpkg-dev")
    needed = subprocess.run(
        ["dpkg-checkbuilddeps", ROOT / "packaging/debian/control"], text=True,
        capture_output=True)
    if needed.returncode:
        pytest.skip(needed.stderr.strip())
    done = patience.run(["sh", "packaging/deb.sh", sys.executable], cwd=ROOT,
                        text=True, capture_output=True, timeout=1500)
    assert done.returncode == 0, done.stderr
    return ROOT / "build" / "deb"
