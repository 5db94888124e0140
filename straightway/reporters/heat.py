"""Heat maps: a matrix of figures between cores as squares, darker where slower.

Figures without a gap between them have one colour, so that alike ones do not
look different. A wide range without gaps has several colours, by equal ratios.
The darkest colours are for figures that differ much; if all are alike, they are
light. All squares of one colour are one path, so that large matrices stay
small. html/topo.css has the colours.
"""

import bisect
import math

STEPS = 7               # colours
GAP = 1.08              # a ratio of two figures, and none between them
WIDE = 1.5              # a ratio of two figures that takes all colours
ALIKE = 2               # the colour where there is one


def _edges(values):
    """The figures between which the colour changes, of sorted values."""
    gaps = sorted((b / a, math.sqrt(a * b)) for a, b in
                  zip(values, values[1:]) if b >= GAP * a)[1 - STEPS:]
    edges = sorted(middle for _, middle in gaps)
    step = (values[-1] / values[0]) ** (1 / STEPS)
    found = list(edges)
    for begin, end in zip([0, *edges], [*edges, math.inf]):
        low = values[bisect.bisect(values, begin)]
        high = values[bisect.bisect(values, end) - 1]
        if high < GAP * low:
            continue
        parts = min(round(math.log(high / low) / math.log(step)),
                    int(math.log(high / low) / math.log(GAP)),
                    STEPS - len(found))
        found += [low * (high / low) ** (k / parts) for k in range(1, parts)]
    return sorted(found)


def _colours(edges, low, high):
    """The colours of the ranges between edges, ascending: by the place of each
    range from the lowest figure to the highest."""
    if not edges:
        return [ALIKE]
    most = STEPS - 1 if high >= WIDE * low else max(ALIKE + 1, len(edges))
    bounds, found = [low, *edges, high], []
    for i, (a, b) in enumerate(zip(bounds, bounds[1:])):
        place = math.log(a * b / low ** 2) / 2 / (math.log(high / low) or 1)
        if i in (0, len(edges)):            # the ends have the end colours
            place = float(i > 0)
        found.append(min(most, int((most + 1) * place)))
    for i in range(1, len(found)):
        found[i] = max(found[i], found[i - 1] + 1)
    for i in range(len(found)):
        found[-1 - i] = min(found[-1 - i], most - i)
    return found


class Map:
    """The steps of a matrix: `name`, `unit`, and for each step the range of
    its figures and a path. `slow`: the greatest figures are the slowest."""

    def __init__(self, name, unit, matrix, labels, slow):
        self.name, self.unit, self.labels = name, unit, labels
        values = sorted(v for row in matrix for v in row if v)
        edges = _edges(values)
        colours = _colours(edges, values[0], values[-1])
        if not slow:
            colours = [colours[0] + colours[-1] - one for one in colours]
        found = [[] for _ in range(STEPS)]
        for y, row in enumerate(matrix):
            for x, value in enumerate(row):
                if value:
                    found[colours[bisect.bisect(edges, value)]].append(
                        (x, y, value))
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
