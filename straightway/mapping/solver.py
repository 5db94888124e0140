"""The native solvers (src/solver/): closed forms of a grid, and searches.

A question is a text of numbers, and an answer has placements: the slot of each
rank. Prices and amounts are whole numbers there, so that costs are exact sums.
"""

from straightway import native

PRICE = 1000            # of a weight of 1; weights of more than MOST count less
MOST = 1e3
AMOUNT = 1 << 24        # of the pair with the most traffic, if it has more
COST = 1 << 60          # of a placement, at most


def _machine(prices, parts, node):
    """`parts`: on each level, of each slot; `node`: the level of nodes."""
    scale = PRICE * min(1.0, MOST / max([MOST, *prices]))
    yield len(parts[0]), len(parts), node
    yield [round(price * scale) for price in prices]
    yield from zip(*parts)


def _asked(words, lines):
    text = "\n".join(" ".join(map(str, line)) for line in lines)
    return native.answer(native.map_executable(), words, text.encode())


# Forms ------------------------------------------------------------------------

def _lattice(grid):
    """The grid without the dimensions of one cell."""
    wide = [d for d, size in enumerate(grid.dims) if size > 1]
    offsets = [[offset[d] for d in wide] for offset in grid.offsets
               if all(not by or period or size > 1 for by, period, size in
                      zip(offset, grid.periods, grid.dims))]
    yield len(wide), len(offsets)
    yield [grid.dims[d] for d in wide]
    yield [int(grid.periods[d]) for d in wide]
    yield from offsets


def forms(grid, slots, weights=None):
    """{name: placement} of the closed forms that fit. `slots`: as many as
    ranks."""
    node = -1 if slots.node_level is None else slots.node_level
    parts = [slots.parts(level) for level in range(len(slots.levels))]
    return _asked(["forms"], [
        *_machine(weights or slots.weights(), parts, node), *_lattice(grid)])


# Searches ---------------------------------------------------------------------

def _links(graph, price):
    """For each rank its partners of a higher number, with the amounts. `price`:
    of the dearest, which all of them may have to pay."""
    amounts = [amount for near in graph for _, amount in near]
    scale = min(1, AMOUNT / max(amounts, default=1),
                COST / max(1, sum(amounts) * price))
    for rank, near in enumerate(graph):
        own = [(other, max(1, round(amount * scale)))
               for other, amount in near if other > rank]
        yield [len(own), *(n for link in own for n in link)]


def search(problem, starts, effort):
    """(each of these placements improved, one from nothing, the best of all
    with all the effort that is left). `effort`: so many links are looked at."""
    machine = list(_machine(problem.prices(), problem.at, -1))
    found = _asked(["search", effort], [
        *machine, *_links(problem.graph, max(machine[1])),
        [len(starts)], *starts])
    return found["improved"], found["bipartition"], found["regrouped"]
