"""Write docs/settings.md from the table that the native side reads.

    python docs/make_settings.py PROBE      (lib/straightway/straightway-probe)

A test compares the page with the table, so that neither goes its own way.
"""

import json
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).with_name("settings.md")


def render(table):
    lines = [
        "# Settings", "",
        "Each setting is an environment variable and an option of "
        "`straightway run`;", "`straightway doctor --settings` prints this "
        "table with the values in force.", "Sizes take the suffixes k, m and "
        "g (powers of 1024); a switch is on or off, and", "its option "
        "`--name` or `--no-name`.", "",
        "| variable | option | kind | default | what it does |",
        "| --- | --- | --- | --- | --- |"]
    for line in table:
        default = f"`{line['default']}`" if line["default"] else "none"
        lines.append(f"| `{line['name']}` | `{line['option']}` | "
                     f"{line['type']} | {default} | {line['help']} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(json.loads(subprocess.run(
        [sys.argv[1], "--settings"], check=True, text=True,
        stdout=subprocess.PIPE).stdout)))
