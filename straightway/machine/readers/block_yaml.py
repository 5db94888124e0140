"""The part of YAML that Slurm's topology.yaml uses: blocks by indentation of
mappings and lists, flow lists of words, and comments.

    parse(text, wrong) -> a Map, a List or a Text, each with its line

Slurm's files need no more, so Straightway needs no YAML library. All else of
YAML is passed over as a Refused, since it may stand where the reader does not
look. check(value, wrong) refuses a value that holds such. wrong(line, what)
makes the error of a line.
"""

import re

_KEY = re.compile(r"([A-Za-z_][\w.-]*)\s*:(?:\s+(.*))?$")
_REFUSED = {"{": "a mapping in braces", "&": "an anchor", "*": "an alias",
            "!": "a tag", "|": "a text block", ">": "a text block",
            "?": "a complex key", "%": "a directive"}


class Text(str):
    line = 0


class Refused(Text):
    """Something of YAML that is not read; the text says what."""


class List(list):
    line = 0


class Map(dict):
    line = 0


def _at(value, line):
    value.line = line
    return value


class _Parser:
    def __init__(self, text, wrong):
        self.wrong = wrong
        self.lines = []         # [(indentation, text, line number)]
        for number, line in enumerate(text.splitlines(), 1):
            line = re.sub(r"(^|\s)#.*", "", line).rstrip()
            bare = line.lstrip(" ")
            if bare.startswith("\t"):
                raise wrong(number, "a tab in the indentation")
            if bare and bare not in ("---", "..."):
                self.lines.append((len(line) - len(bare), bare, number))

    def block(self, least):
        """The value that begins at the next line, indented at least so."""
        indent, text, _ = self.lines[0]
        if indent < least:
            return None
        if re.match(r"-(\s|$)", text):
            return self.items(indent)
        return self.mapping(indent) if _KEY.match(text) else \
            self.scalar(*self.lines.pop(0)[1:])

    def items(self, indent):
        found = _at(List(), self.lines[0][2])
        while self.lines and self.lines[0][0] == indent and \
                re.match(r"-(\s|$)", self.lines[0][1]):
            _, text, line = self.lines.pop(0)
            rest = text[1:].lstrip()
            if rest:
                self.lines.insert(0, (indent + len(text) - len(rest), rest,
                                      line))
            found.append(self.block(indent + 1) if self.lines else None)
        return found

    def mapping(self, indent):
        found = _at(Map(), self.lines[0][2])
        while self.lines and self.lines[0][0] == indent:
            _, text, line = self.lines[0]
            match = _KEY.match(text)
            if not match:
                break
            self.lines.pop(0)
            key, value = Text(match[1]), match[2]
            key.line = line
            if key in found:
                raise self.wrong(line, f"{key} is here twice")
            if value:
                found[key] = self.scalar(value, line)
            elif self.lines:
                # A list may begin at its key's own indentation.
                is_list = self.lines[0][1].startswith("-")
                found[key] = self.block(indent + (not is_list))
            else:
                found[key] = None
        return found

    def scalar(self, text, line):
        if text[0] == "[":
            while text[-1] != "]" and self.lines and \
                    not _KEY.match(self.lines[0][1]):
                text += " " + self.lines.pop(0)[1]
            if text[-1] != "]":
                raise self.wrong(line, "a list in brackets is not closed")
            return _at(List(self.scalar(word.strip(), line) for word in
                            text[1:-1].split(",") if word.strip()), line)
        if text[0] in "\"'":
            if len(text) < 2 or text[-1] != text[0]:
                raise self.wrong(line, "a quoted text is not closed")
            text = text[1:-1]
        elif text[0] in _REFUSED:
            self.pass_over(text)
            return _at(Refused(_REFUSED[text[0]]), line)
        return _at(Text(text), line)

    def pass_over(self, text):
        """The further lines of a mapping in braces."""
        depth = text.count("{") - text.count("}")
        while self.lines and text[0] == "{" and depth > 0:
            more = self.lines.pop(0)[1]
            depth += more.count("{") - more.count("}")


def check(value, wrong):
    """The error of the first Refused in a value."""
    if isinstance(value, Refused):
        raise wrong(value.line, f"{value} is not read")
    for part in value.values() if isinstance(value, Map) else \
            value if isinstance(value, List) else ():
        check(part, wrong)


def parse(text, wrong):
    parser = _Parser(text, wrong)
    if not parser.lines:
        raise wrong(1, "the file has no contents")
    found = parser.block(0)
    if parser.lines:
        raise wrong(parser.lines[0][2],
                    f"{parser.lines[0][1][:40]} is indented otherwise than "
                    "the lines around it, or is no key")
    return found
