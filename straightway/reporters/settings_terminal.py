"""The table of settings on a terminal, with what each is now."""

from rich.text import Text

from straightway import units
from straightway.reporters.console import opened, wrapped


def render(report, out):
    console = opened(out)
    console.print("Each setting is an environment variable and an option of "
                  "straightway run.\n")
    inner = False
    for line in report["settings"]:
        if line["inner"] and not inner:
            inner = True
            console.print("\nStraightway's commands and its tests make these "
                          "settings.\n")
        default = line["default"] or "none"
        if default.isdecimal() and line["type"] == "size":
            default = units.brief(int(default))
        head = Text(line["name"], "bold")
        head.append(f"  {line['option']}", "cyan")
        head.append(f"  [{default}]", "dim")
        if line["value"] is not None:
            head.append(f"  now {line['value']}", "yellow")
        console.print(head)
        for part in wrapped(line["help"], console.width - 4):
            console.print("    " + part, markup=False)
