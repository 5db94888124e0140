"""What a profile says, on programs for which the right answer is known.

Programs note what they do, and the capture must say the same: calls and bytes
of every procedure on every rank, messages and bytes for every pair. The profile
must find the waits that programs build in, in their places. A program that ends
badly leaves a capture that says how.
"""

import re
import signal
import subprocess
import sys

import pytest
import test_fortran as fortran
import test_front as front
from harness import nodes, perfetto_traces, programs, trace_check
from harness.hosts import COMMAND, ROOT
from harness.jobs import JobTimeout
from straightway import capture, profile, symbols
from straightway.machine import domains, processors
from straightway.machine.readers import sysfs
from straightway.reporters import perfetto

LIBRARY = COMMAND.parents[1] / "lib" / "straightway" / "libstraightway.so"
QUIET = {"STRAIGHTWAY_PROFILE_REPORT": "off"}


def profiled(host, n, argv, folder, enable=False, env=None, timeout=120,
             **keywords):
    """Run under `straightway run --profile`; (process, capture)."""
    path = folder / "run.swcap"
    done = host.run(n, argv, timeout=timeout, env={
        "STRAIGHTWAY_PROFILE": "on", "STRAIGHTWAY_PROFILE_OUTPUT": str(path),
        "STRAIGHTWAY_ENABLE": "on" if enable else "off",
        **QUIET, **(env or {})}, **keywords)
    return done, capture.read(path)


def sums(rank):
    """{procedure: (calls, sent, received)} of one rank."""
    found = {}
    t = rank.table("calls")
    for i in range(len(t)):
        name = rank.procedures[t["procedure"][i]]
        name = name[:-2] if name.endswith("_c") else name
        before = found.get(name, (0, 0, 0))
        found[name] = tuple(a + t[b][i] for a, b in zip(
            before, ("calls", "sent", "received")))
    return found


@pytest.mark.parametrize("n, groups", [(3, []), (4, ["between"])])
def test_arguments_that_mpi_ignores_are_not_read(host, n, groups, tmp_path):
    program = host.compile(programs.source("ignored.c"))
    done, _ = profiled(host, n, [program, *groups], tmp_path, enable=True,
                       env={"STRAIGHTWAY_TRACE": "on"})
    programs.well(done)


def known(path):
    """(as sums, {(to or from, peer): (messages, bytes)})"""
    procedures, pairs = {}, {}
    for line in path.read_text().splitlines():
        name, *numbers = line.split()
        numbers = tuple(map(int, numbers))
        if name in ("to", "from"):
            pairs[name, numbers[0]] = numbers[1:]
        else:
            procedures[name] = numbers
    return procedures, pairs


def pairs_of(rank):
    found = {}
    t = rank.table("peers")
    for i in range(len(t)):
        if t["kind"][i] == 0:
            peer = t["peer"][i]
            for way, what in (("to", "sent"), ("from", "received")):
                if t[f"{what}_messages"][i]:
                    found[way, peer] = (t[f"{what}_messages"][i],
                                        t[f"{what}_bytes"][i])
    return found


@pytest.mark.parametrize("n, enable", [
    pytest.param(n, enable, id=f"{n}-{'ours' if enable else 'alone'}",
                 marks=() if n in (2, 3) else pytest.mark.deep)
    for n in (1, 2, 3, 4) for enable in (False, True)])
def test_known_calls(host, n, enable, tmp_path):
    program = host.compile(programs.source("profile_known.c"))
    done, found = profiled(host, n, [program, tmp_path], tmp_path, enable)
    programs.well(done)
    assert not found.problems
    assert [r.number for r in found.ranks] == list(range(n))
    for rank in found.ranks:
        procedures, pairs = known(tmp_path / f"known.{rank.number}")
        assert sums(rank) == procedures
        assert pairs_of(rank) == pairs
        assert rank.end == "finalize"
        assert rank.job.accelerated == enable


def test_places(host, tmp_path):
    """The capture has each rank's processors as the kernel has them, and of
    the node's first rank the domains that /sys tells any reader."""
    program = host.compile(programs.source("profile_places.c"))
    done, found = profiled(host, 2, [program, tmp_path], tmp_path)
    programs.well(done)
    for rank in found.ranks:
        listed = (tmp_path / f"places.{rank.number}").read_text().strip()
        assert rank.cpus == listed
        assert bool(rank.domains) == (rank.number == 0)
    tree = sysfs.read()
    places = {kind: sorted(one.cpus for one in tree.all(kind)
                           if kind != "cache" or one.level == 3)
              for kind in domains.KINDS}
    assert {kind: sorted(map(processors.parse, lists)) for kind, lists in
            found.ranks[0].domains.items()} == places
    assert domains.read(found.ranks[0].domains).levels[-1] == "core"


@pytest.mark.parametrize("order", ["before", "behind"])
def test_another_tool(host, order, tmp_path):
    """Another tool's calls are the program's, each counted once."""
    program = host.compile(programs.source("profile_known.c"))
    tool = host.compile(front.HERE / "tool.c", "-shared", "-fPIC")
    libraries = [tool, LIBRARY] if order == "before" else [LIBRARY, tool]
    path = tmp_path / "run.swcap"
    done = host.run(2, front.preloaded(libraries, [program, tmp_path]),
                    straightway=False, timeout=120, env={
                        **QUIET, "STRAIGHTWAY_PROFILE": "on",
                        "STRAIGHTWAY_ENABLE": "off",
                        "STRAIGHTWAY_PROFILE_OUTPUT": str(path)})
    programs.well(done)
    assert "tool: " in done.stderr
    for rank in capture.read(path).ranks:
        procedures, pairs = known(tmp_path / f"known.{rank.number}")
        # The tool asks for the rank itself.
        procedures["MPI_Comm_rank"] = (2, 0, 0)
        assert sums(rank) == procedures and pairs_of(rank) == pairs


# Ends ------------------------------------------------------------------------

ENDS = {"abort": ("abort", 0), "exit": ("exit", 0), "_exit": ("exit", 0),
        "quick_exit": ("exit", 0), "execv": ("exec", 0), "execlp": ("exec", 0),
        "segv": ("signal", signal.SIGSEGV),
        "term": ("signal", signal.SIGTERM)}


def end_early(host, how, folder, env=None):
    """Rank 1 ends before MPI_Finalize; (process, capture).

    Hydra alone misses such an end at times, and then waits for ever (MPICH
    5.0 without Straightway: 7 of 1,500 jobs). Such a job is run again, if the
    rank had gone, as its block of the capture tells.
    """
    program = host.compile(programs.source("profile_ends.c"))
    path = folder / "run.swcap"
    for attempt in range(3):
        try:
            return profiled(host, 2, [program, how], folder, env=env,
                            timeout=40, stragglers="kill")
        except JobTimeout:
            if host.flavour == "ompi" or attempt == 2:
                raise
            ranks = [r.number for r in capture.read(path).ranks]
            assert 1 in ranks, "rank 1 has not ended"
            for left in folder.iterdir():
                left.unlink()
    return None


def run_to_its_end(host, how, folder):
    """(process, rank 1 as the capture has it)"""
    done, found = end_early(host, how, folder)
    assert done.returncode != 0
    assert not found.problems
    rank = next(r for r in found.ranks if r.number == 1)
    assert sums(rank)["MPI_Barrier"] == (10, 0, 0)
    assert rank.stop > rank.start
    return done, rank


@pytest.mark.parametrize("how", ENDS)
def test_ends_early(host, how, tmp_path):
    """The rank that ends leaves its block, whatever becomes of the others."""
    done, rank = run_to_its_end(host, how, tmp_path)
    assert (rank.end, rank.signal) == ENDS[how]
    # Hydra may lose what is printed before an abort.
    if host.flavour == "ompi" or how != "abort":
        assert "ended before MPI_Finalize" in done.stderr
        assert str(tmp_path / "run.swcap") in done.stderr


def test_an_error_after_finalize_leaves_the_lines(host, tmp_path):
    """A launcher ends all ranks when one exits with an error. The lines about
    the profile are there before, and name the capture as seen from the user's
    folder. An exec that failed has ended nothing."""
    program = host.compile(programs.source("profile_ends.c"))
    done = host.run(2, [program, "finalized"], cwd=tmp_path, timeout=120,
                    run_args=["--profile"], stragglers="kill")
    # Alone, too, hydra (5.0) may forget the status of a rank that ends last.
    assert done.returncode or host.flavour != "ompi"
    (path,) = tmp_path.glob("*.swcap")
    assert f"findings: straightway report {path.name}\n" in done.stderr
    found = capture.read(path)
    assert not found.problems
    assert [(r.end, sums(r)["MPI_Barrier"][0]) for r in found.ranks] == \
        [("finalize", 11)] * 2


def test_the_trace_of_a_rank_that_ends_early_is_named(host, run, tmp_path):
    done, _ = end_early(host, "exit", tmp_path, {"STRAIGHTWAY_TRACE": "on"})
    path = tmp_path / "run.swcap"
    assert f"straightway report {path} --perfetto" in done.stderr
    assert run("report", path, "--perfetto", tmp_path / "out")[0] == 0


@pytest.mark.unable(lambda host: host.flavour != "ompi", why="hydra kills a "
                    "rank that reports an error, by a signal that cannot be "
                    "caught")
def test_fatal_error(host, tmp_path):
    """An error that is fatal: the host ends the process from within."""
    _, rank = run_to_its_end(host, "error", tmp_path)
    assert rank.end == "exit"


def test_no_mpi(host, tmp_path):
    """A program without MPI: an error that says why, and no file."""
    done = host.run(1, ["/bin/true"], run_args=["--profile"], cwd=tmp_path)
    assert "made no MPI call" in done.stderr
    assert not list(tmp_path.iterdir())


# Waiting ---------------------------------------------------------------------

def regions(rank):
    """{region: (time in MPI, probed, waited), ns} of one rank."""
    found = {}
    t = rank.table("calls")
    for i in range(len(t)):
        name = rank.regions[t["region"][i]].name
        before = found.get(name, (0, 0, 0))
        found[name] = tuple(a + t[b][i] for a, b in zip(
            before, ("time", "probed", "waited")))
    return found


@programs.measures
@pytest.mark.parametrize("enable", [False, True], ids=["alone", "ours"])
def test_waits(host, enable, tmp_path):
    """A rank that waits for a late one has waiting time; the late one none."""
    program = host.compile(programs.source("profile_waits.c"),
                           f"-I{ROOT / 'include'}", "-ldl")
    done, found = profiled(host, 2, [program], tmp_path, enable)
    programs.well(done)
    late, waiting = (regions(rank) for rank in found.ranks)
    cases = [name for name in waiting if name not in ("", "nobody",
                                                      "phase 7")]
    assert len(cases) == 12
    for name in cases:
        time, probed, waited = waiting[name]
        assert time > 90e6, name
        assert waited > 80e6 and waited > 0.6 * time, (name, waiting[name])
        assert probed <= time * 1.01, name
        assert late[name][2] < 50e6, (name, late[name])
    assert waiting["nobody"][2] < 50e6
    # What is only moved is looked at, too.
    for rank in (late, waiting):
        time, probed, _ = rank["phase 7"]
        assert probed > 0.5 * time


# Correctness -----------------------------------------------------------------

RECORDED = {"STRAIGHTWAY_PROFILE": "on", **QUIET}


# Words at the end of a run, and what the host alone needs.
RANDOM = {
    "random_collectives": ("calls right", (11, 150), {}),
    "random_p2p": ("messages right", (11, 60), {}),
    "random_types": ("datatypes right", (11, 30),
                     {"MPIR_CVAR_CH4_CMA_ENABLE": "0"}),
}


@pytest.mark.parametrize("name, n, options", [
    pytest.param("random_collectives", 3, (), id="collectives"),
    pytest.param("random_p2p", 3, (), id="messages"),
    pytest.param("random_p2p", 2, ("--threads", 3), id="threads"),
    pytest.param("random_types", 2, (), id="types")])
@pytest.mark.parametrize("enable", [
    "off", pytest.param("on", marks=pytest.mark.deep)])
def test_random_programs(host, name, n, options, enable, tmp_path):
    """Recorded programs get the bytes and statuses that the host gives."""
    words, (seed, rounds), env = RANDOM[name]
    arguments = [seed, programs.rounds_for(host, n, rounds), *options]
    kept = programs.kept_alone(host, n, name, arguments, words,
                               excused=["no MPI_THREAD"], env=env)
    programs.well(programs.run(
        host, n, name, *arguments, "--log", tmp_path / "log",
        env={**env, **RECORDED, "STRAIGHTWAY_ENABLE": enable,
             "STRAIGHTWAY_PROFILE_OUTPUT": str(tmp_path)}), words)
    programs.same_logs(kept, tmp_path, n)
    found, = tmp_path.glob("*.swcap")
    assert not capture.read(found).problems


# The trace -------------------------------------------------------------------

@pytest.mark.parametrize("name, n, options", [
    pytest.param("random_collectives", 3, (), id="collectives"),
    pytest.param("random_p2p", 3, (), id="messages"),
    pytest.param("random_p2p", 2, ("--threads", 3), id="threads")])
@pytest.mark.parametrize("enable", [
    "off", pytest.param("on", marks=pytest.mark.deep)])
def test_trace_of_random_programs(host, name, n, options, enable, tmp_path):
    words, (seed, rounds), env = RANDOM[name]
    arguments = [seed, programs.rounds_for(host, n, rounds), *options]
    programs.kept_alone(host, n, name, arguments, words,
                        excused=["no MPI_THREAD"], env=env)
    programs.well(programs.run(
        host, n, name, *arguments, env={
            **env, **RECORDED, "STRAIGHTWAY_ENABLE": enable,
            "STRAIGHTWAY_TRACE": "on",
            "STRAIGHTWAY_PROFILE_OUTPUT": str(tmp_path)}), words)
    path, = tmp_path.glob("*.swcap")
    events, messages, _, collectives = trace_check.check(
        path, capture.read(path).ranks, guesses=host.flavour != "ompi")
    assert events > 1000
    assert (messages if name == "random_p2p" else collectives) > 10


@pytest.mark.parametrize("name, n", [("random_collectives", 3),
                                     ("random_p2p", 3)])
def test_trace_of_programs_that_pause(host, name, n, tmp_path):
    """Each rank switches off and on where it likes. What it did meanwhile is
    not there, and yet all that is there has its right number, name and
    bytes."""
    words, (seed, rounds), env = RANDOM[name]
    arguments = [seed, programs.rounds_for(host, n, rounds)]
    programs.kept_alone(host, n, name, arguments, words, env=env)
    program = host.compile(programs.source(f"{name}.c"), "-lm", "-lpthread",
                           "-ldl", "-include", programs.source("pausing.h"))
    done = host.run(n, [program, *arguments], timeout=120, env={
        **env, **RECORDED, **programs.AT_ONCE, "STRAIGHTWAY_ENABLE": "off",
        "STRAIGHTWAY_TRACE": "on",
        "STRAIGHTWAY_PROFILE_OUTPUT": str(tmp_path)})
    programs.well(done, words)
    path, = tmp_path.glob("*.swcap")
    events, messages, _, collectives = trace_check.check(
        path, capture.read(path).ranks, guesses=host.flavour != "ompi",
        paused=True)
    assert events > 300
    assert (messages if name == "random_p2p" else collectives) > 10


def test_paused_calls_have_no_sites(host, tmp_path):
    """The recorder looks for no site of a call that it does not record."""
    program = host.compile(programs.source("profile_paused.c"))
    done, found = profiled(host, 2, [program], tmp_path)
    programs.well(done)
    for rank in found.ranks:
        calls = {name: row[0] for name, row in sums(rank).items()}
        assert calls == {"MPI_Comm_size": 1, "MPI_Comm_rank": 1,
                         "MPI_Barrier": 1}
        # One is ours, where the cost of recording is measured.
        assert len(set(rank.table("stacks")["site"])) == len(calls) + 1


def test_trace_of_known_calls(host, tmp_path):
    program = host.compile(programs.source("profile_known.c"))
    done, found = profiled(host, 3, [program, tmp_path], tmp_path,
                           env={"STRAIGHTWAY_TRACE": "on"})
    programs.well(done)
    events, messages, open_ends, _ = trace_check.check(
        tmp_path / "run.swcap", found.ranks, guesses=host.flavour != "ompi",
        paused=True)
    calls = [sum(calls for calls, _, _ in known(
        tmp_path / f"known.{rank}")[0].values()) for rank in range(3)]
    assert events == sum(calls)
    assert messages > 0 and open_ends == 0


def test_trace_of_a_limited_size(host, tmp_path):
    program = host.compile(programs.source("profile_known.c"))
    done, found = profiled(host, 2, [program, tmp_path], tmp_path,
                           env={"STRAIGHTWAY_TRACE": "on",
                                "STRAIGHTWAY_TRACE_LIMIT": "600"})
    programs.well(done)
    assert "the trace takes at most" in done.stderr
    for rank in found.ranks:
        procedures, _ = known(tmp_path / f"known.{rank.number}")
        assert sums(rank) == procedures
        head = trace_check.headers(tmp_path / "run.swcap")[rank.number]
        assert head["trace"] == {
            "events": 0, "bytes": 0, "stopped": "limit",
            "lost": sum(calls for calls, _, _ in procedures.values())}


def test_trace_is_joined_and_shown(host, tmp_path):
    """At the end one file is left, and its arrows are the messages."""
    program = host.compile(programs.source("random_p2p.c"), "-lm", "-lpthread")
    done = host.run(2, [program, 11, 5], cwd=tmp_path,
                    run_args=["--trace", "--no-enable"])
    programs.well(done, "messages right")
    path, = tmp_path.glob("*.swcap")
    trace, = tmp_path.glob("*.swtrace")
    assert trace.stem == path.stem and f"wrote {trace}" in done.stderr
    found = capture.read(trace)
    events, messages, open_ends, _ = trace_check.check(
        path, found.ranks, guesses=host.flavour != "ompi")
    shown = str(tmp_path / "a.pftrace")
    told, lost = perfetto.render(profile.Profile(found), shown)
    assert (told, lost) == (events, [])
    arrows = [[kind for kind, _, _ in way] for way in perfetto_traces.flows(
        perfetto_traces.read(shown)).values()]
    assert sum("end" in way for way in arrows) == messages - open_ends
    assert all(way.count("end") <= 1 for way in arrows)


@pytest.mark.parametrize("how", ENDS)
def test_trace_of_an_early_end(host, how, tmp_path):
    _, found = end_early(host, how, tmp_path, {"STRAIGHTWAY_TRACE": "on"})
    rank = next(r for r in found.ranks if r.number == 1)
    path = tmp_path / "run.swcap"
    events = trace_check.read(path)[1]
    trace_check.check_order(events)
    trace_check.check_sums(rank, trace_check.headers(path)[1], events)
    assert len(events) >= 10


@pytest.mark.parametrize("enable", ["off", "on"])
def test_errors(host, enable, tmp_path):
    """Calls that fail return what they return without us."""
    program = host.compile(programs.source("profile_errors.c"))
    env = {"MPIR_CVAR_CH4_CMA_ENABLE": "0"}
    alone = host.run(2, [program], straightway=False, env=env)
    done, found = profiled(host, 2, [program], tmp_path, enable == "on",
                           env=env)
    programs.well(done)
    told, theirs = (run.stdout.splitlines() for run in (done, alone))
    if host.flavour == "ompi":
        # Alone it depends on chance whether this one tells of the error.
        theirs[0] = told[0]
    assert told == theirs
    # The last one is not printed.
    t = found.ranks[1].table("calls")
    assert sum(t["errors"]) == 1 + sum(
        ": " in line and not line.endswith("success") for line in told)


@pytest.mark.parametrize("handler", ["return", "user"])
def test_wrong_arguments(host, handler, tmp_path):
    few = ["few"] if "mpich" in host.name else []
    programs.well(programs.run(host, 2, "errors", handler, tmp_path / "alone",
                               *few, straightway=False))
    programs.well(programs.run(
        host, 2, "errors", handler, tmp_path / "ours", *few,
        env={**RECORDED, "STRAIGHTWAY_ENABLE": "off",
             "STRAIGHTWAY_PROFILE_OUTPUT": str(tmp_path)}))
    for rank in range(2):
        assert (tmp_path / f"ours.{rank}").read_text() == \
            (tmp_path / f"alone.{rank}").read_text()


FORTRAN = ["mpif.h", "use mpi",
           pytest.param("use mpi_f08", marks=programs.no_f08)]


@programs.needs_fortran
@pytest.mark.parametrize("binding", FORTRAN)
def test_fortran(host, binding, tmp_path):
    """MPI_IN_PLACE, MPI_STATUS_IGNORE and the rest as without us, and the
    call sites are the program's lines, not the binding's."""
    program = fortran.build(host, binding)
    done, found = profiled(host, 2, [program], tmp_path)
    assert re.search(r"^all \d+ hold$", done.stdout, re.M), done.stderr
    frames = found.native_frames()
    names = symbols.resolve(frames)
    own = [frame for frame in frames if frame[0] == str(program)]
    assert len(own) > 20, frames
    for frame, name in zip(frames, names):
        if frame[0] == str(program) and "line" in name:
            assert name["file"].lower().endswith(".f90"), name


@pytest.mark.parametrize("trace", ["on", "off"])
@pytest.mark.parametrize("enable", [False, True])
def test_calls_from_a_handle(host, enable, trace, tmp_path):
    """Julia and ctypes open MPI themselves, and take its functions from the
    handle."""
    program = tmp_path / "late"
    subprocess.run(["cc", "-o", program, front.HERE / "late.c", "-ldl"],
                   check=True)
    done, found = profiled(host, 1, [program, host.library or
                                     host.libdir / "libmpi.so"], tmp_path,
                           enable, {"STRAIGHTWAY_TRACE": trace})
    assert done.returncode == 0, done.stderr
    assert "initialized 1" in done.stdout
    called = sums(found.ranks[0])
    assert called == {"MPI_Initialized": (1, 0, 0)}


def test_plugins(host, tmp_path):
    """A plugin's calls are its own, though another lay at its address."""
    source = programs.source("profile_plugin.c")
    plugins = [str(host.compile(source, "-shared", "-fPIC", f"-DWHICH={n}"))
               for n in (1, 2)]
    program = host.compile(programs.source("profile_plugins.c"), "-ldl")
    done, found = profiled(host, 1, [program, *plugins], tmp_path)
    programs.well(done)
    if "79 of 79" not in done.stdout:
        pytest.skip("the linker chose other addresses: " + done.stdout)
    rank, = found.ranks
    calls, stacks, frames = map(rank.table, ("calls", "stacks", "frames"))
    module = {stacks["site"][i]: frames["place"][stacks["frame"][i]]
              for i in range(len(stacks))}
    counts = dict.fromkeys(plugins, 0)
    for i in range(len(calls)):
        path = rank.modules[module[calls["site"][i]]].path
        if path in counts:
            counts[path] += calls["calls"][i]
    assert counts == dict.fromkeys(plugins, 280)


PYTHON = """\
import sys
from mpi4py import MPI


def first(comm):
    comm.barrier()


def second(comm):
    first(comm)
    buffer = bytearray(80)
    comm.Bcast(buffer, root=0)


comm = MPI.COMM_WORLD.Dup()
comm.Set_name("from Python")
for _ in range(5):
    second(comm)
comm.Free()
"""


def test_python(host, tmp_path):
    script = tmp_path / "lines.py"
    script.write_text(PYTHON)
    env = host.mpi4py_env()
    done, found = profiled(host, 2, [sys.executable, script], tmp_path,
                           env=env)
    assert done.returncode == 0, done.stderr
    for rank in found.ranks:
        assert "from Python" in [c.name for c in rank.communicators if c]
        calls = rank.table("calls")
        frames, stacks = rank.table("frames"), rank.table("stacks")
        lines = {}
        for i in range(len(stacks)):
            frame = stacks["frame"][i]
            if frames["language"][frame] == 1:
                lines[stacks["site"][i]] = rank.python[frames["place"][frame]]
        at = {}
        for i in range(len(calls)):
            name = rank.procedures[calls["procedure"][i]].rstrip("_c")
            line = lines.get(calls["site"][i])
            if line and line.file == str(script):
                at.setdefault(name, {})[line.function, line.line] = \
                    calls["calls"][i]
        assert at["MPI_Barrier"] == {("first", 6): 5}
        assert at["MPI_Bcast"] == {("second", 12): 5}
        assert ("<module>", 15) in at["MPI_Comm_dup"]


def test_refused_memory(host, tmp_path):
    """Without shared memory a profile is whole, but for the waits."""
    program = host.compile(programs.source("profile_known.c"))
    done, found = profiled(host, 2, [program, tmp_path], tmp_path,
                           env={"STRAIGHTWAY_REFUSE": "memfd"})
    programs.well(done)
    assert done.stderr.count("waiting cannot be told from moving") == 1
    for rank in found.ranks:
        procedures, pairs = known(tmp_path / f"known.{rank.number}")
        assert sums(rank) == procedures and pairs_of(rank) == pairs


def test_folded(host, tmp_path):
    """With few records, sums are right, and the capture tells what is lost."""
    program = host.compile(programs.source("profile_known.c"))
    done, found = profiled(host, 2, [program, tmp_path], tmp_path,
                           env={"STRAIGHTWAY_PROFILE_RECORDS": "20"})
    programs.well(done)
    for rank in found.ranks:
        assert rank.folded > 100
        assert sums(rank) == known(tmp_path / f"known.{rank.number}")[0]


def test_unwritable(host, tmp_path):
    """A capture that cannot go where it should goes elsewhere, and says so.
    Others may write there, too: it goes into a folder that they cannot look
    into, whose name they cannot know."""
    program = host.compile(programs.source("profile_known.c"))
    folders = []
    for _ in range(2):
        done = host.run(2, [program, tmp_path], env={
            "STRAIGHTWAY_PROFILE": "on", **QUIET,
            "STRAIGHTWAY_TRACE": "on", "TMPDIR": str(shared(tmp_path)),
            "STRAIGHTWAY_PROFILE_OUTPUT": "/proc/nowhere/run.swcap"})
        programs.well(done)
        found, = (path for path in (tmp_path / "shared").glob("*/*.swcap")
                  if path.parent not in folders)
        assert str(found) in done.stderr
        assert len(capture.read(found).ranks) == 2
        assert len(list(found.parent.glob("*.rank*.swtrace"))) == 2
        assert found.parent.stat().st_mode & 0o777 == 0o700
        assert re.search(r"[0-9a-f]{16}$", found.parent.name)
        folders.append(found.parent)


def shared(tmp_path):
    """A folder in which everybody may write, as in /tmp."""
    folder = tmp_path / "shared"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o1777)
    return folder


@pytest.mark.parametrize("ending", ["", "early"])
def test_links_are_not_followed(one_host, ending, tmp_path):
    """Links that another user lays under the names that a profile will have,
    before it begins or while it runs, lead to nothing of it."""
    program = one_host.compile(programs.source("profile_links.c"))
    folder, precious = shared(tmp_path), tmp_path / "precious"
    precious.write_text("precious")
    for name in ("run.swcap", "run.rank0.swtrace", "run.rank1.swtrace"):
        (folder / name).symlink_to(precious)
    done = one_host.run(2, [program, folder / "run.swcap", precious, ending],
                        env={"STRAIGHTWAY_PROFILE": "on", **QUIET,
                             "STRAIGHTWAY_TRACE": "on",
                             "STRAIGHTWAY_PROFILE_OUTPUT":
                             str(folder / "run.swcap")})
    assert "all is well" in done.stdout, done.stderr
    assert precious.read_text() == "precious"
    for rank in range(2):
        piece = folder / f"run.rank{rank}.swtrace"
        assert not piece.is_symlink() and piece.stat().st_size > 100
    assert (folder / "run.swcap").is_symlink()
    assert f"cannot be written to {folder / 'run.swcap'}" in done.stderr


def test_communicators_far_down_keep_their_origin(host, tmp_path):
    program = host.compile(programs.source("profile_splits.c"))
    done, found = profiled(host, 2, [program], tmp_path)
    programs.well(done)
    for rank in found.ranks:
        t = rank.table("calls")
        names = {rank.communicators[t["communicator"][i]].name
                 for i in range(len(t))
                 if rank.procedures[t["procedure"][i]] == "MPI_Barrier"}
        above = "split x4 of MPI_COMM_WORLD"
        assert names == {
            "split of MPI_COMM_WORLD",
            *(f"split x{n} of MPI_COMM_WORLD" for n in (2, 3, 4)),
            f"duplicate of {above}", f"split of duplicate of {above}",
            *(f"split x{n} of duplicate of {above}" for n in range(2, 8))}


# Nodes -----------------------------------------------------------------------

def check_between(found, folder):
    """Compare a capture with what tests/mpi/record/between.c has noted."""
    assert not found.problems
    for rank in found.ranks:
        table = rank.table("calls")
        sums = {}
        for i in range(len(table)):
            name = rank.procedures[table["procedure"][i]]
            before = sums.get(name, (0, 0, 0, 0))
            sums[name] = tuple(a + table[b][i] for a, b in zip(before, (
                "sent", "sent_between", "received", "received_between")))
        lines = (folder / f"between.{rank.number}").read_text().splitlines()
        assert len(lines) > 15
        for line in lines:
            name, *numbers = line.split()
            assert sums[name] == tuple(map(int, numbers)), (rank.number, name)


@pytest.mark.parametrize("enable", [False, True], ids=["alone", "ours"])
def test_bytes_between_virtual_nodes(host, enable, tmp_path):
    program = host.compile(programs.source("between.c"))
    done, found = profiled(host, 5, [program, tmp_path, "2"], tmp_path, enable,
                           env={"STRAIGHTWAY_NODE_SIZE": "2"})
    programs.well(done)
    check_between(found, tmp_path)
    assert [(r.node_number, r.node_ranks) for r in found.ranks] == [
        (0, 2), (0, 2), (1, 2), (1, 2), (2, 1)]


def test_no_bytes_between_nodes_on_one(host, tmp_path):
    program = host.compile(programs.source("between.c"))
    done, found = profiled(host, 3, [program, tmp_path], tmp_path)
    programs.well(done)
    check_between(found, tmp_path)
    for rank in found.ranks:
        assert not any(rank.table("calls")["sent_between"])


@nodes.able
@pytest.mark.parametrize("placement", ["block", "cyclic"])
def test_bytes_between_nodes(host, placement, tmp_path):
    program = host.compile(programs.source("between.c"))
    path = tmp_path / "run.swcap"
    done = nodes.run_on_nodes(host, [2, 2], [program, tmp_path], placement,
                              timeout=120, env={
                                  **QUIET, "STRAIGHTWAY_PROFILE": "on",
                                  "STRAIGHTWAY_PROFILE_OUTPUT": str(path)})
    programs.well(done)
    found = capture.read(path)
    check_between(found, tmp_path)
    assert [r.node_number for r in found.ranks] == (
        [0, 0, 1, 1] if placement == "block" else [0, 1, 0, 1])
    # The first rank of each node describes it.
    assert [r.number for r in found.ranks if r.domains] == (
        [0, 2] if placement == "block" else [0, 1])
    p = profile.load(path)
    allreduce = next(t for t in p.between() if t.key == "MPI_Allreduce")
    assert allreduce.sent_between == allreduce.sent == 400
