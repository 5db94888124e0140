"""Write docs/settings.md from the table that the native side reads.

    python docs/make_settings.py PROBE      (lib/straightway/straightway-probe)

A test compares the page with the table, so that neither goes its own way.
"""

import json
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).with_name("settings.md")

HEAD = """\
# Settings

Each setting is an environment variable and an option of `straightway run`.
`straightway doctor --settings` prints this table with the values in force.
Sizes take the suffixes k, m and g (powers of 1024). A switch is on or off, and
its option is `--name` or `--no-name`. Where the default is `auto`, Straightway
chooses.
"""

INNER = """
## Settings of commands and tests

`straightway whatif` makes some of these settings for the program that it runs;
the tests make the others. `straightway doctor --settings=all` prints them, too.
"""

ROWS = """
| variable | option | kind | default | what it does |
| --- | --- | --- | --- | --- |
"""


def row(line):
    default = f"`{line['default']}`" if line["default"] else "none"
    text = re.sub(r"docs/([\w-]+\.md)", r"[\1](\1)", line["help"])
    return (f"| `{line['name']}` | `{line['option']}` | {line['type']} | "
            f"{default} | {text} |\n")


def render(table):
    return (HEAD + ROWS + "".join(row(s) for s in table if not s["inner"])
            + INNER + ROWS + "".join(row(s) for s in table if s["inner"]))


if __name__ == "__main__":
    PAGE.write_text(render(json.loads(subprocess.run(
        [sys.argv[1], "--settings"], check=True, text=True,
        stdout=subprocess.PIPE).stdout)))
