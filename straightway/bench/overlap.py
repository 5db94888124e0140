"""What the benchmark knows of nonblocking collectives: overlap, skew, gain.

bench/overlap.c has the forms and says how each is measured. Here medians of
times make shares. A share lies between "low" and "high" if each median lies
within its own bounds.
"""

import itertools

from straightway.bench import results

FACTORS = ("0.5", "1", "2")         # computing times, in pure times
# The program sets the computing time at a cell's beginning. It is off by more
# than this if the pure time has changed since.
STEADY = 1.25
IN_ROWS = ("blocking", "immediate", "persistent")


def _shares(times, share):
    """A share, whose arguments are times, and its bounds. It rises or falls
    with each time."""
    ends = [share(*one) for one in itertools.product(
        *((time["low"], time["high"]) for time in times))]
    return {"median": share(*(time["median"] for time in times)),
            "low": min(ends), "high": max(ends)}


def _overlap(pure, computing, total, factor):
    """Overlap as the OSU benchmarks define it. Where the whole takes longer
    than its parts there is none; the bounds show by how much."""
    found = _shares((pure, computing, total),
                    lambda p, c, t: 1 - (t - factor * c) / p)
    return dict(found, median=max(0.0, found["median"]))


def _side(line, mode):
    """What one side did in a cell; None: not measured."""
    def time(form):
        return results.timing(line, f"{mode}_{form}")

    pure, computing, apart = map(time, ("plain_0", "computing", "apart"))
    if not pure:
        return None
    found = {form: time(form) for form in IN_ROWS}
    found.update(apart=apart, pure=pure, computing=computing,
                 steady=1 / STEADY <= computing["median"] / pure["median"]
                 <= STEADY)
    for way in ("plain", "tested"):
        found[way] = {}
        for name in FACTORS:
            factor, total = float(name), time(f"{way}_{name}")
            found[way][name] = {
                "time": total,
                "overlap": _overlap(pure, computing, total, factor),
                "gain": _shares(
                    (apart, computing, total),
                    lambda a, c, t, factor=factor: (a + factor * c) / t)}
    found["late"] = {}
    for name in ("0", *FACTORS):
        wait = time(f"late_{name}")
        found["late"][name] = {
            "wait": wait,
            "hidden": _shares((pure, wait), lambda p, w: 1 - w / p)}
    # How much of the late rank's computing the others stay in their wait.
    others = time("held_2")
    found["held"] = dict(_shares(
        (pure, computing, others), lambda p, c, t: (t - p) / (2 * c)),
        time=others)
    found["wrong"] = [
        form for form in (key.removeprefix(mode + "_").removesuffix("_right")
                          for key in line
                          if key.startswith(mode) and key.endswith("_right"))
        if not line[f"{mode}_{form}_right"]]
    found["right"] = not found["wrong"]
    return found


def cell(line):
    """One cell of a report, from its line of output."""
    found = {"operation": line["cell"], "size": line["size"],
             "late_rank": line["late_rank"],
             **{mode: _side(line, mode) for mode in results.MODES}}
    found["ratios"] = {form: _ratio(found, form) for form in IN_ROWS}
    return found


def _ratio(found, form):
    host, ours = ((found[mode] or {}).get(form) for mode in results.MODES)
    return host["median"] / ours["median"] if host and ours else None


def summary(cells, names):
    """Of each form in a row: ratios as of other benchmarks."""
    return {form: results.summary(
        [dict(c, ratio=c["ratios"][form]) for c in cells], names)
        for form in IN_ROWS}
