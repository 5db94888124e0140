"""The traffic of a program: what each rank sends to each other one.

A Traffic keeps both directions apart for the load of links, and joined as a
graph for the solvers: `near[rank]` is [(other, amount of both directions)].
Messages of a rank to itself cross nothing, and are left out.
"""


import functools


class Traffic:
    """`sent`: {(from, to): amount}; `unit`: what the amounts are, "bytes" or
    "messages"."""

    def __init__(self, ranks, sent, unit="messages"):
        self.ranks, self.unit = ranks, unit
        self.sent = {pair: amount for pair, amount in sorted(sent.items())
                     if amount and pair[0] != pair[1]}

    @functools.cached_property
    def near(self):
        both = [{} for _ in range(self.ranks)]
        for (a, b), amount in self.sent.items():
            both[a][b] = both[a].get(b, 0) + amount
            both[b][a] = both[b].get(a, 0) + amount
        return [sorted(one.items()) for one in both]

    @property
    def total(self):
        return sum(self.sent.values())
