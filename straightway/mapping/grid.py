"""Closed forms for grids: orders in which the cells of a grid fill the slots.

The i-th cell of an order takes the i-th slot. Slots that lie close together
stand together, so an order is good if each stretch of it is a compact part of
the grid. Every rank can compute each of these alone, and alike.

    blocks      equal boxes, nested as the machine is: for each level the
                division with the fewest messages across (Gropp, Using Node
                Information to Implement MPI Cartesian Topologies, 2018, has it
                for two levels). None where the sizes do not divide
    hyperplane  a plane cuts the grid between two nodes, near the middle, and
                so on with both halves (this and the next two: Hunold et al.,
                Efficient Process-to-Node Mapping Algorithms for Stencil
                Computations, CLUSTER 2020)
    halves      the same, with no regard to the nodes' sizes (k-d tree)
    strips      strips about as wide as a node's cube; each is walked along
                its length, and the next one back
"""

import bisect
import functools
import itertools


def _crossing(offsets, d):
    """The messages that cross a plane in dimension d, for each cell of it."""
    return sum(abs(offset[d]) for offset in offsets)


def _split(box, d, at):
    """A box, [(begin, end), ...], cut in dimension d."""
    begin, end = box[d]
    return ([*box[:d], (begin, at), *box[d + 1:]],
            [*box[:d], (at, end), *box[d + 1:]])


def _sizes(box):
    return [end - begin for begin, end in box]


def _volume(box):
    found = 1
    for size in _sizes(box):
        found *= size
    return found


def _whole(grid):
    return [(0, size) for size in grid.dims]


def _cells(box):
    return itertools.product(*(range(*one) for one in box))


# Blocks ---------------------------------------------------------------------

def _divisions(sizes, parts):
    """The ways to cut a box into equal boxes: [pieces in each dimension]."""
    if not sizes:
        return [[]] if parts == 1 else []
    return [[pieces, *rest]
            for pieces in range(1, min(sizes[0], parts) + 1)
            if sizes[0] % pieces == 0 and parts % pieces == 0
            for rest in _divisions(sizes[1:], parts // pieces)]


def _inside(grid, sizes):
    """The messages between the cells of one box."""
    found = 0
    for offset in grid.offsets:
        pairs = 1
        for by, size, whole, period in zip(offset, sizes, grid.dims,
                                           grid.periods):
            pairs *= size if period and size == whole else \
                max(0, size - abs(by))
        found += pairs
    return found


def counts(slots):
    """The parts below a part on each level; None where parts differ."""
    found, outer = [], 1
    for level in range(len(slots.levels)):
        sizes = {}
        for path in slots.paths:
            sizes.setdefault(path[:level], set()).add(path[level])
        here = {len(one) for one in sizes.values()}
        if len(here) != 1:
            return None
        found.append(here.pop())
        outer *= found[-1]
    return found if outer == len(slots) else None


def blocks(grid, slots, weights=None):
    """The order of nested equal boxes, or None."""
    below, weights = counts(slots), weights or slots.weights()
    if below is None:
        return None

    @functools.lru_cache(None)
    def best(sizes, level):
        """(cost, division of each level) of a box, or None."""
        if level == len(below):
            return 0.0, ()
        found = None
        for division in _divisions(list(sizes), below[level]):
            inner = tuple(a // b for a, b in zip(sizes, division))
            rest = best(inner, level + 1)
            if rest is None:
                continue
            across = _inside(grid, sizes) - below[level] * _inside(grid, inner)
            cost = weights[level] * across + below[level] * rest[0]
            if found is None or cost < found[0]:
                found = cost, (tuple(division), *rest[1])
        return found

    found = best(grid.dims, 0)
    return None if found is None else [
        grid.rank(cell) for cell in _nested(grid.dims, found[1])]


def _nested(sizes, divisions):
    """The cells of boxes within boxes."""
    if not divisions:
        yield from itertools.product(*map(range, sizes))
        return
    inner = [a // b for a, b in zip(sizes, divisions[0])]
    for box in itertools.product(*map(range, divisions[0])):
        for cell in _nested(inner, divisions[1:]):
            yield tuple(a * b + c for a, b, c in zip(box, inner, cell))


# Cuts -----------------------------------------------------------------------

def _bounds(slots):
    """For each level the places in the order of slots where a part ends, in
    their order."""
    found = []
    for level in range(len(slots.levels)):
        parts = slots.parts(level)
        found.append([i for i in range(1, len(parts))
                      if parts[i] != parts[i - 1]])
    return found


def _within(bounds, begin, end):
    """The bounds between two places, as a set of distances from the first."""
    return {at - begin for at in bounds[bisect.bisect_right(bounds, begin):
                                        bisect.bisect_left(bounds, end)]}


def _cut(grid, box, bounds):
    """(dimension, position) of the best plane that ends at a bound: near the
    middle, with few messages across. None: no plane does."""
    volume, best = _volume(box), None
    for d, size in enumerate(_sizes(box)):
        slab = volume // size
        for thick in range(1, size):
            if thick * slab not in bounds:
                continue
            # The smaller half must not be a thin slab.
            share = min(thick, size - thick) / size
            across = slab * _crossing(grid.offsets, d)
            key = (across / share, d, abs(2 * thick - size))
            if best is None or key < best[0]:
                best = key, d, box[d][0] + thick
    return best and best[1:]


def hyperplane(grid, slots):
    """The order by planes between the parts of the machine."""
    levels, order = _bounds(slots), []

    def walk(box, begin):
        end, found = begin + _volume(box), None
        for bounds in levels:
            within = _within(bounds, begin, end)
            if within:
                found = _cut(grid, box, within)
                break
        if found is None:
            order.extend(map(grid.rank, _snake(box, grid)))
            return
        one, two = _split(box, *found)
        walk(one, begin)
        walk(two, begin + _volume(one))

    walk(_whole(grid), 0)
    return order


def halves(grid):
    """The order of a k-d tree."""
    order = []

    def walk(box):
        sizes = _sizes(box)
        wide = [d for d, size in enumerate(sizes) if size > 1]
        if not wide:
            order.append(grid.rank([begin for begin, _ in box]))
            return
        # The plane that the fewest messages cross, of the longest dimension.
        d = max(wide, key=lambda d: (
            sizes[d] / (_crossing(grid.offsets, d) or 0.5), -d))
        for half in _split(box, d, box[d][0] + sizes[d] // 2):
            walk(half)

    walk(_whole(grid))
    return order


# Strips ---------------------------------------------------------------------

def _there_and_back(items, back):
    """The items, from the end if `back`."""
    return items[::-1] if back else items


def _snake(box, grid):
    """The cells of a box, the dimension with the fewest messages slowest;
    each line runs against the one before."""
    dims = sorted(range(len(box)), key=lambda d: (
        _crossing(grid.offsets, d) / (box[d][1] - box[d][0]), d))

    def lines(left, back):
        if not left:
            yield ()
            return
        for i, at in enumerate(_there_and_back(list(range(*box[left[0]])),
                                               back)):
            for rest in lines(left[1:], i % 2 == 1):
                yield (at, *rest)

    for line in lines(dims, False):
        cell = dict(zip(dims, line))
        yield [cell[d] for d in range(len(box))]


def _pieces(size, wanted):
    """A dimension in pieces of about the wanted width."""
    count = max(1, round(size / wanted))
    return [(size * i // count, size * (i + 1) // count)
            for i in range(count)]


def _widths(grid, volume, along):
    """The widths of a box of this volume with few messages across: wide where
    many messages go. The dimension `along` takes what is left."""
    weight = [max(_crossing(grid.offsets, d), 0.5)
              for d in range(len(grid.dims))]
    found, left, todo = {}, float(volume), sorted(
        (d for d in range(len(weight)) if d != along),
        key=lambda d: grid.dims[d] / weight[d])
    for i, d in enumerate(todo):
        rest = [*todo[i:], along]
        product = 1.0
        for one in rest:
            product *= weight[one]
        wanted = weight[d] * (left / product) ** (1 / len(rest))
        found[d] = min(grid.dims[d], max(1, round(wanted)))
        left /= found[d]
    return found


def strips(grid, slots):
    """The order of strips, for the size of a node."""
    nodes = slots.nodes
    volume = max(map(nodes.count, set(nodes)))
    along = max(range(len(grid.dims)), key=lambda d: (
        grid.dims[d] / (_crossing(grid.offsets, d) or 0.5), -d))
    widths = _widths(grid, volume, along)
    others = [d for d in range(len(grid.dims)) if d != along]
    order, back = [], False

    def walk(left, box, turned):
        nonlocal back
        if not left:
            length = list(range(grid.dims[along]))
            for i, at in enumerate(_there_and_back(length, back)):
                box[along] = (at, at + 1)
                cells = list(_snake([box[d] for d in range(len(grid.dims))],
                                    grid))
                order.extend(map(grid.rank, _there_and_back(cells, i % 2)))
            back = not back
            return
        pieces = _pieces(grid.dims[left[0]], widths[left[0]])
        for i, piece in enumerate(_there_and_back(pieces, turned)):
            box[left[0]] = piece
            walk(left[1:], box, i % 2 == 1)

    walk(others, {}, False)
    return order


def orders(grid, slots, weights=None):
    """{name: order} of all forms that fit. `slots`: as many as ranks."""
    found = {"blocks": blocks(grid, slots, weights),
             "hyperplane": hyperplane(grid, slots),
             "halves": halves(grid), "strips": strips(grid, slots)}
    return {name: order for name, order in found.items() if order}


def placement(order):
    """The slot of each rank."""
    found = [0] * len(order)
    for slot, rank in enumerate(order):
        found[rank] = slot
    return found
