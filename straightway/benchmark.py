"""What the benchmarks have in common: one run of straightway-bench, its
options, its lines, and the verdict on them."""

import difflib
import fnmatch
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import tempfile

from straightway import native, statistics
from straightway.errors import UserError
from straightway.machine import hardware
from straightway.reporters import terminal

MODES = ("host", "ours")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


# Options ----------------------------------------------------------------

def parse_bytes(word):
    """"64k" -> 65536; None if it is no size."""
    found = re.fullmatch(r"\s*(\d+)\s*([kmg]?)(?:i?b)?\s*", word.lower())
    return int(found.group(1)) * _UNITS[found.group(2)] if found else None


def parse_bound(option, text):
    """Bytes, from 1 to 1g, that an option gives."""
    n = parse_bytes(text)
    if n is None or not 1 <= n <= 1 << 30:
        raise UserError(f"{option} {text}: give a size from 1 to 1g, like "
                        "64k")
    return n


def parse_size_list(text):
    """"8,64k" -> [("8", 8), ("64k", 65536)], as they were given."""
    sizes = []
    for word in text.split(","):
        n = parse_bytes(word)
        if n is None:
            raise UserError(f"--sizes {text}: {word.strip() or 'nothing'} is "
                            "no size; give sizes like 8,64,1k,4m")
        if n > 1 << 30:
            raise UserError(f"--sizes {text}: {word.strip()} is more than "
                            "1g a rank")
        sizes.append((word.strip(), n))
    return sizes


def parse_names(option, what, text, known):
    """"allreduce,MPI_Bcast" or "all*" -> those of `known`, in its order; or
    all."""
    if text.lower() == "all":
        return list(known)
    chosen = set()
    for word in text.split(","):
        name = re.sub("^mpi_", "", word.strip().lower())
        found = fnmatch.filter(known, name)
        if not found:
            near = difflib.get_close_matches(name, known, 1)
            hint = (f"did you mean {near[0]}?" if near else
                    "there are " + ", ".join(known))
            raise UserError(f"{option} {text}: unknown {what} "
                            f"{word.strip() or '(none)'}; {hint}")
        chosen.update(found)
    return [name for name in known if name in chosen]


def add_common(add):
    """The options that every benchmark has."""
    add("--mpi", metavar="MPI", help=(
        "the host: an installation's folder, a launcher, or openmpi, "
        "mpich, intel [the first found]"))
    add("--seed", type=int, metavar="N",
        help="of the shuffled order [a new one each time]")
    add("--launcher-args", metavar="\"...\"", default="",
        help="hand these arguments to the launcher")


def seed(options):
    return options.seed if options.seed is not None else \
        random.randrange(1, 1 << 31)


def check_ranks(ranks):
    if not 2 <= ranks <= 4096:
        raise UserError(f"-n {ranks}: give 2 ranks or more (4096 at most)")


def check_seconds(option, seconds):
    if not 0 < seconds <= 3600:
        raise UserError(f"{option} {seconds}: give seconds, more than 0")


def check_memory(need, what, remedy):
    have = hardware.memory_limit() or hardware.memory_total()
    if need > have * 0.8:
        raise UserError(
            f"{what} need {need >> 20} MiB of buffers; this machine has "
            f"{have >> 20} MiB\n  {remedy}", 1)


def check_writable(path):
    """Better before the run than after it."""
    if not path or path == "-":
        return
    folder = pathlib.Path(path).absolute().parent
    if not folder.is_dir():
        raise UserError(f"{path}: there is no folder {folder}", 1)
    if pathlib.Path(path).is_dir() or not os.access(folder, os.W_OK):
        raise UserError(f"{path}: cannot be written", 1)


def check_parts(host):
    for path in (native.bench_executable(), native.bench_module(host.flavour)):
        if not path.exists():
            raise UserError(f"{path} is missing: {host.title} has the flavour "
                            f"{host.flavour}, which this installation was "
                            "built without", 1)
    if not native.library().exists():
        raise UserError(f"the library is missing: {native.library()}", 1)


# The run ----------------------------------------------------------------

def command(host, ranks, launcher_args, arguments, out, before=()):
    """What is to be run; `before`: words that start the program, as of env.
    """
    words = [str(native.command()), "run", "-n", str(ranks),
               "--mpi", os.path.abspath(host.launcher)]
    if launcher_args:
        words += ["--launcher-args", launcher_args]
    return words + [
        "--", *before, str(native.bench_executable()), "--host", host.library,
        "--module", str(native.bench_module(host.flavour)), "--out", out,
        *map(str, arguments)]


class _Lines:
    """The complete lines that a growing file has gained since last asked."""

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


def add_computing(add):
    add("--computing", metavar="SIZE", help=(
        "each call by itself, after every rank has written what it sends, read "
        "what it received and gone through SIZE bytes of other memory [calls "
        "one after the other, with warm buffers]"))


def computing(options):
    """[options of the native half], and the bytes, or None."""
    if options.computing is None:
        return [], None
    swept = parse_bytes(options.computing)
    if swept is None or swept > 1 << 30:
        raise UserError(f"--computing {options.computing}: give a size up to "
                        "1g, like 4m")
    return ["--computing", swept], swept


def follow(words, out, note=lambda line: None, **process_options):
    """Run a command; the lines it writes to `out`, each of them noted as it
    comes, and its exit status."""
    lines, events = _Lines(out), []
    # Polled rarely: the ranks may need every core there is.
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


def launch(host, ranks, launcher_args, arguments, cells=None):
    """Run the native benchmark; its lines, command and exit status. Where
    it is not known how many cells there will be, each of them says so."""
    with tempfile.TemporaryDirectory(prefix="straightway-") as folder:
        out = os.path.join(folder, "lines")
        words = command(host, ranks, launcher_args, arguments, out)
        with terminal.progress(cells) as progress:
            def note(line):
                nonlocal cells
                if "cell" in line:
                    cells = line.get("cells", cells)
                    progress(line["cell"], line["size"], cells)

            events, status = follow(words, out, note)
    return {"events": events, "status": status, "command": words,
            "expected": cells}


# What came of it --------------------------------------------------------

def cell(line, floor, modes=MODES):
    """One cell of a report, from its line."""
    found = {"operation": line["cell"], "size": line["size"], "floor": floor,
             **dict.fromkeys(modes), "ratio": None}
    for mode in modes:
        if line.get(mode):
            found[mode] = dict(statistics.summary(line[mode]),
                               calls=line[mode + "_calls"],
                               right=line[mode + "_right"],
                               samples=line[mode])
    if found["ours"]:
        found["ratio"] = found["host"]["median"] / found["ours"]["median"]
    return found


def cell_lines(run):
    return [e for e in run["events"] if "cell" in e]


def summary(cells, names):
    """Ratios: the mean and the worst of each operation, and of all."""
    rated = [c for c in cells if c["ratio"]]
    result = {"operations": {}, "geometric_mean": None, "worst": None}
    for name in names:
        mine = [c for c in rated if c["operation"] == name]
        if mine:
            worst = min(mine, key=lambda c: c["ratio"])
            result["operations"][name] = {
                "geometric_mean": statistics.geometric_mean(
                    c["ratio"] for c in mine),
                "worst": worst["ratio"], "worst_size": worst["size"]}
    if rated:
        worst = min(rated, key=lambda c: c["ratio"])
        result["geometric_mean"] = statistics.geometric_mean(
            c["ratio"] for c in rated)
        result["worst"] = {k: worst[k] for k in ("operation", "size",
                                                 "ratio")}
    return result


def head(schema, run, host, ranks, description, floors, seed, seconds):
    """The members that every report begins with."""
    start = next((e["start"] for e in run["events"] if "start" in e), {})
    return {
        "schema": schema,
        "machine": description,
        "mpi": dict(host.describe(), version=start.get("mpi", host.version)),
        "ranks": ranks,
        "oversubscribed": ranks > hardware.cores(),
        "seed": seed,
        "seconds": seconds,
        "command": shlex.join(run["command"]),
        "switchable": start.get("modes") == 2,
        "floors": floors,
    }


def verdict(run, report, host, why=lambda cell, mode: "", who=None):
    """The exit status; what is wrong is said, `why` adds what is known. `who`
    names those who did it, for other modes than the usual ones."""
    who = who or {"host": host.title, "ours": "Straightway"}
    cells = report["cells"]
    wrong = [(c, mode) for c in cells for mode in who
             if c[mode] and not c[mode]["right"]]
    for one, mode in wrong:
        terminal.error(f"WRONG RESULT: {one['operation']} at {one['size']} "
                       f"bytes with {who[mode]}" + why(one, mode))
    if wrong:
        return 1
    if not cells:
        # Whoever failed has said why: the launcher, or straightway run.
        terminal.error("the benchmark did not start (status "
                       f"{run['status']})")
        return 1
    if run["status"] or len(cells) < run["expected"]:
        terminal.error(
            f"the benchmark ended with status {run['status']} after "
            f"{len(cells)} of {run['expected']} cells; its command was\n  "
            + report["command"])
        return 1
    if not report["switchable"]:
        terminal.error(
            f"only {host.title} was measured: Straightway does not "
            "accelerate it here (see straightway doctor)")
        return 1
    return 0
