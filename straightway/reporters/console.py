"""Consoles for lists and tables of 80 columns, coloured only on a terminal."""

import shutil
import textwrap

from rich.console import Console


def opened(out):
    """A Console that prints to a stream."""
    # A pipe gets 80 columns; a terminal its width, within readable bounds.
    width = min(100, max(60, shutil.get_terminal_size((80, 24)).columns))
    return Console(width=width, file=out, highlight=False)


def wrapped(text, width):
    """Lines of at most `width` letters; never cuts a word, such as a path."""
    return textwrap.wrap(text, width, break_long_words=False,
                         break_on_hyphens=False) or [""]
