"""`make deb`: the package builds, lintian finds nothing, and its own test runs
a preloaded program under both MPIs of Debian."""

import os
import re
import shutil
import subprocess

import pytest

from harness import patience
from harness.hosts import ROOT

pytestmark = pytest.mark.deep


@pytest.fixture(scope="module")
def unpacked(packages, tmp_path_factory):
    """The packages' files in a root of their own."""
    root = tmp_path_factory.mktemp("root")
    for name in "straightway_*.deb", "straightway-dev_*.deb":
        (package,) = packages.glob(name)
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    return root


def test_lintian_finds_nothing(packages):
    if not shutil.which("lintian"):
        pytest.skip("no lintian")
    (changes,) = packages.glob("straightway_*.changes")
    done = patience.run(
        ["lintian", "--allow-root", "--fail-on", "error,warning", changes],
        text=True, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_package_has_its_files(unpacked):
    for name in ("bin/straightway", "lib/straightway/libstraightway.so",
                 "lib/straightway/libstraightway-ompi.so",
                 "lib/straightway/libstraightway-mpich.so",
                 "share/doc/straightway/README.Debian",
                 "lib/python3/dist-packages/straightway/cli.py",
                 "share/man/man1/straightway-run.1.gz",
                 "share/man/man3/straightway.h.3.gz",
                 "share/bash-completion/completions/straightway",
                 "include/straightway.h", "share/pkgconfig/straightway.pc"):
        assert (unpacked / "usr" / name).exists(), name


def test_a_preloaded_program_runs(unpacked):
    """The package's autopkgtest, on files that no apt has installed."""
    missing = [name for name in ("mpicc.openmpi", "mpicc.mpich", "pkg-config")
               if not shutil.which(name)]
    if missing:
        pytest.skip(f"no {', '.join(missing)}")
    usr = unpacked / "usr"
    env = {name: value for name, value in os.environ.items()
           if not re.match("STRAIGHTWAY_|OMPI_|VIRTUAL_ENV|PYTHON", name)}
    done = patience.run(
        ["sh", ROOT / "packaging/debian/tests/preloaded"], text=True,
        capture_output=True, timeout=300, env={
            **env, "PATH": f"{usr}/bin:/usr/bin:/bin",
            "PKG_CONFIG_PATH": f"{usr}/share/pkgconfig",
            "PYTHONPATH": f"{usr}/lib/python3/dist-packages"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "works under both MPIs" in done.stdout
