"""Figures of benchmarks: panels of time by size, on log-log axes.

A figure is one file without script and font. A media query follows the
reader's light or dark scheme. In black and white it reads the same: host
dashed, ours solid, floor a thin filled edge.
"""

import math
from xml.sax.saxutils import escape

from straightway import units

_STYLE = """
:root { color-scheme: light dark; }
svg { background: #ffffff; }
text { font: 11px system-ui, sans-serif; fill: #333333; }
.title { font-size: 16px; font-weight: 600; fill: #111111; }
.name { font-size: 12px; font-weight: 600; fill: #111111; }
.grid { stroke: #e4e4e4; stroke-width: 1; }
.frame { fill: none; stroke: #bbbbbb; }
.host { stroke: #b3541e; fill: none; stroke-width: 2;
        stroke-dasharray: 6 3; }
.ours { stroke: #1f6fb2; fill: none; stroke-width: 2.2; }
.floor { fill: #888888; fill-opacity: .14; stroke: none; }
.peer { stroke: #888888; fill: none; stroke-width: 1.4;
        stroke-dasharray: 1 3; }
.edge { stroke: #888888; fill: none; stroke-width: 1; }
.hand { stroke: #5a7d2a; fill: none; stroke-width: 1.6;
        stroke-dasharray: 2 3; }
.dot-host { fill: #b3541e; } .dot-ours { fill: #1f6fb2; }
.dot-hand { fill: #5a7d2a; }
.bar-host { stroke: #b3541e; } .bar-ours { stroke: #1f6fb2; }
.gain { fill: #1f6fb2; font-weight: 600; }
@media (prefers-color-scheme: dark) {
  svg { background: #15181c; }
  text { fill: #b9c0c8; } .title, .name { fill: #eef1f4; }
  .grid { stroke: #2a2f36; } .frame { stroke: #4a515a; }
  .host { stroke: #f0925a; } .ours, .dot-ours { stroke: #63b3f2; }
  .dot-host { fill: #f0925a; } .dot-ours, .gain { fill: #63b3f2; }
  .hand { stroke: #a5cc6b; } .dot-hand { fill: #a5cc6b; }
  .bar-host { stroke: #f0925a; } .bar-ours { stroke: #63b3f2; }
  .floor { fill: #aaaaaa; fill-opacity: .16; }
}
"""
WIDTH, HEIGHT = 262, 190                # a panel with its labels
_COLUMNS = 4                            # panels side by side
_LEFT, _TOP, _RIGHT, _BOTTOM = 54, 24, 12, 26


class Axes:
    """Time by size, on logarithmic axes, for the curves `modes`."""

    def __init__(self, cells, modes=("host", "ours")):
        self.modes = modes
        sizes = [c["size"] for c in cells if c["size"]] or [8]
        self.x0, self.x1 = math.log2(min(sizes)), math.log2(max(sizes))
        if self.x0 == self.x1:
            self.x0, self.x1 = self.x0 - 1, self.x1 + 1
        self._fit(cells)

    def _fit(self, cells):
        times = [t for c in cells for t in (
            *(c[mode][end] for mode in self.modes if c[mode]
              for end in ("low", "high")), c["floor"]) if t > 0]
        self.y0 = math.floor(math.log10(min(times)))
        self.y1 = max(self.y0 + 1, math.ceil(math.log10(max(times))))

    def x(self, size):
        if not size:
            return (_LEFT + WIDTH - _RIGHT) / 2
        part = (math.log2(size) - self.x0) / (self.x1 - self.x0)
        return _LEFT + part * (WIDTH - _LEFT - _RIGHT)

    def y(self, time):
        part = (math.log10(max(time, 10.0 ** self.y0)) - self.y0) \
            / (self.y1 - self.y0)
        return HEIGHT - _BOTTOM - part * (HEIGHT - _TOP - _BOTTOM)

    def ticks(self):
        """The labelled values of the y axis."""
        for power in range(self.y0, self.y1 + 1):
            yield 10.0 ** power, time_tick(power)


class Shares(Axes):
    """Shares from none to all by size; the figure cuts off what is beyond."""

    def _fit(self, cells):
        pass

    def y(self, share):
        return HEIGHT - _BOTTOM - min(max(share, 0), 1) \
            * (HEIGHT - _TOP - _BOTTOM)

    def ticks(self):
        for quarter in range(5):
            yield quarter / 4, f"{25 * quarter} %"


def time_tick(power):
    """10 to this power, in microseconds."""
    if power >= 6:
        return f"{10 ** (power - 6)} s"
    if power >= 3:
        return f"{10 ** (power - 3)} ms"
    return f"{10 ** power if power >= 0 else 10.0 ** power:g} µs"


def _grid(axes, sizes):
    for value, label in axes.ticks():
        y = axes.y(value)
        yield (f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" '
               f'y1="{y:.1f}" y2="{y:.1f}"/>')
        yield (f'<text x="{_LEFT - 5}" y="{y + 4:.1f}" '
               f'text-anchor="end">{label}</text>')
    step = max(1, math.ceil(len(sizes) / 5))
    for size in sizes[::step]:
        x = axes.x(size)
        yield (f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" '
               f'y2="{HEIGHT - _BOTTOM}"/>')
        yield (f'<text x="{x:.1f}" y="{HEIGHT - _BOTTOM + 14}" '
               f'text-anchor="middle">{units.brief(size)}</text>')


def _curve(axes, cells, mode):
    points = [(axes.x(c["size"]), axes.y(c[mode]["median"])) for c in cells
              if c[mode]]
    if len(points) > 1:
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        yield f'<polyline class="{mode}" points="{line}"/>'
    for x, y in points:
        yield f'<circle class="dot-{mode}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>'


def _floor(axes, cells):
    bottom = HEIGHT - _BOTTOM
    points = [(axes.x(c["size"]), axes.y(c["floor"])) for c in cells
              if c["floor"] > 0]
    if len(points) == 1:
        points = [(points[0][0] - 20, points[0][1]),
                  (points[0][0] + 20, points[0][1])]
    if points:
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        yield (f'<polygon class="floor" points="{points[0][0]:.1f},{bottom} '
               f'{line} {points[-1][0]:.1f},{bottom}"/>')


def panel(axes, name, cells, sizes, gain):
    """One panel at the origin; `sizes` are labelled, `gain` is a mean ratio.
    """
    yield f'<text class="name" x="{_LEFT}" y="{_TOP - 8}">{name}</text>'
    if gain:
        yield (f'<text class="gain" x="{WIDTH - _RIGHT}" y="{_TOP - 8}" '
               f'text-anchor="end">{gain:.2f} ×</text>')
    yield from _grid(axes, sizes if cells[0]["size"] else [])
    yield (f'<rect class="frame" x="{_LEFT}" y="{_TOP}" '
           f'width="{WIDTH - _LEFT - _RIGHT}" '
           f'height="{HEIGHT - _TOP - _BOTTOM}"/>')
    yield from _floor(axes, cells)
    for mode in axes.modes:
        yield from _curve(axes, cells, mode)


def legend(report, floor="what the machine allows", more=None):
    """The legend, 46 units below the top. `floor`: what it is, or None. `more`
    is the class and the name of another line."""
    host = escape(report["mpi"]["name"])
    yield ('<line class="host" x1="16" x2="46" y1="46" y2="46"/>'
           f'<text x="52" y="50">{host}</text>')
    x = 66 + 7 * len(host)
    yield (f'<line class="ours" x1="{x}" x2="{x + 30}" y1="46" y2="46"/>'
           f'<text x="{x + 36}" y="50">Straightway</text>')
    if not floor:
        return
    x += 124
    yield (f'<rect class="floor" x="{x}" y="40" width="30" height="12"/>'
           f'<text x="{x + 36}" y="50">floor: {floor}</text>')
    if more:
        x += 90 + 6 * len(floor)
        yield (f'<path class="{more[0]}" d="M{x} 46H{x + 30}"/>'
               f'<text x="{x + 36}" y="50">{more[1]}</text>')


def footing(report):
    """The machine and the date, in a line."""
    machine = report["machine"]
    return (f"{machine['cpu']}, {machine['cores']} cores, Linux "
            f"{machine['kernel']}, {machine['date'][:10]}")


def document(report, title, foot, width, height, parts, **names):
    """The whole file around the panels, which begin 64 units from the top
    and end 24 above the bottom; `names` are the legend's."""
    return page(title, [foot], width, height,
                [*legend(report, **names), *parts])


def page(title, feet, width, height, parts, style=""):
    """The whole file: the title, the parts, and lines of text at the bottom,
    which take 18 units each."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title>", f"<style>{_STYLE}{style}</style>",
        f'<text class="title" x="16" y="26">{escape(title)}</text>', *parts,
        *(f'<text x="16" y="{height - 10 - 18 * i}">{escape(foot)}</text>'
          for i, foot in enumerate(reversed(feet))), "</svg>\n"])


def panels(report, title, foot, found, narrowest, columns=_COLUMNS,
           **names):
    """The whole file of the panels `found`, [(axes, name, cells, sizes,
    gain)], so many side by side; `names` are the legend's."""
    parts = []
    for i, one in enumerate(found):
        x, y = 8 + i % columns * WIDTH, 64 + i // columns * HEIGHT
        parts += [f'<g transform="translate({x},{y})">', *panel(*one),
                  "</g>"]
    width = max(narrowest, min(len(found), columns) * WIDTH) + 16
    height = 64 + math.ceil(len(found) / columns) * HEIGHT + 24
    return document(report, title, footing(report) + foot, width, height,
                    parts, **names)
