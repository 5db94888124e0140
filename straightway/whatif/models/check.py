"""The keys and values that a model may have, and their check.

    checked(table, where) -> the same in the engine's units (ns, ns a byte,
                             bytes), every short form spelled out

docs/models.md describes the keys. `where` is the model's name or file, for the
errors.
"""

from straightway import collectives
from straightway.errors import UserError, nearest
from straightway.whatif.models import quantities
from straightway.whatif.models.quantities import Wrong

CLASSES = ("self", "domain", "node", "network")
# As in op.h.
OPERATIONS = (*(c.lower for c in collectives.OF_ALL), "other", "fence")


def _text(value):
    if not isinstance(value, str):
        raise Wrong("text")
    return value


def _texts(value):
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not all(
            isinstance(v, str) for v in value):
        raise Wrong("text, or a list of texts")
    return value


def _yes(value):
    if not isinstance(value, bool):
        raise Wrong("true or false")
    return value


def _factor(value):
    if not 1e-9 <= quantities.number(value, "a factor above 0") <= 1e9:
        raise Wrong("a factor from 1e-9 to 1e9")
    return value


def _factors(value):
    if not isinstance(value, list) or not value:
        raise Wrong("a list of factors, one for each node, like [1, 1, 0.5]")
    return [_factor(v) for v in value]


def _seed(value):
    return quantities.whole(value, 0)


def _limit(value):
    """A block's bytes; "64 KiB/n": the bytes of all members' blocks together.
    """
    if isinstance(value, str) and value.endswith("/n"):
        return f"{quantities.size(value[:-2])}/n" if not \
            value[:-2].isdigit() else value
    return quantities.size(value)


def _shape(value):
    if isinstance(value, str):
        value = [int(v) if v.isdigit() else v for v in value.split("x")]
    if not isinstance(value, list) or not value or len(value) > 8:
        raise Wrong("one to eight numbers, like [8, 8, 4]")
    return [quantities.whole(v) for v in value]


def _rows(names, *kinds):
    """A list of rows: [[bytes, ...], ...]"""
    def check(value):
        form = f"a list of rows [{', '.join(names)}]"
        if not isinstance(value, list) or not value:
            raise Wrong(form)
        rows = []
        for row in value:
            if not isinstance(row, list) or len(row) != len(kinds):
                raise Wrong(form)
            rows.append([kind(v) for kind, v in zip(kinds, row)])
        if any(a[0] >= b[0] for a, b in zip(rows, rows[1:])):
            raise Wrong(form + " in the order of their bytes, each once")
        return rows
    return check


def _operations(value):
    names = _texts(value)
    for name in names:
        if name != "all" and name not in OPERATIONS:
            raise Wrong(_known("collective", name, [*OPERATIONS, "all"]))
    return names


def _known(what, name, known):
    return f"a known {what}, not {name}; " + nearest(name, known, cutoff=0.5)


_POINTS = _rows(("bytes", "send", "wire", "gap", "receive"),
                quantities.size, *[quantities.time] * 4)
LINK = {
    "o": quantities.time, "o_send": quantities.time,
    "o_recv": quantities.time, "L": quantities.time, "g": quantities.time,
    "O": quantities.speed, "O_send": quantities.speed,
    "O_recv": quantities.speed, "G": quantities.speed,
    "S": quantities.size,
    "points": _POINTS, "given": _POINTS,
}
MEMORY = ("created", "allocated")
ACCESSES = ("put", "accumulate", "get", "fetch")
LOCKS = ("lock", "unlock")
ONESIDED = {
    **dict.fromkeys(ACCESSES, _rows(("bytes", "call", "rest"), quantities.size,
                                    quantities.time, quantities.time)),
    **dict.fromkeys(LOCKS, quantities.time),
}
# Keys of [network] that each kind has besides.
COMMON = {"hop": quantities.time, "latency": quantities.time,
          "G": quantities.speed, "host_latency": quantities.time,
          "host_G": quantities.speed, "radix": quantities.whole}
KINDS = {
    "none": {},
    "crossbar": {"ports": quantities.whole},
    "fat_tree": {"levels": quantities.whole, "down": _shape, "up": _shape,
                 "nodes_per_leaf": quantities.whole},
    "torus": {"size": _shape, "dimensions": quantities.whole,
              "hosts": quantities.whole},
    "dragonfly": {"groups": quantities.whole, "routers": quantities.whole,
                  "hosts": quantities.whole, "global": quantities.whole,
                  "valiant": _seed, "global_latency": quantities.time,
                  "global_G": quantities.speed},
}
NETWORK = {"kind": _text, **COMMON}
for _keys in KINDS.values():
    NETWORK.update(_keys)
NOISE = {"period": quantities.time, "duration": quantities.time,
         "seed": _seed}


_LIMITS = {"powers_of_two": _yes, "min_bytes": _limit, "max_bytes": _limit,
           "min_ranks": quantities.whole, "max_ranks": quantities.whole}
# Uses of [[collective]]: their keys, and the required ones.
USES = {
    "free": ({}, ()),
    "scale": ({"factor": quantities.number}, ("factor",)),
    "offload": ({"posting": quantities.time, "round": quantities.time,
                 "G": quantities.speed}, ("posting", "round", "G")),
    "formula": ({"algorithm": _text, **_LIMITS}, ("algorithm",)),
    "messages": ({"algorithm": _text, **_LIMITS}, ("algorithm",)),
    "measured": (_LIMITS, ()),
    "table": ({"ranks": quantities.whole,
               "rows": _rows(("bytes", "waiting", "leaving"), quantities.size,
                             quantities.time, quantities.time)},
              ("ranks", "rows")),
}
TOP = {
    "description": _text, "base": _texts, "nodes": quantities.whole,
    "ranks_per_node": quantities.whole, "ranks_per_domain": quantities.whole,
    "cpu_speed": _factor, "node_speeds": _factors, "loggopsim": _yes,
    "reduce": quantities.speed,
    "test": quantities.time,
}
TABLES = ("link", "onesided", "network", "noise", "collective", "sources")


class _Checker:
    def __init__(self, where):
        self.where = where

    def fail(self, text):
        raise UserError(f"model {self.where}: {text}")

    def unknown(self, path, key, known):
        self.fail(f"unknown key {path}{key}; "
                  + nearest(key, known, cutoff=0.5))

    def table(self, value, path):
        if not isinstance(value, dict):
            self.fail(f"{path} must be a table of keys, not {value!r}")
        return value

    def keys(self, table, known, path):
        """Convert each key by its own function."""
        found = {}
        for key, value in self.table(table, path.rstrip(".")).items():
            if key not in known:
                self.unknown(path, key, list(known))
            try:
                found[key] = known[key](value)
            except Wrong as wrong:
                self.fail(f"{path}{key} must be {wrong}"
                          + ("" if isinstance(value, list)
                             or ", not " in str(wrong)
                             else f"; it is {value!r}"))
        return found

    def link(self, name, table):
        found = self.keys(table, LINK, f"link.{name}.")
        for short in ("o", "O"):
            if short in found:
                value = found.pop(short)
                found.setdefault(f"{short}_send", value)
                found.setdefault(f"{short}_recv", value)
        constants = set(found) - {"S", "points", "given"}
        if "points" in found and constants:
            self.fail(f"link.{name} has points, which replace "
                      + ", ".join(sorted(constants)) + "; give only one")
        return found

    def links(self, table):
        found = {}
        for name, link in self.table(table, "link").items():
            if name != "all" and name not in CLASSES:
                self.unknown("link.", name, [*CLASSES, "all"])
            checked_link = self.link(name, link)
            if name == "network" and "given" in checked_link:
                self.fail("link.network has no given: blocks change hands "
                          "within a node only")
            for which in CLASSES if name == "all" else (name,):
                found[which] = {**found.get(which, {}), **checked_link}
            if name == "all":
                found["network"].pop("given", None)
        return found

    def onesided(self, table):
        found = {}
        for name, one in self.table(table, "onesided").items():
            if name != "all" and name not in MEMORY:
                self.unknown("onesided.", name, [*MEMORY, "all"])
            one = self.keys(one, ONESIDED, f"onesided.{name}.")
            if len(set(LOCKS) & set(one)) == 1:
                self.fail(f"onesided.{name} needs both lock and unlock, or "
                          "neither")
            for which in MEMORY if name == "all" else (name,):
                found[which] = {**found.get(which, {}), **one}
        return found

    def network(self, table):
        found = self.keys(table, NETWORK, "network.")
        kind = found.get("kind")
        if kind is None:
            return found
        if kind not in KINDS:
            self.fail("network.kind must be "
                      + _known("network", kind, list(KINDS)))
        known = {"kind", *COMMON, *KINDS[kind]}
        for key in found:
            if key not in known:
                self.fail(f"a {kind} has no network.{key}; it has "
                          + ", ".join(sorted(known - {"kind"})))
        return found

    def noise(self, table):
        found = self.keys(table, NOISE, "noise.")
        if set(found) - {"seed"} not in ({"period", "duration"}, set()):
            self.fail("noise needs a period and a duration")
        if found.get("period") and found["period"] < 1000:
            self.fail("noise.period must be at least 1 us (or 0: none)")
        if found.get("period") and found["duration"] >= found["period"]:
            self.fail("noise.duration must be below noise.period")
        return found

    def collective(self, rules):
        if not isinstance(rules, list):
            self.fail("collectives are [[collective]] tables, each with op "
                      "and use")
        found = []
        for number, rule in enumerate(rules, 1):
            path = f"collective {number}: "
            rule = dict(self.table(rule, path))
            use = rule.pop("use", None)
            if not isinstance(use, str) or use not in USES:
                self.fail(f"{path}use must be one of {', '.join(USES)}"
                          + (f", not {use!r}" if use is not None else ""))
            known, needed = USES[use]
            one = self.keys(rule, {"op": _operations, **known}, path)
            for key in ("op", *needed):
                if key not in one:
                    self.fail(f"{path}{use} needs {key}")
            found.append({"use": use, **one})
        return found


def checked(table, where):
    """The model in the engine's units; UserError for a mistake."""
    checker = _Checker(where)
    checker.table(table, "a model")
    plain = {k: v for k, v in table.items() if k not in TABLES}
    known = {**TOP, **dict.fromkeys(TABLES)}
    for key in plain:
        if key not in TOP:
            checker.unknown("", key, list(known))
    found = checker.keys(plain, TOP, "")
    for key, check in (("link", checker.links),
                       ("onesided", checker.onesided),
                       ("network", checker.network), ("noise", checker.noise),
                       ("collective", checker.collective)):
        if key in table:
            found[key] = check(table[key])
    sources = checker.table(table.get("sources", {}), "sources")
    for key, value in sources.items():
        if not isinstance(value, str):
            checker.fail(f"sources.{key} must be text")
    if sources:
        found["sources"] = dict(sources)
    return found
