"""A study on one page of a terminal."""

from straightway import study, units
from straightway.machine import slots
from straightway.profile import findings
from straightway.reporters.forecast_words import (error, seconds, times,
                                                  waiting)
from straightway.reporters import words
from straightway.reporters.page import Page
from straightway.reporters.whatif_terminal import regions
from straightway.study import placement, turn_sentences
from straightway.whatif import forecast

FINDINGS = 4
SITES = 6


def _header(page, report):
    page.title(forecast.short(report["program"]),
               units.plural(report["ranks"], "rank"))
    page.paragraph(report["mpi"], "dim")
    for note in report["notes"]:
        page.paragraph(note, "bold yellow" if report["oversubscribed"]
                       else "dim")


def _gain(page, report):
    p, m = report["predicted"], report["measured"]
    in_turns = m["how"] == "turns"
    if in_turns:
        _turns(page, report["turns"])
    page.heading("Prediction and measurement", "MPI_Init to MPI_Finalize; " + (
        "of the whole run by its gain" if in_turns else "medians"))
    rows = []
    for who in ("host", "ours"):
        one = m[who]
        rows.append([study.TITLES[who], seconds(p[who + "_s"]),
                     seconds(one["median_s"]),
                     f"{seconds(one['low_s'])} to {seconds(one['high_s'])}",
                     error(report["error"][who])])
    rows.append(["speed-up", times(p["speed_up"]), times(m["speed_up"]), "",
                 ""])
    page.table([("", "fill"), ("predicted", "right"), ("measured", "right"),
                ("interval" if in_turns else
                 units.plural(report["runs"], "run"), "right"),
                ("error", "right")], rows)
    _nonblocking(page, report["nonblocking"])
    page.line()
    for sentence in study.verdict(report):
        page.paragraph(sentence, "bold")
    _sites(page, report["turns"])


def _turns(page, found):
    """The gain, before all else."""
    page.heading("Gain", f"{units.plural(found['pairs'], 'pair')} of epochs, "
                 f"{units.plural(found['periods'], 'period')} of the program; "
                 "95 of 100 intervals hold it")
    ranks = [one["gain"] for one in found["ranks"]]
    rows = [["whole run", turn_sentences.interval(found)],
            ["typical pair of epochs", turn_sentences.interval(
                found["typical"])]]
    if len(ranks) > 1:
        rows.append(["least and most of a rank", " to ".join(
            turn_sentences.percent(f(ranks)) for f in (min, max))])
    if found["once_s"] is not None:
        rows.append(["costs once, at most", seconds(found["once_s"])])
    if found["pays_back_s"] is not None:
        rows.append(["pays back after", seconds(found["pays_back_s"])])
    page.table([("", "fill"), ("", "right")], rows)


def _sites(page, found):
    if not found or not found["sites"]:
        return
    page.heading("Call sites in turns", "mean time of a call; of run: the "
                 "part of the time that is saved")
    page.table([("", "fill"), ("call site", "middle"), ("alone", "right"),
                ("Straightway", "right"), ("gain", "right"),
                ("of run", "right")], [
        [one["operation"], one["site"], seconds(one["host_mean_s"]),
         seconds(one["ours_mean_s"]), turn_sentences.percent(one["gain"]),
         turn_sentences.percent(one["part"])]
        for one in found["sites"][:SITES]])


def _nonblocking(page, part):
    if not part:
        return
    p, m = part["predicted"], part["measured"]
    page.heading("Nonblocking collectives",
                 f"{units.number(part['calls'])} calls")
    rows = [["Straightway, but these by the MPI", seconds(p["left_s"]),
             seconds(m["left"]["median_s"])],
            ["with Straightway", seconds(p["ours_s"]),
             seconds(m["ours"]["median_s"])],
            ["speed-up by these", times(p["speed_up"]), times(m["speed_up"])],
            ["these alone with Straightway",
             times(part["alone"]["speed_up"]), ""]]
    page.table([("", "fill"), ("predicted", "right"), ("measured", "right")],
               rows)


def _placement(page, report, p):
    found = report["placement"]
    better = found["better"]
    page.heading("Placement")
    rows = words.crossing(p)
    for sentence in placement.said(found):
        page.paragraph(sentence)
    if better:
        page.table([("", "fill"), ("as it ran", "right"), ("after", "right"),
                    ("busiest", "right"), ("after", "right")], [
            [f"between {slots.plural(one['level'])}",
             *(units.size(one[name]) for name in (
                 "before", "after", "busiest_before", "busiest_after"))]
            for one in better["levels"]])
        for line in placement.commands(report):
            page.whole(line)
    elif rows:
        page.paragraph("Bytes " + ", ".join(
            f"{text} {units.share(part)}" for text, _, part in rows) + ".",
            "dim")


def _profile(page, report, p):
    one = report["profile"]
    page.heading("Where the time goes", "in turns" if
                 report["measured"]["how"] == "turns" else "alone")
    page.paragraph(
        f"Communication {units.share(one['communication'])} of the time: "
        f"waiting {units.share(one['waiting'])}, moving "
        f"{units.share(one['moving'])}.")
    for sentence in forecast.verdict(report["forecast"]):
        page.paragraph(sentence)
    found = findings.find(p)[:FINDINGS]
    if found:
        page.heading("Findings", "the time concerned, per rank on average; "
                     "more in the page")
    for f in found:
        page.line(f"{units.duration(1e9 * f.seconds):>8}  {f.title}")


def _operations(page, report):
    base = report["forecast"]["baseline"]["collectives"]
    ours = report["forecast"]["experiments"][0]["collectives"]
    if not base:
        return
    ranks = report["forecast"]["ranks"]
    page.heading("Collectives, predicted", "per rank on average; waiting is "
                 "part of both times")
    rows = sorted(base.items(), key=lambda item: -item[1]["time_s"])[:6]
    page.table([("", "fill"), ("calls", "right"), ("alone", "right"),
                ("with Straightway", "right"), ("waiting", "right")], [
        [name, units.number(one["calls"]), seconds(one["time_s"] / ranks),
         seconds(ours[name]["time_s"] / ranks) if name in ours else "",
         seconds(waiting(report["forecast"], name))]
        for name, one in rows])


def render(report, out, *, profile):
    """`profile`: the Profile of the first normal run, or of that in turns."""
    page = Page(out)
    _header(page, report)
    _gain(page, report)
    _operations(page, report)
    regions(page, report["forecast"])
    _placement(page, report, profile)
    _profile(page, report, profile)
