"""Ranks, calls and messages in words."""

from straightway import units
from straightway.ranges import ranges
from straightway.where.model import ANY

_MANY = 16              # ranks that a sentence names
_PIECES = 4             # ranges of ranks that a sentence names


def joined(words, last="and"):
    """a, b and c"""
    words = [str(word) for word in words]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def pieces(numbers):
    """[0, 1, "3-7"]: ranks, and ranges of three or more."""
    found = []
    for first, last in ranges(numbers):
        # Two ranks are no range.
        found += [first, last] if last == first + 1 else \
            [first if first == last else f"{first}-{last}"]
    return found


def ranks(numbers, suspects=False):
    """rank 7; ranks 0, 1 and 3; ranks 0-6; 31 ranks. Of suspects it always
    names some."""
    numbers = sorted(set(numbers))
    found = pieces(numbers)
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    if len(numbers) <= _MANY and len(found) <= _PIECES or \
            suspects and len(found) <= _PIECES:
        return f"ranks {joined(found)}"
    if suspects:
        return f"{len(numbers)} ranks ({', '.join(map(str, found[:4]))}, ...)"
    return f"{len(numbers)} ranks"


def verb(numbers, one, many):
    return one if len(set(numbers)) == 1 else many


def on(communicator):
    """ on 'solver'; "" where it is not known"""
    return f" on {communicator.label}" if communicator else ""


def collective(name, number, communicator):
    """MPI_Allreduce #4711 on 'solver'"""
    return f"{name}{f' #{number}' if number is not None else ''}" \
        + on(communicator)


def tag(value):
    """tag 8; any tag; a message"""
    return "any tag" if value == ANY else "a message" if value is None else \
        f"tag {value}"


def tags(values):
    """tag 9; tags 3, 4 and 5; tags 3, 4, 5 and others"""
    values = [str(v) for v in values]
    word = "tag" if len(values) == 1 else "tags"
    if len(values) > 3:
        values = [*values[:3], "others"]
    return f"{word} {joined(values)}"


def peer(value):
    """rank 3; any rank; a rank of another job"""
    if value == ANY:
        return "any rank"
    return f"rank {value}" if isinstance(value, int) else \
        "a rank of another job"


def size(count):
    return units.size(count)


def seconds(value):
    """0.2 s, 45 s, 12 min, 3.4 h; "" for an unknown time"""
    if value is None:
        return ""
    if value < 9.95:
        return f"{max(value, 0):.1f} s"
    if value < 600:
        return f"{value:.0f} s"
    if value < 36000:
        return f"{value / 60:.0f} min"
    return f"{value / 3600:.0f} h"
