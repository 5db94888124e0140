"""One report on a placement, for every reporter: plain data.

    made = report(Asked(traffic, slots, ...), predicted, launched)

Times are seconds. Amounts are bytes or messages, as "unit" says.
"""

import dataclasses
import shlex
import typing

from straightway.mapping import cost, solve
from straightway.mapping.traffic import Traffic

SCHEMA = "straightway-map/1"
BEFORE, AFTER = "before", "after"


@dataclasses.dataclass
class Asked:
    """What the user asks about. `slots`: as many as ranks; `before`: the
    placement to compare with, which `before_name` describes."""

    source: str
    traffic: Traffic
    slots: typing.Any
    before: list
    before_name: str
    machine: str = ""
    region: typing.Optional[str] = None
    grid: typing.Any = None
    weights: typing.Optional[list] = None


def solution(asked):
    """The Solution."""
    return solve.solve(asked.traffic, asked.slots, asked.grid, asked.before,
                       asked.weights)


def _level(one):
    return {"name": one.name, "across": one.across, "between": one.between,
            "worst": one.worst, "busiest": one.busiest, "parts": one.parts}


def _cost(asked, placement):
    found = cost.cost(asked.traffic, asked.slots, placement, asked.weights)
    return {"total": found.total, "levels": [_level(one) for one in
                                             found.levels]}


def report(asked, found, predicted=None, why=None, launch=None, notes=()):
    """The report. `predicted`: {BEFORE: Outcome, AFTER: Outcome}, or `why` not;
    `launch`: a Launch, with the name of its launcher."""
    slots = asked.slots
    return {
        "schema": SCHEMA, "source": asked.source, "ranks": asked.traffic.ranks,
        "unit": asked.traffic.unit, "region": asked.region,
        "total": asked.traffic.total,
        "machine": {"text": asked.machine, "levels": list(slots.levels),
                    "weights": list(asked.weights or slots.weights()),
                    "nodes": len(set(slots.nodes)),
                    "names": list(slots.names or ())},
        BEFORE: {"name": asked.before_name, "placement": asked.before,
                 **_cost(asked, asked.before)},
        AFTER: {"name": found.origin, "placement": found.placement,
                **_cost(asked, found.placement)},
        "candidates": found.candidates,
        "predicted": predicted and {
            "before": predicted[BEFORE].describe(),
            "after": predicted[AFTER].describe(),
            "speed_up": predicted[BEFORE].end / predicted[AFTER].end
            if predicted[AFTER].end else None},
        "not_predicted": None if predicted else why,
        "launch": launch and _launched(*launch), "notes": list(notes)}


def _launched(name, made):
    return {"launcher": name, "command": made.command,
            "settings": made.settings, "files": sorted(made.files),
            "note": made.note}


def gain(report):
    """What the placement keeps of the cost, 1 for nothing gained."""
    return report[AFTER]["total"] / report[BEFORE]["total"] \
        if report[BEFORE]["total"] else 1.0


def command(launch, program="PROGRAM"):
    """The whole command to run, as a line for a shell."""
    words = [f"{name}={shlex.quote(value)}"
             for name, value in launch["settings"].items()]
    return " ".join([*words, shlex.join(launch["command"]), program])


def verdict(report):
    """The result, in sentences."""
    part = gain(report)
    if part > 0.999:
        return [f"No placement was found that is better than the one before "
                f"({report[BEFORE]['name']})."]
    said = f"This placement costs {part:.2f} times what the one before does"
    made = report["predicted"]
    if made and made["speed_up"]:
        said += (f", and the program is predicted to be {made['speed_up']:.2f}"
                 " times as fast")
    return [said + "."]
