"""Public suites of MPI programs: found, or downloaded, and built.

This repository holds none of them. STRAIGHTWAY_SUITES names a folder in which
each suite lies unpacked, in a folder whose name begins with the suite's.
Without it the harness downloads a suite once, to .hosts/suites. Where it can do
neither, the tests of the suite are skipped, and say why.

    program = suites.OSU.program(host, "osu_bw")
    suites.compare(host, 2, [program, "-c"], wrong)
"""

import os
import pathlib
import shutil
import subprocess
import tarfile
import urllib.request

import pytest

from . import hosts, jobs, turns

PATIENCE = 20       # seconds, for a server that does not answer

# The suites test programs, not how each packager builds an MPI.
three = pytest.mark.unable(
    lambda host: host.name not in ("openmpi", "mpich", "impi"),
    why="suites run under one MPI of each maker")

# What all of OSU's programs share.
_OSU_PARTS = ("osu_util", "osu_util_mpi", "osu_util_graph", "osu_util_papi",
              "osu_util_validation")
_OSU_FLAGS = ("-O1", "-w", "-DFIELD_WIDTH=18", "-DFLOAT_PRECISION=2",
              '-DPACKAGE_VERSION="7.4"', "-D_ENABLE_MPI4_=1")


class Suite:
    """A suite's sources. `urls`: archives of one content, of which the harness
    takes the first that it gets; each has one folder, with all in it."""

    def __init__(self, name, *urls):
        self.name, self.urls = name, urls

    def folder(self, scratch):
        """Where the sources lie; skips the test where there are none. The
        folder `scratch` is this session's, and keeps why a download failed."""
        given = os.environ.get("STRAIGHTWAY_SUITES")
        if given:
            for path in sorted(pathlib.Path(given).glob(self.name + "*")):
                if path.is_dir():
                    return path.resolve()
            pytest.skip(f"no {self.name} in STRAIGHTWAY_SUITES")
        place = hosts.HOSTS_DIR / "suites" / self.name
        absent = scratch / f"{self.name}.absent"
        with turns.once(place):
            if not place.exists() and not absent.exists():
                why = self._download(place)
                if why:
                    absent.write_text(why)
        if absent.exists():
            pytest.skip(absent.read_text())
        return place

    def _download(self, place):
        """Why there is none; None where it is there."""
        archive, new = (place.with_name(place.name + end)
                        for end in (".tar.gz", ".new"))
        whys = []
        for url in self.urls:
            shutil.rmtree(new, ignore_errors=True)
            try:
                with urllib.request.urlopen(url, timeout=PATIENCE) as answer, \
                        open(archive, "wb") as file:
                    shutil.copyfileobj(answer, file)
                with tarfile.open(archive) as tar:
                    tar.extractall(new, **({"filter": "data"} if hasattr(
                        tarfile, "data_filter") else {}))
                (inner,) = new.iterdir()
                inner.rename(place)
                new.rmdir()
                return None
            except (OSError, tarfile.TarError, ValueError) as why:
                whys.append(f"{url}: {why}")
        return f"{self.name} could not be downloaded ({'; '.join(whys)})"


def _call(host, argv, folder):
    done = subprocess.run([str(a) for a in argv], cwd=folder, text=True,
                          env=host.environment(), capture_output=True)
    assert done.returncode == 0, (f"{' '.join(map(str, argv))}\n"
                                  f"{done.stdout[-4000:]}{done.stderr[-8000:]}")


class Osu(Suite):
    """OSU's micro-benchmarks. A test compiles only what it runs."""

    def program(self, host, name):
        """The path of the program."""
        sources = self.folder(host.scratch) / "c"
        built = host.scratch / host.name / self.name
        path, new = built / name, built / f"{name}.new"
        with turns.once(built):
            if not built.exists():
                self._build_parts(host, sources, built)
            if not path.exists():
                (source,) = (sources / "mpi").rglob(f"{name}.c")
                _call(host, [*self._compiler(host, sources), source,
                             *(f"{part}.o" for part in _OSU_PARTS), "-lm",
                             "-lpthread", "-o", new], built)
                new.rename(path)
        return path

    def _build_parts(self, host, sources, built):
        new = built.with_name(self.name + ".new")
        new.mkdir()
        parts = [sources / "util" / f"{part}.c" for part in _OSU_PARTS]
        _call(host, [*self._compiler(host, sources), "-c", *parts], new)
        new.rename(built)

    def _compiler(self, host, sources):
        return [host.compilers["c"], *_OSU_FLAGS, f"-I{sources / 'util'}"]


class Imb(Suite):
    """Intel's MPI benchmarks, which check their data if they are built so."""

    def program(self, host, name):
        """The path of IMB-NAME."""
        sources = self.folder(host.scratch)
        built = host.scratch / host.name / f"{self.name}-{name}"
        with turns.once(built):
            if not built.exists():
                new = built.with_name(built.name + ".new")
                for part in ("src_c", "src_cpp"):
                    shutil.copytree(sources / part, new / part)
                _call(host, ["make", f"TARGET={name}", "CPPFLAGS=-DCHECK",
                             f"CC={host.compilers['c']}",
                             f"CXX={host.compilers['c++']}", "CFLAGS=-w",
                             "CXXFLAGS=-w -fopenmp"], new / "src_cpp")
                new.rename(built)
        return built / "src_cpp" / f"IMB-{name}"


def compare(host, n, argv, wrong, timeout, env=None):
    """Run a program with us; wrong(done) says what is wrong of it, or nothing.
    Then the host alone must fail, too, and the test is skipped."""
    def run(straightway):
        try:
            done = host.run(n, argv, straightway=straightway, timeout=timeout,
                            env=env, stragglers="kill")
        except jobs.JobTimeout as why:
            return str(why)
        return wrong(done)

    ours = run(True)
    if not ours:
        return
    alone = run(False)
    assert alone, f"with us only: {ours}"
    pytest.skip(f"{pathlib.Path(argv[0]).name} fails on the host alone")


OSU = Osu(
    "osu-micro-benchmarks-7.4",
    "https://mvapich.cse.ohio-state.edu/download/mvapich/"
    "osu-micro-benchmarks-7.4.tar.gz",
    "https://github.com/sherrywong1220/osu-micro-benchmarks-7.4/archive/"
    "bed60f564c2908a6123315f49f6dd0c0ff5440a3.tar.gz")
IMB = Imb(
    "mpi-benchmarks",
    "https://github.com/intel/mpi-benchmarks/archive/"
    "46e8757a920c334abfea6340499f1c5deaefb834.tar.gz")
