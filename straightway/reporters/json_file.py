"""JSON: every report as it is, in one file."""

import json
import sys

from straightway.reporters import text_file


def write(path, report):
    """Write a report to `path`, or to stdout for "-"."""
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    text_file.write(path, text)
