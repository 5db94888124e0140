"""Write the calls of docs/library.md from the comments of the headers.

    python docs/make_library.py

A test compares the page with the headers. A header's comment above a call is
the call's text: its first word is the call's name.
"""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / "library.md"
HEADERS = ("straightway.h", "straightway_mpi.h")
BEGIN = "<!-- calls: docs/make_library.py -->\n"
END = "<!-- end of calls -->\n"

COMMENT = r"/\*\n((?: \*[^\n]*\n)+?) \*/\n"
MACRO = re.compile(COMMENT + r"STRAIGHTWAY_CALL_\((\w+), (\w+), (\([^)]*\)),")
INLINE = re.compile(COMMENT + r"static inline ([^;{]*);")
CODE = re.compile(r"(?<!`)\b((?:straightway|MPI|STRAIGHTWAY)_\w+"
                  r"(?:\([^()]*\))?)")


def calls(text):
    """(name, prototype, comment) of each call, in the header's order."""
    found = [(at.start(), f"straightway_{at[3]}",
              f"{at[2]} straightway_{at[3]}{at[4]};", at[1])
             for at in MACRO.finditer(text)]
    found += [(at.start(), re.search(r"(\w+)\(", at[2])[1],
               " ".join(at[2].split()) + ";", at[1])
              for at in INLINE.finditer(text)]
    return [one[1:] for one in sorted(found)]


def prose(comment):
    """A comment's text as Markdown: its calls are code, its lines stay."""
    lines = [line[3:] for line in comment.splitlines()]
    return CODE.sub(r"`\1`", "\n".join(lines)).strip()


def wrapped(prototype):
    """A prototype in lines of a code block."""
    if len(prototype) <= 76:
        return f"    {prototype}"
    head, _, parameters = prototype.partition("(")
    return f"    {head}(\n        " + parameters.replace(", ", ",\n        ")


def render():
    parts = []
    for name in HEADERS:
        text = (HERE.parent / "include" / name).read_text()
        parts.append(f"## {name}\n")
        for call, prototype, comment in calls(text):
            parts.append(f"### {call}\n\n{wrapped(prototype)}\n\n"
                         f"{prose(comment)}\n")
    return "\n".join(parts)


def page(text):
    """The page's text with the calls of today."""
    block = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if not block.search(text):
        raise SystemExit(f"{PAGE} has no place for the calls")
    return block.sub(lambda _: f"{BEGIN}\n{render()}\n{END}", text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
