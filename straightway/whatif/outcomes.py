"""The result of a run in virtual time, or of a replay.

Times are ns, those of the program between MPI_Init and MPI_Finalize.
"""

import dataclasses

from straightway.bench import medians
from straightway.errors import UserError


@dataclasses.dataclass
class RankTime:
    """Where a rank's time went; the parts add up to `end`."""

    end: float
    compute: float
    noise: float
    messages: float
    collectives: float
    waiting: float = 0.0        # part of messages and collectives


@dataclasses.dataclass
class Section:
    """A region of the program, including those within it (profile.RegionTime).
    """

    name: str                   # "outer/inner"; "" is outside of all
    ranks: int                  # that entered it
    sums: RankTime              # over all ranks; `end`: all their time in it
    longest: int                # the rank with the longest time in it,
    most: RankTime              # and that time

    @property
    def share(self):
        """Communication's part of all ranks' time in it."""
        return (self.sums.messages + self.sums.collectives) / \
            self.sums.end if self.sums.end else 0.0

    def describe(self):
        """For JSON: seconds."""
        return {"name": self.name, "ranks": self.ranks,
                "time_s": self.most.end / 1e9, "longest": self.longest,
                "communication": self.share,
                "all": seconds_of(self.sums), "most": seconds_of(self.most)}


def seconds_of(t):
    return {"time_s": t.end / 1e9, "compute_s": t.compute / 1e9,
            "noise_s": t.noise / 1e9, "messages_s": t.messages / 1e9,
            "collectives_s": t.collectives / 1e9,
            "waiting_s": t.waiting / 1e9}


@dataclasses.dataclass
class Outcome:
    """The result of a run in virtual time, or of a replay."""

    ranks: int
    end: float                  # of the last rank
    operations: int = 0
    messages: int = 0
    bytes: int = 0
    collectives: dict = dataclasses.field(default_factory=dict)
                                # {name: (calls, ns over all ranks)}
    wildcards: int = 0
    undecided: int = 0
    disordered: int = 0
    forced: int = 0             # steps without full knowledge
    times: list = dataclasses.field(default_factory=list)
    sums: RankTime = None       # over all ranks
    sections: list = dataclasses.field(default_factory=list)
                                # [Section], by name; the first is outside of
                                # all
    extrapolated: bool = False
    damaged: int = 0            # parts of the file that the replay left out
    notes: list = dataclasses.field(default_factory=list)

    @property
    def elapsed(self):
        """Time of all ranks together."""
        return self.sums.end if self.sums and self.sums.end else \
            self.end * self.ranks

    @property
    def parts(self):
        """{what: its part of all ranks' time}; a rank that ends early waits.
        """
        whole = self.end * self.ranks or 1
        s = self.sums
        if not s:
            return {}
        return {"compute": (s.compute + s.noise) / whole,
                "messages": s.messages / whole,
                "collectives": s.collectives / whole,
                "ended": max(0.0, 1 - s.end / whole)}

    def describe(self):
        """For JSON: seconds."""
        return {
            "time_s": self.end / 1e9, "ranks": self.ranks,
            "operations": self.operations, "messages": self.messages,
            "bytes": self.bytes,
            "share": {k: v for k, v in self.parts.items() if k != "ended"},
            "collectives": {name: {"calls": calls, "time_s": ns / 1e9}
                            for name, (calls, ns)
                            in self.collectives.items()},
            "wildcards": self.wildcards, "undecided": self.undecided,
            "disordered": self.disordered, "forced": self.forced,
            "sections": [one.describe() for one in self.sections],
            "extrapolated": self.extrapolated,
            "damaged": self.damaged, "notes": self.notes}


def outcome(found):
    """The Outcome of a result in the form of straightway-whatif (result.h).
    UserError for a deadlock, or where the engine could not go on."""
    if found.get("state", "done") == "deadlock":
        raise UserError(_deadlock(found), 1)
    if found.get("state") == "wrong":
        raise UserError("the prediction has failed: "
                        + "; ".join(found.get("notes", ())), 1)
    times = [_rank_time(one) for one in found.get("rank_times", ())]
    sums = found.get("sums")
    return Outcome(
        found["ranks"], found["end_ns"], found.get("operations", 0),
        found.get("messages", 0), found.get("bytes", 0),
        {name: (one["calls"], one["time_ns"])
         for name, one in found.get("collectives", {}).items()
         if one["calls"]},
        found.get("wildcards", 0), found.get("undecided", 0),
        found.get("disordered", 0), found.get("forced", 0), times,
        _rank_time(sums) if sums else _added(times),
        sorted((Section(one["name"], one["ranks"], _rank_time(one["sums"]),
                        one["longest"], _rank_time(one["most"]))
                for one in found.get("sections", ())),
               key=lambda section: section.name),
        bool(found.get("extrapolated")), found.get("damaged", 0),
        list(found.get("notes", ())))


def _added(times):
    return RankTime(*(sum(getattr(t, f.name) for t in times)
                      for f in dataclasses.fields(RankTime)))


def _rank_time(one):
    return RankTime(*(one.get(f.name + "_ns", 0.0)
                      for f in dataclasses.fields(RankTime)))


MOST_STUCK = 8


def _deadlock(found):
    stuck = found.get("stuck", [])
    lines = [f"\n  rank {one['rank']}: {one['waits_for']}"
             for one in stuck[:MOST_STUCK]]
    more = found.get("stuck_ranks", len(stuck)) - MOST_STUCK
    if more > 0:
        lines.append(f"\n  and {more} more ranks")
    return ("the program is in a deadlock in virtual time: no rank can ever "
            "go on" + "".join(lines))


def spread(samples):
    """{"median", "low", "high", "samples"} of times in ns, as seconds."""
    seconds = [ns / 1e9 for ns in samples]
    return {"median_s": medians.median(seconds), "low_s": min(seconds),
            "high_s": max(seconds), "samples_s": seconds}
