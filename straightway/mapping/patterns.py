"""Traffic of a pattern: ranks in a grid that exchange with neighbours.

Ranks are numbered as MPI_Cart_create does, the last dimension fastest. A
stencil is a list of offsets, and each rank sends one message to the rank at
each offset. Where a dimension has no period, offsets that leave the grid send
nothing. Stencils by name:

    faces       one step along each dimension, both ways
    corners     every neighbour that differs by at most one in each dimension
    component   faces, without the last dimension
    hops        faces, and two and three steps along the first dimension

(component and hops: Hunold et al., Efficient Process-to-Node Mapping
Algorithms for Stencil Computations, CLUSTER 2020.)
"""

import itertools

from straightway.errors import UserError, nearest
from straightway.mapping.traffic import Traffic

MOST = 1 << 20          # ranks
DIMENSIONS = 8


def _unit(dims, d, by=1):
    return tuple(by * (i == d) for i in range(dims))


def _faces(dims):
    return [_unit(dims, d, by) for d in range(dims) for by in (-1, 1)]


def _corners(dims):
    return [offset for offset in itertools.product((-1, 0, 1), repeat=dims)
            if any(offset)]


def _component(dims):
    return [one for one in _faces(dims) if dims == 1 or not one[-1]]


def _hops(dims):
    return _faces(dims) + [_unit(dims, 0, by) for by in (-3, -2, 2, 3)]


STENCILS = {"faces": _faces, "corners": _corners, "component": _component,
            "hops": _hops}


class Grid:
    """Ranks in a grid: `dims`, `periods` (a truth value for each dimension)
    and the offsets of the stencil."""

    def __init__(self, dims, periods=None, offsets=None):
        self.dims = tuple(dims)
        self.periods = tuple(periods or [False] * len(self.dims))
        self.offsets = list(offsets or _faces(len(self.dims)))
        self.ranks = 1
        for size in self.dims:
            self.ranks *= size

    def cells(self):
        """The coordinates of each rank."""
        return itertools.product(*map(range, self.dims))

    def rank(self, cell):
        """The rank at these coordinates; None: outside of the grid."""
        rank = 0
        for at, size, period in zip(cell, self.dims, self.periods):
            if not 0 <= at < size:
                if not period:
                    return None
                at %= size
            rank = rank * size + at
        return rank

    def traffic(self):
        """One message to each neighbour."""
        sent = {}
        for rank, cell in enumerate(self.cells()):
            for offset in self.offsets:
                peer = self.rank([a + b for a, b in zip(cell, offset)])
                if peer is not None:
                    sent[rank, peer] = sent.get((rank, peer), 0) + 1
        return Traffic(self.ranks, sent)


# The user's words -----------------------------------------------------------

def dims(text):
    """(8, 8, 4) of "8x8x4"."""
    words = text.lower().split("x")
    if not all(word.isdecimal() and int(word) for word in words):
        raise UserError(f"--grid {text}: give sizes, as in 8x8x4")
    found, ranks = tuple(map(int, words)), 1
    for size in found:
        ranks *= size
    if len(found) > DIMENSIONS or ranks > MOST:
        raise UserError(f"--grid {text}: {len(found)} dimensions and {ranks} "
                        f"ranks; {DIMENSIONS} and {MOST} are the most")
    return found


def periods(text, sizes):
    """[True, False, True] of "1,0,1"; "all": every dimension."""
    if text in ("", "all"):
        return [True] * len(sizes)
    words = text.split(",")
    if len(words) != len(sizes) or set(words) - {"0", "1"}:
        raise UserError(f"--periods {text}: give 0 or 1 for each of "
                        f"{len(sizes)} dimensions, as in "
                        + ",".join("10"[i % 2] for i in range(len(sizes))))
    return [word == "1" for word in words]


def stencil(text, sizes):
    """The offsets of a name, or of "1,0 -1,0"."""
    if text in STENCILS:
        return STENCILS[text](len(sizes))
    if not text.strip() or text.strip()[0].isalpha():
        raise UserError(f"--stencil {text}: unknown; "
                        + nearest(text, STENCILS))
    found = []
    for word in text.split():
        try:
            one = tuple(map(int, word.split(",")))
        except ValueError:
            one = ()
        if len(one) != len(sizes) or not any(one):
            raise UserError(
                f"--stencil \"{text}\": {word} is no offset in "
                f"{len(sizes)} dimensions; give offsets as in \""
                + " ".join(",".join(map(str, offset))
                           for offset in _faces(len(sizes))[:2]) + "\"")
        found.append(one)
    return found
