"""Options that the benchmarks share, and their meaning.

A choice that the benchmark cannot measure is a UserError, before any run.
"""

import argparse
import fnmatch
import random
import re
import sys

from straightway.bench import collectives, runs
from straightway.errors import UserError, nearest
from straightway.machine import hardware, hosts
from straightway.reporters import output, report_json

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parse_bytes(word):
    """"64k" -> 65536; None for text that is no size."""
    found = re.fullmatch(r"\s*(\d+)\s*([kmg]?)(?:i?b)?\s*", word.lower())
    return int(found.group(1)) * _UNITS[found.group(2)] if found else None


def parse_bound(option, text):
    """The value of an option in bytes, from 1 to 1g."""
    n = parse_bytes(text)
    if n is None or not 1 <= n <= 1 << 30:
        raise UserError(f"{option} {text}: give a size from 1 to 1g, like "
                        "64k")
    return n


def parse_size_list(text):
    """"8,64k" -> [("8", 8), ("64k", 65536)], as the user wrote them."""
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


def parse_doubles(text):
    """"8,64k" -> [8, 65536]; sizes are multiples of 8 (doubles)."""
    sizes = set()
    for word, n in parse_size_list(text):
        if n < 8 or n % 8:
            raise UserError(f"--sizes {text}: {word} is not a multiple of 8 "
                            "bytes (the elements are doubles)")
        sizes.add(n)
    if len(sizes) > 64:
        raise UserError(f"--sizes: {len(sizes)} sizes; at most 64")
    return sorted(sizes)


def parse_names(option, what, text, known):
    """"allreduce,MPI_Bcast" or "all*" -> the names among `known`, in its
    order; "all" -> all."""
    if text.lower() == "all":
        return list(known)
    chosen = set()
    for word in text.split(","):
        name = re.sub("^mpi_", "", word.strip().lower())
        found = fnmatch.filter(known, name)
        if not found:
            raise UserError(f"{option} {text}: unknown {what} "
                            f"{word.strip() or '(none)'}; "
                            + nearest(name, known))
        chosen.update(found)
    return [name for name in known if name in chosen]


class _Old(argparse.Action):
    """An option under its former name."""

    def __init__(self, *args, new, **keywords):
        super().__init__(*args, help=argparse.SUPPRESS,
                         default=argparse.SUPPRESS, **keywords)
        self.new = new

    def __call__(self, parser, namespace, value, option=None):
        print(f"straightway: {option} is now {self.new}; the next release "
              "will not know the old name", file=sys.stderr)
        setattr(namespace, self.dest, value)


def add_old(add, old, new, **keywords):
    """Accept the option `old` for `new`, and print a line about it."""
    add(old, action=_Old, new=new, dest=new.lstrip("-"), **keywords)


def add_common(add):
    """Add the options that every benchmark has."""
    add("--json", metavar="OUT", help=(
        "raw samples, the plan and the machine's description, in the form of "
        "bench.schema.json; - is stdout"))
    add("--mpi", metavar="MPI", help=(
        "the host: an installation's folder, a launcher, or openmpi, "
        "mpich, intel [the first found]"))
    add("--seed", type=int, metavar="N",
        help="seed of the shuffled order [a new one each time]")
    add("--launcher-args", metavar="\"...\"", default="",
        help="hand these arguments to the launcher")


def add_ranks(add):
    """Add the options of a benchmark that runs on one node or several."""
    add("-n", "--ranks", type=int, metavar="N",
        help="ranks [as many as there are cores, at least 2]")
    add_launcher(add)


def add_cells(add, seconds, cell):
    """Add the options on single cells, each of which takes `seconds`."""
    add("--corrupt", action="store_true", help=(
        "spoil received data before the check, to see that the check finds "
        "it"))
    add("--seconds", metavar="S", type=float, default=seconds,
        help=f"seconds for {cell} [{seconds}]")


def add_operations(add, sizes):
    """Add the options of a benchmark of collectives."""
    add("--ops", metavar="LIST", default="all",
        help="operations, as in allreduce,bcast [all]")
    add("--sizes", metavar="LIST", default=sizes, help=f"bytes [{sizes}]")


def parse_operations(text):
    return parse_names("--ops", "operation", text, collectives.OPERATIONS)


def add_computing(add):
    add("--computing", metavar="SIZE", help=(
        "measure each call by itself, after every rank has written its data, "
        "read the data it received and gone through SIZE bytes of other "
        "memory [calls one after the other, with warm buffers]"))


def computing(options):
    """[options of the native program], and the bytes, or None."""
    if options.computing is None:
        return [], None
    swept = parse_bytes(options.computing)
    if swept is None or swept > 1 << 30:
        raise UserError(f"--computing {options.computing}: give a size up to "
                        "1g, like 4m")
    return ["--computing", swept], swept


def host(options):
    """The host of the options. UserError unless a benchmark can run under it
    and write its files."""
    for path in (options.json, getattr(options, "svg", None)):
        output.check_writable(path)
    found = hosts.choose(options.mpi)
    runs.check_parts(found)
    return found


def show(report, options, terminal, figure=None):
    """Print a report, and write the files that the options ask for; `figure`
    draws --svg."""
    if report["cells"] and options.json != "-":
        terminal.render(report, sys.stdout)
    if options.json:
        output.send(options.json, report_json, report)
    if figure and options.svg and report["cells"]:
        output.write(options.svg, figure, report)


def seed(options):
    return options.seed if options.seed is not None else \
        random.randrange(1, 1 << 31)


def add_launcher(add):
    add("--launcher", metavar="\"...\"", help=(
        "start the ranks with these words, as in \"srun -n 8\" [the host's own "
        "launcher]"))


def check_launcher(options):
    """UserError for a --launcher beside options that say the same."""
    if options.ranks is not None or options.launcher_args:
        raise UserError("--launcher has the launcher's count and arguments; "
                        "omit -n and --launcher-args")
    if not options.launcher.split():
        raise UserError("--launcher needs words, like \"srun -n 8\"")


def check_ranks(ranks):
    if not 2 <= ranks <= 4096:
        raise UserError(f"-n {ranks}: give 2 ranks or more (4096 at most)")


def ranks(options):
    """How many ranks; None: the launcher says."""
    if options.launcher is None:
        count = options.ranks if options.ranks is not None else \
            max(2, hardware.cores())
        check_ranks(count)
        return count
    check_launcher(options)
    return None


def check_seconds(option, seconds):
    if not 0 < seconds <= 3600:
        raise UserError(f"{option} {seconds}: give seconds, more than 0")


def check_memory(need, what, remedy):
    have = hardware.memory_limit() or hardware.memory_total()
    if need > have * 0.8:
        raise UserError(
            f"{what} need {need >> 20} MiB of buffers; this machine has "
            f"{have >> 20} MiB\n  {remedy}", 1)


def check_blocks(operations, ranks, sizes, spread=1):
    """The buffers of collectives; blocks with gaps are `spread` times as
    long."""
    if operations != ["barrier"] and ranks:
        check_memory(2 * ranks * ranks * max(sizes) * spread,
                     f"{ranks} ranks at {max(sizes)} bytes",
                     "give fewer ranks or smaller --sizes")
