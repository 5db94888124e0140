"""The command line: one class per subcommand, from `commands`.

A command is a class with a docstring (its help text), `arguments(parser)` and
`run(options)`, which returns the exit status. A mistake of the user is a
UserError, which `main` prints as one line, never as a traceback.
"""

import argparse
import difflib
import inspect
import os
import re
import sys

from straightway import commands, native
from straightway.errors import UserError, nearest, printable

# The first words that the native command answers itself.
NATIVE = ("run", "profile", "--version", "--cflags", "--completion")


class Parser(argparse.ArgumentParser):
    """argparse that suggests the likely word."""

    def __init__(self, *args, **keywords):
        keywords.setdefault("formatter_class",
                            argparse.RawDescriptionHelpFormatter)
        keywords.setdefault("allow_abbrev", False)
        super().__init__(*args, **keywords)
        self.below = {}         # {first word: Parser}
        self.first = None       # the option that a bare first word belongs to

    @staticmethod
    def texts(command):
        """A command's docstring as argparse's help and description."""
        text = inspect.getdoc(command)
        return {"help": text.partition("\n")[0], "description": text}

    def add_below(self, command):
        """A command that a first word chooses; other first words stay with
        this parser."""
        child = Parser(prog=f"{self.prog} {command.name}", usage=command.usage,
                       description=self.texts(command)["description"])
        command.arguments(child)
        child.set_defaults(run=command.run)
        self.below[command.name] = child

    def format_help(self):
        if not self.below:
            return super().format_help()
        # Each subcommand shows its own options.
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, (), ())
        formatter.add_text(self.description)
        return formatter.format_help()

    def _parse_below(self, args, namespace):
        child, args = self.below[args[0]], args[1:]
        if child.first and args and not args[0].startswith("-"):
            args = [child.first, *args]
        return child.parse_known_args(args, namespace)

    def _known(self):
        known = []
        for action in self._actions:
            if action.help != argparse.SUPPRESS:
                known += action.option_strings
            if isinstance(action, argparse._SubParsersAction):
                known += action.choices
        return known

    def _suggest(self, word):
        word = word.split("=")[0]
        what = "option" if word.startswith("-") else "argument"
        longer = next((f"did you mean {k}?" for k in self._known()
                       if len(word) > 4 and k.startswith(word)), None)
        self.error(f"unknown {what} {word}; " + nearest(
            word, self._known(), longer or f"see {self.prog} --help", 0.7))

    def parse_known_args(self, args=None, namespace=None):
        word = args[0] if self.below and args else "-"
        if word in self.below:
            return self._parse_below(args, namespace)
        near = [] if word.startswith("-") else difflib.get_close_matches(
            word, self.below, 1, 0.6)
        if near:
            self.error(f"unknown subcommand {word}; did you mean {near[0]}?")
        # Report leftover words where the options are known: in the subcommand.
        namespace, left = super().parse_known_args(args, namespace)
        if left:
            self._suggest(left[0])
        return namespace, left

    def _check_value(self, action, value):
        if action.choices is not None and value not in action.choices:
            self.error(f"unknown {action.dest} {value}; "
                       + nearest(value, action.choices))

    def _get_value(self, action, text):
        try:
            return super()._get_value(action, text)
        except argparse.ArgumentError:
            kind = {int: "a whole number", float: "a number"}.get(action.type)
            if not kind:
                raise
            # -n rather than --ranks: the user most likely wrote the short form.
            self.error(f"{action.option_strings[0]} {text}: give {kind}")

    def error(self, message):
        # argparse's own: "argument -n/--ranks: expected one argument"
        message = re.sub("^argument ([^:]*): expected one argument$",
                         r"\1 needs a value", message)
        missing = re.fullmatch("the following arguments are required: (.*)",
                               message)
        if missing:
            message = f"{missing[1]} missing\n  {self.format_usage().strip()}"
        print(printable(f"straightway: {message}"), file=sys.stderr)
        sys.exit(2)


def _parser(word):
    """The parser of the command `word`; of all commands if it is none."""
    parser = Parser(prog="straightway", description=(
        "Makes MPI communication inside a node faster, on the program as it "
        "is."))
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND",
                                       required=True, parser_class=Parser)
    for command in map(commands.load, [word] if word in commands.CLASSES
                       else commands.CLASSES):
        child = subparsers.add_parser(command.name, **Parser.texts(command))
        command.arguments(child)
        child.set_defaults(run=command.run)
    return parser


def _restore_environment():
    """Undo what the native command set for this process alone."""
    if "STRAIGHTWAY_SAFEPATH" in os.environ:
        before = os.environ.pop("STRAIGHTWAY_SAFEPATH")
        if before:
            os.environ["PYTHONSAFEPATH"] = before
        else:
            os.environ.pop("PYTHONSAFEPATH", None)


def main(argv=None):
    """Run the command line; returns the exit status."""
    _restore_environment()
    argv = sys.argv[1:] if argv is None else argv
    if argv and argv[0] in NATIVE:
        # python -m straightway run: the native command carries it out.
        os.execv(native.command(), [str(native.command()), *argv])
    try:
        options = _parser(argv[0] if argv else None).parse_args(argv)
        return options.run(options)
    except UserError as error:
        print(printable(f"straightway: {error}"), file=sys.stderr)
        return error.status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
