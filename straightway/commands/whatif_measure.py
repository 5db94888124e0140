"""straightway whatif measure: the times between nodes, for predictions."""

import sys

from straightway.bench.runs import check_parts
from straightway.commands import jobs
from straightway.commands.bench import choices
from straightway.errors import UserError
from straightway.whatif import measured_nodes


class Measure:
    """Measure several nodes, for predictions over nodes.

    The command runs straightway bench under each --launcher, and keeps what it
    finds for `whatif run --nodes`. Start one rank on each of two nodes for the
    times of messages, and ranks as in your jobs for those of collectives:

      straightway whatif measure --launcher "srun -N 2 -n 2" \\
          --launcher "srun -N 2 -n 8"
      straightway whatif run -n 8 --nodes 2 ./app

    A measurement of as many nodes and ranks under the same MPI replaces the
    former one. All nodes need the working directory.
    """

    name = "measure"
    usage = "%(prog)s --launcher \"...\" [--launcher \"...\"] [OPTIONS]"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("--launcher", metavar="\"...\"", action="append",
            dest="launchers", help=(
                "start ranks on nodes with these words, as in \"srun -N 2 -n "
                "8\"; may be given again"))
        add("--mpi", metavar="MPI", help=(
            "the MPI that the launcher starts: an installation's folder, a "
            "launcher, or openmpi, mpich, intel [mpirun's or mpiexec's own]"))
        add("--seconds", type=float, metavar="S",
            default=measured_nodes.SECONDS,
            help="for one operation at one size "
            f"[{measured_nodes.SECONDS:g}]")

    @staticmethod
    def run(options):
        launchers = options.launchers or []
        if not launchers or not all(text.split() for text in launchers):
            raise UserError('which nodes? straightway whatif measure '
                            '--launcher "srun -N 2 -n 2"')
        jobs.refuse_nested("whatif measure")
        choices.check_seconds("--seconds", options.seconds)
        planned = [(measured_nodes.host_of(text, options.mpi), text)
                   for text in launchers]
        for host, _ in planned:
            check_parts(host)
        for host, text in planned:
            with jobs.steps() as step:
                found = measured_nodes.measure(
                    host, text, options.seconds,
                    lambda said: step(said, long=True))
                path = measured_nodes.keep(found)
            print(f"straightway: wrote {path}", file=sys.stderr)
        if not measured_nodes.linked(measured_nodes.find(planned[-1][0])):
            print("straightway: for predictions also measure messages, with "
                  "one rank on each of two nodes:\n  "
                  + measured_nodes.command(planned[-1][0]), file=sys.stderr)
        return 0
