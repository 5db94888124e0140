"""straightway map: which rank should sit on which core."""

import functools
import os
import pathlib
import sys
import tempfile

from straightway import capture, profile
from straightway.commands import jobs
from straightway.errors import UserError, nearest
from straightway.machine import tree_slots
from straightway.machine import slots as machines
from straightway.machine.readers import (allocation, launch_files, saved,
                                         sysfs)
from straightway.mapping import launchers, patterns, proposal, solve
from straightway.profile import placement
from straightway.reporters import map_terminal, output, report_json
from straightway.whatif import placements, runs, sends, supposed

UNITS = ("bytes", "messages")
BEFORE = ("blocked", "cyclic")


class Map:
    """Place the ranks: which should sit on which core of a machine.

    The traffic is that of a capture, of a trace, or of a pattern:

      straightway map app.8.4711.swcap --machine 2x2x2
      straightway map app.8.4711.swtrace --machine 2x4 --network hdr200
      straightway map --grid 8x8x4 --periods 1,0,1 --machine 4x2x32
      straightway map app.swcap --machine 2x4 --hosts n1,n2 --write place

    --machine 50x2x24 is 50 nodes of 2 packages of 24 cores. It may join parts
    (3x2x24+2x16) and name levels (switch=6,node=4,package=2,core=24). Without
    it the nodes are those of the capture, or this machine. A file is what
    straightway topo --json has written, of any machine.

    From a trace or recorded operations (whatif --record) the time before and
    after is predicted. --write PREFIX writes what the launcher reads, and the
    page ends with the whole command.
    """

    name = "map"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("file", metavar="FILE", nargs="?", help=(
            "a capture (*.swcap), a trace (*.swtrace) or recorded operations "
            "(*.swops)"))
        add("--json", metavar="OUT", help=(
            "as map.schema.json describes it; - is stdout"))
        _traffic_options(parser.add_argument_group("traffic").add_argument)
        _machine_options(parser.add_argument_group("machine").add_argument)
        _prediction_options(
            parser.add_argument_group("prediction").add_argument)
        add = parser.add_argument_group("launch").add_argument
        add("--launcher", metavar="NAME", choices=tuple(launchers.LAUNCHERS),
            help=", ".join(launchers.LAUNCHERS)
            + " [that of the capture's MPI, else openmpi]")
        add("--write", metavar="PREFIX", help=(
            "write the launcher's files, PREFIX.*"))
        add("--bind", metavar="TO", choices=("core", "none"), default="core",
            help="core: each rank gets its core; none: its node alone, for "
            "ranks with threads [core]")

    @staticmethod
    def run(options):
        output.check_writable(options.json)
        output.check_writable(options.write)
        with jobs.steps() as step, tempfile.TemporaryDirectory(
                prefix="straightway-") as folder:
            report, made = _report(options, folder, step)
        if made:
            _keep(made)
        if options.json != "-":
            map_terminal.render(report, sys.stdout)
        if options.json:
            output.send(options.json, report_json, report)
        return 0


def _traffic_options(add):
    add("--grid", metavar="AxBx...", help="in place of FILE: ranks in a grid")
    add("--periods", metavar="1,0,...", nargs="?", const="all", help=(
        "the dimensions that close to a ring; alone: all"))
    add("--stencil", metavar="NAME", default="faces", help=(
        "the neighbours: " + ", ".join(patterns.STENCILS)
        + ', or offsets as in "1,0 -1,0" [faces]'))
    add("--by", metavar="UNIT", choices=UNITS, default=UNITS[0],
        help="what counts: bytes or messages [bytes]")
    add("--region", metavar="NAME", help=(
        "only this region of a trace, with those within it"))


def _machine_options(add):
    add("--machine", metavar="AxBx...|FILE", help=(
        "nodes x cores, nodes x packages x cores, ...; what straightway topo "
        "--json wrote; here: this machine"))
    add("--hosts", metavar="A,B,...|FILE", help=(
        "the nodes' names, for the launcher: n1,n2 or n[01-16], or a host "
        "file [the batch system's, else the capture's]"))
    add("--weights", metavar="LEVEL=W,...", help=(
        "what a byte costs that crosses a level, as in node=12,package=3"))
    add("--before", metavar="HOW|FILE", help=(
        "the placement to compare with: blocked, cyclic, a capture, or what "
        "the launcher reads today (rankfile, MPICH_RANK_ORDER, host file) [as "
        "the capture ran, else blocked]"))


def _prediction_options(add):
    add("--model", metavar="NAME|FILE.toml", action="append", help=(
        "what communication takes, as in straightway whatif [measured]"))
    add("--network", metavar="NAME", help="the network between the nodes")
    add("--mpi", metavar="MPI", help=(
        "the MPI that --model measured measures"))


# The question ---------------------------------------------------------------

class _Source:
    """What FILE is: its Profile, its operations, or neither."""

    def __init__(self, options, folder):
        self.path, self.profile, self.notes = options.file, None, []
        self.runner = runs.Runner(None, folder)
        self.ops = None
        if not self.path:
            return
        if not os.path.isfile(self.path):
            raise UserError(f"{self.path}: there is no such file")
        if _is_capture(self.path):
            found = capture.read(self.path)
            self.profile = profile.Profile(found)
            if not found.traced and not any(r.trace for r in found.ranks):
                return
        self.ops, self.notes = self.runner.operations(self.path)

    @functools.cached_property
    def seats(self):
        """(Slots on which the capture's ranks ran, the slot of each), where it
        tells them apart; else None."""
        found = self.profile and placement.seats(self.profile)
        return found if found and (found[0].cpus or len(found[0].levels) > 2
                                   or len(self.profile.nodes) > 1) else None

    def traffic(self, options):
        if self.profile and not options.region:
            found = placement.traffic(self.profile, options.by)
        elif self.ops:
            found = sends.traffic(
                self.ops, options.by, self.runner.ranks_of(self.ops),
                options.region)
        else:
            raise UserError(
                f"--region {options.region}: {self.path} does not tell the "
                "partners of regions apart\n  record a trace: straightway "
                "profile --trace PROGRAM")
        if not found.total:
            raise UserError(
                f"{self.path} has no messages between ranks"
                + (f" in region {options.region}" if options.region else "")
                + "; collectives alone make no placement better than another")
        return found


def _grid(options):
    sizes = patterns.dims(options.grid)
    periods = patterns.periods(options.periods, sizes) \
        if options.periods is not None else None
    return patterns.Grid(sizes, periods,
                         patterns.stencil(options.stencil, sizes))


def _check(options):
    if options.file and options.grid:
        raise UserError(f"{options.file} and --grid {options.grid}: give one "
                        "of them")
    if not options.file and not options.grid:
        raise UserError("which traffic? straightway map FILE, or --grid 8x8x4")
    if options.file and options.periods is not None:
        raise UserError("--periods belongs to --grid")
    if options.grid and options.region:
        raise UserError("--region needs a trace; --grid has no regions")
    if options.before not in (None, *BEFORE) and \
            not os.path.isfile(options.before):
        raise UserError(f"--before {options.before}: there is no such file; "
                        + nearest(options.before, BEFORE,
                                  "give blocked, cyclic or a file"))


def _machine(options, source, ranks):
    """(Slots, at least as many as ranks; their description)."""
    text, around = options.machine, allocation.around()
    if text and ("/" in text or text.endswith(".json")) and \
            not os.path.isfile(text):
        raise UserError(f"--machine {text}: there is no such file")
    if text and os.path.isfile(text):
        found = tree_slots.slots(saved.read(text))
    elif text and text != "here":
        found = machines.parse(text)
    elif not text and source.seats:
        found, text = source.seats[0], "the capture's"
        if found.cpus:
            text += " cores"
    elif not text and source.profile and len(source.profile.nodes) > 1:
        nodes = source.profile.nodes
        found = machines.parse("+".join(str(node.rank_count)
                                        for node in nodes))
        found = found.named(node.name for node in nodes)
        text = "the capture's"
    else:
        found = sysfs.slots()
        if not text and around and len(around.names) > 1:
            found = found.repeated(len(around.names))
            text = f"the {len(around.names)} nodes of {around.source}, each " \
                "like this one"
        else:
            text = "here"
    if len(found) < ranks:
        raise UserError(
            f"{ranks} ranks and {len(found)} cores (machine {text}): give a "
            "larger --machine")
    names = _names(options, source, around,
                   len(set(found.first(ranks).nodes)))
    return found.named(names) if names else found, text


def _names(options, source, around, nodes):
    """The nodes' names, or None. A job of the batch system names those that the
    launcher will find; those of a capture may be another job's."""
    if options.hosts:
        names = allocation.given(options.hosts).names
        if len(names) < nodes:
            raise UserError(f"--hosts {options.hosts}: the machine has {nodes} "
                            f"nodes, and the list {len(names)}")
        return names
    if around and options.write and len(around.names) >= nodes:
        source.notes.append(f"The nodes' names are those of {around.source}.")
        return around.names
    found = [node.name for node in source.profile.nodes] \
        if source.profile else []
    return found if len(found) >= nodes else None


def _weights(options, slots):
    if not options.weights:
        return None
    given = {}
    for word in options.weights.split(","):
        name, _, value = word.partition("=")
        if name not in slots.levels:
            raise UserError(f"--weights {options.weights}: the machine has no "
                            f"level {name}; it has "
                            + ", ".join(slots.levels))
        try:
            given[name] = float(value)
        except ValueError:
            raise UserError(f"--weights {options.weights}: {value or 'nothing'}"
                            " is no number; give words like node=12") from None
    found = [given.get(level, weight)
             for level, weight in zip(slots.levels, slots.weights())]
    if found != sorted(found, reverse=True) or found[-1] < 0:
        raise UserError(
            f"--weights {options.weights}: " + ", ".join(
                f"{level} {weight:g}" for level, weight in zip(
                    slots.levels, found))
            + "; an outer level costs at least as much as those within it")
    return found


def _before(options, source, slots, ranks):
    """(placement on these Slots, its description)"""
    if options.before and options.before not in BEFORE:
        return _before_file(options.before, slots, ranks), \
            f"as in {options.before}"
    slots = slots.first(ranks)
    if not options.before and source.profile:
        found = placement.on_nodes(source.profile, slots) \
            if options.machine or not source.seats else source.seats[1]
        if found:
            return found, "as it ran"
    if options.before == "cyclic":
        return solve.round_robin(slots), "round robin"
    return solve.blocked(slots, ranks), "blocked"


def _is_capture(path):
    with open(path, "rb") as file:
        return file.read(8) == capture.MAGIC


def _before_file(path, slots, ranks):
    if not _is_capture(path):
        return launch_files.read(path, slots, ranks)
    ran = profile.Profile(capture.read(path))
    if ran.job.ranks != ranks:
        raise UserError(f"--before {path}: it has {ran.job.ranks} ranks, and "
                        f"the traffic has {ranks}")
    found = placement.on_nodes(ran, slots)
    if not found:
        raise UserError(f"--before {path}: the machine's nodes have no room "
                        "for its ranks as they ran")
    return found


def _asked(options, source):
    grid = _grid(options) if options.grid else None
    traffic = grid.traffic() if grid else source.traffic(options)
    slots, text = _machine(options, source, traffic.ranks)
    before, name = _before(options, source, slots, traffic.ranks)
    # The ranks change places among the slots that they have today.
    used = sorted(before)
    slots = slots.only(used)
    place = {slot: i for i, slot in enumerate(used)}
    before = [place[slot] for slot in before]
    return proposal.Asked(
        options.file or f"grid {options.grid}", traffic, slots, before, name,
        text, options.region, grid, _weights(options, slots))


# The answer -----------------------------------------------------------------

def _report(options, folder, step):
    _check(options)
    source = _Source(options, folder)
    asked = _asked(options, source)
    step("looking for a placement")
    found = proposal.solution(asked)
    made, why, notes = _predict(options, source, asked, found, step)
    launch = _launch(options, source, asked, found)
    report = proposal.report(asked, found, made, why, launch,
                             [*source.notes, *notes])
    return report, launch and launch[1]


def _predict(options, source, asked, found, step):
    """({BEFORE: Outcome, AFTER: Outcome} or None, why not, sentences)."""
    if not source.ops:
        return None, "" if options.grid else (
            "this needs a trace (straightway profile --trace), or recorded "
            "operations."), []
    step("replaying it under both placements")
    models = supposed.Models(options.model or ["measured"], None,
                             source.runner.ranks_of(source.ops), False, step,
                             options.mpi)
    made = placements.predict(
        source.runner, models, source.ops,
        {proposal.BEFORE: asked.before, proposal.AFTER: found.placement},
        asked.slots, options.network)
    return made, None, [*models.about, *models.doubts]


def _launch(options, source, asked, found):
    """(launcher, Launch), where the user wants its files."""
    if not options.write:
        if options.launcher:
            raise UserError(f"--launcher {options.launcher}: give --write "
                            "PREFIX for its files, too")
        return None
    name = options.launcher or (launchers.of_mpi(source.profile.job.mpi)
                                if source.profile else "openmpi")
    return name, launchers.launch(name, found.placement, asked.slots,
                                  options.write, options.bind == "core")


def _keep(made):
    for path, text in made.files.items():
        try:
            pathlib.Path(path).write_text(text)
            if path in made.scripts:
                os.chmod(path, 0o755)
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}", 1) from None
        print(f"straightway: wrote {path}", file=sys.stderr)
