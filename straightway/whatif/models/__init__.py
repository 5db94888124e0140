"""Models: the machines that a prediction can assume.

    model = load("hdr200")                    a preset
    model = load(["node", "mine.toml"], nodes=16, ranks_per_node=12)
    write(model, "model.txt", ranks=64)       for the engine

A model is a TOML file (docs/models.md): links between ranks of one node and of
two, a network, noise, rules of collectives. Presets are in presets/, each with
its sources. `load` combines several: a later one overrides an earlier one, key
by key; rules of collectives add up. A model may have others as its base.
"""

import dataclasses
import pathlib

try:
    import tomllib
except ModuleNotFoundError:         # before Python 3.11
    import tomli as tomllib

from straightway.errors import UserError, nearest
from straightway.whatif.models import layer
from straightway.whatif.models.check import COMMON, checked
from straightway.whatif.models.lines import text

_PRESETS = pathlib.Path(__file__).parent / "presets"
_DEEP = 16                          # bases of bases: more must be a circle


@dataclasses.dataclass
class Model:
    """An assumed machine, in the engine's units."""

    names: list
    data: dict

    @property
    def description(self):
        return self.data.get("description", "")

    @property
    def sources(self):
        return self.data.get("sources", {})

    def lines(self, ranks):
        """The lines for the engine (lines.py)."""
        return layer.lines(self.data, ranks)


def names():
    """The presets."""
    return sorted(p.stem for p in _PRESETS.glob("*.toml"))


def _path(name):
    """The path of a name's file: a preset, or the user's file."""
    if not (name.endswith(".toml") or "/" in name):
        if name in names():
            return _PRESETS / f"{name}.toml"
        raise UserError(f"unknown model {name[:60]}; " + nearest(
            name, names(), "give a file that ends in .toml, or one of "
            + ", ".join(names()), 0.5))
    return pathlib.Path(name)


def _read(name, beside):
    path = _path(name)
    if beside and path.parent != _PRESETS and not path.is_absolute():
        path = beside / path
    try:
        with open(path, "rb") as file:
            return path, tomllib.load(file)
    except OSError as error:
        raise UserError(f"model {name}: {error.strerror}: {path}") from None
    except ValueError as error:
        raise UserError(f"model {path}: no TOML: {error}") from None


def _one(name, beside=None, above=()):
    """A model together with its bases."""
    if isinstance(name, dict):
        own, where, folder = checked(name, "given"), "given", beside
    else:
        path, table = _read(name, beside)
        where = name if path.parent == _PRESETS else str(path)
        own, folder = checked(table, where), path.parent
    above = (*above, where)
    if len(above) > _DEEP or where in above[:-1] and where != "given":
        raise UserError("models that are each other's base: "
                        + " -> ".join(above))
    bases = [_one(base, folder, above) for base in own.pop("base", ())]
    return _combined([*bases, own])


def _over(link, below):
    """Lay a link's keys over another's: points and constants do not mix."""
    constants = set(link) - {"S", "points", "given"}
    if "points" in link:
        below = {k: v for k, v in below.items() if k == "S"}
    elif constants:
        below = {k: v for k, v in below.items() if k not in ("points", "given")}
    return {**below, **link}


def _combined(tables):
    """Lay later tables over earlier ones."""
    found = {}
    for table in tables:
        for key, value in table.items():
            below = found.get(key)
            if below is None:
                found[key] = value
            elif key == "link":
                found[key] = {**below, **{
                    name: _over(link, below.get(name, {}))
                    for name, link in value.items()}}
            elif key == "onesided":
                found[key] = {**below, **{
                    memory: {**below.get(memory, {}), **one}
                    for memory, one in value.items()}}
            elif key == "network":
                if value.get("kind", below.get("kind")) != below.get("kind"):
                    # A new kind keeps the keys that all kinds share.
                    below = {k: v for k, v in below.items()
                             if k in COMMON or "kind" not in below}
                found[key] = {**below, **value}
            elif key == "collective":
                found[key] = below + value
            elif isinstance(value, dict):
                found[key] = {**below, **value}
            else:
                found[key] = value
    return found


def load(given, **options):
    """A Model of presets' names, files and tables, later ones over earlier
    ones. The options come last: nodes, ranks_per_node, ranks_per_domain,
    cpu_speed, noise, collective, ... as in a file. "a+b" is a, b."""
    if isinstance(given, (str, dict)):
        given = [given]
    parts = []
    for one in given:
        parts += one.split("+") if isinstance(one, str) and not (
            one.endswith(".toml") and pathlib.Path(one).exists()) else [one]
    tables = [_one(part) for part in parts]
    options = {k: v for k, v in options.items() if v is not None}
    if options:
        tables.append(checked(options, "options"))
    data = _whole(_combined(tables), parts)
    return Model([p if isinstance(p, str) else "given" for p in parts], data)


def _whole(data, parts):
    """Check what only the combination shows: a network's keys fit its kind."""
    where = "+".join(p if isinstance(p, str) else "given" for p in parts)
    if "network" in data:
        checked({"network": data["network"]}, where)
    if "noise" in data:
        checked({"noise": data["noise"]}, where)
    if data.get("loggopsim"):
        _loggopsim(data, where)
    return data


def _loggopsim(data, where):
    """LogGOPSim's rule has no network that messages share."""
    if data.get("network", {}).get("kind", "none") != "none":
        raise UserError(f"model {where}: loggopsim = true has no [network]: "
                        "its messages share no links")


def write(model, path, ranks):
    """Write the model file for so many ranks, for straightway-whatif."""
    body = text(model.lines(ranks))
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(body)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None
