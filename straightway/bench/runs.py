"""One run of straightway-bench: its parts, its command, its lines."""

import contextlib
import json
import os
import shlex
import subprocess
import tempfile

from straightway import native
from straightway.errors import UserError


def check_parts(host):
    for path in (native.bench_executable(), native.bench_module(host.flavour)):
        if not path.exists():
            raise UserError(f"{path} is missing: {host.title} has the flavour "
                            f"{host.flavour}, and this installation has no "
                            "library for it", 1)
    if not native.library().exists():
        raise UserError(f"the library is missing: {native.library()}", 1)


def command(host, ranks, launcher_args, arguments, out, before=(),
            launcher=""):
    """The words that start the benchmark under the host's launcher, or under
    the words of `launcher`. `before` comes before the benchmark's own words,
    for example those of env."""
    words = [*shlex.split(launcher), str(native.command()), "run"]
    if not launcher:
        words += ["-n", str(ranks), "--mpi", os.path.abspath(host.launcher)]
    if launcher_args:
        words += ["--launcher-args", launcher_args]
    return words + [
        "--", *before, str(native.bench_executable()), "--host", host.library,
        "--module", str(native.bench_module(host.flavour)), "--out", out,
        *map(str, arguments)]


class _Lines:
    """The complete lines that a growing file has gained since the last read.
    """

    def __init__(self, path):
        self.path, self.at = path, 0

    def read(self):
        try:
            with open(self.path, "rb") as file:
                file.seek(self.at)
                data = file.read()
        except FileNotFoundError:
            return
        whole, newline, _ = data.rpartition(b"\n")
        self.at += len(whole) + len(newline)
        for line in whole.splitlines():
            yield json.loads(line)


def follow(words, out, note=lambda line: None, **process_options):
    """Run a command. Return the lines that it writes to `out`, and its exit
    status. `note` gets each line as it comes."""
    lines, events = _Lines(out), []
    # Poll rarely: the ranks may need every core.
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL,
                               **process_options)
    try:
        running = True
        while running:
            try:
                process.wait(0.5)
                running = False
            except subprocess.TimeoutExpired:
                pass
            for line in lines.read():
                events.append(line)
                note(line)
    except BaseException:
        process.terminate()
        process.wait()
        raise
    return events, process.returncode


@contextlib.contextmanager
def unseen(total):
    """A progress display that shows nothing."""
    yield lambda operation, size, total: None


def launch(host, ranks, launcher_args, arguments, cells=None, progress=unseen,
           launcher="", before=()):
    """Run the native benchmark. Return its lines, command and exit status.
    Rank 0 may run on another node: with `launcher` it writes to the working
    directory, which all nodes must have.

    If the caller does not know the number of cells, each line of output has
    it. `progress(cells)` is a context that gets each cell as it comes.
    """
    with tempfile.TemporaryDirectory(
            prefix="straightway-",
            dir=os.getcwd() if launcher else None) as folder:
        out = os.path.join(folder, "lines")
        words = command(host, ranks, launcher_args, arguments, out, before,
                        launcher)
        with progress(cells) as step:
            def note(line):
                nonlocal cells
                if "cell" in line:
                    cells = line.get("cells", cells)
                    step(line["cell"], line["size"], cells)

            events, status = follow(words, out, note)
    return {"events": events, "status": status, "command": words,
            "expected": cells}
