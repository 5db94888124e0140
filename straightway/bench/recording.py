"""What the benchmark of recording knows: items, variants, differences."""

from straightway.bench import medians

# Each item's title, in the order of bench/profile.c.
ITEMS = {"comm_rank": "Comm_rank", "iprobe": "Iprobe, self",
         "self_bcast": "Bcast, self", "self_allreduce": "Allreduce, self",
         "self_exchange": "exchange, self", "pingpong": "ping-pong",
         "allreduce": "Allreduce", "alltoall": "Alltoall",
         "barrier": "Barrier", "halo": "halo exchange"}

# Two reads of the clock, beside the items: a tool that times a call adds at
# least that.
CLOCK = "clock"

# The runs of the program: alone, profiled, with a profile that it switches off
# at its beginning, traced, or under another tool.
VARIANTS = ("host", "profile", "off", "trace", "tool")


def settings(variant):
    """The settings of Straightway for one of its variants."""
    return {"STRAIGHTWAY_ENABLE": "off", "STRAIGHTWAY_PROFILE": "on",
            "STRAIGHTWAY_PROFILE_REPORT": "off",
            "STRAIGHTWAY_TRACE": "on" if variant == "trace" else "off"}


def _key(line):
    return line["cell"], line["size"]


def _times(runs, key):
    """ns of a call in each of a variant's runs: median and samples."""
    found = []
    for lines in runs:
        samples = [1000 * t for line in lines if _key(line) == key
                   for t in line["time"]]
        found.append({"median": medians.median(samples),
                      "samples": samples})
    return found


def _against(cell, one):
    """What a variant adds to the host, in the rounds they share."""
    added = [mine["median"] - host["median"]
             for mine, host in zip(one["runs"], cell["host"]["runs"])]
    one["added"] = medians.quartiles(added)
    one["per_call"] = cell["path"] and medians.quartiles(
        [ns / cell["path"] for ns in added])
    one["percent"] = 100 * one["added"]["median"] / cell["host"]["median"]


def cells(runs):
    """The cells of a report, from {variant: [each round's lines]}."""
    found = []
    for line in runs["host"][0]:
        cell = {"operation": line["cell"], "size": line["size"],
                "path": line["path"], "calls": line["time_calls"]}
        for variant, rounds in runs.items():
            times = _times(rounds, _key(line))
            cell[variant] = dict(
                medians.quartiles([run["median"] for run in times]),
                runs=times)
            if variant != "host":
                _against(cell, cell[variant])
        found.append(cell)
    return found
