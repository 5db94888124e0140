"""Text: a report that is text already, in one file."""

import os
import pathlib
import sys

from straightway import files
from straightway.errors import UserError


def write(path, text, named=True):
    """Write it to `path`. `named`: the user named it, and may have named a
    link."""
    try:
        if not named:
            files.instead(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None


def announce(path, text, named=True):
    """Write it, and say so."""
    write(path, text, named)
    print(f"straightway: wrote {path}", file=sys.stderr)


def check_writable(path):
    """Better before the run than after it."""
    if not path or path == "-":
        return
    folder = pathlib.Path(path).absolute().parent
    if not folder.is_dir():
        raise UserError(f"{path}: there is no folder {folder}", 1)
    if pathlib.Path(path).is_dir() or not os.access(folder, os.W_OK):
        raise UserError(f"{path}: cannot be written", 1)
