"""Placements by descent: from the machine's outermost level to its innermost.

On each level the ranks of a part of the machine are divided among the parts
below it: by halves, then halves of these (halving.py). Then every two parts
with traffic between them exchange ranks while that gains (settle()). The
levels below are not looked at, since none of them changes what a level pays.

A descent may start from a placement. It then keeps how the ranks of a part are
divided, wherever the part still has the same ranks.
"""

from straightway.mapping import halving

ROUNDS = 6
PAIRS = 16              # that exchange, for each part; those with most traffic
FEW_PAIRS = 8           # where most parts have some traffic with most others


def induced(near, members):
    """The graph of some vertices, numbered as they stand."""
    number = {v: i for i, v in enumerate(members)}
    return [[(number[u], amount) for u, amount in near[v] if u in number]
            for v in members]


def divide(near, members, sizes, seed, tries=1):
    """Members in lists of these sizes, with little traffic between them."""
    if len(sizes) == 1:
        return [members]
    if max(sizes) == 1:
        return [[v] for v in members]
    middle = (len(sizes) + 1) // 2
    target, graph = sum(sizes[:middle]), induced(near, members)
    side = min((halving.halve(graph, target, seed + 7919 * i)
                for i in range(tries)),
               key=lambda side: halving.cut(graph, side))
    halves = [[v for v, s in zip(members, side) if s == half]
              for half in (0, 1)]
    return divide(near, halves[0], sizes[:middle], seed, tries) + \
        divide(near, halves[1], sizes[middle:], seed, tries)


# Two parts ------------------------------------------------------------------

class Level:
    """The ranks on one level of a Problem: `part` of each rank."""

    def __init__(self, problem, level, part):
        self.problem, self.level, self.part = problem, level, part
        self.members = [[] for _ in problem.below[level]]
        for rank, one in enumerate(part):
            self.members[one].append(rank)

    def pairs(self):
        """Parts with traffic between them: [(one, two)], the most first."""
        found = {}
        for rank, near in enumerate(self.problem.graph):
            here = self.part[rank]
            for other, amount in near:
                there = self.part[other]
                if here < there:
                    found[here, there] = found.get((here, there), 0) + amount
        order = sorted(found, key=lambda pair: (-found[pair], pair))
        most = FEW_PAIRS if self.problem.is_thinned else PAIRS
        return order[:most * len(self.members)]

    def _bias(self, one, two, ranks):
        """What each rank gains in `two` beside its traffic with both parts:
        nothing, where no other part tells them apart."""
        problem, level = self.problem, self.level
        first, second = (problem.below[level][part][0] for part in (one, two))
        if level == 0 or problem.at[level - 1][first] == \
                problem.at[level - 1][second]:
            return None
        prices = {}
        found = []
        for rank in ranks:
            gain = 0
            for other, amount in problem.graph[rank]:
                there = self.part[other]
                if there not in (one, two):
                    if there not in prices:
                        prices[there] = problem.price(level, one, there) - \
                            problem.price(level, two, there)
                    gain += amount * prices[there]
            found.append(gain)
        return found

    def exchange(self, one, two):
        """Exchange ranks of two parts while that gains; whether it did."""
        first, second = self.members[one], self.members[two]
        ranks = first + second
        side = [0] * len(first) + [1] * len(second)
        graph = induced(self.problem.graph, ranks)
        bias = self._bias(one, two, ranks)
        if bias:
            price = self.problem.price(self.level, one, two)
            bias = [gain / price for gain in bias]
        if halving.improve(graph, [1] * len(ranks), side, len(first),
                           bias=bias) <= 1e-9:
            return False
        self._put(one, [v for v, s in zip(ranks, side) if not s])
        self._put(two, [v for v, s in zip(ranks, side) if s])
        return True

    def _put(self, part, ranks):
        self.members[part] = ranks
        for rank in ranks:
            self.part[rank] = part

    def settle(self, rounds=ROUNDS):
        """Let all pairs exchange, as long as one of a pair has changed."""
        changed = None
        for _ in range(rounds):
            now = set()
            for one, two in self.pairs():
                if changed is None or one in changed or two in changed or \
                        one in now or two in now:
                    if self.exchange(one, two):
                        now |= {one, two}
            if not now:
                break
            changed = now


    # More than two ----------------------------------------------------------

    def _group(self, below, count):
        """Some parts near each other: those of ranks round a random one."""
        first = below(self.problem.ranks)
        found, seen, queue = [self.part[first]], {first}, [first]
        for rank in queue:
            for other, _ in self.problem.graph[rank]:
                if other in seen:
                    continue
                seen.add(other)
                part = self.part[other]
                if part not in found:
                    found.append(part)
                    if len(found) == count:
                        return found
                queue.append(other)
        if len(found) < min(2, len(self.members)):
            found.append((found[0] + 1 + below(len(self.members) - 1))
                         % len(self.members))
        return found

    def _pays(self, ranks):
        """What some ranks pay on these levels; between two of them, half."""
        found, inside = 0, set(ranks)
        part, price, level = self.part, self.problem.price, self.level
        for rank in ranks:
            here = part[rank]
            for other, amount in self.problem.graph[rank]:
                there = part[other]
                if there != here:
                    found += amount * price(level, here, there) * (
                        0.5 if other in inside else 1)
        return found

    def _regroup(self, parts, seed):
        """Divide the ranks of some parts anew; keep that if it is no worse."""
        before = [(part, self.members[part]) for part in parts]
        ranks = sorted(v for _, members in before for v in members)
        paid = self._pays(ranks)
        lists = divide(self.problem.graph, ranks,
                       [len(members) for _, members in before], seed)
        for (part, _), members in zip(before, lists):
            self._put(part, members)
        for _ in range(2):
            if not any([self.exchange(one, two) for i, one in enumerate(parts)
                        for two in parts[i + 1:]]):
                break
        now = self._pays(ranks)
        if now > paid + 1e-9:
            for part, members in before:
                self._put(part, members)
        return now < paid - 1e-9

    def regroup(self, effort, seed=1):
        """Divide groups of neighbouring parts anew, up to an effort: so many
        entries of their graphs."""
        below = halving.numbers(seed)
        while effort > 0 and len(self.members) > 1:
            parts = self._group(below, 2 + below(3))
            effort -= 200 + sum(len(self.problem.graph[v]) + 4 for part in parts
                                for v in self.members[part])
            self._regroup(parts, below(1 << 30))


# All levels -----------------------------------------------------------------

def _divisions(problem, level, start):
    """{ranks of a part: its ranks in the parts below} in a placement."""
    found = {}
    for begin, end, inner in _inner(problem, level):
        by_part = [start[a:b] for a, b in inner]
        found[frozenset(start[begin:end])] = [sorted(one) for one in by_part]
    return found


def _inner(problem, level):
    """(begin, end, [(begin, end) of the parts below]) of the parts of the
    level above this one."""
    outer = problem.below[level - 1] if level else [(0, problem.ranks)]
    at, below = 0, problem.below[level]
    for begin, end in outer:
        first = at
        while at < len(below) and below[at][1] <= end:
            at += 1
        yield begin, end, below[first:at]


def descend(problem, seed=1, start=None, tries=1, effort=0):
    """A placement. `start`: one to begin with; `effort`: of Level.regroup(),
    for each level."""
    ranks = list(range(problem.ranks))
    begun = None
    if start:
        begun = [0] * problem.ranks
        for rank, slot in enumerate(start):
            begun[slot] = rank
    for level in range(len(problem.at)):
        known = _divisions(problem, level, begun) if begun else {}
        part, number = [0] * problem.ranks, 0
        for begin, end, inner in _inner(problem, level):
            members = sorted(ranks[begin:end])
            lists = known.get(frozenset(members)) or divide(
                problem.graph, members, [b - a for a, b in inner], seed, tries)
            for one in lists:
                for rank in one:
                    part[rank] = number
                number += 1
        here = Level(problem, level, part)
        here.settle()
        here.regroup(effort, seed)
        ranks = [rank for one in here.members for rank in sorted(one)]
    placement = [0] * problem.ranks
    for slot, rank in enumerate(_as_begun(ranks, begun, problem)):
        placement[rank] = slot
    return placement


def _as_begun(ranks, begun, problem):
    """The ranks in the order of slots; the innermost parts that are as they
    began keep their order."""
    if not begun or not problem.below:
        return ranks
    found = list(ranks)
    for begin, end in problem.below[-1]:
        if sorted(begun[begin:end]) == sorted(ranks[begin:end]):
            found[begin:end] = begun[begin:end]
    return found
