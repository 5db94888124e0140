"""straightway bench: a command of commands, one for each kind of benchmark.

Each is a class as those of `straightway.commands` are.
"""

from straightway.commands.bench.collectives import Collectives
from straightway.commands.bench.datatypes import Datatypes
from straightway.commands.bench.pingpong import Pingpong
from straightway.commands.bench.recording import Recording


class Bench:
    """Measure the host MPI and Straightway side by side.

    straightway bench collectives measures the blocking collectives,
    straightway bench pingpong messages between neighbours,
    straightway bench datatypes messages with gaps,
    straightway bench profile what recording costs; see
    straightway bench collectives --help and so on
    """

    name = "bench"

    @staticmethod
    def arguments(parser):
        below = parser.add_subparsers(dest="benchmark", metavar="BENCHMARK",
                                      required=True,
                                      parser_class=type(parser))
        for one in (Collectives, Pingpong, Datatypes, Recording):
            child = below.add_parser(one.name, **parser.texts(one))
            one.arguments(child)
            child.set_defaults(measure=one.run)

    @staticmethod
    def run(options):
        return options.measure(options)
