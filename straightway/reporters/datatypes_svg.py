"""A figure of messages with gaps: time by size, two panels per kernel, of
untouched and of freshly written data."""

import math

from straightway.reporters import svg

_NAMES = {"untouched": "", "fresh": ", fresh"}


def _round_sizes(cells):
    """The powers of 4 within the range of the sizes."""
    sizes = [c["size"] for c in cells]
    first = math.ceil(math.log(min(sizes), 4) - 1e-9)
    last = math.floor(math.log(max(sizes), 4) + 1e-9)
    return [4 ** p for p in range(first, last + 1)]


def render(report, out):
    cells, panels = report["cells"], []
    axes = svg.Axes(cells, ("hand", "host", "ours"))
    for kernel, data in dict.fromkeys((c["operation"], c["data"])
                                      for c in cells):
        mine = [c for c in cells
                if (c["operation"], c["data"]) == (kernel, data)]
        panels.append((axes, kernel + _NAMES[data], mine, _round_sizes(mine),
                       report["summary"]["means"][kernel][data]["ratio"]))
    out.write(svg.panels(
        report, "Messages with gaps: time by size, host and Straightway",
        "; medians, all in one run; × is the geometric mean of host / ours; "
        "fresh: written before each send",
        panels, 720,
        floor="a message without gaps", more=("hand", "packed by hand")))
