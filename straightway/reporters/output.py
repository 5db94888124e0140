"""Where a report goes: into a text, a file, or stdout.

A reporter's text is whole before a file is opened, so that a mistake in
between leaves no half of a file.
"""

import io
import os
import pathlib
import sys

from straightway import files
from straightway.errors import UserError


def text(reporter, report, **how):
    """What a reporter writes."""
    out = io.StringIO()
    reporter.render(report, out, **how)
    return out.getvalue()


def write(path, reporter, report, named=True, **how):
    """Write it to the file `path`. `named`: the user named it, and may have
    named a link."""
    whole = text(reporter, report, **how)
    try:
        if not named:
            files.instead(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(whole)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None


def announce(path, reporter, report, named=True, **how):
    """Write it to a file, and say so."""
    write(path, reporter, report, named, **how)
    print(f"straightway: wrote {path}", file=sys.stderr)


def send(path, reporter, report, **how):
    """Write it to a file, or to stdout for "-"."""
    if path == "-":
        sys.stdout.write(text(reporter, report, **how))
    else:
        write(path, reporter, report, **how)


def check_writable(path):
    """Better before the run than after it."""
    if not path or path == "-":
        return
    folder = pathlib.Path(path).absolute().parent
    if not folder.is_dir():
        raise UserError(f"{path}: there is no folder {folder}", 1)
    if pathlib.Path(path).is_dir() or not os.access(folder, os.W_OK):
        raise UserError(f"{path}: cannot be written", 1)
