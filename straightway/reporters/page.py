"""A page on the terminal: as wide as the terminal, within bounds, with colours
only there, and in characters of its encoding."""

import contextlib
import os
import re
import shutil
import sys
import textwrap

from rich.console import Console
from rich.text import Text

from straightway import units
from straightway.errors import printable
from straightway.reporters import console

NARROW, USUAL, WIDE = 60, 80, 140
COMPUTE, WAITING, MOVING, IO = PARTS = ("compute", "waiting", "moving", "I/O")
STYLES = {COMPUTE: "blue", WAITING: "yellow", MOVING: "cyan", IO: "magenta"}
_BLOCKS = {COMPUTE: "█", WAITING: "░", MOVING: "▓", IO: "▒"}
_LETTERS = {COMPUTE: "#", WAITING: ".", MOVING: "=", IO: "o"}
_PLAIN = str.maketrans({"µ": "u", "…": "~", "×": "x", "±": "+", "−": "-"})


def _width(stream):
    """The terminal's columns; 80 without a terminal, and in the one of no
    columns that Open MPI gives to its processes."""
    with contextlib.suppress(KeyError, ValueError):
        return int(os.environ["COLUMNS"])
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return os.get_terminal_size(stream.fileno()).columns or USUAL
    return USUAL if stream is not sys.stdout else \
        shutil.get_terminal_size((USUAL, 24)).columns


class Page:
    """Prints a page. It never takes texts for markup, and texts never break
    its layout."""

    def __init__(self, out):
        with contextlib.suppress(AttributeError, ValueError):
            out.reconfigure(errors="replace")
        self.console = Console(
            width=min(WIDE, max(NARROW, _width(out))), file=out,
            highlight=False, markup=False, emoji=False,
            color_system=console.colours())
        self.width = self.console.width
        self.full = "utf" in self.console.encoding.lower()
        self.glyphs = _BLOCKS if self.full else _LETTERS

    def text(self, value, style=""):
        """A Text in characters that the terminal can show."""
        if not self.full:
            value = value.translate(_PLAIN)
        return Text(printable(value), style)

    def line(self, value="", style=""):
        """A line. A plain text goes on below where it is too long; a Text,
        which has columns, is cut at the page's width."""
        if not isinstance(value, Text):
            if len(value) > self.width:
                start = len(value) - len(value.lstrip(" "))
                self.paragraph(value, style, min(start, self.width // 2))
                return
            value = self.text(value, style)
        self._cut(value)

    def _cut(self, text):
        """Print a Text, cut at the page's width."""
        text.truncate(self.width, overflow="ellipsis" if self.full
                      else "crop")
        self.console.print(text, soft_wrap=True)

    def paragraph(self, value, style="", indent=0):
        """Lines broken between words, or within a word that is too long."""
        # A number stays with its unit.
        value = units.WITH_UNIT.sub(lambda match: "\0" + match.group(1), value)
        for line in textwrap.wrap(value, self.width - indent,
                                  break_on_hyphens=False):
            self._cut(self.text(" " * indent + line.replace("\0", " "),
                                style))

    def names(self, head, names, indent=0):
        """A list of names without spaces, as in a,n[1-3,7]: lines end after
        commas."""
        line = " " * indent + head
        for name in re.findall("[^,]+,?|,", names):
            if len(line) + len(name) > self.width and line.strip():
                self.line(line.rstrip())
                line = " " * (indent + 2)
            line += name
        self.line(line)

    def whole(self, value, style=""):
        """A line to copy: never cut, however long."""
        self.console.print(self.text(value, style), soft_wrap=True)

    def title(self, what, right):
        """The page's first line: its subject, cut where there is no room, and
        a text at the right edge."""
        left = self.text(what, "bold")
        left.truncate(self.width - len(right) - 2, overflow="ellipsis"
                      if self.full else "crop", pad=True)
        left.append("  ")
        left.append_text(self.text(right))
        self.line(left)

    def heading(self, title, note=""):
        """A title, with a note behind it, or below it where this is too long.
        """
        self.line()
        if len(title) + 2 + len(note) > self.width:
            self.line(title, "bold")
            self.paragraph(note, "dim")
            return
        text = self.text(title, "bold")
        if note:
            text.append_text(self.text(f"  {note}", "dim"))
        self.line(text)

    def table(self, columns, rows):
        """`columns`: (name, "left", "right", "fill" or "middle"). A "fill" or
        "middle" column is cut where there is no room, at its end or in its
        middle, and never wider than necessary. Cells are texts, or Text."""
        rows = [[self.text(c) if isinstance(c, str) else c for c in row]
                for row in rows]
        head = [self.text(name, "bold") for name, _ in columns]
        widths = [max(row[i].cell_len for row in [head, *rows])
                  for i in range(len(columns))]
        for i, (_, kind) in enumerate(columns):
            if kind in ("fill", "middle"):
                room = self.width - sum(widths) + widths[i] - len(widths) + 1
                widths[i] = max(8, min(room, max(
                    widths[i], room - self.width + USUAL)))
        for row in [head, *rows]:
            line = Text()
            for cell, width, (_, kind) in zip(row, widths, columns):
                if kind == "middle":
                    cell = self.shortened(cell, width)
                cell.truncate(width, overflow="ellipsis" if self.full
                              else "crop")
                gap = " " * (width - cell.cell_len)
                line.append(" " * bool(line) + gap * (kind == "right"))
                line.append_text(cell)
                line.append(gap * (kind != "right"))
            line.rstrip()
            self.line(line)

    def shortened(self, text, width):
        """A Text without its middle, where there is no room for all of it."""
        if text.cell_len <= width:
            return text
        tail = (width - 1) // 2
        head = width - 1 - tail
        return self.text(text.plain[:head] + "…" +
                         text.plain[len(text.plain) - tail:])

    def bar(self, parts, width, whole):
        """A stacked bar of {part: value}, `width` long for the value `whole`.
        Rounding moves a part by half a character at most."""
        text = Text()
        value, at = 0.0, 0
        for name in PARTS:
            value += parts.get(name, 0)
            end = round(width * value / whole) if whole else 0
            end = min(max(end, at), width)
            text.append(self.glyphs[name] * (end - at), STYLES[name])
            at = end
        return text

    def legend(self, names, called=None):
        """`called`: other words for some of the names."""
        text, called = Text(), called or {}
        for name in names:
            if text:
                text.append("  ")
            text.append(self.glyphs[name], STYLES[name])
            text.append(f" {called.get(name, name)}")
        return text
