"""What a study says of a run in turns, in sentences."""

from straightway import units

SPIKES = 0.02           # of the time: spikes that are told
_MESSAGES = {
    "open": "no point of the program was found where no message was under way "
    "and no receive posted",
    "persistent": "the program has persistent requests",
    "threads": "the program has MPI_THREAD_MULTIPLE",
    "unseen": "Straightway does not see which messages are under way"}


def percent(part, digits=None):
    """4.1 %; below 1 % with two digits after the point, unless told."""
    if digits is None:
        digits = 1 if abs(part) >= 0.0095 else 2
    return f"{100 * part:.{digits}f} %".replace("-", "−")


def interval(found):
    """4.1 % ± 0.4 %; or 2.0 % to 9.1 %, about another middle."""
    gain, low, high = found["gain"], found["low"], found["high"]
    half = (high - low) / 2
    digits = 1 if half >= 0.00095 else 2
    if abs((low + high) / 2 - gain) <= 0.1 * half:
        return f"{percent(gain, digits)} ± {percent(half, digits)}"
    return f"{percent(gain, digits)} ({percent(low, digits)} to " \
        f"{percent(high, digits)})"


def headline(found):
    """The gain with its interval, or that there is none."""
    low, high, gain = found["low"], found["high"], found["gain"]
    if found["apart"] and gain > 0:
        return ("With Straightway this program takes "
                f"{interval(found)} less time.")
    if found["apart"]:
        lost = {"gain": -gain, "low": -high, "high": -low}
        return ("With Straightway this program takes "
                f"{interval(lost)} more time.")
    said = ("The turns do not tell the two apart: the gain is between "
            f"{percent(low)} and {percent(high)}.")
    longer = found["longer"]
    if longer:
        said += (f" A run of {units.duration(1e9 * longer['seconds'])}, "
                 f"{longer['times']:,.1f} times as long, would tell a gain "
                 f"of {percent(longer['gain'])}.")
    return said


def _cost(found):
    if found["once_s"] is None:
        return ["What Straightway costs once is not known: the learning had "
                "less than two periods of the program."]
    once = units.duration(1e9 * found["once_s"])
    if found["pays_back_s"] is None:
        return [f"Straightway costs at most {once} once."]
    return [f"Straightway costs at most {once} once, and pays back after "
            f"{units.duration(1e9 * found['pays_back_s'])}."]


def _took_no_part(found):
    if found["messages"] == "ours":
        why = _MESSAGES.get(found["messages_why"], found["messages_why"])
        yield ("Messages took no turns, and their gain is not in this figure: "
               f"{why}.")
    those = [units.plural(one["calls"], one["kind"], one["kind"])
             for one in found["left_out"]]
    if those:
        yield ("The gain of these is not in this figure either: "
               if found["messages"] == "ours" else
               "The gain of these is not in this figure: ") + \
            ", ".join(those) + "."


def said(found):
    """The sentences of a run in turns that tells, the gain first."""
    text = [headline(found)]
    if found["why"]:
        text.append(f"{found['why']} So take this gain with care.")
    if found["same"]:
        text.append("Both sides were the MPI alone, as a check: a gain of 0 "
                    "is right.")
    if found["apart"] and found["gain"] > 0 and found["bound"]:
        text.append(f"That is {percent(found['gain'])} of at most "
                    f"{percent(found['bound'])}, with all communication free.")
    if found["differ"]:
        text.append("Periods differ: the typical pair of epochs gains "
                    f"{percent(found['typical']['gain'])}, and the whole run "
                    f"{percent(found['gain'])}.")
    text += _cost(found)
    if found["spikes"] > SPIKES:
        text.append(f"Spikes took {units.share(found['spikes'])} of the time, "
                    "as on a busy machine. The interval holds gains with and "
                    "without them.")
    return text + list(_took_no_part(found))


def gave_up(found):
    """Why separate runs measure in place of turns."""
    return [f"{found['why']} So separate runs measure the gain."]
