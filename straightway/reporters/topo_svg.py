"""A machine as one SVG file without script and font: the drawing, and the heat
maps of what was measured. It follows the reader's light or dark scheme."""

import pathlib
from xml.sax.saxutils import escape

from straightway.reporters import heat, topo_drawing, topo_words as words

_CSS = pathlib.Path(__file__).parent / "html" / "topo.css"
_STYLE = """
:root { color-scheme: light dark; }
svg { background: #ffffff; }
text { font: 11px system-ui, sans-serif; fill: var(--box-ink); }
.head { font-size: 16px; font-weight: 600; }
.name { font-size: 12px; font-weight: 600; }
@media (prefers-color-scheme: dark) { svg { background: #15181c; } }
"""
_LEFT, _KEY = 44, 150                   # a map's labels, its key
_MAP, _SQUARE = 420, 60                 # a map, and a core's square, at most


def _side(one):
    return min(_MAP, _SQUARE * one.count)


def _map(one):
    """A heat map at the origin: name, squares, labels, key."""
    whole = _side(one)
    side = whole / one.count
    yield f'<text class="name" x="{_LEFT}" y="12">{one.name}</text>'
    yield (f'<g transform="translate({_LEFT},22) '
           f'scale({side:.4f})">')
    yield from one.paths()
    yield "</g>"
    for i, label in one.ticks(16):
        at = (i + 0.5) * side
        yield (f'<text x="{_LEFT - 6}" y="{26 + at:.1f}" text-anchor="end">'
               f'{label}</text><text x="{_LEFT + at:.1f}" y="{whole + 38}" '
               f'text-anchor="middle">{label}</text>')
    for row, (step, text) in enumerate(one.keys()):
        y = 22 + 18 * row
        yield (f'<rect class="q{step}" x="{_LEFT + whole + 14}"'
               f' y="{y}" width="12" height="12"/>'
               f'<text x="{_LEFT + whole + 32}" y="{y + 10}">{text}</text>')


def render(found, out):
    """`found`: a Survey."""
    width, height, parts = topo_drawing.drawn(found)
    top = 44
    lines = [f'<g transform="translate(16,{top})">', *parts, "</g>"]
    y = top + height + 24
    for one in heat.maps(found.cores) if found.cores else ():
        lines += [f'<g transform="translate(16,{y:.0f})">', *_map(one), "</g>"]
        y += _side(one) + 60
        width = max(width, _LEFT + _side(one) + _KEY, 7 * len(one.name) + _LEFT)
    title = words.whole_title(found)
    about = f"described by {found.source}"
    width = max(width + 32, 40 + 9 * len(title), 40 + 6 * len(about))
    style = _STYLE + _CSS.read_text(encoding="utf-8")
    out.write("\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
        f'height="{y + 12:.0f}" viewBox="0 0 {width:.0f} {y + 12:.0f}" '
        'role="img">', f"<title>{escape(title)}</title>",
        f"<style>{style}</style>",
        f'<text class="head" x="16" y="26">{escape(title)}</text>', *lines,
        f'<text x="16" y="{y:.0f}">{escape(about)}</text>', "</svg>\n"]))
