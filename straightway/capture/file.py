"""Capture files: reads and writes the format of docs/capture-format.md.

A capture may come from a killed run, a full disk or a later Straightway. The
reader therefore takes all that is left. A damaged block loses that block, and a
missing table or column counts as zero. `Capture.problems` has a plain sentence
for each loss, for the user. The reader raises UserError for files of which it
can read nothing.

The reader trusts nothing in a file: it checks sizes against the bytes that the
file has before it allocates memory, and makes texts printable.

Traces may be larger than the memory. Of their blocks the reader reads only the
heads, and a `Span` gives the place of the rest. It does not detect damage in
them; a walk through the trace does (src/trace/).

    capture = read("app.8.4711.swcap")
    for rank in capture.ranks:              # sorted by number
        calls = rank.table("calls")
        total = sum(calls["time"])          # ns
"""

import array
import collections
import contextlib
import errno
import fcntl
import itertools
import json
import math
import os
import struct
import sys
import zlib

from straightway import files
from straightway.errors import UserError

MAGIC = b"\x89SWCAP\r\n"
VERSION = 1
NOBODY = 0xffffffff         # the rank of a block that belongs to no rank
_FILE = struct.Struct("<8sII")
_BLOCK = struct.Struct("<4sIQII")
_LENGTH = struct.Struct("<I")
_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
_TRACE_HEAD = struct.Struct("<IIQII")       # of a trace block's payload
_KINDS = (b"RANK", b"SYMS", b"TRAC")
_LIMIT = (1 << 64) - 1
_TRIES = 1000               # places to try for a block after damage
_PROBLEMS = 100             # reported one by one; a file of rubbish has more
_CHUNK = 1 << 20            # bytes read at once of what may be large

Block = collections.namedtuple("Block", "kind rank payload")
Span = collections.namedtuple("Span", "path offset length crc events")
Span.__doc__ = "The payload of a trace block, in its file."
Traced = collections.namedtuple("Traced", "blocks bytes events")
Traced.__doc__ = "What a file has of a rank's trace; bytes are of payloads."
Recorded = collections.namedtuple("Recorded", "events bytes lost stopped")
Recorded.__doc__ = "What a rank says of its trace; `stopped`: why it did."
Matched = collections.namedtuple(
    "Matched", "messages early early_bytes waiting_most posted_most",
    defaults=(0,) * 5)
Matched.__doc__ = "Messages that Straightway has matched: see the page."
Module = collections.namedtuple("Module", "path build_id")
Line = collections.namedtuple("Line", "file function line")     # of Python
Communicator = collections.namedtuple(
    "Communicator", "name id size rank remote_size members sources "
    "destinations")
Datatype = collections.namedtuple("Datatype", "name size")
Region = collections.namedtuple("Region", "name entered time")  # time in ns
Symbol = collections.namedtuple("Symbol", "function file line")
Symbol.__doc__ = 'The name of a native frame; "" and 0 where not known.'


# Values of JSON, as the type that they should have. -----------------------

def _number(value):
    """A number of 64 bits; 0 for anything else."""
    if isinstance(value, float) and math.isfinite(value):
        value = int(value)
    if not isinstance(value, int):
        return 0
    return min(max(value, 0), _LIMIT)


def _text(value):
    """A printable text; "" for anything else."""
    if not isinstance(value, str):
        return ""
    if value.isprintable():
        return value
    return "".join(c if c.isprintable() else " " if c.isspace() else
                   "\ufffd" for c in value)


def _object(value):
    return value if isinstance(value, dict) else {}


def _list(value):
    return value if isinstance(value, list) else []


def _ranges(value):
    """[(first, last), ...]; None where the file gives none."""
    if not isinstance(value, list):
        return None
    pairs = [(_number(p[0]), _number(p[1])) for p in value
             if isinstance(p, list) and len(p) == 2]
    return [(first, last) for first, last in pairs if first <= last]


def _ranks(value):
    """[rank], with -1 for MPI_PROC_NULL; None where the file gives none."""
    if not isinstance(value, list):
        return None
    return [-1 if n == -1 else _number(n) for n in value]


# Tables -------------------------------------------------------------------

class Table:
    """Columns by name, each an array of `rows` numbers; a missing column is
    all zeros. `names` are those that the file has, even where all are zero."""

    def __init__(self, rows=0, columns=None, names=()):
        self.rows = rows
        self.columns = columns or {}
        self.names = frozenset(names)
        self._zeros = None

    def __getitem__(self, name):
        column = self.columns.get(name)
        if column is None:
            if self._zeros is None:
                self._zeros = array.array("B", bytes(self.rows))
            column = self._zeros
        return column

    def __len__(self):
        return self.rows


def _column(data, width):
    column = array.array(_CODES[width])
    column.frombytes(data)
    if sys.byteorder == "big":
        column.byteswap()
    return column


def _tables(header, payload, start):
    """The tables of a payload from `start` on, and an error or None."""
    tables = {}
    for spec in _list(header.get("tables")):
        spec = _object(spec)
        name, rows = _text(spec.get("name")), spec.get("rows")
        # Some column of a row is not zero, so a row takes at least a byte.
        if not isinstance(rows, int) or not 0 <= rows <= len(payload):
            return tables, f"table {name or '?'} claims {rows!r:.30} rows"
        columns, names = {}, []
        for column in _list(spec.get("columns")):
            if (not isinstance(column, list) or len(column) != 2
                    or not isinstance(column[1], int)
                    or column[1] not in (0, *_CODES)):
                return tables, f"table {name or '?'} has an unknown column"
            width = column[1]
            end = start + rows * width
            if end > len(payload):
                return tables, f"table {name or '?'} is cut short"
            if width:
                columns.setdefault(_text(column[0]),
                                   _column(payload[start:end], width))
            start = end
            names.append(_text(column[0]))
        tables.setdefault(name, Table(rows, columns, names))
    return tables, None


def unpack(payload):
    """(object, {name: Table}, error or None) of a block's payload. ValueError
    when even the object is unreadable."""
    if len(payload) < _LENGTH.size:
        raise ValueError("it is too short")
    length, = _LENGTH.unpack_from(payload)
    end = _LENGTH.size + length
    if end > len(payload):
        raise ValueError("its text is cut short")
    try:
        header = json.loads(bytes(payload[_LENGTH.size:end])
                            .decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise ValueError("its text is not JSON") from None
    if not isinstance(header, dict):
        raise ValueError("its text is not a JSON object")
    return (header, *_tables(header, memoryview(payload), end))


def pack(header, tables=None):
    """A payload. `tables`: {name: {column: [number, ...]}}. Each column gets
    the smallest width that holds its numbers."""
    specs, data = [], []
    for name, columns in (tables or {}).items():
        widths = []
        for column, numbers in columns.items():
            most = max(numbers, default=0)
            width = next(w for w in (0, 1, 2, 4, 8) if most < 1 << 8 * w)
            widths.append([column, width])
            if width:
                packed = array.array(_CODES[width], numbers)
                if sys.byteorder == "big":
                    packed.byteswap()
                data.append(packed.tobytes())
        rows = len(next(iter(columns.values()), ()))
        specs.append({"name": name, "rows": rows, "columns": widths})
    if tables is not None:
        header = dict(header, tables=specs)
    text = json.dumps(header, separators=(",", ":")).encode()
    return b"".join([_LENGTH.pack(len(text)), text, *data])


# Ranks --------------------------------------------------------------------

class Job:
    """Facts that all ranks of a run share."""

    def __init__(self, header):
        self.program = _text(header.get("program"))
        self.arguments = [_text(a) for a in _list(header.get("arguments"))]
        self.id = _text(header.get("id"))
        self.ranks = _number(header.get("ranks"))
        self.began = _number(header.get("began"))       # s since 1970
        self.mpi = _text(header.get("mpi"))
        self.mpi_library = _text(header.get("mpi_library"))
        self.flavour = _text(header.get("flavour"))
        self.accelerated = header.get("accelerated") is True
        self.stack_depth = _number(header.get("stack_depth"))


class Rank:
    """One RANK block. Times are ns. Entry 0 of each list is None, so an index
    of 0 means none; regions[0] is outside of all."""

    def __init__(self, number, header, tables):
        def get(name):
            return _number(header.get(name))

        self.number = number
        self.version = _text(header.get("straightway"))
        self.job = Job(_object(header.get("job")))
        self.node = _text(header.get("node"))
        self.pid = get("pid")
        self.thread_level = get("thread_level")
        self.processors = get("processors")
        self.node_processors = get("node_processors")
        self.node_ranks = get("node_ranks")
        self.node_number = get("node_number")
        self.cpus = _text(header.get("cpus"))   # "0-3,8"; "": not known
        # Of one rank on each node: {"package": ["0-3", "4-7"], ...}.
        self.domains = {_text(kind): [_text(one) for one in _list(found)]
                        for kind, found in
                        _object(header.get("domains")).items()}
        self.end = _text(header.get("end")) or "unknown"
        self.signal = get("signal")
        self.start, self.stop = get("start"), get("stop")
        self.wall = max(0, self.stop - self.start)
        self.init_time = get("init_time")
        self.cpu = get("cpu")
        self.own_call_cost = get("own_call_cost")
        self.folded = get("folded")
        self.start_ticks, self.stop_ticks = get("start_ticks"), \
            get("stop_ticks")
        self.epoch = get("epoch")
        found = _object(header.get("matched"))
        self.matched = Matched(*(_number(found.get(name))
                                 for name in Matched._fields))
        self.trace = None       # Recorded, with --trace
        if isinstance(header.get("trace"), dict):
            trace = header["trace"]
            self.trace = Recorded(
                *(_number(trace.get(name)) for name in Recorded._fields[:3]),
                _text(trace.get("stopped")))
        self.procedures = self._entries(header, "procedures", _text)
        self.operations = self._entries(header, "operations", _text)
        self.modules = self._entries(header, "modules", lambda m: Module(
            _text(_object(m).get("path")), _text(_object(m).get("build_id"))))
        self.python = self._entries(header, "python", lambda p: Line(
            _text(_object(p).get("file")), _text(_object(p).get("function")),
            _number(_object(p).get("line"))))
        self.communicators = self._entries(header, "communicators",
                                           self._communicator)
        self.datatypes = self._entries(header, "datatypes", lambda d: Datatype(
            _text(_object(d).get("name")), _number(_object(d).get("size"))))
        self.regions = [Region(_text(r.get("name")),
                               _number(r.get("entered")),
                               _number(r.get("time")))
                        for r in map(_object, _list(header.get("regions")))
                        ] or [Region("", 0, 0)]
        self._tables = tables

    @staticmethod
    def _entries(header, name, make):
        return [None, *map(make, _list(header.get(name))[1:])]

    @staticmethod
    def _communicator(entry):
        c = _object(entry)
        return Communicator(_text(c.get("name")), _text(c.get("id")) or "0",
                            _number(c.get("size")), _number(c.get("rank")),
                            _number(c.get("remote_size")),
                            _ranges(c.get("members")),
                            _ranks(c.get("sources")),
                            _ranks(c.get("destinations")))

    def table(self, name):
        """calls, times, peers, frames or stacks; empty if there is none."""
        return self._tables.get(name) or Table()


class Capture:
    """The content of a file.

        ranks     sorted by number
        symbols   by (module path, build id, offset)
        named     whether the file has a SYMS block
        traced    {rank: Traced} of the trace in this very file
        problems  sentences on what the reader could not read
    """

    def __init__(self, path, ranks, symbols, named, traced, problems):
        self.path = path
        self.ranks = ranks
        self.symbols = symbols
        self.named = named
        self.traced = traced
        self.problems = problems

    def native_frames(self):
        """[(module path, build id, offset)] of all native frames, once."""
        found = {}
        for rank in self.ranks:
            frames = rank.table("frames")
            for language, place, offset in zip(
                    frames["language"], frames["place"], frames["offset"]):
                if language == 0 and 0 < place < len(rank.modules):
                    found[(*rank.modules[place], offset)] = None
        return list(found)


# Files --------------------------------------------------------------------

class _Reader:
    """Walks through a file's blocks, and goes on after damaged ones."""

    def __init__(self, path, file, size):
        self.path, self.file, self.size = path, file, size
        self.problems = []
        self.whole = True       # it ends where its last block ends
        self.budget = 4 * size  # bytes read while looking for blocks

    def problem(self, sentence):
        if len(self.problems) < _PROBLEMS:
            self.problems.append(sentence)

    def _header(self, at):
        """The header at `at`, if its block fits into the file; and whether the
        file ends within it."""
        self.file.seek(at)
        data = self.file.read(_BLOCK.size)
        if len(data) < _BLOCK.size:
            return None, True
        header = _BLOCK.unpack(data)
        return header, header[2] > self.size - at - _BLOCK.size

    def _chunks(self, at, length):
        self.file.seek(at)
        while length:
            data = self.file.read(min(length, _CHUNK))
            if not data:
                return
            length -= len(data)
            yield data

    def _sound(self, at, header):
        """Whether the payload at `at` has its checksum."""
        crc = 0
        for data in self._chunks(at, header[2]):
            crc = zlib.crc32(data, crc)
        return crc == header[1]

    def _span(self, at, header):
        """A trace block's payload, without reading it. Another block, or the
        end, must follow it; otherwise None unless its checksum is right."""
        end = at + header[2]
        self.file.seek(end)
        follows = self.file.read(4)
        if follows not in (b"", *_KINDS) and not self._sound(at, header):
            return None
        self.file.seek(at)
        head = self.file.read(min(header[2], _TRACE_HEAD.size))
        events = 0
        if len(head) == _TRACE_HEAD.size:
            events = _TRACE_HEAD.unpack(head)[3]
        return Span(self.path, at, header[2], header[1], events)

    def _payload(self, at, header):
        """The payload that begins at `at`, or None."""
        if header[0] == b"TRAC":
            return self._span(at, header)
        if header[2] > _CHUNK and not self._sound(at, header):
            return None
        self.file.seek(at)
        payload = self.file.read(header[2])
        return payload if zlib.crc32(payload) == header[1] else None

    def _places(self, at):
        """Places from `at` on where a block may begin."""
        tries = 0
        while at < self.size and self.budget > 0:
            self.file.seek(at)
            data = self.file.read(_CHUNK)
            self.budget -= len(data)
            places = set()
            for kind in _KINDS:
                found = data.find(kind)
                while found >= 0 and tries < _TRIES:
                    tries += 1
                    places.add(at + found)
                    found = data.find(kind, found + 1)
            yield from sorted(places)
            at += max(1, len(data) - 3)     # a kind may lie across the edge

    def _next(self, at):
        """The place of the next sound block, or the end of the file."""
        for place in self._places(at):
            header, cut = self._header(place)
            if cut or header[2] > self.budget:
                continue
            self.budget -= header[2]
            if self._sound(place + _BLOCK.size, header):
                return place
        return self.size

    def blocks(self):
        at = _FILE.size
        while at < self.size:
            header, cut = self._header(at)
            payload = None if cut else self._payload(at + _BLOCK.size, header)
            if payload is not None:
                kind, _, length, rank, _ = header
                at += _BLOCK.size + length
                self.whole = True
                yield Block(kind, rank, payload)
                continue
            self.whole = False
            self._tell(header, cut)
            at = self._next(at + 1)

    def _tell(self, header, cut):
        whose = ""
        if header and header[0] == b"RANK" and header[3] != NOBODY:
            whose = f" of rank {header[3]}"
        elif header and header[0] == b"TRAC" and header[3] != NOBODY:
            whose = f" of the trace of rank {header[3]}"
        elif header and header[0] == b"SYMS":
            whose = " of names"
        if cut:
            self.problem(f"The file ends within a block{whose}: it was cut "
                         "short, or is damaged there.")
        else:
            self.problem(f"A block{whose} is damaged (its checksum is wrong) "
                         "and is left out.")


@contextlib.contextmanager
def _open(path):
    """A _Reader of a capture file. UserError for any other file."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = file.read(_FILE.size)
            _check(path, head)
            yield _Reader(str(path), file, size)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None


def _check(path, head):
    if not head:
        raise UserError(f"{path} is empty: the run ended before anything was "
                        "written, or the disk was full; run it again", 1)
    if len(head) < _FILE.size and (MAGIC.startswith(head[:8])):
        raise UserError(f"{path} is cut short before its first block; run "
                        "the program again, or copy the file again", 1)
    if head.startswith(MAGIC[:6]) and not head.startswith(MAGIC):
        raise UserError(f"a transfer altered {path}, as in text mode; copy it "
                        "again as binary", 1)
    if len(head) < _FILE.size or not head.startswith(MAGIC):
        raise UserError(f"{path} is not a capture file; `straightway profile` "
                        "writes them, PROGRAM.RANKS.JOB.swcap", 1)
    _, version, _ = _FILE.unpack(head)
    if version > VERSION:
        raise UserError(f"{path} has format {version}, and this Straightway "
                        f"reads {VERSION}: a newer one wrote it; update this "
                        "one", 1)


def is_bare(path):
    """Whether a file has a beginning, and ends before its first block."""
    with open(path, "rb") as file:
        return _FILE.pack(MAGIC, VERSION, 0).startswith(
            file.read(_FILE.size + 1))


def read_blocks(path, spans=None):
    """([Block, ...], [problem, ...], whole) of a file.

    `whole` is whether the file ends where its last block ends. The list has
    only the last block of each kind and rank, and none of a trace:
    `spans(block)` gets each of those. UserError when the file is unreadable or
    no capture.
    """
    with _open(path) as reader:
        last = {}
        for block in reader.blocks():
            if block.kind == b"TRAC":
                if spans:
                    spans(block)
                continue
            last.pop((block.kind, block.rank), None)
            last[block.kind, block.rank] = block
        return list(last.values()), reader.problems, reader.whole


def trace_blocks(path):
    """The trace's Blocks of a file, each with a Span. UserError as above."""
    with _open(path) as reader:
        yield from (b for b in reader.blocks() if b.kind == b"TRAC")


def _symbols(header, into):
    for frame in map(_object, _list(header.get("frames"))):
        key = (_text(frame.get("module")), _text(frame.get("build_id")),
               _number(frame.get("offset")))
        into[key] = Symbol(_text(frame.get("function")),
                           _text(frame.get("file")),
                           _number(frame.get("line")))


def _nothing(path, traced, problems):
    if traced:
        return UserError(
            f"{path} is a part of a trace, and needs its capture: give the "
            "capture beside it, *.swcap, or join them with straightway "
            "merge", 1)
    why = problems[0] if problems else "It ends after its header."
    return UserError(f"{path} has no readable rank. {why} Run the "
                     "program again, or copy the file again", 1)


def read(path, part=False):
    """The Capture in a file. UserError when the file is unreadable, is no
    capture, has a newer format, or has no readable rank; with `part`, a trace
    alone suffices."""
    traced = {}

    def count(block):
        before = traced.get(block.rank, Traced(0, 0, 0))
        traced[block.rank] = Traced(before.blocks + 1,
                                    before.bytes + block.payload.length,
                                    before.events + block.payload.events)

    blocks, problems, _ = read_blocks(path, count)
    ranks, symbols, named = [], {}, False
    for kind, number, payload in blocks:
        if kind not in _KINDS:
            problems.append("A block has an unknown kind, and is left out; a "
                            "newer Straightway may know it.")
            continue
        whose = f"rank {number}" if kind == b"RANK" else "the names"
        try:
            header, tables, wrong = unpack(payload)
        except ValueError as error:
            problems.append(f"The block of {whose} cannot be read: {error}.")
            continue
        if kind == b"SYMS":
            named = True
            _symbols(header, symbols)
            continue
        if wrong:
            problems.append(f"The block of {whose} is read in part: {wrong}.")
        ranks.append(Rank(number, header, tables))
    if not ranks and not (part and traced):
        raise _nothing(path, traced, problems)
    ranks.sort(key=lambda rank: rank.number)
    return Capture(str(path), ranks, symbols, named, traced, problems)


def _block(kind, rank, payload):
    return _BLOCK.pack(kind, zlib.crc32(payload), len(payload), rank,
                       0) + payload


def _copy(span, file):
    """Copy a Span's bytes from its file to another."""
    with open(span.path, "rb", buffering=0) as source:
        source.seek(span.offset)
        left = span.length
        while left:
            data = source.read(min(left, _CHUNK))
            if not data:
                raise OSError(errno.EIO, f"{span.path} has become shorter")
            file.write(data)
            left -= len(data)


def _write_block(block, file):
    kind, rank, payload = block
    if isinstance(payload, Span):
        file.write(_BLOCK.pack(kind, payload.crc, payload.length, rank, 0))
        _copy(payload, file)
    else:
        file.write(_block(kind, rank, payload))


def write(path, blocks):
    """Write a file of `blocks` (Block or similar tuples), whole or not at all.
    UserError when that fails."""
    path = str(path)
    try:
        draft = files.draft(path)
        try:
            with open(draft, "wb") as file:
                file.write(_FILE.pack(MAGIC, VERSION, 0))
                for block in blocks:
                    _write_block(block, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None


def append(path, kind, payload, rank=NOBODY, mend=True):
    """Add a block to a file.

    If the system cuts the write off, the file keeps its content: readers skip
    an incomplete block. A file with a damaged end is written anew, without it;
    unless `mend`, it stays as it is. UserError when that fails.
    """
    blocks, _, whole = read_blocks(path)
    if not whole and not mend:
        raise UserError(f"{path} is damaged at its end", 1)
    if not whole:
        write(path, itertools.chain(blocks, [Block(kind, rank, payload)],
                                    trace_blocks(path)))
        return
    try:
        with open(path, "r+b", buffering=0) as file:
            with contextlib.suppress(OSError):      # ranks append, too
                fcntl.flock(file, fcntl.LOCK_EX)
            before = file.seek(0, os.SEEK_END)
            left = memoryview(_block(kind, rank, payload))
            try:
                while left:
                    left = left[file.write(left):]
                os.fsync(file.fileno())
            except BaseException:
                file.truncate(before)
                raise
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None


def names_payload(symbols):
    """The payload of a SYMS block: `symbols` as Capture has them."""
    frames = []
    for (module, build_id, offset), symbol in symbols.items():
        frame = {"module": module, "build_id": build_id, "offset": offset}
        frame.update((name, value) for name, value in
                     zip(Symbol._fields, symbol) if value)
        frames.append(frame)
    return pack({"frames": frames})
