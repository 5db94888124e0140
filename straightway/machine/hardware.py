"""The hardware, and the system's limits on it: no figure means anything
without their description."""

import datetime
import os
import pathlib
import platform
import re
import time

from straightway import __version__


def text(path, default=""):
    """The text of a small file of /sys or /proc, stripped."""
    try:
        return pathlib.Path(path).read_text(errors="replace").strip()
    except OSError:
        return default


def cpu_model():
    found = re.search(r"^(?:model name|Model|CPU part)\s*:\s*(.*)$",
                      text("/proc/cpuinfo"), re.M)
    return found.group(1) if found else platform.machine()


def affinity():
    return sorted(os.sched_getaffinity(0))


def cores():
    """Cores (not hardware threads) among the processors of this process."""
    base = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
    return len({text(base.format(cpu), str(cpu)) for cpu in affinity()})


def cores_of(part):
    """Cores of this process in its largest "numa" domain or "package"."""
    groups = {}
    for cpu in affinity():
        base = f"/sys/devices/system/cpu/cpu{cpu}"
        if part == "numa":
            nodes = sorted(pathlib.Path(base).glob("node[0-9]*"))
            key = nodes[0].name if nodes else ""
        else:
            key = text(f"{base}/topology/physical_package_id")
        core = text(f"{base}/topology/thread_siblings_list", str(cpu))
        groups.setdefault(key, set()).add(core)
    return max(map(len, groups.values()), default=1)


def caches():
    """{"L1 data": "48K", ...} of the first processor of this process."""
    found = {}
    base = f"/sys/devices/system/cpu/cpu{affinity()[0]}/cache"
    for folder in sorted(pathlib.Path(base).glob("index*")):
        kind = text(folder / "type")
        level = text(folder / "level")
        if kind == "Instruction" or not level:
            continue
        name = f"L{level}" + (" data" if kind == "Data" else "")
        found[name] = {"size": text(folder / "size"),
                       "shared_by": text(folder / "shared_cpu_list")}
    return found


def selected(path):
    """The word in brackets: "always [madvise] never" -> madvise."""
    found = re.search(r"\[(\w+)\]", text(path))
    return found.group(1) if found else None


def governor():
    return text(f"/sys/devices/system/cpu/cpu{affinity()[0]}"
                "/cpufreq/scaling_governor") or None


def cgroup_files(name):
    """The values of a cgroup file, from this process's cgroup up to the root.
    """
    found = re.search(r"^0::(.*)$", text("/proc/self/cgroup"), re.M)
    if not found:
        return []
    folder = pathlib.Path("/sys/fs/cgroup" + found.group(1))
    values = []
    for place in [folder, *folder.parents]:
        if not str(place).startswith("/sys/fs/cgroup"):
            break
        value = text(place / name)
        if value:
            values.append(value)
    return values


def cpu_quota():
    """Processors' worth of time that the cgroup grants, or None."""
    quotas = []
    for value in cgroup_files("cpu.max"):
        quota, period = (value.split() + ["100000"])[:2]
        if quota != "max":
            quotas.append(int(quota) / int(period))
    old = text("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
    if old and int(old) > 0:
        period = text("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
        quotas.append(int(old) / int(period))
    return min(quotas, default=None)


def memory_limit():
    """Bytes that the cgroup grants, or None."""
    limits = [int(v) for v in cgroup_files("memory.max") if v != "max"]
    old = text("/sys/fs/cgroup/memory/memory.limit_in_bytes")
    if old and int(old) < 1 << 60:
        limits.append(int(old))
    return min(limits, default=None)


def memory_total():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def describe():
    """The description of the machine, for a report's JSON."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc)
                .isoformat(timespec="seconds"),
        "host": platform.node(),
        "system": platform.platform(),
        "kernel": platform.release(),
        "cpu": cpu_model(),
        "architecture": platform.machine(),
        "processors": affinity(),
        "processors_online": text("/sys/devices/system/cpu/online"),
        "cores": cores(),
        "caches": caches(),
        "governor": governor(),
        "cpu_quota": cpu_quota(),
        "memory": memory_total(),
        "memory_limit": memory_limit(),
        "load": os.getloadavg()[0],
        "shmem_huge_pages": selected(
            "/sys/kernel/mm/transparent_hugepage/shmem_enabled"),
        "huge_pages": selected(
            "/sys/kernel/mm/transparent_hugepage/enabled"),
        "straightway": __version__,
    }


# A busy machine -------------------------------------------------------------

def processor_time(stat=None):
    """Seconds so far in which the processors of this process worked for other
    processes; None where the system has no figure. Time that a hypervisor gave
    to others counts as worked."""
    mine = {f"cpu{n}" for n in affinity()}
    ticks = None
    for line in (text("/proc/stat") if stat is None else stat).splitlines():
        name, *times = line.split()
        if name in mine and len(times) >= 8:
            user, nice, system, _, _, _, _, steal = map(int, times[:8])
            ticks = (ticks or 0) + user + nice + system + steal
    if ticks is None:
        return None
    own = os.times()
    return ticks / os.sysconf("SC_CLK_TCK") - own.user - own.system


def others(seconds):
    """The number of cores that other processes use, over so many seconds in
    which none of ours runs. 0.0 where the system has no figure.

    (A load average includes our own runs of the last minutes.)
    """
    before, then = processor_time(), time.monotonic()
    time.sleep(seconds)
    after, now = processor_time(), time.monotonic()
    if before is None or after is None or now <= then:
        return 0.0
    return max(0.0, (after - before) / (now - then))


def is_busy(load, cores, ranks=0):
    """Whether other processes wanted to run beside our ranks, at the end of a
    run of some minutes. The load includes the ranks."""
    return load > max(cores, ranks) + 1


def doubts(about, ranks):
    """Sentences on the times of a run with so many ranks, on a machine that
    describe() has described."""
    if not is_busy(about["load"], about["cores"], ranks):
        return []
    return [f"This machine was busy (load {about['load']:.1f} on "
            f"{about['cores']} cores): the measured times are too long."]
