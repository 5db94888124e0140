"""Manual pages of section 1: one for each command.

argparse-manpage (PyPI) does less: it sets examples as running text, a usage
with several forms as one line, and knows no command whose help is not
argparse's. So this file writes the pages, from the same parsers.
"""

import argparse
import re

import roff

_FLAG = re.compile(r"(?<![\w-])(--?(?:\[no-\])?[a-zA-Z][\w-]*)")
_VALUE = re.compile(r"(?<![\w-])([A-Z][A-Z]*)(?![\w-])")
_TITLES = {"positional arguments": "ARGUMENTS", "optional arguments": "OPTIONS",
           "options": "OPTIONS"}


def _shaped(words):
    """A form of a command: its flags bold, its values in italics."""
    pieces, at = [], 0
    for found in re.finditer(f"{_FLAG.pattern}|{_VALUE.pattern}", words):
        pieces.append(roff.escaped(words[at:found.start()]))
        pieces.append(roff.bold(found[1]) if found[1]
                      else roff.italic(found[2]))
        at = found.end()
    return "".join(pieces) + roff.escaped(words[at:])


def synopsis(command):
    """Each form of the usage, the command's name in bold."""
    name = " ".join(command.words)
    usage = command.parser.format_usage().removeprefix("usage: ")
    page = roff.section("synopsis")
    for number, form in enumerate(re.split(r"\n *(?=straightway )", usage)):
        form = " ".join(form.split())
        page += [".br"] if number else []
        known = form.startswith(name)
        words = form[len(name):] if known else form
        page.append((roff.bold(name) if known else "") + _shaped(words))
    return page


def _values(action):
    formatter = argparse.HelpFormatter("")
    return formatter._format_args(
        action, formatter._get_default_metavar_for_optional(action))


def _head(action):
    if not action.option_strings:
        metavar = action.metavar or action.dest
        return roff.italic(metavar)
    value = "" if action.nargs == 0 else f" {_values(action)}"
    return ", ".join(roff.bold(flag) + _shaped(value)
                     for flag in action.option_strings)


def _shown(group):
    return [action for action in group._group_actions
            if action.help != argparse.SUPPRESS
            and not isinstance(action, argparse._SubParsersAction)]


def options(command):
    """Each group of the parser's, under its title."""
    page = []
    formatter = argparse.HelpFormatter("")
    for group in command.parser._action_groups:
        actions = _shown(group)
        if command.below:
            actions = [one for one in actions if one.option_strings]
        if not actions:
            continue
        title, _, remark = group.title.partition(" (")
        page += roff.section(_TITLES.get(title, title))
        if remark:
            page.append(roff.escaped(f"({remark}"))
        for action in actions:
            text = formatter._expand_help(action) if action.help else ""
            page += roff.entry(_head(action), text)
    return page


def _reference(page, number=1):
    return f"{roff.bold(page)}({number})"


def commands(command):
    if not command.below:
        return []
    page = roff.section("commands")
    for child in command.below:
        page += roff.entry(_reference(child.page), child.summary)
    return page


def closing(command):
    text = command.parser.epilog
    if not text:
        return []
    return roff.section("exit status") + roff.body(text)


def see_also(command, family):
    names = [one.page for one in family if one is not command]
    found = [f"\\%{_reference(name)}" for name in names]
    found.append(_reference("straightway.h", 3))
    return roff.section("see also") + [f"{one}," for one in found[:-1]] \
        + found[-1:]


def render(command, family, date, version):
    """The page of a command; `family`: the Commands that it refers to."""
    summary = command.summary.rstrip(".")
    summary = summary[0].lower() + summary[1:]
    return "\n".join([
        *roff.title(command.page, 1, date, version), *roff.section("name"),
        f"{roff.escaped(command.page)} \\- {roff.escaped(summary)}",
        *synopsis(command), *roff.section("description"),
        *roff.body(command.parser.description), *commands(command),
        *options(command), *closing(command), *see_also(command, family), ""])
