"""Experiments: changes to the model, as options give them.

An experiment is a list of changes to the model of the baseline run. Each of
the options --free, --scale, ... is an experiment of its own; --experiment
joins several changes in one:

    --free alltoall --network hdr200            two experiments
    --experiment "free=alltoall network=hdr200" one, with both

A change knows three things: its title, the models that it lays over those of
the baseline, and the lines that it adds to the model (models/lines.py). This
module does not interpret models.
"""

import dataclasses
import fnmatch
import re
import shlex

from straightway import units
from straightway.errors import UserError, nearest
from straightway.machine import hardware
from straightway.whatif import measured_nodes
from straightway.whatif.models.check import OPERATIONS as COLLECTIVES
from straightway.whatif.models.lines import Line
from straightway.whatif.models.quantities import TIMES

COMMUNICATION = "communication"
# What carries out nonblocking collectives, by the words of --offload.
CARRIERS = {"straightway": ("ours", "with Straightway"),
            "mpi": ("host", "by the MPI")}
MOST_PLACES = 1 << 22

# Posting (ns of processor time), a round (ns), ns a byte: assumptions, used
# where neither the option nor the network's link gives them. A round is one
# small message of a present adapter; the processor only hands the work over.
OFFLOAD = (200.0, 1300.0, 0.04)


# The user's words -----------------------------------------------------------

def _unknown(option, given, what, word, known):
    return UserError(f"--{option} {given}: unknown {what} "
                     f"{word or '(none)'}; {nearest(word, known)}")


def collective(word):
    """"MPI_Ialltoall" -> "alltoall"; an unknown word stays as it is."""
    name = re.sub("^mpi_", "", word.strip().lower())
    name = re.sub("(_init|_c)+$", "", name)
    if name not in COLLECTIVES and name[:1] == "i" and \
            name[1:] in COLLECTIVES:
        name = name[1:]
    return name


def operations(option, given, text=None):
    """The collectives that "alltoall,all*" names; ["all"] for all."""
    found = []
    for word in (given if text is None else text).split(","):
        name = collective(word)
        if name == "all":
            return ["all"]
        fitting = fnmatch.filter(COLLECTIVES, name)
        if not fitting:
            raise _unknown(option, given, "operation", word.strip(),
                           COLLECTIVES)
        found += fitting
    return list(dict.fromkeys(found))


def _number(option, given, text, what, least=0.0, most=1e9):
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not least < value <= most:
        raise UserError(f"--{option} {given}: {text or 'nothing'} is no "
                        f"{what}; give a number, " + (
                            f"more than {least:g}" if least >= 0 else
                            "0 or more"))
    return value


def _whole(option, given, what):
    if not given.isdecimal() or not 1 <= int(given) <= MOST_PLACES:
        raise UserError(f"--{option} {given}: give {what}, 1 or more")
    return int(given)


def nanoseconds(option, given, text):
    """"10us" -> 10000.0"""
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s)\s*",
                         text)
    if not found:
        raise UserError(f"--{option} {given}: {text.strip() or 'nothing'} is "
                        "no time; give one like 10us or 1ms")
    return float(found.group(1)) * TIMES[found.group(2)]


# Changes --------------------------------------------------------------------

@dataclasses.dataclass
class Change:
    """One change of the model."""

    key: str
    given: str
    title: str
    lines: list = dataclasses.field(default_factory=list)
    models: list = dataclasses.field(default_factory=list)
    per_node: int = 0
    nodes: int = 0
    per_domain: int = 0
    fresh: bool = False     # it drops the baseline's models
    speed: float = 0.0      # of the processors
    started: list = dataclasses.field(default_factory=list)
    carrier: str = ""       # "ours" or "host" carries out these nonblocking
                            # collectives
    offload: list = dataclasses.field(default_factory=list)

    def __str__(self):
        return f"{self.key}={shlex.quote(self.given)}"


def _listed(names):
    if names == ["all"]:
        return "all collectives"
    if len(names) > 3:
        return f"{len(names)} collectives"
    return ", ".join(names)


def _free(given):
    if given.strip().lower() == COMMUNICATION:
        return Change("free", given, "all communication free",
                      models=["free"], fresh=True)
    names = operations("free", given)
    return Change("free", given, f"{_listed(names)} free",
                  [Line("free", name) for name in names])


def _scale(given):
    lines, titles = [], []
    for word in given.split(","):
        name, equals, factor = word.partition("=")
        if not equals:
            raise UserError(f"--scale {given}: give an operation and a "
                            "factor, as in alltoall=0.5")
        value = _number("scale", given, factor, "factor", -1e-9, 1e6)
        names = operations("scale", given, name)
        lines += [Line("scale", one, value, digits=6) for one in names]
        titles.append(f"{_listed(names)} × {value:g}")
    return Change("scale", given, ", ".join(titles), lines)


def _offload(given):
    text, _, cost = given.partition(":")
    names = operations("offload", given, text)
    if cost.strip().lower() in CARRIERS:
        which = _listed([n for n in names if n != "all"]) or "collectives"
        carrier, how = CARRIERS[cost.strip().lower()]
        return Change("offload", given, f"nonblocking {which} {how}",
                      started=names, carrier=carrier)
    costs = []
    if cost:
        costs = cost.split(",")
        if len(costs) != 3:
            raise UserError(f"--offload {given}: after the colon give "
                            f"{' or '.join(CARRIERS)}, or three figures, "
                            "POSTING,ROUND,NS_A_BYTE, as in "
                            "allreduce:200ns,1.3us,0.04")
        costs = [nanoseconds("offload", given, costs[0]),
                 nanoseconds("offload", given, costs[1]),
                 _number("offload", given, costs[2], "ns a byte", -1e-9)]
    return Change("offload", given, f"{_listed(names)} offloaded",
                  offload=[(name, costs) for name in names])


def _later(given):
    names = operations("later", given)
    return Change("later", given, f"{_listed(names)} completed later",
                  [Line("later", name) for name in names])


def _algorithm(given):
    lines, titles = [], []
    for word in given.split(","):
        name, equals, algorithm = word.partition("=")
        algorithm = algorithm.strip().lower().replace("-", "_")
        if not equals or not re.fullmatch("[a-z0-9_]+", algorithm):
            raise UserError(f"--algorithm {given}: give an operation and an "
                            "algorithm, as in allreduce=ring")
        names = operations("algorithm", given, name)
        lines += [Line("messages", one, algorithm) for one in names]
        titles.append(f"{_listed(names)} by {algorithm.replace('_', ' ')}")
    return Change("algorithm", given, ", ".join(titles), lines)


def _network(given):
    name = measured_nodes.NAME if given == "measured" else given
    return Change("network", given, f"network {given}", models=[name])


def _model(given):
    return Change("model", given, f"model {given}", models=given.split(","),
                  fresh=True)


def _nodes(given):
    n = _whole("nodes", given, "how many nodes")
    return Change("nodes", given, units.plural(n, "node"), nodes=n)


def _per_node(given):
    n = _whole("ranks-per-node", given, "how many ranks")
    return Change("ranks-per-node", given, f"{n} a node", per_node=n)


def _ranks_on(given):
    word = given.strip().lower()
    if word in ("numa", "package"):
        n = hardware.cores_of(word)
        return Change("ranks-on", given, f"{n} ranks on each "
                      f"{'NUMA domain' if word == 'numa' else 'package'}",
                      per_domain=n)
    if word == "core":
        return Change("ranks-on", given, "each rank in a domain of its own",
                      per_domain=1)
    if word.isdecimal() and int(word):
        return Change("ranks-on", given, f"{int(word)} ranks a domain",
                      per_domain=int(word))
    raise _unknown("ranks-on", given, "place", word,
                   ("numa", "package", "core", "a number of ranks"))


def _cpu_speed(given):
    value = _number("cpu-speed", given, given, "factor", 0, 1e6)
    return Change("cpu-speed", given, f"processor × {value:g}",
                  speed=value)


def _noise(given):
    period, comma, rest = given.partition(",")
    duration, _, seed = rest.partition(",")
    if not comma:
        raise UserError(f"--noise {given}: give PERIOD,DURATION, as in "
                        "1ms,25us (and ,SEED)")
    period, duration = (nanoseconds("noise", given, text)
                        for text in (period, duration))
    if not 0 < duration < period:
        raise UserError(f"--noise {given}: DURATION must be shorter than "
                        "PERIOD")
    number = _whole("noise", seed, "a seed") if seed else 1
    return Change("noise", given, f"noise of {units.duration(duration)} every "
                  f"{units.duration(period)}",
                  [Line("noise", period, duration, number, digits=6)])


_KEYS = {"free": _free, "scale": _scale, "offload": _offload, "later": _later,
         "algorithm": _algorithm, "network": _network, "nodes": _nodes,
         "ranks-per-node": _per_node, "ranks-on": _ranks_on,
         "cpu-speed": _cpu_speed, "noise": _noise, "model": _model}
KEYS = tuple(_KEYS)

# The options that are experiments, with their placeholders and help.
OPTIONS = {
    "free": ("OP[,OP]", "these collectives take no time (their waiting "
             "stays); all: every collective; communication: also all "
             "messages"),
    "scale": ("OP=FACTOR", "these collectives take this part of their time"),
    "offload": ("OP[,OP]", "the network carries these out while the program "
                "computes; OP:POSTING,ROUND,NS_A_BYTE gives the cost; "
                "OP:straightway or OP:mpi: it carries out the nonblocking "
                "ones"),
    "later": ("OP[,OP]", "each blocking one is nonblocking, and completed "
              "before the next MPI call: the most that this can gain"),
    "network": ("NAME", "another network, or measured: that of straightway "
                "whatif measure; --nodes and --ranks-per-node place the "
                "ranks"),
    "ranks-on": ("PLACE", "ranks share a domain: numa, package, core, or a "
                 "number of ranks"),
    "cpu-speed": ("FACTOR", "a processor this many times as fast"),
    "noise": ("PERIOD,DURATION", "the system takes every processor away, as "
              "in 1ms,25us"),
    "algorithm": ("OP=NAME", "the collective uses this algorithm, as in "
                  "allreduce=ring"),
}


def change(key, given):
    """The Change that KEY=VALUE stands for."""
    if key not in _KEYS:
        raise UserError(f"--experiment {key}={given}: unknown change {key}; "
                        + nearest(key, _KEYS, cutoff=0.5))
    return _KEYS[key](given)


# Experiments ----------------------------------------------------------------

@dataclasses.dataclass
class Experiment:
    """Changes made together, under a title."""

    changes: list
    name: str = ""

    @property
    def title(self):
        return self.name or ", ".join(c.title for c in self.changes)

    @property
    def text(self):
        """The text for --experiment."""
        return " ".join(map(str, self.changes))

    @property
    def fresh(self):
        return any(c.fresh for c in self.changes)

    @property
    def models(self):
        return [m for c in self.changes for m in c.models]

    @property
    def lines(self):
        return [line for c in self.changes for line in c.lines]

    def last(self, field):
        """The last value that a change gives, else 0."""
        return next((getattr(c, field) for c in reversed(self.changes)
                     if getattr(c, field)), 0)

    def and_(self, changes, name=None):
        return Experiment(self.changes + list(changes), name or self.name)


def parse(text):
    """The Experiment of --experiment "free=alltoall network=hdr200". Words
    before a colon, "name: ...", are its title."""
    name, colon, rest = text.partition(":")
    if colon and "=" not in name:
        text = rest
    else:
        name = ""
    try:
        words = shlex.split(text)
    except ValueError:
        raise UserError(f"--experiment {text}: close the quote") \
            from None
    changes = []
    for word in words:
        key, equals, given = word.partition("=")
        if not equals:
            raise UserError(f"--experiment \"{text}\": {word} has no value; "
                            "give words like free=alltoall network=hdr200")
        changes.append(change(key, given))
    if not changes:
        raise UserError("--experiment: give words like free=alltoall "
                        "network=hdr200")
    return Experiment(changes, name.strip())


def collect(given, nodes=None, per_node=None):
    """The experiments of the options in `given`, [(key, value)] in their
    order. The placement of the ranks belongs to each that has a network."""
    places = []
    if nodes is not None:
        places.append(_nodes(str(nodes)))
    if per_node is not None:
        places.append(_per_node(str(per_node)))
    found = []
    for key, value in given:
        one = parse(value) if key == "experiment" else \
            Experiment([change(key, value)])
        keys = {c.key for c in one.changes}
        if "network" in keys or "model" in keys:
            one = one.and_(p for p in places if p.key not in keys)
        found.append(one)
    if places and not any(c.key in ("network", "model") for e in found
                          for c in e.changes):
        found.append(Experiment(places))
    return found


# Sweeps ---------------------------------------------------------------------

SWEPT = ("ranks", "nodes", "ranks-per-node", "cpu-speed")


def swept(key, given):
    """(the baseline's changes in a sweep, its experiments).

    Where nodes vary, the first network that is an experiment of its own joins
    every experiment without one.
    """
    networks = [e for e in given if not e.name and {c.key for c in e.changes}
                - {"nodes", "ranks-per-node"} == {"network"}]
    if key not in ("nodes", "ranks-per-node") or not networks:
        return Experiment([]), given
    base, found = networks[0], []
    for one in given:
        if one.fresh or any(c.key == "network" for c in one.changes):
            found.append(one)
        else:
            found.append(base.and_(one.changes, one.title))
    return base, [e for e in found if e is not base]


def sweep(text):
    """("ranks", [2, 4, 8]) of "ranks=2,4,8"."""
    key, equals, values = text.partition("=")
    if not equals or key not in SWEPT:
        form = "give ranks=2,4,8, or one of " + ", ".join(SWEPT[1:])
        raise UserError(f"sweep {text}: " + (
            form if key in SWEPT else nearest(key, SWEPT, form, 0.5)))
    found = []
    for word in values.split(","):
        if key == "cpu-speed":
            found.append(_number(key, word, word, "factor", 0, 1e6))
        else:
            if not word.strip().isdecimal() or \
                    not 1 <= int(word) <= MOST_PLACES:
                raise UserError(f"sweep {text}: {word.strip() or 'nothing'}"
                                f" is no number of {key}; give values as in "
                                f"{key}=2,4,8")
            found.append(int(word))
    found = sorted(set(found))
    if len(found) < 2:
        raise UserError(f"sweep {text}: give two values or more")
    return key, found
