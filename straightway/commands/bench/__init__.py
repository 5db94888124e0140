"""straightway bench: a command with a subcommand for each benchmark.

Each is a class like those of `straightway.commands`.
"""

from straightway.commands.bench.collectives import Collectives
from straightway.commands.bench.datatypes import Datatypes
from straightway.commands.bench.onesided import Onesided
from straightway.commands.bench.overlap import Overlap
from straightway.commands.bench.pingpong import Pingpong
from straightway.commands.bench.recording import Recording


class Bench:
    """Measure the host MPI and Straightway side by side.

      straightway bench collectives   the blocking collectives
      straightway bench overlap       nonblocking and persistent ones
      straightway bench onesided      windows: put, get, accumulate, fence
      straightway bench pingpong      messages between neighbours
      straightway bench datatypes     messages with gaps
      straightway bench profile       the cost of recording

    straightway bench collectives --help and so on describe each.
    """

    name = "bench"

    @staticmethod
    def arguments(parser):
        below = parser.add_subparsers(dest="benchmark", metavar="BENCHMARK",
                                      required=True,
                                      parser_class=type(parser))
        for one in (Collectives, Overlap, Onesided, Pingpong, Datatypes,
                    Recording):
            child = below.add_parser(one.name, **parser.texts(one))
            one.arguments(child)
            child.set_defaults(measure=one.run)

    @staticmethod
    def run(options):
        return options.measure(options)
