"""Manual pages of section 3: one for each header, from its comments.

The first comment of a header describes it: its name, a dash, what it is, then
prose. A comment right before the declaration of a call describes that call.
"""

import dataclasses
import re
import textwrap

import roff

_COMMENT = re.compile(r"/\*(.*?)\*/\n", re.S)
_CALL = re.compile(r"STRAIGHTWAY_CALL_\((\w+), (\w+), (\([^()]*\))")
_INLINE = re.compile(r"static inline ([^;{]+);")


@dataclasses.dataclass
class Call:
    name: str
    declaration: str
    text: str


def _prose(comment):
    lines = [re.sub(r"^ ?\* ?", "", line) for line in comment.splitlines()]
    return textwrap.dedent("\n".join(lines)).strip("\n")


def _declaration(text):
    """The declaration that `text` begins with, or None."""
    found = _CALL.match(text)
    if found:
        return f"{found[1]} straightway_{found[2]}{found[3]};"
    found = _INLINE.match(text)
    return f"{' '.join(found[1].split())};" if found else None


def read(text):
    """(what the header is, its prose, its calls)"""
    comments = list(_COMMENT.finditer(text))
    first, _, prose = _prose(comments[0][1]).partition("\n\n")
    calls = []
    for comment in comments[1:]:
        declaration = _declaration(text[comment.end():])
        if declaration:
            name = re.search(r"(straightway_\w+)\(", declaration)[1]
            calls.append(Call(name, declaration, _prose(comment[1])))
    return " ".join(first.split()).partition(" - ")[2], prose, calls


def render(name, text, date, version):
    """The page of a header, and the names of its calls."""
    about, prose, calls = read(text)
    about, _, more = about.partition(": ")
    names = [name, *(call.name for call in calls)]
    page = [*roff.title(name, 3, date, version), *roff.section("name"),
            f"{roff.escaped(', '.join(names))} \\- "
            f"{roff.escaped(about.rstrip('.'))}",
            *roff.section("synopsis"), ".nf", roff.bold(f"#include <{name}>"),
            *(roff.bold(call.declaration) for call in calls), ".fi",
            *roff.section("description"),
            *roff.body((f"{more[0].upper()}{more[1:]}\n\n" if more else "")
                       + prose)]
    page += roff.section("calls")
    for call in calls:
        page += [f".SS {roff.escaped(call.name)}", *roff.body(call.text)]
    page += roff.section("see also")
    page += [f"{roff.bold('straightway')}(1),",
             f"{roff.bold('straightway-run')}(1)", ""]
    return "\n".join(page), names[1:]
