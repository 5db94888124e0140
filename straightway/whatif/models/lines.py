"""A model as lines, which are data, and their text.

A line is a tuple: a word of src/vtime/model/model_file.h, then its fields. A
dict among these stands for KEY VALUE ..., a list for numbers as in 4x4. A layer
is a list of lines, and a later layer replaces settings of an earlier one that
exist once. Rules of collectives add up, because the last that fits a call
counts.

A line rounds its numbers to the digits that its text has. So Python sees the
numbers that the engine reads.
"""

DIGITS = 15     # exact to a ps in 1000 s
INSIDE = ("self", "domain", "node")     # the links of a node

# How many of a line's first fields name the setting that exists once, and the
# words that share a setting with another.
_ONCE = {"place": 1, "link": 2, "access": 3, "locks": 2, "state": 2,
         "network": 1, "noise": 1, "cpu_speed": 1, "reduce": 1, "test": 1,
         "node_speed": 1, "loggopsim": 1}
_WITH = {"place_rank": "place", "point": "link", "given": "link"}


def _rounded(value, digits):
    if isinstance(value, dict):
        return {key: _rounded(one, digits) for key, one in value.items()}
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


class Line(tuple):
    """One line, whose fractions have `digits` digits at most."""

    def __new__(cls, *fields, digits=DIGITS):
        self = super().__new__(cls, (_rounded(f, digits) for f in fields))
        self.digits = digits
        return self

    def __str__(self):
        return " ".join(map(self._text, self))

    def _text(self, value):
        if isinstance(value, dict):
            return " ".join(f"{key} {self._text(one)}"
                            for key, one in value.items())
        if isinstance(value, list):
            return "x".join(map(str, value))
        return str(value) if isinstance(value, (str, int)) else \
            f"{value:.{self.digits}g}"

    @property
    def setting(self):
        """The setting that exists once: ("place",), ("link", "node"), ...; None
        for lines that add up."""
        word = _WITH.get(self[0], self[0])
        return (word, *self[1:_ONCE[word]]) if word in _ONCE else None


def combine(ranks, layers):
    """The lines of the whole model."""
    found = []
    for layer in layers:
        taken = {line.setting for line in layer} - {None}
        if taken & {("link", kind) for kind in INSIDE}:
            # Another node's: its one-sided calls are others, too.
            found = [line for line in found
                     if line[0] not in ("access", "locks")]
        found = [line for line in found if line.setting not in taken]
        found += [line for line in layer if line[0] != "ranks"]
    # A later layer may also have the states of an earlier layer's tables.
    found.sort(key=lambda line: line[0] != "state")
    return [Line("ranks", ranks), *found]


def text(lines):
    """The text for the engine."""
    return "".join(f"{line}\n" for line in lines)
