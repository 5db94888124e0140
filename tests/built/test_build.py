"""What an installation promises: one shape, every flavour, nothing else."""

import os
import pathlib
import subprocess
import sys
import sysconfig
import zipfile

import pytest

from harness import hosts, patience
from harness.hosts import ROOT

LIBRARIES = pathlib.Path(sys.prefix) / "lib" / "straightway"


def dynamic(path):
    """The (tag, value) pairs of an object's dynamic section."""
    done = subprocess.run(["readelf", "-dW", path], text=True,
                          capture_output=True, check=True)
    pairs = []
    for line in done.stdout.splitlines():
        if "(" in line and "[" in line:
            tag = line.split("(")[1].split(")")[0]
            pairs.append((tag, line.rsplit("[", 1)[1].split("]")[0]))
    return pairs


def exports(path):
    done = subprocess.run(["nm", "-D", "--defined-only", path], text=True,
                          capture_output=True, check=True)
    return {line.split()[-1].split("@")[0]
            for line in done.stdout.splitlines()}


def test_the_command_is_native():
    """The per-rank path is not Python: an ELF file, not a script."""
    command = hosts.COMMAND
    assert command.read_bytes()[:4] == b"\x7fELF"
    assert os.access(command, os.X_OK)


def test_every_flavour_is_there():
    names = {p.name for p in LIBRARIES.glob("libstraightway*.so")}
    assert {"libstraightway.so", "libstraightway-ompi.so",
            "libstraightway-mpich.so", "libstraightway-abi.so"} <= names


@pytest.mark.parametrize("name", ["libstraightway.so",
                                  "libstraightway-ompi.so",
                                  "libstraightway-mpich.so",
                                  "libstraightway-abi.so"])
def test_no_library_needs_an_mpi(name):
    """The host is found in the program, never brought along."""
    needed = [v for tag, v in dynamic(LIBRARIES / name) if tag == "NEEDED"]
    assert needed
    assert not [v for v in needed if "mpi" in v.lower() or "pmpi" in v]


def test_the_front_has_both_names_of_every_call():
    symbols = exports(LIBRARIES / "libstraightway.so")
    calls = {s for s in symbols if s.startswith("MPI_")}
    assert {"MPI_Init", "MPI_Allreduce", "MPI_Bcast_c"} <= calls
    # Some handle conversions are macros in some MPIs and have no P name.
    assert {s for s in calls if "P" + s not in symbols} == set()
    assert "malloc" in symbols


def test_installed_files_name_no_build_folder():
    """No run path leads back into the folder where it was built."""
    files = [path for path in LIBRARIES.iterdir() if path.is_file()]
    for path in [hosts.COMMAND, *files]:
        for tag, value in dynamic(path):
            if tag in ("RPATH", "RUNPATH"):
                assert value.startswith("$ORIGIN"), (path, value)


@pytest.mark.deep
def test_a_plain_pip_install_has_every_flavour(tmp_path):
    """`pip install .`, with no set-up of ours: an isolated build, in a bare
    environment, with no MPI and no CMake in PATH."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for tool in ("cc", "gcc", "as", "ld", "ar", "ranlib", "nm", "objdump",
                 "strip", "make", "sh", "uname", "env"):
        for folder in ("/usr/bin", "/bin"):
            if os.path.exists(f"{folder}/{tool}"):
                (bin_ / tool).symlink_to(f"{folder}/{tool}")
                break
    source = tmp_path / "source"
    subprocess.run(["cp", "-r", *[str(ROOT / n) for n in (
        "CMakeLists.txt", "pyproject.toml", "LICENSE", "README.md", "src",
        "include", "cmake", "bench", "packaging", "straightway", "tests")
        if (ROOT / n).exists()], _made(source)], check=True)
    env = {k: v for k, v in os.environ.items()
           if k.startswith(("PIP_", "SSL_", "HTTP", "http", "HOME"))}
    env["PATH"] = str(bin_)
    wheels = tmp_path / "wheels"
    done = patience.run(
        [venv / "bin" / "python", "-m", "pip", "wheel", "--no-deps",
         "--wheel-dir", wheels, source], env=env, text=True,
        capture_output=True, timeout=900)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    (wheel,) = wheels.glob("straightway-*.whl")
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert wheel.name.endswith(f"py3-none-{platform}.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {entry.split(".data/data/")[-1]
                for entry in archive.namelist()}
    assert {"bin/straightway", "lib/straightway/libstraightway.so",
            "lib/straightway/libstraightway-ompi.so",
            "lib/straightway/libstraightway-mpich.so",
            "lib/straightway/libstraightway-abi.so",
            "include/straightway.h", "share/pkgconfig/straightway.pc",
            "share/man/man1/straightway-run.1"} <= held


def _made(folder):
    folder.mkdir()
    return folder
