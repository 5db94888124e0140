"""The kernels' PTX, by nvcc or by NVRTC.

Usage: generate_ptx.py --find
       generate_ptx.py COMPILER SOURCE.CU SOURCE.H OUTPUT

--find prints a COMPILER: nvcc (of CUDA_HOME, of PATH, of /usr/local/cuda), or
else the library libnvrtc.so.N of Python's packages. It prints nothing where
there is neither.

The PTX is for the oldest architecture that the compiler knows, since drivers
compile it for all later ones.
"""
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys


def find():
    """The compiler's path, or None."""
    home = os.environ.get("CUDA_HOME", "")
    folders = [f"{home}/bin", os.environ.get("PATH", ""), "/usr/local/cuda/bin"]
    nvcc = shutil.which("nvcc", path=os.pathsep.join(folders))
    if nvcc:
        return nvcc
    for folder in sys.path:
        for path in sorted(pathlib.Path(folder, "nvidia").glob(
                "**/libnvrtc.so.*")):
            return str(path)
    return None


def by_nvcc(nvcc, source, output):
    """The file by the program nvcc."""
    known = subprocess.run([nvcc, "--list-gpu-arch"], capture_output=True,
                           check=True, text=True).stdout
    oldest = min(map(int, re.findall(r"compute_(\d+)\b", known)))
    subprocess.run([nvcc, "--ptx", f"--gpu-architecture=compute_{oldest}",
                    "--fmad=false", "--output-file", output, source],
                   check=True)


def by_nvrtc(library, source, header, output):
    """The file by the library NVRTC, which opens another one by its name."""
    for builtins in pathlib.Path(library).parent.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(library)

    def call(name, *arguments):
        code = getattr(nvrtc, name)(*arguments)
        if code:
            sys.exit(f"{name}: error {code}\n{log()}")

    def text(what):
        size = ctypes.c_size_t()
        getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        to = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{what}")(program, to)
        return to.value

    def log():
        return text("ProgramLog").decode(errors="replace") if program else ""

    program = ctypes.c_void_p()
    count = ctypes.c_int()
    call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
    known = (ctypes.c_int * count.value)()
    call("nvrtcGetSupportedArchs", known)
    call("nvrtcCreateProgram", ctypes.byref(program),
         pathlib.Path(source).read_bytes(),
         pathlib.Path(source).name.encode(), 1,
         (ctypes.c_char_p * 1)(pathlib.Path(header).read_bytes()),
         (ctypes.c_char_p * 1)(pathlib.Path(header).name.encode()))
    options = [f"--gpu-architecture=compute_{min(known)}".encode(),
               b"--fmad=false"]
    call("nvrtcCompileProgram", program, 2, (ctypes.c_char_p * 2)(*options))
    pathlib.Path(output).write_bytes(text("PTX"))


def main(arguments):
    if arguments == ["--find"]:
        print(find() or "")
        return
    compiler, source, header, output = arguments
    if pathlib.Path(compiler).name.startswith("libnvrtc"):
        by_nvrtc(compiler, source, header, output)
    else:
        by_nvcc(compiler, source, output)


if __name__ == "__main__":
    main(sys.argv[1:])
