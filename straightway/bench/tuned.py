"""What of the file of ways is in force on this machine, as doctor's checks."""

import os
import re

from straightway.bench import ways
from straightway.errors import UserError
from straightway.machine.checks import DEGRADED, NOTE, OK, Check

GROUP = "tuned"


def host_name(host):
    """A host's name in the file: openmpi-5.0.11, as src/coll/span_names.h
    says."""
    number = re.search(r"\d+(?:\.\d+)+\w*", host.version)
    return f"{host.kind}-{number.group()}" if number else host.kind


def _entries(text, name, machine):
    """[(ranks, what is said of it, rows)] of a host on this machine."""
    form = re.compile(re.escape(ways.near_head(name, "RANKS", machine))
                      .replace("RANKS", r"(\d+)"))
    for head, (about, rows) in ways.entries(text).items():
        found = form.fullmatch(head)
        if found:
            yield int(found.group(1)), about, rows


def settings(rows):
    """The lines of an entry that give a setting: they have no colon."""
    return [" ".join(row.partition("#")[0].split()) for row in rows.values()
            if ":" not in row.partition("#")[0]]


def _lines(found, machine):
    if os.environ.get("STRAIGHTWAY_TUNED", "").lower() in (
            "0", "off", "no", "false"):
        yield ("calls and sizes", DEGRADED,
               "switched off (STRAIGHTWAY_TUNED)",
               "calls that the MPI does faster are not left to it",
               "unset STRAIGHTWAY_TUNED")
        return
    try:
        file = ways.path()
    except UserError as error:
        yield ("calls and sizes", NOTE, f"{error}: no file of ways",
               "the built-in choices serve", "export HOME=...")
        return
    try:
        text = ways.read(file)
    except UserError as error:
        yield ("calls and sizes", DEGRADED, str(error).partition("\n")[0],
               "the built-in choices serve",
               f"rm {file}; straightway tune")
        return
    for host in {host.title: host for host in found if host.served}.values():
        entries = sorted(_entries(text, host_name(host), machine))
        for ranks, about, rows in entries:
            yield (f"{host.title}, {ranks} ranks", OK, ", ".join(
                [about or "no description", *settings(rows)]) + f"; {file}")
        if not entries:
            yield (host.title, NOTE, "nothing is tuned on this machine",
                   "a few calls may take longer than the MPI's own",
                   f"straightway tune --mpi {host.launcher or host.kind} "
                   "-n RANKS")


def checks(found, probe):
    """`found`: the MPIs of hosts.find; `probe`: the answer of the probe."""
    return [Check(GROUP, *line) for line in _lines(found, probe["machine"])]
