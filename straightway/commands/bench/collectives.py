"""straightway bench collectives: the blocking collectives of one node."""

import sys
import time

from straightway import native, units
from straightway.bench import collectives, results, runs
from straightway.commands.bench import choices
from straightway.errors import UserError
from straightway.machine import hardware, hosts
from straightway.reporters import (collectives_svg, collectives_terminal,
                                   output, progress, report_json)

SIZES = "8,64,1k,16k,64k,256k,1m,4m"
# How many doubles lie in a row; 0: all of a block.
DATATYPES = {"double": 0, "rows": 64, "columns": 1}


def parse_sizes(text):
    """"8,64k" -> [8, 65536]; sizes are multiples of 8 (doubles)."""
    sizes = set()
    for word, n in choices.parse_size_list(text):
        if n < 8 or n % 8:
            raise UserError(f"--sizes {text}: {word} is not a multiple of 8 "
                            "bytes (the elements are doubles)")
        sizes.add(n)
    if len(sizes) > 64:
        raise UserError(f"--sizes: {len(sizes)} sizes; at most 64")
    return sorted(sizes)


def parse_operations(text):
    return choices.parse_names("--ops", "operation", text,
                               collectives.OPERATIONS)


def with_gaps(operations):
    """Those that take a datatype with gaps."""
    left = [op for op in operations if op not in collectives.WITHOUT_GAPS]
    if not left:
        raise UserError(f"--ops {','.join(operations)}: these take doubles "
                        "only; leave --datatype away")
    return left


class Collectives:
    """Measure the blocking collectives of one node.

    Host and Straightway are switched at run time and interleaved in one run,
    in shuffled order. A sample is a batch of calls of 50 µs or more with a
    barrier before it; its value is the slowest rank's. Medians are shown,
    with the bounds that hold them with 95 % confidence, and beside them the
    floor: what a cache line's way between two cores, or a memcpy of the bytes
    that a rank must move, takes on this machine. Results are checked.

    A size is what each rank contributes (bcast, reduce, allreduce, scan,
    exscan), or the block that travels between two ranks (gather, scatter,
    allgather, alltoall, reduce_scatter and their variants).

    With --datatype rows or columns blocks are not contiguous: each is a
    vector, of rows of 512 bytes with gaps as long, or of every other double
    (at sizes that are not whole rows contiguous, still). Reductions take no
    such types, and are left out.

    The exit status is 1 when a result was wrong or the run failed.
    """

    name = "collectives"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("-n", "--ranks", type=int, metavar="N",
            help="ranks [as many as there are cores, at least 2]")
        add("--ops", metavar="LIST", default="all",
            help="operations, as in allreduce,bcast [all]")
        add("--sizes", metavar="LIST", default=SIZES,
            help=f"bytes [{SIZES}]")
        add("--datatype", choices=DATATYPES, default="double", help=(
            "how blocks lie in memory: double, rows or columns [double]"))
        choices.add_computing(add)
        add("--seconds", metavar="S", type=float, default=0.5,
            help="for one operation at one size [0.5]")
        add("--json", metavar="OUT", help=(
            "raw samples and the machine's description; - is stdout"))
        add("--svg", metavar="OUT", help="draw latency by size")
        choices.add_old(add, "--time-per-cell", "--seconds", type=float)
        choices.add_old(add, "--plot", "--svg")
        choices.add_common(add)

    @staticmethod
    def run(options):
        operations = parse_operations(options.ops)
        if options.datatype != "double":
            operations = with_gaps(operations)
            if options.computing is not None:
                raise UserError("--computing takes no --datatype")
        computing, swept = choices.computing(options)
        sizes = parse_sizes(options.sizes)
        ranks = options.ranks if options.ranks is not None else \
            max(2, hardware.cores())
        choices.check_ranks(ranks)
        choices.check_seconds("--seconds", options.seconds)
        if operations != ["barrier"]:
            choices.check_memory(
                2 * ranks * ranks * max(sizes)
                * (1 if options.datatype == "double" else 2),
                f"{ranks} ranks at {max(sizes)} bytes",
                "give fewer ranks or smaller --sizes")
        for path in (options.json, options.svg):
            output.check_writable(path)
        host = hosts.choose(options.mpi)
        runs.check_parts(host)

        description = hardware.describe()
        probe = native.probe("--floors")
        seed = choices.seed(options)
        progress.start(host.title, ranks, ", ".join((
            units.plural(len(operations), "operation"),
            units.plural(len(sizes), "size"))), description)
        start = time.monotonic()
        run = runs.launch(
            host, ranks, options.launcher_args,
            ["--ops", ",".join(operations),
             "--sizes", ",".join(map(str, sizes)),
             "--seconds", options.seconds, "--seed", seed,
             "--run", DATATYPES[options.datatype], *computing],
            sum(1 if op == "barrier" else len(sizes) for op in operations),
            progress.bar)
        report = _report(run, host, ranks, probe, description, options, seed,
                         time.monotonic() - start)
        report["computing"] = swept
        if report["cells"] and options.json != "-":
            collectives_terminal.render(report, sys.stdout)
        if options.json:
            output.send(options.json, report_json, report)
        if options.svg and report["cells"]:
            output.write(options.svg, collectives_svg, report)
        return results.verdict(run, report, host)


def _report(run, host, ranks, probe, description, options, seed, seconds):
    floors = probe.get("floors") or {}
    cells = [results.cell(line, collectives.floor(
        line["cell"], line["size"], ranks, floors))
        for line in results.cell_lines(run)]
    report = results.head("straightway-bench-collectives/1", run, host,
                          ranks, description, floors, seed, seconds)
    return dict(
        report, time_per_cell=options.seconds,
        datatype=options.datatype, cells=cells,
        summary=results.summary(cells, collectives.OPERATIONS),
        guidelines={mode: collectives.check_guidelines(cells, mode)
                    for mode in results.MODES
                    if any(c[mode] for c in cells)})
