"""A figure of collectives: latency by size, one panel per operation."""

import math

from straightway.reporters import svg

_COLUMNS = 4


def render(report, out):
    cells = report["cells"]
    axes = svg.Axes(cells)
    sizes = sorted({c["size"] for c in cells if c["size"]})
    names = list(dict.fromkeys(c["operation"] for c in cells))
    rows = math.ceil(len(names) / _COLUMNS)
    width = max(620, min(len(names), _COLUMNS) * svg.WIDTH) + 16
    height = 64 + rows * svg.HEIGHT + 24
    title = (f"Collectives on {report['ranks']} ranks: time by size, "
             "host and Straightway")
    foot = (svg.footing(report) + "; medians, both in one run; × is the "
            "geometric mean of host / ours")
    parts = []
    for i, name in enumerate(names):
        x = 8 + i % _COLUMNS * svg.WIDTH
        y = 64 + i // _COLUMNS * svg.HEIGHT
        gain = report["summary"]["operations"].get(name, {}).get(
            "geometric_mean")
        mine = [c for c in cells if c["operation"] == name]
        parts.append(f'<g transform="translate({x},{y})">')
        parts += svg.panel(axes, name, mine, sizes, gain)
        parts.append("</g>")
    out.write(svg.document(report, title, foot, width, height, parts))
