"""Advice: what costs time in a profile, and how to reduce it.

A finding needs evidence in the capture, and concerns at least WORTH of the run
time. `seconds` is the time concerned, per rank on average, to compare with the
run's time. It bounds the gain; it does not promise it.

    for finding in find(profile):           # most seconds first
        print(finding.title, finding.seconds)
        print(finding.text)
"""

import collections
import dataclasses
import statistics

from straightway import units
from straightway.capture import procedures
from straightway.machine import slots
from straightway.mapping import launchers
from straightway.profile import recorded
from straightway.ranges import Ranges, ranges

# Thresholds, all of them.
WORTH = 0.01                # of the run time: smaller findings are left out
LITTLE_MPI = 0.05           # of the run time: communication hardly matters
LARGE_BLOCK = 4096          # bytes: single copy gains from here on
LARGE_MESSAGE = 16384       # bytes; the same for messages
TINY_MESSAGE = 256          # bytes: only latency counts
TINY_PART = 0.8             # of all messages
MANY_MESSAGES = 1000        # per rank
HOT_SITE = 0.5              # of communication, at one call site
ROOT_WAITING = 0.5          # of the time in rooted collectives
ROOT_PART = 0.9             # of these calls have one root
BARRIERS_PART = 0.3         # of all blocking collectives
MANY_BARRIERS = 100         # per rank
MANY_CREATIONS = 50         # communicators per rank
MANY_POLLS = 1_000_000      # calls of all ranks
LATE = 0.05                 # of its compute time: a late rank's surplus
EXPLAINS = 0.5              # of the waiting: what a cause must be able to make
SMALL_IO = 65536            # bytes: smaller independent file access is costly
SHOWN_AGAIN = 16 << 20     # bytes, per rank
PIECES = 64                 # in the memory of a GPU, per call
PIECE_TIME = 300            # ns: a copy for each piece takes more
BORDER = 0.1                # less through the border of the busiest part
OWN_COST = 0.01             # of the time in MPI

_CREATIONS = {"Comm_split", "Comm_split_type", "Comm_dup", "Comm_idup",
              "Comm_dup_with_info", "Comm_idup_with_info", "Comm_create",
              "Comm_create_group", "Comm_create_from_group", "Cart_create",
              "Cart_sub", "Graph_create", "Dist_graph_create",
              "Dist_graph_create_adjacent", "Intercomm_create",
              "Intercomm_merge"}
_REORDERING = {"Cart_create", "Graph_create", "Dist_graph_create",
               "Dist_graph_create_adjacent"}


@dataclasses.dataclass
class Finding:
    """One piece of advice."""

    kind: str           # "imbalance", ...: stable, for programs
    title: str          # a few words
    text: str           # what it is and what to do, in full sentences
    seconds: float      # of run time concerned
    evidence: dict      # numbers by name: seconds end in _s, bytes in _bytes


class _View:
    """Figures of a profile that several findings use."""

    def __init__(self, p):
        self.profile = p
        self.count = len(p.ranks)
        # Seconds, the mean of the ranks; a rank's threads share them.
        self.run = statistics.fmean(r.wall for r in p.ranks) / 1e9
        self.elapsed = p.elapsed
        self.by_class = collections.defaultdict(list)
        for record in p.communication.records:
            self.by_class[record.kind].append(record)
        self.sends = [r for r in self.of("send", "send-receive") if r.size_bin]
        self.moving = sum(r.moving for r in self.of(
            "send", "receive", "completion", "send-receive"))
        self.node_of = {rank: node.number for node in p.nodes
                        for rank in node.ranks}

    def seconds(self, ns):
        """Convert ns of all ranks to seconds of the run."""
        return self.run * ns / self.elapsed if self.elapsed else 0.0

    def part(self, seconds):
        return units.share(seconds / self.run) if self.run else "0 %"

    def of(self, *classes):
        return [r for name in classes for r in self.by_class[name]]

    def inside(self, communicator):
        """Whether some members share a node."""
        if communicator is None:
            return False
        if communicator.members is None:
            return len(self.profile.nodes) == 1 and communicator.size > 1
        seen = set()
        for rank, node in self.node_of.items():
            if any(a <= rank <= b for a, b in communicator.members):
                if node in seen:
                    return True
                seen.add(node)
        return False


def _text(seconds):
    return units.duration(1e9 * seconds)


def _names(totals, most=3):
    """MPI_Send, MPI_Isend and 2 more"""
    names = [t.label for t in totals]
    if len(names) > most:
        return ", ".join(names[:most]) + f" and {len(names) - most} more"
    if len(names) > 1:
        return ", ".join(names[:-1]) + " and " + names[-1]
    return names[0]


def _some(numbers):
    """Ranks by name, in at most a few ranges."""
    found = ranges(numbers)
    word = "rank" if found.count == 1 else "ranks"
    if len(found) <= 4:
        return f"{word} {found}"
    return f"{word} {Ranges(found[:3])} and " \
           f"{found.count - Ranges(found[:3]).count} more"


# Costs that are not communication's ---------------------------------------

def _little(view):
    p = view.profile
    if p.share < LITTLE_MPI:
        seconds = view.seconds(p.communication.time)
        yield Finding(
            "little-communication", "Communication costs little",
            f"Communication is {units.share(p.share)} of the run time: it is "
            "not the main cost of this program. No change of it can gain more "
            f"than {units.share(p.share)}.",
            seconds, {"communication_s": seconds,
                      "share": p.share})


def _imbalance(view):
    p = view.profile
    if view.count < 2:
        return
    waiting = view.seconds(p.communication.waiting)
    compute = {r.rank: r.compute / r.threads for r in p.ranks}
    mean = statistics.fmean(compute.values())
    most = max(compute.values())
    late = [n for n, ns in compute.items() if ns >= mean + (most - mean) / 2]
    text = (f"Ranks wait {_text(waiting)} of {_text(view.run)} "
            f"({view.part(waiting)}) for partners that have not come yet. ")
    evidence = {"waiting_s": waiting, "waiting_share": p.waiting_share,
                "most_compute_s": most / 1e9, "mean_compute_s": mean / 1e9}
    # A rank waits for the latest as much longer as that one computes longer.
    surplus = (most - mean) / 1e9
    lost = p.lost_share * view.run
    if most - mean >= LATE * most and surplus >= EXPLAINS * waiting:
        evidence["late_ranks"] = late
        text += (f"{_some(late).capitalize()} "
                 + ("comes late, with " if len(late) == 1 else
                    "come late, with up to ")
                 + f"{units.duration(most)} of compute where the mean is "
                 f"{units.duration(mean)}. No library can win this back: "
                 "divide the work more evenly.")
    else:
        text += (
            f"The ranks' computing explains at most {_text(surplus)} of it: "
            f"the one that computes most does so for {units.duration(most)}, "
            f"where the mean is {units.duration(mean)}. "
            if most - mean >= LATE * most else
            "All ranks compute about as long. ")
        if lost >= EXPLAINS * waiting:
            evidence["without_processor_s"] = lost
            text += (f"Outside of waits they used no processor for "
                     f"{_text(lost)}: other programs on the machine had it, "
                     "or the ranks slept or read files.")
        else:
            text += ("The order of their messages, ranks that are late in "
                     "turns, or other programs on the machine delay them. "
                     "No library can win this back.")
    yield Finding("imbalance", "Ranks wait for each other", text, waiting,
                  evidence)


def _oversubscription(view):
    ranks = [r for r in view.profile.ranks
             if r.capture.node_ranks > r.capture.node_processors > 0]
    if not ranks:
        return
    worst = max(ranks, key=lambda r: r.capture.node_ranks
                / r.capture.node_processors).capture
    # Time without a processor; at most the time of the others' turns.
    lost = sum(min(max(0, r.wall - r.cpu),
                   r.wall * (1 - r.capture.node_processors
                             / r.capture.node_ranks)) for r in ranks)
    seconds = view.seconds(lost)
    yield Finding(
        "oversubscription", "More ranks than processors",
        f"{worst.node or 'A node'} runs {worst.node_ranks} ranks on "
        f"{units.plural(worst.node_processors, 'processor')}: a rank that "
        f"waits takes the processor from one that computes, and ranks stand "
        f"still for {_text(seconds)} of {_text(view.run)}. Start as many "
        "ranks as there are processors.", seconds,
        {"node_ranks": worst.node_ranks,
         "node_processors": worst.node_processors, "without_processor_s":
         seconds})


def _start(view):
    if view.profile.region is not None:
        return
    seconds = statistics.fmean(r.init_time for r in view.profile.ranks) / 1e9
    yield Finding(
        "start", "MPI_Init takes long",
        f"MPI_Init takes {_text(seconds)}, before the {_text(view.run)} of "
        "the run time. Each run pays this once: it matters for short runs "
        "only.", seconds, {"init_s": seconds})


def _input_output(view):
    p = view.profile
    small = [t for t in recorded.group(p.io.records, "operation")
             if t.label.endswith(("_read", "_write", "_read_at", "_write_at",
                                  "_read_shared", "_write_shared"))
             and t.sized_calls and _mean_size(t) < SMALL_IO]
    seconds = view.seconds(p.io.time)
    text = (f"MPI_File_* takes {_text(seconds)} of {_text(view.run)} "
            f"({view.part(seconds)}). It does not count as communication.")
    evidence = {"io_s": seconds, "calls": p.io.calls}
    if small and 2 * sum(t.time for t in small) > p.io.time:
        text += (f" Most of it is in {_names(small)}, with "
                 f"{units.size(_mean_size(small[0]))} at a time: collective "
                 "calls (those in _all) would join them into large ones.")
        evidence["mean_size_bytes"] = _mean_size(small[0])
    yield Finding("io", "I/O", text, seconds, evidence)


def _mean_size(total):
    """Mean bytes of a call, estimated from the sizes of its rows."""
    calls = size = 0
    for r in total.records:
        if r.size_bin:
            calls += r.calls
            size += r.calls * (r.min_size + r.max_size) // 2
    return size / calls if calls else 0


# Costs that the program can reduce ----------------------------------------

def _sizes(records):
    """The sizes of records in words."""
    return units.sizes(min(r.min_size for r in records),
                       max(r.max_size for r in records))


def _tiny(view):
    tiny = [r for r in view.sends if r.max_size <= TINY_MESSAGE]
    messages = sum(r.calls for r in view.sends)
    few = sum(r.calls for r in tiny)
    if not tiny or few < TINY_PART * messages \
            or few < MANY_MESSAGES * view.count:
        return
    seconds = view.seconds(view.moving * few / messages)
    which = "All" if few == messages else units.share(few / messages) + " of"
    yield Finding(
        "tiny-messages", "Many tiny messages",
        f"{which} {units.number(messages)} messages are of {_sizes(tiny)}: "
        "they cost latency, not bandwidth. Aggregate several into one "
        "message.", seconds,
        {"messages": messages, "tiny_messages": few,
         "largest_tiny_bytes": max(r.max_size for r in tiny),
         "moving_s": seconds})


def _packed(view):
    pack = recorded.group(view.of("pack"), "operation")
    time = sum(t.time for t in pack)
    if not time:
        return
    packed = sum(r.calls for r in view.of("send", "send-receive")
                 if r.datatype == "MPI_PACKED")
    seconds = view.seconds(time)
    yield Finding(
        "packed-copies", "The program packs data by hand",
        f"{_names(pack)} {'copies' if len(pack) == 1 else 'copy'} data for "
        f"{_text(seconds)}"
        + (f", and {units.plural(packed, 'message')} of MPI_PACKED follow"
           + "s" * (packed == 1) if packed else "")
        + ". A derived datatype avoids the copy: it describes the data in "
        "place.", seconds,
        {"pack_s": seconds, "calls": sum(t.calls for t in pack),
         "packed_messages": packed})


def _hot_site(view):
    p = view.profile
    totals = recorded.group(p.communication.records, ("operation", "site"))
    if not totals or len(totals) < 2 or not totals[0].key[1].frames:
        return
    hot = totals[0]
    if not hot.time or hot.time < HOT_SITE * p.communication.time:
        return
    name, site = hot.key
    seconds = view.seconds(hot.time)
    yield Finding(
        "hot-site", "One call site",
        f"{name} in {site.label} takes "
        f"{units.share(hot.time / p.communication.time)} of all "
        f"communication: {_text(seconds)}, of which "
        f"{_text(view.seconds(hot.waiting))} waiting, in "
        f"{units.plural(hot.calls, 'call')}. Look there first.", seconds,
        {"time_s": seconds, "waiting_s": view.seconds(hot.waiting),
         "calls": hot.calls, "operation": name, "site": site.stack})


def _root(view):
    rooted = [r for r in view.by_class["collective"]
              if procedures.is_rooted(r.procedure) and r.root is not None]
    time = sum(r.time for r in rooted)
    waiting = sum(r.waiting for r in rooted)
    calls = sum(r.calls for r in rooted)
    if not time or waiting < ROOT_WAITING * time:
        return
    roots = collections.Counter()
    for r in rooted:
        world = r.communicator.world_rank(r.root) if r.communicator else None
        roots[world] += r.calls
    root, most = roots.most_common(1)[0]
    if root is None or most < ROOT_PART * calls:
        return
    at_root = sum(r.waiting for r in rooted if r.rank == root)
    operations = recorded.group(rooted, "operation")
    seconds = view.seconds(waiting)
    text = (f"{_names(operations)} {'has' if len(operations) == 1 else 'have'}"
            f" rank {root} as root, and {units.share(waiting / time)} of the "
            f"time there is waiting: {_text(seconds)}. ")
    text += (f"Rank {root} waits for the others to deliver."
             if at_root > waiting / 2 else
             f"The others wait for rank {root}.") + \
        " Give the root less other work, or use an operation without a root."
    yield Finding("root", f"Rank {root} is a bottleneck", text, seconds,
                  {"root": root, "waiting_s": seconds,
                   "time_s": view.seconds(time), "calls": calls,
                   "waiting_at_root_s": at_root / 1e9})


def _barriers(view):
    collectives = view.by_class["collective"]
    calls = sum(r.calls for r in collectives)
    barriers = [r for r in collectives
                if procedures.stem(r.procedure) == "Barrier"]
    count = sum(r.calls for r in barriers)
    if count < MANY_BARRIERS * view.count or count < BARRIERS_PART * calls:
        return
    seconds = view.seconds(sum(r.time for r in barriers))
    yield Finding(
        "barriers", "Many barriers",
        f"{units.number(count)} of {units.number(calls)} blocking "
        f"collectives are MPI_Barrier, and take {_text(seconds)}. Messages "
        "and other collectives synchronise by themselves: a program needs "
        "a barrier only for effects outside of MPI, such as files.",
        seconds, {"barriers": count, "collectives": calls,
                  "time_s": seconds})


def _gaps(view):
    """[(record, its Gap)] of blocking collectives."""
    gaps = view.profile.gaps
    found = ((r, gaps.get((r.rank, r.thread, r.record)))
             for r in view.by_class["collective"] if r.record)
    return [(r, gap) for r, gap in found if gap]


def _later(view):
    by_place = collections.defaultdict(list)
    for record, gap in _gaps(view):
        by_place[record.procedure, record.site].append(gap)
    if not by_place:
        return

    def seconds(gaps, field):
        return view.seconds(sum(getattr(gap, field) for gap in gaps))

    (name, site), most = max(by_place.items(),
                             key=lambda item: seconds(item[1], "hidden"))
    hidden = seconds([g for gaps in by_place.values() for g in gaps], "hidden")
    before, after, waited, here = (
        seconds(most, f) for f in ("before", "after", "waited", "hidden"))
    more = units.plural(len(by_place) - 1, "other call")
    yield Finding(
        "complete-later", "A collective could go on meanwhile",
        f"In {name}{f' in {site.label}' if site.frames else ''} ranks wait "
        f"{_text(waited)} for others. They compute {_text(after)} from there "
        f"to their next MPI call, and {_text(before)} before it from the last "
        f"one. Start {procedures.nonblocking(name)} there in its place, and "
        "wait for it behind what does not need its result: that hides "
        f"{_text(here)} of the waiting at most. Started earlier, once its "
        "data are ready, it lets the others wait less."
        + (f" With {more} it is {_text(hidden)} in all."
           if len(by_place) > 1 and hidden > here else ""), hidden,
        {"hidden_s": hidden, "operation": name, "site": site.stack,
         "site_hidden_s": here, "before_s": before, "after_s": after,
         "waiting_s": waited})


def _creations(view):
    made = recorded.group([r for r in view.of("communicator management")
                          if procedures.stem(r.procedure) in _CREATIONS],
                          "operation")
    calls = sum(t.calls for t in made)
    if calls < MANY_CREATIONS * view.count:
        return
    seconds = view.seconds(sum(t.time for t in made))
    yield Finding(
        "communicators", "The program makes communicators in a loop",
        f"{_names(made)}: {units.plural(round(calls / view.count), 'call')} "
        f"on each rank, {_text(seconds)}. Make a communicator once, and keep "
        "it.", seconds, {"calls": calls, "time_s": seconds})


def _polling(view):
    polls = [t for t in recorded.group(view.of("test", "probe"), "operation")
             if procedures.stem(t.label) not in ("Probe", "Mprobe")]
    calls = sum(t.calls for t in polls)
    if calls < MANY_POLLS:
        return
    seconds = view.seconds(sum(t.time for t in polls))
    yield Finding(
        "polling", "Polling",
        f"The program calls {_names(polls)} {units.number(calls)} times, "
        f"{_text(seconds)} in all. If it has nothing else to do, let it wait "
        "(MPI_Wait, MPI_Probe); else let it ask less often.", seconds,
        {"calls": calls, "time_s": seconds})


def _shown_again(view):
    records = [r for r in view.profile.communication.records if r.shown_again]
    again = sum(r.shown_again for r in records)
    if again < SHOWN_AGAIN * view.count:
        return
    where = recorded.group(records, ("operation", "site"))
    most = max(where, key=lambda total: total.shown_again)
    name, site = most.key
    place = f" in {site.label}" if site.frames else ""
    seconds = view.seconds(sum(r.showing for r in records))
    yield Finding(
        "shown-again", "Straightway shares buffers again and again",
        f"{name}{place}"
        + (f" and {units.plural(len(where) - 1, 'other call')} make" if
           len(where) > 1 else " makes")
        + f" {units.size(again)} shared between ranks that had been shared "
        f"before, and take{'s' * (len(where) == 1)} {_text(seconds)} for it: "
        "the program frees these buffers, which are too large to keep, and "
        "allocates them anew. Allocate them once, or raise "
        "STRAIGHTWAY_ARENA_KEEP (docs/settings.md).", seconds,
        {"again_bytes": again, "showing_s": seconds, "operation": name,
         "site": site.stack})


# Costs that Straightway can reduce ----------------------------------------

def _device_gaps(view):
    records = [r for r in view.profile.communication.records
               if r.device_pieces >= max(1, PIECES * r.device_calls)
               and 2 * (r.device_sent + r.device_received)
               > r.sent + r.received]
    pieces = sum(r.device_pieces for r in records)
    moving = sum(r.moving for r in records)
    if moving <= PIECE_TIME * pieces:
        return
    where = recorded.group(records, ("operation", "site"))
    most = max(where, key=lambda total: total.moving)
    name, site = most.key
    size = sum(r.device_sent + r.device_received for r in records)
    seconds = view.seconds(moving)
    yield Finding(
        "device-gaps", "Data with gaps in the memory of GPUs",
        f"{name}{f' in {site.label}' if site.frames else ''}"
        + (f" and {units.plural(len(where) - 1, 'other call')} move" if
           len(where) > 1 else " moves")
        + f" {units.number(pieces)} pieces of {units.size(size / pieces)} on "
        f"average from or to a GPU's memory, and take{'s' * (len(where) == 1)} "
        f"{units.duration(moving / pieces)} for each: as long as an MPI takes "
        "that copies piece by piece. A kernel moves all pieces at once. The "
        "program can pack them by a kernel of its own. Or try: straightway "
        "run --gpu", seconds,
        {"moving_s": seconds, "pieces": pieces, "piece_s":
         moving / pieces / 1e9, "moved_bytes": size,
         "calls": sum(r.device_calls for r in records), "operation": name,
         "site": site.stack})



def _large_blocks(view):
    if view.profile.job.accelerated:
        return
    inside = {c: view.inside(c) for c in view.profile.communicators}
    large = [r for r in view.by_class["collective"]
             if r.max_size >= LARGE_BLOCK and inside.get(r.communicator)]
    totals = recorded.group(large, "operation")
    if not totals:
        return
    seconds = view.seconds(sum(t.moving for t in totals))
    yield Finding(
        "large-blocks", "Large blocks between ranks of a node",
        f"{_names(totals)} {'moves' if len(totals) == 1 else 'move'} blocks "
        f"of {_sizes(large)} between ranks of a node, and "
        f"{'gains' if len(totals) == 1 else 'gain'} from a single copy: this "
        f"concerns {_text(seconds)}. Try: straightway run", seconds,
        {"moving_s": seconds, "smallest_bytes": min(r.min_size
                                                    for r in large),
         "largest_bytes": max(r.max_size for r in large),
         "calls": sum(t.calls for t in totals)})


def _large_messages(view):
    p = view.profile
    if p.job.accelerated:
        return
    large = [r for r in view.sends if r.min_size >= LARGE_MESSAGE]
    near = far = 0
    for (sender, receiver), one in p.matrix("messages").items():
        node = view.node_of.get(sender)
        if sender == receiver or node is None:
            continue
        if node == view.node_of.get(receiver):
            near += one.bytes
        else:
            far += one.bytes
    total = sum(r.sent for r in view.sends)
    if not large or not near or not total:
        return
    part = min(1.0, sum(r.sent for r in large) / total) * near / (near + far)
    seconds = view.seconds(view.moving * part)
    yield Finding(
        "large-messages", "Large messages between ranks of a node",
        f"{units.plural(sum(r.calls for r in large), 'message')} of "
        f"{_sizes(large)}; {units.share(near / (near + far))} of all bytes "
        "stay on their node, where a single copy is quicker: this concerns "
        f"some {_text(seconds)}. Try: straightway run", seconds,
        {"moving_s": seconds, "messages": sum(r.calls for r in large),
         "share_inside_nodes": near / (near + far)})


def _windows(view):
    p = view.profile
    calls = recorded.group(view.of("one-sided"), "operation")
    if p.job.accelerated or not calls:
        return
    inside = sum(one.bytes for (origin, target), one in
                 p.matrix("one-sided").items() if origin != target and
                 view.node_of.get(origin) == view.node_of.get(target))
    seconds = view.seconds(sum(t.moving for t in calls))
    if not inside:
        return
    yield Finding(
        "one-sided", "One-sided communication inside a node",
        f"One-sided calls ({_names(calls)}) move {units.size(inside)} between "
        "ranks of a node. In most windows a rank can load and store there by "
        f"itself: this concerns {_text(seconds)}. With --stats a run tells "
        "which windows it served. Try: straightway run", seconds,
        {"moving_s": seconds, "bytes_inside_nodes": inside,
         "calls": sum(t.calls for t in calls)})


# Costs that other places of the ranks reduce ------------------------------

def _moving_between(view, level):
    """Seconds of moving what goes between parts of a level, by kinds of
    the matrix: of each, the part of its bytes."""
    p, places = view.profile, view.profile.places
    depth = places.levels.index(level) + 1
    part = {rank: path[:depth] for rank, path in places.paths.items()}
    found = 0.0
    for kind, moving in (
            ("messages", view.moving),
            ("one-sided", sum(r.moving for r in view.of("one-sided"))),
            ("collective", sum(
                r.moving for r in p.communication.records
                if procedures.has_own_blocks(r.procedure)))):
        pairs = p.matrix(kind) if moving else {}
        whole = sum(one.bytes for one in pairs.values())
        if whole:
            found += moving * sum(
                one.bytes for (a, b), one in pairs.items()
                if part.get(a) != part.get(b)) / whole
    return view.seconds(found)


def _reorderings(view):
    """Calls that may give ranks new numbers, as the program has made them."""
    return recorded.group([r for r in view.of("communicator management")
                           if procedures.stem(r.procedure) in _REORDERING],
                          "operation")


def _how_to_place(view):
    """What to do for other places, in sentences."""
    p = view.profile
    text = (f"straightway map {'TRACE' if p.traced else 'CAPTURE'} --write "
            "place writes what the launcher reads "
            f"({launchers.option(p.job.mpi)}). ")
    made = _reorderings(view)
    if made:
        text += (f"The program calls {_names(made)}: if it allows new ranks "
                 "there (reorder), straightway run --reorder places them "
                 "without another launch. ")
    if p.replayed:
        return text + ("A replay of this trace predicts {} in place of {}."
                       .format(*map(_text, reversed(p.replayed))))
    return text + (
        "The same command predicts the time that this saves." if p.traced else
        "A trace tells the time that this saves: straightway profile --trace, "
        "then straightway map on the trace.")


def _placement(view):
    p = view.profile
    found = p.better(BORDER)
    if not found:
        return
    a, b = found.before, found.after
    parts = slots.plural(a.name)
    seconds = _moving_between(view, a.name)
    yield Finding(
        "placement", f"Ranks that exchange much are on different {parts}",
        f"{units.size(a.across)} of {units.size(found.total)} go between "
        f"{parts}, {units.size(a.worst)} of them through the border of the "
        "busiest one, in one direction. With the ranks in other places on "
        f"the same {'cores' if found.slots.cpus else 'nodes'} it is "
        f"{units.size(b.across)}, and "
        f"{units.size(b.worst)} at the busiest. This concerns "
        f"{_text(seconds)}. " + _how_to_place(view), seconds,
        {"level": a.name, "moving_s": seconds, "total_bytes": found.total,
         "between_bytes": a.across, "between_after_bytes": b.across,
         "busiest_bytes": a.worst, "busiest_after_bytes": b.worst,
         "reorder": [t.label for t in _reorderings(view)],
         **(dict(zip(("replayed_before_s", "replayed_after_s"), p.replayed))
            if p.replayed else {})})


# The cost of this profile -------------------------------------------------

def _own_cost(view):
    p = view.profile
    cost = sum(r.calls * r.capture.own_call_cost for r in p.ranks)
    time = p.communication.time + p.io.time
    if not time or cost <= OWN_COST * time:
        return
    seconds = view.seconds(cost)
    calls = sum(r.calls for r in p.ranks)
    yield Finding(
        "own-cost", "Recording takes time itself",
        f"Recording {units.plural(calls, 'call')} took {_text(seconds)}, "
        f"{units.share(cost / time)} of the time in MPI: calls are short, "
        "and the report shows them somewhat too long.", seconds,
        {"recording_s": seconds, "calls": calls, "share_of_mpi":
         cost / time})


_GIVEN = "start", "own-cost"
_ALL = (_little, _imbalance, _oversubscription, _start, _input_output, _tiny,
        _packed, _hot_site, _root, _barriers, _later, _creations, _polling,
        _shown_again, _device_gaps, _large_blocks, _large_messages, _windows,
        _placement)


def find(p):
    """The Findings of a Profile, most seconds first, and last those that no
    change of the program reduces; none if nothing stands out."""
    view = _View(p)
    if not view.run:
        return []
    found = [f for rule in _ALL for f in rule(view)
             if f.kind == "little-communication"
             or f.seconds >= WORTH * view.run]
    found += _own_cost(view)        # its threshold is the time in MPI
    return sorted(found, key=lambda f: (f.kind in _GIVEN, -f.seconds, f.kind))


NOTHING = (f"Nothing stands out: no advice concerns {WORTH:.0%} of the run "
           "time or more.").replace("%", " %")
