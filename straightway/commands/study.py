"""straightway study: profile, prediction and measured gain of a program."""

import os
import pathlib
import sys
import tempfile

from straightway import study
from straightway.capture import names
from straightway.commands import jobs
from straightway.errors import UserError
from straightway.reporters import output, report_json, study_terminal
from straightway.whatif import runs, supposed

MOST_RUNS = 1000
RUNS = 3                # of each side, where turns cannot tell


class Study:
    """Profile a program, predict what Straightway gains, and measure it.

    The study runs the program once in virtual time. Then the program runs once
    more, and Straightway goes off and on in turns. That tells the gain with an
    interval. Where turns cannot tell, the program runs several times alone and
    with Straightway, as with --runs. From benchmarks of the operations that the
    program calls, the study predicts the gain, and the most that the program
    could gain. The prediction stands beside the measured gain, on the terminal
    and in one HTML file with the profile:

      straightway study -n 2 ./app
      straightway study -n 8 --runs 5 --html app.html python app.py

    The command starts the launcher itself. The first study under an MPI
    measures the operations of the program on this machine, for some
    seconds, and keeps the result.
    """

    name = "study"

    @staticmethod
    def arguments(parser):
        parser.usage = jobs.usage("OPTIONS")
        add = parser.add_argument
        jobs.add_program(add)
        way = parser.add_mutually_exclusive_group().add_argument
        way("--in-turns", action="store_true", help=(
            "measure in one run in turns, without separate runs"))
        way("--runs", type=int, metavar="N", help=(
            "measure by this many separate runs of each side [turns, else "
            f"{RUNS}]"))
        add("--html", metavar="OUT", help="the page [PROGRAM.N.study.html]")
        add("--json", metavar="OUT", help=(
            "in the form of study.schema.json; - is stdout"))
        add("--recalibrate", action="store_true",
            help="measure this machine anew")
        jobs.add_launcher(parser)

    @staticmethod
    def run(options):
        program = jobs.take_program(options)
        jobs.check_program(options, program)
        jobs.refuse_nested("study")
        jobs.check_ranks(options, program)
        if options.runs is not None and not 1 <= options.runs <= MOST_RUNS:
            raise UserError(f"--runs {options.runs}: give 1 to {MOST_RUNS}")
        job = jobs.job(options, program)
        out = options.html or page_name(program, options.ranks)
        for path in (out, options.json):
            output.check_writable(path)
        with jobs.steps() as step, tempfile.TemporaryDirectory(
                prefix="straightway-") as folder:
            models = supposed.Models(["measured"], job, options.ranks,
                                     options.recalibrate, step)
            runner = runs.Runner(job, folder)
            made = study.Study(runner, models, options.ranks,
                               options.runs or RUNS, step, _in_turns(options))
            report = made.report()
            names.add(made.profile.capture)
            made.profile = type(made.profile)(made.profile.capture)
        if options.json != "-":
            study_terminal.render(report, sys.stdout, profile=made.profile)
        if options.json:
            output.send(options.json, report_json, report)
        from straightway.reporters import study_html
        output.announce(out, study_html, report, bool(options.html),
                        profile=made.profile)
        return 0


def _in_turns(options):
    if options.runs is not None:
        return "never"
    return "only" if options.in_turns else "first"


def page_name(program, ranks):
    """demo.2.study.html, in the working directory; a script gives its name."""
    word = program[0]
    if os.path.basename(word).startswith("python"):
        word = next((w for w in program[1:] if not w.startswith("-")), word)
    name = pathlib.PurePath(word.rstrip("/")).name
    name = name[:-3] if name.endswith(".py") else name
    return f"{name or 'program'}.{ranks}.study.html"
