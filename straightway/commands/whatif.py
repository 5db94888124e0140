"""straightway whatif: a program in virtual time, under other models."""

import argparse
import contextlib
import os
import sys
import tempfile

from straightway import (benchmark, experiments, forecast, supposed,
                         whatif)
from straightway.errors import UserError
from straightway.reporters import json_file, text_file, whatif_terminal

MOST_RANKS = 1 << 20
DEFAULT = "measured"


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
        add = parser.add_argument
        add("-n", "--ranks", type=int, metavar="N", help="ranks")
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
        base.add_argument("--measure", action="store_true", help=(
            "run the program normally, too, with more ranks than cores"))
        base.add_argument("--runs", type=int, metavar="N", default=3,
                          help="normal runs; 0: none [3]")
        out = parser.add_argument_group("output")
        out.add_argument("--html", metavar="OUT", help=(
            "one page for browsers"))
        out.add_argument("--json", metavar="OUT", help=(
            "as whatif.schema.json describes it; - is stdout"))
        out.add_argument("--record", metavar="FILE", help=(
            "keep the recorded operations, *.swops, for --replay; or as "
            "*.goal, or for SMPI"))
        out.add_argument("--show-output", action="store_true",
                         help="let the program print")
        add("--mpi", metavar="MPI", help=(
            "the launcher's, and what is measured: an installation's "
            "folder, a launcher, or openmpi, mpich, intel"))
        add("--launcher-args", metavar="\"...\"", default="",
            help="hand these arguments to the launcher")
        add("--timeout", type=float, metavar="S",
            help="give up when a run takes longer")
        add("--check", action="store_true", help=(
            "let the replay check that no event comes before its cause"))
        add("program", nargs=argparse.REMAINDER, metavar="PROGRAM ...",
            help="the program and its arguments")

    @staticmethod
    def run(options):
        program = take_program(options.program)
        plan = _plan(options, program)
        for path in (options.html, options.json, options.record):
            benchmark.check_writable(path)
        job = whatif.Job(program, options.mpi, options.launcher_args,
                         options.timeout, not options.show_output) \
            if program else None
        with steps() as step, tempfile.TemporaryDirectory(
                prefix="straightway-") as folder:
            models = supposed.Models(
                plan.models, job, max([plan.ranks or 2] + (
                    plan.sweep[1] if plan.sweep and plan.sweep[0] == "ranks"
                    else [])), options.recalibrate, step, options.mpi)
            runner = whatif.Runner(job, folder, options.check)
            made = forecast.Forecast(runner, models, plan, step)
            report = made.report()
            _keep(runner, options.record)
        _show(report, options)
        return 0


def take_program(words):
    """Without a leading --; checked before anything is started."""
    words = words[1:] if words[:1] == ["--"] else list(words)
    if words and words[0].startswith("-"):
        raise UserError(f"unknown option {words[0]}; see straightway whatif "
                        "--help")
    return words


def _plan(options, program):
    wanted = experiments.collect(getattr(options, "changes", None) or [],
                                 options.nodes, options.ranks_per_node)
    sweep = experiments.sweep(options.sweep) if options.sweep else None
    if options.replay and program:
        raise UserError(f"--replay {options.replay} and a program, "
                        f"{program[0]}: give one of them")
    if options.replay and options.rerun:
        raise UserError("--rerun needs the program; --replay has none")
    if options.replay and options.record:
        raise UserError("--record needs a run; --replay has one already")
    if not options.replay:
        forecast.check_program(program)
        _check_ranks(options, sweep)
    elif sweep and sweep[0] == "ranks":
        raise UserError("--sweep ranks: needs the program; a replay has the "
                        "ranks that were recorded")
    elif options.ranks is not None and not 1 <= options.ranks <= MOST_RANKS:
        raise UserError(f"-n {options.ranks}: give 1 or more")
    if options.runs < 0 or options.runs > 1000:
        raise UserError(f"--runs {options.runs}: give 0 to 1000")
    ranks = options.ranks
    if sweep and sweep[0] == "ranks":
        ranks = sweep[1][-1]
    return forecast.Plan(ranks, wanted, options.model or [DEFAULT], sweep,
                         options.rerun, options.measure, options.runs,
                         options.replay)


def _check_ranks(options, sweep):
    refuse_nested("whatif")
    if sweep and sweep[0] == "ranks":
        if options.ranks:
            raise UserError(f"-n {options.ranks} and --sweep {options.sweep}:"
                            " give one of them")
        return
    if options.ranks is None:
        raise UserError("how many ranks? straightway whatif -n N PROGRAM")
    if not 1 <= options.ranks <= MOST_RANKS:
        raise UserError(f"-n {options.ranks}: give 1 or more")


def refuse_nested(command):
    """Inside a launcher each rank would start all of it again."""
    if any(os.environ.get(name) for name in (
            "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")):
        raise UserError(f"straightway {command} starts the launcher itself: "
                        "leave mpirun away and give -n N")


@contextlib.contextmanager
def steps():
    """What is going on, on stderr: a line that is written over on a
    terminal, and nothing in a pipe but what takes long."""
    live = sys.stderr.isatty()
    width = 0

    def step(text):
        nonlocal width
        if not live:
            return
        line = f"straightway: {text} ..."[:78]
        sys.stderr.write("\r" + line.ljust(width))
        sys.stderr.flush()
        width = len(line)

    try:
        yield step
    finally:
        if live and width:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()


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
            from straightway import operations
            for note in operations.convert(str(recorded[-1]), path).notes:
                print(f"straightway: {note}", file=sys.stderr)
        print(f"straightway: wrote {path}", file=sys.stderr)


def _show(report, options):
    if options.json != "-":
        whatif_terminal.render(report)
    if options.json:
        json_file.write(options.json, report)
    if options.html:
        from straightway.reporters import whatif_html
        write_page(options.html, whatif_html.render(report))


def write_page(path, text):
    text_file.write(path, text)
    print(f"straightway: wrote {path}", file=sys.stderr)
