"""straightway whatif: a program in virtual time, under other models."""

import argparse
import os
import shutil
import sys
import tempfile

from straightway.commands import jobs
from straightway.commands.whatif_measure import Measure
from straightway.errors import UserError
from straightway.reporters import output, report_json, whatif_terminal
from straightway.whatif import (experiments, forecast, operations, runs,
                                supposed)

DEFAULT = "measured"
RECORDS = (".swops", ".goal", ".smpi")


class _Append(argparse.Action):
    """All experiments in one list, in the order in which they are given."""

    def __call__(self, parser, namespace, value, option=None):
        given = list(getattr(namespace, "changes", None) or [])
        given.append((option.lstrip("-"), value))
        namespace.changes = given


class _Moved(argparse.Action):
    """What was an option once, and is a subcommand."""

    def __call__(self, parser, namespace, value, option=None):
        raise UserError(f"{option} is a subcommand: straightway whatif "
                        f"{option[2:]} {value}")


def _add_experiments(parser, rerun=True):
    group = parser.add_argument_group("experiments")
    for name, (placeholder, text) in experiments.OPTIONS.items():
        group.add_argument(f"--{name}", metavar=placeholder,
                           action=_Append, dest="changes", help=text)
    group.add_argument("--experiment", metavar='"KEY=VALUE ..."',
                       action=_Append, dest="changes", help=(
                           "several changes at once: "
                           + ", ".join(experiments.KEYS)))
    group.add_argument("--nodes", type=int, metavar="N", help=(
        "of experiments with a --network; without one the network is that of "
        "whatif measure"))
    group.add_argument("--ranks-per-node", type=int, metavar="N",
                       help="the same, by the ranks of a node")
    if rerun:
        group.add_argument("--rerun", action="store_true", help=(
            "run the program again for each experiment, in place of replays"))
    return group


def _add_baseline(parser, program=True):
    """`program`: there is one to run."""
    add = parser.add_argument_group("baseline").add_argument
    add("--model", metavar="NAME|FILE.toml", action="append", help=(
        f"what communication takes; several are laid over each other "
        f"[{DEFAULT}]"))
    add("--recalibrate", action="store_true", help=(
        "measure this machine anew, for --model measured"))
    if program:
        add("--clocks", action="store_true", help=(
            "clock_gettime, gettimeofday and time answer virtual time, as "
            "MPI_Wtime does"))
        add("--measure", action="store_true", help=(
            "run the program normally, too, with more ranks than cores"))
        add("--runs", type=int, metavar="N", default=3,
            help="normal runs; 0: none [3]")
    add("--check", action="store_true", help=(
        "let the replay check that no event comes before its cause"))


def _add_reading(parser):
    add = parser.add_argument_group("other tools' files").add_argument
    add("--flops", metavar="RATE", help=(
        "SMPI's traces: flop/s of the machine that they are for [1e9]"))
    add("--file-order", action="store_true", help=(
        "GOAL: operations that wait for different messages go on in the order "
        "of the file [of the messages]"))


def _check_reading(options):
    """UserError for a wrong -n or --flops."""
    if options.ranks is not None:
        jobs.check_count(options.ranks)
    if options.flops is None:
        return
    try:
        good = 0 < float(options.flops) < 1e30
    except ValueError:
        good = False
    if not good:
        raise UserError(f"--flops {options.flops}: give flop/s, as in 2.5e9")


def _add_output(parser, program=True):
    add = parser.add_argument_group("output").add_argument
    add("--html", metavar="OUT", help="one page for browsers")
    add("--json", metavar="OUT", help=(
        "as whatif.schema.json describes it; - is stdout"))
    if program:
        add("--record", metavar="OUT", help=(
            "keep the recorded operations, *.swops, for replays; for other "
            "tools as *.goal or, SMPI's time-independent traces, *.smpi"))
        add("--show-output", action="store_true", help="let the program print")


def _run(options, sweep=None):
    """Run the program, and predict; with a sweep for each of its values."""
    program, ranks = jobs.take_program(options), options.ranks
    wanted = _experiments(options)
    if options.record:
        _check_ending(options.record, "--record")
    jobs.check_program(options, program)
    jobs.refuse_nested("whatif")
    if not sweep or sweep[0] != "ranks":
        jobs.check_ranks(options, program)
    elif ranks is not None:
        raise UserError(f"-n {ranks} and sweep {options.sweep}: give one of "
                        "them")
    else:
        ranks = sweep[1][-1]
    if options.runs < 0 or options.runs > 1000:
        raise UserError(f"--runs {options.runs}: give 0 to 1000")
    if options.rerun and any(change.key == "later" for one in wanted
                             for change in one.changes):
        raise UserError("--later and --rerun: only a replay completes calls "
                        "later; leave --rerun out")
    return _predict(options, forecast.Plan(
        ranks, wanted, options.model or [DEFAULT], sweep, options.rerun,
        options.measure, options.runs),
        jobs.job(options, program, not options.show_output), options.clocks,
        options.record)


def _experiments(options):
    return experiments.collect(options.changes or [], options.nodes,
                               options.ranks_per_node)


def _predict(options, plan, job=None, clocks=False, record=None):
    """Carry the plan out, and show its report."""
    for path in (options.html, options.json, record):
        output.check_writable(path)
    with jobs.steps() as step, tempfile.TemporaryDirectory(
            prefix="straightway-") as folder:
        models = supposed.Models(plan.models, job, plan.ranks or 2,
                                 options.recalibrate, step, options.mpi)
        runner = runs.Runner(job, folder, options.check, clocks)
        report = forecast.Forecast(runner, models, plan, step).report()
        _keep(runner, record)
    _show(report, options)
    return 0


class Run:
    """Run a program in virtual time, and predict its time.

    Straightway runs the unmodified program once. Each experiment is a replay
    of what this run recorded:

      straightway whatif run -n 16 --free alltoall ./app
    """

    name = "run"
    usage = "%(prog)s -n N [EXPERIMENTS, OPTIONS] PROGRAM [ARGUMENT ...]"

    @staticmethod
    def arguments(parser):
        jobs.add_program(parser.add_argument)
        _add_experiments(parser)
        _add_baseline(parser)
        _add_output(parser)
        jobs.add_launcher(parser)

    @staticmethod
    def run(options):
        return _run(options)


class Replay:
    """Predict from operations that were recorded before.

    No program runs. FILE holds operations (*.swops, of `whatif run --record`),
    a trace (*.swtrace), GOAL (*.goal) or SMPI's traces:

      straightway whatif replay app.swops --free alltoall
    """

    name = "replay"
    usage = "%(prog)s FILE [EXPERIMENTS, OPTIONS]"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("replay", metavar="FILE", help="what was recorded")
        add("-n", "--ranks", type=int, metavar="N",
            help="extrapolate a regular program to N ranks")
        _add_experiments(parser, rerun=False).add_argument(
            "--sweep", metavar="KEY=V,V,...", help=(
                "all of it for each value: nodes, ranks-per-node, cpu-speed"))
        _add_reading(parser)
        _add_baseline(parser, program=False)
        _add_output(parser, program=False)
        parser.add_argument_group("launcher").add_argument(
            "--mpi", metavar="MPI", help=(
                "the MPI that --model measured measures"))

    @staticmethod
    def run(options):
        wanted = _experiments(options)
        sweep = experiments.sweep(options.sweep) if options.sweep else None
        _check_reading(options)
        if sweep and sweep[0] == "ranks":
            raise UserError("--sweep ranks: needs the program; a replay has "
                            "the ranks that were recorded")
        return _predict(options, forecast.Plan(
            options.ranks, wanted, options.model or [DEFAULT], sweep,
            replay=options.replay, flops=options.flops,
            file_order=options.file_order))


class Sweep:
    """Predict for each of several values, with a plot.

    KEY is ranks (strong scaling), nodes, ranks-per-node or cpu-speed. The
    values come first, the program last:

      straightway whatif sweep ranks=2,4,8,16 --free all ./app
    """

    name = "sweep"
    usage = "%(prog)s KEY=V,V,... [-n N] [OPTIONS] PROGRAM"

    @staticmethod
    def arguments(parser):
        # The caller hands the values over as --sweep KEY=V,V,...
        parser.first = "--sweep"
        parser.add_argument("--sweep", help=argparse.SUPPRESS)
        Run.arguments(parser)

    @staticmethod
    def run(options):
        if not options.sweep:
            raise UserError("which values? straightway whatif sweep "
                            "ranks=2,4,8 PROGRAM")
        return _run(options, experiments.sweep(options.sweep))


class Convert:
    """Convert operations from one form to another.

    IN is what `whatif replay` takes. OUT is named *.swops, *.goal or *.smpi
    (SMPI's time-independent traces):

      straightway whatif convert app.8.4711.swtrace app.swops
    """

    name = "convert"
    usage = "%(prog)s [-n N] IN OUT"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("-n", "--ranks", type=int, metavar="N",
            help="extrapolate a regular program to N ranks")
        add("source", metavar="IN", help="what was recorded")
        add("out", metavar="OUT", help="the file to write")
        _add_reading(parser)

    @staticmethod
    def run(options):
        _check_ending(options.out, "OUT")
        output.check_writable(options.out)
        if os.path.realpath(options.out) == os.path.realpath(options.source):
            raise UserError(f"{options.out} is the file to read; name another "
                            "one to write")
        _check_reading(options)
        with tempfile.TemporaryDirectory(prefix="straightway-") as folder:
            source, notes = runs.Runner(None, folder).operations(
                options.source, options.ranks, flops=options.flops,
                file_order=options.file_order)
            _keep_as(source, options.out, notes, options.flops)
        return 0


class WhatIf:
    """Predict a program's time under other conditions.

    First try, with all-to-all exchanges that take no time:

      straightway whatif run -n 4 --free alltoall ./app

    Straightway runs the unmodified program in virtual time. It charges what the
    program computes by its own processor time, and what it communicates by a
    model. So any number of ranks runs on the cores there are.

      run      run a program, and answer what would be if
      replay   answer from what was recorded, without the program
      sweep    answer for each of several values, as in ranks=2,4,8
      convert  convert what was recorded to another form
      measure  measure the times between nodes

      straightway whatif run -n 64 --network hdr200 --nodes 16 ./app
      straightway whatif measure --launcher "srun -N 2 -n 2"
      straightway whatif run -n 4 --nodes 2 ./app
      straightway whatif run -n 8 --experiment "free=all cpu-speed=2" ./app
      straightway whatif sweep ranks=2,4,8,16 --free all ./app
      straightway whatif replay app.swops --free alltoall
      straightway whatif convert app.8.4711.swtrace app.goal

    Each experiment option is an experiment of its own; --experiment joins
    several in one. Each subcommand has a --help, which lists its options. The
    command starts the launcher itself.

    `straightway whatif` without one of these words means `whatif run`.
    """

    name = "whatif"

    @staticmethod
    def arguments(parser):
        parser.usage = "\n       ".join([
            "%(prog)s run -n N [EXPERIMENTS, OPTIONS] PROGRAM",
            "%(prog)s replay FILE [EXPERIMENTS, OPTIONS]",
            "%(prog)s sweep KEY=V,V,... [EXPERIMENTS, OPTIONS] PROGRAM",
            "%(prog)s convert IN OUT",
            "%(prog)s measure --launcher \"...\" [OPTIONS]"])
        for one in (Run, Replay, Sweep, Convert, Measure):
            parser.add_below(one)
        Run.arguments(parser)
        for option in ("--replay", "--sweep"):
            parser.add_argument(option, action=_Moved, help=argparse.SUPPRESS)

    @staticmethod
    def run(options):
        return Run.run(options)


def _check_ending(path, option):
    if not path.endswith(RECORDS):
        raise UserError(f"{option} {path}: name it *.swops, or for other tools "
                        "*.goal or *.smpi")


def _keep(runner, path):
    if not path:
        return
    recorded = sorted(runner.folder.glob("*.swops"),
                      key=lambda p: int(p.name.partition(".")[0]))
    if recorded:
        _keep_as(recorded[-1], path)


def _keep_as(source, path, notes=(), flops=None):
    """Operations in the form that the name of `path` asks for."""
    if path.endswith(".swops"):
        shutil.copyfile(source, path)
    else:
        notes = [*notes, *operations.convert(str(source), path, flops).notes]
    for note in notes:
        print(f"straightway: {note}", file=sys.stderr)
    print(f"straightway: wrote {path}", file=sys.stderr)


def _show(report, options):
    if options.json != "-":
        whatif_terminal.render(report, sys.stdout)
    if options.json:
        output.send(options.json, report_json, report)
    if options.html:
        from straightway.reporters import whatif_html
        output.announce(options.html, whatif_html, report)
