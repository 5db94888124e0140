"""A node as hwloc describes it: the XML of lstopo, of hwloc 1.x to 3.

The objects' sets of processors make the tree, not the order of the elements:
the versions put NUMA domains at different places. The reader passes over kinds
that the tree does not have (Group, Die, L1iCache, Misc).
"""

import re
import shutil
import subprocess
import xml.parsers.expat

from straightway.errors import UserError
from straightway.machine import processors
from straightway.machine.readers import text_of, wrong
from straightway.machine.tree import (GPU, MEMORY, NETWORK, Crossing, Device,
                                      Place, name_cores, nest, place_devices)

_TOOLS = ("lstopo-no-graphics", "lstopo")
_KINDS = {"Package": "package", "Socket": "package", "NUMANode": "numa",
          "Core": "core", "PU": "thread", "Cache": "cache"}
_PCI_KINDS = {"02": NETWORK, "03": GPU, "12": GPU}
# What osdev_type says: a number of hwloc 1 and 2, and bits of hwloc 3.
_OS_KINDS = {1: GPU, 2: NETWORK, 3: NETWORK, 5: GPU}
_OS_GPUS, _OS_NETWORKS = 0b001100, 0b110000
# Screens of servers' management controllers: ASPEED, Matrox.
_SCREENS = ("[1a03:", "[102b:")
_OTHER = "  let Linux describe this machine: --sysfs"
_FIX = "write it anew: lstopo --of xml FILE.xml"


class _Reader:
    """Takes the elements of one file."""

    def __init__(self, path):
        self.path = path
        self.parser = xml.parsers.expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.node, self.places = None, []
        self.devices = []       # [(Device, processors near it)]
        self.memory = 0         # bytes of domains that are memory alone
        self.stack = []         # of objects: (attributes, what they made)
        self.version = None     # of the file, once it has begun
        self.lines = {}         # of places, by id
        self.kinds = []         # of cores, slowest first: [words, processors]

    def _wrong(self, what, line=None):
        return wrong(self.path, line or self.parser.CurrentLineNumber, what,
                     _FIX)

    def read(self, text):
        try:
            self.parser.Parse(text.encode(), True)
        except xml.parsers.expat.ExpatError as error:
            raise self._wrong("no XML: " + xml.parsers.expat.ErrorString(
                error.code), error.lineno) from None
        if self.node is None:
            raise self._wrong("no Machine in it")
        if not any(place.kind == "thread" for place in self.places):
            raise self._wrong("the Machine has no PU")
        try:
            nest(self.node, self.places)
        except Crossing as error:
            raise self._wrong(str(error), self.lines[id(error.place)]) \
                from None
        name_cores(self.node, [
            (about.get("CoreType") or " ".join(filter(None, (
                f"kind {number}", about.get("FrequencyMaxMHz", "") and
                about["FrequencyMaxMHz"] + " MHz"))), cpus)
            for number, (about, cpus) in enumerate(self.kinds)])
        self.node.memory = self.memory + sum(
            place.memory for place in self.places if place.kind == "numa")
        for device, _ in self.devices:
            if device.kind == GPU:
                device.name = device.name or device.address
        # An adapter without a name serves no rank here: a virtual function.
        place_devices(self.node, [(device, near) for device, near
                                  in self.devices if device.name])
        return self.node

    # Elements ---------------------------------------------------------------

    def _start(self, element, attributes):
        if element == "topology":
            self.version = attributes.get("version", "1")
        elif self.version is None:
            raise self._wrong(f"<{element}> outside <topology>: no file of "
                              "lstopo")
        elif element == "object":
            if not attributes.get("type"):
                raise self._wrong("an object without type")
            self.stack.append((attributes, self._make(attributes)))
        elif element == "cpukind":
            self.kinds.append(({}, self._cpus(attributes)))
        elif element == "info" and self.stack:
            self._inform(attributes.get("name"), attributes.get("value", ""))
        elif element == "info" and self.kinds:
            self.kinds[-1][0][attributes.get("name")] = attributes.get("value")

    def _end(self, element):
        if element == "object":
            self.stack.pop()

    def _make(self, attributes):
        """The Place or Device of an object; None for other kinds."""
        kind = attributes["type"]
        if kind == "Machine":
            return self._machine(attributes)
        if re.fullmatch(r"L\d+Cache", kind):
            return self._place("cache", attributes)
        if kind in _KINDS:
            return self._place(_KINDS[kind], attributes)
        if kind == "PCIDev":
            return self._adapter(attributes)
        if kind == "OSDev":
            self._name_device(attributes)
        return None

    def _number(self, attributes, name):
        text = attributes.get(name) or "0"
        if not text.isdigit():
            raise self._wrong(f"{name}=\"{text[:40]}\" is no number")
        return int(text)

    def _cpus(self, attributes, name="cpuset"):
        try:
            return processors.parse_mask(attributes.get(name) or "0x0")
        except ValueError as error:
            raise self._wrong(f"{name}: {error}") from None

    def _machine(self, attributes):
        if self.node is not None:
            raise self._wrong("a second Machine: one file describes one node")
        self.node = Place("node", cpus=self._cpus(attributes))
        if not self.node.cpus:
            raise self._wrong("a Machine without processors (cpuset)")
        return self.node

    def _place(self, kind, attributes):
        if self.node is None:
            raise self._wrong(f"{attributes['type']} outside a Machine")
        cpus = self._cpus(attributes) & self.node.cpus
        place = Place(kind, self._number(attributes, "os_index"), cpus=cpus)
        if kind == "cache":
            place.level = self._number(attributes, "depth")
            place.size = self._number(attributes, "cache_size")
            if attributes.get("cache_type") == "2":     # instructions
                return None
        if kind == "numa":
            place.memory = self._number(attributes, "local_memory")
            if not cpus and place.memory and not self._cpus(
                    attributes, "complete_cpuset"):
                return self._memory(place)
        elif "cpuset" not in attributes:
            raise self._wrong(f"{attributes['type']} without cpuset")
        if cpus:    # lstopo may name places without processors that it may use
            self.places.append(place)
            self.lines[id(place)] = self.parser.CurrentLineNumber
        return place

    # Devices ----------------------------------------------------------------

    def _memory(self, place):
        """A NUMA domain without processors: hwloc 1 has such memory (MCDRAM, of
        GPUs) in the object around its processors; hwloc 2 gives it theirs."""
        self.memory += place.memory
        self.devices.append((Device(MEMORY, place.title(), size=place.memory),
                             self._near()))

    def _near(self):
        """The processors of the object around a device."""
        return next((self._cpus(attributes) for attributes, _
                     in reversed(self.stack) if attributes.get("cpuset")),
                    self.node.cpus)

    def _adapter(self, attributes):
        about = attributes.get("pci_type", "")
        kind = _PCI_KINDS.get(about[:2])
        if not kind or self.node is None or \
                any(word in about for word in _SCREENS):
            return None
        bridges = tuple(
            above.get("pci_busid") or above.get("bridge_pci", "")
            for above, _ in self.stack if above["type"] == "Bridge")
        device = Device(kind, "", address=attributes.get("pci_busid", ""),
                        bridges=bridges)
        self.devices.append((device, self._near()))
        return device

    def _device_kind(self, number):
        if self.version.startswith(("1", "2")):
            return _OS_KINDS.get(number)
        return GPU if number & _OS_GPUS else \
            NETWORK if number & _OS_NETWORKS else None

    def _name_device(self, attributes):
        """An OSDev names the adapter around it, or is a device by itself."""
        name = attributes.get("name", "")
        kind = self._device_kind(self._number(attributes, "osdev_type"))
        around = self.stack[-1][1] if self.stack else None
        if isinstance(around, Device):
            if kind == around.kind:
                around.name += ", " * bool(around.name) + name
        elif kind and self.node is not None and not name.startswith(
                "opencl") and not any(above["type"] == "PCIDev"
                                      for above, _ in self.stack):
            self.devices.append((Device(kind, name), self._near()))

    def _inform(self, name, value):
        made = self.stack[-1][1]
        if made and made is self.node and name == "HostName":
            self.node.name = value
        elif isinstance(made, Place) and name == "CPUModel":
            made.name = " ".join(value.split())
        elif isinstance(made, Device) and name == "PCIDevice":
            made.model = value
        elif name == "GPUModel" and len(self.stack) > 1 and \
                isinstance(self.stack[-2][1], Device):
            self.stack[-2][1].model = value


def parse(text, path):
    """The Place of a node from the text of a file."""
    return _Reader(path).read(text)


def read(path):
    return parse(text_of(path), path)


# This machine ---------------------------------------------------------------

def tool():
    """The path of lstopo, or None."""
    return next(filter(None, map(shutil.which, _TOOLS)), None)


def ask(program):
    """The Place of this node, from lstopo. UserError when it fails."""
    try:
        done = subprocess.run([program, "--of", "xml", "--whole-system"],
                              capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{program}: {error}\n{_OTHER}", 1) from None
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip()
        raise UserError(f"{program} --of xml exited with status "
                        f"{done.returncode}\n{why}\n{_OTHER}", 1)
    return parse(done.stdout.decode(errors="replace"), program)
