"""The figures of a run in turns: its gain, what Straightway costs once, and
whether the turns can tell.

    found = section(run, profile)
    if found["why"]: ...        # the turns cannot tell, in a sentence

`run` is a turns.Run. Gains are parts of the host's time, for the slowest rank
of each epoch. Plain data, for the report.
"""

import statistics

from straightway import units
from straightway.study import estimate, sites
from straightway.study.turns import HOST, OURS

LEAST_PERIODS = 30
LOOSE = 0.5             # of the epochs: these end within a period
SMALL = 0.005           # a gain that no run is made longer for
_STATES = {
    "learning": "The run ended while Straightway still learnt the program's "
    "period.",
    "threads": "Several threads of a rank call collectives, which cannot take "
    "turns together.",
    "no collective": "The program calls no blocking collective of all ranks, "
    "at which turns could change."}


def _why(run):
    """Why the turns cannot tell, or None."""
    if run.state in _STATES:
        return _STATES[run.state]
    if not run.period:
        return ("The program's collectives repeat in no period, so epochs of "
                "equal work cannot be told.")
    if run.loose > LOOSE:
        return (f"Of the epochs {units.share(run.loose)} ended within a "
                "period of the program: their work is not equal.")
    if len(run.pairs) < estimate.LEAST_PAIRS:
        return (f"The run has {units.plural(len(run.pairs), 'pair')} of "
                f"epochs, and an interval takes {estimate.LEAST_PAIRS}.")
    if run.periods < LEAST_PERIODS:
        return (f"The run has {units.plural(run.periods, 'period')} of the "
                f"program in turns, and an estimate takes {LEAST_PERIODS}.")
    return None


def _gain(found):
    return found and {"gain": found.gain, "low": found.low,
                      "high": found.high}


def _learning(run):
    """ns that the learning took beyond as many later calls; None: not known,
    as it had less than two periods."""
    learnt = [e for e in run.learnt if e.side == OURS]
    calls = sum(e.calls for e in learnt)
    if not run.pairs or not run.period or calls < 2 * run.period:
        return None
    steady = statistics.median(p.ours.per_call for p in run.pairs)
    return max(0.0, sum(e.time for e in learnt) - calls * steady)


def _once(run, found):
    """What Straightway costs once, at most, and the time that pays it back."""
    init, learning = max(run.init), _learning(run)
    once = pays = None
    if learning is not None:
        once = (init + learning) / 1e9
        if found and found.low > 0:
            pays = once * (1 - found.gain) / found.gain
    return {"init_s": init / 1e9, "once_s": once, "pays_back_s": pays}


def _longer(run, found):
    """How much longer a run would tell its gain, or a small one; None: this
    run tells."""
    if found is None or found.apart or found.half <= SMALL:
        return None
    gain = max(abs(found.gain), SMALL)
    times = (found.half / gain) ** 2
    return {"gain": gain, "times": times,
            "seconds": times * (run.ended - run.began) / 1e9} \
        if times > 1 else None


def _messages(run, p):
    """Did messages take turns? "none": there are none."""
    return run.messages if any(r.kind in sites.PLAIN for r in p.records) \
        else "none"


def section(run, p):
    """`p`: the run's Profile. The `bound`, which is the most that free
    communication gains, comes from the prediction."""
    pairs = [one.sides() for one in run.pairs]
    whole, typical = estimate.whole(pairs), estimate.typical(pairs)
    return {
        "state": run.state, "why": _why(run),
        **(_gain(whole) or dict.fromkeys(("gain", "low", "high"))),
        "apart": bool(whole and whole.apart),
        "spikes": whole.spikes if whole else 0.0,
        "typical": _gain(typical),
        "differ": bool(whole and estimate.differ(whole, typical)),
        "ranks": [_gain(estimate.whole([one.sides(rank) for one in run.pairs]))
                  for rank in range(run.ranks)] if whole else [],
        "bound": None, **_once(run, whole), "longer": _longer(run, whole),
        "pairs": len(run.pairs), "unused": run.unused, "period": run.period,
        "periods": run.periods, "loose": run.loose, "same": run.same,
        "switches": run.switches, "switching_s": run.switching / 1e9,
        "messages": _messages(run, p), "messages_why": run.messages_why,
        "left_out": sites.left_out(p),
        "sites": sites.section(p, run.messages == "turns"),
        "epochs": [{"side": ("host", "ours")[e.side], "learning": e.learning,
                    "began_s": (e.began - run.began) / 1e9, "calls": e.calls,
                    "time_s": e.time / 1e9} for e in run.epochs]}


def failed(why):
    """The section of a run in turns that told nothing at all."""
    return dict(
        dict.fromkeys(("state", "gain", "low", "high", "typical", "bound",
                       "init_s", "once_s", "pays_back_s", "longer")),
        why=why, apart=False, spikes=0.0, differ=False, ranks=[], pairs=0,
        unused=0, period=0, periods=0, loose=0.0, same=False, switches=0,
        switching_s=0.0, messages="", messages_why="", left_out=[], sites=[],
        epochs=[])


def whole_run(run, found, wall):
    """{"host": spread, "ours": spread, ...} of the whole run on either side,
    by its gain: as figures.side_by_side. `wall`: ns of the run as it was."""
    took = {side: sum(e.time for e in run.epochs if e.side == side)
            for side in (HOST, OURS)}
    wall -= min(wall / 2, run.switching)

    def host(gain):
        return wall * (took[HOST] + took[OURS] / (1 - gain)) \
            / (took[HOST] + took[OURS]) / 1e9

    gains = found["gain"], found["low"], found["high"]
    sides = {"host": [host(gain) for gain in gains],
             "ours": [host(gain) * (1 - gain) for gain in gains]}
    return {"how": "turns", **{
        side: {"median_s": all_[0], "low_s": min(all_), "high_s": max(all_),
               "samples_s": []} for side, all_ in sides.items()},
        "speed_up": 1 / (1 - found["gain"]), "apart": found["apart"]}
