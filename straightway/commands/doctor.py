"""straightway doctor: what this machine offers Straightway."""

import dataclasses
import json
import os
import subprocess
import sys
import tempfile

from straightway import capture, native
from straightway.bench import runs, tuned
from straightway.errors import UserError
from straightway.machine import checks, gpus, hardware, hosts, nodes
from straightway.ranges import ranges
from straightway.reporters import (doctor_terminal, output, report_json,
                                   settings_terminal)


class Doctor:
    """Show what this machine offers Straightway, and how to mend the rest.

    The doctor tries each service that the library uses between two real
    processes. For each degraded or missing one it reports the cost, and the
    command that mends it. It changes nothing.

    With -n it also starts a job of so many ranks, which makes some barriers.
    The doctor then says on which nodes the ranks are. Of several nodes it also
    says what rank 0 has opened to reach the others: TCP connections, and
    adapters' devices.

    The exit status is 1 when a part of Straightway itself is missing (its
    library or its probe), and 0 otherwise.
    """

    name = "doctor"

    @staticmethod
    def arguments(parser):
        parser.add_argument("--mpi", metavar="MPI", help=(
            "look at this MPI alone: an installation's folder, or openmpi, "
            "mpich, intel"))
        parser.add_argument("-n", "--ranks", type=int, metavar="N", help=(
            "start N ranks, and say on which nodes they are"))
        parser.add_argument("--launcher-args", metavar="\"...\"", default="",
                            help="hand these arguments to the launcher")
        parser.add_argument("--json", metavar="OUT", help=(
            "the findings, in the form of doctor.schema.json; - is stdout"))
        parser.add_argument("--settings", nargs="?", const="users",
                            choices=("users", "all"), metavar="all", help=(
                                "list every setting with its value, and stop; "
                                "all: also those of tests and commands"))

    @staticmethod
    def run(options):
        if options.settings:
            return settings(options)
        found = hosts.find(options.mpi)
        probe = native.probe()
        every = [*checks.every(found, probe), *gpus.checks(found),
                 *tuned.checks(found, probe), *nodes.checks(found)]
        job = None
        if options.ranks is not None:
            job = _job(options)
            every += nodes.job_checks(job, lambda found: str(ranges(found)))
        report = {
            "schema": "straightway-doctor/1",
            "machine": hardware.describe(),
            "mpi": [h.describe() for h in found],
            "probe": probe, "job": job,
            "checks": [dataclasses.asdict(check) for check in every]}
        _show(report, options, doctor_terminal)
        return 0 if native.library().exists() else 1


def _job(options):
    """A small job: its ranks as its capture has them, and what carried its
    messages as the benchmark saw it."""
    if options.ranks < 1:
        raise UserError("-n needs a number of ranks, 1 or more")
    host = hosts.choose(options.mpi)
    runs.check_parts(host)
    with tempfile.TemporaryDirectory(prefix="straightway-") as folder:
        path, lines = (os.path.join(folder, name)
                       for name in ("job.swcap", "lines"))
        words = runs.command(
            host, options.ranks, options.launcher_args,
            ["--ops", "barrier", "--sizes", "8", "--seconds", "0.001"],
            lines,
            ["env", "STRAIGHTWAY_PROFILE=on", "STRAIGHTWAY_PROFILE_REPORT=off",
             f"STRAIGHTWAY_PROFILE_OUTPUT={path}"])
        done = subprocess.run(words, stdin=subprocess.DEVNULL, text=True,
                              errors="replace", capture_output=True)
        if done.returncode or not os.path.exists(path):
            raise UserError(
                f"a job of {options.ranks} ranks under {host.title} ended "
                f"with status {done.returncode}\n" + done.stderr.strip(), 1)
        with open(lines, encoding="utf-8") as file:
            start = json.loads(file.readline())["start"]
        return nodes.places(capture.read(path).ranks, start["wires"])


def settings(options):
    """Show the table of settings, with the values in the environment."""
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
