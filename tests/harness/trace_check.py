"""A trace against itself, and against the profile of the same run.

The decoder is written from docs/capture-format.md, apart from the one that the
reports use. What a trace promises can be checked on any program: its events,
added up, are the profile; every message is sent once and received once, with
the same bytes; requests start once and end once; the members of a communicator
have the same collectives.
"""

import collections
import json
import re
import struct
import zlib

SENDS, RECEIVES, POSTS, COLLECTIVE, STARTS, ENDS, CAME, WAITED = range(2, 10)
NAMES = {1: "amount", SENDS: "sends", RECEIVES: "receives", POSTS: "posts",
         COLLECTIVE: "collective", STARTS: "starts", ENDS: "ends",
         CAME: "came", WAITED: "waited", 10: "target"}
SIGNED = {SENDS: (0, 1), RECEIVES: (0, 1), POSTS: (0, 1), CAME: (1, 2),
          10: (0,)}

STARTERS = {"MPI_Start", "MPI_Startall"}    # of persistent ones

Event = collections.namedtuple(
    "Event", "thread record failed began ticks size sent received notes")
Note = collections.namedtuple("Note", "kind fields")


def blocks(path):
    """[(kind, rank, payload)] of a file, each whole."""
    raw = path.read_bytes()
    assert raw[:16] == b"\x89SWCAP\r\n" + struct.pack("<II", 1, 0)
    at, found = 16, []
    while at < len(raw):
        kind, crc, length, rank, zero = struct.unpack_from("<4sIQII", raw, at)
        payload = raw[at + 24:at + 24 + length]
        assert len(payload) == length and zero == 0
        assert zlib.crc32(payload) == crc
        found.append((kind, rank, payload))
        at += 24 + length
    return found


def numbers(data):
    """The varints of data, in order."""
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0
    assert shift == 0


def signed(n):
    return n >> 1 ^ -(n & 1)


def events_of(payload):
    version, thread, clock, count, zero = struct.unpack_from("<IIQII", payload)
    assert version == 1 and zero == 0
    number = numbers(payload[24:])
    amounts = {}
    for _ in range(count):
        head, gap, ticks = next(number), next(number), next(number)
        notes = []
        while head & 2:
            note = next(number)
            if note == 0:
                break
            kind, fields = note >> 3, [next(number) for _ in range(note & 7)]
            if kind == 1:
                amounts[head >> 2] = fields
                continue
            for place in SIGNED.get(kind, ()):
                fields[place] = signed(fields[place])
            notes.append(Note(kind, fields))
        clock += gap
        size, sent, received = amounts.get(head >> 2, (0, 0, 0))
        yield Event(thread, head >> 2, head & 1, clock, ticks, size, sent,
                    received, notes)
        clock += ticks
    assert next(number, None) is None


def read(path):
    """{rank: [Event]} of the pieces of the capture at `path`, which are then
    removed, or of the trace that they were merged into."""
    stem = path.name[:-len(".swcap")]
    merged = path.with_name(stem + ".swtrace")
    pieces = [p for p in path.parent.iterdir()
              if re.fullmatch(re.escape(stem) + r"\.rank\d+\.swtrace", p.name)]
    found = collections.defaultdict(list)
    for piece in pieces or [merged]:
        for kind, rank, payload in blocks(piece):
            if kind == b"TRAC":
                found[rank] += events_of(payload)
    return found


def headers(path):
    """{rank: the JSON object of its block} of a capture."""
    found = {}
    for kind, rank, payload in blocks(path):
        if kind == b"RANK":
            length, = struct.unpack_from("<I", payload)
            found[rank] = json.loads(payload[4:4 + length])
    return found


def check_sums(rank, header, events):
    """The events of a rank, added up, are its table of calls."""
    table = rank.table("calls")
    rows = {table["record"][i]: i for i in range(len(table))}
    assert 0 not in rows and len(rows) == len(table)
    scale = (header["stop"] - header["start"]) / (
        header["stop_ticks"] - header["start_ticks"])
    sums = collections.defaultdict(lambda: [0] * 6)
    for e in events:
        for place, n in enumerate((1, e.failed, e.sent, e.received, e.size,
                                   e.ticks * scale)):
            sums[e.record][place] += n
        row = rows[e.record]
        assert table["thread"][row] == e.thread
        assert table["min_size"][row] <= e.size <= table["max_size"][row]
    assert set(sums) == set(rows)
    for record, row in rows.items():
        expected = [table[name][row] for name in ("calls", "errors", "sent",
                                                  "received")]
        assert sums[record][:4] == expected
        time = table["time"][row]
        assert abs(sums[record][5] - time) <= time * 1e-3 + expected[0] + 1000
    assert header["trace"]["events"] == len(events)
    assert header["trace"]["lost"] == 0


def check_order(events):
    """On each thread one after the other."""
    ends = collections.defaultdict(int)
    for e in events:
        assert e.began >= ends[e.thread]
        ends[e.thread] = e.began + e.ticks


def check_requests(events):
    """Each ends once, after its start. Returns how many never end. (Hosts have
    one handle for many small sends. A thread that is given it again says that
    the former is over, and may have left its call before the former thread
    has left its own.)"""
    started, ended = {}, set()
    for e in events:
        for kind, fields in e.notes:
            if kind == STARTS:
                assert fields[0] not in started and fields[0] > 0
                started[fields[0]] = e
    for e in events:
        for kind, fields in e.notes:
            if kind in (ENDS, CAME) and fields[0]:
                start = started[fields[0]]
                assert fields[0] not in ended
                assert start.began + start.ticks <= e.began + e.ticks or \
                    start.thread != e.thread
                ended.add(fields[0])
    return len(started) - len(ended)


def guessed(rank, events):
    """Requests of MPI_Isendrecv: not all hosts tell their bytes."""
    table = rank.table("calls")
    records = {table["record"][i] for i in range(len(table))
               if rank.procedures[table["procedure"][i]].startswith(
                   "MPI_Isendrecv")}
    return {fields[0] for e in events if e.record in records
            for kind, fields in e.notes if kind == STARTS}


def check_messages(ranks, traces, guesses, paused):
    """Messages with a number have two ends, of the same bytes; no end comes
    twice. Returns (how many there are, how many of them were not received).
    Where numbers may be exchanged the bytes of a sender, receiver and tag are
    compared as a whole."""
    ends = collections.defaultdict(lambda: [[], []])
    loose = set()               # communicators
    for rank in ranks:
        unsure = guessed(rank, traces[rank.number]) if guesses else ()
        for e in traces[rank.number]:
            kinds = [note.kind for note in e.notes]
            for kind, fields in e.notes:
                if kind == SENDS:
                    peer, tag, number, comm, *told = fields
                    where = (rank.number, peer)
                    size = told[0] if told else \
                        e.sent if kinds.count(SENDS) == 1 else None
                elif kind == RECEIVES:
                    peer, tag, number, comm = fields
                    where, size = (peer, rank.number), e.received
                elif kind == CAME:
                    request, peer, tag, number, size, comm = fields
                    size = None if request in unsure else size
                    where = (peer, rank.number)
                else:
                    if kind == POSTS and -1 in fields[:2]:
                        loose.add(rank.communicators[fields[3]].id)
                    continue
                if number:
                    key = rank.communicators[comm].id, where, tag, number
                    ends[key][kind != SENDS].append(size)
    together = collections.defaultdict(lambda: ([], []))
    threads = any(len({e.thread for e in events}) > 1
                  for events in traces.values())
    for key, (sent, received) in ends.items():
        assert len(sent) == 1 or (paused and not sent), key
        assert len(received) <= 1, key
        if threads or key[0] in loose:
            together[key[:-1]][0].extend(sent)
            together[key[:-1]][1].extend(received)
        elif received and sent and None not in sent + received:
            assert sent == received, key
    # Of programs that pause, as many may be others.
    for key, (sent, received) in () if paused else together.items():
        if None not in sent + received and len(sent) == len(received):
            assert sorted(sent) == sorted(received), key
    return len(ends), sum(not received for _, received in ends.values())


def check_collectives(ranks, traces, paused):
    """Members of a communicator have the same ones."""
    found = collections.defaultdict(dict)
    for rank in ranks:
        table = rank.table("calls")
        names = {table["record"][i]: rank.procedures[table["procedure"][i]]
                 for i in range(len(table))}
        for e in traces[rank.number]:
            for kind, fields in e.notes:
                if kind == COLLECTIVE:
                    comm = rank.communicators[fields[1]]
                    if not int(comm.id, 16) or comm.remote_size:
                        continue
                    members = found[comm.id, comm.size, fields[0]]
                    assert rank.number not in members
                    members[rank.number] = names[e.record]
    for (_, size, _), members in found.items():
        assert len(members) == size or paused
        assert len({p[:-2] if p.endswith("_c") else p
                    for p in members.values()} - STARTERS) <= 1
    return len(found)


def check(path, ranks, guesses=False, paused=False):
    """All of it. Returns (events, messages, not received, collectives).
    `guesses`: the host does not tell all bytes; `paused`: so did the program,
    and what happened meanwhile is not there."""
    traces, heads = read(path), headers(path)
    assert set(traces) == {rank.number for rank in ranks}
    for rank in ranks:
        events = traces[rank.number]
        check_order(events)
        check_sums(rank, heads[rank.number], events)
        check_requests(events)
    return (sum(map(len, traces.values())), *check_messages(
        ranks, traces, guesses, paused),
            check_collectives(ranks, traces, paused))
