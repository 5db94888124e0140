"""The `straightway` command that the examples run."""
import os
import shutil
import sys
from pathlib import Path


def command():
    """$STRAIGHTWAY_COMMAND, else the one beside this Python, else PATH's, else
    None."""
    beside = Path(sys.executable).parent / "straightway"
    return os.environ.get("STRAIGHTWAY_COMMAND") or (
        str(beside) if beside.exists() else shutil.which("straightway"))
