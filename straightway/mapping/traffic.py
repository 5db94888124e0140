"""The traffic of a program: what each rank sends to each other one.

A Traffic keeps both directions apart for the load of links, and joined as a
graph for the solvers: `near[rank]` is [(other, amount of both directions)].
Messages of a rank to itself cross nothing, and are left out.

A Dense traffic is one of many ranks in which most pairs exchange something: a
matrix. What crosses borders then follows from what stays inside of parts, and
looking inside costs less, the smaller the parts are.
"""

import functools
import heapq
import itertools
import operator


def heaviest(others, most):
    """The most partners with the most traffic, of [(other, amount)]."""
    return heapq.nlargest(most, others, lambda one: (one[1], -one[0]))


class Traffic:
    """`sent`: {(from, to): amount}; `unit`: what the amounts are, "bytes" or
    "messages"."""

    def __init__(self, ranks, sent, unit="messages"):
        self.ranks, self.unit = ranks, unit
        self.sent = {pair: amount for pair, amount in sorted(sent.items())
                     if amount and pair[0] != pair[1]}
        self.total = sum(self.sent.values())

    @functools.cached_property
    def near(self):
        both = [{} for _ in range(self.ranks)]
        for (a, b), amount in self.sent.items():
            both[a][b] = both[a].get(b, 0) + amount
            both[b][a] = both[b].get(a, 0) + amount
        return [sorted(one.items()) for one in both]

    @functools.cached_property
    def entries(self):
        return sum(map(len, self.near))

    def heaviest(self, rank, most):
        """The partners of a rank with the most traffic: [(other, amount)]."""
        return heaviest(self.near[rank], most)

    def crossing(self, at):
        """The amount between different parts; `at` is each rank's part."""
        across = 0
        for rank, near in enumerate(self.near):
            here = at[rank]
            for other, amount in near:
                if at[other] != here:
                    across += amount
        return across / 2

    def borders(self, at):
        """({part: amount that leaves it}, {part: amount that enters it})"""
        out, into = {}, {}
        for (a, b), amount in self.sent.items():
            a, b = at[a], at[b]
            if a != b:
                out[a] = out.get(a, 0) + amount
                into[b] = into.get(b, 0) + amount
        return out, into


class Dense:
    """As Traffic, of a matrix: `flat[from * ranks + to]` are whole numbers, an
    array.array, which this object keeps."""

    def __init__(self, ranks, flat, unit="messages"):
        self.ranks, self.unit, self._flat = ranks, unit, flat
        for rank in range(ranks):
            flat[rank * ranks + rank] = 0
        self._out = [sum(self._row(rank)) for rank in range(ranks)]
        self._into = [sum(flat[rank::ranks]) for rank in range(ranks)]
        self.total = sum(self._out)
        self.entries = len(flat)

    def _row(self, rank):
        return self._flat[rank * self.ranks:(rank + 1) * self.ranks]

    def _both(self, rank):
        """What a rank exchanges with each one."""
        return list(map(operator.add, self._row(rank),
                        self._flat[rank::self.ranks]))

    @property
    def sent(self):
        return {divmod(i, self.ranks): amount
                for i, amount in enumerate(self._flat) if amount}

    @functools.cached_property
    def near(self):
        return [[(other, amount) for other, amount in
                 enumerate(self._both(rank)) if amount]
                for rank in range(self.ranks)]

    def heaviest(self, rank, most):
        both = self._both(rank)
        # So many of some partners have at least this, so the heaviest have.
        some = sorted(both[::max(1, min(8, self.ranks // most))])
        least = some[-min(most, len(some))]
        return heaviest([(other, both[other]) for other in itertools.compress(
            range(self.ranks), map(max(1, least).__le__, both))], most)

    def _inside(self, at):
        """{part: amount between its ranks}, of parts with several."""
        members = {}
        for rank, part in enumerate(at):
            members.setdefault(part, []).append(rank)
        found = {}
        for part, ranks in members.items():
            if len(ranks) > 1:
                take = operator.itemgetter(*ranks)
                found[part] = sum(sum(take(self._row(rank)))
                                  for rank in ranks)
        return found

    def crossing(self, at):
        return self.total - sum(self._inside(at).values())

    def borders(self, at):
        out, into, inside = {}, {}, self._inside(at)
        for rank, part in enumerate(at):
            out[part] = out.get(part, 0) + self._out[rank]
            into[part] = into.get(part, 0) + self._into[rank]
        return tuple({part: amount - inside.get(part, 0) for part, amount
                      in one.items()} for one in (out, into))
