"""straightway bench overlap: nonblocking and persistent collectives."""

from straightway.bench import collectives, overlap, results
from straightway.commands.bench import choices, measuring
from straightway.errors import UserError
from straightway.reporters import overlap_svg, overlap_terminal

SIZES = "8,1k,64k,1m"
MOST_TESTS = 1000


class Overlap:
    """Measure nonblocking and persistent collectives while ranks compute.

    The program switches between host and Straightway while it runs, and
    measures both in one run, in shuffled order. It checks all results. Sizes
    are those of bench collectives. Three tables show:

    Times in a row: the blocking call, the nonblocking call that the program
    waits for at once (immediate), and the persistent one, bound once and then
    started and waited for. A sample is a batch of calls with a barrier before
    it.

    Overlap: after a barrier, each rank starts the operation, computes, and
    waits. The pure time is the same without computing. Ranks compute 0.5, 1
    and 2 pure times. The overlap is that of the OSU benchmarks:

      max(0, 1 - (total - computing) / pure)

    in percent, where "computing" is measured alone, beside the others. With
    half a pure time at most half can overlap. The column "test" is for one
    pure time with MPI_Test calls between its parts; each rank makes --tests of
    them, or fewer if one succeeds before. "gain" divides the time of the
    blocking call and one pure time of computing by the total: below 1 the
    program loses by the nonblocking call.

    Skew hidden: after a barrier all ranks start the operation. All but one
    wait at once. The late one computes 0, 0.5, 1 or 2 pure times before it
    waits. The table shows how much of the pure time its wait does not take:

      1 - wait / pure

    in percent. "0" is the baseline: what lies outside the wait of a rank that
    is not late. The late rank is the root of a gather or reduction, else the
    last rank.

    Computing is a counted loop in registers, which makes no system call. Of
    all ranks the slowest counts, and of waits the late rank's.

    The exit status is 1 when a result was wrong or the run failed.
    """

    name = "overlap"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        choices.add_ranks(add)
        choices.add_operations(add, SIZES)
        add("--tests", metavar="K", type=int, default=8,
            help="calls of MPI_Test in one computation [8]")
        add("--seconds", metavar="S", type=float, default=1.0,
            help="seconds for one operation at one size [1]")
        add("--svg", metavar="OUT", help=(
            "draw immediate times, overlap and hidden skew by size"))
        choices.add_common(add)

    @staticmethod
    def run(options):
        operations = choices.parse_operations(options.ops)
        sizes = choices.parse_doubles(options.sizes)
        ranks = choices.ranks(options)
        choices.check_seconds("--seconds", options.seconds)
        if not 1 <= options.tests <= MOST_TESTS:
            raise UserError(f"--tests {options.tests}: give a number from 1 "
                            f"to {MOST_TESTS}")
        choices.check_blocks(operations, ranks, sizes)
        host = choices.host(options)

        run, head = measuring.run(
            "straightway-bench-overlap/1", options, host, ranks,
            measuring.counted((operations, "operation"), (sizes, "size")),
            lambda seed: [
                "--overlap", ",".join(operations),
                "--sizes", ",".join(map(str, sizes)),
                "--seconds", options.seconds, "--seed", seed,
                "--tests", options.tests],
            sum(1 if op == "barrier" else len(sizes) for op in operations),
            floors=False)
        report = _report(run, head, options)
        choices.show(report, options, overlap_terminal, overlap_svg)
        return results.verdict(run, report, host, _why)


def _why(cell, mode):
    return ": " + ", ".join(cell[mode]["wrong"])


def _report(run, head, options):
    cells = [overlap.cell(line) for line in results.cell_lines(run)]
    return dict(
        head, time_per_cell=options.seconds, tests=options.tests,
        persistent=any(c["host"]["persistent"] for c in cells), cells=cells,
        summary=overlap.summary(cells, collectives.OPERATIONS))
