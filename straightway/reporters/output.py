"""Destinations of a report: a text, a file, or stdout.

A reporter's text is complete before a file is opened, so an error in between
leaves no half of a file.
"""

import io
import os
import pathlib
import sys

from straightway import files
from straightway.errors import UserError


def text(reporter, report, **how):
    """The text that a reporter writes."""
    out = io.StringIO()
    reporter.render(report, out, **how)
    return out.getvalue()


def write(path, reporter, report, named=True, **how):
    """Write the text to the file `path`. `named`: the user chose the name,
    which may be a link."""
    whole = text(reporter, report, **how)
    try:
        if not named:
            files.instead(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(whole)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None


def announce(path, reporter, report, named=True, **how):
    """Write a report to a file, and print the name; or to stdout for "-"."""
    if path == "-":
        send(path, reporter, report, **how)
        return
    write(path, reporter, report, named, **how)
    print(f"straightway: wrote {path}", file=sys.stderr)


def send(path, reporter, report, **how):
    """Write a report to a file, or to stdout for "-"."""
    if path == "-":
        sys.stdout.write(text(reporter, report, **how))
    else:
        write(path, reporter, report, **how)


def check_writable(path):
    """UserError before the run rather than after it."""
    if not path or path == "-":
        return
    folder = pathlib.Path(path).absolute().parent
    if not folder.is_dir():
        raise UserError(f"{path}: there is no folder {folder}", 1)
    if pathlib.Path(path).is_dir() or not os.access(folder, os.W_OK):
        raise UserError(f"{path}: cannot be written", 1)
