"""A study as one HTML file that needs nothing else: the gain, predicted and
measured, the bounds, and the whole profile beneath them."""

import shlex

from straightway import study, units
from straightway.machine import slots
from straightway.reporters import (profile_figures as figures, profile_html,
                                   svg, turns_html, whatif_html)
from straightway.reporters.forecast_words import error, seconds, times
from straightway.reporters.html_parts import Cell, Table, page
from straightway.study import placement
from straightway.whatif import forecast


def _gain(report):
    p, m = report["predicted"], report["measured"]
    most = max(p["host_s"], p["ours_s"], m["host"]["high_s"],
               m["ours"]["high_s"]) or 1
    rows = []
    for who, title in study.TITLES.items():
        one = m[who]
        for name, value, about, off in (
                ("predicted", p[who + "_s"], "", report["error"][who]),
                ("measured", one["median_s"],
                 f"{seconds(one['low_s'])} to {seconds(one['high_s'])}",
                 None)):
            rows.append([
                Cell(f"{title}, {name}"), Cell(seconds(value), value),
                Cell(about, one["low_s"]),
                Cell("" if off is None else error(off), off or 0),
                Cell("", value, bar=figures.bar(
                    [("moving" if who == "ours" else "compute", value)],
                    most))])
    return Table("gain", [
        ("", "text"), ("time",),
        ("interval" if m["how"] == "turns" else "runs",), ("error",),
        ("", "wide bar")], rows)


def _placement(report):
    """What goes between parts of the machine, as it ran and in better places.
    """
    better = report["placement"]["better"]
    return Table("placement", [
        ("bytes", "text"), ("as it ran",), ("after",),
        ("busiest", "number", "through the border of the busiest part, in one "
         "direction"), ("busiest, after",)],
        [[Cell(f"between {slots.plural(one['level'])}"),
          *(Cell(units.size(one[name]), one[name]) for name in (
              "before", "after", "busiest_before", "busiest_after"))]
         for one in better["levels"]] if better else [])


def _cards(report):
    p, m = report["predicted"], report["measured"]
    if m["how"] == "turns":
        yield from turns_html.cards(report)
    yield times(m["speed_up"]), "measured", (
        f"{seconds(m['host']['median_s'])} alone, "
        f"{seconds(m['ours']['median_s'])} with Straightway")
    yield times(p["speed_up"]), "predicted", (
        f"{seconds(p['host_s'])} alone, {seconds(p['ours_s'])} with "
        "Straightway")
    part = report["nonblocking"]
    if part:
        yield times(part["measured"]["speed_up"]), "by nonblocking ones", (
            "measured, with Straightway: its nonblocking collectives against "
            f"the MPI's; {times(part['predicted']['speed_up'])} predicted, "
            f"{times(part['alone']['speed_up'])} for them alone")
    off = 100 * report["error"]["gain"]
    yield f"{abs(off):.1f} %", "between the gains", (
        "of the run's time; the measured one is " + (
            "the same" if abs(off) < 0.05 else
            "smaller" if off > 0 else "larger"))
    yield from whatif_html.bound_cards(report["forecast"])


def _facts(report, p):
    found = [("Ranks", f"{report['ranks']:,}"), ("MPI", report["mpi"]),
             ("Runs of each side", str(report["runs"] or "")),
             ("Cores", str(report["machine"]["cores"])),
             ("Calls", units.number(p.communication.calls))]
    return [(name, value) for name, value in found if value]


def context(report, p):
    found = profile_html.context(p)
    inner = report["forecast"]
    table, _ = whatif_html.collective_table(inner, "alone")
    regions, letters = whatif_html.region_table(inner, "alone")
    in_turns = report["measured"]["how"] == "turns"
    if in_turns:
        found.update(turns_html.context(report))
    links = [("gain", "Gain"), *([("turns", "Turns")] if in_turns else []),
             ("bound", "Bound"),
             ("predictions", "Predictions"), ("placement", "Placement"),
             ("findings", "Findings"),
             ("ranks", "Ranks")]
    if p.records:
        links.append(("operations", "Operations"))
    if found["sites"]:
        links.append(("sites", "Call sites"))
    if found["crossing"].rows:
        links.append(("crossing", "Places"))
    found.update(
        title=whatif_html.title_of(dict(inner, program=report["program"])),
        kind="Straightway study",
        command=shlex.join(report["program"]), links=links,
        facts=_facts(report, p), notes=[
            n for n in report["notes"] if n not in inner["model_about"]]
        + found["warnings"], about=inner["model_about"],
        profile_cards=found["cards"], cards=list(_cards(report)),
        runs=report["runs"], in_turns=in_turns, said=study.verdict(report),
        placement=_placement(report),
        placement_said=placement.said(report["placement"]),
        commands=placement.commands(report),
        gain=_gain(report), verdict=forecast.verdict(inner),
        predictions=whatif_html.predictions(inner), collectives=table,
        predicted_regions=regions, region_letters=letters,
        version=report["machine"]["straightway"],
        machine=svg.footing(report))
    return found


def render(report, out, *, profile):
    """`profile`: the Profile of the first normal run, or of that in turns."""
    out.write(page("study.html", context(report, profile),
                   whatif_html.STYLES))
