"""A figure of protocols: bandwidth by size, and time beneath it.

The figure is narrow, so that its letters can be read where it is small, and
grows well. Okabe and Ito's colours tell the lines apart for most eyes, and so
do dashes, marks and the legend's order for all. The grey area is beyond a
memcpy by one process.
"""

import math

from straightway.bench import ladder
from straightway.reporters import pingpong_svg, svg

_WIDTH = 500
_ROW = 20               # of the legend
_BANDWIDTH, _TIME = 330, 270
_COLOURS = {"host": ("#000000", "#ffffff"), "two-copy": ("#d55e00",) * 2,
            "cma": ("#cc79a7",) * 2, "one-copy": ("#009e73",) * 2,
            "joint": ("#0072b2", "#56b4e9"), "give": ("#e69f00",) * 2,
            "remap": ("#56b4e9", "#0072b2"),
            "remap-huge": ("#767676", "#9a9a9a")}
_DASHES = {"host": "7 3", "two-copy": "2 2", "cma": "7 2 2 2",
           "one-copy": "none", "joint": "none", "give": "none",
           "remap": "1 3", "remap-huge": "9 2 1 2"}
_MARKS = {      # about 0, 0
    "host": "M-3 -3H3V3H-3Z", "two-copy": "M0 -4L4 3H-4Z",
    "cma": "M0 4L-4 -3H4Z", "one-copy": "M0 -4.4L4.4 0L0 4.4L-4.4 0Z",
    "joint": "M-3 0A3 3 0 1 0 3 0A3 3 0 1 0 -3 0Z",
    "give": "M-4 -1.3H-1.3V-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4Z",
    "remap": "M-4 -4L4 4M4 -4L-4 4", "remap-huge": "M-4 0L4 -3V3Z"}


def _style():
    """A class for the line and for the marks of each protocol."""
    for dark in (0, 1):
        lines = []
        for name, colours in _COLOURS.items():
            lines.append(
                f".way-{name} {{ stroke: {colours[dark]}; fill: none; "
                f"stroke-width: 1.8; stroke-dasharray: {_DASHES[name]}; }} "
                f".mark-{name} {{ fill: {colours[dark]}; }}")
        text = "\n".join(lines)
        yield ("@media (prefers-color-scheme: dark) {\n" + text + "\n}"
               if dark else text)


def _mark(name, x, y):
    return (f'<path class="mark-{name}" transform="translate({x:.1f},{y:.1f})" '
            f'd="{_MARKS[name]}"/>')


def _curves(panel, cells, protocols, value):
    for name in protocols:
        points = [(panel.x(c["size"]), panel.y(value(c["size"],
                                                     c[name]["median"])))
                  for c in cells if c[name]]
        if len(points) > 1:
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            yield f'<polyline class="way-{name}" points="{line}"/>'
        for x, y in points:
            yield _mark(name, x, y)


def _panel(cells, protocols, value, height, name, label, above):
    """`above`: values above the floor are beyond the machine's limit."""
    floors = [(c["size"], value(c["size"], c["floor"])) for c in cells]
    values = [v for _, v in floors] + [
        value(c["size"], c[p]["median"]) for c in cells for p in protocols
        if c[p]]
    low = math.floor(math.log10(min(values)))
    high = max(low + 1, math.ceil(math.log10(max(values))))
    panel = pingpong_svg.Panel(cells, _WIDTH - 16, height, 10.0 ** low,
                               10.0 ** high, True)
    ticks = [(10.0 ** p, label(p)) for p in range(low, high + 1)]
    yield from panel.frame(name, ticks)
    yield panel.floor(floors, panel.top if above else panel.bottom)
    yield from _curves(panel, cells, protocols, value)


def _legend(protocols):
    for i, name in enumerate([*protocols, None]):
        x, y = 16 + i % 4 * 120, 50 + i // 4 * _ROW
        if name:
            yield f'<path class="way-{name}" d="M{x} {y}H{x + 34}"/>'
            yield _mark(name, x + 17, y)
        else:
            yield (f'<rect class="floor" x="{x}" y="{y - 6}" width="34" '
                   f'height="12"/>')
        yield (f'<text x="{x + 40}" y="{y + 4}">{name or "one memcpy"}'
               '</text>')


def _rate(power):
    return (f"{10 ** (power - 6)} TB/s" if power >= 6 else
            f"{10 ** (power - 3)} GB/s" if power >= 3 else
            f"{10.0 ** power:g} MB/s")


def render(report, out):
    """Empty messages have no place on the axes."""
    protocols = report["plan"]["protocols"]
    cells = [c for c in report["cells"] if c["size"]]
    top = 58 + (len(protocols) // 4 + 1) * _ROW
    parts = [*_legend(protocols)]
    if cells:
        parts += [
            f'<g transform="translate(8,{top})">',
            *_panel(cells, protocols, lambda size, us: size / us, _BANDWIDTH,
                    "bandwidth", _rate, True),
            "</g>", f'<g transform="translate(8,{top + _BANDWIDTH})">',
            *_panel(cells, protocols, lambda size, us: us, _TIME,
                    ladder.PATTERNS[report["plan"]["patterns"][0]],
                    svg.time_tick, False), "</g>"]
    machine = report["machine"]
    out.write(svg.page(
        "A message by each protocol, two ranks" if report["ranks"] == 2 else
        f"A message by each protocol, {report['ranks']} ranks",
        [f"{machine['cpu']}, {machine['cores']} cores, {machine['date'][:10]}",
         f"{report['mpi']['name']}; medians, all in one run"],
        _WIDTH, top + _BANDWIDTH + _TIME + 48, parts, "\n".join(_style())))
