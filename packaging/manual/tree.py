"""Every command as a tree, from the command line's own parsers.

The manual pages and the completion both read this tree, so that they have what
the commands have. The Python commands show their parsers. Those of the native
ones come from their --help; without a program that runs here (the build is for
another processor) the tree lacks them.
"""

import argparse
import dataclasses

import native_help

from straightway import cli, commands

NATIVE = ("run", "profile")


@dataclasses.dataclass
class Command:
    words: tuple            # ("straightway", "whatif", "run")
    summary: str
    parser: argparse.ArgumentParser
    below: list             # Commands

    @property
    def page(self):
        """The name of its manual page."""
        return "-".join(self.words)

    def __iter__(self):
        """This command, and all below it."""
        yield self
        for child in self.below:
            yield from child


def _summary(parser):
    return parser.description.partition("\n")[0]


def _below(words, parser):
    """The commands below a Python one."""
    found = dict(parser.below)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.update(action.choices)
    return [_python((*words, name), child) for name, child in found.items()]


def _python(words, parser):
    return Command(words, _summary(parser), parser, _below(words, parser))


def _load(name):
    command = commands.load(name)
    parser = cli.Parser(prog=f"straightway {name}",
                        description=cli.Parser.texts(command)["description"])
    command.arguments(parser)
    return _python(("straightway", name), parser)


def _native(program, name, summary):
    help_ = native_help.ask(program, name)
    parser = native_help.parser(f"straightway {name}", help_)
    parser.add_argument("program", metavar="PROGRAM", nargs=argparse.REMAINDER,
                        help="the program and its arguments")
    return Command(("straightway", name), summary, parser, [])


def read(program):
    """The tree. `program` is the native command, or None."""
    python = [_load(name) for name in commands.CLASSES]
    if program is None:
        top = argparse.ArgumentParser(prog="straightway")
        top.description = "Accelerate MPI programs as they are, and explain."
        return Command(("straightway",), _summary(top), top, python)
    help_ = native_help.ask(program)
    summaries = native_help.summaries(help_)
    native = [_native(program, name, summaries[name]) for name in NATIVE]
    return Command(("straightway",), "accelerate MPI programs as they are",
                   native_help.parser("straightway", help_, add_help=False),
                   native + python)
