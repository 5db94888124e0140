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

    def ptx(self, architecture):
        """PTX of MOVES; the compiler gets the sources' text and no folder."""
        texts = [(ROOT / "src" / "device" / name).read_bytes()
                 for name in ("move.cu", "move.h")]
        program = ctypes.c_void_p()
        assert self.nvrtc.nvrtcCreateProgram(
            ctypes.byref(program), texts[0], b"move.cu", 1,
            (ctypes.c_char_p * 1)(texts[1]),
            (ctypes.c_char_p * 1)(b"move.h")) == 0
        options = [f"--gpu-architecture=compute_{architecture}".encode(),
                   f"-DSW_MOVES={MOVES}".encode()]
        code = self.nvrtc.nvrtcCompileProgram(
            program, 2, (ctypes.c_char_p * 2)(*options))
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


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_kernels_compile_and_spill_nothing(compiler, ptxas, tmp_path,
                                           architecture):
    oldest = min(compiler.architectures())
    if architecture < oldest:
        pytest.skip(f"this NVRTC begins with compute_{oldest}")
    path = tmp_path / "move.ptx"
    path.write_bytes(compiler.ptx(architecture))
    done = subprocess.run(
        [ptxas, "-v", f"-arch=sm_{architecture}", "-o", tmp_path / "cubin",
         path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    spills = re.findall(r"(\d+) bytes spill stores", done.stderr)
    assert len(spills) == MOVES.count("SW_MOVE"), done.stderr
    assert not any(map(int, spills)), done.stderr


def test_loads_of_16_bytes_are_in_flight_together(compiler, tmp_path):
    """Every load of a tile comes before its first store."""
    ptx = compiler.ptx(max(80, min(compiler.architectures()))).decode()
    kernel = ptx.partition("sw_move_narrow_ROW_BOX_16")[2].partition("ret;")[0]
    order = re.findall(r"\b(ld|st)\.global\.\w*\.?v4", kernel)
    assert order == ["ld"] * 4 + ["st"] * 4
