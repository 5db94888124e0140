"""The parts of a calibration (measured.PARTS) that a known program needs."""

from straightway.capture import procedures
from straightway.whatif import measured


def of(names):
    """The parts that calls of these procedures need."""
    found = set()
    for name in names:
        word = procedures.stem(name)
        kind = procedures.class_of(name)
        if kind == "nonblocking collective":
            word = word[1:]
        if kind in ("nonblocking collective", "persistent collective"):
            found.add(measured.NONBLOCKING)
            word = word.removesuffix("_init")
        if kind == "one-sided" or word.startswith("Win_"):
            found.add(measured.WINDOWS)
        if name.startswith("straightway_"):
            found.add(measured.GIVEN_BLOCKS)
        found.add(word.lower())
    return frozenset(found) & measured.PARTS
