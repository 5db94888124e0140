"""Two profiles side by side on a terminal."""

import os

from straightway import units
from straightway.reporters.page import Page

TOP = 20


def _speedup(ratio, page):
    if ratio is None:
        return ""
    style = "green" if ratio >= 1.05 else "bold red" if ratio < 0.95 else ""
    return page.text(f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}",
                     style)


def _about(page, name, one):
    program = os.path.basename(one["program"]) or one["program"]
    page.line(f"{name}  {one['file']}", "bold")
    page.paragraph("; ".join(x for x in (
        " ".join([program, *one["arguments"]]),
        f"{units.plural(one['ranks'], 'rank')} on "
        f"{units.plural(one['nodes'], 'node')}",
        " ".join(one["mpi"].partition(",")[0].split()),
        "with Straightway" if one["accelerated"] else "") if x), "dim", 3)


def _seconds(value):
    return units.duration(1e9 * value) if value else ""


def render(report, out, *, top=None):
    """`report`: the result of comparison.compare; `top`: operations shown."""
    page = Page(out)
    _about(page, "A", report["a"])
    _about(page, "B", report["b"])
    for warning in report["warnings"]:
        page.paragraph(warning, "bold yellow")

    page.heading("Time", "per rank on average; speed-up: A / B")
    page.table([("", "fill"), ("A", "right"), ("B", "right"),
                ("speed-up", "right")], [
        [row["what"],
         *((units.share(row[side]) if row["unit"] == "share"
            else units.duration(1e9 * row[side])) for side in "ab"),
         _speedup(row["speedup"], page)] for row in report["summary"]])

    rows = report["operations"]
    shown = rows[:top or TOP]
    if not shown:
        page.line("\nNeither calls MPI.")
        return
    page.heading("Operations", "speed-up: of the time per call")
    alike = all(row["a_calls"] == row["b_calls"] for row in shown)
    calls = [("calls", "right")] if alike else [("calls A", "right"),
                                                ("calls B", "right")]
    page.table(
        [("", "fill"), *calls, ("time A", "right"), ("time B", "right"),
         ("a call A", "right"), ("a call B", "right"),
         ("speed-up", "right")],
        [[row["operation"],
          *(units.number(row[f"{side}_calls"]) if row[f"{side}_calls"]
            else "" for side in ("a" if alike else "ab")),
          _seconds(row["a_time_s"]), _seconds(row["b_time_s"]),
          _seconds(row["a_mean_s"]), _seconds(row["b_mean_s"]),
          _speedup(row["speedup"], page)] for row in shown])
    if len(rows) > len(shown):
        page.line(f"and {len(rows) - len(shown)} more", "dim")
