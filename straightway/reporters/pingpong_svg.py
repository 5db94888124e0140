"""A figure of messages: bandwidth by size, and time beneath it.

It has a column for each pattern, three side by side. Bandwidth is on log-log
axes, over all sizes; time is on a linear axis from 0, over the small sizes.
The floor, a memcpy or a cache line's round trip, bounds both: bandwidth from
above, time from below. With warm caches a memcpy out of another process's
memory stands beside it. Bars show the interval that holds a median.
"""

import math

from straightway import units
from straightway.reporters import svg

SMALL = 1024            # bytes; larger sizes would hide the small ones
_LEFT, _TOP, _RIGHT, _BOTTOM = 62, 26, 14, 28
_BANDWIDTH, _TIME = 290, 210         # heights, with labels
_COLUMNS = 3
_STEPS = (1, 2, 2.5, 5, 10)


class Panel:
    """One pair of axes; y grows upwards from `bottom` to `top`."""

    def __init__(self, cells, width, height, bottom, top, logarithmic):
        self.width, self.height = width, height
        self.logarithmic = logarithmic
        self.sizes = sorted(c["size"] for c in cells)
        self.x0, self.x1 = (math.log2(n) for n in (self.sizes[0],
                                                   self.sizes[-1]))
        if self.x0 == self.x1:
            self.x0, self.x1 = self.x0 - 1, self.x1 + 1
        self.bottom, self.top = bottom, top

    def x(self, size):
        part = (math.log2(size) - self.x0) / (self.x1 - self.x0)
        return _LEFT + part * (self.width - _LEFT - _RIGHT)

    def y(self, value):
        scale = math.log10 if self.logarithmic else float
        low, high = scale(self.bottom), scale(self.top)
        value = min(max(value, self.bottom), self.top)
        part = (scale(value) - low) / (high - low)
        return self.height - _BOTTOM - part * (self.height - _TOP - _BOTTOM)

    def frame(self, name, ticks):
        right, base = self.width - _RIGHT, self.height - _BOTTOM
        yield f'<text class="name" x="{_LEFT}" y="{_TOP - 8}">{name}</text>'
        for value, label in ticks:
            y = self.y(value)
            yield (f'<line class="grid" x1="{_LEFT}" x2="{right}" '
                   f'y1="{y:.1f}" y2="{y:.1f}"/><text x="{_LEFT - 5}" '
                   f'y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        for size in self._labelled():
            x = self.x(size)
            yield (f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" '
                   f'y1="{_TOP}" y2="{base}"/><text x="{x:.1f}" '
                   f'y="{base + 15}" text-anchor="middle">{units.brief(size)}'
                   '</text>')
        yield (f'<rect class="frame" x="{_LEFT}" y="{_TOP}" '
               f'width="{right - _LEFT}" height="{base - _TOP}"/>')

    def _labelled(self):
        """Round sizes, far enough apart for their labels."""
        first, last = math.ceil(self.x0), math.floor(self.x1)
        step = max(1, math.ceil((last - first + 1) * 44
                                / (self.width - _LEFT - _RIGHT)))
        return [2 ** p for p in range(max(0, first), last + 1, step)]

    def floor(self, points, edge):
        """The area beyond the machine's limit, up to `edge`."""
        xy = [(self.x(n), self.y(v)) for n, v in points]
        if len(xy) == 1:
            (x, y), = xy
            xy = [(x - 20, y), (x + 20, y)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in xy)
        edge = self.y(edge)
        return (f'<path class="edge" d="M{line}"/><polygon class="floor" '
                f'points="{xy[0][0]:.1f},{edge:.1f} {line} '
                f'{xy[-1][0]:.1f},{edge:.1f}"/>')

    def curve(self, mode, points):
        """points: (size, value, low, high)"""
        if len(points) > 1:
            line = " ".join(f"{self.x(n):.1f},{self.y(v):.1f}"
                            for n, v, _, _ in points)
            yield f'<polyline class="{mode}" points="{line}"/>'
        for n, v, low, high in points:
            x = self.x(n)
            yield (f'<path class="bar-{mode}" d="M{x:.1f} {self.y(low):.1f}'
                   f'V{self.y(high):.1f}"/><circle class="dot-{mode}" '
                   f'cx="{x:.1f}" cy="{self.y(v):.1f}" r="2.2"/>')


def _decades(panel):
    low = round(math.log10(panel.bottom))
    high = round(math.log10(panel.top))
    for power in range(low, high + 1):
        yield (10.0 ** power, f"{10 ** (power - 3)} GB/s" if power >= 3 else
               f"{10.0 ** power:g} MB/s")


def _steps(panel):
    rough = panel.top / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(s * unit for s in _STEPS if s * unit >= rough * .999)
    for i in range(int(panel.top / step + 1e-9) + 1):
        yield i * step, f"{i * step:g} µs"


def _bandwidth(cells, peer, width):
    # The same bandwidth as in the report, for any other time.
    lanes = (cells[0]["host"]["bandwidth"] * cells[0]["host"]["median"]
             / cells[0]["size"])

    def rate(cell, time):
        return lanes * cell["size"] / time

    floors = [(c["size"], rate(c, c["floor"])) for c in cells
              if c["floor"] > 0]
    curves = {mode: [(c["size"], *(rate(c, c[mode][name]) for name in
                                   ("median", "high", "low")))
                     for c in cells if c[mode]] for mode in ("host", "ours")}
    values = [v for points in curves.values() for p in points for v in p[1:]]
    reads = [(n, lanes * n / us) for n, us in peer
             if cells[0]["size"] <= n <= cells[-1]["size"]]
    values += [v for _, v in floors + reads]
    low = math.floor(math.log10(min(values)))
    high = max(low + 1, math.ceil(math.log10(max(values))))
    panel = Panel(cells, width, _BANDWIDTH, 10.0 ** low, 10.0 ** high, True)
    yield from panel.frame(cells[0]["operation"] + ": bandwidth",
                           _decades(panel))
    if floors:
        yield panel.floor(floors, panel.top)
    if reads:
        line = " ".join(f"{panel.x(n):.1f},{panel.y(v):.1f}"
                        for n, v in reads)
        yield f'<path class="peer" d="M{line}"/>'
    for mode, points in curves.items():
        yield from panel.curve(mode, points)


def _time(cells, width):
    top = 1.25 * max(t for c in cells for t in (
        c["floor"], *(c[mode]["median"] for mode in ("host", "ours")
                      if c[mode])))
    panel = Panel(cells, width, _TIME, 0.0, top, False)
    yield from panel.frame(cells[0]["operation"] + ": time of small messages",
                           _steps(panel))
    yield panel.floor([(c["size"], c["floor"]) for c in cells], 0.0)
    for mode in ("host", "ours"):
        yield from panel.curve(mode, [
            (c["size"], *(c[mode][name] for name in
                          ("median", "low", "high")))
            for c in cells if c[mode]])


def render(report, out):
    """Empty messages have no place on the axes."""
    names = list(dict.fromkeys(c["operation"] for c in report["cells"]))
    wide = 780 if len(names) == 1 else 420
    width = max(620, min(len(names), _COLUMNS) * wide) + 16
    any_small = any(0 < c["size"] <= SMALL for c in report["cells"])
    tall = _BANDWIDTH + (_TIME if any_small else 0)
    height = 64 + -(-len(names) // _COLUMNS) * tall + 24
    peer = []
    if report["plan"]["cache"] == "warm":
        peer = sorted((int(n), us) for n, us in
                      report["floors"].get("peer_read", {}).items())
    parts = []
    for i, name in enumerate(names):
        cells = [c for c in report["cells"]
                 if c["operation"] == name and c["size"]]
        small = [c for c in cells if c["size"] <= SMALL]
        row, column = divmod(i, _COLUMNS)
        parts.append(f'<g transform="translate({8 + column * wide},'
                     f'{64 + row * tall})">')
        if cells:
            parts += _bandwidth(cells, peer, wide)
        if small:
            parts += [f'<g transform="translate(0,{_BANDWIDTH})">',
                      *_time(small, wide), "</g>"]
        parts.append("</g>")
    plan = report["plan"]
    title = (f"Messages on {report['ranks']} ranks, {plan['cache']} caches: "
             "host and Straightway")
    foot = svg.footing(report) + "; medians, both in one run"
    out.write(svg.document(
        report, title, foot, width, height, parts,
        floor="a memcpy, or a cache line's way",
        more=("peer", "memcpy from another process") if peer else None))
