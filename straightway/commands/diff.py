"""straightway diff: two captures side by side."""

import sys

from straightway.commands import report
from straightway.profile import comparison
from straightway.reporters import (diff_terminal, output, profile_csv,
                                   report_json)


class Diff:
    """Compare two capture files.

    It shows where the time went in both runs, the time of every operation, and
    the speed-up: A's time over B's. It warns where the two do not compare:

      straightway diff before.8.4711.swcap after.8.4712.swcap
    """

    name = "diff"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("a", metavar="A", help="a capture, before")
        add("b", metavar="B", help="a capture, after")
        add("--json", metavar="OUT", help=(
            "the comparison, in the form of diff.schema.json; - is stdout"))
        add("--csv", metavar="OUT", help=(
            "the operations, one row each; - is stdout"))
        add("--top", metavar="N", type=int, help="operations shown [20]")
        add("--region", metavar="NAME",
            help="only this region of both, with those within it")

    @staticmethod
    def run(options):
        report.check_top(options.top)
        with report.without_collector():
            found = comparison.compare(
                report.read(options.a, options.region),
                report.read(options.b, options.region))
        if options.json is not None:
            for source in (options.a, options.b):
                report.check_not_source(options.json, source)
            output.send(options.json, report_json, found)
        if options.csv is not None:
            for source in (options.a, options.b):
                report.check_not_source(options.csv, source)
            report.write(options.csv, profile_csv,
                         found["operations"][:options.top], options.a)
        if options.json is None and options.csv is None:
            diff_terminal.render(found, sys.stdout, top=options.top)
        return 0
