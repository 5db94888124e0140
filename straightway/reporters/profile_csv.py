"""A profile's tables as CSV: one header line, then the rows."""

import csv


def render(rows, out):
    """`rows` are dicts with the same keys; without rows the text is empty."""
    if not rows:
        return
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
