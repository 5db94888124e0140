"""The native program's answers: what the processes of this node show.

Two looks tell a job that moves from one that hangs. The first is cheap, and
names the jobs. The second comes 50 ms later, of the processes of one job, with
the stacks. A thread whose calls have ended in between moves.
"""

import dataclasses
import time

from straightway import native
from straightway.where import launched

APART = 0.05            # seconds between the looks
PATIENCE = 60           # seconds for the native program


@dataclasses.dataclass
class Reading:
    plain: dict             # as the native program prints it
    launched: dict          # {pid: launched.Launched}
    moved: frozenset        # (pid, tid), ...


def ask(*words):
    """A reading as the native program prints it."""
    found = native.answer(native.where_executable(), words, timeout=PATIENCE)
    return found if isinstance(found, dict) else {}


def finished(plain):
    """{(pid, tid): calls that have ended}"""
    return {(p.get("pid"), t.get("tid")): t.get("finished")
            for p in plain.get("processes") or ()
            for t in p.get("threads") or ()}


def quick():
    """(Reading without stacks, the time) of all processes of this user."""
    plain = ask("--list")
    now = time.monotonic()
    return Reading(plain, launched.known(plain), frozenset()), now


def full(pids, before, since, sample=True, pause=time.sleep):
    """The Reading of some processes. `before`: the Reading of the first look,
    `since`: its time."""
    pause(max(0.0, APART - (time.monotonic() - since)))
    plain = ask(*([] if sample else ["--no-sample"]), *pids)
    first, last = finished(before.plain), finished(plain)
    moved = frozenset(key for key, count in last.items()
                      if key in first and first[key] != count)
    return Reading(plain, launched.known(plain), moved)
