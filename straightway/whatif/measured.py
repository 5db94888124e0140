"""A model of this machine.

A short calibration (straightway bench collectives, pingpong, overlap and
onesided) gives, for the MPI alone ("host") and with Straightway ("ours"):

    links         the one-way time of a message by its size, in three parts
    given         that of a block that is given away, with Straightway
    collectives   the time of each collective by ranks and block size
    started       the parts of each nonblocking collective (started.py)
    onesided      the times of calls on windows (accesses.py)

A program that is known needs only the times of the calls that it makes: a
calibration has the `parts` that were wanted (PARTS), and a later one that wants
more measures all of them anew.

All this is for as many ranks as there are cores. More ranks would measure the
sharing of cores, not communication. Tables hold for communicators up to that
size; larger ones use formulas over messages (src/vtime/model/plan.c).

A call right after another finds the library and the data in the caches; a call
after computation does not. So the calibration measures everything three times:
warm, after writing the data to send, and after also going through 8 MiB
(straightway bench --computing). The engine chooses the times by how long a
rank has computed: in less time a program cannot have written so many bytes, or
gone through so much memory.

The cache of calibrations is $XDG_CACHE_HOME/straightway/measured. A file's
name is made of what it depends on: processor, cores, MPI, ranks and version. A
calibration made while other programs ran serves until a run finds the machine
quiet; that run measures anew. The calibration looks at other processes between
the benchmarks, when it runs nothing itself.

The parts of a message. A benchmark from outside sees two times: t, half of a
round trip, and g, one message's share of a stream. From these

    gap     = g                     the port's time between two messages
    send    = receive = min(g, t) / 2
    wire    = t - send - receive

In shared memory processors copy the data. The sender copies an eager message
first, then the receiver, and a stream's share is the time of the slower one.
That each takes half of it is an assumption. It decides only how much of a
message overlaps with the program's computation. The sum of the parts, and the
stream, are as measured.

A collective's table has the time of one call among many in a loop. It is the
same for ranks that wait for others and for ranks that do not: a root that runs
ahead is as fast as the loop allows.
"""

import contextlib
import datetime
import functools
import hashlib
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from straightway import __version__, units
from straightway.bench import runs
from straightway.collectives import OF_ALL
from straightway.errors import UserError
from straightway.machine import hardware, hosts, user
from straightway.whatif import accesses, started
from straightway.whatif.models import layer
from straightway.whatif.models.lines import INSIDE, Line, text

SCHEMA = "straightway-measured/6"
NAMES = {"measured": "host", "measured-straightway": "ours"}
WHO = ("host", "ours")

# Every collective of the engine that the benchmark has; and those measured
# most closely, at twice as many sizes.
OPERATIONS = tuple(c.lower for c in OF_ALL)
CLOSELY = ("bcast", "allreduce", "alltoall")
# What a calibration may have beside messages and the barrier.
NONBLOCKING, WINDOWS, GIVEN_BLOCKS = "nonblocking", "windows", "given"
PARTS = frozenset((*OPERATIONS, NONBLOCKING, WINDOWS, GIVEN_BLOCKS))
LARGEST = 4 << 20
LIMIT = 300             # seconds of a benchmark that takes some
LONGEST, LEAST = 900, 60    # of a calibration, and then of a benchmark's rest
TO_END = 20             # of a benchmark that was interrupted
AGAIN = 3600            # seconds; a disturbance without a cause is kept so long
GIVEN = (4096, 1 << 20)     # smaller ones go by value
SECONDS = 0.06          # for one operation at one size

# States of a rank before a call: the bytes it went through, the least ns for
# that, and the ns for each byte that it sends.
STATES = ((0, 1000, 0.05), (8 << 20, 500_000, 0.05))
_ENDLESS = 1 << 62

# Seconds of each look at other processes, and the cores that they may use on
# average: some for daemons.
LOOK, BUSY = 0.2, 0.25

# ns: no message of so few bytes takes this long where both ranks have a core.
SMALL, SLICE = 2048, 100_000

# There a host's send of more bytes waits for its receiver.
EAGER = {"openmpi": 4096, "mpich": 16384, "intel": 32768}


# The cache ------------------------------------------------------------------

def folder():
    """UserError: the environment names no place for it."""
    return user.folder("XDG_CACHE_HOME", ".cache") / "measured"


def key(host, ranks):
    """The properties that a calibration depends on."""
    return {"schema": SCHEMA, "cpu": hardware.cpu_model(),
            "cores": hardware.cores(), "caches": hardware.caches(),
            "kernel": os.uname().release, "mpi": host.title,
            "library": os.path.realpath(host.library), "ranks": ranks,
            "straightway": __version__}


def path(about, of=None):
    """The file of a measurement with these properties; `of`: what was
    measured, if it was not a number of ranks."""
    text = json.dumps(about, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    name = about["mpi"].lower().replace(" ", "-")
    return folder() / f"{name}.{of or about['ranks']}.{digest}.json"


def _kept(about):
    try:
        found = json.loads(path(about).read_text())
    except (OSError, ValueError, UserError):
        return None
    return found if isinstance(found, dict) and found.get("key") == about \
        and _whole(found) else None


def _whole(found):
    """Whether a calibration has all that this needs."""
    try:
        for who in found["collectives"]:
            text(lines(found, who))
        datetime.datetime.fromisoformat(found["made"])
        return (len(found["states"]) == len(STATES) or found["cut"]) and \
            bool(found["collectives"]["host"] and found["parts"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return False


def _keep(found):
    """A cache without a place, or that cannot be written, costs the next run
    a calibration."""
    with contextlib.suppress(OSError, UserError):
        write(found, path(found["key"]))


def write(found, to):
    """Write beside, then rename: no reader sees a half."""
    os.makedirs(to.parent, mode=0o700, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=to.parent)
    with open(handle, "w", encoding="utf-8") as file:
        json.dump(found, file)
    os.replace(name, to)


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(
        timespec="seconds")


# Calibration ----------------------------------------------------------------

def rank_counts(ranks):
    """The number of ranks to measure together, for a program of so many."""
    most = max(2, min(ranks, hardware.cores()))
    counts, n = [], 2
    while n < most:
        counts.append(n)
        n *= 4
    return counts + [most]


def load(host, ranks, recalibrate=False, note=lambda text: None, wanted=PARTS):
    """The calibration for a program of `ranks` on a host, with the `wanted`
    parts at least, made if there is none, or on request. `note` gets the title
    of each long step."""
    most = rank_counts(ranks)[-1]
    about = key(host, most)
    kept = _kept(about)
    if kept and not recalibrate and not _can_be_better(kept) and \
            wanted <= set(kept["parts"]):
        return kept
    wanted = wanted | set(kept["parts"] if kept else ())
    found = calibrate(host, most, about, _steps_told(host, note), wanted)
    if not (kept and is_busy(found) and not is_busy(kept)):
        _keep(found)
    elif wanted > set(kept["parts"]):
        found = _with_quiet(found, kept)
        _keep(found)
    return found


def _with_quiet(busy, quiet):
    """A calibration made while other programs ran, but with all that an earlier
    one had measured on the quiet machine."""
    for into, known in ((busy, quiet), *zip(busy["states"], quiet["states"])):
        into["links"] = known["links"]
        _overlay(into["collectives"], known["collectives"])
    _overlay(busy["started"], quiet["started"])
    _overlay(busy["onesided"], quiet["onesided"])
    return {**busy, "copy": quiet["copy"], "disturbed": True,
            "given": quiet["given"] or busy["given"]}


def _overlay(tables, known):
    """Both are {side: {what was measured: its table}}."""
    for side, by_name in known.items():
        tables.setdefault(side, {}).update(by_name)


def _can_be_better(kept):
    """Whether what disturbed a kept calibration has gone: other programs, that
    is; where the calibration saw none, after some time."""
    if not is_busy(kept) or hardware.others(LOOK) > BUSY:
        return False
    age = datetime.datetime.fromisoformat(now()) \
        - datetime.datetime.fromisoformat(kept["made"])
    return _had_company(kept) or age.total_seconds() > AGAIN


def _steps_told(host, note):
    """A function that tells which step of a calibration begins."""
    began = time.monotonic()
    count = itertools.count(1)

    def step(name, others, steps):
        n, spent = next(count), time.monotonic() - began
        note(f"measuring {host.title}, part {n} of {steps}: {name}"
             + (" (a minute or more, once)" if n == 1 else
                f" ({units.duration(1e9 * spent)} so far)")
             + (f"; other programs use {others:.1f} cores, which takes longer"
                if others > BUSY else ""))

    return step


def is_kept(host, ranks):
    """Whether load() of all parts measures nothing."""
    kept = _kept(key(host, rank_counts(ranks)[-1]))
    return kept is not None and PARTS <= set(kept["parts"]) and \
        not _can_be_better(kept)


def bench(host, words, limit=None):
    """The report of a `straightway bench`. UserError where it fails, or has not
    ended after `limit` seconds: an interrupted one writes no report."""
    with tempfile.TemporaryDirectory(prefix="straightway-") as place:
        out = os.path.join(place, "report.json")
        command = [sys.executable, "-m", "straightway", "bench", *words,
                   "--mpi", os.path.abspath(host.launcher), "--json", out]
        with open(os.path.join(place, "said"), "w+", encoding="utf-8",
                  errors="replace") as said:
            status = _ended(command, said, limit)
            said.seek(0)
            why = said.read().strip()
        try:
            with open(out, encoding="utf-8") as file:
                report = json.load(file)
        except (OSError, ValueError):
            report = None
    if not report or not report["cells"]:
        how = f"ended with status {status}" if status is not None else \
            f"had measured nothing after {limit:.0f} s"
        raise UserError("the calibration failed: straightway bench "
                        f"{' '.join(words)} {how}\n{why}", 1)
    return report


def _ended(command, said, limit):
    """The status of a command, which writes its errors to `said`; None where
    it was interrupted. It shares this one's process group, for the user's ^C.
    A shell's job in the background ignores SIGINT, and its children with it.
    """
    def hear():
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=hear,
                          stdout=subprocess.DEVNULL, stderr=said) as child:
        try:
            return child.wait(limit)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
        try:
            child.wait(TO_END)
        except subprocess.TimeoutExpired:
            child.kill()
    return None


def largest(ranks):
    """The largest block whose alltoall fits a quarter of the memory."""
    have = hardware.memory_limit() or hardware.memory_total()
    size = LARGEST
    while size > 8 and 2 * ranks * ranks * size > have // 4:
        size //= 4
    return size


def steps(largest, factor):
    size, found = 8, []
    while size <= largest:
        found.append(size)
        size *= factor
    if found[-1] != largest:
        found.append(largest)
    return found


def _collectives(run, ranks, operations, sizes, computing=()):
    return run([
        "collectives", "-n", str(ranks), "--ops", ",".join(operations),
        "--sizes", ",".join(map(str, sizes)), "--seconds",
        str(SECONDS), *computing])


def _all_collectives(run, most, wanted, step=1, computing=()):
    """{"host": times, "ours": times}, and the last report. Its sizes are `step`
    times as far apart as the warm ones."""
    found = {who: {} for who in WHO}
    for ranks in rank_counts(most):
        most_bytes = largest(ranks)
        for operations, factor in (
                ([o for o in OPERATIONS if o in wanted and o not in CLOSELY],
                 4), ([o for o in CLOSELY if o in wanted], 2)):
            if not operations:
                continue
            report = _collectives(run, ranks, operations,
                                  steps(most_bytes, step * factor), computing)
            _times(report, found, ranks)
    return found, report


def _started(run, most, operations):
    """The parts of nonblocking collectives, with as many ranks as fit."""
    report = _tried(run, [
        "overlap", "-n", str(most), "--ops", ",".join(operations), "--sizes",
        ",".join(str(n) for n in started.SIZES if n <= largest(most)),
        "--seconds", str(started.SECONDS)])
    return started.tables(report or {"cells": []})


def _tried(run, words):
    """The report of a benchmark; None where this MPI fails with it or hangs,
    and messages stand for what it would show."""
    try:
        return run(words, LIMIT)
    except UserError:
        return None


def _pingpong(patterns, sizes):
    return ["pingpong", "-n", "2", "--pattern", patterns, "--sizes",
            ",".join(map(str, sizes)), "--seconds", str(SECONDS)]


def _messages(run, patterns, sizes, computing=()):
    return run([*_pingpong(patterns, sizes), *computing])


def _given(run):
    """The point of a block that changes hands with Straightway, whatever its
    size; a host sends its bytes."""
    report = _tried(run, _pingpong("give", GIVEN))
    trips = [1000 * c["ours"]["median"]
             for c in (report or {"cells": []})["cells"] if c.get("ours")]
    return [split(GIVEN[0], min(trips), min(trips))] if trips else []


def _times(report, into, ranks):
    """Add a report's cells, for host and ours each as
    {operation: {ranks: {size: ns}}}."""
    for cell in report["cells"]:
        for who in WHO:
            if cell.get(who):
                into[who].setdefault(cell["operation"], {}).setdefault(
                    str(ranks), {})[str(cell["size"])] = \
                    1000 * cell[who]["median"]


def _links(report):
    """[[bytes, send, wire, gap, receive], ...] in ns, for host and ours each.
    """
    found = {}
    for who in WHO:
        trips, shares = ({c["size"]: 1000 * c[who]["median"]
                          for c in report["cells"]
                          if c["operation"] == pattern and c.get(who)}
                         for pattern in ("pingpong", "stream"))
        found[who] = [split(n, trips[n], shares.get(n, trips[n]))
                      for n in sorted(trips)]
    return found


def _links_after(report, warm):
    """The same for messages after computation. The wire's part stays; the
    ranks that copy take the surplus."""
    found = {}
    for who in WHO:
        known = {point[0]: point for point in warm[who]}
        found[who] = []
        for cell in report["cells"]:
            size = cell["size"]
            if cell.get(who) and size in known:
                _, send, wire, gap, _ = known[size]
                trip = max(1000 * cell[who]["median"], 2 * send + wire)
                half = (trip - wire) / 2
                found[who].append([size, half, wire, max(gap, half), half])
    return found


def split(size, trip, share):
    """[bytes, send, wire, gap, receive] from half a round trip and a share of
    a stream, as the head of this file describes."""
    half = min(share, trip) / 2
    return [size, half, trip - 2 * half, share, half]


def calibrate(host, most, about, step=lambda name, others, steps: None,
              wanted=PARTS):
    """Calibrate: a minute or two for each number of ranks, and more on a busy
    machine, which LONGEST ends. `step` gets the name of each step as it begins,
    the cores that other programs use, and how many steps there are. The barrier
    stands for what makes communicators, so it is always there."""
    runs.check_parts(host)
    wanted = wanted | {"barrier"}
    operations = [o for o in OPERATIONS if o in wanted]
    steps_of = 2 + len(STATES) + (NONBLOCKING in wanted) + (WINDOWS in wanted)
    others = []

    def begin(name):
        others.append(hardware.others(LOOK))
        step(name, others[-1], steps_of)

    ends = time.monotonic() + LONGEST

    def run(words, limit=LONGEST):
        left = ends - time.monotonic()
        return bench(host, words, max(LEAST, min(limit, left)))

    begin("collectives")
    collectives, report = _all_collectives(run, most, wanted)
    begin("messages")
    sizes = [0, 1, *steps(LARGEST, 2)]
    links = _links(_messages(run, "pingpong,stream", sizes))
    given = _given(run) if GIVEN_BLOCKS in wanted else []
    parts, onesided = {}, {who: {} for who in WHO}
    if NONBLOCKING in wanted:
        begin("nonblocking")
        parts = _started(run, most, operations)
    if WINDOWS in wanted:
        begin("windows")
        onesided, fences = accesses.measure(
            functools.partial(_tried, run), most)
        for who, times in fences.items():
            if times and who in collectives:
                collectives[who]["fence"] = times
    states = []
    for state in STATES:
        if time.monotonic() > ends:
            break
        begin("after computation")
        try:
            states.append(_after(run, most, wanted, links, *state))
        except UserError:
            if time.monotonic() < ends:
                raise
    others.append(hardware.others(LOOK))
    found = {
        "key": about, "made": now(), "parts": sorted(wanted),
        "others": sum(others) / len(others), "cut": time.monotonic() > ends,
        "eager": EAGER.get(host.kind, 8192),
        "copy": _copy(report), "collectives": collectives,
        "links": links, "given": given, "started": parts, "onesided": onesided,
        "states": states}
    ours = bool(collectives["ours"])
    for one in (found, *found["states"]):
        if not ours:
            one["collectives"].pop("ours", None)
            one["links"].pop("ours", None)
    return found


def _after(run, most, wanted, links, swept, after, after_byte):
    """The times of calls and messages after computation."""
    computing = ["--computing", str(swept)]
    collectives, _ = _all_collectives(run, most, wanted, 2, computing)
    messages = _messages(run, "pingpong", [0, *steps(LARGEST, 4)], computing)
    return {"swept": swept, "after": after, "after_byte": after_byte,
            "collectives": collectives,
            "links": _links_after(messages, links)}


def _copy(report):
    """ns a byte of a memcpy, at 64 KiB or the nearest size."""
    rates = {int(n): us for n, us in
             ((report.get("floors") or {}).get("memcpy") or {}).items()}
    if not rates:
        return 0.1
    n = min(rates, key=lambda size: abs(size - 65536))
    return 1000 * rates[n] / n


# As a model -----------------------------------------------------------------

def doubts(found):
    """Sentences on what makes a calibration unreliable."""
    said = []
    if found.get("cut"):
        said += [f"The measurement of the model was ended after "
                 f"{LONGEST // 60} minutes. Formulas stand for what it lacks."]
    if is_busy(found):
        cores = found["key"].get("cores") or 1
        said += ["This machine was busy during the measurement of the model "
                 f"(others used {found.get('others', 0):.1f} of "
                 f"{units.plural(cores, 'core')}). A run on the quiet machine "
                 "measures anew; --recalibrate does so at once."]
    return said


def is_busy(found):
    """Whether other processes disturbed the measurement."""
    return _had_company(found) or _disturbed(found)


def _had_company(found):
    return found.get("others", 0) > BUSY


def _disturbed(found):
    """Whether a rank waited for its core: a small message after computation
    then takes a time slice, not some cache misses more."""
    return found.get("disturbed", False) or any(
        send + wire + receive > SLICE
        for state in found["states"] for points in state["links"].values()
        for size, send, wire, _, receive in points if size <= SMALL)


def served(found):
    """Whether the calibration includes Straightway."""
    return "ours" in found["collectives"]


def lines(found, who):
    """A calibration as lines of a model. Its collectives hold where all members
    share a node. Over several nodes Straightway's go by their leaders."""
    lines = [Line("link", kind, {"S": found["eager"]}) for kind in INSIDE]
    lines += points(found["links"][who], INSIDE)
    if who == "ours":
        lines += points(found["given"], ("domain", "node"), word="given")
    for k, state in enumerate(found["states"], 1):
        lines.append(Line("state", k, state["after"], state["after_byte"]))
        lines += points(state["links"][who], INSIDE, k)
    lines.append(Line("reduce", 1.5 * found["copy"], digits=4))
    lines.append(Line("test", float(found["links"][who][0][1]), digits=4))
    warm = with_other(found["collectives"][who])
    for operation, by_ranks in warm.items():
        lines += _tables(operation, by_ranks)
        for k, state in enumerate(found["states"], 1):
            after = with_other(state["collectives"][who])
            if operation == "fence":
                by = _fence_after(warm, after)
            else:
                by = after.get(operation, {})
            lines += _tables(operation, by, k)
        # A communicator of one takes no time: never more than measured.
        lines.append(Line("inside", operation, 0, _ENDLESS, 2,
                          max(map(int, by_ranks))))
    lines += layer.onesided(found["onesided"][who])
    lines += started.lines(found["started"], who)
    return lines + ([Line("leaders", "all")] if who == "ours" else [])


def with_other(tables):
    """The tables, and a barrier's for making a communicator or a window, and
    for a fence that was not measured."""
    return {"other": tables["barrier"], "fence": tables["barrier"], **tables} \
        if "barrier" in tables else tables


def _fence_after(warm, after):
    """A fence's times after computation, which lengthens it as a barrier."""
    return {ranks: {"0": by["0"] + max(0.0, after["barrier"][ranks]["0"]
                                       - warm["barrier"][ranks]["0"])}
            for ranks, by in warm["fence"].items()
            if ranks in after.get("barrier", {})}


def points(rows, kinds, *state, word="point"):
    """The lines `point` of links of these kinds."""
    return [Line(word, kind, n, float(send), float(wire), float(gap),
                 float(receive), *state, digits=4)
            for kind in kinds for n, send, wire, gap, receive in rows]


def _tables(operation, by_ranks, *state):
    return [line for ranks in sorted(by_ranks, key=int)
            for line in table(by_ranks[ranks], "table", operation, int(ranks),
                              state=state)]


def table(by_size, *fields, state=()):
    """The lines of a table {size: ns}, which begin with these fields."""
    return [Line(*fields, size, ns, ns, *state, digits=6)
            for size, ns in sorted((int(size), float(ns))
                                   for size, ns in by_size.items())]


# The MPI of a job -----------------------------------------------------------

def host_of(job, ranks):
    """The MPI of a job's program: that of the launcher which `straightway run`
    would take."""
    words = job.words(ranks, {})
    words.insert(2, "--dry-run")
    done = subprocess.run(words, text=True, errors="replace",
                          capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode or not done.stdout.strip():
        raise UserError(done.stderr.strip().partition("straightway: ")[2]
                        or f"{job.program[0]} cannot be started",
                        done.returncode or 1)
    import shlex
    launcher = shlex.split(done.stdout.splitlines()[0])[0]
    if job.mpi and not os.path.isfile(job.mpi):
        return hosts.choose(job.mpi)
    return hosts.choose(launcher)
