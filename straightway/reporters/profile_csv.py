"""A profile's tables as CSV: one header line, then the rows."""

import csv
import io


def render(rows):
    """The text of rows, dicts with the same keys; "" for none."""
    if not rows:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
