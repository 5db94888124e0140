"""Words that forecasts and studies share: times, speed-ups, errors."""

from straightway import units


def seconds(value):
    return units.duration(1e9 * value)


def times(ratio):
    """1.55x; an unbounded one has no figure."""
    if ratio is None:
        return "no time"
    return f"{ratio:.2f}x" if ratio < 100 else f"{ratio:,.0f}x"


def error(value):
    """+4.5 %, of the measured time"""
    return f"{value:+.1%}".replace("%", " %").replace("-", "−")


def waiting(report, name):
    """Waiting for late ranks in a collective, in s per rank: the time that
    remains when the collective itself takes none."""
    one = report["bounds"]["collectives"]["collectives"].get(name)
    return one["time_s"] / report["ranks"] if one else 0.0
