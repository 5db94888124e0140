"""Fortran programs, in each of MPI's three bindings, get the same results.

The programs check themselves in full and say how many checks held; a program
that checked nothing says nothing. They run under each host that has Fortran,
alone (else a fault of the program or the host would pass for ours) and with
Straightway.
"""

import glob
import pathlib
import re
import subprocess

import pytest
from harness import programs

HERE = pathlib.Path(__file__).parent

# gfortran >= 10 takes mpif.h's one name for many types as a mistake.
BINDINGS = {
    "mpif.h": ("old_bindings.F90", ["-fallow-argument-mismatch"]),
    "use mpi": ("old_bindings.F90", ["-DUSE_MPI",
                                     "-fallow-argument-mismatch"]),
    "use mpi_f08": ("f08.f90", []),
}


def intel_modules(host):
    """Intel ships its modules once for each version of gfortran."""
    version = subprocess.run(["gfortran", "-dumpversion"], text=True,
                             capture_output=True).stdout.strip()
    for folder in (host.prefix / "include/mpi/gfortran").glob("*"):
        if folder.name.split(".")[0] == version.split(".")[0]:
            return [f"-I{folder}"]
    pytest.skip(f"Intel MPI has no modules for gfortran {version}")


def build(host, binding):
    source, flags = BINDINGS[binding]
    if host.name == "impi" and binding == "use mpi":
        flags = [*flags, *intel_modules(host)]
    # One command compiles the module before the program that uses it.
    return host.compile(HERE / "checks.f90", *flags, HERE / source)


@pytest.mark.parametrize("n, straightway", [
    pytest.param(n, ours, id=f"{n}-{'ours' if ours else 'alone'}",
                 marks=() if ours or n == 3 else pytest.mark.deep)
    for n in (1, 2, 3, 5) for ours in (False, True)])
@programs.needs_fortran
@pytest.mark.parametrize("binding", [
    pytest.param(binding, marks=programs.no_f08 if "f08" in binding else ())
    for binding in BINDINGS])
def test_bindings(host, binding, n, straightway):
    program = build(host, binding)
    done = host.run(n, program, straightway=straightway, check=True,
                    timeout=120)
    held = re.search(r"^all (\d+) hold$", done.stdout, re.M)
    assert held and int(held[1]) > 50, done.stdout + done.stderr
    assert "not so" not in done.stderr


@programs.needs_fortran
@pytest.mark.unable("debian-mpich", why="MPICH 4.0 alone gives the first "
                    "member's MPI_WIN_BASE to all, where events are read")
@pytest.mark.parametrize("n", [2, pytest.param(4, marks=pytest.mark.deep)])
def test_coarrays(host, n):
    kind = {"ompi": "openmpi", "mpich": "mpich"}[host.flavour]
    found = glob.glob(f"/usr/lib/*/libcaf_{kind}.a") or \
        glob.glob(f"/usr/lib/*/open-coarrays/{kind}/lib/libcaf_{kind}.a")
    if not found:
        pytest.skip(f"no coarrays (apt-get install libcoarrays-{kind}-dev)")
    program = host.compile(HERE / "coarrays.f90", "-fcoarray=lib", found[0])
    done = programs.well(host.run(n, program, timeout=120,
                                  env=programs.AT_ONCE))
    served, windows = map(int, re.search(r"windows: (\d+) of (\d+) ours",
                                         done.stderr).groups())
    assert windows > 20 * n and served > windows / 2
