"""A forecast as one HTML file that needs nothing else (html_parts.py)."""

import math
import os

from straightway import units
from straightway.reporters import profile_figures as figures
from straightway.reporters import svg
from straightway.reporters.forecast_words import (error, seconds, times,
                                                  waiting)
from straightway.reporters.html_parts import Cell, Table, page, share
from straightway.whatif import forecast

CURVES = 7              # curves with distinct colours
STYLES = ("page.css", "forecast.css")
WIDE, NARROW = (860, 400), (372, 330)   # sizes of the plot
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 30, 46
LABEL = 36              # between two labels of the x axis
AXES = {"ranks": "ranks", "nodes": "nodes", "ranks-per-node": "ranks per node",
        "cpu-speed": "speed of the processors"}


def _time(value):
    return Cell(seconds(value) if value else "", value)


def _ratio(value):
    return Cell(times(value), value if value is not None else 1e300)


def parts(row):
    """[(class, part of the row's time)]"""
    found = row["share"]
    return [("compute", found.get("compute", 0)),
            ("moving", found.get("messages", 0)),
            ("collectives", found.get("collectives", 0))]


def predictions(report):
    """The table of all predictions."""
    base, measured = report["baseline"], report["measured"]
    rows = [("baseline, predicted", base, None, False)]
    rows += [(e["title"], e, e["ratio"], True)
             for e in report["experiments"]]
    rows += [(f"all {name} free", one, one["ratio"], True)
             for name, one in report["bounds"].items()]
    most = max([row["time_s"] for _, row, _, _ in rows]
               + ([measured["median_s"]] if measured else [])) or 1
    found = []
    if measured:
        found.append([
            Cell("measured"), _time(measured["median_s"]), Cell(""),
            Cell("", measured["median_s"], bar=figures.bar(
                [("gained", measured["median_s"])], most))])
    for title, row, ratio, rated in rows:
        found.append([
            Cell(title, title), _time(row["time_s"]),
            _ratio(ratio) if rated else Cell("", 1.0),
            Cell("", row["time_s"], bar=figures.bar(
                [(name, part * row["time_s"]) for name, part in parts(row)],
                most))])
    return Table("predictions", [
        ("", "text"), ("time",), ("speed-up",), ("", "wide bar")], found)


def letter(i):
    """a, b, ... z, a2, b2, ..."""
    return chr(ord("a") + i % 26) + (str(i // 26 + 1) if i >= 26 else "")


def collective_table(report, baseline="baseline"):
    """(table, [(letter, experiment)]); a single experiment with a short title
    needs no letter."""
    base, wanted = report["baseline"], report["experiments"]
    letters = [(letter(i), e["title"]) for i, e in enumerate(wanted)]
    names = letters
    if len(wanted) == 1 and len(wanted[0]["title"]) <= 24:
        names, letters = [(wanted[0]["title"], "")], []
    ranks = report["ranks"]
    rows = []
    for name, one in sorted(base["collectives"].items(),
                            key=lambda item: -item[1]["time_s"]):
        row = [Cell(name, name), Cell(units.number(one["calls"]),
                                      one["calls"]),
               _time(one["time_s"] / ranks),
               share(one["time_s"] / ranks / base["time_s"]
                     if base["time_s"] else 0),
               _time(waiting(report, name))]
        for e in wanted:
            other = e["collectives"].get(name)
            row.append(Cell(seconds(other["time_s"] / ranks),
                            other["time_s"]) if other else Cell("", 0))
        rows.append(row)
    return Table("collectives", [
        ("operation", "text name"), ("calls", "number", "of all ranks"),
        (baseline, "number", "time per rank"), ("of run",),
        ("waiting", "number", "part of that time"),
        *((name, "number", title) for name, title in names)],
        rows, sort=2), letters


def region_table(report, baseline="baseline"):
    """(table, [(letter, experiment)]) of the program's regions."""
    wanted = forecast.region_columns(report)
    letters = [(letter(i), title) for i, (title, _) in enumerate(wanted)]
    whole = report["baseline"]["time_s"]
    rows = []
    for label, time, one, under in forecast.regions(report):
        moved = one["communication"] * one["all"]["time_s"]
        row = [Cell(label, label), Cell(
            seconds(time) if time else "", time,
            f"rank {one['longest']} is longest there, for "
            + seconds(one["time_s"])),
               share(time / whole if whole else 0),
               share(one["communication"]),
               share(one["all"]["waiting_s"] / moved if moved else 0)]
        row += [Cell(f"{seconds(other)}, {times(ratio)}", other)
                for other, ratio in under]
        rows.append(row)
    return Table("program-regions", [
        ("region", "text name"),
        (baseline, "number", "time per rank on average"), ("of run",),
        ("communication", "number", "of the region's time"),
        ("waiting", "number", "of communication"),
        *((name, "number", f"time per rank, speed-up: {title}")
          for name, title in letters)],
        rows, sort=1), letters


def rank_table(report):
    times_ = report["rank_times"]
    most = max((t["time_s"] for t in times_), default=0)
    return Table("ranks", [
        ("rank",), ("", "wide bar"), ("time",), ("compute",), ("messages",),
        ("collectives",)], [
        [Cell(str(i), i), Cell("", t["time_s"], bar=figures.bar(
            [("compute", t["compute_s"] + t["noise_s"]),
             ("moving", t["messages_s"]),
             ("collectives", t["collectives_s"])], most)),
         _time(t["time_s"]), _time(t["compute_s"] + t["noise_s"]),
         _time(t["messages_s"]), _time(t["collectives_s"])]
        for i, t in enumerate(times_)], sort=0)


# Sweeps ---------------------------------------------------------------------

def _scale(values, low, high):
    """(function from a value to 0..1, first, last), in logarithms."""
    first, last = math.log(min(values)), math.log(max(values))
    if last - first < 0.1:
        first, last = first - 0.35, last + 0.35
    pad = 0.05 * (last - first)
    first, last = first - pad, last + pad
    return lambda v: low + (math.log(v) - first) / (last - first) * (
        high - low), math.exp(first), math.exp(last)


def _ticks(first, last):
    """Round numbers between two, a few of them."""
    found = []
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
        found = [s * 10.0 ** p for p in range(-12, 12) for s in steps
                 if first <= s * 10.0 ** p <= last]
        if len(found) >= 3:
            break
    return found


def curves(sweep):
    """[(name, kind, [(value, seconds)])] of a sweep, the first ones first."""
    rows = sweep["rows"]
    found = [("measured", "measured", [
        (r["value"], r["measured"]["median_s"]) for r in rows
        if r["measured"]]),
        ("baseline, predicted", "predicted", [
            (r["value"], r["baseline"]["time_s"]) for r in rows])]
    for i, e in enumerate(rows[0]["experiments"]):
        found.append((e["title"], "predicted", [
            (r["value"], r["experiments"][i]["time_s"]) for r in rows]))
    found.append((forecast.FREE, "bounds", [
        (r["value"], r["bounds"]["collectives"]["time_s"]) for r in rows]))
    return [(name, kind, [p for p in points if p[1] > 0])
            for name, kind, points in found
            if any(p[1] > 0 for p in points)]


def figure(sweep, size=WIDE):
    """The input of the macro `curves`."""
    width, height = size
    wanted = curves(sweep)
    shown = wanted if len(wanted) <= CURVES else \
        wanted[:CURVES - 1] + wanted[-1:]
    xs = [r["value"] for r in sweep["rows"]]
    ys = [y for _, _, points in shown for _, y in points]
    right, bottom = width - RIGHT, height - BOTTOM
    x, _, _ = _scale(xs, LEFT, right)
    ideal = []
    if sweep["key"] == "ranks":
        first = next(points for name, _, points in shown
                     if name.startswith("baseline"))
        ideal = [(v, first[0][1] * first[0][0] / v) for v in xs]
    y, low, high = _scale(ys, bottom, TOP)
    text = _path([(x(v), y(t)) for v, t in ideal if low <= t <= high])
    return {
        "width": width, "height": height, "left": LEFT, "right": right,
        "top": TOP, "bottom": bottom, "name": AXES[sweep["key"]],
        "label": f"Run time by {sweep['key']}", "ideal": text,
        "x": _labels((round(x(v), 1), f"{v:g}") for v in xs),
        "left_out": len(wanted) - len(shown),
        "y": [(round(y(v), 1), seconds(v).replace(".0 ", " ")
               .replace(".00 ", " ")) for v in _ticks(low, high)],
        "curves": [{
            "name": name, "kind": kind,
            "path": _path([(x(v), y(t)) for v, t in points]),
            "points": [(round(x(v), 1), round(y(t), 1),
                        f"{name}, {sweep['key']} {v:g}: {seconds(t)}")
                       for v, t in points]} for name, kind, points in shown]}


def _labels(places):
    """[(x, text)], without overlapping texts."""
    found, last = [], -LABEL
    for x, text in places:
        free = x - last >= LABEL
        found.append((x, text if free else ""))
        last = x if free else last
    return found


def _path(points):
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points) \
        if len(points) > 1 else ""


def _sweep(report):
    sweep = report["sweep"]
    if not sweep:
        return None
    found = curves(sweep)
    rows = []
    for r in sweep["rows"]:
        row = [Cell(f"{r['value']:g}", r["value"])]
        for _, _, points in found:
            at = dict(points)
            row.append(_time(at.get(r["value"], 0)))
        rows.append(row)
    return {"key": sweep["key"], "wide": figure(sweep),
            "narrow": figure(sweep, NARROW), "table": Table(
        "sweep", [(sweep["key"],), *((name, "number")
                                     for name, _, _ in found)], rows)}


# The page -------------------------------------------------------------------

def bound_cards(report):
    """(number, title, details) of the two bounds."""
    for name, more in (("collectives", "with all collectives free"),
                       ("communication", "with all communication free")):
        one = report["bounds"][name]
        yield times(one["ratio"]), "at most", \
            f"{more}: {seconds(one['time_s'])}"


def cards(report):
    base, measured = report["baseline"], report["measured"]
    found = [(seconds(base["time_s"]), "predicted", "the baseline")]
    if measured:
        found.append((seconds(measured["median_s"]), "measured",
                      f"median of {units.plural(measured['runs'], 'run')}, "
                      f"{seconds(measured['low_s'])} to "
                      f"{seconds(measured['high_s'])}"))
        found.append((error(report["error"]), "error",
                      "of the prediction, by the measured time"))
    return found + list(bound_cards(report))


def facts(report):
    found = [("Ranks", f"{report['ranks']:,}"), ("MPI", report["mpi"] or ""),
             ("Model", forecast.model_text(report["models"])),
             ("Operations", units.number(report["baseline"]["operations"])),
             ("Messages", units.number(report["baseline"]["messages"])),
             ("From", report["replay"] or "")]
    if report["not_measured"] and not report["sweep"]:
        found.append(("Not measured", report["not_measured"]))
    return [(name, value) for name, value in found if value]


def title_of(report):
    words = report["program"] or [report["replay"]]
    return os.path.basename(words[0]) if len(words) == 1 or \
        not words[0].rpartition("/")[2].startswith("python") else \
        os.path.basename(words[1].rstrip("/"))


def context(report):
    table, letters = collective_table(report)
    sweep = _sweep(report)
    links = [("bound", "Bound")]
    if sweep:
        links.append(("sweep", f"By {sweep['key']}"))
    links.append(("predictions", "Predictions"))
    if table.rows:
        links.append(("collectives", "Collectives"))
    regions, region_letters = region_table(report)
    if regions.rows:
        links.append(("regions", "Regions"))
    ranks = rank_table(report)
    if ranks.rows:
        links.append(("ranks", "Ranks"))
    return {
        "title": title_of(report), "kind": "Straightway forecast",
        "command": forecast.command_text(report), "links": links,
        "facts": facts(report),
        "notes": report["notes"], "about": report["model_about"],
        "cards": cards(report), "verdict": forecast.verdict(report),
        "predictions": predictions(report), "collectives": table,
        "letters": letters, "regions": regions,
        "region_letters": region_letters, "ranks": ranks, "sweep": sweep,
        "at": f" at {report['ranks']} ranks" if sweep else "",
        "version": report["machine"]["straightway"],
        "machine": svg.footing(report)}


def render(report, out):
    out.write(page("whatif.html", context(report), STYLES))
