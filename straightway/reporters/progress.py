"""The progress of a benchmark on a terminal, on stderr."""

import contextlib
import sys

from rich.progress import (BarColumn, MofNCompleteColumn, Progress,
                           TextColumn, TimeRemainingColumn)
from rich.text import Text

from straightway import units
from straightway.reporters.console import opened, wrapped


def start(mpi, ranks, what, machine):
    """Print the beginning of a run, and warn of a busy machine."""
    console = opened(sys.stderr)
    title = f"{mpi}, {ranks} ranks on {machine['cores']} cores: {what}" \
        if ranks else f"{mpi}: {what}"
    for line in wrapped(title, console.width):
        console.print(Text(line))
    if machine["load"] > 0.5 * machine["cores"]:
        console.print(Text(f"This machine is busy (load {machine['load']:.1f} "
                           f"on {machine['cores']} cores): figures will "
                           "spread.", "yellow"))


@contextlib.contextmanager
def bar(total):
    """Yields a function(operation, size, total) to call after each cell.

    It draws on demand only: a refreshing thread would take time from the
    ranks.
    """
    console = opened(sys.stderr)
    if not console.is_terminal:
        yield lambda operation, size, total: None
        return
    drawn = Progress(TextColumn("{task.description:<28}"), BarColumn(None),
                     MofNCompleteColumn(), TimeRemainingColumn(),
                     console=console, auto_refresh=False, transient=True)
    with drawn:
        task = drawn.add_task("starting", total=total)

        def step(operation, size, total):
            drawn.update(task, advance=1, total=total, refresh=True,
                         description=(f"{operation} {units.brief(size)}"
                                      if size else operation))

        drawn.refresh()
        yield step
