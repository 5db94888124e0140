"""straightway bench datatypes: messages with gaps, as applications send them.
"""

from straightway import units
from straightway.bench import datatypes, results
from straightway.commands.bench import choices, measuring
from straightway.errors import UserError, nearest
from straightway.reporters import datatypes_svg, datatypes_terminal

FROM, TO = "4k", "4m"
RANKS = 2


def parse_bounds(options):
    """The least and the most bytes of a message."""
    least = choices.parse_bound("--from", options.from_)
    most = choices.parse_bound("--to", options.to_)
    if least > most:
        raise UserError(f"--from {options.from_} is more than --to "
                        f"{options.to_}; give a smaller --from or a larger "
                        "--to")
    return least, most


def parse_data(options):
    """The states of the sender's data: both, unless the user asks for one."""
    asked = [data for data in datatypes.DATA if getattr(options, data)]
    return asked or list(datatypes.DATA)


def parse_memory(options):
    """Where the arrays of the two ranks lie, as in ["gpu", "host"]."""
    found = options.memory.lower().split(",")
    for kind in found:
        if kind not in datatypes.MEMORIES:
            raise UserError(f"--memory {options.memory}: unknown memory "
                            f"{kind or '(none)'}; "
                            + nearest(kind, datatypes.MEMORIES))
    if len(found) > RANKS:
        raise UserError(f"--memory {options.memory}: give two, as in "
                        "gpu,host: one for each rank")
    if "gpu" in found and options.fresh:
        raise UserError("--fresh with --memory gpu: data in a GPU's memory "
                        "are measured untouched; omit --fresh")
    return (found * RANKS)[:RANKS]


class Datatypes:
    """Measure messages with gaps, as applications send them.

    Halos, faces, lists of points and particles, a transpose: the access
    patterns of WRF, MILC, NAS LU and MG, SPECFEM3D, LAMMPS, FFT2, stencils and
    a triangular matrix. The sizes are those of the literature (ddtbench),
    continued to 4 KiB and 4 MiB.

    Two ranks send each message there and back; the time is half of a round
    trip. Each message goes four ways:

      host    the MPI gets the datatype
      hand    loops pack it, the MPI sends the bytes, loops unpack them
      ours    Straightway gets the datatype
      floor   Straightway gets as many bytes without gaps

    once with untouched data, and once with data that the sender has written
    just before each message (the time excludes the writing).

    With --memory gpu the arrays lie in the memory of a GPU, and `hand` makes a
    copy for each run. A fifth way makes one copy of two dimensions for each
    plane of runs. The MPI gets the datatype if it says that it knows GPUs.

    The program switches between host and Straightway while it runs, and
    measures all ways in one run, in shuffled order. A sample is a batch of
    messages of 50 µs or more. The table shows medians and the bounds that hold
    them with 95 % confidence. The program checks every cell word by word, gaps
    included. The exit status is 1 when a message was wrong or the run failed.
    """

    name = "datatypes"

    @staticmethod
    def arguments(parser):
        add = parser.add_argument
        add("--kernels", metavar="LIST", default="all",
            help="kernels, as in 'wrf_*,fft2', or all [all]")
        add("--from", dest="from_", metavar="SIZE", default=FROM,
            help=f"the smallest message [{FROM}]")
        add("--to", dest="to_", metavar="SIZE", default=TO,
            help=f"the largest message [{TO}]")
        add("--published", action="store_true",
            help="only the sizes of ddtbench")
        add("--fresh", action="store_true",
            help="freshly written data only [both]")
        add("--untouched", action="store_true",
            help="untouched data only [both]")
        choices.add_cells(add, 0.25, "one message with one kind of data")
        add("--memory", metavar="KIND[,KIND]", default="host",
            help="where the arrays of the two ranks lie: host or gpu (with "
            "'run --gpu') [host]")
        add("--svg", metavar="OUT", help="draw time by size")
        choices.add_common(add)

    @staticmethod
    def run(options):
        kernels = choices.parse_names("--kernels", "kernel",
                                      options.kernels, datatypes.KERNELS)
        least, most = parse_bounds(options)
        choices.check_seconds("--seconds", options.seconds)
        choices.check_memory(datatypes.memory(most),
                             f"messages of {most} bytes",
                             "give a smaller --to")
        host = choices.host(options)

        plan = {"kernels": kernels, "from": least, "to": most,
                "published": options.published, "data": parse_data(options),
                "memory": parse_memory(options),
                "corrupt": options.corrupt,
                "seconds_per_cell": options.seconds}
        if datatypes.in_gpu(plan):
            plan["data"] = ["untouched"]
        run, head = measuring.run(
            "straightway-bench-datatypes/1", options, host, RANKS,
            f"{units.plural(len(kernels), 'kernel')}, messages from "
            f"{units.brief(least)} to {units.brief(most)}, "
            f"{' and '.join(plan['data'])} data",
            lambda seed: _arguments(plan, seed),
            before=_WITH_GPUS if datatypes.in_gpu(plan) else ())
        if run["status"] == 0 and not results.cell_lines(run):
            raise UserError(
                f"no message of {', '.join(kernels)} has from {least} to "
                f"{most} bytes" + (" (--published)" if options.published
                                   else "")
                + "; give a smaller --from or a larger --to")
        report = _report(run, head, plan)
        choices.show(report, options, datatypes_terminal, datatypes_svg)
        return results.verdict(run, report, host, _why(options.corrupt), {
            "hand": f"{host.title} (packed by hand)", "host": host.title,
            "ours": "Straightway", "contiguous": "Straightway (no gaps)",
            **({"planes": f"{host.title} (planes packed by hand)"}
               if datatypes.in_gpu(plan) else {})})


_WITH_GPUS = ("env", "STRAIGHTWAY_GPU=on")


def _arguments(plan, seed):
    arguments = ["--kernels", ",".join(plan["kernels"]),
                 "--sizes", f"{plan['from']},{plan['to']}",
                 "--data", ",".join(plan["data"]),
                 "--seconds", plan["seconds_per_cell"], "--seed", seed]
    arguments += [word for name, kind in zip(("first", "second"),
                                             plan["memory"])
                  if kind == "gpu" for word in ("--gpu-" + name, 1)]
    return arguments + [word for name in ("published", "corrupt")
                        if plan[name] for word in ("--" + name, 1)]


# The report -------------------------------------------------------------

_FACTS = ("application", "data", "published", "type_bytes", "extent",
          "runs_sent", "runs_received", "planes_sent", "memcpy")


def _cell(line, plan):
    cell = results.cell(line, None, datatypes.ways(plan))
    cell.update((name, line[name]) for name in _FACTS)
    cell.update(datatypes.ratios(cell, datatypes.ratios_of(plan)))
    # Without Straightway the floor is a memcpy.
    floor = cell["contiguous"]
    cell["floor"] = floor["median"] if floor else line["memcpy"]
    for way in datatypes.ways(plan):
        if cell[way]:
            cell[way]["wrong"] = line.get(way + "_wrong")
    return cell


def _report(run, head, plan):
    cells = [_cell(line, plan) for line in results.cell_lines(run)]
    return dict(head, plan=plan, cells=cells,
                summary=dict(results.summary(cells, datatypes.KERNELS),
                             means=datatypes.means(
                                 cells, datatypes.ratios_of(plan))))


def _why(corrupt):
    def why(cell, way):
        wrong = cell[way]["wrong"]
        if not wrong:
            return ""
        place = f"byte {wrong['byte']} of rank {wrong['rank']}'s array" + (
            ", in a gap," if wrong["gap"] else "")
        return (f", {cell['data']} data: {place} is 0x{wrong['got']:08x}, "
                f"not 0x{wrong['want']:08x}"
                + (" (--corrupt spoilt it)" if corrupt else ""))
    return why
