"""straightway bench: the host MPI and Straightway side by side."""

import time

from straightway import benchmark, collectives, native
from straightway.commands.datatypes import Datatypes
from straightway.commands.pingpong import Pingpong
from straightway.commands.recording import Recording
from straightway.errors import UserError
from straightway.machine import hardware, hosts
from straightway.reporters import json_file, svg, terminal, text_file

SIZES = "8,64,1k,16k,64k,256k,1m,4m"
# How many doubles lie in a row; 0: all of a block.
DATATYPES = {"double": 0, "rows": 64, "columns": 1}


def parse_sizes(text):
    """"8,64k" -> [8, 65536]; sizes are multiples of 8 (doubles)."""
    sizes = set()
    for word, n in benchmark.parse_size_list(text):
        if n < 8 or n % 8:
            raise UserError(f"--sizes {text}: {word} is not a multiple of 8 "
                            "bytes (the elements are doubles)")
        sizes.add(n)
    if len(sizes) > 64:
        raise UserError(f"--sizes: {len(sizes)} sizes; at most 64")
    return sorted(sizes)


def parse_operations(text):
    return benchmark.parse_names("--ops", "operation", text,
                                 collectives.OPERATIONS)


def with_gaps(operations):
    """Those that take a datatype with gaps."""
    left = [op for op in operations if op not in collectives.WITHOUT_GAPS]
    if not left:
        raise UserError(f"--ops {','.join(operations)}: these take doubles "
                        "only; leave --datatype away")
    return left


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
            lines = (one.__doc__ or "").split("\n")
            child = below.add_parser(
                one.name, help=lines[0],
                description="\n".join(line[4:] if line.startswith("    ")
                                      else line for line in lines))
            one.arguments(child)
            child.set_defaults(measure=one.run)

    @staticmethod
    def run(options):
        return options.measure(options)


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
        benchmark.add_computing(add)
        add("--time-per-cell", metavar="S", type=float, default=0.5,
            help="seconds for one operation at one size [0.5]")
        add("--json", metavar="FILE", help=(
            "write raw samples and the machine's description to FILE"))
        add("--plot", metavar="FILE.svg", help="draw latency by size")
        benchmark.add_common(add)

    @staticmethod
    def run(options):
        operations = parse_operations(options.ops)
        if options.datatype != "double":
            operations = with_gaps(operations)
            if options.computing is not None:
                raise UserError("--computing takes no --datatype")
        computing, swept = benchmark.computing(options)
        sizes = parse_sizes(options.sizes)
        ranks = options.ranks if options.ranks is not None else \
            max(2, hardware.cores())
        benchmark.check_ranks(ranks)
        benchmark.check_seconds("--time-per-cell", options.time_per_cell)
        if operations != ["barrier"]:
            benchmark.check_memory(
                2 * ranks * ranks * max(sizes)
                * (1 if options.datatype == "double" else 2),
                f"{ranks} ranks at {max(sizes)} bytes",
                "give fewer ranks or smaller --sizes")
        for path in (options.json, options.plot):
            benchmark.check_writable(path)
        host = hosts.choose(options.mpi)
        benchmark.check_parts(host)

        description = hardware.describe()
        probe = native.probe("--floors")
        seed = benchmark.seed(options)
        terminal.bench_start(host.title, ranks, "operation", len(operations),
                             len(sizes), description)
        start = time.monotonic()
        run = benchmark.launch(
            host, ranks, options.launcher_args,
            ["--ops", ",".join(operations),
             "--sizes", ",".join(map(str, sizes)),
             "--seconds", options.time_per_cell, "--seed", seed,
             "--run", DATATYPES[options.datatype], *computing],
            sum(1 if op == "barrier" else len(sizes) for op in operations))
        report = _report(run, host, ranks, probe, description, options, seed,
                         time.monotonic() - start)
        report["computing"] = swept
        if report["cells"]:
            terminal.bench(report)
        if options.json:
            json_file.write(options.json, report)
        if options.plot and report["cells"]:
            text_file.write(options.plot, svg.render(report))
        return benchmark.verdict(run, report, host)


def _report(run, host, ranks, probe, description, options, seed, seconds):
    floors = probe.get("floors") or {}
    cells = [benchmark.cell(line, collectives.floor(
        line["cell"], line["size"], ranks, floors))
        for line in benchmark.cell_lines(run)]
    report = benchmark.head("straightway-bench-collectives/1", run, host,
                            ranks, description, floors, seed, seconds)
    return dict(
        report, time_per_cell=options.time_per_cell,
        datatype=options.datatype, cells=cells,
        summary=benchmark.summary(cells, collectives.OPERATIONS),
        guidelines={mode: collectives.check_guidelines(cells, mode)
                    for mode in benchmark.MODES
                    if any(c[mode] for c in cells)})
