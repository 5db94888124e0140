"""Checks of what this machine has for data in the memory of GPUs.

Processes of their own ask the driver, the compiler and the MPIs, so this one
loads none of them.
"""

import json
import os
import subprocess
import sys

from straightway import native
from straightway.machine.checks import DEGRADED, NOTE, OK, Check

_GROUP = "memory of GPUs"

# The names of src/device/nvrtc.c.
_ASK = """
import ctypes, json, os
def load(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
driver, devices = load("libcuda.so.1"), ctypes.c_int(0)
if driver and (driver.cuInit(0) or
               driver.cuDeviceGetCount(ctypes.byref(devices))):
    devices.value = 0
home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
compiler = load("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                f"{home}/lib64/libnvrtc.so")
print(json.dumps({"driver": bool(driver), "devices": devices.value,
                  "nvrtc": bool(compiler)}))
"""

# As src/mpi/base/aware.c asks.
_AWARE = """
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_GLOBAL)
found = ctypes.c_int(0)
if hasattr(library, "MPIX_Query_cuda_support"):
    found.value = library.MPIX_Query_cuda_support() == 1
elif hasattr(library, "MPIX_GPU_query_support"):
    library.MPIX_GPU_query_support(0, ctypes.byref(found))
print(int(found.value != 0))
"""


def _answer(script, *words):
    """What the script prints, as JSON; None where it fails."""
    try:
        done = subprocess.run([sys.executable, "-c", script, *words],
                              text=True, capture_output=True, timeout=30)
        return json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None


def _kernels(nvrtc):
    """Where the engine's kernels would come from, as src/device/kernels.h
    says; "" where there are none."""
    folder = os.environ.get("STRAIGHTWAY_GPU_KERNELS") or \
        native.library().parent / "device"
    has = {name: os.path.exists(os.path.join(folder, name))
           for name in ("move.cu", "move.h", "move.ptx")}
    if nvrtc and has["move.cu"] and has["move.h"]:
        return "NVRTC"
    return "PTX" if has["move.ptx"] else ""


def _is_on():
    return os.environ.get("STRAIGHTWAY_GPU", "").lower() in (
        "1", "on", "yes", "true")


def checks(found):
    """The one Check. `found`: the MPIs of hosts.find."""
    asked = _answer(_ASK) or {"driver": False, "devices": 0, "nvrtc": False}
    kernels = _kernels(asked["nvrtc"])
    aware = {host.title: _answer(_AWARE, host.library) == 1
             for host in found if not host.error}
    driver = (f"CUDA's driver, {asked['devices']} "
              f"device{'s' * (asked['devices'] != 1)}" if asked["driver"]
              else "no driver of CUDA's")
    able = [title for title, yes in aware.items() if yes]
    knows = f"CUDA-aware: {', '.join(able) or 'no MPI here'}"
    finding = "; ".join(filter(None, (
        driver, knows, f"--gpu is {'on' if _is_on() else 'off'}",
        f"kernels from {kernels}" if kernels else "no kernels")))
    check = Check(_GROUP, "GPUs", OK, finding)
    if not asked["driver"]:
        return [check]
    if not kernels:
        check.status = DEGRADED
        check.cost = ("with --gpu, datatypes with gaps go block by block")
        check.mend = "pip install nvidia-cuda-nvrtc, or set CUDA_HOME"
    elif not _is_on() and not all(aware.values()):
        check.status = NOTE
        check.cost = "an MPI that is not CUDA-aware crashes on a GPU's memory"
        check.mend = "straightway run --gpu"
    return [check]
