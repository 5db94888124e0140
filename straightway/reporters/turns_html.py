"""A run in turns on a page: its epochs over time, and tables of what call sites
and ranks gain (html/turns.html)."""

import math
import statistics

from straightway import units
from straightway.reporters import profile_figures as figures
from straightway.reporters.forecast_words import seconds
from straightway.reporters.html_parts import Cell, Table
from straightway.study import turn_sentences
from straightway.study.turn_sentences import percent

MARKS = 240             # of the figure; beyond, a mark joins several epochs
THICK = 2.5             # percent of the figure's height
NAMES = {"turn-host": "alone", "turn-ours": "with Straightway",
         "turn-learning": "learning the period"}


def _joined(epochs):
    """Epochs of which few enough remain: neighbours of one side in one."""
    size = -(-len(epochs) // MARKS)
    found = []
    for i in range(0, len(epochs), 2 * size):
        for side in ("host", "ours"):
            those = [e for e in epochs[i:i + 2 * size] if e["side"] == side]
            if those:
                found.append({
                    "side": side, "learning": False, "joined": len(those),
                    "began_s": those[0]["began_s"],
                    **{name: sum(e[name] for e in those)
                       for name in ("calls", "time_s")}})
    return found


def _per_call(epoch):
    return epoch["time_s"] / epoch["calls"]


def _range(parts):
    """What the axis shows of the marks, few of which may lie far away."""
    parts = sorted(parts)
    cut = len(parts) // 40
    low, high = parts[cut], parts[-1 - cut]
    pad = max(0.1 * (high - low), 0.01)
    return low - pad, high + pad


def _column(e, part, at, width, y):
    kind = "turn-learning" if e["learning"] else f"turn-{e['side']}"
    joined = f", mean of {e['joined']}" if "joined" in e else ""
    return figures.Column(
        at, width, [(kind, round(min(max(y, 0), 100 - THICK), 3), THICK)],
        f"at {seconds(e['began_s'])}, {NAMES[kind]}{joined}: "
        f"{seconds(_per_call(e))} per call, {100 * part:.1f} %")


def timeline(found):
    """The figure of the epochs, for the macro `figure`; None without epochs of
    both sides."""
    epochs = [e for e in found["epochs"] if e["calls"] and e["time_s"]]
    turned = [e for e in epochs if not e["learning"]]
    if {e["side"] for e in turned} != {"host", "ours"}:
        return None
    level = statistics.median(_per_call(e) for e in turned
                              if e["side"] == "host")
    end = max(e["began_s"] + e["time_s"] for e in epochs)
    shown = [e for e in epochs if e["learning"]] + (
        turned if len(turned) <= MARKS else _joined(turned))
    parts = [_per_call(e) / level for e in shown]
    low, high = _range([part for e, part in zip(shown, parts)
                        if not e["learning"]])
    columns = [_column(
        e, part, figures.percent(e["began_s"], end),
        max(figures.percent(e["time_s"], end), 0.3),
        100 * (high - part) / (high - low) - THICK / 2)
        for e, part in zip(shown, parts)]
    step = figures.round_steps(high - low)[1]
    y = figures.Axis([
        (figures.percent(i * step - low, high - low), f"{100 * i * step:.4g} %")
        for i in range(math.ceil(low / step), math.floor(high / step) + 1)])
    x = figures.Axis([(figures.percent(t, end), figures.tick(1e9 * t))
                      for t in figures.round_steps(end, 6)])
    return figures.Columns("epochs", 1, columns, x, y,
                           "Time per call of each epoch, alone and with "
                           "Straightway")


def sites(found):
    return Table("turn-sites", [
        ("operation", "text name"), ("call site", "text site"),
        ("communicator", "text"), ("calls alone",), ("with Straightway",),
        ("mean alone", "number", "of one call"), ("with Straightway",),
        ("gain", "number", "of the mean time"),
        ("of run", "number", "of the time of all ranks alone: what is saved")],
        [[Cell(one["operation"], one["operation"]),
          Cell(one["site"], one["site"], one["stack"]),
          Cell(one["communicator"], one["communicator"]),
          Cell(units.number(one["host_calls"]), one["host_calls"]),
          Cell(units.number(one["ours_calls"]), one["ours_calls"]),
          Cell(seconds(one["host_mean_s"]), one["host_mean_s"]),
          Cell(seconds(one["ours_mean_s"]), one["ours_mean_s"]),
          Cell(percent(one["gain"]), one["gain"]),
          Cell(percent(one["part"]), one["part"])]
         for one in found["sites"]], sort=8)


def ranks(found):
    return Table("turn-ranks", [("rank",), ("gain",), ("from",), ("to",)], [
        [Cell(str(i), i), *(Cell(percent(one[name]), one[name])
                            for name in ("gain", "low", "high"))]
        for i, one in enumerate(found["ranks"])])


def cards(report):
    """(number, title, details) of the gain and what it costs."""
    found = report["turns"]
    gain, _, more = turn_sentences.interval(found).partition(" % ")
    bound = found["bound"]
    yield f"{gain} %", "gain in turns", (
        f"{more}, of the run's time" + (
            f"; of at most {percent(bound)}, with all communication free"
            if bound else ""))
    if found["once_s"] is not None:
        yield seconds(found["once_s"]), "costs once", "at most" + (
            f"; pays back after {seconds(found['pays_back_s'])}"
            if found["pays_back_s"] is not None else "")


def context(report):
    """What html/turns.html needs."""
    found = report["turns"]
    return {"epochs": timeline(found), "turn_names": NAMES,
            "turn_sites": sites(found), "turn_ranks": ranks(found),
            "pairs": units.plural(found["pairs"], "pair"),
            "learnt": any(e["learning"] for e in found["epochs"])}
