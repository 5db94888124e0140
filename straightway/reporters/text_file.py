"""Text: a report that is text already, in one file."""

import sys

from straightway.errors import UserError


def write(path, text):
    """Write it to `path`."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None


def announce(path, text):
    """Write it, and say so."""
    write(path, text)
    print(f"straightway: wrote {path}", file=sys.stderr)
