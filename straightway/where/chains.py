"""From the ranks that wait to the root of the waiting.

The ranks and the meetings are nodes of a graph; an arrow runs from what waits
to what could end the waiting. Ranks of a strongly connected part wait for each
other: nothing outside can free them. All other chains end at ranks that do not
wait for others: these are the roots.

Invariant: each step takes time in proportion to the nodes and the arrows.
Meetings are nodes, so that a hundred ranks which wait for a hundred others are
two hundred arrows.
"""

import collections
import dataclasses

from straightway.where import standing


def suspects(need):
    return need.meeting.suspects if need.meeting is not None \
        else need.suspects


@dataclasses.dataclass(eq=False)
class Root:
    """Ranks that keep others, and by which need or meeting."""

    by: object              # a Meeting, an Anyone or a Need
    ranks: list             # those that end the chain
    direct: list            # needs that name them
    waiting: set            # ranks that wait for them, others between or not


class Graph:
    """The needs of a View as a graph."""

    def __init__(self, view):
        self.view = view
        self.waits = {n for n, needs in view.needs.items() if any(
            suspects(need) for need in needs)}
        self.before = collections.defaultdict(list)
        self.needs_of = collections.defaultdict(list)
        self._are_closed = {}
        seen = set()
        for number in sorted(self.waits):
            for need in view.needs[number]:
                if need.meeting is None:
                    for other in need.suspects:
                        self.before[other].append(need)
                    continue
                self.needs_of[need.meeting].append(need)
                if need.meeting not in seen:
                    seen.add(need.meeting)
                    for other in need.meeting.suspects:
                        self.before[other].append(need.meeting)

    def _after(self, node):
        """The nodes that a node waits for, all of which it needs."""
        if isinstance(node, int):
            found = []
            for need in self.view.needs.get(node, ()):
                if not need.optional or self._closed(node):
                    found += [need.meeting] if need.meeting is not None \
                        else need.suspects
            return found
        if not hasattr(node, "begun"):      # anyone may send
            return node.suspects if all(
                n in self.waits for n in node.suspects) else []
        return node.suspects

    def _closed(self, number):
        """Whether no rank outside the waiting could meet one of the needs of
        MPI_Waitany."""
        if number not in self._are_closed:
            self._are_closed[number] = all(
                n in self.waits for need in self.view.needs[number]
                for n in suspects(need))
        return self._are_closed[number]

    def circles(self):
        """Sets of ranks that wait for each other: Tarjan's algorithm without
        recursion, for chains may be long."""
        index, low, stack, on = {}, {}, [], set()
        found = []
        for start in sorted(self.waits):
            if start in index:
                continue
            work = [(start, iter(self._after(start)))]
            index[start] = low[start] = len(index)
            stack.append(start)
            on.add(start)
            while work:
                node, left = work[-1]
                for other in left:
                    if isinstance(other, int) and other not in self.waits:
                        continue
                    if other not in index:
                        index[other] = low[other] = len(index)
                        stack.append(other)
                        on.add(other)
                        work.append((other, iter(self._after(other))))
                        break
                    if other in on:
                        low[node] = min(low[node], index[other])
                else:
                    work.pop()
                    if work:
                        above = work[-1][0]
                        low[above] = min(low[above], low[node])
                    if low[node] == index[node]:
                        part = set()
                        while True:
                            one = stack.pop()
                            on.discard(one)
                            part.add(one)
                            if one is node or one == node:
                                break
                        if self._is_circle(part):
                            found.append(part)
        return found

    def _is_circle(self, part):
        ranks = [n for n in part if isinstance(n, int)]
        if len(ranks) != 1:
            return len(ranks) > 1
        return any(need.meeting is None and ranks[0] in need.suspects
                   for need in self.view.needs[ranks[0]])

    def roots(self):
        """The Roots, that with the most waiting ranks first. A rank counts for
        the worst root that its chain reaches."""
        taken, found = set(), {}
        ends = [n for n in self.before if n not in self.waits]
        rank_of = {kind: i for i, kind in enumerate(standing.WORST)}
        kind = {n: self.view.stands.get(n, standing.UNSEEN) for n in ends}
        for level in standing.WORST:
            those = sorted(n for n in ends if kind[n] == level)
            queue = collections.deque()
            for end in those:
                for by in self.before[end]:
                    root = found.get(by)
                    if root is None:
                        root = found[by] = Root(by, [], [], set())
                        queue.append((by, root))
                    if not root.ranks or kind[root.ranks[0]] == level:
                        root.ranks.append(end)
            self._spread(queue, taken)
        for root in found.values():
            root.direct = self.needs_of[root.by] \
                if root.by in self.needs_of else [root.by]
        return sorted((r for r in found.values() if r.waiting),
                      key=lambda r: (rank_of[kind[r.ranks[0]]] > 4,
                                     -len(r.waiting), r.ranks))

    def _spread(self, queue, taken):
        """Give each rank to the root that reaches it first."""
        while queue:
            by, root = queue.popleft()
            if by in taken:
                continue
            taken.add(by)
            ranks = [need.rank for need in self.needs_of[by]] \
                if by in self.needs_of else [by.rank]
            for number in ranks:
                if number in taken:
                    continue
                taken.add(number)
                root.waiting.add(number)
                queue.extend((other, root)
                             for other in self.before.get(number, ()))
