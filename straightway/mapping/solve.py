"""The placement with the least cost that all solvers together find.

Candidates are the launchers' own orders (blocked, round robin), the placement
before, and the closed forms of a grid. Descents from the best of these, and
from nothing, make more. The best candidate gets the rest of the effort, so the
result is never worse than any.
"""

import dataclasses

from straightway.mapping import descent, grid as grids, metis
from straightway.mapping.problem import Problem

# In entries of graphs. Regrouping takes some microseconds for each, and a
# descent tens of them, so that a larger graph gets less of the first.
EFFORT = 1100000        # of regrouping, over all levels
LEAST_EFFORT = 200000
OF_DESCENTS = 8         # less for each entry
DESCENTS = 100000       # of descents from nothing
MOST_DESCENTS = 8
QUICK_ENTRIES = 8000


def _effort(entries):
    """How much a graph of so many entries is regrouped."""
    return min(max(EFFORT - OF_DESCENTS * entries, LEAST_EFFORT),
               300 * entries)


@dataclasses.dataclass
class Solution:
    """The slot of each rank; the candidate that it grew from; {candidate: what
    it costs}. Costs leave out what every placement pays (problem.py)."""

    placement: list
    origin: str
    cost: float
    candidates: dict


def blocked(slots, ranks):
    """Ranks in the order of slots."""
    return list(range(min(ranks, len(slots))))


def round_robin(slots):
    """One rank after the other on each node in turn."""
    left = {}
    for slot, node in enumerate(slots.nodes):
        left.setdefault(node, []).append(slot)
    found = []
    while any(left.values()):
        found += [free.pop(0) for free in left.values() if free]
    return found


def simple(problem, grid=None, before=None):
    """{name: placement} of what needs no search."""
    found = {"blocked": blocked(problem.slots, problem.ranks),
             "round robin": round_robin(problem.slots)}
    if before and before not in found.values():
        found["as it was"] = before
    if grid:
        found.update((name, grids.placement(order)) for name, order in
                     grids.orders(grid, problem.slots,
                                  problem.weights).items())
    return found


def quick(traffic, slots, before):
    """A Solution in less than a second: `before`, the launchers' orders, and
    one descent from nothing, of the heaviest partners alone."""
    problem = Problem(traffic, slots, entries=QUICK_ENTRIES)
    found = simple(problem, before=before)
    if problem.at:
        found["bipartition"] = descent.descend(problem, 1)
    return _best(problem, found)


def _best(problem, found):
    costs = {name: problem.cost(one) for name, one in found.items()}
    origin = min(costs, key=lambda name: costs[name])   # the first of equals
    return Solution(found[origin], origin, costs[origin], costs)


def solve(traffic, slots, grid=None, before=None, weights=None,
          effort=None):
    """The Solution. `slots`: as many as ranks; `grid`: the Grid that the
    traffic is of; `before`: a placement to compare with; `effort`: of
    regrouping, in place of one that fits the graph."""
    problem = Problem(traffic, slots, weights)
    found = simple(problem, grid, before)
    costs = {name: problem.cost(one) for name, one in found.items()}
    entries = traffic.entries + traffic.ranks
    effort = _effort(entries) if effort is None else effort
    if problem.at:
        # Closed forms make a descent from nothing superfluous.
        _add_searched(problem, found, costs, max(
            0 if grid else 1, min(MOST_DESCENTS, DESCENTS // entries)))
    origin = min(costs, key=lambda name: costs[name])   # the first of equals
    placement, cost = found[origin], costs[origin]
    if problem.at and effort:
        better = descent.descend(problem, 1, placement,
                                 effort=effort // len(problem.at))
        if problem.cost(better) < cost - 1e-9:
            placement, cost = better, problem.cost(better)
    return Solution(placement, origin, cost, costs)


def _add_searched(problem, found, costs, descents):
    """Add the candidates of searches."""
    def add(name, placement):
        found[name], costs[name] = placement, problem.cost(placement)

    best = min(costs, key=lambda name: costs[name])
    add(f"{best}, improved", descent.descend(problem, 1, found[best]))
    for seed in range(1, descents + 1):
        one = descent.descend(problem, seed)
        if "bipartition" not in costs or \
                problem.cost(one) < costs["bipartition"]:
            add("bipartition", one)
    divided = metis.placement(problem)
    if divided:
        add("METIS, improved", descent.descend(problem, 1, divided))
