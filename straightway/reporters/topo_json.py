"""A machine as JSON, in the form of topo.schema.json."""

import dataclasses
import json

from straightway.machine import processors
from straightway.machine.readers import saved


def _cores(cores):
    return {
        "numbers": cores.numbers, "processors": cores.processors,
        "round_trip_ns": cores.round_trip,
        "read_gbs": cores.read,
        "groups": [{"groups": level.groups, "inside_ns": level.inside,
                    "outside_ns": level.outside,
                    "claimed": level.claimed or None}
                   for level in cores.levels],
        "claimed_unseen": cores.unseen}


def plain(found):
    """A Survey as plain data."""
    return {
        "schema": saved.SCHEMA, "source": found.source,
        "machine": found.machine,
        "allowed": None if found.allowed is None else
        processors.text(found.allowed),
        "tree": saved.plain(found.tree),
        "notes": found.tree.notes,
        "mpi": found.mpi or None,
        "ranks": [{"rank": r.number, "node": r.node, "host": r.host,
                   "cpus": processors.text(r.cpus),
                   "memory": r.memory if r.memory >= 0 else None}
                  for r in found.ranks],
        "checks": [dataclasses.asdict(check) for check in found.checks],
        "cores": _cores(found.cores) if found.cores else None,
        "pairs": [dataclasses.asdict(pair) for pair in found.pairs],
    }


def render(found, out):
    out.write(json.dumps(plain(found), ensure_ascii=False) + "\n")
