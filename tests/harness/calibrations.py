"""Calibrations with known times, in place of ones that take a while."""

import json
import sys

from straightway.whatif import measured
from straightway.whatif.models import check

from . import jobs

POINTS = [[0, 100.0, 50.0, 150.0, 100.0], [8, 100.0, 50.0, 150.0, 100.0],
          [1 << 20, 40000.0, 0.0, 90000.0, 40000.0]]
# Keeps one for the MPI whose launcher is argv[1].
_KEEP = """
import json, sys
from straightway.machine import hosts
from straightway.whatif import measured
host = hosts.choose(sys.argv[1])
found = json.load(open(sys.argv[2]))
found["key"] = measured.key(host, measured.rank_counts(2)[-1])
measured._keep(found)
assert measured._kept(found["key"]), "it is not kept"
"""


def calibration(ranks=2):
    """As measured.calibrate makes it: Straightway takes half the time."""
    tables = {"barrier": {"2": {"0": 200.0}},
              "alltoall": {"2": {"8": 300.0, "1048576": 200000.0}}}
    times = {"collectives": {"host": tables, "ours": {
        name: {n: {s: t / 2 for s, t in by.items()} for n, by in one.items()}
        for name, one in tables.items()}},
        "links": {"host": POINTS, "ours": POINTS}}
    # A late rank finds all undone by the host, and little by Straightway.
    parts = {who: {"alltoall": {"8": {
        "blocking": blocking, "start": 30.0, "shared": shared, "own": own,
        "aside": 0.0, "held": held}}} for who, blocking, shared, own, held in (
            ("host", 300.0, 0.0, 270.0, 1.0),
            ("ours", 150.0, 105.0, 15.0, 0.0))}
    tables["fence"] = {"2": {"0": 400.0}}
    times["collectives"]["ours"]["fence"] = {"2": {"0": 100.0}}
    calls = {name: [[8, 200.0, 50.0], [4096, 1000.0, 50.0]]
             for name in check.ACCESSES}
    calls.update(lock=300.0, unlock=300.0)
    onesided = {"host": {"created": calls, "allocated": calls},
                "ours": {"created": dict(calls, put=[[8, 20.0, 10.0]])}}
    # The same, whatever was computed before.
    states = [dict(times, swept=swept, after=after, after_byte=after_byte)
              for swept, after, after_byte in measured.STATES]
    return dict(times, key={"mpi": "Open MPI 5.0.11", "ranks": ranks},
                given=[[4096, 50.0, 100.0, 200.0, 50.0]], eager=4096,
                made="2026-01-01T00:00:00+00:00",
                parts=sorted(measured.PARTS), others=0.0, copy=0.05,
                states=states, started=parts, onesided=onesided)


def keep(host, folder, environment):
    """A calibration of this host for 2 ranks, where commands look for it;
    returns the environment in which they do."""
    environment = dict(environment, XDG_CACHE_HOME=str(folder))
    found = folder / "calibration.json"
    found.write_text(json.dumps(calibration()))
    done = jobs.run([sys.executable, "-c", _KEEP, host.mpirun, found],
                    environment, 60)
    assert done.returncode == 0, done.stdout + done.stderr
    return environment
