"""The file of a run in turns: epochs in which Straightway was off or on.

    run = turns.load(path)
    for pair in run.pairs: ...

The library cuts such a run into epochs of whole periods. It ends each epoch at
a blocking collective of all ranks, and draws which epoch of a pair comes first.
Rank 0 writes the file in MPI_Finalize. This module checks the file, since a run
that ended badly may have cut it.
"""

import dataclasses
import json

from straightway.errors import UserError

SCHEMA = "straightway-turns/1"
COLUMNS = ["side", "pair", "began_ns", "calls", "flags"]
HOST, OURS = 0, 1                   # sides
LEARNING, LOOSE = 1, 2              # flags
STATES = ("turned", "learning", "threads", "no collective")


@dataclasses.dataclass
class Epoch:
    """A stretch of the run on one side. Times are ns."""

    side: int
    pair: int               # -1: none
    began: int
    calls: int              # blocking collectives of all ranks
    flags: int
    times: list             # of each rank, until its own arrival at the end

    @property
    def learning(self):
        return bool(self.flags & LEARNING)

    @property
    def loose(self):
        """Whether it ends within a period."""
        return bool(self.flags & LOOSE)

    @property
    def time(self):
        """The slowest rank's."""
        return max(self.times)

    @property
    def per_call(self):
        return self.time / self.calls if self.calls else 0.0


@dataclasses.dataclass
class Pair:
    """Two neighbouring epochs, one of each side."""

    host: Epoch
    ours: Epoch

    @property
    def calls(self):
        """Of one side, on average."""
        return (self.host.calls + self.ours.calls) / 2

    def sides(self, rank=None):
        """(host's ns, ours) for the same number of calls: those of the slowest
        rank, or of the one given."""
        return tuple(
            (one.time if rank is None else one.times[rank])
            * self.calls / one.calls for one in (self.host, self.ours))


@dataclasses.dataclass
class Run:
    """A run in turns. `pairs` are those whose two epochs have time and calls;
    `unused` counts the other pairs."""

    ranks: int
    state: str
    began: int
    ended: int
    init: list              # ns of each rank in Straightway's part of MPI_Init
    same: bool              # both sides were the MPI alone, as a check
    calls: int
    period: int             # calls in a period; 0: none found
    messages: str
    messages_why: str
    switches: int
    switching: int          # ns of rank 0
    epochs: list
    pairs: list
    unused: int

    @property
    def learnt(self):
        """The epochs before the turns began."""
        return [e for e in self.epochs if e.learning]

    @property
    def periods(self):
        """How many periods of the program all pairs hold."""
        calls = sum(p.host.calls + p.ours.calls for p in self.pairs)
        return calls // self.period if self.period else 0

    @property
    def loose(self):
        """The part of the turns' epochs that ended within a period."""
        turned = [e for e in self.epochs if not e.learning]
        return sum(e.loose for e in turned) / len(turned) if turned else 0.0


def _whole(value, least=0):
    return type(value) is int and value >= least


def _wrong(found):
    """What is wrong with the file's content, or None."""
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        return f"its schema is not {SCHEMA}"
    for name in ("ranks", "began_ns", "ended_ns", "calls", "period",
                 "switches", "switching_ns"):
        if not _whole(found.get(name)):
            return f'"{name}" is no whole number'
    if found.get("state") not in STATES:
        return f'"state" is {found.get("state")!r}'
    if found.get("columns") != COLUMNS:
        return "its columns have other names"
    ranks, init = found["ranks"], found.get("init_ns")
    if not ranks or not isinstance(init, list) or len(init) != ranks or \
            not all(map(_whole, init)):
        return '"init_ns" has not one time for each rank'
    epochs, times = found.get("epochs"), found.get("times")
    if not isinstance(epochs, list) or not isinstance(times, list) or \
            len(epochs) != len(times):
        return "epochs and times differ in number"
    for i, (row, ns) in enumerate(zip(epochs, times)):
        if not isinstance(row, list) or len(row) != len(COLUMNS) or \
                not all(_whole(n, -1) for n in row) or \
                row[0] not in (HOST, OURS):
            return f"epoch {i} cannot be read"
        if not isinstance(ns, list) or len(ns) != ranks or \
                not all(map(_whole, ns)):
            return f"epoch {i} has not one time for each of {ranks} ranks"
    return None


def _pairs(epochs):
    """([Pair], how many pairs lack an epoch, time or calls)"""
    found = {}
    for one in epochs:
        if one.pair >= 0 and not one.learning:
            found.setdefault(one.pair, []).append(one)
    pairs = []
    for both in found.values():
        sides = {one.side: one for one in both}
        if len(both) == len(sides) == 2 and all(
                one.calls and min(one.times) for one in both):
            pairs.append(Pair(sides[HOST], sides[OURS]))
    return pairs, len(found) - len(pairs)


def load(path):
    """The Run of a file. UserError where it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        raise UserError("the run has written no file of its turns", 1) from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None
    except ValueError:
        raise UserError(f"{path} is no JSON, or was cut short: the run ended "
                        "while it was written, or the disk was full", 1) \
            from None
    wrong = _wrong(found)
    if wrong:
        raise UserError(f"{path} is no file of a run in turns: {wrong}", 1)
    epochs = [Epoch(*row, ns) for row, ns in zip(found["epochs"],
                                                 found["times"])]
    pairs, unused = _pairs(epochs)
    return Run(found["ranks"], found["state"], found["began_ns"],
               found["ended_ns"], found["init_ns"],
               bool(found.get("same")), found["calls"], found["period"],
               str(found.get("messages", "")),
               str(found.get("messages_why", "")), found["switches"],
               found["switching_ns"], epochs, pairs, unused)
