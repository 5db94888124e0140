"""What a study says of its figures, in sentences; of runs in turns
turn_sentences.py says it."""

from straightway import units
from straightway.machine import hardware
from straightway.study import computing, shared, turn_sentences


def verdict(report):
    """The result, in sentences."""
    p, m, turned = (report[name] for name in ("predicted", "measured",
                                              "turns"))
    if m["how"] == "turns":
        said = turn_sentences.said(turned)
    else:
        said = _of_runs(report, m)
        if turned:
            said += turn_sentences.gave_up(turned)
    if p["speed_up"]:
        off = 100 * report["error"]["gain"]
        said.append(f"The prediction was {p['speed_up']:.2f} times: the "
                    "measured gain is " + (
                        "the same." if abs(off) < 0.05 else
                        f"{'smaller' if off > 0 else 'larger'} by "
                        f"{abs(off):.1f} % of the run's time."))
        said.append(_error(report["error"], m["how"] == "turns"))
    return said + _verdict_on_part(report.get("nonblocking")) + \
        shared.said(report.get("shared") or [])


def _error(found, in_turns):
    low, middle, high, plain = (100 * found[name] for name in (
        "host_low", "host", "host_high", "plain"))
    return (f"With the measured computation, the predicted time alone is off "
            f"by {middle:+.1f} % ({low:+.1f} to {high:+.1f} % "
            f"{'by the interval of the gain' if in_turns else 'over the runs'}"
            f"); without it, by {plain:+.1f} %.").replace("-", "−")


def _of_runs(report, m):
    said = []
    if not m["apart"] and report["runs"] > 1:
        said.append("These runs do not tell the two apart: their times "
                    "overlap. More --runs on an idle machine may do so.")
    elif m["speed_up"] and m["speed_up"] >= 1:
        said.append(f"With Straightway this program is {m['speed_up']:.2f} "
                    "times as fast.")
    else:
        said.append("With Straightway this program is slower here: "
                    f"{1 / m['speed_up']:.2f} times as long."
                    if m["speed_up"] else "No time is left.")
    return said


def _verdict_on_part(part):
    if not part or not part["predicted"]["speed_up"]:
        return []
    said = ("Its nonblocking collectives make this program "
            f"{part['predicted']['speed_up']:.2f} times as fast by the "
            "prediction")
    if not part["measured"]["apart"]:
        return [said + ", and the runs do not show how much."]
    return [said + f", and {part['measured']['speed_up']:.2f} in the runs."]


def notes(report):
    said = []
    if report["oversubscribed"]:
        said.append(
            f"{units.plural(report['ranks'], 'rank')} share "
            f"{units.plural(report['machine']['cores'], 'core')}: the "
            "measured runs wait for cores, the predicted ones have one "
            "each. The two cannot be compared.")
    said += hardware.doubts(report["machine"], report["ranks"])
    bound = report["forecast"]["bounds"]["communication"]["ratio"]
    gained = report["measured"]["speed_up"]
    if report["measured"]["apart"] and bound and gained and \
            gained > 1.01 * bound:
        said.append(
            "The program gained more than the bound: no model has what counts "
            "here, such as caches, or other programs on the cores.")
    said += computing.said(report["predicted"]["speed"])
    return said + report["forecast"]["model_about"] + \
        report["forecast"]["notes"]
