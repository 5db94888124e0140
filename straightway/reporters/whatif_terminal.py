"""A forecast on one page of a terminal."""

from straightway import units
from straightway.reporters.forecast_words import seconds, times, waiting
from straightway.reporters.page import (COMPUTE, MOVING, USUAL, WAITING,
                                        Page)
from straightway.whatif import forecast

BAR, SHORT = 22, 12     # letters; the second on a page of less than 80
TOP = 8         # collectives, regions
LETTERS = 5     # experiments beside each other
# The bars' parts, in the page's own terms.
PARTS = ((COMPUTE, "compute", "compute"), (MOVING, "messages", "messages"),
         (WAITING, "collectives", "collectives"))


def _speedup(page, ratio):
    style = "green" if ratio is None or ratio >= 1.05 else \
        "bold red" if ratio < 0.95 else ""
    return page.text(times(ratio), style)


def _header(page, report):
    page.title(forecast.title(report), units.plural(report["ranks"], "rank"))
    page.paragraph("; ".join(x for x in (
        report["mpi"] or "", "model: " + forecast.model_text(
            report["models"])) if x), "dim")
    for line in report["model_about"]:
        page.paragraph(line, "dim")


def legend(page):
    text = page.text("")
    for part, _, name in PARTS:
        if text:
            text.append("  ")
        text.append_text(page.legend([part]).copy()[:2])
        text.append(name)
    return text


def _bar(page, row, longest):
    share = row["share"]
    return page.bar({part: share.get(key, 0) * row["time_s"]
                     for part, key, _ in PARTS},
                    BAR if page.width >= USUAL else SHORT, longest)


def _rows(report):
    """(title, row, ratio) of each prediction."""
    yield "baseline, predicted", report["baseline"], None
    for one in report["experiments"]:
        yield one["title"], one, one
    for name, title in (("collectives", forecast.FREE),
                        ("communication", "all communication free")):
        if not any(e["title"] == title for e in report["experiments"]):
            yield title, report["bounds"][name], report["bounds"][name]


def _table(page, report):
    note = "time from MPI_Init to MPI_Finalize; speed-up: over the baseline"
    page.heading("Predictions", note)
    page.line(legend(page))
    rows = list(_rows(report))
    longest = max(row["time_s"] for _, row, _ in rows)
    table = []
    for title, row, rated in rows:
        table.append([title, seconds(row["time_s"]),
                      _speedup(page, rated["ratio"]) if rated else "",
                      _bar(page, row, longest)])
    one = report["measured"]
    if one:
        table.insert(0, ["measured", seconds(one["median_s"]), "",
                         f"{seconds(one['low_s'])} to "
                         f"{seconds(one['high_s'])}"])
    page.table([("", "fill"), ("time", "right"), ("speed-up", "right"),
                ("", "left")], table)
    if one:
        page.paragraph(_agreement(report), "dim")
    elif report["not_measured"]:
        page.paragraph(f"Not measured: {report['not_measured']}.", "dim")


def _agreement(report):
    off, runs = report["error"], report["measured"]["runs"]
    times = "in one run" if runs == 1 else f"the median of {runs} runs"
    if abs(off) < 5e-4:
        return f"The baseline is the measured time, {times}."
    return (f"The baseline is {100 * abs(off):.1f} % "
            f"{'above' if off > 0 else 'below'} the measured time, {times}.")


def _bounds(page, report):
    page.line()
    for sentence in forecast.verdict(report):
        page.paragraph(sentence, "bold")


def _collectives(page, report):
    """By time in the baseline, with the waiting."""
    base = report["baseline"]["collectives"]
    if not base:
        return
    ranks = report["ranks"]
    page.heading("Collectives of the baseline", "time: per rank on average, "
                 "with waiting")
    rows = sorted(base.items(), key=lambda item: -item[1]["time_s"])
    whole = report["baseline"]["time_s"] * ranks or 1
    page.table([("", "fill"), ("all calls", "right"), ("time", "right"),
                ("of run", "right"), ("waiting", "right")], [
        [name, units.number(one["calls"]), seconds(one["time_s"] / ranks),
         units.share(one["time_s"] / whole), seconds(waiting(report, name))]
        for name, one in rows[:TOP]])
    if len(rows) > TOP:
        page.line(f"and {len(rows) - TOP} more", "dim")
    page.paragraph("Waiting for late ranks remains where collectives "
                   "take no time.", "dim")


def regions(page, report):
    """Shown where the program names regions."""
    rows, wanted = forecast.regions(report), forecast.region_columns(report)
    if not rows:
        return
    one, places = len(wanted) == 1, list(range(len(wanted)))
    if len(wanted) > LETTERS:
        places = [*places[:LETTERS - 1], places[-1]]
    page.heading("Regions", "with those within them; per rank on average" +
                 ("" if one else "; letters: speed-ups"))
    letters = [chr(ord("a") + i) for i in range(len(places))]
    table = []
    for label, time, section, under in rows[:TOP]:
        moved = section["communication"] * section["all"]["time_s"]
        line = [label, seconds(time), units.share(section["communication"]),
                units.share(section["all"]["waiting_s"] / moved)
                if moved else ""]
        if one:
            line.append(seconds(under[0][0]))
        table.append(line + [_speedup(page, under[i][1]) for i in places])
    page.table([("", "fill"), ("time", "right"), ("comm.", "right"),
                ("waiting", "right"), *(
                    [("then", "right"), ("speed-up", "right")] if one else
                    [(letter, "right") for letter in letters])], table)
    if len(rows) > TOP:
        page.line(f"and {len(rows) - TOP} more", "dim")
    page.paragraph("comm.: communication, of the region's time; waiting: for "
                   "late ranks, of communication" +
                   (f"; then: {wanted[0][0]}." if one else "."), "dim")
    if not one:
        for letter, i in zip(letters, places):
            page.paragraph(f"{letter}  {wanted[i][0]}", "dim")
    if len(wanted) > len(places):
        page.line(f"and {len(wanted) - len(places)} more experiments: --html, "
                  "--json", "dim")


def _sweep(page, report):
    sweep = report["sweep"]
    titles = [e["title"] for e in sweep["rows"][0]["experiments"]]
    page.heading(f"By {sweep['key']}", "time from MPI_Init to MPI_Finalize" +
                 ("; letters: see below" if titles else ""))
    letters = [chr(ord("a") + i) for i in range(len(titles))]
    measured = any(r["measured"] for r in sweep["rows"])
    room = 4 if measured else 5
    shown = letters[:room]
    columns = [(sweep["key"], "right")]
    if measured:
        columns.append(("measured", "right"))
    columns += [("baseline", "right")] + [(x, "right") for x in shown] + [
        ("no collectives", "right")]
    rows = []
    for row in sweep["rows"]:
        line = [f"{row['value']:g}"]
        if measured:
            line.append(seconds(row["measured"]["median_s"])
                        if row["measured"] else "")
        line.append(seconds(row["baseline"]["time_s"]))
        line += [seconds(e["time_s"]) for e in row["experiments"][:room]]
        line.append(seconds(row["bounds"]["collectives"]["time_s"]))
        rows.append(line)
    page.table(columns, rows)
    for letter, title in zip(shown, titles):
        page.paragraph(f"{letter}  {title}", "dim")
    if len(titles) > room:
        page.line(f"and {len(titles) - room} more experiments: --html, "
                  "--json", "dim")


def render(report, out):
    page = Page(out)
    _header(page, report)
    if report["sweep"]:
        _sweep(page, report)
        page.line()
        page.line(f"At {report['sweep']['key']} "
                  f"{report['sweep']['rows'][-1]['value']:g}:", "bold")
    _table(page, report)
    _bounds(page, report)
    _collectives(page, report)
    regions(page, report)
    if report["notes"]:
        page.line()
    for note in report["notes"]:
        page.paragraph(note, "dim")
