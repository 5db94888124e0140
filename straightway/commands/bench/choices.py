"""What a user may choose of every benchmark: options, and what they mean.

A choice that cannot be measured is a UserError, before anything runs.
"""

import argparse
import difflib
import fnmatch
import random
import re
import sys

from straightway.errors import UserError
from straightway.machine import hardware

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


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


class _Old(argparse.Action):
    """An option under the name that it had before."""

    def __init__(self, *args, new, **keywords):
        super().__init__(*args, help=argparse.SUPPRESS,
                         default=argparse.SUPPRESS, **keywords)
        self.new = new

    def __call__(self, parser, namespace, value, option=None):
        print(f"straightway: {option} is now {self.new}; the next release "
              "will not know the old name", file=sys.stderr)
        setattr(namespace, self.dest, value)


def add_old(add, old, new, **keywords):
    """Take the option `old`, too, as `new`, and say so."""
    add(old, action=_Old, new=new, dest=new.lstrip("-"), **keywords)


def add_common(add):
    """The options that every benchmark has."""
    add("--mpi", metavar="MPI", help=(
        "the host: an installation's folder, a launcher, or openmpi, "
        "mpich, intel [the first found]"))
    add("--seed", type=int, metavar="N",
        help="of the shuffled order [a new one each time]")
    add("--launcher-args", metavar="\"...\"", default="",
        help="hand these arguments to the launcher")


def add_computing(add):
    add("--computing", metavar="SIZE", help=(
        "each call by itself, after every rank has written what it sends, "
        "read what it received and gone through SIZE bytes of other memory "
        "[calls one after the other, with warm buffers]"))


def computing(options):
    """[options of the native half], and the bytes, or None."""
    if options.computing is None:
        return [], None
    swept = parse_bytes(options.computing)
    if swept is None or swept > 1 << 30:
        raise UserError(f"--computing {options.computing}: give a size up to "
                        "1g, like 4m")
    return ["--computing", swept], swept


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
