"""Text: a report that is text already, in one file."""

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
