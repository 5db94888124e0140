"""Jobs as the processes of one or several nodes show them.

The native program prints one object for each node (a reading). This module
turns readings into Jobs, whose ranks refer to shared communicators. A field
that a reading lacks, or whose type is another one, counts as not known: a
reading may come from a file.

Ranks are ranks in MPI_COMM_WORLD throughout.
"""

import dataclasses
import functools
import typing

ANY = "any"             # MPI_ANY_SOURCE, MPI_ANY_TAG
FOREIGN = "foreign"     # a rank of another MPI_COMM_WORLD
_MOST = 1 << 20         # ranks of a job; more is no number of ranks


class Frame(typing.NamedTuple):
    """A native frame (module, build id, offset), or one of Python."""

    module: str
    build_id: str
    offset: int
    file: str = ""
    line: int = 0
    function: str = ""

    @property
    def python(self):
        return not self.module


@dataclasses.dataclass(eq=False)
class Communicator:
    """A communicator on all of its members that are seen."""

    id: str                 # "": not known
    name: str
    size: int
    remote: int             # members of the other group
    first: int
    members: dict = dataclasses.field(default_factory=dict)
    label: str = ""

    @property
    def total(self):
        return self.size + self.remote


@dataclasses.dataclass(eq=False)
class Member:
    """A communicator as one of its members shows it."""

    rank: "Rank"
    communicator: Communicator
    begun: int
    recent: dict            # {number: (procedure, root)}


@dataclasses.dataclass(eq=False)
class Epochs:
    """A window as one of its members shows it."""

    rank: "Rank"
    key: tuple              # alike on all members
    communicator: typing.Optional[Communicator]
    number: int
    fences: int
    posts: int
    waits: int
    starts: int
    completes: int
    origins: list
    targets: list
    origin_count: int
    target_count: int
    locked: object          # a rank, ANY or None
    locks: int
    exclusive: bool

    def exposed_to(self, rank):
        """Whether an exposure epoch is open, and may be for this rank."""
        return self.posts > self.waits and (
            rank in self.origins or self.origin_count > len(self.origins))

    def accesses(self, rank):
        """Whether an access epoch is open, and may be for this rank."""
        return self.starts > self.completes and (
            rank in self.targets or self.target_count > len(self.targets))


@dataclasses.dataclass(eq=False)
class Call:
    name: str               # without the ending of large counts
    member: typing.Optional[Member]
    window: typing.Optional[Epochs]
    peer: object
    tag: object
    to: object
    to_tag: object
    root: typing.Optional[int]
    bytes: typing.Optional[int]
    number: typing.Optional[int]
    requests: int
    since: typing.Optional[float]
    stack: list

    @property
    def communicator(self):
        return self.member and self.member.communicator


@dataclasses.dataclass(eq=False)
class Thread:
    tid: int
    main: bool
    state: str
    finished: int
    inside: bool
    call: typing.Optional[Call]
    stack: list
    moves: bool = False     # calls have ended between two looks
    place: str = ""         # the line that stands for where it is
    label: str = ""         # the same, with its function
    sampled: bool = False   # a stack in the program's own code is known


@dataclasses.dataclass(eq=False)
class Pair:
    communicator: typing.Optional[Communicator]
    peer: int
    sends: bool
    messages: int
    latest: list            # tags
    sums: tuple             # of all tags, and of their squares; or ()


@dataclasses.dataclass(eq=False)
class Request:
    name: str
    kind: str
    persistent: bool
    active: bool
    member: typing.Optional[Member]
    peer: object
    tag: object
    bytes: typing.Optional[int]
    number: typing.Optional[int]
    since: typing.Optional[float]
    partitions: int
    ready: int
    waited: typing.Optional[int]
    stack: list

    @property
    def communicator(self):
        return self.member and self.member.communicator


@dataclasses.dataclass(eq=False)
class Rank:
    """A process of a job. The number of one that is still in MPI_Init is what
    the launcher calls it."""

    number: int
    pid: int
    node: str
    program: str
    flavour: str
    accelerated: bool
    node_ranks: int
    finalized: bool
    whole: bool
    started: float
    state: str
    cpu: typing.Optional[float]
    lost: dict
    threads: list = dataclasses.field(default_factory=list)
    members: dict = dataclasses.field(default_factory=dict)
    pairs: list = dataclasses.field(default_factory=list)
    requests: list = dataclasses.field(default_factory=list)
    windows: dict = dataclasses.field(default_factory=dict)
    new: bool = False       # MPI_Init has not returned


@dataclasses.dataclass(eq=False)
class Job:
    id: str
    size: int               # ranks of its MPI_COMM_WORLD
    ranks: dict = dataclasses.field(default_factory=dict)
    communicators: dict = dataclasses.field(default_factory=dict)
    windows: dict = dataclasses.field(default_factory=dict)
    refused: list = dataclasses.field(default_factory=list)
    launched: dict = dataclasses.field(default_factory=dict)

    @property
    def nodes(self):
        """{node: its ranks that are seen}"""
        found = {}
        for rank in self.ranks.values():
            found.setdefault(rank.node, []).append(rank)
        return found

    @property
    def unseen(self):
        """The ranks that no process shows, in their order."""
        return [n for n in range(self.size) if n not in self.ranks]

    @property
    def ended(self):
        """How many of the unseen ranks belong to the nodes that are seen:
        their processes have ended."""
        return sum(max(0, max(r.node_ranks for r in ranks if not r.new)
                       - len(ranks))
                   for ranks in self.nodes.values()
                   if any(not r.new for r in ranks))

    @property
    def first(self):
        return self.ranks[min(self.ranks)] if self.ranks else None

    @property
    def age(self):
        return max((r.started for r in self.ranks.values()), default=0.0)

    @property
    def program(self):
        names = [r.program for r in self.ranks.values() if r.program]
        return names[0] if names else "program"


# Values of a reading --------------------------------------------------------

def _number(value, otherwise=0):
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if good else otherwise


def _count(value):
    return max(0, int(_number(value)))


def _maybe(value):
    """A number, or None."""
    return _number(value, None)


@functools.lru_cache(4096)
def _on_one_line(text):
    return " ".join(text.split())


def _word(value):
    return _on_one_line(value) if isinstance(value, str) else ""


def _whom(value):
    """A rank, a tag, ANY, FOREIGN or None."""
    return value if value in (ANY, FOREIGN) else _maybe(value)


def _list(value):
    return [v for v in value if isinstance(v, dict)] \
        if isinstance(value, list) else []


def _ranks(value):
    return [v for v in value if isinstance(v, int)] \
        if isinstance(value, list) else []


def _procedure(value):
    name = _word(value)
    return name[:-2] if name.endswith("_c") else name


def _frames(value):
    return [Frame(_word(f.get("module")), _word(f.get("build_id")),
                  _count(f.get("offset")),
                  f["file"] if isinstance(f.get("file"), str) else "",
                  _count(f.get("line")), _word(f.get("function")))
            for f in _list(value) if f.get("module") or f.get("file")]


# A process ------------------------------------------------------------------

def _rank(plain, node):
    lost = plain.get("lost")
    number = _number(plain.get("rank"), -1)
    return Rank(
        int(number), _count(plain.get("pid")), node,
        _word(plain.get("program")), _word(plain.get("flavour")),
        bool(plain.get("accelerated")), _count(plain.get("node_ranks")),
        bool(plain.get("finalized")), bool(plain.get("whole", True)),
        float(_number(plain.get("started"))), _word(plain.get("state"))[:1],
        _maybe(plain.get("cpu")),
        {k: _count(v) for k, v in lost.items()} if isinstance(lost, dict)
        else {}, new=number < 0)


def _member(job, rank, plain):
    name, label = _word(plain.get("name")), _word(plain.get("id"))
    label = label if label.strip("0") else ""
    found = job.communicators.get(label) if label else None
    if found is None:
        found = Communicator(label, name, _count(plain.get("size")),
                             _count(plain.get("remote")),
                             int(_number(plain.get("first"))))
        # One whose id is not known is matched with none.
        job.communicators[label or (rank.number, len(
            job.communicators))] = found
    found.name = found.name or name
    recent = {int(_number(r.get("number"))):
              (_procedure(r.get("call")), _maybe(r.get("root")))
              for r in _list(plain.get("recent"))}
    member = Member(rank, found, _count(plain.get("begun")), recent)
    found.members[rank.number] = member
    return member


def _window(job, rank, plain):
    member = rank.members.get(_maybe(plain.get("comm")))
    number = _count(plain.get("number"))
    communicator = member and member.communicator
    known = communicator is not None and communicator.id
    key = (communicator.id, number) if known else \
        (rank.number, "row", _maybe(plain.get("row")))
    found = Epochs(
        rank, key, communicator, number, _count(plain.get("fences")),
        _count(plain.get("posts")), _count(plain.get("waits")),
        _count(plain.get("starts")), _count(plain.get("completes")),
        _ranks(plain.get("origins")), _ranks(plain.get("targets")),
        _count(plain.get("origin_count")), _count(plain.get("target_count")),
        _whom(plain.get("locked")), _count(plain.get("locks")),
        bool(plain.get("exclusive")))
    job.windows.setdefault(key, {})[rank.number] = found
    return found


def _call(rank, plain):
    if not isinstance(plain, dict):
        return None
    return Call(
        _procedure(plain.get("name")) or "an MPI call",
        rank.members.get(_maybe(plain.get("comm"))),
        rank.windows.get(_maybe(plain.get("window"))), _whom(plain.get("peer")),
        _whom(plain.get("tag")), _whom(plain.get("to")),
        _whom(plain.get("to_tag")), _maybe(plain.get("root")),
        _maybe(plain.get("bytes")), _maybe(plain.get("number")),
        _count(plain.get("requests")), _maybe(plain.get("since")),
        _frames(plain.get("stack")))


def _pair(rank, plain):
    member = rank.members.get(_maybe(plain.get("comm")))
    return Pair(
        member and member.communicator, int(_number(plain.get("peer"), -1)),
        bool(plain.get("sends")), _count(plain.get("messages")),
        [t for t in _list(plain.get("latest")) if isinstance(t, int)],
        _sums(plain.get("tag_sum"), plain.get("tag_squares")))


def _sums(*texts):
    numbers = tuple(int(t) for t in texts if str(t).isdecimal())
    return numbers if len(numbers) == len(texts) else ()


def _request(rank, plain):
    return Request(
        _procedure(plain.get("call")), _word(plain.get("kind")),
        bool(plain.get("persistent")), bool(plain.get("active")),
        rank.members.get(_maybe(plain.get("comm"))), _whom(plain.get("peer")),
        _whom(plain.get("tag")), _maybe(plain.get("bytes")),
        _maybe(plain.get("number")), _maybe(plain.get("since")),
        _count(plain.get("partitions")), _count(plain.get("ready")),
        _maybe(plain.get("waited")), _frames(plain.get("stack")))


def _fill(job, rank, plain, moved):
    for one in _list(plain.get("comms")):
        rank.members[_maybe(one.get("row"))] = _member(job, rank, one)
    for one in _list(plain.get("windows")):
        rank.windows[_maybe(one.get("row"))] = _window(job, rank, one)
    rank.pairs = [_pair(rank, p) for p in _list(plain.get("pairs"))]
    rank.requests = [_request(rank, r) for r in _list(plain.get("requests"))]
    for one in _list(plain.get("threads")):
        tid = _count(one.get("tid"))
        rank.threads.append(Thread(
            tid, bool(one.get("main")), _word(one.get("state"))[:1],
            _count(one.get("finished")), bool(one.get("inside")),
            _call(rank, one.get("call")), _frames(one.get("stack")),
            (rank.pid, tid) in moved))
    rank.threads.sort(key=lambda t: not t.main)


# Jobs -----------------------------------------------------------------------

def _labels(communicators):
    """A name in words for each communicator, no two alike where ids are
    known."""
    names = {}
    for one in communicators:
        names.setdefault(one.name, []).append(one)
    for name, those in names.items():
        for one in those:
            one.label = f"'{name}'" if name else \
                f"communicator {one.id[:6]}" if one.id else "a communicator"
            if name and len(those) > 1 and one.id:
                one.label = f"'{name}' #{one.id[:6]}"


def _identity(plain, launched):
    """(job, rank's number) of a process; (None, None) for one that is in no
    job yet and whose launcher is not known."""
    number = int(_number(plain.get("rank"), -1))
    if number >= 0:
        return _word(plain.get("job")) or "?", number
    known = launched.get(plain.get("pid"))
    return (known.job, known.rank) if known else (None, None)


def jobs(readings, whole=True):
    """The Jobs of some readings (reader.Reading), by their ids. Not `whole`:
    the ranks alone, without what they do."""
    found = {}
    for reading in readings:
        node = _word(reading.plain.get("node")) or "?"
        for plain in _list(reading.plain.get("processes")):
            name, number = _identity(plain, reading.launched)
            if name is None:
                name, number = f"pid {plain.get('pid')}", 0
            job = found.setdefault(name, Job(name, 0))
            if number in job.ranks or number >= _MOST:
                continue        # a child that shows its parent's calls
            rank = _rank(plain, node)
            rank.number = number
            size = _count(plain.get("ranks"))
            if rank.new:
                known = reading.launched.get(plain.get("pid"))
                size = known.size if known else 1
            size = size if size <= _MOST else 0
            job.size = max(job.size, size, number + 1)
            job.ranks[number] = rank
            if whole:
                _fill(job, rank, plain, reading.moved)
        for job in found.values():
            if node in job.nodes:
                job.refused += _list(reading.plain.get("refused"))
                job.launched.update(
                    {k.rank: (pid, k) for pid, k in reading.launched.items()
                     if k.job == job.id and k.rank is not None})
    for job in found.values():
        _labels(job.communicators.values())
    return found
