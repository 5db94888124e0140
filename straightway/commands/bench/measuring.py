"""A benchmark's run, from its start on the terminal to the head of its report.
"""

import time

from straightway import native, units
from straightway.bench import results, runs
from straightway.commands.bench import choices
from straightway.machine import hardware
from straightway.reporters import progress


def counted(*of):
    """What is measured, in words, from pairs like (operations, "operation")."""
    return ", ".join(units.plural(len(some), what) for some, what in of)


def run(schema, options, host, ranks, what, arguments, cells=None,
        floors=True, before=()):
    """Run the native benchmark, with `arguments(seed)` and the words `before`
    it. Return the run and the head of its report, which has the machine's
    floors if `floors`."""
    machine = hardware.describe()
    found = native.probe("--floors").get("floors") if floors else None
    seed = choices.seed(options)
    progress.start(host.title, ranks, what, machine)
    start = time.monotonic()
    made = runs.launch(host, ranks, options.launcher_args, arguments(seed),
                       cells, progress.bar,
                       getattr(options, "launcher", None) or "", before)
    return made, results.head(schema, made, host, ranks, machine, found or {},
                              seed, time.monotonic() - start)
