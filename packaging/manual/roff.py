"""Text as roff, for man(7): a terminal shows what the author has written.

The pages use the macros that groff and mandoc both know.
"""

import itertools
import re
import textwrap

_NAMED = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha",
          "~": "\\(ti", '"': "\\(dq"}


def escaped(text):
    """`text` with nothing left that roff would obey or draw otherwise."""
    text = re.sub(r"[\\\-'`^~\"]", lambda found: _NAMED[found[0]], text)
    text = re.sub(r"[^\x00-\x7f]",
                  lambda found: f"\\[u{ord(found[0]):04X}]", text)
    return re.sub(r"^\.", "\\&.", text, flags=re.M)


def bold(text):
    return f"\\fB{escaped(text)}\\fR"


def italic(text):
    return f"\\fI{escaped(text)}\\fR"


def section(title):
    return [f".SH {escaped(title.upper())}"]


def title(name, number, date, version):
    """The line that each page begins with."""
    return [f'.TH "{escaped(name.upper())}" {number} "{date}" '
            f'"straightway {version}" "Straightway manual"']


def example(lines):
    """Lines as they are, indented."""
    shown = textwrap.dedent("\n".join(lines)).splitlines()
    return ['.IP "" 4', ".EX", *map(escaped, shown), ".EE"]


def prose(text):
    """Paragraphs, and indented lines as examples."""
    page = []
    for block in re.split(r"\n[ \t]*\n", text.strip("\n")):
        for indented, group in itertools.groupby(
                block.splitlines(), lambda line: line.startswith("  ")):
            lines = list(group)
            page += example(lines) if indented else \
                [".PP", *(escaped(line.strip()) for line in lines)]
    return page


def body(text):
    """The same, right after a heading, which has a paragraph of its own."""
    page = prose(text)
    return page[1:] if page[:1] == [".PP"] else page


def entry(head, text):
    """An entry of a list: its head in roff, and its text."""
    return [".TP", head, *escaped(text).splitlines()]
