"""A machine as JSON: the "tree" of what `straightway topo --json` writes.

    {"kind": "node", "number": 0, "name": "alpha", "cpus": "0-7",
     "memory": BYTES, "parts": [...], "devices": [...]}

A member without contents is left out. Nodes with the same parts have them once:
each later node has "like", the number of the first.
"""

import json

from straightway.errors import UserError
from straightway.machine import processors
from straightway.machine.readers import text_of, wrong
from straightway.machine.tree import KINDS, Device, Place

SCHEMA = "straightway-topo/1"
_FIX = "give what `straightway topo --json FILE` wrote"


# Writing --------------------------------------------------------------------

def _full(members):
    return {name: value for name, value in members.items()
            if value not in ("", 0, [], ())}


def _device(device):
    return _full({"kind": device.kind, "name": device.name,
                  "model": device.model, "size": device.size,
                  "address": device.address, "bridges": list(device.bridges)})


def plain(place, seen=None):
    """A tree as plain data."""
    seen = {} if seen is None else seen
    found = {"kind": place.kind, "number": place.number, **_full({
        "name": place.name, "cpus": processors.text(place.cpus),
        "memory": place.memory, "level": place.level, "size": place.size})}
    if place.kind == "node" and place.parts:
        like = seen.setdefault(id(place.parts), place.number)
        if like != place.number:
            return {**found, "like": like}
    found.update(_full({"parts": [plain(part, seen) for part in place.parts],
                        "devices": [_device(d) for d in place.devices]}))
    return found


# Reading --------------------------------------------------------------------

class _Wrong(Exception):
    pass


_TYPES = {"number": int, "name": str, "cpus": str, "memory": int,
          "level": int, "size": int, "parts": list, "devices": list,
          "like": int, "kind": str, "model": str, "address": str,
          "bridges": list}


def _checked(data, where, kinds):
    if not isinstance(data, dict) or data.get("kind") not in kinds:
        raise _Wrong(f"{where}: no object with one of the kinds "
                     + ", ".join(kinds))
    for name, value in data.items():
        if not isinstance(value, _TYPES.get(name, object)):
            raise _Wrong(f"{where}.{name}: not as topo.schema.json says")
    return data


def tree(data, where="tree", seen=None):
    """The Place of plain data; ValueError where it is none."""
    seen = {} if seen is None else seen
    _checked(data, where, KINDS)
    about = {name: data[name] for name in ("kind", "number", "name", "memory",
                                           "level", "size") if name in data}
    try:
        found = Place(**about, cpus=processors.parse(data.get("cpus", "")))
    except ValueError as error:
        raise _Wrong(f"{where}.cpus: {error}") from None
    if "like" in data:
        if data["like"] not in seen:
            raise _Wrong(f"{where}.like: no earlier node has this number")
        found.parts, found.devices = seen[data["like"]]
        return found
    found.parts = [tree(part, f"{where}.parts[{i}]", seen)
                   for i, part in enumerate(data.get("parts", ()))]
    for i, one in enumerate(data.get("devices", ())):
        one = dict(_checked(one, f"{where}.devices[{i}]",
                            ("gpu", "network", "memory")))
        one["bridges"] = tuple(one.get("bridges", ()))
        found.devices.append(Device(**one))
    if found.kind == "node":
        seen[found.number] = found.parts, found.devices
    return found


def read(path):
    """The tree of a file."""
    try:
        data = json.loads(text_of(path))
    except json.JSONDecodeError as error:
        raise wrong(path, error.lineno, f"no JSON: {error.msg}", _FIX) \
            from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise UserError(f"{path}: its schema is not {SCHEMA}\n  {_FIX}", 1)
    try:
        return tree(data.get("tree"))
    except (_Wrong, TypeError) as error:
        raise UserError(f"{path}: {error}\n  {_FIX}", 1) from None
