"""MPIs for aarch64, whose ranks run under qemu-user on another processor.

tests/arm/build.sh makes the libraries and fetches the MPIs. The launcher is of
the same MPI for this machine, from .hosts. It starts the emulator, which alone
gets the ranks' settings of the dynamic linker.
"""

import os
import subprocess
import sys

from . import hosts, turns

FOLDER = hosts.ROOT / "build" / "arm"
MADE = FOLDER / ("deep" if os.environ.get("STRAIGHTWAY_DEEP") else "short")
LIBRARY = MADE / "lib" / "straightway" / "libstraightway.so"
EMULATOR = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
CANNOT = 77     # build.sh: not on this machine


class Emulated(hosts.Host):
    """A host whose programs are aarch64's. MPICH would copy by
    process_vm_readv, which the emulator has not, and fail."""

    def __init__(self, name, flavour, here):
        prefix = FOLDER / name
        super().__init__(f"{name}-aarch64", flavour, prefix, prefix / "lib",
                         {"c": prefix / "cc"}, here.mpirun,
                         env={**here.env, "MPIR_CVAR_CH4_CMA_ENABLE": "0"})

    def program_line(self, argv, straightway=True, run_args=()):
        """With options of the emulator for `run_args`."""
        preloaded = ["-E", f"LD_PRELOAD={LIBRARY}"] if straightway else []
        return [*EMULATOR, *run_args, "-E", f"LD_LIBRARY_PATH={self.libdir}",
                *preloaded, *argv]


def build(*targets):
    """(exit status, what it said) of tests/arm/build.sh."""
    with turns.once(FOLDER):
        done = subprocess.run(
            ["sh", hosts.TESTS / "arm" / "build.sh", sys.executable,
             str(os.cpu_count()), *targets],
            cwd=hosts.ROOT, text=True, capture_output=True)
    return done.returncode, done.stdout + done.stderr
