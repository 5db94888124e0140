"""The best placement of all, for small problems: the solvers' yardstick.

Branch and bound: ranks take slots one after the other, each the rank with the
most traffic to those that have one. A branch ends where what it pays, plus the
least that the other ranks must pay to those with slots, reaches the best
placement found. Of parts that are equal and empty only the first is tried.
"""


class Search:
    """`limit`: the number of steps after which it gives up."""

    def __init__(self, problem, start, limit=2000000):
        self.problem, self.left = problem, limit
        self.best, self.found = problem.cost(start) + 1e-9, list(start)
        self.order = _order(problem.traffic.near)
        self.innermost = problem.below[-1]
        self.prices = [[self._price(one, two)
                        for two in range(len(self.innermost))]
                       for one in range(len(self.innermost))]
        self.level = len(problem.at) - 1
        self.free = [end - begin for begin, end in self.innermost]
        self.part = [-1] * problem.ranks
        # What a rank would pay in each innermost part to those with slots.
        self.pay = [[0.0] * len(self.innermost)
                    for _ in range(problem.ranks)]

    def run(self):
        """The best placement; None: it gave up."""
        return self.found if self._place(0, 0.0) else None

    def _fresh(self):
        """The parts to try: those with room, less what equals an earlier
        one. Equal are parts below one parent on some level, all empty."""
        tried = set()
        for part, (begin, _) in enumerate(self.innermost):
            if not self.free[part]:
                continue
            key = self._kind(begin)
            if key is None or key not in tried:
                tried.add(key)
                yield part

    def _kind(self, slot):
        """What makes an empty part equal to others; None: it is not empty."""
        problem, key = self.problem, None
        for level in range(self.level, -1, -1):
            begin, end = problem.below[level][problem.at[level][slot]]
            if any(self._used(one) for one in self._inner(begin, end)):
                break
            outer = problem.at[level - 1][slot] if level else 0
            key = level, outer, self._shape(begin, end)
        return key

    def _inner(self, begin, end):
        return [i for i, (a, b) in enumerate(self.innermost)
                if begin <= a and b <= end]

    def _used(self, part):
        begin, end = self.innermost[part]
        return self.free[part] < end - begin

    def _shape(self, begin, end):
        return tuple(tuple(b - a for a, b in level if begin <= a and b <= end)
                     for level in self.problem.below)

    def _place(self, count, paid):
        self.left -= 1
        if self.left < 0:
            return False
        if count == len(self.order):
            self._keep(paid)
            return True
        rank = self.order[count]
        pay = self.pay[rank]
        for part in sorted(self._fresh(), key=lambda part: pay[part]):
            now = paid + pay[part]
            self._set(rank, part, 1)
            if now + self._least(count + 1) < self.best - 1e-9 and \
                    not self._place(count + 1, now):
                return False
            self._set(rank, part, -1)
        return True

    def _least(self, count):
        """What the ranks without slots pay at least to those with one."""
        open_parts = [part for part, free in enumerate(self.free) if free]
        return sum(min((self.pay[rank][part] for part in open_parts),
                       default=0.0) for rank in self.order[count:])

    def _price(self, one, two):
        """What an amount pays between two innermost parts."""
        a, b = (self.innermost[part][0] for part in (one, two))
        return sum(step for at, step in zip(self.problem.at, self.problem.step)
                   if at[a] != at[b])

    def _set(self, rank, part, sign):
        self.part[rank] = part if sign > 0 else -1
        self.free[part] -= sign
        for other, amount in self.problem.traffic.near[rank]:
            if self.part[other] < 0:
                pay = self.pay[other]
                for one in range(len(pay)):
                    pay[one] += sign * amount * self.prices[part][one]

    def _keep(self, paid):
        self.best = paid
        at = [begin for begin, _ in self.innermost]
        for rank, part in enumerate(self.part):
            self.found[rank] = at[part]
            at[part] += 1


def _order(near):
    """Ranks, each with the most traffic to those before it."""
    found, left = [], set(range(len(near)))
    into = [0] * len(near)
    while left:
        rank = max(left, key=lambda v: (
            into[v], sum(amount for _, amount in near[v]), -v))
        left.remove(rank)
        found.append(rank)
        for other, amount in near[rank]:
            into[other] += amount
    return found
