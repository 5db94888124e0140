"""Test nodes: namespaces of this machine that cannot outlive their run.

    supervisor, which the caller started
        |  its death kills the keeper
    keeper: process 1 of a pid namespace; its death kills all below
        |-- holder of node0 (network, mounts, host name, IPC)
        |       eth0 --- bridge in the keeper's network
        |-- holder of node1
        |       eth0 --- the same bridge
        '-- the launcher, on node0; its agents enter the other nodes

Nothing here has a name outside: no entry of `ip netns`, no interface of the
machine, no file, no mount. The kernel ends a namespace with its last process.
So SIGKILL of the supervisor removes everything.

All nodes share the pid namespace: a rank could reach the memory of a rank on
another node. On a cluster it cannot, so a test must not pass by it.
"""

import contextlib
import ctypes
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

AGENT = pathlib.Path(__file__).resolve().parent / "agent"
TOOLS = ("ip", "nsenter", "taskset")
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SCRATCH = "/dev/shm/.node"      # a node's own folder, where its TMPDIR is
GRACE = 2                       # seconds from SIGTERM to SIGKILL
REFUSED, OUT_OF_TIME = 77, 124  # exit statuses

_NEWNS, _NEWUTS, _NEWIPC = 0x00020000, 0x04000000, 0x08000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_NODE = _NEWNS | _NEWUTS | _NEWIPC | _NEWNET
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The machine does not allow test nodes; the text says what is missing."""


def refuse(why):
    """Say why there are no nodes; return the exit status."""
    print(f"nodes: not possible here: {why}", file=sys.stderr)
    return REFUSED


# Calls of the system ----------------------------------------------------------

def _unshare(flags, what):
    if _libc.unshare(flags):
        raise Refused(f"{what}: {os.strerror(ctypes.get_errno())}")


def _mount(source, target, kind=None, flags=0):
    words = [os.fsencode(it) if it else None for it in (source, target, kind)]
    if _libc.mount(*words, ctypes.c_ulong(flags), None):
        raise Refused(f"mounting {kind or source} on {target}: "
                      f"{os.strerror(ctypes.get_errno())}")


def _ip(*lines):
    """Run lines of `ip` in this process's network."""
    done = subprocess.run(["ip", "-batch", "-"], text=True, capture_output=True,
                          input="".join(f"{line}\n" for line in lines))
    if done.returncode:
        raise Refused(f"ip: {' '.join(done.stderr.split())}")


# The supervisor ---------------------------------------------------------------

def supervise(keep):
    """Run keep() as process 1 of a new pid namespace, and return its status.

    keep() dies with this process, and all its descendants die with keep().
    Refused where the system allows no such namespace.
    """
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        raise Refused(f"no {' nor '.join(missing)} (iproute2, util-linux)")
    _unshare_pids()
    sys.stdout.flush()
    theirs, ours = os.pipe()
    keeper = os.fork()
    if keeper == 0:
        os.close(ours)
        _be_keeper(keep, theirs)
    told = []

    def tell(number, _):
        """Pass a signal on; what it does not end in time, SIGKILL does."""
        late = number == signal.SIGALRM
        with contextlib.suppress(ProcessLookupError):
            os.kill(keeper, signal.SIGKILL if late else signal.SIGTERM)
        if not told:
            signal.setitimer(signal.ITIMER_REAL, 2 * GRACE)
        told.append(number)

    for number in (*ENDING, signal.SIGALRM):
        signal.signal(number, tell)
    status = _exit_status(os.waitpid(keeper, 0)[1])
    return 128 + told[0] if told else status


def _unshare_pids():
    """Give the next child a pid namespace. An ordinary user needs a user
    namespace for that, and is root in it."""
    user, group = os.geteuid(), os.getegid()
    if not _libc.unshare(_NEWPID):
        return
    _unshare(_NEWUSER | _NEWPID, "a user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"),
                       ("gid_map", f"0 {group} 1")):
        try:
            pathlib.Path(f"/proc/self/{name}").write_text(text)
        except OSError as why:
            raise Refused(f"a user namespace: {why}") from None


def _be_keeper(keep, supervisor):
    status = 1
    for number in ENDING:
        signal.signal(number, lambda number, _: os._exit(128 + number))
    try:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # An end of file: the supervisor died before the line above.
        if not select.select([supervisor], [], [], 0)[0]:
            status = keep()
    except Refused as why:
        status = refuse(why)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _exit_status(waited):
    """A status as the shell has it, from that of waitpid."""
    code = os.waitstatus_to_exitcode(waited)
    return code if code >= 0 else 128 - code


# The nodes --------------------------------------------------------------------

class Node:
    """A test node: its name, its cores, and the process that holds it."""

    def __init__(self, index, cores):
        self.name = f"node{index}"
        self.address = f"10.1.{index // 200}.{index % 200 + 1}"
        self.cores = cores
        self.holder = None
        self._ours, self._holders = socket.socketpair()

    def start(self):
        """Start the holder, which makes the namespaces; the link comes later.
        """
        self.holder = os.fork()
        if self.holder == 0:
            self._ours.close()
            self._hold()
        self._holders.close()

    def tell(self):
        """Let the holder take its next step."""
        self._ours.send(b"go")

    def wait(self):
        """Wait until the holder has done its present step."""
        text = self._ours.recv(4096)
        if text != b"done":
            raise Refused(f"{self.name}: {text.decode() or 'it has died'}")

    def _hold(self):
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)
        try:
            _unshare(_NODE, "namespaces")
            socket.sethostname(self.name)
            _mount("tmpfs", "/dev/shm", "tmpfs")
            os.mkdir(SCRATCH)
            _mount_sys()
            self._holders.send(b"done")
            self._holders.recv(16)
            _ip("link set lo up", "link set eth0 addrgenmode none",
                f"addr add {self.address}/16 dev eth0", "link set eth0 up")
            self._holders.send(b"done")
            while True:
                signal.pause()
        except (Refused, OSError) as why:
            self._holders.send(str(why).encode())
        finally:
            os._exit(1)

    def bytes(self, since=None):
        """Return the bytes that the node's interface received and sent."""
        text = pathlib.Path(f"/proc/{self.holder}/net/dev").read_text()
        figures = text.partition("eth0:")[2].split()
        now = {"rx_bytes": int(figures[0]), "tx_bytes": int(figures[8])}
        return {key: n - since[key] for key, n in now.items()} if since else now

    def write(self, name, text):
        """Write a file into the node's own folder."""
        folder = pathlib.Path(f"/proc/{self.holder}/root{SCRATCH}")
        (folder / name).write_text(text)

    def files(self):
        """Return the names in the node's /dev/shm, but for its own folder's."""
        there = os.listdir(f"/proc/{self.holder}/root/dev/shm")
        return sorted(set(there) - {os.path.basename(SCRATCH)})


def _mount_sys():
    """Mount /sys anew: it shows the network of the process that mounts it. The
    control groups stay where they were."""
    groups = None
    with contextlib.suppress(OSError):
        groups = os.open("/sys/fs/cgroup", os.O_PATH)
    _mount("sysfs", "/sys", "sysfs")
    if groups is not None:
        with contextlib.suppress(Refused):
            _mount(f"/proc/self/fd/{groups}", "/sys/fs/cgroup",
                   flags=_MS_BIND | _MS_REC)
        os.close(groups)


def make(count, every_core=False):
    """Make test nodes, joined by a bridge; process 1 calls this."""
    cores = sorted(os.sched_getaffinity(0))
    nodes = [Node(i, cores if every_core else _share(cores, i, count))
             for i in range(count)]
    _unshare(_NODE, "namespaces")
    _mount("none", "/", flags=_MS_REC | _MS_PRIVATE)
    _mount("proc", "/proc", "proc")
    _mount("tmpfs", "/dev/shm", "tmpfs")
    _name(nodes)
    for node in nodes:
        node.start()
    for node in nodes:
        node.wait()
    _join(nodes)
    for node in nodes:
        node.tell()
    for node in nodes:
        node.wait()
    return nodes


def _share(cores, index, count):
    """The cores of one of `count` nodes: at least one."""
    if count > len(cores):
        return [cores[index % len(cores)]]
    return cores[index * len(cores) // count:(index + 1) * len(cores) // count]


def _name(nodes):
    """Give the nodes names, in an /etc/hosts that they alone see."""
    path = pathlib.Path("/dev/shm/hosts")
    path.write_text("127.0.0.1 localhost\n" + "".join(
        f"{node.address} {node.name}\n" for node in nodes))
    _mount(path, "/etc/hosts", flags=_MS_BIND)


def _join(nodes):
    """Join the nodes by a bridge, whose other ends are their eth0."""
    lines = ["link add bridge type bridge",
             "link set bridge addrgenmode none up"]
    for node in nodes:
        lines += [f"link add name {node.name} type veth "
                  f"peer name eth0 netns {node.holder}",
                  f"link set {node.name} addrgenmode none master bridge up"]
    _ip(*lines)


# A run ------------------------------------------------------------------------

def run(nodes, words, env, limit=None):
    """Run a command on the first node; return its status, and what cut it
    short, or None.

    After `limit` seconds, or at SIGTERM, the command gets SIGTERM. It has GRACE
    seconds to end.
    """
    env = {**env, "TMPDIR": SCRATCH, "TEST_NODES": " ".join(
        f"{node.name}={node.holder}:{','.join(map(str, node.cores))}"
        for node in nodes)}
    line = "exec " + " ".join("'" + str(word).replace("'", "'\\''") + "'"
                              for word in words)
    # An object that Python forgets may take the status before the loop below.
    started = subprocess.Popen([str(AGENT), nodes[0].name, line], env=env)
    job, told = started.pid, []

    def end(number, _):
        if told:
            raise TimeoutError
        told.append(number)
        signal.setitimer(signal.ITIMER_REAL, GRACE)
        with contextlib.suppress(ProcessLookupError):
            os.kill(job, signal.SIGTERM)

    # A terminal sends its signals to the command, too.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGHUP, lambda *_: None)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, limit or 0)
    try:
        ended, status = 0, 0
        while ended != job:
            ended, status = os.waitpid(-1, 0)   # orphans, too
        status = started.returncode = _exit_status(status)
    except TimeoutError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if not told:
        return status, None
    if told[0] == signal.SIGALRM:
        return OUT_OF_TIME, f"not finished after {limit:g} s"
    return 128 + told[0], "by a signal"


def left(nodes, patience=2):
    """Return what a run has left behind on the nodes, as lines of text.
    Processes have `patience` seconds to end."""
    end = time.monotonic() + patience
    while _processes(nodes) and time.monotonic() < end:
        time.sleep(0.02)
    return ([f"process {process}: {_command(process)}"
             for process in _processes(nodes)]
            + [f"/dev/shm/{name} on {node.name}"
               for node in nodes for name in node.files()])


def _processes(nodes):
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    known = {os.getpid(), *(node.holder for node in nodes)}
    return sorted({int(name) for name in os.listdir("/proc")
                   if name.isdigit()} - known)


def _command(process):
    try:
        text = pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return "?"
    return text.replace(b"\0", b" ").decode(errors="replace").strip()[:200]
