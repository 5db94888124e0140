"""The ladder of docs/performance.md: each protocol of a message, measured under
each MPI. Renews the plots and the tables.

    .venv/bin/python docs/make_ladder.py openmpi=PREFIX mpich=PREFIX \\
        intel=PREFIX
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

from straightway import units
from straightway.reporters.bench_parts import microseconds

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / "performance.md"
BEGIN, END = "<!-- ladder -->\n", "<!-- end of ladder -->\n"


def measure(name, prefix, options):
    """The report of a run, which draws the plot."""
    plot = HERE / "plots" / f"ladder-{name}.svg"
    done = subprocess.run(
        [pathlib.Path(sys.executable).parent / "straightway", "bench",
         "pingpong", "--protocol", "all", "--sizes", options.sizes,
         "--seconds", options.seconds, "--mpi", prefix, "--json", "-",
         "--svg", plot], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def table(name, report):
    protocols = report["plan"]["protocols"]
    title = report["mpi"]["name"]
    yield f"| {title} | " + " | ".join([*protocols, "memcpy"]) + " |\n"
    yield "| --- |" + " ---: |" * (len(protocols) + 1) + "\n"
    for cell in report["cells"]:
        times = [microseconds(cell[p]["median"]) if cell[p] else "–"
                 for p in protocols]
        yield (f"| {units.brief(cell['size'])} | "
               + " | ".join([*times, microseconds(cell["memcpy"])]) + " |\n")
    yield f"\n![{title}](plots/ladder-{name}.svg)\n\n"


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("mpis", metavar="NAME=PREFIX", nargs="+")
    p.add_argument("--sizes", default="256,1k,4k,16k,64k,256k,1m,4m,16m,64m")
    p.add_argument("--seconds", default="0.5", help="for one size [0.5]")
    options = p.parse_args()
    lines = []
    for one in options.mpis:
        name, _, prefix = one.partition("=")
        report = measure(name, prefix, options)
        machine = report["machine"]
        if not lines:
            lines += [f"{machine['cpu']}, {machine['cores']} cores, Linux "
                      f"{machine['kernel']}, {machine['date'][:10]}:\n\n"]
        lines += table(name, report)
    text = PAGE.read_text()
    block = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if not block.search(text):
        p.error(f"{PAGE} has no place for the ladder ({BEGIN.strip()})")
    PAGE.write_text(block.sub(
        lambda found: BEGIN + "\n" + "".join(lines) + END, text))


if __name__ == "__main__":
    main()
