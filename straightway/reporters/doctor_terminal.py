"""A diagnosis on a terminal: what the machine offers, and what it lacks."""

import sys

from rich.text import Text

from straightway.reporters.console import longest, opened, wrapped

_STYLES = {"ok": "green", "note": "cyan", "degraded": "yellow",
           "missing": "bold red"}


def _remedy(remedy, width):
    """(text of the label, lines) of a remedy. It stays one line, to be copied,
    where any place for it is wide enough."""
    label = " " * 10 + "mend:"
    for left in (18, 10, 4, 0):
        if len(remedy) <= width - left:
            break
    else:
        left = 4
    lines = wrapped(remedy, width - left)
    if left == 18:
        return label + "   ", lines
    return label, ["", *(" " * left + line for line in lines)]


def put_check(console, check, names=22):
    """Print status, name and finding in columns, cost and remedy below; no
    line is wider than the console. `names`: the width of the column of names,
    or 0 without one."""
    left = 10 + names + bool(names)
    finding, below = check["finding"], longest(check["finding"])
    if below > console.width - left:
        # A path that the column would cut stands below its name.
        left = 10 if below <= console.width - 10 else 0
        first, rest = "", wrapped(finding, console.width - left)
    else:
        first, *rest = wrapped(finding, console.width - left)
    head = Text(f"{check['status']:<9} ", _STYLES[check["status"]])
    if names:
        head.append(f"{check['name']:<{names}} ", "default")
    head.append(first, "default")
    lines = [head, *(Text(" " * left + line) for line in rest)]
    for i, line in enumerate(wrapped(check["cost"], console.width - 18)):
        if check["cost"]:
            lines.append(Text.assemble(
                " " * 10, ("costs:  " if i == 0 else " " * 8, "dim"), line))
    if check["mend"]:
        label, (first, *rest) = _remedy(check["mend"], console.width)
        lines.append(Text.assemble((label, "dim"), (first, "bold")))
        lines += (Text(line, "bold") for line in rest)
    for line in lines:
        line.rstrip()
        console.print(line, soft_wrap=True)


def _title(machine):
    python = ".".join(map(str, sys.version_info[:3]))
    return (f"{machine['host']}: {machine['cpu']}, Linux {machine['kernel']}, "
            f"Python {python}")


def render(report, out):
    console, checks = opened(out), report["checks"]
    for line in wrapped(_title(report["machine"]), console.width):
        console.print(Text(line, "bold"))
    group = None
    for check in checks:
        if check["group"] != group:
            group = check["group"]
            console.print()
            console.print(Text(group, "bold underline"))
        put_check(console, check)
    bad = sum(c["status"] in ("degraded", "missing") for c in checks)
    console.print()
    console.print(Text("Nothing is missing.", "green") if not bad else
                  Text(f"{bad} of {len(checks)} are degraded or missing: "
                       "slower, never wrong.", "yellow"))
