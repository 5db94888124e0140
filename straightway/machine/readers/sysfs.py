"""A node as Linux describes it in /sys.

Every domain has a list of its processors there. Those lists alone make the
tree; the ids beside them may be missing, or repeat in every package.

The preloaded library has a reader of its own (src/topology/sysfs.c). It reads
some ten small files of its process, and neither devices nor copies.
"""

import os
import pathlib
import platform
import re

from straightway.errors import UserError
from straightway.machine import hardware, processors, tree_slots
from straightway.machine.tree import (GPU, NETWORK, Crossing, Device, Place,
                                      name_cores, nest, place_devices)

ROOT = "/sys"

_PCI = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")
_GPU_CLASSES = ("0x03", "0x12")     # displays, accelerators
# Screens of servers' management controllers: ASPEED, Matrox.
_SCREENS = ("0x1a03", "0x102b")
_VENDORS = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel",
            "0x15b3": "Mellanox", "0x14e4": "Broadcom", "0x1d0f": "Amazon",
            "0x1af4": "virtio", "0x17db": "Cray", "0x1137": "Cisco"}


class _Files:
    """Small files below a root."""

    def __init__(self, root):
        self.root = pathlib.Path(root)

    def text(self, path):
        return hardware.text(self.root / path)

    def cpus(self, path, read=processors.parse):
        """The set in a file; empty where the file is missing."""
        text = self.text(path).partition("\0")[0].strip()
        try:
            return read(text) if text else 0
        except ValueError as error:
            raise UserError(
                f"{self.root / path}: line 1: {error}\n  copy /sys anew",
                1) from None

    def domain(self, *stems):
        """The set of the first of these domains that the system has: its list,
        or the mask of older systems."""
        for stem in stems:
            for end, read in (("_list", processors.parse),
                              ("list", processors.parse),
                              ("", processors.parse_mask),
                              ("_map", processors.parse_mask),
                              ("map", processors.parse_mask)):
                found = self.cpus(stem + end, read)
                if found:
                    return found
        return 0

    def online(self):
        base = "devices/system/cpu"
        return self.cpus(f"{base}/online") or sum(
            1 << int(name[3:]) for name in self.names(base, r"cpu\d+")
            if self.text(f"{base}/{name}/online") != "0")

    def bytes(self, path):
        """32768K; 0 where the file is missing."""
        found = re.fullmatch(r"(\d+)([KMG]?)", self.text(path))
        return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[
            found[2]] if found else 0

    def names(self, path, pattern):
        """The entries that match, by their numbers."""
        try:
            found = os.listdir(self.root / path)
        except OSError:
            return []
        return sorted((name for name in found if re.fullmatch(pattern, name)),
                      key=lambda name: [int(n) for n in
                                        re.findall(r"\d+", name)])


def _processor_places(files, cpu, seen):
    """The core, package and caches of a processor that no earlier one had.
    `seen`: the processors whose domain of a name is known."""
    base = f"devices/system/cpu/cpu{cpu}"

    def new(name, *stems):
        if seen.get(name, 0) >> cpu & 1:
            return 0
        cpus = files.domain(*(f"{base}/{stem}" for stem in stems))
        seen[name] = seen.get(name, 0) | cpus
        return cpus

    yield Place("thread", cpu, cpus=1 << cpu)
    yield Place("core", cpus=new("core", "topology/core_cpus",
                                 "topology/thread_siblings"))
    yield Place("package", cpus=new("package", "topology/package_cpus",
                                    "topology/core_siblings"))
    for index in files.names(f"{base}/cache", r"index\d+"):
        cpus = new(index, f"cache/{index}/shared_cpu")
        level = files.text(f"{base}/cache/{index}/level")
        if cpus and level.isdigit() and \
                files.text(f"{base}/cache/{index}/type") != "Instruction":
            yield Place("cache", cpus=cpus, level=int(level), size=files.bytes(
                f"{base}/cache/{index}/size"))


def _numa_places(files):
    """NUMA domains; one without processors counts to the nearest one's. A
    system without NUMA is one domain."""
    base, found = "devices/system/node", {}
    for name in files.names(base, r"node\d+"):
        number = int(name[4:])
        total = re.search(r"MemTotal:\s*(\d+) kB",
                          files.text(f"{base}/{name}/meminfo"))
        found[number] = Place("numa", number,
                              cpus=files.domain(f"{base}/{name}/cpu"),
                              memory=int(total[1]) << 10 if total else 0)
    order = sorted(found)
    for number, place in found.items():
        if not place.cpus:
            far = [int(n) for n in files.text(
                f"{base}/node{number}/distance").split() if n.isdigit()]
            near = [n for _, n in sorted(zip(far, order)) if found[n].cpus]
            place.cpus = found[near[0]].cpus if near else 0
    return [place for place in found.values() if place.cpus] or [
        Place("numa", cpus=files.online())]


def _core_kinds(files, cpus):
    """[(name, processors)]: Intel's fast and slow cores have performance units
    of their own; Arm's kernel says how much each processor can do."""
    kinds = [(name, files.cpus(f"devices/cpu_{unit}/cpus")) for unit, name in
             (("core", "performance"), ("atom", "efficiency"))]
    if any(found for _, found in kinds):
        return [(name, found) for name, found in kinds if found]
    able = {}
    for cpu in processors.members(cpus):
        text = files.text(f"devices/system/cpu/cpu{cpu}/cpu_capacity")
        able[text] = able.get(text, 0) | 1 << cpu
    return [(f"capacity {text}", found) for text, found in able.items()
            if text.isdigit()]


# Devices --------------------------------------------------------------------

def _addresses(path):
    """A device's bus and the addresses on the way to it."""
    real = os.path.realpath(path)
    bus = re.search(r"/(pci[0-9a-f]{4,}:[0-9a-f]{2})/", real)
    return ((bus[1],) if bus else ()) + tuple(_PCI.findall(real))


def _model(files, folder, address):
    text = hardware.text(f"/proc/driver/nvidia/gpus/{address}/information") \
        if str(files.root) == ROOT else ""
    model = re.search(r"^Model:\s*(.*)$", text, re.M)
    vendor = files.text(folder / "vendor")
    return model[1] if model else _VENDORS.get(vendor, "")


def _device(files, kind, names, folder):
    *bridges, address = _addresses(folder) or ("",)
    # A virtual function is no device of its own where the physical one shows.
    if (folder / "physfn").exists():
        return None
    pci = files.root / "bus/pci/devices" / address
    near = files.cpus(pci / "local_cpulist") if address else 0
    return Device(kind, ", ".join(names) or address,
                  _model(files, pci, address) if address else "",
                  address=address, bridges=tuple(bridges)), near


def _devices(files):
    """[(Device, processors near it)]; no processors: near none of them."""
    found, adapters = [], {}
    for kind in ("infiniband", "net"):
        base = files.root / "class" / kind
        for name in sorted(os.listdir(base)) if base.is_dir() else ():
            if (base / name / "device").exists():
                folder = pathlib.Path(os.path.realpath(base / name / "device"))
                adapters.setdefault(folder, []).append(name)
    for folder, names in adapters.items():
        found.append(_device(files, NETWORK, names, folder))
    base = files.root / "bus/pci/devices"
    for address in sorted(os.listdir(base)) if base.is_dir() else ():
        folder = base / address
        if files.text(folder / "class").startswith(_GPU_CLASSES) and \
                files.text(folder / "vendor") not in _SCREENS:
            cards = files.names(folder / "drm", r"card\d+")
            found.append(_device(files, GPU, cards, folder))
    return list(filter(None, found))


def read(root=ROOT):
    """The Place of the node whose /sys lies at `root`, or at its sys/, where
    hwloc-gather-topology puts it."""
    files = _Files(root)
    if not files.online() and (gathered := _Files(
            os.path.join(root, "sys"))).online():
        files = gathered
    cpus = files.online()
    here = str(root) == ROOT
    if not cpus and here:
        # No tables at all: the processors of this process.
        cpus = sum(1 << cpu for cpu in hardware.affinity())
    if not cpus:
        raise UserError(f"{root}: there is no devices/system/cpu\n"
                        "  give a copy of /sys, or what "
                        "hwloc-gather-topology has made", 1)
    places, seen = _numa_places(files), {}
    for cpu in processors.members(cpus):
        places += _processor_places(files, cpu, seen)
    for place in places:
        place.cpus &= cpus
        if place.kind == "package" and here:
            place.name = hardware.cpu_model()
    node = Place("node", name=platform.node() if here else
                 pathlib.Path(os.path.abspath(root)).name, cpus=cpus,
                 memory=sum(p.memory for p in places if p.kind == "numa"))
    try:
        nest(node, [place for place in places if place.cpus])
    except Crossing as error:
        raise UserError(f"{root}: {error}\n  its tables contradict each other",
                        1) from None
    name_cores(node, _core_kinds(files, cpus))
    place_devices(node, _devices(files))
    return node


def slots():
    """The Slots of this machine: cores that this process may use."""
    return tree_slots.slots(read()).of_cpus(hardware.affinity())
