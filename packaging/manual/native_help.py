"""The help of the native commands, read back into an argparse parser.

`straightway`, `run` and `profile` are C programs without a parser that Python
could ask. Their --help has one form:

    usage: ...

    A description, and indented examples.

    a title:
      -n N, --ranks N         an option; the first one tells the text's column

    A closing word.

A block whose first line ends with a colon, with indented lines after it, is a
group; what follows the last group closes the help.
"""

import argparse
import dataclasses
import re
import subprocess


@dataclasses.dataclass
class Help:
    usage: str
    description: str
    groups: dict        # {title: [lines]}
    closing: str


def ask(program, *words):
    """The help of `program WORDS`. OSError: it does not run here."""
    return read(subprocess.run(
        [program, *words, "--help"], check=True, text=True,
        stdout=subprocess.PIPE).stdout)


def read(text):
    usage, *blocks = text.strip("\n").split("\n\n")
    description, groups, closing = [], {}, []
    for block in blocks:
        first, *lines = block.split("\n")
        if first.endswith(":") and lines and not first.startswith(" "):
            groups[first[:-1]] = lines
        elif groups:
            closing.append(block)
        else:
            description.append(block)
    return Help(usage.removeprefix("usage: "), "\n\n".join(description),
                groups, "\n\n".join(closing))


def entries(lines):
    """(head, text) of each entry; a long head has a line for itself."""
    column = re.match(r"  .*?  +", lines[0]).end()
    found = []
    for line in lines:
        head, text = line[:column].strip(), line[column:].strip()
        if len(line) > column and line[column - 1] != " ":
            head, text = line.strip(), ""
        if head:
            found.append([head, text])
        elif text:
            found[-1][1] = f"{found[-1][1]} {text}".strip()
    return found


def summaries(help_):
    """{command: what it does} of the list of commands."""
    return dict(entries(help_.groups["commands"]))


def add_option(group, head, text):
    """Add the option that an entry describes."""
    flags, value = [], None
    for part in head.split(", "):
        flag, _, operand = part.partition(" ")
        value = value or operand
        if flag.startswith("--[no-]"):
            flags += ["--" + flag[7:], "--no-" + flag[7:]]
        else:
            flags.append(flag)
    text = text.replace("%", "%%")
    if not value:
        group.add_argument(*flags, action="store_true", help=text)
    else:
        group.add_argument(*flags, metavar=value, help=text, choices=(
            ["auto", "on", "off"] if value == "WHEN" else None))


def parser(program, help_, **keywords):
    """An argparse parser with the options of this help."""
    made = argparse.ArgumentParser(
        prog=program, usage=help_.usage, description="\n".join(
            [help_.description, "", *help_.groups.get("examples", ())]),
        epilog=help_.closing, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter, **keywords)
    for title, lines in help_.groups.items():
        if lines[0].lstrip().startswith("-"):
            group = made.add_argument_group(title)
            for head, text in entries(lines):
                add_option(group, head, text)
    return made
