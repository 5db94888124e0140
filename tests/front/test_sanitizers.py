"""Programs that are built with a sanitizer start, and their results are
right."""

import shutil
import subprocess
from pathlib import Path

import pytest
from harness.hosts import COMMAND, TESTS
from harness.programs import well

HERE = Path(__file__).resolve().parent

KINDS = {
    "gcc-asan": ["gcc", "-fsanitize=address"],
    "gcc-asan-static": ["gcc", "-fsanitize=address", "-static-libasan"],
    "gcc-tsan": ["gcc", "-fsanitize=thread"],
    "clang-asan": ["clang", "-fsanitize=address"],
    "clang-asan-shared": ["clang", "-fsanitize=address", "-shared-libasan"],
    "clang-tsan": ["clang", "-fsanitize=thread"],
}


class Sanitized:
    """sanitized.c, built by a compiler with its sanitizer."""

    def __init__(self, host, kind, folder):
        compiler, *self.flags = KINDS[kind]
        if not shutil.which(compiler):
            pytest.skip(f"no {compiler} here (apt-get install {compiler})")
        self.host, self.program = host, folder / "sanitized"
        done = subprocess.run(
            [host.compilers["c"], "-g", "-O1", *self.flags, f"-I{TESTS}", "-o",
             self.program, HERE / "sanitized.c"], text=True,
            capture_output=True, env=host.environment(dict.fromkeys(
                ("OMPI_CC", "MPICH_CC", "I_MPI_CC"), compiler)))
        if done.returncode:
            pytest.skip(f"{compiler} cannot build it here: {done.stderr[:200]}")
        self.libraries = subprocess.run(
            [compiler, "-print-file-name=libclang_rt.asan-x86_64.so"],
            text=True, capture_output=True).stdout.strip()

    def run(self, *arguments, straightway=True, **settings):
        # ThreadSanitizer wants its addresses where few systems leave them free.
        fixed = ["setarch", "-R"] if "-fsanitize=thread" in self.flags else []
        env = self.host.environment()
        paths = [env.get("LD_LIBRARY_PATH"), str(Path(self.libraries).parent)]
        return self.host.start(
            [self.host.mpirun, *self.host.launcher_args, "-n", 2, *fixed,
             *([COMMAND, "run"] if straightway else []), self.program,
             *arguments],
            # With the thread sanitizer, UCX ends in process_vm_readv, and at
            # times waits for ever in MPI_Finalize where it uses TCP.
            env={"UCX_TLS": "posix,sysv,self", "ASAN_OPTIONS": "detect_leaks=0",
                 "TSAN_OPTIONS": "report_bugs=0:exitcode=0",
                 "PMIX_MCA_gds": "hash",    # or it wants fixed addresses, too
                 "LD_LIBRARY_PATH": ":".join(filter(None, paths)),
                 **settings})


@pytest.fixture(params=KINDS)
def sanitized(host, request, tmp_path):
    made = Sanitized(host, request.param, tmp_path)
    alone = made.run(straightway=False)
    if alone.returncode:
        pytest.skip(f"the host alone fails on it: {alone.stderr[-200:]}")
    return made


def test_a_program_with_a_sanitizer_runs(sanitized):
    well(sanitized.run())
    well(sanitized.run(STRAIGHTWAY_ENABLE="off"))
    if "-fsanitize=address" in sanitized.flags:
        done = sanitized.run("overflow")
        assert done.returncode and "heap-buffer-overflow" in \
            done.stdout + done.stderr
