"""Machines for tests: each is described once, and written as lstopo writes it
or as Linux shows it in /sys.

    EPYC = Machine(packages=2, numas=4, l3s=2, cores=4, threads=2)

Numbers count parts of the next larger part: 4 NUMA domains in a package, 2 L3
in each of these, 4 cores at each L3. With `apart` the system numbers first one
thread of every core and then the others, as on most servers.
"""

import dataclasses

from straightway.machine import processors

GIB = 1 << 30
L1, L2, L3 = 32 << 10, 1 << 20, 32 << 20


@dataclasses.dataclass
class Adapter:
    """A device of a NUMA domain, with the bridges above it."""

    kind: str               # gpu or network
    name: str
    address: str
    numa: int
    bridges: tuple = ()


@dataclasses.dataclass
class Machine:
    packages: int = 1
    numas: int = 1
    l3s: int = 1
    cores: int = 4
    threads: int = 1
    apart: bool = True
    l3_over_numa: bool = False      # one L3 for all domains of a package
    far_memory: int = 0             # NUMA domains without processors
    adapters: tuple = ()

    @property
    def count(self):
        """All cores."""
        return self.packages * self.numas * self.l3s * self.cores

    def core(self, number):
        """The processors of a core, as a set."""
        return sum(1 << (number + t * self.count if self.apart
                         else number * self.threads + t)
                   for t in range(self.threads))

    def groups(self, size):
        """Sets of the processors of so many cores in a row."""
        return [sum(self.core(c) for c in range(first, first + size))
                for first in range(0, self.count, size)]

    def places(self):
        """{kind: sets}"""
        numa = self.l3s * self.cores
        return {"package": self.groups(numa * self.numas),
                "numa": self.groups(numa),
                "L3": self.groups(numa * self.numas if self.l3_over_numa
                                  else self.cores),
                "L2": self.groups(1), "L1": self.groups(1),
                "core": self.groups(1)}


# lstopo's XML -----------------------------------------------------------------

def mask(cpus):
    words = []
    while cpus or not words:
        words.append(f"0x{cpus & 0xffffffff:08x}")
        cpus >>= 32
    return ",".join(reversed(words))


def _object(kind, number, cpus, **more):
    extra = "".join(f' {name}="{value}"' for name, value in more.items())
    return (f'<object type="{kind}" os_index="{number}" '
            f'cpuset="{mask(cpus)}"{extra}>')


def _io(adapter):
    lines = ['<object type="Bridge" bridge_type="0-1" '
             'bridge_pci="0000:[00-ff]">']
    lines += [f'<object type="Bridge" bridge_type="1-1" pci_busid="{bridge}">'
              for bridge in adapter.bridges]
    about, kind = {"gpu": ("0302 [10de:2330] [10de:16c1] a1", 5),
                   "network": ("0207 [15b3:101b] [15b3:0007] 00", 3)}[
                       adapter.kind]
    lines += [f'<object type="PCIDev" pci_busid="{adapter.address}" '
              f'pci_type="{about}">',
              f'<object type="OSDev" name="{adapter.name}" '
              f'osdev_type="{kind}"/>', "</object>"]
    return lines + ["</object>"] * (1 + len(adapter.bridges))


def xml(machine, name="alpha"):
    """The text that lstopo 2 writes: NUMA domains are the first elements of
    what they belong to."""
    places, everything = machine.places(), sum(machine.groups(machine.count))
    lines = ['<?xml version="1.0" encoding="UTF-8"?>',
             '<!DOCTYPE topology SYSTEM "hwloc2.dtd">',
             '<topology version="2.0">', _object("Machine", 0, everything),
             f'<info name="HostName" value="{name}"/>']

    def inside(kind, cpus):
        return [(i, c) for i, c in enumerate(places[kind]) if c & cpus == c]

    def core(number, cpus):
        yield _object("L2Cache", number, cpus, cache_size=L2, depth=2,
                      cache_type=0)
        yield _object("L1Cache", number, cpus, cache_size=L1, depth=1,
                      cache_type=1)
        yield _object("L1iCache", number, cpus, cache_size=L1, depth=1,
                      cache_type=2)
        yield _object("Core", number, cpus)
        for thread in processors.members(cpus):
            yield _object("PU", thread, 1 << thread)
            yield "</object>"
        yield from ["</object>"] * 4

    for number, package in enumerate(places["package"]):
        lines += [_object("Package", number, package),
                  '<info name="CPUModel" value="A  processor"/>']
        for i, numa in inside("numa", package):
            lines += [_object("NUMANode", i, numa, local_memory=16 * GIB),
                      "</object>"]
        for i, l3 in inside("L3", package):
            lines.append(_object("L3Cache", i, l3, cache_size=L3, depth=3,
                                 cache_type=0))
            for k, cpus in inside("core", l3):
                lines += core(k, cpus)
            lines.append("</object>")
        lines.append("</object>")
    for k in range(machine.far_memory):
        lines += [_object("NUMANode", len(places["numa"]) + k, everything,
                          local_memory=8 * GIB), "</object>"]
    for adapter in machine.adapters:
        lines += [_object("Group", 0, places["numa"][adapter.numa]),
                  *_io(adapter), "</object>"]
    return "\n".join([*lines, "</object>", "</topology>", ""])


# /sys -------------------------------------------------------------------------

def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


def sysfs(machine, root):
    """Write a copy of /sys, as far as a machine's description goes."""
    places = machine.places()
    system, every = root / "devices/system", sum(places["package"])
    _write(system / "cpu/online", processors.text(every))

    def around(cpu, kind):
        return processors.text(next(c for c in places[kind] if c >> cpu & 1))

    for cpu in processors.members(every):
        base = system / f"cpu/cpu{cpu}"
        _write(base / "topology/core_cpus_list", around(cpu, "core"))
        _write(base / "topology/package_cpus_list", around(cpu, "package"))
        for index, (kind, level, what, size) in enumerate((
                ("L1", 1, "Data", L1), ("L1", 1, "Instruction", L1),
                ("L2", 2, "Unified", L2), ("L3", 3, "Unified", L3))):
            cache = base / f"cache/index{index}"
            _write(cache / "level", level)
            _write(cache / "type", what)
            _write(cache / "size", f"{size >> 10}K")
            _write(cache / "shared_cpu_list", around(cpu, kind))
    domains = [*places["numa"], *[0] * machine.far_memory]
    for number, numa in enumerate(domains):
        base = system / f"node/node{number}"
        _write(base / "cpulist", processors.text(numa))
        size = 16 if numa else 8
        _write(base / "meminfo", f"Node {number} MemTotal: "
               f"{size * GIB >> 10} kB")
        _write(base / "distance", " ".join(
            "10" if other == number else "20"
            for other in range(len(domains))))
    _adapters(machine, root)
    return root


def _adapters(machine, root):
    """Devices below their bridges, with the links that lead to them."""
    for adapter in machine.adapters:
        numa = machine.places()["numa"][adapter.numa]
        folder = root.joinpath("devices", "pci0000:00", *adapter.bridges,
                               adapter.address)
        _write(folder / "local_cpulist", processors.text(numa))
        gpu = adapter.kind == "gpu"
        _write(folder / "class", "0x030200" if gpu else "0x020700")
        _write(folder / "vendor", "0x10de" if gpu else "0x15b3")
        link = root / "bus/pci/devices" / adapter.address
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(folder)
        if gpu:
            (folder / "drm" / adapter.name).mkdir(parents=True)
        else:
            place = root / "class/infiniband" / adapter.name
            place.mkdir(parents=True)
            (place / "device").symlink_to(folder)


# The machines ---------------------------------------------------------------

DESKTOP = Machine(cores=4, threads=2)
TWO_BY_FOUR = Machine(packages=2, cores=4)
# Eight caches of eight cores, each core with two threads, one domain.
CACHES = Machine(l3s=8, cores=8, threads=2)
# Two packages in halves (sub-NUMA clusters), whose L3 is the package's.
HALVES = Machine(packages=2, numas=2, cores=6, threads=2, l3_over_numa=True)
# Four domains a package, and memory without processors.
DOMAINS = Machine(packages=2, numas=4, l3s=2, cores=4, threads=2, far_memory=1)
GPUS = Machine(packages=2, cores=8, adapters=(
    Adapter("gpu", "card0", "0000:41:00.0", 0, ("0000:40:01.0",)),
    Adapter("network", "mlx5_0", "0000:42:00.0", 0, ("0000:40:01.0",)),
    Adapter("gpu", "card1", "0000:51:00.0", 0, ("0000:50:01.0",)),
    Adapter("gpu", "card2", "0000:c1:00.0", 1, ("0000:c0:01.0",)),
    Adapter("network", "mlx5_1", "0000:d1:00.0", 1, ("0000:d0:01.0",))))
ALL = {"desktop": DESKTOP, "two-by-four": TWO_BY_FOUR, "caches": CACHES,
       "halves": HALVES, "domains": DOMAINS, "gpus": GPUS}
