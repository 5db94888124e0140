"""Consoles for lists and tables as wide as the terminal, coloured only on one,
and without styles where NO_COLOR is set."""

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
    width = min(100, max(40, shutil.get_terminal_size((80, 24)).columns))
    return Console(width=width, file=out, highlight=False,
                   color_system=colours())


def wrapped(text, width):
    """Lines of at most `width` letters; cuts only a word that is longer."""
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def longest(text):
    """The length of the longest word of a text."""
    return max(map(len, text.split()), default=0)
