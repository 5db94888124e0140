"""Perfetto traces, read back: a small decoder of Protocol Buffers, and the
tracks, slices and flows that a viewer would make of them.

    found = read("app.pftrace")
    for track in found.tracks.values():
        for piece in track.slices:
            print(piece.begin, piece.name, piece.notes)
"""

import collections
import dataclasses
import struct
import typing

# {message: {number: (name, how it is stored)}}, of what we write; the numbers
# are checked against Perfetto's own schema in test_trace.py.
FIELDS = {
    "Trace": {1: ("packet", "TracePacket*")},
    "TracePacket": {
        8: ("timestamp", "number"),
        10: ("trusted_packet_sequence_id", "number"),
        11: ("track_event", "TrackEvent"),
        12: ("interned_data", "InternedData"),
        13: ("sequence_flags", "number"),
        42: ("previous_packet_dropped", "number"),
        59: ("trace_packet_defaults", "TracePacketDefaults"),
        60: ("track_descriptor", "TrackDescriptor"),
        87: ("first_packet_on_sequence", "number")},
    "TracePacketDefaults": {
        11: ("track_event_defaults", "TrackEventDefaults")},
    "TrackEventDefaults": {11: ("track_uuid", "number")},
    "TrackEvent": {
        3: ("category_iids", "number*"),
        4: ("debug_annotations", "DebugAnnotation*"),
        9: ("type", "number"),
        10: ("name_iid", "number"),
        47: ("flow_ids", "fixed64*"),
        48: ("terminating_flow_ids", "fixed64*")},
    "DebugAnnotation": {
        1: ("name_iid", "number"), 2: ("bool_value", "number"),
        3: ("uint_value", "number"), 4: ("int_value", "signed"),
        17: ("string_value_iid", "number")},
    "InternedData": {
        1: ("event_categories", "EventCategory*"),
        2: ("event_names", "EventName*"),
        3: ("debug_annotation_names", "DebugAnnotationName*"),
        29: ("debug_annotation_string_values", "InternedString*")},
    "EventCategory": {1: ("iid", "number"), 2: ("name", "text")},
    "EventName": {1: ("iid", "number"), 2: ("name", "text")},
    "DebugAnnotationName": {1: ("iid", "number"), 2: ("name", "text")},
    "InternedString": {1: ("iid", "number"), 2: ("str", "text")},
    "TrackDescriptor": {
        1: ("uuid", "number"), 3: ("process", "ProcessDescriptor"),
        4: ("thread", "ThreadDescriptor"), 5: ("parent_uuid", "number")},
    "ProcessDescriptor": {
        1: ("pid", "number"), 3: ("legacy_sort_index", "number"),
        6: ("process_name", "text"), 8: ("process_labels", "text*")},
    "ThreadDescriptor": {1: ("pid", "number"), 2: ("tid", "number"),
                         5: ("thread_name", "text")},
}
BEGIN, END = 1, 2
CLEARED, NEEDS = 1, 2


# Messages -----------------------------------------------------------------

def _varint(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        at += 1
        n |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            assert n < 1 << 64
            return n, at


def _fields(data):
    """(number, wire type, value) of each field: an int, or bytes."""
    at = 0
    while at < len(data):
        head, at = _varint(data, at)
        wire = head & 7
        if wire == 0:
            value, at = _varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            assert wire == 2, wire
            size, at = _varint(data, at)
            assert at + size <= len(data)
            value, at = data[at:at + size], at + size
        yield head >> 3, wire, value


_WIRES = {"number": 0, "signed": 0, "fixed64": 1}


def decode(data, kind="Trace"):
    """A message as {field: value}; every field must be known."""
    found = {}
    for number, wire, value in _fields(data):
        name, stored = FIELDS[kind][number]
        many = stored.endswith("*")
        stored = stored.rstrip("*")
        assert wire == _WIRES.get(stored, 2), (kind, name)
        if stored in FIELDS:
            value = decode(value, stored)
        elif stored == "text":
            value = bytes(value).decode()
        elif stored == "signed" and value >> 63:
            value -= 1 << 64
        if many:
            found.setdefault(name, []).append(value)
        else:
            assert name not in found, (kind, name)
            found[name] = value
    return found


# What a viewer makes of it ------------------------------------------------

@dataclasses.dataclass
class Slice:
    name: str
    category: str
    begin: int
    notes: dict
    depth: int
    starts: list            # flows at its beginning
    end: int = None
    stops: list = None      # flows at its end
    children: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Track:
    uuid: int
    process: dict
    thread: typing.Optional[dict]
    slices: list = dataclasses.field(default_factory=list)  # outermost
    open: list = dataclasses.field(default_factory=list)


class Found:
    """`processes` by name; `tracks` by (process name, thread name)."""

    def __init__(self, packets):
        self.packets = packets
        self.processes, self.tracks = {}, {}
        self._by_uuid, self._sequences = {}, {}
        for packet in packets:
            self._packet(packet)
        for track in self.tracks.values():
            assert not track.open

    def _packet(self, packet):
        sequence = packet["trusted_packet_sequence_id"]
        assert sequence
        if packet["sequence_flags"] & CLEARED:
            assert sequence not in self._sequences
            self._sequences[sequence] = {}
        state = self._sequences[sequence]
        for kind, entries in packet.get("interned_data", {}).items():
            for entry in entries:
                key = kind, entry["iid"]
                assert entry["iid"] and key not in state
                state[key] = entry.get("name", entry.get("str"))
        if "trace_packet_defaults" in packet:
            state["track"] = packet["trace_packet_defaults"][
                "track_event_defaults"]["track_uuid"]
        if "track_descriptor" in packet:
            self._track(packet["track_descriptor"])
        if "track_event" in packet:
            self._event(state, packet["timestamp"], packet["track_event"])

    def _track(self, told):
        assert told["uuid"] not in self._by_uuid
        if "process" in told:
            name = told["process"]["process_name"]
            assert name not in self.processes
            self.processes[name] = told["process"]
            self._by_uuid[told["uuid"]] = told["process"]
            return
        process = self._by_uuid[told["parent_uuid"]]
        assert told["thread"]["pid"] == process["pid"]
        track = Track(told["uuid"], process, told["thread"])
        self._by_uuid[track.uuid] = track
        key = process["process_name"], told["thread"]["thread_name"]
        assert key not in self.tracks
        self.tracks[key] = track

    def _event(self, state, time, event):
        track = self._by_uuid[state["track"]]
        if event["type"] == END:
            assert set(event) <= {"type", "terminating_flow_ids"}
            piece = track.open.pop()
            piece.end = time
            piece.stops = event.get("terminating_flow_ids", [])
            assert piece.end >= piece.begin
            assert all(c.end <= piece.end for c in piece.children)
            return
        assert event["type"] == BEGIN
        category, = event["category_iids"]
        piece = Slice(
            state["event_names", event["name_iid"]],
            state["event_categories", category], time,
            dict(self._notes(state, event)), len(track.open),
            event.get("flow_ids", []))
        siblings = track.open[-1].children if track.open else track.slices
        assert not siblings or siblings[-1].end <= time
        siblings.append(piece)
        track.open.append(piece)

    @staticmethod
    def _notes(state, event):
        told = set()
        for note in event.get("debug_annotations", []):
            name = state["debug_annotation_names", note.pop("name_iid")]
            assert name not in told
            told.add(name)
            (kind, value), = note.items()
            if kind == "string_value_iid":
                value = state["debug_annotation_string_values", value]
            yield name, bool(value) if kind == "bool_value" else value


def read(path):
    with open(path, "rb") as file:
        return Found(decode(file.read())["packet"])


def flows(found):
    """{flow: [("begin" or "end", process, Slice), ...]}"""
    ways = collections.defaultdict(list)
    for (process, _), track in found.tracks.items():
        for s in track.slices:
            for flow in s.starts:
                ways[flow].append(("begin", process, s))
            for flow in s.stops:
                ways[flow].append(("end", process, s))
    return ways
