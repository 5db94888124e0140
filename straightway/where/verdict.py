"""The findings on a job, the likely cause first: that one is the verdict.

The order is by how sure a finding is:

    ranks that have died or are stopped
    a launch that is not complete
    collectives that do not fit
    ranks that wait for each other
    ranks that keep others while they compute
"""

import dataclasses
import functools

from straightway.where import chains, meetings, mismatch, needs, phrases
from straightway.where import sentences, standing
from straightway.where.model import ANY

LONG = 1.0              # seconds; below it a job that moves does not hang
_MOST = 8               # findings
_ALIKE = 3              # findings of a kind


@dataclasses.dataclass
class Finding:
    kind: str
    sentence: str
    suspects: list          # the ranks apart
    waiting: list = dataclasses.field(default_factory=list)
    hangs: bool = True


# What needs no chain --------------------------------------------------------

def _gone(view):
    job = view.job
    if all(r.finalized for r in job.ranks.values()):
        return
    those = view.those(standing.GONE)
    if those:
        yield Finding("gone", f"{phrases.ranks(those, True)} " + phrases.verb(
            those, "is gone: its process has ended",
            "are gone: their processes have ended"), those)
    elif job.ended and job.unseen:
        few = min(job.ended, len(job.unseen))
        nodes = [n for n, ranks in job.nodes.items()
                 if max(r.node_ranks for r in ranks) > len(ranks)]
        what = "1 process has" if few == 1 else f"{few} processes have"
        yield Finding("gone", f"{what} ended on {phrases.joined(nodes)}, of "
                      f"{phrases.ranks(job.unseen, True)}", job.unseen)
    those = view.those(standing.ZOMBIE)
    if those:
        yield Finding("zombie", f"{phrases.ranks(those, True)} " +
                      phrases.verb(those, "is a zombie: its process has "
                                   "ended", "are zombies: their processes "
                                   "have ended"), those)


def _stopped(view):
    those = view.those(standing.STOPPED)
    if those:
        pids = " ".join(str(view.job.ranks[n].pid) for n in those[:8])
        yield Finding("stopped", f"{phrases.ranks(those, True)} " +
                      phrases.verb(those, "is", "are") +
                      f" stopped (SIGSTOP): kill -CONT {pids}"
                      + " ..." * (len(those) > 8), those)
    those = view.those(standing.HELD)
    if those:
        yield Finding("held", f"{phrases.ranks(those, True)} " + phrases.verb(
            those, "is held by a debugger", "are held by debuggers"), those)


def _launch(view):
    """Ranks that are in MPI_Init, or have not come."""
    job, new = view.job, view.those(standing.NEW)
    if not new:
        return
    inside = [n for n in new if standing.in_init(job.ranks[n])]
    early = [n for n in new if n not in set(inside)]
    absent = view.those(standing.UNSEEN, standing.GONE)
    past = [n for n in job.ranks if n not in set(new)]
    said = []
    if inside:
        said.append(f"{phrases.ranks(inside)} "
                    + phrases.verb(inside, "is", "are") + " in MPI_Init")
    if absent:
        said.append(f"{phrases.ranks(absent, True)} "
                    + phrases.verb(absent, "has", "have") + " not come")
    if early:
        said.append(sentences.grouped(view, early))
    if past and not absent and not early:
        said.append(f"{phrases.ranks(past)} "
                    + phrases.verb(past, "has", "have") + " left it")
    yield Finding("init", "; ".join(said), absent + early or past or inside,
                  inside)


def _mismatches(view):
    for one in mismatch.every(view):
        yield Finding(one.kind, one.sentence, one.suspects, one.others)


# Circles --------------------------------------------------------------------

def _inner(view, part, number):
    """The needs of a rank that keep it in a circle: (need, next ranks)."""
    for need in view.needs[number]:
        if need.meeting is None:
            following = [n for n in need.suspects if n in part]
        else:
            following = [n for n in need.meeting.suspects
                         if n in part and n != number] \
                if need.meeting in part else []
        if following:
            yield need, following


def _walk(view, part):
    """A circle of a part: [(rank, its need)]. It prefers messages to meetings,
    and two ranks that wait for each other to a longer ring."""
    @functools.lru_cache(None)
    def inner(number):
        return list(_inner(view, part, number))

    @functools.lru_cache(None)
    def named(number):
        """The ranks that the messages of a rank name."""
        return {n for need, those in inner(number)
                if need.meeting is None for n in those}

    ranks = sorted(n for n in part if isinstance(n, int))
    start = ranks[0]
    for number in ranks:
        if any(number in named(other) for other in named(number)
               if other != number):
            start = number
            break
    path, at = [], {}
    number = start
    while number not in at:
        at[number] = len(path)
        options = sorted(inner(number), key=lambda o: o[0].meeting is not None)
        need, following = options[0]
        if need.meeting is None:
            pair = next(((a, n) for a, those in options for n in those
                         if a.meeting is None and n != number
                         and number in named(n)), None)
            need, following = (pair[0], [pair[1]]) if pair else \
                (need, following)
        path.append((number, need))
        number = next((n for n in following if n in at), following[0])
    return path[at[number]:]


def _special(view, part):
    """A need in a circle that explains it: a wrong tag, a wrong communicator,
    a rank that has gone on to MPI_Finalize."""
    found = None
    for number in sorted(n for n in part if isinstance(n, int)):
        for need, following in _inner(view, part, number):
            kind = sentences.kind(view, need)
            if kind in ("wrong-tag", "wrong-communicator"):
                return Finding(kind, sentences.need(view, need), following)
            last = [n for n in following
                    if meetings.in_finalize(view.job.ranks[n])]
            if last and need.kind in ("receive", "send") and found is None:
                found = _late(need, last)
    return found


def _late(need, last):
    what = "still waits for" if need.kind == "receive" else "still sends"
    which = "from" if need.kind == "receive" else "to"
    return Finding("finalize", f"rank {last[0]} is in MPI_Finalize; rank "
                   f"{need.rank} {what} {phrases.tag(need.tag)} {which} "
                   + ("any rank" if need.posted and need.posted.peer == ANY
                      else f"rank {last[0]}"), last)


def _alone(view, need):
    number = need.rank
    if need.kind == "receive":
        text = f"rank {number} waits for {phrases.tag(need.tag)} from " \
            "itself, and has sent none"
    elif need.kind == "send":
        text = f"rank {number} sends {phrases.tag(need.tag)} to itself, and " \
            "has posted no receive"
    elif need.kind == "partitioned":
        text = sentences.need(view, need)
    else:
        text = f"rank {number} waits for itself in {need.call}"
    return Finding("itself", text, [number])


def _circle(view, part):
    special = _special(view, part)
    if special:
        return special
    path = _walk(view, part)
    ranks, those = [n for n, _ in path], [need for _, need in path]
    if len(path) == 1:
        return _alone(view, those[0])
    kinds = {need.kind for need in those}
    direct = [need for need in those if need.meeting is None]
    if kinds == {"receive"} and len(direct) == len(those):
        text = f"{phrases.ranks(ranks)} wait for each other's message" \
            if len(ranks) == 2 else sentences.ring(ranks)
        return Finding("ring", text, sorted(ranks))
    if kinds == {"send"}:
        return Finding("sends", sentences.sends(ranks, those), sorted(ranks))
    messages = [n for n in direct if n.kind in ("receive", "send",
                                                "partitioned")]
    if len(direct) == len(those) > 2:
        return Finding("ring", sentences.ring(ranks), sorted(ranks))
    if direct:
        first = (messages or direct)[0]
        return Finding(sentences.kind(view, first),
                       sentences.need(view, first),
                       first.suspects[:1] or sorted(ranks))
    anyone = [n for n in those if n.kind == "receive"]
    if anyone:
        wait = phrases.verb(ranks, "waits", "wait")
        every = sorted(n for n in part if isinstance(n, int))
        return Finding("ring", f"{phrases.ranks(every)} {wait} for each "
                       f"other; rank {anyone[0].rank} for "
                       f"{phrases.tag(anyone[0].tag)} from any rank",
                       every)
    last = next((n for n in those if n.meeting.kind != "finalize"), None)
    if any(n.meeting.kind == "finalize" for n in those) and last:
        return Finding(sentences.kind(view, last),
                       sentences.need(view, last), last.meeting.suspects)
    return Finding("meetings", sentences.meetings(those), sorted(ranks))


def _circles(view, graph):
    found, taken = [], set()
    for part in graph.circles():
        one = _circle(view, part)
        ranks = {n for n in part if isinstance(n, int)}
        one.waiting = sorted(ranks | _behind(graph, ranks, taken))
        found.append(one)
    sure = ("wrong-tag", "wrong-communicator", "finalize")
    return sorted(found, key=lambda f: (f.kind not in sure, -len(f.waiting)))


def _behind(graph, ranks, taken):
    """The ranks that wait for some others, through any number between."""
    found, left = set(), list(ranks)
    while left:
        for by in graph.before.get(left.pop(), ()):
            if by in taken:
                continue
            taken.add(by)
            those = graph.needs_of[by] if by in graph.needs_of else [by]
            new = {need.rank for need in those} - found
            found |= new
            left += new
    return found


# Chains ---------------------------------------------------------------------

def _root(view, root):
    ends = sorted(set(root.ranks))
    if isinstance(root.by, needs.Anyone):
        text = sentences.need(view, root.direct[0]) + "; " + \
            sentences.grouped(view, ends)
        return Finding("no-send", text, ends, sorted(root.waiting))
    if isinstance(root.by, meetings.Meeting):
        text = sentences.meeting(view, root.by, ends)
        # Those that wait themselves are not at the root.
        if root.by.behind and set(ends) != set(root.by.behind):
            text = sentences.meeting(view, _narrowed(root.by, ends))
        return Finding(sentences.kind(view, root.direct[0]), text, ends,
                       sorted(root.waiting))
    return Finding(sentences.kind(view, root.by),
                   sentences.need(view, root.by), ends, sorted(root.waiting))


def _narrowed(meeting, ends):
    """The Meeting with those alone behind at which the chains end."""
    return dataclasses.replace(meeting, behind=ends)


def _computes(view, number, waiting):
    """rank 3 is in user code at x.c:12 since its MPI_Allreduce #7; all others
    wait for it"""
    rank = view.job.ranks[number]
    last = standing.last_call(standing.free_thread(rank))
    text = f"rank {number} {view.words(number)[0]}"
    if last and last not in text and \
            view.stands[number] == standing.USER:
        text += f" since its {last}"
    others = [n for n in view.job.ranks if n != number]
    who = "all others wait" if len(others) == len(waiting) > 1 else \
        f"{phrases.ranks(waiting)} " + phrases.verb(waiting, "waits", "wait")
    return Finding("user-code", f"{text}; {who} for it", [number], waiting)


def _roots(view, graph):
    found, by_end = [], {}
    for root in graph.roots():
        by_end.setdefault(tuple(sorted(set(root.ranks))), []).append(root)
    for ends, roots in by_end.items():
        waiting = sorted(set().union(*(r.waiting for r in roots)))
        if len(roots) > 1 and len(ends) == 1 and view.stands.get(
                ends[0]) in (standing.USER, standing.POLLS):
            found.append(_computes(view, ends[0], waiting))
            found += [_root(view, root) for root in roots[:2]]
        else:
            found += [_root(view, root) for root in roots[:3]]
    return found


# Nothing --------------------------------------------------------------------

def _inside(view, graph):
    """Ranks that wait although nothing is missing."""
    those = [n for n in view.those(standing.WAITS) if n not in graph.waits]
    if those:
        wait = phrases.verb(those, "waits", "wait")
        yield Finding("inside", f"{phrases.ranks(those)} {wait} inside the "
                      "MPI, and nothing is missing: "
                      + sentences.grouped(view, those), those, those,
                      view.longest >= LONG)


def _quiet(view):
    if not view.job.ranks:
        return Finding("empty", "no rank of the job is left", [], hangs=False)
    left = view.those(standing.LEFT)
    if len(left) == len(view.job.ranks):
        return Finding("left", f"{phrases.ranks(left)} "
                       + phrases.verb(left, "has", "have")
                       + " left MPI_Finalize", [], hangs=False)
    if view.those(standing.MOVES):
        return Finding("busy", "no rank waits for long: all are busy", [],
                       hangs=False)
    those = view.those(standing.USER, standing.POLLS)
    return Finding("computes", "no rank waits: "
                   + sentences.grouped(view, those), [], hangs=False)


def findings(view):
    """The Findings of a needs.View, at least one."""
    found = [*_gone(view), *_stopped(view), *_launch(view)]
    moves = view.those(standing.MOVES)
    if moves and view.longest < LONG:
        return (found or [_quiet(view)])[:_MOST]
    graph = chains.Graph(view)
    found += _mismatches(view)
    found += _circles(view, graph)
    found += _roots(view, graph)
    if not found:
        found += _inside(view, graph)
    if not found:
        found.append(_quiet(view))
    return _fewer(found)


def _fewer(found):
    """The Findings without those that say nothing new: of each kind some, and
    no sentence twice."""
    kept, kinds = {}, {}
    for one in found:
        if one.sentence in kept:
            continue
        kinds[one.kind] = kinds.get(one.kind, 0) + 1
        if kinds[one.kind] <= _ALIKE:
            kept[one.sentence] = one
    return list(kept.values())[:_MOST]


# What the report cannot tell ------------------------------------------------

# Launchers' options for one process on each node, but for those with -ppn 1.
_EACH_NODE = {"ompi": "--map-by node"}


def hints(view):
    """Sentences on what is not seen, and how to see it."""
    job, said = view.job, []
    unseen = view.those(standing.UNSEEN)
    if unseen and not view.those(standing.NEW):
        nodes = phrases.joined(list(job.nodes))
        flavour = job.first.flavour
        other = (" (Open MPI's has --map-by node in place of -ppn 1)"
                 if flavour == "abi" else "")
        said.append(
            f"This report shows {nodes} alone, and not "
            f"{phrases.ranks(unseen, True)}. Put all nodes together: "
            f"`mpirun {_EACH_NODE.get(flavour, '-ppn 1')} -n NODES "
            f"straightway where`{other}.")
    if job.refused:
        said.append("The reader could not read " + "; ".join(
            f"process {r.get('pid')}: {r.get('why')}"
            for r in job.refused[:3]) + ".")
    lost = [n for n, r in job.ranks.items() if any(r.lost.values())]
    if lost:
        said.append(f"Tables of {phrases.ranks(lost, True)} were full: the "
                    "report does not judge counts that are not whole.")
    late = [n for n, r in job.ranks.items() if not r.whole and not r.new]
    if late:
        said.append(f"Counts of {phrases.ranks(late, True)} began after "
                    "MPI_Init: the report does not judge their messages.")
    if 0 < view.longest < LONG and not view.those(standing.MOVES):
        said.append(f"No wait has lasted {LONG:g} s yet: look again, to see "
                    "whether it lasts.")
    return said
