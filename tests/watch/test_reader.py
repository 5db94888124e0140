"""straightway-where tells what processes show, and where they are."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from harness import spread
from harness.hosts import ROOT

from straightway import native

HERE = pathlib.Path(__file__).parent
CHAIN = ["innermost", "middle", "outermost", "main"]
FRAMES = {"with": "-fno-omit-frame-pointer", "without": "-fomit-frame-pointer"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """compile(name, *options): shower.c, built once."""
    folder = tmp_path_factory.mktemp("shower")

    def compile_it(name, *options):
        path = folder / name
        if not path.exists():
            subprocess.run(
                [os.environ.get("CC", "cc"), "-D_GNU_SOURCE", "-g", "-O2",
                 "-Wall", "-Werror", "-fno-optimize-sibling-calls", *options,
                 "-iquote", ROOT / "src", "-iquote", ROOT / "tests",
                 HERE / "shower.c", "-o", path], check=True)
        return path
    return compile_it


@pytest.fixture
def begin():
    """Start a process and wait until it is ready: (process, what it says)."""
    started = []

    def start(*words, **more):
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True,
                                   **more)
        started.append(process)
        line = process.stdout.readline()
        assert line.startswith("ready"), line
        time.sleep(0.05)        # it goes to sleep, or computes
        return process, line.split()[1:]
    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def where(*words, **more):
    done = subprocess.run([native.where_executable(), *map(str, words)],
                          capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["format"] == 1 and abs(answer["now"] - time.time()) < 60
    return answer


def one(*words):
    answer = where(*words)
    assert not answer["refused"], answer
    assert len(answer["processes"]) == 1
    return answer["processes"][0]


def functions(stack, program):
    """The names of the program's functions in a stack."""
    table = subprocess.run(["nm", "-S", "--defined-only", program],
                           capture_output=True, text=True).stdout
    ranges = [(int(f[0], 16), int(f[1], 16), f[3])
              for f in map(str.split, table.splitlines())
              if len(f) == 4 and f[2] in "tT"]
    return [next((name for first, size, name in ranges
                  if first <= frame["offset"] < first + size), "?")
            for frame in stack if frame.get("module") == str(program)]


def build_id(program):
    notes = subprocess.run(["readelf", "-n", program], capture_output=True,
                           text=True).stdout
    return re.search(r"Build ID: (\w+)", notes).group(1)


def counts(pid):
    """What a reader must not change: the file, descriptors, areas, memory,
    tracer."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    files = [entry.stat() for entry in os.scandir(f"/proc/{pid}/fd")
             if "straightway-watch" in os.readlink(entry.path)]
    return ([file.st_blocks for file in files],
            len(os.listdir(f"/proc/{pid}/fd")),
            len(pathlib.Path(f"/proc/{pid}/maps").read_text().split("\n")),
            re.search(r"VmRSS:\s*(\d+)", status).group(1),
            re.search(r"TracerPid:\s*(\d+)", status).group(1))


@pytest.mark.parametrize("frame", FRAMES)
def test_a_thread_in_a_call_has_the_stack_of_its_call(built, begin, frame):
    program = built(f"inside-{frame}", FRAMES[frame])
    process, _ = begin(program, "inside")
    told = one(process.pid)
    thread, = told["threads"]
    assert thread["inside"] and thread["main"] and thread["stack"] is None
    call = thread["call"]
    assert call["name"].startswith("MPI_") and call["number"] == 7
    assert call["comm"] == 1 and call["window"] is None
    assert call["root"] is None and 0 <= call["since"] < 60
    found = functions(call["stack"], program)
    assert found[:4] == CHAIN, found
    assert call["stack"][0]["build_id"] == build_id(program)
    assert told["program"] == 'a"b\\c\n\ufffdé' and told["job"] == "job"
    assert (told["rank"], told["ranks"], told["node_ranks"]) == (3, 4, 2)


@pytest.mark.parametrize("way", ["busy", "sleeps"])
@pytest.mark.parametrize("frame", FRAMES)
def test_a_thread_in_the_programs_code_has_its_stack(built, begin, frame, way):
    program = built(f"inside-{frame}", FRAMES[frame])
    process, _ = begin(program, way)
    before = counts(process.pid)
    thread, = one(process.pid)["threads"]
    assert not thread["inside"] and thread["call"] is None
    inner = {"busy": "compute", "sleeps": "rest"}[way]
    assert functions(thread["stack"], program)[:5] == [inner, *CHAIN]
    assert thread["state"] == {"busy": "R", "sleeps": "S"}[way]
    assert counts(process.pid) == before
    for word in "--no-sample", "--list":
        assert one(word, process.pid)["threads"][0]["stack"] is None


def test_a_list_has_no_stacks(built, begin):
    process, _ = begin(built("inside-with", FRAMES["with"]), "inside")
    call = one("--list", process.pid)["threads"][0]["call"]
    assert call["number"] == 7 and call["stack"] == []


@pytest.mark.parametrize("way", ["inside", "busy"])
def test_a_stopped_process_stays_stopped(built, begin, way):
    process, _ = begin(built("inside-with", FRAMES["with"]), way)
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    for _ in range(20):
        told = one(process.pid)
        assert told["state"] == told["threads"][0]["state"] == "T"
    state = pathlib.Path(f"/proc/{process.pid}/stat").read_text()
    assert state.rsplit(")")[1].split()[0] == "T"
    process.send_signal(signal.SIGCONT)
    time.sleep(0.05)
    assert one(process.pid)["state"] == {"inside": "S", "busy": "R"}[way]


@pytest.mark.parametrize("shut", [False, True])
def test_a_row_that_changes_all_the_time_is_never_torn(built, begin, shut):
    """The numbers of a call are all alike."""
    program = built("inside-with", FRAMES["with"])
    process, _ = begin(program, "tears-hidden" if shut else "tears")
    seen = set()
    for _ in range(200):
        thread, = one(process.pid)["threads"]
        if thread["call"]:
            call = thread["call"]
            numbers = {call[name] for name in
                       ("peer", "tag", "to", "to_tag", "bytes", "number",
                        "requests")}
            assert len(numbers) == 1, call
            seen |= numbers
    assert len(seen) > 20


def test_a_closed_descriptor_does_not_hide_a_process(built, begin):
    program = built("inside-with", FRAMES["with"])
    process, _ = begin(program, "hidden")
    before = counts(process.pid)
    assert not [name for name in os.scandir(f"/proc/{process.pid}/fd")
                if "straightway" in os.readlink(name.path)]
    stack = one(process.pid)["threads"][0]["call"]["stack"]
    assert functions(stack, program)[:4] == CHAIN
    assert counts(process.pid) == before


@pytest.fixture
def humble(built):
    """(folder, keywords): root's rights are put off. The folder has
    a program of its own, which anyone may run."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="straightway-watch-"))
    folder.chmod(0o777)
    shutil.copy(native.where_executable(), folder / "reader")
    shutil.copy(built("inside-with", FRAMES["with"]), folder / "shower")
    nobody = dict(user=65534, group=65534, extra_groups=[])
    yield folder, nobody if os.geteuid() == 0 else {}
    shutil.rmtree(folder)


@pytest.mark.parametrize("way", spread.some([
    "inside", "hidden", "gone", "busy", "tears", "tears-hidden", "sleeps"], 3))
def test_no_privilege_is_needed(built, begin, humble, way):
    folder, nobody = humble
    process, _ = begin(folder / "shower", way, **nobody)
    calls, stack = set(), None
    for _ in range(100):
        done = subprocess.run([folder / "reader", str(process.pid)],
                              capture_output=True, text=True, **nobody)
        answer = json.loads(done.stdout)
        assert not answer["refused"]
        thread, = answer["processes"][0]["threads"]
        call = thread["call"]
        stack = call["stack"] if call else thread["stack"]
        if call:
            numbers = {call[name] for name in ("peer", "tag", "to", "number")}
            assert len(numbers) == 1, call
            calls |= numbers
    if way.startswith("tears"):
        assert len(calls) > (0 if way == "tears-hidden" else 10)
        return
    program = built("inside-with")
    for frame in stack:
        frame["module"] = frame["module"].replace(str(folder / "shower"),
                                                  str(program))
    found = functions(stack, program)
    assert [name for name in found if name in CHAIN] == CHAIN


def test_a_program_that_was_removed_has_its_stack(built, begin, tmp_path):
    program = built("inside-with", FRAMES["with"])
    copy = shutil.copy(program, tmp_path / "copy")
    process, _ = begin(copy, "gone")
    stack = one(process.pid)["threads"][0]["call"]["stack"]
    assert stack[0]["module"] == str(copy)
    assert stack[0]["build_id"] == build_id(program)
    for frame in stack:
        frame["module"] = frame["module"].replace(str(copy), str(program))
    assert functions(stack, program)[:4] == CHAIN


def test_a_forked_child_is_not_the_process(built, begin):
    process, (child,) = begin(built("inside-with", FRAMES["with"]), "forks")
    answer = where()
    shown = [p["pid"] for p in answer["processes"]]
    assert process.pid in shown and int(child) not in shown
    assert int(child) not in [r["pid"] for r in answer["refused"]]
    refused, = where(child)["refused"]
    assert f"child of process {process.pid}" in refused["why"]


def test_all_tables_are_told(built, begin):
    process, _ = begin(built("inside-with", FRAMES["with"]), "tables")
    told = one(process.pid)
    comm, = told["comms"]
    assert comm["id"] == "0000000000000abc" and comm["name"] == 64 * "x"
    assert [r["number"] for r in comm["recent"]] == list(range(3, 11))
    assert [r["root"] for r in comm["recent"]] == 5 * [None] + [2, None, None]
    pair, = told["pairs"]
    assert pair["messages"] == 9 and pair["sends"] and pair["peer"] == 2
    assert pair["latest"] == [5] and pair["tag_sum"] == "45"
    assert pair["tag_squares"] == str(2 ** 64 - 1)
    request, = told["requests"]
    assert request["peer"] == request["tag"] == "any"
    assert request["kind"] == "receives" and request["number"] is None
    assert request["waited"] == process.pid
    assert functions(request["stack"], built("inside-with")) == ["compute"]
    window, = told["windows"]
    assert window["row"] == 2 and window["locked"] == "any"
    assert window["origins"] == [1] and window["targets"] == []


def test_who_is_refused_learns_why(built, begin):
    strange, _ = begin(built("inside-with", FRAMES["with"]), "strange")
    plain = subprocess.Popen(["sleep", "1000"])
    dead = subprocess.Popen(["true"])
    os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
    try:
        answer = where(plain.pid, dead.pid, strange.pid, 2 ** 30)
    finally:
        plain.kill()
        plain.wait()
        dead.wait()
    assert answer["processes"] == []
    whys = {r["pid"]: r["why"] for r in answer["refused"]}
    assert whys[plain.pid] == "runs without Straightway"
    assert "has ended" in whys[dead.pid]
    assert "another version" in whys[strange.pid]
    assert whys[2 ** 30] == "no such process"
    assert strange.pid in [r["pid"] for r in where()["refused"]]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be someone else")
def test_another_users_process_is_refused(built, begin, humble):
    folder, nobody = humble
    process, _ = begin(built("inside-with", FRAMES["with"]), "inside")

    def told(*words):
        done = subprocess.run([folder / "reader", *words], text=True,
                              capture_output=True, **nobody)
        return json.loads(done.stdout)
    answer = told(str(process.pid))
    assert answer["processes"] == []
    assert answer["refused"][0]["why"] == "belongs to another user (root)"
    assert process.pid not in [p["pid"] for p in told()["processes"]]


@pytest.mark.parametrize("way", spread.some(["inside", "busy", "sleeps"]))
def test_a_thousand_readers_leave_no_trace(built, begin, way):
    process, _ = begin(built("inside-with", FRAMES["with"]), way)
    where(process.pid)
    before = counts(process.pid)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda _: one(process.pid), range(1000)))
    assert counts(process.pid) == before and process.poll() is None
    assert all(t["threads"] for t in told)


def test_a_process_in_a_namespace_of_its_own_is_found(built, begin):
    apart = ["unshare", "--pid", "--fork", "--kill-child"]
    if subprocess.run([*apart, "true"], capture_output=True).returncode:
        pytest.skip("no namespace may be made here")
    program = built("inside-with", FRAMES["with"])
    launcher, _ = begin(*apart, program, "inside")
    children = f"/proc/{launcher.pid}/task/{launcher.pid}/children"
    pid = int(pathlib.Path(children).read_text())
    thread, = one(pid)["threads"]
    assert thread["main"] and thread["tid"] == pid
    assert functions(thread["call"]["stack"], program)[:4] == CHAIN


def layout():
    """The layout of this Python, from src/profile/stack/python.c."""
    source = (ROOT / "src/profile/stack/python.c").read_text()
    header = (ROOT / "src/profile/stack/pycode.h").read_text()
    struct = re.sub(r"/\*.*?\*/", "", header[:header.index(
        "} sw_python_layout_t")].rpartition("typedef struct {")[2],
        flags=re.S)
    names = re.findall(r"\w+(?=[,;])", struct)
    major, minor, *_ = sys.version_info
    version = f"{{.version = 0x{major:x}{minor:02x},"
    if version not in source:
        pytest.skip("this Python has a table of its own offsets")
    row = source[source.index(version):].partition("}")[0]
    given = dict(re.findall(r"\.(\w+) = (\w+)", row))
    return [int(given.get(name, "0"), 0) for name in names]


def test_python_frames_stand_before_the_others(built, begin):
    library = built("shower.so", "-shared", "-fPIC")
    script = HERE / "python_shower.py"
    process, _ = begin(sys.executable, script, library, *map(str, layout()))
    lines = script.read_text().split("\n")
    stack = one(process.pid)["threads"][0]["call"]["stack"]
    assert [f["function"] for f in stack[:3]] == ["inner_é", "outer",
                                                  "<module>"]
    assert all(f["file"] == str(script) for f in stack[:3])
    said = [lines[f["line"] - 1].strip() for f in stack[:3]]
    assert said[0] == "time.sleep(1000)" and said[1] == "inner_é(*words)"
    assert said[2].startswith("outer(") and "module" in stack[3]


def test_a_layout_that_is_junk_does_no_harm(built, begin):
    library = built("shower.so", "-shared", "-fPIC")
    good = layout()
    for place in range(1, len(good)):
        for junk in 3, 8, 400, 2 ** 31:
            bad = good[:place] + [junk] + good[place + 1:]
            process, _ = begin(sys.executable, HERE / "python_shower.py",
                               library, *map(str, bad))
            assert one(process.pid)["threads"]
            process.kill()
