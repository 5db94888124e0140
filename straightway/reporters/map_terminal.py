"""A placement on one page of a terminal."""

from straightway import units
from straightway.machine import slots
from straightway.mapping import proposal
from straightway.reporters.forecast_words import seconds, times
from straightway.reporters.page import Page

CANDIDATES = 8


def _amount(report, value):
    return units.size(value) if report["unit"] == "bytes" else \
        units.number(round(value))


def _header(page, report):
    page.title(report["source"], units.plural(report["ranks"], "rank"))
    machine = report["machine"]
    page.paragraph(
        f"machine: {machine['text']} ({units.plural(machine['nodes'], 'node')}"
        f" in use); {_amount(report, report['total'])}"
        + (" in messages" if report["unit"] == "bytes" else " messages")
        + (f" of region {report['region']}" if report["region"] else ""),
        "dim")


def _ratio(page, before, after):
    if not before:
        return page.text("")
    ratio = after / before
    style = "green" if ratio < 0.95 else "bold red" if ratio > 1.05 else ""
    return page.text(f"{ratio:.2f}x", style)


def _levels(page, report):
    page.heading("Traffic between parts of the machine",
                 f"before: {report['before']['name']}")
    rows = []
    for one, two in zip(report["before"]["levels"],
                        report["after"]["levels"]):
        # All placements are alike where there is one part, or one for each.
        if max(one["parts"], two["parts"]) == 1 or min(
                one["parts"], two["parts"]) == report["ranks"]:
            continue
        rows.append([
            f"between {slots.plural(one['name'])}",
            _amount(report, one["across"]), _amount(report, two["across"]),
            _ratio(page, one["across"], two["across"]),
            _amount(report, one["worst"]), _amount(report, two["worst"])])
    if not rows:
        page.paragraph("Every part of the machine holds one rank, or all: no "
                       "placement changes this traffic.")
        return
    page.table([("", "fill"), ("before", "right"), ("after", "right"),
                ("", "right"), ("busiest", "right"), ("after", "right")],
               rows)
    page.paragraph("Busiest: through the border of one part, in one "
                   "direction.", "dim")


def _candidates(page, report):
    found = sorted(report["candidates"].items(), key=lambda item: item[1])
    least = report["candidates"][report["after"]["name"]]
    if not least or len(found) < 2:
        return
    page.heading("Candidates", "cost; 1.00: the best of these, from which "
                 "the placement grew")
    page.table([("", "fill"), ("cost", "right")], [
        [name, f"{value / least:.2f}"] for name, value in found[:CANDIDATES]])


def _predicted(page, report):
    made = report["predicted"]
    if not made:
        if report["not_predicted"]:
            page.line()
            page.paragraph(f"Not predicted: {report['not_predicted']}", "dim")
        return
    page.heading("Predicted time", "from MPI_Init to MPI_Finalize")
    page.table([("", "fill"), ("time", "right"), ("speed-up", "right")], [
        ["before", seconds(made["before"]["time_s"]), ""],
        ["after", seconds(made["after"]["time_s"]),
         times(made["speed_up"])]])


def _launch(page, report):
    launch = report["launch"]
    if not launch:
        return
    page.heading("To run it", launch["launcher"])
    page.whole(proposal.command(launch))
    if launch["note"]:
        page.paragraph(launch["note"], "dim")


def render(report, out):
    page = Page(out)
    _header(page, report)
    _levels(page, report)
    _candidates(page, report)
    _predicted(page, report)
    page.line()
    for sentence in proposal.verdict(report):
        page.paragraph(sentence, "bold")
    for note in report["notes"]:
        page.paragraph(note, "dim")
    _launch(page, report)
