"""straightway whatif: a program in virtual time, under other models."""

import argparse
import sys
import tempfile

from straightway.commands import jobs
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


class WhatIf:
    """Predict a program's time under other conditions.

    Runs the program, unmodified, in virtual time: what it computes is charged
    by its own processor time, what it communicates by a model, so that any
    number of ranks runs on the cores there are. Then answers what would be if

      straightway whatif -n 64 --free alltoall ./app
      straightway whatif -n 2 --scale alltoall=0.5 --free all ./app
      straightway whatif -n 64 --network hdr200 --nodes 16 \\
                         --ranks-per-node 4 ./app
      straightway whatif -n 8 --experiment "free=alltoall cpu-speed=2" ./app
      straightway whatif --sweep ranks=2,4,8,16 --free all ./app
      straightway whatif --replay app.swops --free alltoall

    Each experiment option is an experiment of its own; --experiment joins
    several in one. All but the first run are replays of what it recorded, and
    take seconds. The command starts the launcher itself.
    """

    name = "whatif"

    @staticmethod
    def arguments(parser):
        parser.usage = jobs.usage(
            "EXPERIMENTS, OPTIONS",
            "%(prog)s --sweep ranks=N,N,... [EXPERIMENTS, OPTIONS] PROGRAM",
            "%(prog)s --replay FILE [EXPERIMENTS, OPTIONS]")
        add = parser.add_argument
        jobs.add_program(add)
        add("--replay", metavar="FILE", help=(
            "no program: operations that were recorded (*.swops), a trace "
            "(*.swtrace), GOAL (*.goal) or SMPI's traces; -n N: on more "
            "ranks, extrapolated"))
        group = parser.add_argument_group("experiments")
        for name, (placeholder, text) in experiments.OPTIONS.items():
            group.add_argument(f"--{name}", metavar=placeholder,
                               action=_Append, dest="changes", help=text)
        group.add_argument("--experiment", metavar='"KEY=VALUE ..."',
                           action=_Append, dest="changes", help=(
                               "several changes at once: "
                               + ", ".join(experiments.KEYS)))
        group.add_argument("--nodes", type=int, metavar="N", help=(
            "of experiments with a --network"))
        group.add_argument("--ranks-per-node", type=int, metavar="N",
                           help="of experiments with a --network")
        group.add_argument("--rerun", action="store_true", help=(
            "run the program again for each experiment, in place of replays"))
        group.add_argument("--sweep", metavar="KEY=V,V,...", help=(
            "all of it for each value: ranks=2,4,8 (strong scaling), nodes, "
            "ranks-per-node, cpu-speed"))
        base = parser.add_argument_group("baseline")
        base.add_argument("--model", metavar="NAME|FILE.toml",
                          action="append", help=(
                              "what communication takes; several are laid "
                              f"over each other [{DEFAULT}]"))
        base.add_argument("--recalibrate", action="store_true", help=(
            "measure this machine anew, for --model measured"))
        base.add_argument("--clocks", action="store_true", help=(
            "clock_gettime, gettimeofday and time answer virtual time, as "
            "MPI_Wtime does"))
        base.add_argument("--measure", action="store_true", help=(
            "run the program normally, too, with more ranks than cores"))
        base.add_argument("--runs", type=int, metavar="N", default=3,
                          help="normal runs; 0: none [3]")
        base.add_argument("--check", action="store_true", help=(
            "let the replay check that no event comes before its cause"))
        out = parser.add_argument_group("output")
        out.add_argument("--html", metavar="OUT", help=(
            "one page for browsers"))
        out.add_argument("--json", metavar="OUT", help=(
            "as whatif.schema.json describes it; - is stdout"))
        out.add_argument("--record", metavar="FILE", help=(
            "keep the recorded operations, *.swops, for --replay; for other "
            "tools as *.goal or, SMPI's time-independent traces, *.smpi"))
        out.add_argument("--show-output", action="store_true",
                         help="let the program print")
        jobs.add_launcher(parser)

    @staticmethod
    def run(options):
        program = jobs.take_program(options)
        plan = _plan(options, program)
        for path in (options.html, options.json, options.record):
            output.check_writable(path)
        job = jobs.job(options, program, not options.show_output) \
            if program else None
        with jobs.steps() as step, tempfile.TemporaryDirectory(
                prefix="straightway-") as folder:
            models = supposed.Models(
                plan.models, job, max([plan.ranks or 2] + (
                    plan.sweep[1] if plan.sweep and plan.sweep[0] == "ranks"
                    else [])), options.recalibrate, step, options.mpi)
            runner = runs.Runner(job, folder, options.check,
                                 options.clocks)
            made = forecast.Forecast(runner, models, plan, step)
            report = made.report()
            _keep(runner, options.record)
        _show(report, options)
        return 0


def _plan(options, program):
    wanted = experiments.collect(getattr(options, "changes", None) or [],
                                 options.nodes, options.ranks_per_node)
    sweep = experiments.sweep(options.sweep) if options.sweep else None
    if options.replay and program:
        raise UserError(f"--replay {options.replay} and a program, "
                        f"{program[0]}: give one of them")
    if options.replay and options.rerun:
        raise UserError("--rerun needs the program; --replay has none")
    if options.replay and options.clocks:
        raise UserError("--clocks needs the program; --replay has none")
    if options.replay and options.record:
        raise UserError("--record needs a run; --replay has one already")
    if options.record and not options.record.endswith(RECORDS):
        raise UserError(f"--record {options.record}: name it *.swops, or for "
                        "other tools *.goal or *.smpi")
    if not options.replay:
        jobs.check_program(options, program, ", or --replay FILE")
        _check_ranks(options, program, sweep)
    elif sweep and sweep[0] == "ranks":
        raise UserError("--sweep ranks: needs the program; a replay has the "
                        "ranks that were recorded")
    elif options.ranks is not None:
        jobs.check_count(options.ranks)
    if options.runs < 0 or options.runs > 1000:
        raise UserError(f"--runs {options.runs}: give 0 to 1000")
    ranks = options.ranks
    if sweep and sweep[0] == "ranks":
        ranks = sweep[1][-1]
    return forecast.Plan(ranks, wanted, options.model or [DEFAULT], sweep,
                         options.rerun, options.measure, options.runs,
                         options.replay)


def _check_ranks(options, program, sweep):
    jobs.refuse_nested("whatif")
    if not sweep or sweep[0] != "ranks":
        jobs.check_ranks(options, program)
    elif options.ranks is not None:
        raise UserError(f"-n {options.ranks} and --sweep {options.sweep}: "
                        "give one of them")


def _keep(runner, path):
    if not path:
        return
    import shutil
    recorded = sorted(runner.folder.glob("*.swops"),
                      key=lambda p: int(p.name.partition(".")[0]))
    if recorded:
        if path.endswith(".swops"):
            shutil.copyfile(recorded[-1], path)
        else:
            for note in operations.convert(str(recorded[-1]), path).notes:
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
