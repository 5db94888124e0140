"""Consoles for lists and tables of 80 columns, coloured only on a terminal, and
without styles where NO_COLOR is set."""

import os
import shutil
import textwrap

from rich.console import Console


def colours():
    """rich's color_system: None sends no style at all, bold ones included."""
    return None if os.environ.get("NO_COLOR") else "auto"


def opened(out):
    """A Console that prints to a stream."""
    # A pipe gets 80 columns; a terminal its width, within readable bounds.
    width = min(100, max(60, shutil.get_terminal_size((80, 24)).columns))
    return Console(width=width, file=out, highlight=False,
                   color_system=colours())


def wrapped(text, width):
    """Lines of at most `width` letters; never cuts a word, such as a path."""
    return textwrap.wrap(text, width, break_long_words=False,
                         break_on_hyphens=False) or [""]
