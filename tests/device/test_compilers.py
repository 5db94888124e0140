"""NVIDIA's own compilers take the kernels, for every architecture from the
oldest that they know to the newest, and no kernel needs the stack.

The test looks for NVRTC and ptxas in Python's packages (nvidia-cuda-nvrtc,
nvidia-cuda-nvcc) and in the folder that CUDA_HOME names.
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys

import pytest
from harness.hosts import ROOT

MOVES = " ".join(
    f"SW_MOVE({width},{source},{target},{unit})"
    for width, source, target, unit in [
        ("narrow", "PLANE", "ROW", 8), ("narrow", "ROW", "BOX", 16),
        ("narrow", "LIST", "ROW", 8), ("narrow", "RUNS", "PLANE", 4),
        ("narrow", "PLANE", "PLANE", 32), ("wide", "BOX", "LIST", 1)])
REDUCES = " ".join(
    f"SW_REDUCE({op},{type})" for op, type in [
        ("SUM", "DOUBLE"), ("MAX", "FLOAT"), ("MIN", "INT64"),
        ("PROD", "UINT16"), ("LXOR", "UINT8")])
WANTED = {"move": ("SW_MOVE", MOVES), "reduce": ("SW_REDUCE", REDUCES)}
ARCHITECTURES = 70, 75, 80, 86, 89, 90, 100


def found(pattern):
    folders = [pathlib.Path(folder) / "nvidia" for folder in sys.path]
    folders.append(pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")))
    for folder in folders:
        for path in sorted(folder.glob(pattern)) if folder.is_dir() else ():
            return path
    pytest.skip(f"no {pattern.rpartition('/')[2]}: neither a package of "
                "Python's nor CUDA_HOME has it")


class Compiler:
    """NVRTC, as a library in this process."""

    def __init__(self):
        library = found("**/libnvrtc.so.*")
        # NVRTC opens this one by its name.
        for builtins in library.parent.glob("libnvrtc-builtins.so.*"):
            ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
        self.nvrtc = ctypes.CDLL(str(library))

    def architectures(self):
        count = ctypes.c_int()
        assert self.nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == 0
        known = (ctypes.c_int * count.value)()
        assert self.nvrtc.nvrtcGetSupportedArchs(known) == 0
        return list(known)

    def text(self, program, what):
        size = ctypes.c_size_t()
        assert getattr(self.nvrtc, f"nvrtcGet{what}Size")(
            program, ctypes.byref(size)) == 0
        text = ctypes.create_string_buffer(size.value)
        assert getattr(self.nvrtc, f"nvrtcGet{what}")(program, text) == 0
        return text.value

    def ptx(self, architecture, source="move"):
        """PTX of the WANTED kernels; the compiler gets the sources' text and no
        folder."""
        names = f"{source}.cu", f"{source}.h"
        texts = [(ROOT / "src" / "device" / name).read_bytes()
                 for name in names]
        name, wanted = WANTED[source]
        program = ctypes.c_void_p()
        assert self.nvrtc.nvrtcCreateProgram(
            ctypes.byref(program), texts[0], names[0].encode(), 1,
            (ctypes.c_char_p * 1)(texts[1]),
            (ctypes.c_char_p * 1)(names[1].encode())) == 0
        options = [f"--gpu-architecture=compute_{architecture}".encode(),
                   f"-D{name}S={wanted}".encode(), b"--fmad=false"]
        code = self.nvrtc.nvrtcCompileProgram(
            program, 3, (ctypes.c_char_p * 3)(*options))
        log = self.text(program, "ProgramLog").decode()
        assert code == 0, log
        lines = [line for line in log.splitlines()
                 if "warning" in line and "deprecated" not in line]
        assert not lines, log
        return self.text(program, "PTX")


@pytest.fixture(scope="module")
def compiler():
    return Compiler()


@pytest.fixture(scope="module")
def ptxas():
    return found("**/bin/ptxas")


@pytest.mark.parametrize("source", WANTED)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_kernels_compile_and_spill_nothing(compiler, ptxas, tmp_path,
                                           architecture, source):
    oldest = min(compiler.architectures())
    if architecture < oldest:
        pytest.skip(f"this NVRTC begins with compute_{oldest}")
    path = tmp_path / "kernels.ptx"
    path.write_bytes(compiler.ptx(architecture, source))
    done = subprocess.run(
        [ptxas, "-v", f"-arch=sm_{architecture}", "-o", tmp_path / "cubin",
         path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    spills = re.findall(r"(\d+) bytes spill stores", done.stderr)
    assert len(spills) == len(WANTED[source][1].split()), done.stderr
    assert not any(map(int, spills)), done.stderr


def test_loads_of_16_bytes_are_in_flight_together(compiler, tmp_path):
    """Every load of a tile comes before its first store."""
    ptx = compiler.ptx(max(80, min(compiler.architectures()))).decode()
    kernel = ptx.partition("sw_move_narrow_ROW_BOX_16")[2].partition("ret;")[0]
    order = re.findall(r"\b(ld|st)\.global\.\w*\.?v4", kernel)
    assert order == ["ld"] * 4 + ["st"] * 4


def test_the_greater_number_is_chosen_as_the_processor_chooses(compiler):
    """By a comparison: an instruction for the maximum drops NaN."""
    oldest = max(80, min(compiler.architectures()))
    ptx = compiler.ptx(oldest, "reduce").decode()
    assert "setp.gt.f32" in ptx and "max.f32" not in ptx and "fma" not in ptx
