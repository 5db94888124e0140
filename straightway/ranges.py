"""Ranges of ranks, as reports write them: 0-3, 7."""


class Ranges(list):
    """Ranges of numbers, [(first, last), ...]."""

    @property
    def count(self):
        return sum(last - first + 1 for first, last in self)

    def gaps(self, end):
        """The Ranges of the numbers from 0 to below `end` that are not here."""
        found, at = Ranges(), 0
        for first, last in [*self, (end, end)]:
            if at < min(first, end):
                found.append((at, min(first, end) - 1))
            at = last + 1
        return found

    def __str__(self):
        """0-3, 7"""
        return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in self)


def ranges(numbers):
    """The Ranges of some numbers."""
    found = Ranges()
    for n in sorted(set(numbers)):
        if found and found[-1][1] == n - 1:
            found[-1] = (found[-1][0], n)
        else:
            found.append((n, n))
    return found
