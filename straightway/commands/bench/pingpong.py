"""straightway bench pingpong: messages between neighbouring ranks."""

import resource
import sys

from straightway.bench import ladder, messages, results
from straightway.commands.bench import choices, measuring
from straightway.errors import UserError
from straightway.machine import hardware
from straightway.reporters import (ladder_svg, ladder_terminal, pingpong_svg,
                                   pingpong_terminal)

FROM, TO, FACTOR, PERTURB = "1", "4m", 4.0, 3
MOST_SIZES = 256
STACK = 64 << 20        # bytes of a rank's messages on the stack


# The plan ---------------------------------------------------------------

def parse_sizes(options):
    """The sizes of the plan, from --sizes or --from, --to and --factor."""
    steps = [name for name in ("from", "to", "factor")
             if getattr(options, name + "_") is not None]
    if options.sizes and steps:
        raise UserError(f"--sizes and --{steps[0]} contradict each other; give "
                        "one of them")
    if options.perturb is not None and not 0 <= options.perturb <= 1 << 20:
        raise UserError(f"--perturb {options.perturb}: give bytes, 0 for "
                        "none (1m at most)")
    if options.sizes:
        sizes = [n for _, n in choices.parse_size_list(options.sizes)]
        by = options.perturb or 0
    else:
        first = choices.parse_bound("--from", options.from_ or FROM)
        last = choices.parse_bound("--to", options.to_ or TO)
        factor = FACTOR if options.factor_ is None else options.factor_
        if first > last:
            raise UserError(f"--from {options.from_ or FROM} is more than "
                            f"--to {options.to_ or TO}; give a smaller "
                            "--from or a larger --to")
        if not 1.01 <= factor <= 1024:
            raise UserError(f"--factor {factor:g}: give a factor from 1.01 "
                            "to 1024, like 2")
        sizes = messages.ladder(first, last, factor)
        by = PERTURB if options.perturb is None else options.perturb
    sizes = messages.perturbed(sizes, by)
    if len(sizes) > MOST_SIZES:
        raise UserError(f"{len(sizes)} sizes; at most {MOST_SIZES}: give a "
                        "larger --factor or fewer --sizes")
    return sizes


def check_ranks(ranks, patterns):
    choices.check_ranks(ranks)
    pairs = [name for name in patterns if name != "ring"]
    if ranks % 2 and pairs:
        raise UserError(f"-n {ranks}: {pairs[0]} works in pairs; give "
                        f"-n {ranks + 1} (ring takes any number)")


def last_level_cache():
    """Bytes of the largest cache, or 32 MiB where the system gives none."""
    sizes = [choices.parse_bytes(one["size"]) or 0
             for one in hardware.caches().values()]
    return max(sizes, default=0) or 32 << 20


def cold_bytes(options):
    """Bytes of the areas that a rank's messages walk through, one for sending
    and one for receiving: more than the caches hold. 0: no walk."""
    if options.cold_area is not None and options.cache == "warm":
        raise UserError("--cold-area needs --cache cold")
    if options.cache == "warm":
        return 0
    if options.cold_area is None:
        return last_level_cache()
    return choices.parse_bound("--cold-area", options.cold_area)


def check_area(options, ranks, patterns, sizes, cold):
    under_way = options.window if "window" in patterns else 1
    need = 2 * max(messages.area_bytes(n, under_way, cold) for n in sizes)
    smaller = "give smaller sizes" + (
        " or a smaller --window" if under_way > 1 else "") + (
        " or --cold-area" if cold else "")
    if options.buffers == "stack":
        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        room = STACK if hard == resource.RLIM_INFINITY else \
            max(0, min(STACK, hard - (4 << 20)))
        if need > room:
            raise UserError(
                f"--buffers stack: the messages need {-(-need >> 20)} MiB, "
                f"the stack has room for {room >> 20} MiB; {smaller}, or "
                "--buffers heap")
    choices.check_memory(ranks * need, f"{ranks} ranks with messages of "
                         f"{max(sizes)} bytes", smaller)


def parse_patterns(options):
    """The patterns, and the protocols that get a column each, or None."""
    patterns, protocols = ladder.REMAP
    if options.pattern != "remap":
        patterns = choices.parse_names("--pattern", "pattern", options.pattern,
                                       [*messages.PATTERNS])
        if options.protocol is None:
            return patterns, None
    if options.protocol is not None:
        protocols = choices.parse_names(
            "--protocol", "protocol", options.protocol,
            ladder.PROTOCOLS if options.protocol == "all" else ladder.TEXTS)
    check_protocols(options, patterns)
    return list(patterns), list(protocols)


def check_protocols(options, patterns):
    others = [option for option, other in (
        ("--buffers", options.buffers != "heap"),
        ("--cache cold", options.cache != "warm"),
        ("--computing", options.computing is not None)) if other]
    if others:
        raise UserError("protocols need buffers that all of them reach, the "
                        f"same each time; omit {others[0]}")
    apart = [name for name in patterns if name not in ladder.PATTERNS]
    if apart:
        raise UserError(f"--pattern {apart[0]} does not go by protocols; give "
                        f"some of {', '.join(ladder.PATTERNS)}")
    if options.svg and len(patterns) > 1:
        raise UserError("--svg draws the protocols of one pattern; give one, "
                        f"as in --pattern {patterns[0]}")


def check_options(options):
    if not 1 <= options.window <= 4096:
        raise UserError(f"--window {options.window}: give messages, from 1 "
                        "to 4096")
    for name in ("send", "receive"):
        value = getattr(options, "offset_" + name)
        if not 0 <= value <= 4095:
            raise UserError(f"--offset-{name} {value}: give bytes from 0 to "
                            "4095, from the start of a page")


# The command ------------------------------------------------------------

class Pingpong:
    """Measure messages between neighbouring ranks.

    In the manner of NetPIPE: sizes from small to large, each also with a few
    bytes less and more. Ranks 0 and 1 are a pair, 2 and 3 the next; all pairs
    work at once, and the benchmark adds up their bandwidths. The patterns:

      pingpong        there and back; the time is half of a round trip
      bidirectional   both send and receive at once
      stream          one way without a pause, an empty message back at the
                      end of a batch
      window          --window messages under way at once, then an empty
                      message back; the time is one message's share
      ring            MPI_Sendrecv, every rank to its right
      random          MPI_Sendrecv in random pairs, new for each call
      give            straightway_give and straightway_take of one block, there
                      and back; "host" sends its bytes
      read, giveread  as pingpong and give, and each rank reads every line of
                      what comes
      write           as pingpong, and each rank writes to every line of what
                      comes
      rewrite         as pingpong, and each rank writes to every line of what it
                      is about to send
      partitioned     MPI_Psend_init and MPI_Precv_init once, then 16 calls of
                      MPI_Pready for each message, there and back; "host" is a
                      plain message of the same bytes, by MPI_Send and MPI_Recv

    The program switches between host and Straightway while it runs, and
    measures both in one run, in shuffled order. A sample is a batch of calls
    of 50 µs or more with a barrier before it; its value is the slowest rank's.
    The table shows medians and the bounds that hold them with 95 % confidence.
    The floor beside them is half a cache line's round trip to another core, or
    a memcpy of the message by one process, between the same buffers.

    With --protocol the patterns pingpong, read, write and rewrite go several
    ways in turns, and each has a column in the table:

      host       the MPI's own
      two-copy   the sender copies into shared memory, the receiver out of it
      cma        the receiver's system call copies from the sender's memory
      one-copy   the receiver copies from the sender's memory, which it has \
mapped
      joint      the same, and sender and receiver copy a part each
      give       as in the pattern give: no process copies
      remap      the receiver maps the sender's pages copy-on-write
      remap-huge the same, with huge pages of shared memory

    "all" means the first six. --pattern remap stands for the patterns read,
    write and rewrite by the last two, beside one-copy and give.

    Straightway is forced to go each way, also at sizes at which it would not.
    It counts its messages by the way that they went. A column has a dash
    where fewer than four in five went its way. The buffers come from
    MPI_Alloc_mem.

    With --launcher the launcher says how many ranks there are, and where. With
    one rank on each node the messages go between nodes:

      straightway bench pingpong --launcher "srun -N 2 -n 2"

    All nodes need the working directory. The floor remains that of one node.

    The program checks every cell byte by byte. The exit status is 1 when a
    message was wrong or the run failed.
    """

    name = "pingpong"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("-n", "--ranks", type=int, metavar="N",
            help="ranks, two for each pair [2]")
        choices.add_launcher(add)
        add("--pattern", metavar="LIST", default="pingpong", help=(
            "patterns, as in pingpong,window, or all [pingpong]"))
        add("--protocol", metavar="LIST", help=(
            "protocols, as in host,one-copy, or all: a column for each [host "
            "and Straightway]"))
        add("--window", type=int, metavar="N", default=64,
            help="messages under way at once in the pattern window [64]")
        add("--sizes", metavar="LIST", help="bytes, as in 0,8,64k")
        add("--from", dest="from_", metavar="SIZE",
            help=f"the smallest size [{FROM}]")
        add("--to", dest="to_", metavar="SIZE",
            help=f"the largest size [{TO}]")
        add("--factor", dest="factor_", type=float, metavar="F",
            help=f"factor between one size and the next [{FACTOR:g}]")
        add("--perturb", type=int, metavar="P", help=(
            f"also measure sizes P bytes less and more [{PERTURB}; with "
            "--sizes 0]"))
        add("--offset-send", type=int, metavar="N", default=0,
            help="bytes from a page's start to the sent data [0]")
        add("--offset-receive", type=int, metavar="N", default=0,
            help="bytes from a page's start to the received data [0]")
        add("--cache", choices=("warm", "cold"), default="warm", help=(
            "warm: the same buffers each time; cold: the next place of an "
            "area larger than the caches [warm]"))
        add("--cold-area", metavar="SIZE",
            help="bytes of that area [the last-level cache]")
        choices.add_computing(add)
        add("--buffers", choices=("heap", "stack", "mmap"), default="heap",
            help="memory of messages: malloc, the stack, private mmap [heap]")
        choices.add_cells(add, 0.25, "one pattern at one size")
        add("--svg", metavar="OUT",
            help="draw bandwidth and latency by size")
        choices.add_common(add)

    @staticmethod
    def run(options):
        patterns, protocols = parse_patterns(options)
        sizes = parse_sizes(options)
        check_options(options)
        ranks = _ranks(options, patterns)
        choices.check_seconds("--seconds", options.seconds)
        cold = cold_bytes(options)
        computing, swept = choices.computing(options)
        if computing and (patterns != ["pingpong"] or cold):
            raise UserError("--computing is for --pattern pingpong, with "
                            "--cache warm")
        if cold and "partitioned" in patterns:
            if len(patterns) < len(messages.PATTERNS):
                raise UserError("--pattern partitioned binds its messages to "
                                "one place: it is for --cache warm")
            patterns.remove("partitioned")
        check_area(options, ranks or 1, patterns, sizes, cold)
        host = choices.host(options)

        plan = {"patterns": patterns, "protocols": protocols, "sizes": sizes,
                "window": options.window,
                "offset_send": options.offset_send,
                "offset_receive": options.offset_receive,
                "cache": options.cache, "cold_area": cold,
                "computing": swept,
                "buffers": options.buffers, "corrupt": options.corrupt,
                "seconds_per_cell": options.seconds}
        run, head = measuring.run(
            "straightway-bench-" + ("protocols/1" if protocols
                                    else "pingpong/1"),
            options, host, ranks,
            measuring.counted((patterns, "pattern"), (sizes, "size")),
            lambda seed: [*_arguments(plan, seed), *computing],
            len(patterns) * len(sizes))
        _leave_out(run, plan, host)
        report = _report(run, head, plan)
        why = _why(options.corrupt)
        if protocols:
            choices.show(report, options, ladder_terminal, ladder_svg)
            return results.verdict(run, report, host, why,
                                   {name: name for name in protocols})
        choices.show(report, options, pingpong_terminal, pingpong_svg)
        return results.verdict(run, report, host, why)


def _ranks(options, patterns):
    """How many ranks; None: the launcher says."""
    if options.launcher is not None:
        choices.check_launcher(options)
        return None
    ranks = 2 if options.ranks is None else options.ranks
    check_ranks(ranks, patterns)
    return ranks


def _arguments(plan, seed):
    arguments = ["--patterns", ",".join(plan["patterns"]),
                 "--sizes", ",".join(map(str, plan["sizes"])),
                 "--seconds", plan["seconds_per_cell"], "--seed", seed,
                 "--window", plan["window"],
                 "--offset-send", plan["offset_send"],
                 "--offset-receive", plan["offset_receive"],
                 "--cold", plan["cold_area"], "--buffers", plan["buffers"]]
    if plan["protocols"]:
        arguments += ["--protocols", ",".join(plan["protocols"])]
    return arguments + (["--corrupt", 1] if plan["corrupt"] else [])


def _leave_out(run, plan, host):
    """Patterns that the host has no calls for."""
    for event in run["events"]:
        name = event.get("missing")
        if name:
            print(f"straightway: {name} is left out: {host.title} has no "
                  "partitioned calls (MPI 4.0)", file=sys.stderr)
            run["expected"] -= len(plan["sizes"])
            plan["patterns"].remove(name)
    if not plan["patterns"]:
        raise UserError("nothing is left to measure; give another --pattern", 1)


# The report -------------------------------------------------------------

def _cell(line, ranks, floors, protocols):
    pattern, size = line["cell"], line["size"]
    if protocols:
        cell = ladder.cell(line, floors, protocols)
    else:
        cell = results.cell(line, messages.floor(pattern, line["memcpy"],
                                                 floors))
        cell["memcpy"] = line["memcpy"]
    for mode in protocols or results.MODES:
        one = cell[mode]
        if one:
            one["bandwidth"] = (messages.lanes(pattern, ranks) * size
                                / one["median"])
            one["wrong"] = line.get(mode + "_wrong")
    return cell


def peaks(cells):
    """The highest bandwidth of each pattern, and its size."""
    found = {}
    for cell in cells:
        mine = found.setdefault(cell["operation"],
                                dict.fromkeys(results.MODES))
        for mode in results.MODES:
            one, most = cell[mode], mine[mode]
            if one and (not most or one["bandwidth"] > most["bandwidth"]):
                mine[mode] = {"bandwidth": one["bandwidth"],
                              "size": cell["size"]}
    return found


def _report(run, report, plan):
    protocols = plan["protocols"]
    cells = [_cell(line, report["ranks"], report["floors"], protocols)
             for line in results.cell_lines(run)]
    if protocols:
        return dict(report, plan=plan, cells=cells,
                    summary={"peaks": ladder.peaks(cells, protocols)})
    return dict(report, plan=plan, cells=cells,
                summary=dict(results.summary(cells, messages.PATTERNS),
                             peaks=peaks(cells)))


def _why(corrupt):
    def why(cell, mode):
        wrong = cell[mode]["wrong"]
        if not wrong:
            return ""
        at = wrong["byte"]
        place = (f"byte {at}" if 0 <= at < cell["size"] else
                 f"byte {-at} before the buffer" if at < 0 else
                 f"byte {at - cell['size'] + 1} behind the buffer")
        return (f": {place} of rank {wrong['rank']}'s message "
                f"{wrong['message']} is 0x{wrong['got']:02x}, not "
                f"0x{wrong['want']:02x}"
                + (" (--corrupt flipped it)" if corrupt else ""))
    return why
