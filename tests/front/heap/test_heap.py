"""The heap entry points, preloaded into programs that know nothing of them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import patience

HERE = Path(__file__).resolve().parent
CC = shutil.which("cc") or shutil.which("gcc")
CXX = shutil.which("c++") or shutil.which("g++")
needs_cc = pytest.mark.skipif(not CC, reason="no C compiler")


def library():
    path = os.environ.get("STRAIGHTWAY_LIB")
    if not path:
        path = Path(sys.prefix) / "lib/straightway/libstraightway.so"
    assert Path(path).is_file(), path
    return str(path)


def run(*command, preload=(), **settings):
    env = dict(os.environ, **settings)
    env["LD_PRELOAD"] = ":".join([library(), *map(str, preload)])
    done = patience.run(
        [str(part) for part in command],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def build(folder, source, name, *flags, compiler=None):
    target = folder / name
    subprocess.run(
        [compiler or CC, "-O1", "-g", "-fno-builtin", "-o", str(target),
         str(HERE / source), *flags, "-pthread"],
        check=True,
    )
    return target


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("heap")
    build(folder, "entries.c", "entries")
    build(folder, "entries.c", "fixed_entries", "-fno-pie", "-no-pie",
          "-DTAKES_ADDRESSES")
    build(folder, "mpi_name.c", "libmpi_name.so", "-shared", "-fPIC")
    build(folder, "other.c", "libother.so", "-shared", "-fPIC")
    build(folder, "said.c", "said")
    return folder


EAGER = {"STRAIGHTWAY_SHOW": "eager"}


# libc's own heap does not forget, unless it gives the memory back.
@needs_cc
@pytest.mark.parametrize("show", ["lazy", "eager", "off"])
def test_what_was_said_of_a_block_ends_with_it(built, show):
    assert run(built / "said", show, STRAIGHTWAY_SHOW=show).endswith("ok\n")


# Of these programs nothing is communicated, so that nothing becomes shared but
# where all is from its birth.
@needs_cc
@pytest.mark.parametrize("program", ["entries", "fixed_entries"])
@pytest.mark.parametrize("show, what", [
    ("eager", "arena"), ("lazy", "private"),
    pytest.param("off", "private", marks=pytest.mark.deep)])
def test_every_entry_point_from_the_arena(built, program, show, what):
    assert run(built / program, what, STRAIGHTWAY_SHOW=show).endswith("ok\n")


@needs_cc
def test_every_entry_point_without_an_arena(built):
    assert run(built / "entries", "none", STRAIGHTWAY_ARENA="off")


# The same program as in tests/mpi/base/test_fork.py.
@needs_cc
@pytest.mark.parametrize("show", ["eager", "lazy"])
def test_every_way_to_make_a_process_without_mpi(tmp_path, show):
    folder = HERE.parents[1] / "mpi/base"
    handlers = build(tmp_path, folder / "fork_handlers.c", "libhandlers.so",
                     "-shared", "-fPIC")
    program = build(tmp_path, folder / "fork_ways.c", "fork_ways",
                    "-DWITHOUT_MPI", f"-I{HERE.parents[1]}",
                    "-Wl,--no-as-needed", str(handlers), "-lutil")
    assert run(program, STRAIGHTWAY_SHOW=show).endswith("all is well\n")


@needs_cc
@pytest.mark.parametrize("door", ["memfd", "map", "map:2"])
def test_every_entry_point_with_a_service_refused(built, door):
    assert run(built / "entries", "none", STRAIGHTWAY_REFUSE=door)


@needs_cc
@pytest.mark.parametrize("door", ["punch", "huge"])
def test_the_arena_does_without_punching_and_huge_pages(built, door):
    assert run(built / "entries", "arena", STRAIGHTWAY_REFUSE=door, **EAGER)


def huge_pages(table):
    try:
        return (Path("/sys/kernel/mm/transparent_hugepage") / table).read_text()
    except OSError:
        return ""


@needs_cc
@pytest.mark.skipif(
    "[always]" in huge_pages("enabled")
    and any(no in huge_pages("shmem_enabled") for no in ("[never]", "[deny]")),
    reason="large static data stays private: only there it has huge pages",
)
def test_static_data_moves_where_an_mpi_library_is_loaded(built):
    mpi = built / "libmpi_name.so"
    assert run(built / "entries", "arena", "moved", preload=[mpi], **EAGER)
    assert run(built / "entries", "arena", "no", preload=[mpi],
               STRAIGHTWAY_ARENA_STATIC="off", **EAGER)


@needs_cc
def test_another_heap_gets_everything(built, tmp_path):
    source = tmp_path / "other.c"
    source.write_text(
        """
        #define _GNU_SOURCE
        #include <malloc.h>
        #include <stdlib.h>
        #include <string.h>
        int main(void) {
            for (int i = 0; i < 200; i++) {
                char *p = malloc(1000 * i), *q = calloc(i, 1000), *r = 0;
                if (malloc_usable_size(p) != 1000u * i) return 1;
                p = realloc(p, 5000 * i + 1);
                if (posix_memalign((void **)&r, 64, 70000)) return 2;
                free(p); free(q); free(r); free(strdup("x"));
            }
            return 0;
        }
        """
    )
    program = tmp_path / "other"
    subprocess.run([CC, "-fno-builtin", "-o", program, source], check=True)
    run(program, preload=[built / "libother.so"])
    text = run(program, preload=[built / "libother.so"],
               STRAIGHTWAY_VERBOSE="1")
    assert "libother.so" in text


@pytest.mark.skipif(not CXX, reason="no C++ compiler")
def test_cxx(tmp_path):
    program = build(tmp_path, "cxx.cpp", "cxx", "-std=c++17",
                    compiler=CXX)
    assert run(program) == "ok\n"


@needs_cc
def test_a_compiler_runs(tmp_path):
    source = tmp_path / "hello.c"
    source.write_text(
        '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n')
    run(CC, "-O2", "-g", "-o", tmp_path / "hello", source)
    assert run(tmp_path / "hello") == "hello\n"


def test_a_shell_runs():
    script = "x=$(printf '%50000s' a | wc -c); (echo $x | cat) & wait"
    assert run("sh", "-c", script).strip() == "50000"


PYTHON = """
import multiprocessing, os, subprocess, sys, threading
big = bytearray(b"a") * (8 << 20)
def child(queue):
    ok = big.count(b"a") == len(big)
    big[:] = b"b" * len(big)
    queue.put((ok, sum(bytearray(100000)) == 0))
def storm():
    for i in range(300):
        x = bytearray(40000 + 997 * i)
        x[-1] = 1
        y = x * 3
        assert y[len(x) - 1] == 1 and y[0] == 0
context = multiprocessing.get_context("fork")
for _ in range(3):
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert queue.get(timeout=60) == (True, True)
    process.join(60)
    assert process.exitcode == 0
    assert big.count(b"a") == len(big)
with context.Pool(2) as pool:
    assert pool.map(len, [b"x" * 200000] * 8) == [200000] * 8
threads = [threading.Thread(target=storm) for _ in range(4)]
[t.start() for t in threads]
for _ in range(3):
    out = subprocess.run([sys.executable, "-c", "print(6 * 7)"],
                         capture_output=True, preexec_fn=os.getpid)
    assert out.stdout.strip() == b"42", out
[t.join() for t in threads]
try:
    import numpy as np
except ImportError:
    pass
else:
    a = np.arange(3_000_000, dtype=float)
    assert np.zeros(3_000_000).sum() == 0
    assert (a * 2 + a).sum() == 3 * a.sum()
print("ok")
"""


def test_python_with_processes_and_threads():
    assert run(sys.executable, "-c", PYTHON) == "ok\n"
