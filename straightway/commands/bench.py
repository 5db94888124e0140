"""straightway bench: the host MPI and Straightway side by side."""

import difflib
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import tempfile
import time

from straightway import collectives, hosts, machine, native, statistics
from straightway.errors import UserError
from straightway.reporters import json_file, svg, terminal

SIZES = "8,64,1k,16k,64k,256k,1m,4m"
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parse_sizes(text):
    """"8,64k" -> [8, 65536]; sizes are multiples of 8 (doubles)."""
    sizes = []
    for word in text.split(","):
        found = re.fullmatch(r"\s*(\d+)\s*([kmg]?)(?:i?b)?\s*", word.lower())
        if not found:
            raise UserError(f"--sizes {text}: {word.strip() or 'nothing'} is "
                            "no size; give sizes like 8,64,1k,4m")
        n = int(found.group(1)) * _UNITS[found.group(2)]
        if n < 8 or n % 8:
            raise UserError(f"--sizes {text}: {word.strip()} is not a "
                            "multiple of 8 bytes (the elements are doubles)")
        if n > 1 << 30:
            raise UserError(f"--sizes {text}: {word.strip()} is more than "
                            "1g a rank")
        sizes.append(n)
    if len(set(sizes)) > 64:
        raise UserError(f"--sizes: {len(set(sizes))} sizes; at most 64")
    return sorted(set(sizes))


def parse_operations(text):
    """"allreduce,MPI_Bcast" -> in the order of measurement."""
    if text.lower() == "all":
        return list(collectives.OPERATIONS)
    chosen = set()
    for word in text.split(","):
        name = re.sub("^mpi_", "", word.strip().lower())
        if name not in collectives.OPERATIONS:
            near = difflib.get_close_matches(name, collectives.OPERATIONS, 1)
            hint = (f"did you mean {near[0]}?" if near else
                    "there are " + ", ".join(collectives.OPERATIONS))
            raise UserError(f"--ops {text}: unknown operation "
                            f"{word.strip() or '(none)'}; {hint}")
        chosen.add(name)
    return [name for name in collectives.OPERATIONS if name in chosen]


class Bench:
    """Measure the host MPI and Straightway side by side.

    straightway bench collectives measures the blocking collectives; see
    straightway bench collectives --help
    """

    name = "bench"

    @staticmethod
    def arguments(parser):
        below = parser.add_subparsers(dest="benchmark", metavar="BENCHMARK",
                                      required=True,
                                      parser_class=type(parser))
        lines = (Collectives.__doc__ or "").split("\n")
        child = below.add_parser(
            Collectives.name, help=lines[0],
            description="\n".join(line[4:] if line.startswith("    ")
                                  else line for line in lines))
        Collectives.arguments(child)

    @staticmethod
    def run(options):
        return Collectives.run(options)


class Collectives:
    """Measure the blocking collectives of one node.

    Host and Straightway are switched at run time and interleaved in one run,
    in shuffled order. A sample is a batch of calls of 50 µs or more with a
    barrier before it; its value is the slowest rank's. Medians are shown,
    with the bounds that hold them with 95 % confidence, and beside them the
    floor: what a cache line's way between two cores, or a memcpy of the bytes
    that a rank must move, takes on this machine. Results are checked.

    A size is what each rank contributes (bcast, reduce, allreduce, scan,
    exscan), or the block that travels between two ranks (gather, scatter,
    allgather, alltoall, reduce_scatter and their variants).

    The exit status is 1 when a result was wrong or the run failed.
    """

    name = "collectives"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("-n", "--ranks", type=int, metavar="N",
            help="ranks [as many as there are cores, at least 2]")
        add("--mpi", metavar="MPI", help=(
            "the host: an installation's folder, a launcher, or openmpi, "
            "mpich, intel [the first found]"))
        add("--ops", metavar="LIST", default="all",
            help="operations, as in allreduce,bcast [all]")
        add("--sizes", metavar="LIST", default=SIZES,
            help=f"bytes [{SIZES}]")
        add("--time-per-cell", metavar="S", type=float, default=0.5,
            help="seconds for one operation at one size [0.5]")
        add("--json", metavar="FILE", help=(
            "write raw samples and the machine's description to FILE"))
        add("--plot", metavar="FILE.svg", help="draw latency by size")
        add("--seed", type=int, metavar="N",
            help="of the shuffled order [a new one each time]")
        add("--launcher-args", metavar="\"...\"", default="",
            help="hand these arguments to the launcher")

    @staticmethod
    def run(options):
        operations = parse_operations(options.ops)
        sizes = parse_sizes(options.sizes)
        ranks = options.ranks or max(2, machine.cores())
        if options.ranks is not None and not 2 <= options.ranks <= 4096:
            raise UserError(f"-n {options.ranks}: give 2 ranks or more "
                            "(4096 at most)")
        if not 0 < options.time_per_cell <= 3600:
            raise UserError(f"--time-per-cell {options.time_per_cell}: give "
                            "seconds, more than 0")
        _check_memory(ranks, sizes, operations)
        for path in (options.json, options.plot):
            _check_writable(path)
        host = hosts.choose(options.mpi)
        _check_parts(host)

        description = machine.describe()
        probe = native.probe("--floors")
        seed = options.seed if options.seed is not None else \
            random.randrange(1, 1 << 31)
        terminal.bench_start(host.title, ranks, len(operations), len(sizes),
                             description)
        start = time.monotonic()
        run = _launch(host, ranks, operations, sizes, options, seed)
        report = _report(run, host, ranks, probe, description, options, seed,
                         time.monotonic() - start)
        if report["cells"]:
            terminal.bench(report)
        if options.json:
            json_file.write(options.json, report)
        if options.plot and report["cells"]:
            svg.write(options.plot, report)
        return _verdict(run, report, host)


def _check_memory(ranks, sizes, operations):
    if operations == ["barrier"]:
        return
    need = 2 * ranks * ranks * max(sizes)
    have = machine.memory_limit() or machine.memory_total()
    if need > have * 0.8:
        raise UserError(
            f"{ranks} ranks at {max(sizes)} bytes need {need >> 20} MiB of "
            f"buffers; this machine has {have >> 20} MiB\n"
            "  give fewer ranks or smaller --sizes", 1)


def _check_writable(path):
    """Better before the run than after it."""
    if not path or path == "-":
        return
    folder = pathlib.Path(path).absolute().parent
    if not folder.is_dir():
        raise UserError(f"{path}: there is no folder {folder}", 1)
    if pathlib.Path(path).is_dir() or not os.access(folder, os.W_OK):
        raise UserError(f"{path}: cannot be written", 1)


def _check_parts(host):
    for path in (native.bench_executable(), native.bench_module(host.flavour)):
        if not path.exists():
            raise UserError(f"{path} is missing: {host.title} has the flavour "
                            f"{host.flavour}, which this installation was "
                            "built without", 1)
    if not native.library().exists():
        raise UserError(f"the library is missing: {native.library()}", 1)


def _command(host, ranks, operations, sizes, options, seed, out):
    command = [str(native.command()), "run", "-n", str(ranks),
               "--mpi", os.path.abspath(host.launcher)]
    if options.launcher_args:
        command += ["--launcher-args", options.launcher_args]
    return command + [
        "--", str(native.bench_executable()), "--host", host.library,
        "--module", str(native.bench_module(host.flavour)), "--out", out,
        "--ops", ",".join(operations), "--sizes", ",".join(map(str, sizes)),
        "--seconds", str(options.time_per_cell), "--seed", str(seed)]


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


def _launch(host, ranks, operations, sizes, options, seed):
    """Run the native benchmark; its lines, command and exit status."""
    cells = sum(1 if op == "barrier" else len(sizes) for op in operations)
    with tempfile.TemporaryDirectory(prefix="straightway-") as folder:
        out = os.path.join(folder, "lines")
        command = _command(host, ranks, operations, sizes, options, seed, out)
        lines, events = _Lines(out), []
        # Polled rarely: the ranks may need every core there is.
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        try:
            with terminal.progress(cells) as progress:
                running = True
                while running:
                    try:
                        process.wait(0.5)
                        running = False
                    except subprocess.TimeoutExpired:
                        pass
                    for line in lines.read():
                        events.append(line)
                        if "cell" in line:
                            progress(line["cell"], line["size"])
        except BaseException:
            process.terminate()
            process.wait()
            raise
    return {"events": events, "status": process.returncode,
            "command": command, "expected": cells}


def _cell(line, ranks, floors):
    cell = {"operation": line["cell"], "size": line["size"],
            "floor": collectives.floor(line["cell"], line["size"], ranks,
                                       floors),
            "host": None, "ours": None, "ratio": None}
    for mode in ("host", "ours"):
        if line.get(mode):
            cell[mode] = dict(statistics.summary(line[mode]),
                              calls=line[mode + "_calls"],
                              right=line[mode + "_right"],
                              samples=line[mode])
    if cell["ours"]:
        cell["ratio"] = cell["host"]["median"] / cell["ours"]["median"]
    return cell


def _summary(cells):
    rated = [c for c in cells if c["ratio"]]
    result = {"operations": {}, "geometric_mean": None, "worst": None}
    for name in collectives.OPERATIONS:
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


def _report(run, host, ranks, probe, description, options, seed, seconds):
    start = next((e["start"] for e in run["events"] if "start" in e), {})
    floors = probe.get("floors") or {}
    cells = [_cell(e, ranks, floors) for e in run["events"] if "cell" in e]
    return {
        "schema": "straightway-bench-collectives/1",
        "machine": description,
        "mpi": dict(host.describe(), version=start.get("mpi", host.version)),
        "ranks": ranks,
        "oversubscribed": ranks > machine.cores(),
        "time_per_cell": options.time_per_cell,
        "seed": seed,
        "seconds": seconds,
        "command": shlex.join(run["command"]),
        "switchable": start.get("modes") == 2,
        "floors": floors,
        "cells": cells,
        "summary": _summary(cells),
        "guidelines": {mode: collectives.check_guidelines(cells, mode)
                       for mode in ("host", "ours")
                       if any(c[mode] for c in cells)},
    }


def _verdict(run, report, host):
    cells = report["cells"]
    wrong = [(c, mode) for c in cells for mode in ("host", "ours")
             if c[mode] and not c[mode]["right"]]
    for cell, mode in wrong:
        who = host.title if mode == "host" else "Straightway"
        terminal.error(f"WRONG RESULT: {cell['operation']} at "
                       f"{cell['size']} bytes with {who}")
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
