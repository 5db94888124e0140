"""Mistakes that the user can mend, and hints that help to mend them."""

import difflib
import re

# Control characters of ISO 6429, but for tabs and ends of lines.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class UserError(Exception):
    """One line (or a few) for the user, and the exit status."""

    def __init__(self, message, status=2):
        super().__init__(message)
        self.status = status


def nearest(word, known, otherwise=None, cutoff=0.6):
    """The hint for an unknown word: the nearest known one, else `otherwise`,
    else all known ones."""
    near = difflib.get_close_matches(str(word), known, 1, cutoff)
    return f"did you mean {near[0]}?" if near else \
        otherwise or "give one of " + ", ".join(known)


def printable(text):
    """A text whose control characters are shown and not sent: names in files
    may hold what a terminal obeys."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
