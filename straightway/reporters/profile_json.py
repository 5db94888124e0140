"""A profile as JSON: all views, as straightway/schemas/profile.schema.json
describes them. Times are seconds, sizes bytes."""

import dataclasses

from straightway.profile import findings, tables
from straightway.reporters import report_json

SCHEMA = "straightway-profile/1"
VIEWS = tuple(name for name in tables.TABLES
              if name not in ("calls", "devices"))


def _ranges(found):
    return [list(pair) for pair in found]


def report(p):
    """All views of a Profile, as plain data."""
    job = p.job
    communication = tables.total(p.communication, p.elapsed)
    devices = tables.devices(p)
    return {
        "schema": SCHEMA,
        "file": p.capture.path,
        "version": p.ranks[0].capture.version,
        "job": {"program": job.program, "arguments": job.arguments,
                "id": job.id, "ranks": job.ranks, "began": job.began,
                "mpi": job.mpi, "mpi_library": job.mpi_library,
                "flavour": job.flavour, "accelerated": job.accelerated},
        "selection": {"region": p.region, "ranks": None if p.only is None
                      else [r.rank for r in p.ranks]},
        "nodes": [{"number": n.number, "name": n.name,
                   "ranks": sorted(n.ranks), "rank_count": n.rank_count,
                   "processors": n.processors} for n in p.nodes],
        "missing_ranks": _ranges(p.missing),
        "ended_badly": {end: _ranges(found)
                        for end, found in p.ended_badly.items()},
        "problems": p.problems,
        "summary": {"wall_s": tables.seconds(p.wall),
                    "elapsed_s": tables.seconds(p.elapsed),
                    "compute_s": tables.seconds(p.compute),
                    "communication": communication,
                    "io": tables.total(p.io, p.elapsed),
                    "matched": p.matched._asdict()},
        **{name: tables.TABLES[name](p) for name in VIEWS},
        **({"devices": devices} if devices else {}),
        "findings": [dataclasses.asdict(f) for f in findings.find(p)],
    }


def render(p, out):
    report_json.render(report(p), out)
