"""A profile as plain text, in full: the sections of an mpiP report, for grep,
awk and comparing two runs. The same capture gives the same text.

Names are procedures' without MPI_. A site is a procedure at a place in the
code. Sites have numbers in the order of their time, most first. A section
begins with "@---", and ends at the next.
"""

import statistics
import textwrap
import time

from straightway import units
from straightway.capture import procedures
from straightway.profile import findings, recorded
from straightway.ranges import Ranges, ranges
from straightway.reporters import words

WIDTH = 79
TOP = 20                # rows of the aggregate sections
_NOTES = """\
Time is CLOCK_MONOTONIC; columns name their units. AppTime is the time from
MPI_Init to MPI_Finalize (of all threads that call MPI), MPITime the part in
MPI without MPI_File_*, IOTime that in MPI_File_*. Wait is the part of MPITime
before a partner had come, estimated from all long calls and a sample of short
ones. App% is of all AppTime, MPI% of all MPITime. COV is the coefficient of
variation of the ranks' times. A call's size is that of its message, for a
collective that of one block; Sent is the size of the send buffers. Rank * is
all ranks together."""


def _short(name):
    return name.replace("MPI_", "", 1)


def _percent(part, whole):
    return f"{100 * part / whole:.2f}" if whole else "0.00"


def _ms(ns):
    """Milliseconds: to the microsecond, below 1 ms to the nanosecond."""
    value = ns / 1e6
    return f"{value:.3f}" if value >= 1 else f"{value:.6f}" if value else "0"


class _Report:
    """Collects the lines of the report."""

    def __init__(self, p):
        self.p = p
        self.lines = []
        totals = p.totals(("operation", "site"))
        self.sites = [t for t in totals
                      if procedures.class_of(t.key[0]) != procedures.IO]
        self.files = [t for t in totals
                      if procedures.class_of(t.key[0]) == procedures.IO]
        self.numbers = {t.key: n for n, t in enumerate(totals, 1)}
        self.all = totals
        self._by_rank = {}
        self.elapsed = p.elapsed
        self.mpi = p.communication.time

    def by_rank(self, total):
        """The Totals of the ranks within one, by number."""
        if total.key not in self._by_rank:
            self._by_rank[total.key] = sorted(
                recorded.group(total.records, "rank"), key=lambda t: t.key)
        return self._by_rank[total.key]

    def add(self, line=""):
        self.lines.append(line.rstrip())

    def section(self, title):
        self.add()
        head = f"@--- {title} "
        self.add(head + "-" * max(0, WIDTH - len(head)))

    def wrapped(self, text, indent=""):
        for line in textwrap.wrap(text, WIDTH, initial_indent=indent,
                                  subsequent_indent=indent,
                                  break_long_words=False,
                                  break_on_hyphens=False):
            self.add(line)

    def table(self, columns, rows):
        """columns: names; "<name" is aligned to the left. As wide as
        necessary."""
        done = []
        for name, *cells in zip(columns, *rows):
            left = name.startswith("<")
            cells = [name.lstrip("<"), *map(str, cells)]
            width = max(map(len, cells))
            done.append([c.ljust(width) if left else c.rjust(width)
                         for c in cells])
        self.lines += [" ".join(row).rstrip() for row in zip(*done)]


def _head(out):
    p, job = out.p, out.p.job
    began = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(job.began)) \
        if 0 < job.began < 1 << 40 else "unknown"
    out.add("@ Straightway profile")
    for name, value in (
            ("Command", words.commands(p, whole=True)),
            ("Version", p.ranks[0].capture.version), ("MPI", job.mpi),
            ("MPI library", job.mpi_library),
            ("Accelerated", "yes" if job.accelerated else "no"),
            ("Job", job.id), ("Started", began),
            ("Ranks", f"{job.ranks}, of which {len(p.ranks)} are here"),
            ("Nodes", str(len(p.nodes))),
            ("Run time", f"{p.wall / 1e9:.6f} s"),
            ("Region", p.region if p.region is not None else "all"),
            ("Report", "straightway report --text")):
        out.add(f"@ {name:<12}: {value}")
    for node in p.nodes:
        out.add(f"@ {'Node':<12}: {node.name}, "
                f"{units.plural(node.processors, 'processor')}, ranks "
                f"{ranges(node.ranks)}")
    for end, found in p.ended_badly.items():
        out.add(f"@ {'Ended':<12}: {end}, ranks {found}")
    if p.missing:
        out.add(f"@ {'Missing':<12}: ranks {p.missing}")
    for problem in p.problems:
        out.add(f"@ {'Problem':<12}: {problem}")
    out.section("Units")
    for line in _NOTES.split("\n"):
        out.add(line)


def _tasks(out):
    p = out.p
    out.section("MPI Time (seconds)")
    rows = []
    for r in p.ranks:
        rows.append([r.rank, f"{r.elapsed / 1e9:.6f}",
                     f"{r.communication / 1e9:.6f}",
                     _percent(r.communication, r.elapsed),
                     f"{r.waiting / 1e9:.6f}", f"{r.moving / 1e9:.6f}",
                     f"{r.io / 1e9:.6f}"])
    c = p.communication
    rows.append(["*", f"{out.elapsed / 1e9:.6f}", f"{c.time / 1e9:.6f}",
                 _percent(c.time, out.elapsed), f"{c.waiting / 1e9:.6f}",
                 f"{c.moving / 1e9:.6f}", f"{p.io.time / 1e9:.6f}"])
    out.table(["Rank", "AppTime", "MPITime", "MPI%", "Wait", "Move",
               "IOTime"], rows)


def _callsites(out):
    out.section(f"Callsites: {len(out.all)}")
    rows = []
    for t in out.all:
        name, site = t.key
        number = out.numbers[t.key]
        for level, frame in enumerate(site.frames or [None]):
            rows.append([number if not level else "", level,
                         frame.place if frame else recorded.UNKNOWN,
                         frame.function if frame and frame.function else
                         "-", _short(name) if not level else ""])
    out.table(["ID", "Lev", "<File:Line/Address", "<Function", "<MPI_Call"],
              rows)


def _variation(out, total):
    """Coefficient of variation of the ranks' times in a total."""
    times = [t.time for t in out.by_rank(total)]
    mean = statistics.fmean(times)
    if len(times) < 2 or not mean:
        return "0.00"
    return f"{statistics.stdev(times) / mean:.2f}"


def _aggregate_time(out):
    out.section("Aggregate Time (top twenty, descending, milliseconds)")
    out.table(["<Call", "Site", "Time", "Wait", "App%", "MPI%", "Count",
               "COV"],
              [[_short(t.key[0]), out.numbers[t.key], _ms(t.time),
                _ms(t.waiting), _percent(t.time, out.elapsed),
                _percent(t.time, out.mpi), t.calls, _variation(out, t)]
               for t in out.sites[:TOP]])


def _aggregate_operations(out):
    p = out.p
    out.section("Aggregate Time by Procedure (milliseconds)")
    out.table(["<Call", "Time", "Wait", "App%", "Count", "Mean", "Min",
               "Max", "Errors"],
              [[_short(t.label), _ms(t.time), _ms(t.waiting),
                _percent(t.time, out.elapsed), t.calls, _ms(t.mean_time),
                _ms(t.min_time), _ms(t.max_time), t.errors]
               for t in p.totals("operation")])
    out.section("Aggregate Time by Class (milliseconds)")
    out.table(["<Class", "Time", "Wait", "App%", "Count"],
              [[t.label.replace(" ", "_"), _ms(t.time), _ms(t.waiting),
                _percent(t.time, out.elapsed), t.calls]
               for t in p.totals("class")])


def _aggregate_sent(out):
    sent = sorted((t for t in out.sites if t.sent),
                  key=lambda t: (-t.sent, out.numbers[t.key]))
    whole = sum(t.sent for t in sent)
    out.section("Aggregate Sent Message Size (top twenty, descending, bytes)")
    out.table(["<Call", "Site", "Count", "Total", "Avrg", "Sent%"],
              [[_short(t.key[0]), out.numbers[t.key], t.calls, t.sent,
                f"{t.sent / t.calls:.1f}" if t.calls else "0",
                _percent(t.sent, whole)] for t in sent[:TOP]])


def _by_rank(out, totals, row, columns):
    rows = []
    for t in sorted(totals, key=lambda t: (t.key[0], out.numbers[t.key])):
        head = [_short(t.key[0]), out.numbers[t.key]]
        rows += [[*head, r.key, *row(r)] for r in out.by_rank(t)]
        rows.append([*head, "*", *row(t)])
    out.table(["<Name", "Site", "Rank", *columns], rows)


def _site_times(out):
    elapsed = {r.rank: (r.elapsed, r.communication) for r in out.p.ranks}
    elapsed["*"] = (out.elapsed, out.mpi)

    def row(t):
        app, mpi = elapsed[t.key if isinstance(t.key, int) else "*"]
        return [t.calls, _ms(t.max_time), _ms(t.mean_time), _ms(t.min_time),
                _ms(t.waiting), _percent(t.time, app), _percent(t.time, mpi)]

    out.section("Callsite Time statistics (all, milliseconds): "
                f"{len(out.sites)}")
    _by_rank(out, out.sites, row, ["Count", "Max", "Mean", "Min", "Wait",
                                   "App%", "MPI%"])


def _bytes_row(t):
    total = t.sent
    return [t.calls, t.max_size,
            f"{total / t.calls:.1f}" if t.calls else "0", t.min_size, total]


def _site_bytes(out):
    sent = [t for t in out.sites if t.sent]
    out.section("Callsite Message Sent statistics (all, sent bytes)")
    _by_rank(out, sent, _bytes_row, ["Count", "MaxSize", "Mean", "MinSize",
                                     "Sum"])


def _files(out):
    if not out.files:
        return
    out.section("Callsite I/O statistics (all, milliseconds and bytes)")
    _by_rank(out, out.files, lambda t: [
        t.calls, _ms(t.time), _ms(t.max_time), _ms(t.mean_time),
        t.sent, t.received], ["Count", "Time", "Max", "Mean", "Written",
                              "Read"])


def _communicators(out):
    p = out.p
    out.section("Communicators (milliseconds)")
    rows = []
    for t in p.totals("communicator"):
        c = t.key
        members = "-" if c is None or c.members is None else \
            str(Ranges(c.members)).replace(" ", "")
        rows.append([t.label.replace(" ", "_"), c.size if c else 0,
                     _ms(t.time), _ms(t.waiting), t.calls, t.sent, members])
    out.table(["<Name", "Size", "Time", "Wait", "Count", "Sent",
               "<Members"], rows)


def _regions(out):
    regions = out.p.regions()
    if not regions:
        return
    out.section("Regions (with those within them, milliseconds)")
    out.table(["<Name", "Entered", "Time", "MPITime", "MPI%", "Wait",
               "IOTime"],
              [[r.label.replace(" ", "_"), r.entered, _ms(r.time),
                _ms(r.communication), _percent(r.communication, r.time),
                _ms(r.waiting), _ms(r.io)] for r in regions])


def _sizes(out):
    totals = recorded.group([r for r in out.p.communication.records
                            if r.size_bin], "size")
    out.section("Message Sizes (bytes, milliseconds)")
    out.table(["From", "To", "Count", "Time", "Wait", "Sent"],
              [[*recorded.size_range(t.key), t.calls, _ms(t.time),
                _ms(t.waiting), t.sent]
               for t in sorted(totals, key=lambda t: t.key)])


def _pairs(out):
    matrix = out.p.matrix()
    out.section(f"Pairs of Ranks (top twenty of {len(matrix)}, by bytes)")
    top = sorted(matrix.items(), key=lambda one: (-one[1].bytes, one[0]))
    out.table(["From", "To", "Messages", "Bytes"],
              [[a, b, one.messages, one.bytes]
               for (a, b), one in top[:TOP]])


def _between(out):
    totals = out.p.between()
    if not totals:
        return
    out.section("Bytes Inside and Between Nodes")
    out.table(["<Call", "SentInside", "SentBetween", "RecvInside",
               "RecvBetween"],
              [[_short(t.label), t.sent - t.sent_between, t.sent_between,
                t.received - t.received_between, t.received_between]
               for t in totals])


def _devices(out):
    totals = out.p.devices()
    if not totals:
        return
    out.section("Data in the Memory of GPUs (bytes)")
    out.table(["<Call", "Calls", "Sent", "Received", "Pieces", "<Site"],
              [[_short(t.key[0]), t.device_calls, t.device_sent,
                t.device_received, t.device_pieces, t.key[1].label]
               for t in totals])


def _crossing(out):
    rows = words.crossing(out.p)
    if not rows:
        return
    out.section("Pairs of Ranks by What Lies Between Them (bytes)")
    out.table(["<Place", "Messages", "Bytes", "Bytes%"],
              [[text.replace(" ", "_"), one.messages, one.bytes,
                f"{100 * part:.2f}"] for text, one, part in rows])
    for sentence in words.places(out.p):
        out.wrapped(sentence)


def _matched(out):
    for number, sentence in enumerate(words.matched(out.p)):
        if not number:
            out.section("Messages That Straightway Matched")
        out.wrapped(sentence)


def _findings(out):
    out.section("Findings (seconds concerned, per rank on average)")
    found = findings.find(out.p)
    if not found:
        out.wrapped(findings.NOTHING)
    for f in found:
        out.add(f"{f.seconds:.6f} {f.kind}: {f.title}")
        out.wrapped(f.text, "    ")


def render(p, out):
    lines = _Report(p)
    for section in (_head, _tasks, _callsites, _aggregate_time,
                    _aggregate_operations, _aggregate_sent, _site_times,
                    _site_bytes, _files, _communicators, _regions, _sizes,
                    _pairs, _matched, _between, _devices, _crossing,
                    _findings):
        section(lines)
    lines.section("End of Report")
    out.write("\n".join(lines.lines) + "\n")
