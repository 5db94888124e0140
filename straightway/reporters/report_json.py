"""A report of plain data as JSON, as it is."""

import json


def render(report, out, indent=1):
    out.write(json.dumps(report, indent=indent, ensure_ascii=False) + "\n")
