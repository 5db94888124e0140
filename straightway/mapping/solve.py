"""The placement with the least cost that all solvers together find.

Candidates are the launchers' own orders (blocked, round robin), the placement
before, and the closed forms of a grid. Swaps improve the best of these, and a
placement that is made from nothing. The best of all gets the rest of the
effort, so the result is never worse than any.
"""

import dataclasses

from straightway.mapping import metis, solver
from straightway.mapping.problem import Problem

# Of links that a search looks at: some 100 millions take a second.
EFFORT = 500000000
OF_ENTRY = 120000       # at most, for each entry of the graph
QUICK_EFFORT = 20000000
QUICK_ENTRIES = 8000


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
        found.update(solver.forms(grid, problem.slots, problem.weights))
    return found


def quick(traffic, slots, before):
    """A Solution in less than a second: by little effort, of the heaviest
    partners alone."""
    return _solution(Problem(traffic, slots, entries=QUICK_ENTRIES),
                     before=before, effort=QUICK_EFFORT)


def solve(traffic, slots, grid=None, before=None, weights=None,
          effort=EFFORT):
    """The Solution. `slots`: as many as ranks; `grid`: the Grid that the
    traffic is of; `before`: a placement to compare with."""
    return _solution(Problem(traffic, slots, weights), grid, before, effort)


def _solution(problem, grid=None, before=None, effort=EFFORT):
    found = simple(problem, grid, before)
    costs = {name: problem.cost(one) for name, one in found.items()}

    def best():
        return min(costs, key=costs.get)        # the first of equals

    def add(name, placement):
        found[name], costs[name] = placement, problem.cost(placement)

    regrouped = None
    if problem.at:
        start, divided = best(), metis.placement(problem)
        improved, bipartition, regrouped = solver.search(
            problem, [found[start], *([divided] if divided else [])],
            min(effort, OF_ENTRY * sum(map(len, problem.graph))))
        add(f"{start}, improved", improved[0])
        add("bipartition", bipartition)
        if divided:
            add("METIS, improved", improved[1])
    origin = best()
    placement, cost = found[origin], costs[origin]
    if regrouped and problem.cost(regrouped) < cost - 1e-9:
        placement, cost = regrouped, problem.cost(regrouped)
    return Solution(placement, origin, cost, costs)
