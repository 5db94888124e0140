"""A module as it lies on disk: is it the one that ran, where is its debug
information, which symbol holds an address.

Debug information may be split off (Debian, Fedora and many sites do it):

    DEBUG_FOLDER/.build-id/ab/cdef....debug     by the build id
    the name in .gnu_debuglink                  beside the module, in .debug/
                                                beside it, or in DEBUG_FOLDER
                                                at the module's path; its
                                                CRC-32 is in the section, too
"""

import bisect
import os
import re
import struct
import zlib

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection
from elftools.elf.segments import NoteSegment

DEBUG_FOLDERS = ("/usr/lib/debug",)
_SYMBOL = {True: struct.Struct("<IBBHQQ"), False: struct.Struct(">IBBHQQ")}
_CODE = (2, 10)         # STT_FUNC, STT_GNU_IFUNC
_GLOBAL = 1             # STB_GLOBAL


def build_id(elf):
    """In hexadecimal; "" where there is none."""
    parts = [s for s in elf.iter_segments() if isinstance(s, NoteSegment)] \
        or [s for s in elf.iter_sections() if isinstance(s, NoteSection)]
    for part in parts:
        for note in part.iter_notes():
            if note["n_type"] == "NT_GNU_BUILD_ID":
                return note["n_desc"]
    return ""


def _has_lines(elf):
    return any(elf.get_section_by_name(name) for name in
               (".debug_line", ".zdebug_line"))


def _crc(path):
    value = 0
    with open(path, "rb") as file:
        while True:
            piece = file.read(1 << 20)
            if not piece:
                return value
            value = zlib.crc32(piece, value)


def _functions(elf, name):
    """[(start, size, not global, name)] of a symbol table, sorted."""
    table = elf.get_section_by_name(name)
    if table is None or table["sh_type"] == "SHT_NOBITS":
        return []
    strings = elf.get_section(table["sh_link"])
    found = []
    for at, info, _, where, value, size in \
            _SYMBOL[elf.little_endian].iter_unpack(table.data()):
        if info & 15 in _CODE and where and value:
            found.append((value, size, info >> 4 != _GLOBAL, at))
    text = strings.data()
    return sorted((value, size, local, text[at:text.index(b"\0", at)].decode(
        errors="replace")) for value, size, local, at in found)


class Module:
    """A module that ran, by its path and build id. Raises where its file is
    missing, or is now another one without a debug file of the old one."""

    def __init__(self, path, wanted, debug_folders=DEBUG_FOLDERS):
        self._files = []
        self._folders = debug_folders
        self._symbols = None
        try:
            self._elf = self._open(path)
            here = build_id(self._elf) if self._elf else ""
            if wanted and here != wanted:
                self._elf = None
            self._debug, self.debug_path = self._split_off(
                path, wanted or here)
            if self._elf is not None and _has_lines(self._elf):
                self._debug, self.debug_path = self._elf, path
            if self._elf is None and self._debug is None:
                raise LookupError(path)
        except BaseException:
            self.__exit__()
            raise
        self.has_lines = self._debug is not None and _has_lines(self._debug)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for file in self._files:
            file.close()

    def _open(self, path):
        # A capture may name any file: a pipe would never end.
        if not os.path.isfile(path):
            return None
        try:
            file = open(path, "rb")
        except OSError:
            return None
        self._files.append(file)
        return ELFFile(file)

    def _split_off(self, path, wanted):
        """The debug file and its path, or (None, None)."""
        if re.fullmatch("[0-9a-f]{4,}", wanted):
            for folder in self._folders:
                name = os.path.join(folder, ".build-id", wanted[:2],
                                    wanted[2:] + ".debug")
                elf = self._open(name)
                if elf is not None and build_id(elf) == wanted:
                    return elf, name
        link = self._elf and self._elf.get_section_by_name(".gnu_debuglink")
        if not link:
            return None, None
        data = link.data()
        name = os.path.basename(os.fsdecode(data[:data.index(b"\0")]))
        crc, = struct.unpack("<I" if self._elf.little_endian else ">I",
                             data[-4:])
        beside = os.path.dirname(os.path.realpath(path))
        places = [beside, os.path.join(beside, ".debug"),
                  *(folder + beside for folder in self._folders)]
        for place in places:
            split = os.path.join(place, name)
            if os.path.isfile(split) and not os.path.samefile(split, path) \
                    and _crc(split) == crc:
                return self._open(split), split
        return None, None

    def _table(self):
        if self._symbols is None:
            self._symbols = []
            for elf, name in ((self._elf, ".symtab"),
                              (self._debug, ".symtab"),
                              (self._elf, ".dynsym")):
                self._symbols = elf and _functions(elf, name)
                if self._symbols:
                    break
            self._symbols = self._symbols or []
        return self._symbols

    def symbol(self, offset):
        """The function that holds an address, or None. Of several names it
        prefers a global one."""
        table = self._table()
        after = bisect.bisect_right(table, (offset, float("inf")))
        if not after:
            return None
        start = table[after - 1][0]
        first = bisect.bisect_left(table, (start,))
        names = [(local, name) for _, size, local, name
                 in table[first:after] if offset < start + size]
        return min(names)[1] if names else None
