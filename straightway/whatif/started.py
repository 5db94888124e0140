"""Nonblocking collectives, as `straightway bench overlap` sees them.

A blocking collective has one time. A nonblocking one has parts, which
processors do in different calls (src/vtime/model/started.h):

    start    what is not in the wait of a rank that waits at once
    own      the wait of a rank that has been away for two pure times, while all
             others waited: no member has done this for it
    shared   the rest of its wait, had it not been away
    aside    the part of `shared` that goes on while all ranks compute for two
             pure times
    held     how much of a late rank's absence the others spend in their wait

The first three are parts of the pure time. The engine takes them as parts of
the time of the blocking call, as calls in a row take it: of the host's
(`measured`), or of ours (`measured-straightway`). So computation before a call
lengthens all of them alike.

The last member that starts a collective with Straightway does much of the work
in its start. The benchmark's ranks start together, so each has its share there.
The engine charges this share to every start.
"""

from straightway.whatif.models.lines import Line

SIZES = (8, 1024, 16384, 1 << 17, 1 << 20)
SECONDS = 0.1       # for one operation at one size
FORMS = ("start", "shared", "own", "aside", "held")
LITTLE = 0.05       # of the pure time: such a shared part shows no overlap


def _within(value, most=1.0):
    return max(0.0, min(value, most))


def parts(one):
    """{form: ns, or a part from 0 to 1} of one side of a cell."""
    def median(timing):
        return timing["median"]

    pure = median(one["pure"])
    waits = {name: median(late["wait"]) for name, late in one["late"].items()}
    wait = _within(waits["0"] / pure)
    own = min(wait, waits["2"] / pure)
    shared = wait - own
    aside = 0.0
    if shared > LITTLE:
        left = (median(one["plain"]["2"]["time"])
                - 2 * median(one["computing"])) / pure
        aside = _within(1 - (left - (1 - wait) - own) / shared)
    whole = 1000 * median(one["immediate"])
    return {"start": whole * (1 - wait), "shared": whole * shared,
            "own": whole * own, "aside": aside,
            "held": _within(median(one["held"]))}


def tables(report):
    """{"host": {operation: {size: parts}}, "ours": the same} of a report of
    the benchmark. Beside its parts each has "blocking", in ns."""
    found = {}
    for cell in report["cells"]:
        for side in ("host", "ours"):
            if cell.get(side):
                found.setdefault(side, {}).setdefault(cell["operation"], {})[
                    str(cell["size"])] = dict(
                        parts(cell[side]),
                        blocking=1000 * cell[side]["blocking"]["median"])
    return found


def lines(found, side, base=None, names=("all",)):
    """Tables as lines of a model: how a side carries out the operations in
    `names`, in parts of the time that blocking calls take on side `base`."""
    lines = []
    for operation, by_size in found.get(side, {}).items():
        if operation not in names and "all" not in names:
            continue
        for size, one in sorted(by_size.items(), key=lambda item: int(item[0])):
            blocking = found[base or side][operation][size]["blocking"]
            shares = [one[form] / blocking for form in FORMS[:3]]
            shares += [one[form] for form in FORMS[3:]]
            lines.append(Line("started", operation, int(size), *shares,
                              digits=4))
    return lines
