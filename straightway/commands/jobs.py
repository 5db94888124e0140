"""Commands that start a program under its launcher share this: their options,
their checks before any run, and the progress line."""

import argparse
import contextlib
import os
import sys

from straightway.errors import UserError
from straightway.whatif import programs

MOST_RANKS = 1 << 20


def usage(options, *others):
    """The first lines of --help; `others`: other forms of the command."""
    first = f"%(prog)s -n N [{options}] PROGRAM [ARGUMENT ...]"
    return "\n       ".join([first, *others])


def add_program(add):
    """Add the program and its number of ranks."""
    add("-n", "--ranks", type=int, metavar="N", help="ranks")
    add("program", nargs=argparse.REMAINDER, metavar="PROGRAM",
        help="the program and its arguments, after all options")


def add_launcher(parser):
    """Add the options of the launcher."""
    add = parser.add_argument_group("launcher").add_argument
    add("--mpi", metavar="MPI", help=(
        "the MPI with the launcher: an installation's folder, a launcher, "
        "or openmpi, mpich, intel [the program's own]"))
    add("--launcher-args", metavar="\"...\"", default="",
        help="hand these arguments to the launcher")
    add("--timeout", type=float, metavar="S",
        help="end a run that takes more seconds")


def job(options, program, quiet=True):
    """The Job of these options."""
    return programs.Job(program, options.mpi, options.launcher_args,
                        options.timeout, quiet)


# Checks ---------------------------------------------------------------------

def take_program(options):
    """The program and its arguments, without a leading --. UserError for
    options that are wrong."""
    words = list(options.program)
    words = words[1:] if words[:1] == ["--"] else words
    if words and words[0].startswith("-"):
        raise UserError(f"unknown option {words[0]}; see straightway "
                        f"{options.command} --help")
    if options.timeout is not None and not options.timeout > 0:
        raise UserError(f"--timeout {options.timeout:g}: give seconds, more "
                        "than 0")
    return words


def check_program(options, program):
    """UserError without a program."""
    if not program:
        raise UserError(f"which program? straightway {options.command} -n N "
                        "PROGRAM")


def check_ranks(options, program):
    """UserError unless -n is a number of ranks."""
    if options.ranks is None:
        late = next((w for w in program[1:] if w in ("-n", "--ranks", "-np")
                     or w.startswith("--ranks=")), None)
        raise UserError(
            f"how many ranks? straightway {options.command} -n N PROGRAM"
            + (f"\n  {late} after {program[0]} is the program's own: give "
               "options before the program" if late else ""))
    check_count(options.ranks)


def check_count(ranks):
    if not 1 <= ranks <= MOST_RANKS:
        raise UserError(f"-n {ranks}: give 1 to {MOST_RANKS} ranks")


def refuse_nested(command):
    """UserError inside a launcher, where each rank would start everything
    again."""
    if any(os.environ.get(name) for name in (
            "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")):
        raise UserError(f"straightway {command} starts the launcher itself: "
                        "omit mpirun and give -n N")


# Progress -------------------------------------------------------------------

@contextlib.contextmanager
def steps():
    """Show progress on stderr: on a terminal one line that each step
    overwrites; in a pipe a line for each long step."""
    live = sys.stderr.isatty()
    width = 0

    def step(text, long=False):
        nonlocal width
        line = f"straightway: {text} ..."
        if live:
            line = line[:78]
            sys.stderr.write("\r" + line.ljust(width))
            width = len(line)
        elif long:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()

    try:
        yield step
    finally:
        if live and width:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()
