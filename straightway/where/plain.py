"""What gdb and py-spy tell of a job that runs without Straightway.

gdb stops each process for a moment, prints the stacks of its threads and lets
it go on. From the frames this module takes the innermost MPI call and its
caller. No verdict is possible: nothing tells counts of messages or numbers of
collectives.
"""

import concurrent.futures
import dataclasses
import os
import re
import shutil
import subprocess
import typing

from straightway.where import launched

DEPTH = 32              # frames of a stack
SECONDS = 30            # for one process
_AT_ONCE = 8
_THREAD = re.compile(r"^Thread (\d+) \(")
_FRAME = re.compile(r"^#(\d+)\s+(?:0x[0-9a-f]+ in )?([^\s(]+)[^(]*\(.*?\)?"
                    r"(?: at (.+?):(\d+)| from (\S+))?\s*$")
_CALL = re.compile(r"P?(MPI_[A-Z]\w*)$|p?(mpi_[a-z]\w*?)_{0,2}(?:f08\w*)?$")
_WRAPPER = re.compile(r"/(mpi4py/|libmpi|libpmpi|libmpifort)|/MPI\.")
_REFUSED = re.compile(r"ptrace: (.*)|Could not attach to process", re.I)
_SCOPE = "/proc/sys/kernel/yama/ptrace_scope"


@dataclasses.dataclass
class Thread:
    number: int
    call: str               # MPI_Recv; "" for none
    place: str              # its caller, or the innermost line of the program


@dataclasses.dataclass
class Process:
    pid: int
    rank: typing.Optional[int]
    threads: list
    why: str = ""           # why nothing is known


class Frame(typing.NamedTuple):
    function: str
    file: str
    line: int
    module: str

    @property
    def label(self):
        if self.file:
            return f"{self.function} ({os.path.basename(self.file)}:" \
                f"{self.line})"
        return self.function


# Processes ------------------------------------------------------------------

def uses_mpi(pid, proc="/proc"):
    """Whether a process has loaded an MPI library."""
    try:
        with open(f"{proc}/{pid}/maps", encoding="utf-8",
                  errors="replace") as file:
            return bool(re.search(r"/libmpi(ch|_abi)?\.so", file.read()))
    except OSError:
        return False


def candidates(pid, table):
    """The MPI processes at or below a process, but for launchers."""
    return [one for one in launched.below(pid, table)
            if not table.get(one, (0, "", ""))[1].startswith(
                launched.LAUNCHERS) and uses_mpi(one)]


# Stacks ---------------------------------------------------------------------

def stacks(text):
    """{thread's number: [Frame, ...], innermost first} of gdb's output."""
    found, frames = {}, None
    for line in text.splitlines():
        thread = _THREAD.match(line)
        if thread:
            frames = found.setdefault(int(thread[1]), [])
            continue
        frame = _FRAME.match(line)
        if frame:
            if frames is None:
                frames = found.setdefault(1, [])
            frames.append(Frame(frame[2], frame[3] or "", int(frame[4] or 0),
                                frame[5] or ""))
    return found


def _name(function):
    """MPI_Recv, of MPI_Recv, PMPI_Recv, mpi_recv_ and their kin; or ""."""
    found = _CALL.match(function)
    if not found:
        return ""
    if found[1]:
        return found[1]
    return "MPI_" + found[2][4:].capitalize()


def of_stack(number, frames):
    """The Thread of a stack: its innermost MPI call, and the first frame
    outside of the MPI."""
    at = next((i for i, f in enumerate(frames) if _name(f.function)), None)
    if at is None:
        own = next((f for f in frames if f.file
                    and not f.file.startswith(("../sysdeps", "./"))), None)
        own = own or (frames[0] if frames else None)
        return Thread(number, "", own.label if own else "")
    call = _name(frames[at].function)
    outside = [f for f in frames[at + 1:] if not _name(f.function)
               and not _WRAPPER.search(f.module)
               and not f.function.startswith(("sw_", "__pyx_"))]
    return Thread(number, call, outside[0].label if outside else "")


def _ask(words, seconds):
    """(what a program prints, why it printed nothing)"""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, text=True,
                              errors="replace", capture_output=True,
                              timeout=seconds)
    except FileNotFoundError:
        return "", f"{words[0]} is missing"
    except subprocess.TimeoutExpired:
        return "", f"{words[0]} gave no answer within {seconds} s"
    except OSError as error:
        return "", f"{words[0]}: {error.strerror}"
    return done.stdout + done.stderr, ""


def _python(pid):
    """The innermost line of Python that py-spy tells of a process, or ""."""
    tool = shutil.which("py-spy")
    if not tool:
        return ""
    try:
        if "python" not in os.path.basename(os.readlink(f"/proc/{pid}/exe")):
            return ""
    except OSError:
        return ""
    text, _ = _ask([tool, "dump", "--pid", str(pid)], SECONDS)
    found = re.search(r"^Thread.*MainThread.*\n\s+(\S+ \([^)]*\))", text,
                      re.M) or re.search(r"^\s{4}(\S+ \([^)]*\))", text, re.M)
    return found[1] if found else ""


def look(pid, gdb="gdb"):
    """The Process of a pid."""
    rank = launched.rank_of(pid)
    text, why = _ask([gdb, "-p", str(pid), "-batch", "-nx", "-ex",
                      f"thread apply all bt {DEPTH}"], SECONDS)
    refused = _REFUSED.search(text)
    found = stacks(text)
    if not found:
        why = why or ("the system refuses to let gdb attach: "
                      + (refused[1] or "") if refused else
                      "gdb tells no stack").strip(": ")
        return Process(pid, rank, [], why)
    threads = [of_stack(n, frames) for n, frames in sorted(found.items())]
    # Helper threads of the MPI and of the system say nothing.
    threads = [t for t in threads if t.call or t.number == 1]
    line = _python(pid)
    if line and threads:
        threads[0].place = line
    return Process(pid, rank, threads)


def every(pids):
    """The Processes of some pids, in the order of ranks."""
    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(look, pids))
    return sorted(found, key=lambda p: (
        p.rank if p.rank is not None else 1 << 30, p.pid))


def remedy():
    """A sentence on what mends a refusal of the system."""
    try:
        with open(_SCOPE, encoding="ascii") as file:
            scope = file.read().strip()
    except OSError:
        scope = "0"
    if scope != "0":
        return f"Yama allows no other process to attach ({_SCOPE} is " \
            f"{scope}). Root can allow it: sysctl kernel.yama.ptrace_scope=0."
    return "The processes must be of the same user, and a container needs " \
        "--cap-add SYS_PTRACE."


# Groups ---------------------------------------------------------------------

def rows(found):
    """[(call, place, processes)]: those in the same place together."""
    groups = {}
    for process in found:
        for thread in process.threads:
            groups.setdefault((thread.call, thread.place), []).append(process)
    return sorted(((call, place, those)
                   for (call, place), those in groups.items()),
                  key=lambda row: (-len(row[2]), row[2][0].pid))
