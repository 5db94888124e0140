"""JSON: every report as it is, in one file."""

import json
import sys

from straightway.errors import UserError


def write(path, report):
    """Write a report to `path`, or to stdout for "-"."""
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None
