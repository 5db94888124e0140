"""The user's folders in which Straightway keeps things between commands."""

import os
import pathlib

from straightway.errors import UserError


def folder(variable, below):
    """The one in the folder that $`variable` names, else in `below` of $HOME.
    A shell's ~ has more sources, but the library reads this one alone.
    UserError: neither is set."""
    home = os.environ.get("HOME")
    given = os.environ.get(variable) or (home and os.path.join(home, below))
    if not given:
        raise UserError(f"neither HOME nor {variable} is set", 1)
    return pathlib.Path(given, "straightway")
