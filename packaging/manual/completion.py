"""Completion for bash, zsh and fish: `shtab` (PyPI) writes it.

shtab reads one argparse parser with subparsers. This file makes that parser of
the tree. The scripts are files: a shell that completes starts no Python.
"""

import argparse
import copy
import re

import shtab

# Where each shell looks for the script, below PREFIX/share; as does
# src/command/main.c.
PLACES = {"bash": "bash-completion/completions/straightway",
          "zsh": "zsh/site-functions/_straightway",
          "fish": "fish/vendor_completions.d/straightway.fish"}
# Operands that are files; OUT and FILE stand in longer ones as well.
_FILE = re.compile(r"\b(FILE|FOLDER|OUT|IN|A|B|ROOT|PREFIX)\b")
# shtab tells files from other words by "_file" in the function's name.
_PROGRAM = {"bash": "_straightway_program_or_file", "zsh": "_files",
            "fish": "(__fish_complete_path (commandline -ct))",
            "preamble": {"bash": """\
_straightway_program_or_file() {
  compgen -c -- "$1"
  compgen -f -- "$1"
}
"""}}


def _operand(action):
    """The name of an option's value, without what shells would read in it."""
    metavar = action.metavar or action.dest
    metavar = metavar if isinstance(metavar, str) else " ".join(metavar)
    return re.sub(r"[^\w.|,=-]+", " ", metavar).strip() or "TEXT"


def _plain(action):
    """A copy of an action that shtab may write as it is."""
    plain = copy.copy(action)
    if action.nargs != 0:
        plain.metavar = _operand(action).replace(" ", "_")
    if action.choices:
        plain.choices = list(action.choices)    # Debian 12's shtab counts them
    if action.dest == "program":
        plain.complete = _PROGRAM
    elif not action.choices and _FILE.search(plain.metavar or ""):
        plain.complete = shtab.FILE
    return plain


def parser(command):
    """The command and all below it, as one parser."""
    made = argparse.ArgumentParser(
        prog=" ".join(command.words), add_help=False,
        description=command.summary.rstrip("."))
    for action in command.parser._actions:
        hidden = action.help == argparse.SUPPRESS or isinstance(
            action, argparse._SubParsersAction)
        if not hidden and (action.option_strings or not command.below):
            made._add_action(_plain(action))
    if command.below:
        below = made.add_subparsers()
        for child in command.below:
            name = child.words[-1]
            below.add_parser(name, help=child.summary.rstrip("."))
            below.choices[name] = parser(child)
    return made


def scripts(command):
    """{shell: script}, of the shells that this shtab knows."""
    root = parser(command)
    return {shell: shtab.complete(root, shell) for shell in PLACES
            if shell in shtab.SUPPORTED_SHELLS}
