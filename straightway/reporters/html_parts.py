"""Parts that HTML reports share: cells and tables for the templates' macros
(html/parts.html), and a page from a template.

The template engine escapes all texts. By its content security policy a page
allows no connection, and no script but its own.
"""

import base64
import functools
import hashlib
import pathlib

import jinja2
from markupsafe import Markup

from straightway import units

HTML = pathlib.Path(__file__).parent / "html"


class Cell:
    """A table's cell: its text, and its value for sorting."""

    def __init__(self, text, value=None, title="", bar=None, frames=None,
                 indent=0):
        self.text, self.value, self.title = text, value, title
        self.bar, self.frames, self.indent = bar, frames, indent


class Column:
    def __init__(self, name, kind="number", title=""):
        self.name, self.kind, self.title = name, kind, title


class Table:
    """A table as the template's macro takes it."""

    def __init__(self, name, columns, rows, more=0, filter=False, sort=None,
                 shown=None):
        self.name, self.rows, self.more = name, rows, more
        self.columns = [c if isinstance(c, Column) else Column(*c)
                        for c in columns]
        self.filter, self.sort = filter, sort
        self.shown = shown if shown and len(rows) > shown * 1.2 else None


def duration(ns):
    return Cell(units.duration(ns) if ns else "", ns)


def count(number):
    return Cell(units.number(number) if number else "", number,
                f"{number:,}" if number >= 10000 else "")


def size(count):
    return Cell(units.size(count) if count else "", count,
                f"{count:,} bytes" if count >= 1024 else "")


def share(part):
    return Cell(units.share(part) if part else "", part)


def kept(text):
    """The text, with each number on the line of its unit."""
    return units.WITH_UNIT.sub("\u00a0\\1", text)


@functools.cache
def _environment():
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HTML), autoescape=True,
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    made.filters["kept"] = kept
    return made


def _hash(script):
    """A script's name in a content security policy."""
    digest = hashlib.sha256(script.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def page(template, context, styles=("page.css",)):
    """The text of a page."""
    style = "".join((HTML / name).read_text(encoding="utf-8")
                    for name in styles)
    script = (HTML / "page.js").read_text(encoding="utf-8")
    return _environment().get_template(template).render(
        style=Markup(style), script=Markup(script),
        script_hash=_hash(script), **context)
