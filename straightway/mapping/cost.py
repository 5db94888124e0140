"""What a placement costs: the traffic across each level of the machine.

A pair of ranks whose slots differ first on level d pays d's weight, W[d], for
each byte. The same sum, level by level: the bytes between different parts of a
level, times W[level] - W[level + 1]. Weights descend from the outermost level
on, so each such step is positive, and solvers may treat the levels one by one.
"""

import dataclasses


def steps(weights):
    """The weight of each level less that of the next one."""
    return [a - b for a, b in zip(weights, [*weights[1:], 0.0])]


@dataclasses.dataclass
class Level:
    """The traffic on one level: between parts of it that differ."""

    name: str
    across: float           # amount between different parts
    between: float          # of this, inside one part of the level above
    worst: float            # amount through the border of the busiest part,
    busiest: int            # in one direction, and this part's number
    parts: int


@dataclasses.dataclass
class Cost:
    """A placement's cost; `levels` from the outermost."""

    total: float
    levels: list

    def level(self, name):
        """The Level of a name, or None."""
        return next((one for one in self.levels if one.name == name), None)


def _level(traffic, name, at):
    """The Level, without `between`; `at` is each rank's part."""
    out, into = traffic.borders(at)
    loads = {part: max(out.get(part, 0), into.get(part, 0))
             for part in {*out, *into}}
    busiest = min(loads, key=lambda part: (-loads[part], part), default=0)
    return Level(name, sum(out.values()), 0, loads.get(busiest, 0), busiest,
                 len(set(at)))


def cost(traffic, slots, placement, weights=None):
    """The Cost of a placement."""
    weights = weights or slots.weights()
    levels, outer = [], 0
    for index, name in enumerate(slots.levels):
        parts = slots.parts(index)
        level = _level(traffic, name, [parts[slot] for slot in placement])
        level.between = level.across - outer
        outer = level.across
        levels.append(level)
    return Cost(sum(step * level.across for step, level in zip(
        steps(weights), levels)), levels)
