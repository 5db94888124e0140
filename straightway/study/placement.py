"""The study's section on places: how the ranks sat, what went across parts of
the machine, and what the best placement found would give.

    found = section(profile, runner, models, ops)
    for sentence in said(found): ...

Traffic and places are those of a normal run. Replays of the study's recorded
operations predict both placements. The study starts no run in other places.
"""

import shlex

from straightway import units
from straightway.errors import UserError
from straightway.machine import slots as machines
from straightway.mapping import cost, launchers, solve
from straightway.profile import placement, tables
from straightway.ranges import ranges
from straightway.whatif import placements

PAYS = 0.01             # of the cost: what a placement gains at least


def section(p, runner, models, ops, step=lambda text: None):
    """The section, plain data.

    levels      on which ranks may share a part of the machine; of one node
                and one part none
    known       whether the run tells places inside nodes
    loose       ranks that are bound to no part of the innermost level
    crossing    rows of what goes between parts, as in a profile
    better      the best placement found; None: none is better, or none is
                sought
    """
    where = p.places
    found = {"levels": list(where.shared), "known": not where.dark,
             "loose": where.loose if where.shared else [],
             "crossing": tables.crossing(p), "better": None}
    seats = placement.seats(p)
    amounts = placement.traffic(p)
    if seats and where.shared and amounts.total:
        step("looking for a placement")
        found["better"] = _better(p, runner, models, ops, seats, amounts, step)
    return found


def _better(p, runner, models, ops, seats, amounts, step):
    slots, before = seats
    made = solve.solve(amounts, slots, before=before)
    one, two = (cost.cost(amounts, slots, at)
                for at in (before, made.placement))
    if two.total >= (1 - PAYS) * one.total:
        return None
    step("replaying it under both placements")
    predicted, why = None, None
    try:
        was, then = placements.predict(
            runner, models, ops, {"before": before, "after": made.placement},
            slots).values()
        predicted = {"before_s": was.end / 1e9, "after_s": then.end / 1e9,
                     "speed_up": was.end / then.end if then.end else None}
    except UserError as error:
        why = str(error).partition("\n")[0]
    return {
        "placement": made.placement,
        "levels": [{"level": a.name, "before": a.across, "after": b.across,
                    "busiest_before": a.worst, "busiest_after": b.worst}
                   for a, b in zip(one.levels, two.levels)
                   if a.name in p.places.shared],
        "predicted": predicted, "not_predicted": why,
        "option": launchers.option(p.job.mpi)}


def commands(report):
    """What to type for the better placement."""
    ranks, program = report["ranks"], shlex.join(report["program"])
    return [f"straightway profile -n {ranks} -o study.swcap {program}",
            "straightway map study.swcap --write place"]


def said(found):
    """The result, in sentences."""
    levels, better = found["levels"], found["better"]
    if not levels and not found["known"]:
        return ["The run does not tell where on their node the ranks were "
                "(/sys has no tables, or cannot be read)."]
    if not levels:
        return ["All ranks share everything that this machine has but cores: "
                "no placement can help."]
    if better:
        return _of_better(better)
    loose = ranges(found["loose"])
    if loose:
        return [f"{'Rank' if loose.count == 1 else 'Ranks'} {loose} may run "
                f"in several {machines.plural(levels[-1])}: bind each rank to "
                "a core, and a placement can be sought."]
    return ["No placement was found that is better than the one of these "
            "runs."]


def _of_better(better):
    top = next((one for one in better["levels"]
                if one["after"] < one["before"]), better["levels"][0])
    text = ("With the ranks in other places "
            f"{units.size(top['after'])} go between "
            f"{machines.plural(top['level'])} in place of "
            f"{units.size(top['before'])}")
    made = better["predicted"]
    if not made:
        return [text + ".", f"Not predicted: {better['not_predicted']}."]
    up = made["speed_up"] or 1
    return [text + (
        f". The program is predicted to be {up:.2f} times as fast."
        if up >= 1.01 else ", which the prediction does not show in the run "
        "time.")]
