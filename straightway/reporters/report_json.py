"""A report of plain data as JSON, as it is."""

import json


def render(report, out):
    out.write(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
