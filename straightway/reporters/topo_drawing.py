"""A drawing of a machine: boxes in boxes, as places lie in each other.

A place with caches of one core alone is drawn as its core. Alike nodes are
drawn once where no ranks tell them apart. Lengths are units of the drawing, and
html/topo.css has its colours.
"""

import re
from xml.sax.saxutils import escape

from straightway import units
from straightway.machine import survey
from straightway.reporters import topo_words as words

_CORE, _TALL = 34, 26           # a core's box
_PAD, _GAP, _HEAD = 8, 6, 20
_LINE = 14                      # from a line of text to the next one
_BOLD = 1.26                    # how much wider a title's letters are
_MOST = 12                      # lines of names in a box
# Widths of letters, at most: readers' fonts differ.
_WIDTHS = {letter: width for letters, width in (
    ("ijlI|'", 3.6), (" .,:;!/()[]ftr-", 5), ("mMWw@%", 11.2))
           for letter in letters}
_LEAST = 4 * (_CORE + _GAP) + 3 * _PAD  # a box of four cores in a row
WIDEST = 1160


class _Box:
    """A rectangle with a text, and boxes in it at their places."""

    def __init__(self, kind, text, width, height, tip=""):
        """`text`: a text, or a list of lines."""
        self.lines = [text] if isinstance(text, str) else text
        self.kind, self.tip = kind, tip or " ".join(self.lines)
        self.width, self.height = width, height
        self.inner = []                 # (x, y, _Box)

    def svg(self, x, y):
        yield (f'<rect class="{self.kind}" x="{x:.0f}" y="{y:.0f}" '
               f'width="{self.width:.0f}" height="{self.height:.0f}" rx="3">'
               f"<title>{escape(self.tip)}</title></rect>")
        first = y + 14
        how = f'class="title" x="{x + _PAD:.0f}"'
        if not self.inner:
            first = y + (self.height - _LINE * (len(self.lines) - 1)) / 2 + 4
            how = f'text-anchor="middle" x="{x + self.width / 2:.0f}"'
        for i, line in enumerate(self.lines):
            yield (f'<text {how} y="{first + _LINE * i:.0f}">{escape(line)}'
                   "</text>")
        for dx, dy, box in self.inner:
            yield from box.svg(x + dx, y + dy)


def _length(text):
    return sum(_WIDTHS.get(c, 11.2 if ord(c) > 0x2fff else
                           8.8 if c.isupper() else 7.1) for c in text)


def _wide(text, bold=1):
    """The width of a box around a text, or around lines of text."""
    lines = [text] if isinstance(text, str) else text
    return max(map(_length, lines), default=0) * bold + 2 * _PAD


def _broken(text, widest, bold=1):
    """Lines of a text that fit a box of this width. They end after commas and
    spaces, and within a name only where it alone is too long."""
    lines, room = [""], widest - 2 * _PAD
    for word in re.findall(r"[^,\s]*[,\s]+|[^,\s]+", text):
        if lines[-1] and _length((lines[-1] + word).rstrip()) * bold > room:
            lines.append("")
        if _length(lines[-1] + word.rstrip()) * bold <= room:
            lines[-1] += word
            continue
        for letter in word:
            if lines[-1] and _length(lines[-1] + letter.strip()) * bold > room:
                lines.append("")
            lines[-1] += letter
    return [line.strip() for line in lines if line.strip()] or [""]


def _across(row):
    return sum(box.width for box in row) + _GAP * (len(row) - 1)


def _rows(boxes, widest):
    """The boxes in rows that are not wider than so, and alike in length."""
    rows = []
    for box in boxes:
        if not rows or _across([*rows[-1], box]) > widest - 2 * _PAD:
            rows.append([])
        rows[-1].append(box)
    size = -(-len(boxes) // max(1, len(rows)))
    even = [boxes[i:i + size] for i in range(0, len(boxes), size or 1)]
    return even if all(_across(row) <= widest - 2 * _PAD
                       for row in even) else rows


def _filled(kind, text, boxes, widest, tip="", below=()):
    """A box around boxes, and others below these."""
    rows = _rows(boxes, widest) + _rows(below, widest)
    made = _Box(kind, text, 0, 0, tip)
    inside = max(map(_across, rows), default=0) + 2 * _PAD
    made.lines = _broken(text, max(widest, inside), _BOLD)
    y = _HEAD + _LINE * (len(made.lines) - 1)
    for row in rows:
        x = _PAD
        for box in row:
            made.inner.append((x, y, box))
            x += box.width + _GAP
        made.width = max(made.width, x - _GAP + _PAD)
        y += max((box.height for box in row), default=0) + _GAP
    made.width = max(made.width, _wide(made.lines, _BOLD))
    made.height = y - _GAP + _PAD
    return made


# Places ---------------------------------------------------------------------

def _place_text(place):
    title = place.title().replace("numa", "NUMA")
    size = place.memory if place.kind == "numa" else place.size
    return f"{title}, {units.size(size)}" if size else title


def _core(core, ranks):
    """A core's box: its number, or the ranks that are bound inside it."""
    here = [r for r in ranks if r.cpus & core.cpus]
    bound = [r for r in here if not r.cpus & ~core.cpus]
    kind, text = "core", str(core.number)
    if bound:
        kind = "core taken" if len(bound) == 1 else "core twice"
        text = "r" + words.number_list([r.number for r in bound])
    tip = (f"{core.title()}, {core.name + ', ' * bool(core.name)}processors "
           f"{words.processors.text(core.cpus)}")
    if here:
        tip += "; ranks that may run here: " + words.number_list(
            [r.number for r in here])
    return _Box(kind, text, max(_CORE, _wide(text) - _PAD), _TALL, tip)


def _devices(place):
    for device in place.devices:
        text = words.device_title(device)
        yield _Box(device.kind, text, _wide(text), _TALL,
                   " ".join(filter(None, (device.model, device.address))))


def _place(place, ranks, widest, more=""):
    """`more`: what a node's title says at its end."""
    inner = place.parts
    if len(place.all("core")) <= 1 and place.kind in ("cache", "core"):
        return _core((place.all("core") or [place])[0], ranks)
    # Half the width for each of two packages: the drawing is as high as wide.
    share = max(_LEAST, widest - 2 * _PAD)
    if len(inner) > 1 and share > 2 * _LEAST and place.kind in (
            "node", "package", "numa"):
        share = max(_LEAST, share / min(len(inner), 4) - _GAP)
    boxes = [_place(part, ranks, share) for part in inner
             if part.kind != "thread"]
    if place.kind == "node":
        text = ", ".join(filter(None, (place.name or "node",
                                       words.model(place)))) + more
    else:
        text = _place_text(place)
    return _filled(place.kind, text, boxes, widest, below=list(_devices(place)))


def _nodes(found, widest):
    """Boxes of the nodes: each with its ranks, or alike ones once."""
    if found.ranks:
        for node in found.tree.all("node"):
            yield _place(node, [r for r in found.ranks
                                if r.node == node.number], widest)
        return
    for nodes in survey.kinds_of_nodes(found.tree):
        if nodes[0].parts:
            yield _place(nodes[0], [], widest, "" if len(nodes) == 1 else
                         f"; {len(nodes)} nodes are alike")


def _network(place, widest):
    """Boxes of switches in switches, with their nodes by name."""
    boxes = [_network(part, widest - 2 * _PAD) for part in place.parts
             if part.kind == "switch"]
    nodes = [part for part in place.parts if part.kind == "node"]
    text = place.title()
    if nodes:
        names = _broken(words.names_of(nodes), max(_LEAST, widest - 2 * _PAD))
        if len(names) > _MOST:
            names[_MOST - 1:] = [f"… of {words.many(len(nodes), 'node')}"]
        boxes.append(_Box("node", names, _wide(names),
                          _TALL + _LINE * (len(names) - 1),
                          ", ".join(node.name for node in nodes)))
    return _filled("package", text, boxes, widest)


def _boxes(found, widest):
    """The boxes of a Survey, from above to below."""
    if found.tree.all("switch"):
        yield _network(found.tree, widest)
    yield from _nodes(found, widest)


def drawn(found, widest=WIDEST):
    """(width, height, lines of SVG) of the whole drawing, at the origin."""
    lines, y, width = ['<g class="topo">'], 0, 0
    for box in _boxes(found, widest):
        lines += box.svg(0.5, y + 0.5)
        y += box.height + 2 * _GAP
        width = max(width, box.width)
    return width + 1, max(0, y - 2 * _GAP) + 1, [*lines, "</g>"]
