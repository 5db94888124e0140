"""A tune on a terminal: what is left to the MPI, and settings."""

from rich.text import Text

from straightway import units
from straightway.bench import medians
from straightway.reporters.bench_parts import new_table, ratio
from straightway.reporters.console import opened, wrapped


def _lost(report):
    table = new_table()
    table.add_column("left to the MPI", min_width=26)
    for name in ("size", "ratio", "again"):
        table.add_column(name, justify="right", no_wrap=True)
    for cell in report["cells"]:
        if cell["host"]:
            first, *rest = cell["scores"]
            table.add_row(cell["name"], units.brief(cell["size"]),
                          ratio(first), ratio(rest[-1]) if rest else "")
    return table


def _means(cells):
    """The mean of all cells as it was, and with the MPI's own calls."""
    last = [cell["scores"][-1] for cell in cells]
    tuned = [1.0 if cell["host"] else score
             for cell, score in zip(cells, last)]
    return map(medians.geometric_mean, (last, tuned))


def render(report, out):
    console = opened(out)
    cells = report["cells"]
    if any(cell["host"] for cell in cells):
        console.print(_lost(report))
    said = [f"{sum(c['host'] for c in cells)} of {len(cells)} cells are left "
            "to the MPI."]
    if cells:
        before, after = _means(cells)
        said.append(f"Mean ratio to the MPI: {before:.2f}; with these calls "
                    f"the MPI's: {after:.2f}.")
    said += [f"Setting {name}: {value}."
             for name, value in report["settings"].items()]
    if report["not_measured"]:
        said.append(f"{report['not_measured']} cells were not measured: give "
                    "more --seconds.")
    said.append(f"Wrote the entry {report['entry']} to {report['file']}")
    for sentence in said:
        for line in wrapped(sentence, console.width):
            console.print(Text(line), soft_wrap=True)
