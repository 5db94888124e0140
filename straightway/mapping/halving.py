"""A graph in two halves of given sizes, with little traffic between them.

A graph here is a list for each vertex of [(other, amount)]. The methods are
those of multilevel partitioning (Karypis and Kumar, 1998): vertices that
exchange much become one, as long as the graph shrinks; the smallest graph is
cut; and on the way back improve() moves vertices across the cut.

improve() is Fiduccia's and Mattheyses's: it moves the vertex that gains most,
even if that is a loss, moves each one once, and keeps the best state on the
way. A state counts where the sizes fit. Of equal vertices it takes the one
whose gain changed last, so that it follows a line across the graph.

All of it is deterministic: random numbers come from a generator of our own
(numbers()), so that every rank of a program can find the same.
"""

import heapq

COARSE = 40             # vertices of the smallest graph
TRIES = 6               # cuts of the smallest graph
PASSES = 6
_MASK = (1 << 64) - 1


def numbers(seed):
    """A function that gives the next random number below n (xorshift64*)."""
    state = (seed * 0x9E3779B97F4A7C15 + 1) & _MASK

    def below(n):
        nonlocal state
        state ^= state >> 12
        state = (state ^ state << 25) & _MASK
        state ^= state >> 27
        return (state * 0x2545F4914F6CDD1D & _MASK) * n >> 64

    return below


def shuffled(n, below):
    found = list(range(n))
    for i in range(n - 1, 0, -1):
        j = below(i + 1)
        found[i], found[j] = found[j], found[i]
    return found


# Moving across the cut ------------------------------------------------------

class _Cut:
    """A graph in two halves, on which one pass moves vertices."""

    def __init__(self, near, sizes, side, bias):
        self.near, self.sizes, self.side = near, sizes, side
        self.gain = [bias[v] * (1 - 2 * side[v]) for v in range(len(near))] \
            if bias else [0] * len(near)
        for v, others in enumerate(near):
            here, gain = side[v], self.gain[v]
            for u, amount in others:
                gain += amount if side[u] != here else -amount
            self.gain[v] = gain
        self.first = sum(size for size, s in zip(sizes, side) if not s)

    def heaps(self):
        """The vertices of each half by their gain."""
        found = [[], []]
        for v, gain in enumerate(self.gain):
            found[self.side[v]].append((-gain, 0, v))
        for heap in found:
            heapq.heapify(heap)
        return found

    def move(self, v, heaps, moved, stamp):
        """Move v to the other half, and tell its neighbours' gains."""
        side, gain = self.side, self.gain
        here = side[v]
        side[v] = 1 - here
        self.first += self.sizes[v] if here else -self.sizes[v]
        gain[v] = -gain[v]
        for u, amount in self.near[v]:
            gain[u] += 2 * amount if side[u] == here else -2 * amount
            if not moved[u]:
                heapq.heappush(heaps[side[u]], (-gain[u], -stamp, u))

    def back(self, v):
        """Take a move back; the gains are not those of the state then."""
        self.first += self.sizes[v] if self.side[v] else -self.sizes[v]
        self.side[v] = 1 - self.side[v]

    def top(self, heap, half, moved):
        """The vertex with the most gain in a heap, or None."""
        while heap:
            loss, _, v = heap[0]
            if not moved[v] and self.side[v] == half and -loss == self.gain[v]:
                return v
            heapq.heappop(heap)
        return None


def _choose(cut, heaps, moved, off):
    """The vertex that moves next: from the half that is too large, if one is,
    else of both the one with the most gain."""
    one = cut.top(heaps[0], 0, moved) if off >= 0 else None
    two = cut.top(heaps[1], 1, moved) if off <= 0 else None
    if one is None or two is None:
        return two if one is None else one
    return two if cut.gain[two] > cut.gain[one] else one


def _pass(near, sizes, side, target, slack, bias):
    """One pass; the gain of the best state on its way, which `side` becomes.
    """
    cut = _Cut(near, sizes, side, bias)
    heaps, moved, moves = cut.heaps(), [False] * len(near), []
    patience = 20 + len(near) // 10
    won, best, at = 0, 0, 0
    miss = start = max(0, abs(cut.first - target) - slack)
    while len(moves) - at < patience or miss:
        off = cut.first - target
        v = _choose(cut, heaps, moved, off if abs(off) > slack else 0)
        if v is None:
            break
        won += cut.gain[v]
        moved[v] = True
        moves.append(v)
        cut.move(v, heaps, moved, len(moves))
        # First the sizes must fit, then the gain counts.
        now = max(0, abs(cut.first - target) - slack)
        if now < miss or now == miss and won > best:
            miss, best, at = now, won, len(moves)
    for v in moves[at:]:
        cut.back(v)
    return best if miss == start else max(best, 1e-9)


def improve(near, sizes, side, target, slack=0, bias=None, passes=PASSES):
    """Move vertices across the cut while that gains. `side`: the half of each
    vertex, 0 or 1, which changes; `target`: the size of half 0, and `slack`
    how far off it may be. `bias[v]`: what v gains in half 1 beside its edges.
    """
    gained = 0
    for _ in range(passes):
        won = _pass(near, sizes, side, target, slack, bias)
        if won <= 1e-9:
            break
        gained += won
    return gained


def cut(near, side):
    """The traffic between the halves."""
    return sum(amount for v, others in enumerate(near)
               for u, amount in others if side[v] < side[u])


# Levels ---------------------------------------------------------------------

def _matched(near, sizes, most, below):
    """The number of each vertex in a smaller graph, and how many there are: a
    vertex joins the neighbour with the most traffic for its size."""
    number, count = [-1] * len(near), 0
    for v in shuffled(len(near), below):
        if number[v] >= 0:
            continue
        best, found = 0, -1
        for u, amount in near[v]:
            if number[u] < 0 and sizes[u] + sizes[v] <= most:
                rate = amount / sizes[u]
                if rate > best:
                    best, found = rate, u
        number[v] = count
        if found >= 0:
            number[found] = count
        count += 1
    return number, count


def _joined(near, sizes, number, count):
    """The smaller graph."""
    joined = [{} for _ in range(count)]
    total = [0] * count
    for v, others in enumerate(near):
        here = number[v]
        total[here] += sizes[v]
        one = joined[here]
        for u, amount in others:
            there = number[u]
            if there != here:
                one[there] = one.get(there, 0) + amount
    return [list(one.items()) for one in joined], total


def _grown(near, sizes, target, first):
    """Halves: half 0 grows from a vertex, by the most traffic into it."""
    side, heap, into = [1] * len(near), [(0, 0, first)], {}
    size, stamp, rest = 0, 0, iter(range(len(near)))
    while size < target:
        if not heap:
            v = next(v for v in rest if side[v])
        else:
            v = heapq.heappop(heap)[2]
        if not side[v]:
            continue
        if size + sizes[v] > target and size and \
                size + sizes[v] - target > target - size:
            break
        side[v] = 0
        size += sizes[v]
        for u, amount in near[v]:
            if side[u]:
                stamp += 1
                into[u] = into.get(u, 0) + amount
                heapq.heappush(heap, (-into[u], stamp, u))
    return side


def _first(near, sizes, target, below, tries):
    """The best of several cuts of the smallest graph."""
    best, slack = None, max(sizes) - 1
    for _ in range(tries):
        side = _grown(near, sizes, target, below(len(near)))
        improve(near, sizes, side, target, slack)
        off = abs(sum(size for size, s in zip(sizes, side) if not s) - target)
        key = max(0, off - slack), cut(near, side)
        if best is None or key < best[0]:
            best = key, side
    return best[1]


def halve(near, target, seed=0, tries=TRIES):
    """The half of each vertex, 0 or 1: exactly `target` vertices in half 0."""
    if not 0 < target < len(near):
        return [int(target <= 0)] * len(near)
    below, sizes, levels = numbers(seed), [1] * len(near), []
    most = max(2, len(near) // COARSE)
    while len(near) > COARSE:
        number, count = _matched(near, sizes, most, below)
        if count > 0.95 * len(near):
            break
        levels.append((near, sizes, number))
        near, sizes = _joined(near, sizes, number, count)
    side = _first(near, sizes, target, below, tries)
    if not levels:
        improve(near, sizes, side, target)
    for near, sizes, number in reversed(levels):
        side = [side[n] for n in number]
        improve(near, sizes, side, target, max(sizes) - 1)
    return side
