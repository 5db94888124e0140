"""The stand-in for CUDA's driver (tests/device/standin/cuda/), built, and what
it takes for kernels."""

import os
import subprocess

from harness import turns
from harness.hosts import ROOT, TESTS

STANDIN = TESTS / "device" / "standin" / "cuda"
SHAPES = ["ROW", "PLANE", "BOX", "LIST", "RUNS"]
UNSIGNED, SIGNED = (
    [f"{sign}{bits}" for bits in (8, 16, 32, 64)] for sign in ("UINT", "INT"))
REDUCTIONS = [
    *((op, type) for type in UNSIGNED for op in
      ("SUM", "PROD", "LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR")),
    *((op, type) for type in ("FLOAT", "DOUBLE") for op in ("SUM", "PROD")),
    *((op, type) for type in (*UNSIGNED, *SIGNED, "FLOAT", "DOUBLE")
      for op in ("MAX", "MIN"))]


def _build(folder, *flags):
    library = folder / "libcuda.so.1"
    with turns.once(folder):
        if not library.exists():
            folder.mkdir(parents=True, exist_ok=True)
            made = folder / "made.so"
            subprocess.run([
                os.environ.get("CC", "cc"), "-std=gnu17", "-D_GNU_SOURCE",
                "-O1", "-g", "-shared", "-fPIC", "-fvisibility=hidden",
                "-Wl,-z,nodelete", "-Wl,-soname,libcuda.so.1", *flags,
                f"-I{ROOT / 'src'}", "-o", made, *sorted(STANDIN.glob("*.c")),
                "-lpthread", "-ldl"], check=True)
            made.rename(library)
    return library


def driver(scratch):
    """Build libcuda.so.1 in a folder below `scratch`, once; its path."""
    return _build(scratch / "standin")


def true_driver(scratch):
    """The same with CUDA's calls alone, so that a program cannot tell it from
    the driver of a GPU."""
    symbols = scratch / "cuda.map"
    symbols.write_text("{ global: cu*; local: *; };\n")
    return _build(scratch / "true", f"-Wl,--version-script={symbols}")


def kernels(folder):
    """Write files of kernels, of which the stand-in needs the names alone."""
    names = [f"sw_move_{width}_{source}_{target}_{unit}"
             for width, some in (("narrow", SHAPES), ("wide", SHAPES[2:]))
             for source in some for target in some
             for unit in (1, 2, 4, 8, 16, 32)]
    reductions = [f"sw_reduce_{op}_{type}" for op, type in REDUCTIONS]
    for file, entries in ("move", names), ("reduce", reductions):
        draft = folder / f"{file}.{os.getpid()}"
        draft.write_text(".version 7.0\n" + "".join(
            f".visible .entry {name}()\n{{\n}}\n" for name in entries))
        draft.rename(folder / f"{file}.ptx")
    return folder
