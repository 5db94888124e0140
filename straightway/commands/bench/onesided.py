"""straightway bench onesided: windows."""

from straightway.bench import onesided, results
from straightway.commands.bench import choices, measuring
from straightway.reporters import collectives_terminal

MEMORY = ("created", "allocated", "shared", "dynamic", "mapped")
SIZES = "8,64,1k,16k,64k,256k,1m,4m"


class Onesided:
    """Measure one-sided communication in windows.

    Each operation comes with the MPI_Win_flush after which its origin may go
    on: put, get, accumulate and get_accumulate (sums of doubles), and count, a
    fetch_and_op on the target's own counter. Of puts, gets, accumulates and
    get_accumulates eight have one flush, and the table has the time of one. A
    lock comes with a put of 8 bytes and the unlock. Even ranks are origins, the
    ranks behind them targets, which wait in a barrier. All ranks take part in
    fence, and in fetch_and_op on one counter of rank 0.

    The program makes windows of both kinds, and measures host and Straightway
    in one run, in shuffled order. A sample is a batch of calls of 50 µs or
    more with a barrier before it; its value is the slowest rank's. The table
    shows medians and the bounds that hold them with 95 % confidence. The floor
    beside them is a memcpy of the bytes, or half a round trip of a cache line.
    The program checks the results.

    The exit status is 1 when a result was wrong or the run failed.
    """

    name = "onesided"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        choices.add_ranks(add)
        choices.add_operations(add, SIZES)
        add("--memory", choices=MEMORY, default=MEMORY[0], help=(
            "the windows' memory: the program's own, by MPI_Win_create "
            "(created); by MPI_Win_allocate, or MPI_Win_allocate_shared; "
            "attached to dynamic windows; or an mmap of the program's own, by "
            "MPI_Win_create (mapped)"))
        choices.add_cells(add, 0.5, "one operation at one size")
        choices.add_common(add)

    @staticmethod
    def run(options):
        operations = choices.parse_names("--ops", "operation", options.ops,
                                         onesided.OPERATIONS)
        sizes = choices.parse_doubles(options.sizes)
        ranks = choices.ranks(options)
        choices.check_seconds("--seconds", options.seconds)
        choices.check_memory(8 * max(sizes) * (ranks or 1), "the windows",
                             "give smaller --sizes")
        host = choices.host(options)

        run, report = measuring.run(
            "straightway-bench-onesided/1", options, host, ranks,
            measuring.counted((operations, "operation"), (sizes, "size")),
            lambda seed: [
                "--onesided", ",".join(operations),
                "--windows", options.memory,
                "--sizes", ",".join(map(str, sizes)),
                "--seconds", options.seconds, "--seed", seed,
                *(["--corrupt", 1] if options.corrupt else [])],
            onesided.cells(operations, sizes))
        cells = [results.cell(line, onesided.floor(line["cell"], line["size"],
                                                   report["floors"]))
                 for line in results.cell_lines(run)]
        report.update(windows=options.memory, time_per_cell=options.seconds,
                      several=False, computing=None, cells=cells, guidelines={},
                      summary=results.summary(cells, onesided.OPERATIONS))
        choices.show(report, options, collectives_terminal)
        return results.verdict(run, report, host)
