"""Whole jobs, alone and with Straightway, in turns.

    .venv/bin/python bench/heap.py --mpi PREFIX [--show eager,lazy] [...]

A program's memory stays private until it communicates. So a job that hardly
communicates should take as long as alone. Others communicate in every step:
fft (examples/planes.c, by MPI_Ialltoall), skew (the same with ranks out of
step), fft-b and skew-b (by MPI_Alltoall), cg (examples/solver.c) and cg-p (by
MPI_Iallreduce).

Each round runs every program once in each way, in a new random order: alone,
and with Straightway preloaded into the ranks, once for each value of --show.
The table has the medians alone. For each way it has the ratio with / alone
(1.00 is the same, above 1 is more) with the quartiles of the rounds' ratios;
for figures in MB it has the difference.

    wall      the whole job, launcher included
    user+sys  processor time of all ranks
    faults    minor page faults of all ranks
    peak RSS  of the largest rank

A last row has the program's own figure, such as the time of the first touch
alone. bench/heap.c holds the programs without MPI, bench/heap_mpi.c those with
it; mg and ft come from examples/kernels. With one rank, programs without MPI
run by themselves. --json keeps every sample.
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import typing

import job

from straightway.bench.medians import median, quartiles
from straightway.machine import hardware

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
HUGE = pathlib.Path("/sys/kernel/mm/transparent_hugepage")
MODES = ["always", "madvise", "never"]
SHOWN = ["eager", "lazy", "off"]
REFUSED = 3             # HEAP_REFUSED of heap.h
ABORTED = 128 + signal.SIGABRT
WAYS_ABREAST = 2        # that fit into 80 columns
STATIC_MIB = 256        # what "static" has of static data, at a size of 1

# What an MPI needs here, unless the environment says otherwise: jobs of root,
# more ranks than cores, no search for networks.
LAUNCH = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mtl": "^ofi",
    "OMPI_MCA_btl": "^ofi",
    "HYDRA_LAUNCHER": "fork",
    "I_MPI_FABRICS": "shm",
    "I_MPI_HYDRA_BOOTSTRAP": "fork",
}


class Program(typing.NamedTuple):
    binary: str
    own: tuple              # rows of its own: (key of the sample, label, unit)
    ranks: tuple = (1, math.inf)
    mpi: bool = True        # with one rank, too
    edge: float = 0         # of an example's grid, times edge(size)
    words: tuple = ()       # that follow it


SECONDS = (("own", "inside", "s"),)


def example(binary, edge, *words):
    return Program(binary, SECONDS, edge=edge, words=words)


PROGRAMS = {
    "touch": Program("heap", (("own", "1st touch", "s"),), mpi=False),
    "walk": Program("heap", SECONDS, mpi=False),
    "triad": Program("heap", SECONDS, mpi=False),
    "storm": Program("heap", SECONDS, mpi=False),
    **{name: Program(binary, (("own", "MPI_Init", "s"),)) for name, binary in
       (("start", "heap_mpi"), ("static", "heap_static"))},
    "mg": example("mg", 1, 1),
    "ft": example("ft", 1, 1),
    "fft": example("planes", 0.5, 20),
    "fft-b": example("planes", 0.5, 20, "--blocking"),
    "skew": example("planes", 0.5, 20, "--uneven", 1),
    "skew-b": example("planes", 0.5, 20, "--uneven", 1, "--blocking"),
    "cg": example("solver", 2),
    "cg-p": example("solver", 2, "--pipelined"),
    "twelve": Program("heap_mpi", SECONDS),
    "fork": Program("heap_mpi", (("own", "fork+wait", "s"),), (2, math.inf)),
    **{f"use{n}": Program("heap_mpi", (("own", "message", "s"),), (2, 2))
       for n in (1, 2, 100)},
    "core": Program("heap_mpi", (("core", "core file", "MB"),
                                 ("disk", "on disk", "MB")), (2, math.inf)),
    "mlock": Program("heap", (("own", "locked", "MB"),), (1, 1), mpi=False),
}
MEASURES = (("wall", "wall", "s"), ("cpu", "user+sys", "s"),
            ("faults", "faults", ""), ("rss", "peak RSS", "MiB"))


class Refused(Exception):
    """The system does not allow what a program needs."""


# The options ---------------------------------------------------------------

def words(allowed):
    def read(text):
        found = [word for word in text.split(",") if word]
        wrong = [word for word in found if word not in allowed]
        if wrong or not found:
            raise argparse.ArgumentTypeError(
                f"{' '.join(wrong) or 'nothing'} is not among "
                f"{', '.join(allowed)}")
        return list(dict.fromkeys(found))
    return read


def numbers(text):
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise argparse.ArgumentTypeError(f"{text}: give numbers of ranks")
    return list(dict.fromkeys(found))


def positive(kind):
    def read(text):
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"{text}: give a number above 0")
        return value
    return read


def arguments(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--mpi", metavar="PREFIX", type=pathlib.Path,
        help="the MPI with PREFIX/bin/mpirun and mpicc; without it only\n"
        "programs without MPI run")
    add("--programs", metavar="LIST", type=words(PROGRAMS),
        default=list(PROGRAMS), help="of: " + ",".join(PROGRAMS))
    add("--ranks", metavar="LIST", type=numbers, default=[1, 2],
        help="(1,2)")
    add("--rounds", metavar="N", type=positive(int), help="(15)")
    add("--show", metavar="LIST", type=words(SHOWN), help="ways to compare: "
        "values of STRAIGHTWAY_SHOW,\nof eager,lazy,off; else one way, the "
        "default")
    add("--thp", metavar="LIST", type=words(MODES), help="run under each of "
        "these modes of huge pages, of:\nalways,madvise,never; needs root, "
        "and puts the mode back")
    add("--size", metavar="SCALE", type=positive(float),
        help="times the memory and the work (1)")
    add("--quick", action="store_true",
        help="a smoke test: 2 rounds, a size of 0.02")
    add("--seed", metavar="N", type=int, default=1,
        help="of the order of the ways (1)")
    add("--json", metavar="FILE", type=pathlib.Path, help="all samples")
    wanted = parser.parse_args(argv)
    wanted.rounds = wanted.rounds or (2 if wanted.quick else 15)
    wanted.size = wanted.size or (0.02 if wanted.quick else 1)
    if wanted.mpi and not (wanted.mpi / "bin/mpirun").exists():
        parser.error(f"there is no {wanted.mpi}/bin/mpirun")
    return wanted


def library():
    given = os.environ.get("STRAIGHTWAY_LIB") or \
        pathlib.Path(sys.prefix) / "lib/straightway/libstraightway.so"
    path = pathlib.Path(given).resolve()
    if not path.is_file():
        sys.exit(f"the library is missing: {path}")
    return path


def ways(show):
    """{name: the value of STRAIGHTWAY_SHOW, or None}; the first is alone."""
    return {"alone": None,
            **({name: name for name in show} if show else {"with": None})}


# The machine ---------------------------------------------------------------

def huge(name="enabled"):
    return hardware.selected(HUGE / name) or "unknown"


@contextlib.contextmanager
def huge_pages(mode):
    """Set anonymous memory's huge pages to `mode`, for a while. Yields None,
    or why the mode is not available."""
    before = huge()
    if mode == before:
        yield None
        return
    try:
        (HUGE / "enabled").write_text(mode)
    except OSError as why:
        yield why.strerror
        return
    try:
        yield None
    finally:
        (HUGE / "enabled").write_text(before)


def no_core():
    """Why no core dump would appear in the working directory, or None."""
    pattern = hardware.text("/proc/sys/kernel/core_pattern")
    if pattern.startswith("|") or "/" in pattern or not pattern:
        return f"core dumps go elsewhere (core_pattern is {pattern})"
    return None


# Building ------------------------------------------------------------------

def environment(mpi):
    env = {key: value for key, value in os.environ.items()
           if key not in ("LD_PRELOAD", "STRAIGHTWAY_SHOW")}
    if mpi:
        mpi = mpi.resolve()
        env = {**LAUNCH, "I_MPI_ROOT": str(mpi), **env}
        for key, folder in ("PATH", "bin"), ("LD_LIBRARY_PATH", "lib"):
            env[key] = ":".join(
                [str(mpi / folder), *filter(None, [env.get(key)])])
    return env


def build(folder, mpi, names, size):
    """Compiles what the programs need; the folder holds the binaries."""
    env = environment(mpi)
    cc = os.environ.get("CC", "cc")
    mpicc = mpi and next(path for name in ("mpigcc", "mpicc")
                         if (path := mpi.resolve() / "bin" / name).exists())
    on_ranks = [mpicc, "-O2", "-pthread", "-DHEAP_WITHOUT_MAIN",
                HERE / "heap_mpi.c", HERE / "heap.c"]
    recipes = {
        "rank": [cc, "-O2", job.RANK],
        "heap": [cc, "-O2", "-pthread", HERE / "heap.c"],
        "heap_mpi": on_ranks,
        "heap_static": [*on_ranks,
                        f"-DHEAP_STATIC={int(STATIC_MIB * size * 2**20)}L"],
        **{name: [mpicc, "-O3", EXAMPLES / folder / f"{name}.c", "-lm"]
           for folder, name in (("kernels", "mg"), ("kernels", "ft"),
                                (".", "planes"), (".", "solver"))},
    }
    needed = {"rank"} | {PROGRAMS[name].binary for name in names}
    if mpi and "heap" in needed:
        needed.add("heap_mpi")
    for name in needed:
        compiler, *rest = recipes[name]
        if compiler:
            subprocess.run([compiler, "-o", folder / name, *rest], check=True,
                           env=env)


# One job -------------------------------------------------------------------

def edge(size):
    """Points on an edge of a kernel's cube. They take powers of two, and mg and
    ft hold 600 to 800 MB at a size of 1."""
    return max(16, 2 ** round(math.log2(256 * size ** (1 / 3))))


def under_mpi(name, ranks):
    return PROGRAMS[name].mpi or ranks > 1


def command(folder, name, ranks, size, mpi, log, preload):
    """The words that start a program in one way."""
    program = PROGRAMS[name]
    if program.edge:
        argv = [folder / program.binary, int(edge(size) * program.edge),
                *program.words]
    elif under_mpi(name, ranks) and not program.mpi:
        argv = [folder / "heap_mpi", name, size]
    else:
        argv = [folder / program.binary, name, size]
    start = [mpi.resolve() / "bin/mpirun", "-n", ranks] \
        if under_mpi(name, ranks) else []
    return [str(word) for word in
            [*start, folder / "rank", log, preload or "-", *argv]]


def own_figure(name, output):
    """The time that the program prints, if it does."""
    pattern = rf"^{PROGRAMS[name].binary}: .*?([\d.]+) s\b" \
        if PROGRAMS[name].edge else r"^(\d+\.\d{6})$"
    found = re.search(pattern, output, re.M)
    return float(found.group(1)) if found else None


def core_file(folder):
    """(apparent, on the disk) bytes of the core dump, the largest if several;
    or None."""
    found = [path.stat() for path in folder.glob("*core*")]
    return max(((one.st_size, one.st_blocks * 512) for one in found),
               default=None)


def measure(words, env, name, ranks, folder, log):
    """One sample: a job runs in a folder of its own."""
    done = job.run(words, env, folder)
    output, each = done.output + done.errors, job.read_ranks(log)
    sample = {"wall": done.wall, "user": done.usage.ru_utime,
              "system": done.usage.ru_stime, "each": each,
              "own": own_figure(name, output)}
    states = [one["status"] for one in each]
    if REFUSED in states:
        raise Refused(output.strip().splitlines()[-1])
    if name == "core":
        found = core_file(folder)
        if ABORTED not in states:
            sys.exit(f"{name} did not abort:\n{output[-2000:]}")
        if not found:
            raise Refused("there is no core dump (ulimit -H -c)")
        sample["core"], sample["disk"] = (size / 1e6 for size in found)
        each = [one for one in each if one["status"] == ABORTED]
    elif done.status or len(each) != ranks or any(states) or \
            sample["own"] is None:
        sys.exit(f"{' '.join(words)}\nended with {done.status}, its ranks with "
                 f"{states}:\n{output[-2000:]}")
    sample["cpu"] = sum(one["user"] + one["system"] for one in each)
    sample["faults"] = sum(one["minor"] for one in each)
    sample["rss"] = max(one["rss"] for one in each) / 1024
    return sample


# All of them ---------------------------------------------------------------

class Bench:
    """The programs of one call, and their samples."""

    def __init__(self, wanted, folder):
        self.wanted, self.folder = wanted, folder
        self.ways = ways(wanted.show)
        self.library = library()
        self.environment = environment(wanted.mpi)
        self.random = random.Random(wanted.seed)
        self.samples = []

    def one(self, name, ranks, way):
        env = dict(self.environment)
        if self.ways[way]:
            env["STRAIGHTWAY_SHOW"] = self.ways[way]
        place = self.folder / "job"
        place.mkdir()
        log = place / "log"
        words = command(self.folder, name, ranks, self.wanted.size,
                        self.wanted.mpi, log,
                        None if way == "alone" else self.library)
        try:
            return measure(words, env, name, ranks, place, log)
        finally:
            shutil.rmtree(place)

    def rounds(self, name, ranks, mode):
        """Runs a program in all its ways; returns the samples of it."""
        mine = []
        for number in range(self.wanted.rounds):
            order = list(self.ways)
            self.random.shuffle(order)
            for way in order:
                try:
                    sample = self.one(name, ranks, way)
                except Refused as why:
                    print(f"{name} {ranks}, {way}: refused: {why}")
                    return []
                sample.update(program=name, ranks=ranks, thp=mode, way=way,
                              round=number)
                mine.append(sample)
                self.samples.append(sample)
        return mine

    def cells(self):
        """(program, ranks) of all that can run; prints those that cannot."""
        for name in self.wanted.programs:
            low, high = PROGRAMS[name].ranks
            fits = [n for n in self.wanted.ranks if low <= n <= high]
            usable = [n for n in fits
                      if self.wanted.mpi or not under_mpi(name, n)]
            why = no_core() if name == "core" else None
            if why or not usable:
                print(f"{name}: not run: " + (
                    why or ("it needs --mpi" if fits else
                            f"not with {self.wanted.ranks} ranks")))
            elif usable != fits:
                print(f"{name}: {usable} ranks only: more need --mpi")
            for ranks in usable if not why else ():
                yield name, ranks

    def run(self):
        cells = list(self.cells())
        for mode in self.wanted.thp or [huge()]:
            with huge_pages(mode) as why:
                if why:
                    print(f"\nhuge pages {mode}: not run: {why}")
                    continue
                print(f"\nhuge pages: anonymous {huge()}, shared "
                      f"{huge('shmem_enabled')}; {self.wanted.rounds} rounds, "
                      f"size {self.wanted.size:g}")
                for number, (name, ranks) in enumerate(cells):
                    found = self.rounds(name, ranks, huge())
                    show(name, ranks, found, list(self.ways)[1:], not number)

    def report(self):
        wanted = {key: str(value) if isinstance(value, pathlib.Path) else value
                  for key, value in vars(self.wanted).items()}
        return {"schema": "straightway-bench-heap/1",
                "machine": hardware.describe(), "wanted": wanted,
                "settings": {key: value for key, value in os.environ.items()
                             if key.startswith("STRAIGHTWAY_")},
                "ways": list(self.ways), "samples": self.samples}


# The table -----------------------------------------------------------------

def compared(samples, key, unit, way):
    """Median and quartiles over the rounds: with / alone, or in MB with -
    alone."""
    values = {which: {s["round"]: s[key] for s in samples
                      if s["way"] == which} for which in ("alone", way)}
    pairs = [(values["alone"][n], values[way][n]) for n in values["alone"]
             if n in values[way]]
    if unit == "MB":
        return quartiles([ours - alone for alone, ours in pairs])
    if not all(alone for alone, _ in pairs):    # below the clock's tick
        return None
    return quartiles([ours / alone for alone, ours in pairs])


def figure(value, unit):
    return f"{value:,.0f}" if not unit else \
        f"{value:,.1f} {unit}" if unit in ("MB", "MiB") else \
        f"{value * 1000:.2f} ms" if value < 0.1 else f"{value:.3f} s"


def short(value, sign):
    """At most seven characters: ratios to a thousandth, MB to a tenth."""
    digits = 0 if abs(value) >= 100 else 1 if sign or value >= 10 else 3
    return f"{value:{sign}.{digits}f}" if abs(value) < 1e5 \
        else f"{value:{sign}.0e}"


def cell(found, unit):
    if not found:
        return f"{'-':>8}{'':16}"
    middle, low, high = (short(found[key], "+" if unit == "MB" else "")
                         for key in ("median", "low", "high"))
    return f"{middle:>8}  {low + '..' + high:14}"


def show(name, ranks, samples, others, first):
    """Prints a program's rows, two ways side by side, and the heads over the
    columns where they may be other ones."""
    chunks = [others[i:i + WAYS_ABREAST]
              for i in range(0, len(others), WAYS_ABREAST)]
    for chunk in chunks if samples else ():
        if first or len(chunks) > 1:
            heads = [f"{way:>8}  {'quartiles':14}" for way in chunk]
            print(f"{'program':10}{'':9}{'alone':>12}{''.join(heads)}"
                  .rstrip())
        label = f"{name} {ranks}"
        for key, what, unit in (*MEASURES, *PROGRAMS[name].own):
            alone = median([s[key] for s in samples if s["way"] == "alone"])
            cells = [cell(compared(samples, key, unit, way), unit)
                     for way in chunk]
            print(f"{label:9} {what:9}{figure(alone, unit):>12}"
                  f"{''.join(cells)}".rstrip(), flush=True)
            label = ""


def stop(*_):
    sys.exit("stopped")


def main():
    wanted = arguments()
    signal.signal(signal.SIGTERM, stop)     # huge pages are put back
    with tempfile.TemporaryDirectory(prefix="straightway-heap-") as folder:
        bench = Bench(wanted, pathlib.Path(folder))
        build(bench.folder, wanted.mpi, wanted.programs, wanted.size)
        try:
            bench.run()
        finally:
            if wanted.json:
                wanted.json.write_text(json.dumps(bench.report()) + "\n")
    if not bench.samples:
        sys.exit("nothing was measured")


if __name__ == "__main__":
    main()
