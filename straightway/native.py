"""The native parts: where they are, and their answers.

Invariant: lib/straightway/ is beside the bin/ that holds the command, in an
installation and in a build folder.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

from straightway.errors import UserError


def command():
    """The path of bin/straightway."""
    given = os.environ.get("STRAIGHTWAY_COMMAND")
    beside = pathlib.Path(sys.executable).parent / "straightway"
    if given and os.access(given, os.X_OK):
        return pathlib.Path(given)
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("straightway")
    if not found:
        raise UserError(f"the command is missing: {beside}", 1)
    return pathlib.Path(found)


def folder():
    """lib/straightway, with the libraries, the probe and the benchmark."""
    return command().resolve().parent.parent / "lib" / "straightway"


def library():
    """The library that is preloaded (it may be missing)."""
    given = os.environ.get("STRAIGHTWAY_LIB")
    return pathlib.Path(given) if given else folder() / "libstraightway.so"


def flavour_library(flavour):
    return library().parent / f"libstraightway-{flavour}.so"


def bench_executable():
    return folder() / "straightway-bench"


def bench_module(flavour):
    return folder() / f"libstraightway-bench-{flavour}.so"


def trace_executable():
    return folder() / "straightway-trace"


def map_executable():
    return folder() / "straightway-map"


def where_executable():
    return folder() / "straightway-where"


def whatif_executable():
    return folder() / "straightway-whatif"


def answer(program, words, text=b"", timeout=None):
    """The JSON answer of a native program to `text`. UserError with its
    message when it fails."""
    try:
        done = subprocess.run([program, *map(str, words)], input=text,
                              capture_output=True, timeout=timeout)
    except FileNotFoundError:
        raise UserError(f"a part of straightway is missing: {program}\n"
                        "  reinstall straightway", 1) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{program}: {error}", 1) from None
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip()
        raise UserError(why or f"{program} exited with status "
                        f"{done.returncode}", 1)
    return json.loads(done.stdout)


def probe(what=None):
    """Run the probe; `what` is --services, --floors or --settings."""
    return answer(folder() / "straightway-probe", [what] if what else [],
                  timeout=120)


def probe_cores(cpus):
    """Let the probe measure each two of these processors."""
    return answer(folder() / "straightway-probe",
                  ["--cores", ",".join(map(str, cpus))])
