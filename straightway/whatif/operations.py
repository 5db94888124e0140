"""Files of operations (docs/opfile-format.md), from traces and other forms.

    made = from_trace(capture.read("app.8.4711.swtrace"), "app.swops")
    for sentence in made.notes: ...
    made = convert("app.goal", "app.swops")
    made = extrapolate("app.swops", 4096, "more.swops")

straightway-whatif does the work. This module gives it the meaning of a trace's
numbers (src/vtime/formats/convert_trace_names.c). UserError when something
cannot be read or written.
"""

import dataclasses

from straightway import native, units
from straightway.capture import procedures, traces

# Collectives over their communicator: all members leave together.
_MAKERS = {"Comm_dup", "Comm_dup_with_info", "Comm_split", "Comm_split_type",
           "Comm_create", "Cart_create", "Cart_sub", "Graph_create",
           "Dist_graph_create", "Dist_graph_create_adjacent",
           "Intercomm_create", "Intercomm_merge", "Comm_accept",
           "Comm_connect", "Comm_spawn", "Comm_spawn_multiple"}
_ONE_SIDED = {
    "Put": "put", "Rput": "put", "Get": "get", "Rget": "get",
    "Accumulate": "accumulate", "Raccumulate": "accumulate",
    "Get_accumulate": "fetch", "Rget_accumulate": "fetch",
    "Fetch_and_op": "fetch", "Compare_and_swap": "fetch",
    "Win_create": "window", "Win_allocate": "allocated",
    "Win_allocate_shared": "allocated", "Win_create_dynamic": "window",
    "Win_free": "free", "Win_fence": "fence", "Win_post": "post",
    "Win_start": "begin", "Win_complete": "complete", "Win_wait": "exposed",
    "Win_test": "exposed", "Win_lock": "lock", "Win_lock_all": "lock",
    "Win_unlock": "unlock", "Win_unlock_all": "unlock", "Win_flush": "flush",
    "Win_flush_all": "flush", "Win_flush_local": "flush-local",
    "Win_flush_local_all": "flush-local"}
_SENDS = {"Ssend": "ssend", "Issend": "ssend", "Bsend": "bsend",
          "Ibsend": "bsend", "straightway_give": "give"}
# MPI's own time in these is not the program's.
_WAITING = {"send", "receive", "send-receive", "completion", "start and end",
            "persistent collective", "one-sided"}


@dataclasses.dataclass
class Made:
    """The result: the file, figures, sentences on what it lacks."""

    path: str
    figures: dict
    notes: list


def kind_of(procedure):
    """The kind of operation that a call of this procedure is: the name of a
    collective, or one of convert_trace_names.c's kinds."""
    word, kind = procedures.stem(procedure), procedures.class_of(procedure)
    if word in _MAKERS:
        return "make"
    if word in _ONE_SIDED:
        return _ONE_SIDED[word]
    if kind == "collective":
        return word.lower()
    if kind == "nonblocking collective":
        return word[1:].lower()
    if kind == "neighbourhood collective":
        return "near"
    if word in ("Start", "Startall"):
        return "start"
    if kind in ("test", "probe"):
        return "poll"
    if word in ("Waitany", "Waitsome"):
        return "some"
    if word in _SENDS:
        return _SENDS[word]
    if kind in _WAITING or word.startswith("Win_") or \
            word in ("Comm_free", "Comm_disconnect", "Comm_create_group",
                     "Comm_idup", "Comm_idup_with_info"):
        return "message"
    return "compute"


# The meaning of a trace's numbers ------------------------------------------

def _ranges(numbers):
    """"0-3,7-7", of sorted numbers."""
    pairs = []
    for n in numbers:
        if pairs and pairs[-1][1] == n - 1:
            pairs[-1][1] = n
        else:
            pairs.append([n, n])
    return ",".join(f"{first}-{last}" for first, last in pairs)


class _Contexts:
    """Communicators as contexts: {id: number}, and the members of each."""

    def __init__(self, ranks, world):
        self.numbers, self.lines, self.world = {}, [], world
        self.known = 0          # contexts, besides the world
        self.aside = {}         # {id: context of its neighbourhood messages}
        groups = {}             # of communicators between groups
        for rank in ranks:
            for c in rank.communicators[1:]:
                if c.remote_size:
                    groups.setdefault(c.id, {})[rank.number] = c
        for rank in ranks:
            for place, c in enumerate(rank.communicators[1:], 1):
                self._add(c, groups)
                self._add_near(rank, place, c)

    def _ranges(self, c):
        return ",".join(f"{first}-{last}" for first, last in c.members or []
                        if last < self.world)

    def _members(self, c, groups):
        if not c.remote_size:
            return self._ranges(c)
        both = groups[c.id]
        if len(both) != c.size + c.remote_size:
            return ""           # a file may lack some ranks
        return _ranges(sorted(both))

    def _number(self, members):
        self.known += 1
        self.lines.append(f"context {self.known} {members}")
        return self.known

    def _add(self, c, groups):
        if not int(c.id, 16) or c.id in self.numbers:
            return
        members = self._members(c, groups)
        if not members:
            return
        if c.name == "MPI_COMM_WORLD" and members == f"0-{self.world - 1}":
            self.lines.append(f"context 0 {members}")
            self.numbers[c.id] = 0
            return
        self.numbers[c.id] = number = self._number(members)
        if c.remote_size:
            pair = {self._ranges(one) for one in groups[c.id].values()}
            if len(pair) == 2 and "" not in pair:
                self.lines.append(" ".join(("groups", str(number),
                                            *sorted(pair))))

    def _add_near(self, rank, place, c):
        if c.sources is None or c.destinations is None or \
                c.id not in self.numbers or \
                max([*c.sources, *c.destinations], default=0) >= self.world:
            return
        if c.id not in self.aside:
            self.aside[c.id] = self._number(self._ranges(c))
        lists = (",".join(map(str, ranks)) or "-"
                 for ranks in (c.sources, c.destinations))
        self.lines.append(" ".join((
            f"near {rank.number} {place} {self.aside[c.id]}", *lists)))

    def __getitem__(self, c):
        """The number + 1, in hexadecimal; 0: not known."""
        number = self.numbers.get(c.id)
        return "0" if number is None else f"{number + 1:x}"


def _sections(ranks):
    """{name: number} of the regions of all ranks' calls."""
    found = {}
    for rank in ranks:
        for region in rank.regions[1:]:
            found.setdefault(_line(region.name), len(found) + 1)
    return found


def _line(text):
    """A region's name, cut to the length of a line of names."""
    return "".join(c if c.isprintable() else " " for c in text)[:250] or "?"


def _calls(rank, strings, sections):
    """{thread: [a line for each record]} of a rank."""
    table, found = rank.table("calls"), {}
    numbers = [0, *(sections[_line(r.name)] for r in rank.regions[1:])]
    for record, thread, procedure, communicator, root, region in zip(*(
            table[name] for name in ("record", "thread", "procedure",
                                     "communicator", "root", "region"))):
        if record and 0 < procedure < len(rank.procedures):
            name = strings[kind_of(rank.procedures[procedure])]
            found.setdefault(thread, []).append(
                f"call\t{record}\t{name}\t{name}\t{root - 1} {communicator} "
                f"{numbers[region] if region < len(numbers) else 0}")
    return found


class _Strings:
    def __init__(self, lines):
        self.lines, self.numbers = lines, {}

    def __getitem__(self, text):
        if text not in self.numbers:
            self.numbers[text] = len(self.numbers) + 1
            self.lines.append(f"string\t{text}")
        return self.numbers[text]


def names(found, parts):
    """The text for convert_trace_names.c, from a Capture and the parts of its
    trace."""
    lines = []
    strings = _Strings(lines)
    world = max(found.ranks[0].job.ranks, found.ranks[-1].number + 1)
    contexts = _Contexts(found.ranks, world)
    sections = _sections(found.ranks)
    for text in (f"world {world}", *contexts.lines,
                 *(f"section {number} {name}"
                   for name, number in sections.items())):
        strings[text]
    files = {rank: i for i, part in enumerate(parts) for rank in part.ranks}
    for rank in found.ranks:
        if rank.number not in files:
            continue
        lines.append("\t".join(map(str, (
            "rank", rank.number, files[rank.number], rank.start_ticks,
            max(0, rank.stop_ticks - rank.start_ticks), rank.wall, 0,
            rank.own_call_cost, ""))))
        lines += [f"communicator\t{contexts[c]}"
                  for c in rank.communicators[1:]]
        for thread, calls in sorted(_calls(rank, strings,
                                           sections).items()):
            lines.append(f"thread\t{thread}\t")
            lines += calls
    return "".join(line + "\n" for line in lines).encode()


# Running -------------------------------------------------------------------

def _convert(words, text=b""):
    return native.answer(native.whatif_executable(), ["convert", *words],
                         text)


def _notes(figures):
    """Sentences on the differences between the operations and their source."""
    told = (
        ("damaged", "block", "of the trace damaged, and left out"),
        ("outside", "operation", "left out: partners or communicators that "
         "are not in MPI_COMM_WORLD, or not known"),
        ("unmodelled", "call", "of one-sided communication left out, such as "
         "locks of several threads"),
        ("approximate", "collective", "taken to wait for all members: the "
         "trace does not show the operation, or the ranks that it waits for"),
        ("expanded", "collective", "written as messages"),
        ("flags", "send", "written as an ordinary one: it was synchronous or "
         "buffered"),
        ("means", "collective", "written with the mean of blocks that "
         "differ"),
        ("sections", "region change", "left out: the form has no regions"))
    for name, noun, rest in told:
        n = figures.get(name, 0)
        if n:
            yield (f"{units.plural(n, noun)} {'is' if n == 1 else 'are'} "
                   f"{rest}")


def from_trace(found, path):
    """Write the operations of a Capture with a trace, or of its Profile, to a
    file at `path`."""
    found = getattr(found, "capture", found)
    parts = traces.parts(found)
    figures = _convert(["--trace", path, *(part.path for part in parts)],
                       names(found, parts))
    there = {rank for part in parts for rank in part.ranks}
    absent = {rank.number for rank in found.ranks} - there
    notes = [f"{traces.of_ranks(absent)} left no trace"] if absent else []
    return Made(str(path), figures,
                [*notes, *_notes(figures), *traces.stopped(found)])


def convert(source, path, flops=None, file_order=False, algorithms=None,
            forms=(None, None), graph=False):
    """Convert from one form to another (ops, goal, smpi, text: `forms`, else
    by the names' endings)."""
    words = []
    for option, form in zip(("--from", "--to"), forms):
        words += [option, form] if form else []
    words += ["--flops", flops] if flops else []
    words += ["--file-order"] if file_order else []
    words += ["--graph"] if graph else []
    for collective, name in (algorithms or {}).items():
        words += ["--algorithm", f"{collective}={name}"]
    figures = _convert([*words, source, path])
    return Made(str(path), figures, list(_notes(figures)))


def extrapolate(source, ranks, path):
    """Extrapolate a regular program's operations to more ranks."""
    figures = _convert(["--extrapolate", ranks, source, path])
    return Made(str(path), figures, [
        "the operations are extrapolated to more ranks"])


def synthetic(pattern, ranks, iterations, size, compute_ns, path):
    """Write a regular program's operations: halo2d, allreduce, ..."""
    figures = _convert(["--synthetic", pattern, ranks, iterations, size,
                        compute_ns, path])
    return Made(str(path), figures, [])
