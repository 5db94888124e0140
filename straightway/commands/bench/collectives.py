"""straightway bench collectives: the blocking collectives."""

import os
import sys

from straightway.bench import collectives, results, ways
from straightway.commands.bench import choices, measuring
from straightway.errors import UserError
from straightway.reporters import collectives_svg, collectives_terminal

SIZES = "8,64,1k,16k,64k,256k,1m,4m"
# Doubles in a row; 0: the whole block.
DATATYPES = {"double": 0, "rows": 64, "columns": 1}


def with_gaps(operations):
    """The operations that take a datatype with gaps."""
    left = [op for op in operations if op not in collectives.WITHOUT_GAPS]
    if not left:
        raise UserError(f"--ops {','.join(operations)}: these take doubles "
                        "only; omit --datatype")
    return left


class Collectives:
    """Measure the blocking collectives, of one node or several.

    The program switches between host and Straightway while it runs, and
    measures both in one run, in shuffled order. A sample is a batch of calls
    of 50 µs or more with a barrier before it; its value is the slowest rank's.
    The table shows medians and the bounds that hold them with 95 % confidence.
    The floor beside them is the time of a cache line between two cores, or of
    a memcpy of the bytes that a rank must move. The program checks the
    results.

    A size is the contribution of each rank (bcast, reduce, allreduce, scan,
    exscan), or the block between two ranks (gather, scatter, allgather,
    alltoall, reduce_scatter and their variants).

    With --datatype rows or columns blocks have gaps: each is a vector, of rows
    of 512 bytes with gaps as long, or of every other double. (Blocks that are
    not whole rows stay contiguous.) Reductions take no such types, and the
    benchmark leaves them out.

    Over several nodes, --launcher gives the launcher and what it needs:

      salloc -N 2 -n 8 straightway bench collectives --launcher "srun -n 8"
      straightway bench collectives --launcher "mpirun -n 8 --host a:4,b:4"

    All nodes need the working directory. The table then shows the bytes that
    the nodes send for one call, as their network interfaces count them, and
    the least that any MPI must send. --tune measures each way over the nodes
    (host, leaders, lanes), and writes those that win, by 5 % at least, to the
    file that straightway run reads: STRAIGHTWAY_WAYS, or straightway/ways in
    ~/.config. Run it with the nodes, ranks and settings of your jobs.

    The exit status is 1 when a result was wrong or the run failed.
    """

    name = "collectives"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        choices.add_ranks(add)
        choices.add_operations(add, SIZES)
        add("--datatype", choices=DATATYPES, default="double", help=(
            "how blocks lie in memory: double, rows or columns [double]"))
        choices.add_computing(add)
        add("--seconds", metavar="S", type=float, default=0.5,
            help="seconds for one operation at one size [0.5]")
        add("--each-way", action="store_true", help=(
            "over several nodes, measure each way: leaders and lanes, too"))
        add("--tune", action="store_true", help=(
            "write the ways that win to the file that straightway run reads"))
        add("--svg", metavar="OUT", help="draw latency by size")
        choices.add_old(add, "--time-per-cell", "--seconds", type=float)
        choices.add_old(add, "--plot", "--svg")
        choices.add_common(add)

    @staticmethod
    def run(options):
        operations = choices.parse_operations(options.ops)
        if options.datatype != "double":
            operations = with_gaps(operations)
            if options.computing is not None:
                raise UserError("--computing takes no --datatype")
        computing, swept = choices.computing(options)
        sizes = choices.parse_doubles(options.sizes)
        ranks = choices.ranks(options)
        choices.check_seconds("--seconds", options.seconds)
        if options.tune:
            if options.datatype != "double" or computing:
                raise UserError("--tune takes no --datatype and no "
                                "--computing")
            file = ways.path()
            ways.read(file)
            if not file.exists():
                # The ranks need not say that they cannot read it.
                os.environ.pop("STRAIGHTWAY_WAYS", None)
        choices.check_blocks(operations, ranks, sizes,
                             1 if options.datatype == "double" else 2)
        host = choices.host(options)

        run, head = measuring.run(
            "straightway-bench-collectives/1", options, host, ranks,
            measuring.counted((operations, "operation"), (sizes, "size")),
            lambda seed: [
                "--ops", ",".join(operations),
                "--sizes", ",".join(map(str, sizes)),
                "--seconds", options.seconds, "--seed", seed,
                "--run", DATATYPES[options.datatype], *computing,
                *(["--each-way", 1] if options.each_way or options.tune
                  else [])],
            sum(1 if op == "barrier" else len(sizes) for op in operations))
        report = _report(run, head, options)
        report["computing"] = swept
        choices.show(report, options, collectives_terminal, collectives_svg)
        status = results.verdict(run, report, host, who=_who(
            host, options))
        if options.tune and not status:
            _tune(file, run, report)
        return status


def _modes(options):
    """The ways of a cell, as its line of output calls them."""
    more = ways.WAYS[1:] if options.each_way or options.tune else ()
    return (*results.MODES, *more)


def _who(host, options):
    """What is measured in each, for messages."""
    return {"host": host.title, "ours": "Straightway", **{
        way: f"Straightway's {way}" for way in _modes(options)[2:]}}


def _tune(file, run, report):
    if not report["several"]:
        raise UserError("--tune: the ranks are all on one node\n  start them "
                        "on several, as in --launcher \"srun -N 2 -n 8\"", 1)
    head = ways.entry_head(results.start(run))
    ways.write(file, head, ways.lines(report["cells"], report["ranks"]))
    print(f"straightway: wrote the entry {head}\n  to {file}",
          file=sys.stderr)


def _report(run, report, options):
    nodes = report["nodes"]
    report["several"] = several = len(set(nodes)) > 1
    cells = []
    for line in results.cell_lines(run):
        # The floor is that of one node's memory.
        floor = 0.0 if several else collectives.floor(
            line["cell"], line["size"], report["ranks"], report["floors"])
        cells.append(results.cell(line, floor, _modes(options)))
        if several:
            cells[-1]["least_sent"] = collectives.least_sent(
                line["cell"], line["size"], nodes)
    return dict(
        report, time_per_cell=options.seconds,
        datatype=options.datatype, cells=cells,
        summary=results.summary(cells, collectives.OPERATIONS),
        guidelines={mode: collectives.check_guidelines(cells, mode)
                    for mode in results.MODES
                    if any(c[mode] for c in cells)})
