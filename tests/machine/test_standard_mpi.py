"""Libraries of the standard's interface: any MPI may have one.

A stand-in says in its version which MPI it is of. The launchers of Open MPI and
of MPICH lie in one folder, as in /usr.
"""
import subprocess

import pytest
from straightway.machine import hosts

SOURCE = """
#include <string.h>
int MPI_Get_library_version(char *text, int *length)
{
    strcpy(text, "%s");
    *length = (int)strlen(text);
    return 0;
}
"""


@pytest.fixture
def prefix(tmp_path):
    """An installation with these launchers, and a library of this version."""
    def make(version, *launchers):
        for folder in ("bin", "lib"):
            (tmp_path / folder).mkdir()
        for name in launchers:
            path = tmp_path / "bin" / name
            path.write_text("#!/bin/sh\n")
            path.chmod(0o755)
        source = tmp_path / "standard.c"
        source.write_text(SOURCE % version)
        subprocess.run(["cc", "-shared", "-fPIC", "-o",
                        tmp_path / "lib/libmpi_abi.so.1", source], check=True)
        return tmp_path
    return make


@pytest.mark.parametrize("version, kind, launcher", [
    ("Open MPI v6.0.0, package: made up", "openmpi", "mpiexec.openmpi"),
    ("MPICH Version: 5.0.0", "mpich", "mpiexec.mpich")])
def test_the_launcher_is_that_of_its_own_mpi(prefix, version, kind, launcher):
    folder = prefix(version, "mpiexec.openmpi", "mpiexec.mpich")
    host, = hosts.find(str(folder))
    assert (host.flavour, host.kind) == ("abi", kind)
    assert host.launcher == str(folder / "bin" / launcher)
    host, = hosts.find(str(folder / "lib/libmpi_abi.so.1"))
    assert host.launcher == str(folder / "bin" / launcher)


def test_a_launcher_that_was_named_stays(prefix):
    folder = prefix("Open MPI v6.0.0", "mpiexec.mpich", "mpiexec.openmpi")
    named = str(folder / "bin/mpiexec.mpich")
    host, = hosts.find(named)
    assert host.launcher == named


def test_one_without_a_version_is_of_its_launchers_mpi(prefix):
    folder = prefix("", "mpiexec.openmpi")
    host, = hosts.find(str(folder))
    assert host.title == "Open MPI"
