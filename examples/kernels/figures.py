"""The plots of experiments.py: SVG, one file each, no script, no font.

They follow the reader's light or dark scheme by a media query, and read the
same in black and white: normal runs are dashed or outlined, simulated ones
solid, free collectives light.
"""
import math
from xml.sax.saxutils import escape

from tables import WITHIN, signed, size, times

_STYLE = """
:root { color-scheme: light dark; }
svg { background: #ffffff; }
text { font: 12px system-ui, sans-serif; fill: #333333; }
.title { font-size: 16px; font-weight: 600; fill: #111111; }
.name { font-weight: 600; fill: #111111; }
.grid { stroke: #e4e4e4; } .zero { stroke: #888888; }
.normal { fill: none; stroke: #777777; stroke-width: 1.5;
          stroke-dasharray: 4 2; }
.simulated { fill: #1f6fb2; stroke: #1f6fb2; }
.free { fill: #b3541e; fill-opacity: .45; stroke: #b3541e; }
.band { fill: #888888; fill-opacity: .13; }
.c0, .c1, .c2 { fill: none; stroke-width: 2; }
.c0 { stroke: #1f6fb2; } .c1 { stroke: #b3541e; stroke-dasharray: 6 3; }
.c2 { stroke: #5a7d2a; stroke-dasharray: 2 3; }
@media (prefers-color-scheme: dark) {
  svg { background: #15181c; }
  text { fill: #b9c0c8; } .title, .name { fill: #eef1f4; }
  .grid { stroke: #2a2f36; } .zero, .normal { stroke: #aaaaaa; }
  .simulated { fill: #63b3f2; stroke: #63b3f2; } .c0 { stroke: #63b3f2; }
  .free { fill: #f0925a; stroke: #f0925a; } .c1 { stroke: #f0925a; }
  .c2 { stroke: #a5cc6b; }
}
"""


def _document(title, foot, width, height, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title>", f"<style>{_STYLE}</style>",
        f'<text class="title" x="16" y="26">{escape(title)}</text>', *parts,
        f'<text x="16" y="{height - 10}">{escape(foot)}</text>', "</svg>\n"])


def _text(x, y, words, anchor="start", kind=None):
    kind = f' class="{kind}"' if kind else ""
    return (f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
            f"{escape(words)}</text>")


def _line(x1, y1, x2, y2, kind):
    return (f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" '
            f'x2="{x2:.1f}" y2="{y2:.1f}"/>')


def _foot(report):
    return (f"{report['ranks']} ranks, {report['mpi']}, "
            f"{report['machine'].get('cpu', '')}, {report['date']}")


def gains(report):
    """Three bars a kernel; 100 % is the normal run, or the simulated one
    where there is none."""
    left, top, bar, gap, wide = 150, 70, 13, 18, 480
    names = ["normal", "simulated", "free"]
    rows = []
    for one in report["kernels"]:
        row = one["row"]
        whole = row["normal"] or row["simulated"] or 1.0
        rows.append((one, {n: row[n] / whole for n in names
                           if row[n] is not None}))
    most = max([1.0] + [v for _, bars in rows for v in bars.values()])
    scale = wide / most
    height = top + len(rows) * (3 * bar + gap) + 52
    bottom = top + len(rows) * (3 * bar + gap)
    parts = []
    for i in range(5 if most < 1.3 else int(most * 4) + 1):
        x = left + i / 4 * scale
        if x <= left + wide + 1:
            parts += [_line(x, top - 6, x, bottom, "grid"),
                      _text(x, bottom + 14, f"{25 * i} %", "middle")]
    x = left
    for name, label in zip(names, ("normal", "simulated",
                                   "simulated, collectives free")):
        parts += [f'<rect class="{name}" x="{x}" y="40" width="22" '
                  'height="11"/>', _text(x + 28, 50, label)]
        x += 60 + 7 * len(label)
    for i, (one, bars) in enumerate(rows):
        y = top + i * (3 * bar + gap)
        parts += [_text(left - 10, y + 16, one["name"], "end", "name"),
                  _text(left - 10, y + 31, one["kind"], "end")]
        for j, name in enumerate(names):
            if name in bars:
                parts.append(f'<rect class="{name}" x="{left}" '
                             f'y="{y + j * bar:.1f}" width='
                             f'"{bars[name] * scale:.1f}" height="{bar - 2}"'
                             '/>')
        parts.append(_text(left + bars["free"] * scale + 8,
                           y + 2 * bar + 10, times(one["row"]["gain"])))
    return _document("Run time, and what free collectives leave of it",
                     _foot(report), left + wide + 80, height, parts)


def micro(report):
    """Error by size, a curve for each operation; the band is the aim."""
    left, top, wide, high = 70, 70, 560, 260
    cells = [c for c in report["micro"] if c["row"]["error"] is not None]
    operations = list(dict.fromkeys(c["operation"] for c in cells))
    sizes = sorted({c["bytes"] for c in cells}) or [8, 16]
    low, last = math.log2(sizes[0]), math.log2(sizes[-1])
    last = last if last > low else low + 1
    most = max([0.2] + [abs(c["row"]["error"]) for c in cells])
    most = math.ceil(most * 10) / 10

    def x(count):
        return left + (math.log2(count) - low) / (last - low) * wide

    def y(error):
        return top + (1 - error / most) / 2 * high

    parts = [f'<rect class="band" x="{left}" y="{y(WITHIN):.1f}" '
             f'width="{wide}" height="{y(-WITHIN) - y(WITHIN):.1f}"/>']
    for error in sorted({-most, -most / 2, -WITHIN, 0, WITHIN, most / 2,
                         most}):
        parts += [_line(left, y(error), left + wide, y(error),
                        "grid" if error else "zero"),
                  _text(left - 8, y(error) + 4, signed(error), "end")]
    for count in sizes[::max(1, len(sizes) // 8)]:
        parts.append(_text(x(count), top + high + 18, size(count),
                           "middle"))
    at = left
    for i, operation in enumerate(operations):
        mine = sorted((c["bytes"], c["row"]["error"]) for c in cells
                      if c["operation"] == operation)
        points = " ".join(f"{x(b):.1f},{y(e):.1f}" for b, e in mine)
        parts += [f'<circle class="c{i % 3}" cx="{x(b):.1f}" '
                  f'cy="{y(e):.1f}" r="2.5"/>' for b, e in mine]
        parts += [f'<polyline class="c{i % 3}" points="{points}"/>',
                  _line(at, 46, at + 30, 46, f"c{i % 3}"),
                  _text(at + 36, 50, operation)]
        at += 70 + 7 * len(operation)
    return _document("Time of a call: simulated against normal, by size",
                     _foot(report), left + wide + 30, top + high + 56, parts)
