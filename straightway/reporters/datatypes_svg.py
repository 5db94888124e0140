"""A figure of messages with gaps: time by size, two panels per kernel, of
untouched and of freshly written data."""

import math

from straightway.reporters import svg

_COLUMNS = 4
_NAMES = {"untouched": "", "fresh": ", fresh"}


def _round_sizes(cells):
    """The powers of 4 within the range of the sizes."""
    sizes = [c["size"] for c in cells]
    first = math.ceil(math.log(min(sizes), 4) - 1e-9)
    last = math.floor(math.log(max(sizes), 4) + 1e-9)
    return [4 ** p for p in range(first, last + 1)]


def render(report, out):
    cells = report["cells"]
    axes = svg.Axes(cells, ("hand", "host", "ours"))
    panels = list(dict.fromkeys((c["operation"], c["data"]) for c in cells))
    rows = math.ceil(len(panels) / _COLUMNS)
    width = max(720, min(len(panels), _COLUMNS) * svg.WIDTH) + 16
    height = 64 + rows * svg.HEIGHT + 24
    parts = []
    for i, (kernel, data) in enumerate(panels):
        x = 8 + i % _COLUMNS * svg.WIDTH
        y = 64 + i // _COLUMNS * svg.HEIGHT
        mine = [c for c in cells
                if (c["operation"], c["data"]) == (kernel, data)]
        gain = report["summary"]["means"][kernel][data]["ratio"]
        parts += [f'<g transform="translate({x},{y})">',
                  *svg.panel(axes, kernel + _NAMES[data], mine,
                             _round_sizes(cells), gain), "</g>"]
    title = "Messages with gaps: time by size, host and Straightway"
    foot = (svg.footing(report) + "; medians, all in one run; × is the "
            "geometric mean of host / ours; fresh: written before each send")
    out.write(svg.document(report, title, foot, width, height, parts,
                           floor="a message without gaps",
                           more=("hand", "packed by hand")))
