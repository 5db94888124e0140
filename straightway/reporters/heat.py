"""Heat maps: a matrix of figures between cores as squares, darker where slower.

The steps of colour are nearly equal ratios, from the fastest figure to the
slowest. The edge between two steps lies where figures leave the widest gap, so
that alike figures have one colour.
All squares of one colour are one path, so that large matrices stay small.
html/topo.css has the colours.
"""

import bisect
import math

STEPS = 7


def _edges(values):
    """The figures between which the steps change; none if all are alike."""
    low, high = values[0], values[-1]
    if high < 1.02 * low:
        return []
    half, found = (high / low) ** (0.5 / STEPS), []
    for k in range(1, STEPS):
        middle = low * (high / low) ** (k / STEPS)
        near = values[max(0, bisect.bisect(values, middle / half) - 1):
                      bisect.bisect(values, middle * half) + 1]
        gaps = [(b / a, math.sqrt(a * b)) for a, b in zip(near, near[1:])]
        found.append(max((gap for gap in gaps if middle / half <= gap[1]
                          <= middle * half), default=(1, middle))[1])
    return found


class Map:
    """The steps of a matrix: `name`, `unit`, and for each step the range of
    its figures and a path. `slow`: the greatest figures are the slowest."""

    def __init__(self, name, unit, matrix, labels, slow):
        self.name, self.unit, self.labels = name, unit, labels
        edges = _edges(sorted(v for row in matrix for v in row if v))
        found = [[] for _ in range(STEPS)]
        for y, row in enumerate(matrix):
            for x, value in enumerate(row):
                if value:
                    step = bisect.bisect(edges, value)
                    step = step if slow else len(edges) - step
                    found[step].append((x, y, value))
        self.steps = [
            (i, min(v for _, _, v in cells), max(v for _, _, v in cells),
             "".join(f"M{x} {y}h1v1h-1z" for x, y, _ in cells))
            for i, cells in enumerate(found) if cells]

    @property
    def count(self):
        return len(self.labels)

    def keys(self):
        """[(step, "24 to 31 ns"), ...], the fastest first."""
        for i, low, high, _ in self.steps:
            low, high = f"{low:.3g}", f"{high:.3g}"
            yield i, (low if low == high else f"{low} to {high}") \
                + f" {self.unit}"

    def ticks(self, most=8):
        """[(index, label), ...], evenly, at most about so many."""
        step = max(1, math.ceil(self.count / most))
        return [(i, str(self.labels[i])) for i in range(0, self.count, step)]

    def paths(self):
        for i, _, _, path in self.steps:
            yield f'<path class="q{i}" d="{path}"/>'


def maps(cores):
    """The two maps of a survey's cores; none of one core."""
    if len(cores.numbers) < 2:
        return []
    return [Map("Round trip of a cache line", "ns", cores.round_trip,
                cores.numbers, True),
            Map("Reading 1 MiB that the other core has written", "GB/s",
                cores.read, cores.numbers, False)]
