"""Commands: a module for each, and a folder for those below `bench`.

A command is a class. Its docstring is its help, `arguments(parser)` declares
its options, and `run(options)` returns the exit status. Its module loads when
the user calls it, since all of them together take longer than some commands.
"""

import importlib

# {name, of the command and its module: class}
CLASSES = {"doctor": "Doctor", "bench": "Bench", "report": "Report",
           "diff": "Diff", "merge": "Merge", "whatif": "WhatIf",
           "study": "Study", "topo": "Topo", "map": "Map",
           "where": "Where", "tune": "Tune"}


def load(name):
    """The class of a command."""
    return getattr(importlib.import_module(f"straightway.commands.{name}"),
                   CLASSES[name])
