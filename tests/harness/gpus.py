"""A stand-in for a GPU: its driver, and the kernels' names."""

import os
import subprocess

from harness.hosts import ROOT, TESTS

STANDIN = TESTS / "device" / "standin" / "cuda"


def driver(folder):
    """Compile tests/device/standin/cuda into the folder; the library."""
    library = folder / "libcuda.so.1"
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu17", "-D_GNU_SOURCE",
                    "-O1", "-g", "-shared", "-fPIC", "-fvisibility=hidden",
                    "-Wl,-z,nodelete", f"-I{ROOT / 'src'}", "-o", library,
                    *sorted(STANDIN.glob("*.c")), "-lpthread", "-ldl"],
                   check=True)
    return library


def kernels(folder):
    """Write a file of kernels for the stand-in, which needs their names alone;
    the folder."""
    shapes = ["ROW", "PLANE", "BOX", "LIST", "RUNS"]
    names = [f"sw_move_{width}_{source}_{target}_{unit}"
             for width, some in (("narrow", shapes), ("wide", shapes[2:]))
             for source in some for target in some
             for unit in (1, 2, 4, 8, 16, 32)]
    (folder / "move.ptx").write_text(".version 7.0\n" + "".join(
        f".visible .entry {name}()\n{{\n}}\n" for name in names))
    return folder
