"""One report of the commands that a launcher has started, one on each node.

    mpirun -ppn 1 -n NODES straightway where

Process 0 shows the report. Each other process hands it a message: a file in
the folder in which all have started, and which nodes share as a rule. Process
0 removes what it has read. Where no one takes the message, the process shows
a report of its own.
"""

import contextlib
import hashlib
import json
import os
import time
import typing

from straightway.where import launched

PATIENCE = 10           # seconds for the other processes
_APART = 0.05           # seconds between looks at the folder
_NUMBERS = (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
            ("PMI_RANK", "PMI_SIZE"), ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))
_SHELLS = ("sh", "bash", "dash", "zsh")


class Part(typing.NamedTuple):
    number: int
    size: int
    about: str          # what the user has asked for

    def path(self, number=None):
        """The message of one of the processes."""
        key = hashlib.sha256(f"{self.size} {self.about}".encode()).hexdigest()
        number = self.number if number is None else number
        return f".straightway-where-{key[:12]}-{number}"


def part(about, environment=os.environ):
    """The Part of this process; None: no launcher has started it, or it alone.
    """
    for number, size in _NUMBERS:
        number, size = environment.get(number, ""), environment.get(size, "")
        if number.isdigit() and size.isdigit():
            found = Part(int(number), int(size), about)
            return found if found.size > 1 and _launched() else None
    return None


def _launched():
    """Whether a launcher has started this process, perhaps by a shell. What a
    rank starts has the rank's variables, too."""
    above = os.getppid()
    while found := launched.stat(above):
        if found[1].startswith(launched.LAUNCHERS):
            return True
        if found[1] not in _SHELLS:
            return False
        above = found[0]
    return False


def _make(path, text=""):
    """The state of a new file."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(path, flags, 0o600), "w") as file:
        file.write(text)
        file.flush()
        return os.fstat(file.fileno())


def _removed(path):
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def hand(mine, message, sleep=time.sleep):
    """Whether process 0 has taken the message of this one."""
    path, end = mine.path(), time.monotonic() + PATIENCE
    try:
        _make(f"{path}.new", json.dumps(message))
        os.replace(f"{path}.new", path)
    except OSError:
        return False
    try:
        while time.monotonic() < end:
            if not os.path.exists(path):
                return True
            sleep(_APART)
    except BaseException:
        _removed(path)
        raise
    return not _removed(path)


def _take(path, own):
    """A message; None where there is none, or one of an earlier command.
    `own`: the state of this process's new file, in the folder's time."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(path, flags)) as file:
            its = os.fstat(file.fileno())
            if its.st_uid != own.st_uid or \
                    its.st_mtime < own.st_mtime - PATIENCE:
                return None
            message = json.load(file)
    except (OSError, ValueError):
        return None
    # Its process may have given up meanwhile.
    return message if _removed(path) else None


def take(mine, sleep=time.sleep):
    """{number: message} of the other processes that give one in time."""
    found, end = {}, time.monotonic() + PATIENCE
    missing = list(range(1, mine.size))
    try:
        while missing and time.monotonic() < end:
            # A new file makes the folder's other files seen under NFS, too.
            own = _make(mine.path())
            for number in missing:
                message = _take(mine.path(number), own)
                if message is not None:
                    found[number] = message
            missing = [n for n in missing if n not in found]
            if missing:
                sleep(_APART)
    except OSError:
        pass                # a folder that takes no files
    finally:
        _removed(mine.path())
    return found
