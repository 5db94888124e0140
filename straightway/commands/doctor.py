"""straightway doctor: what this machine gives to Straightway."""

import dataclasses
import os
import sys

from straightway import native
from straightway.machine import checks, hardware, hosts
from straightway.reporters import (doctor_terminal, output, report_json,
                                   settings_terminal)


class Doctor:
    """Say what this machine gives to Straightway, and mend what it lacks.

    Each service that the library uses is tried between two real processes.
    For what is degraded or missing the report says what it costs and the
    command that mends it. Nothing is changed.

    The exit status is 0 whatever is found, 1 when Straightway itself is not
    whole (its library or its probe is missing).
    """

    name = "doctor"

    @staticmethod
    def arguments(parser):
        parser.add_argument("--mpi", metavar="MPI", help=(
            "look at this MPI alone: an installation's folder, or openmpi, "
            "mpich, intel"))
        parser.add_argument("--json", metavar="OUT",
                            help="the findings; - is stdout")
        parser.add_argument("--settings", nargs="?", const="users",
                            choices=("users", "all"), metavar="all", help=(
                                "list every setting with its value, and stop; "
                                "all: those of tests and commands, too"))

    @staticmethod
    def run(options):
        if options.settings:
            return settings(options)
        found = hosts.find(options.mpi)
        probe = native.probe()
        report = {
            "schema": "straightway-doctor/1",
            "machine": hardware.describe(),
            "mpi": [h.describe() for h in found],
            "probe": probe,
            "checks": [dataclasses.asdict(check)
                       for check in checks.every(found, probe)]}
        _show(report, options, doctor_terminal)
        return 0 if native.library().exists() else 1


def settings(options):
    """The table of settings, with what the environment says now."""
    table = [line for line in native.probe("--settings")
             if options.settings == "all" or not line["inner"]]
    for line in table:
        line["value"] = os.environ.get(line["name"])
    _show({"schema": "straightway-settings/1", "settings": table}, options,
          settings_terminal)
    return 0


def _show(report, options, reporter):
    if options.json:
        output.send(options.json, report_json, report)
    if options.json != "-":
        reporter.render(report, sys.stdout)
