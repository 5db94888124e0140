"""Lines and innermost functions out of DWARF, in Python.

A compilation unit's top entry gives the addresses that it covers. `lines`
walks once through all entries of the units that hold a wanted address. Entries
nest, so the last one in the file's order that covers an address is the
innermost.

It walks some 50,000 entries a second. A unit of C++ has as many, so there is a
limit on the time. The walk keeps no entries: a large program's would take
gigabytes.
"""

import bisect
import os
import time

from elftools.dwarf.die import DIE
from elftools.dwarf.ranges import BaseAddressEntry
from elftools.elf.elffile import ELFFile

_FUNCTIONS = ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine")


def _ranges(dwarf, die):
    """(low, high) of an entry; none for a declaration."""
    attributes = die.attributes
    base = 0
    top = die.cu.get_top_DIE().attributes.get("DW_AT_low_pc")
    if top:
        base = top.value
    if "DW_AT_ranges" in attributes:
        entries = dwarf.range_lists().get_range_list_at_offset(
            attributes["DW_AT_ranges"].value, die.cu)
        for entry in entries:
            if isinstance(entry, BaseAddressEntry):
                base = entry.base_address
                continue
            shift = 0 if getattr(entry, "is_absolute", False) else base
            yield entry.begin_offset + shift, entry.end_offset + shift
    elif "DW_AT_low_pc" in attributes and "DW_AT_high_pc" in attributes:
        low, high = attributes["DW_AT_low_pc"], attributes["DW_AT_high_pc"]
        relative = high.form != "DW_FORM_addr" and "addrx" not in high.form
        yield low.value, high.value + (low.value if relative else 0)


def _covered(offsets, low, high):
    """The sorted offsets within a range. Ranges at 0 are code that the linker
    has dropped."""
    if not low:
        return []
    return offsets[bisect.bisect_left(offsets, low):
                   bisect.bisect_left(offsets, high)]


def _text(value):
    return value.decode(errors="replace") if isinstance(value, bytes) \
        else value


def _name(die):
    """The linkage name of an entry, or of the entry that it is an instance of.

    Without one, the plain name of an inlined function, and None for others:
    the symbol table has their full names.
    """
    inlined = die.tag == "DW_TAG_inlined_subroutine"
    plain = None
    for _ in range(8):
        attributes = die.attributes
        for key in ("DW_AT_linkage_name", "DW_AT_MIPS_linkage_name"):
            if key in attributes:
                return _text(attributes[key].value)
        if inlined and plain is None and "DW_AT_name" in attributes:
            plain = _text(attributes["DW_AT_name"].value)
        origin = [k for k in ("DW_AT_abstract_origin", "DW_AT_specification")
                  if k in attributes]
        if not origin:
            break
        die = die.get_DIE_from_attribute(origin[0])
    return plain


def _entries(dwarf, unit):
    """All entries of a unit, in their order. It forgets each after use (those
    of unit.iter_DIEs() stay)."""
    at = unit.cu_die_offset
    end = unit.cu_offset + unit["unit_length"] + \
        unit.structs.initial_length_field_size()
    while at < end:
        die = DIE(unit, dwarf.debug_info_sec.stream, at)
        yield die
        at += die.size


def _functions(dwarf, unit, offsets, deadline):
    """{offset: name}, or None when there is no time to find them."""
    innermost = {}
    for i, die in enumerate(_entries(dwarf, unit)):
        if i % 1000 == 0 and time.monotonic() > deadline:
            return None
        if die.tag in _FUNCTIONS:
            for low, high in _ranges(dwarf, die):
                for offset in _covered(offsets, low, high):
                    innermost[offset] = die
    return {offset: _name(die) for offset, die in innermost.items()}


def _file(program, unit, index):
    """A file of the line table, as an absolute path where possible."""
    header = program.header
    top = unit.get_top_DIE().attributes
    first = 0 if header.version >= 5 else 1
    entry = header.file_entry[index - first]
    parts = [_text(entry.name)]
    if entry.dir_index >= first:
        parts.insert(0, _text(header.include_directory[entry.dir_index
                                                       - first]))
    if "DW_AT_comp_dir" in top:
        parts.insert(0, _text(top["DW_AT_comp_dir"].value))
    return os.path.normpath(os.path.join(*parts))


def _rows(dwarf, unit, offsets):
    """{offset: (file, line)}"""
    program = dwarf.line_program_for_CU(unit)
    found, previous, start = {}, None, None
    for entry in program.get_entries() if program else ():
        state = entry.state
        if state is None:
            continue
        if previous is None:
            start = state.address
        elif start:
            for offset in _covered(offsets, previous.address, state.address):
                found[offset] = previous.file, previous.line
        previous = None if state.end_sequence else state
    return {offset: (_file(program, unit, index), line)
            for offset, (index, line) in found.items() if line}


def _units(dwarf, offsets):
    """(unit, the offsets that it covers)"""
    for unit in dwarf.iter_CUs():
        die = unit.get_top_DIE()
        if die.tag != "DW_TAG_partial_unit":
            mine = [o for low, high in _ranges(dwarf, die)
                    for o in _covered(offsets, low, high)]
            if mine:
                yield unit, sorted(mine)


def lines(path, offsets, seconds):
    """{offset: (function or None, file, line)}, without those that it had no
    time for."""
    deadline = time.monotonic() + seconds
    found = {}
    elf = ELFFile.load_from_path(path)
    try:
        dwarf = elf.get_dwarf_info(follow_links=False)
        for unit, mine in _units(dwarf, sorted(offsets)):
            functions = _functions(dwarf, unit, mine, deadline)
            if functions is None:
                break
            for offset, (file, line) in _rows(dwarf, unit, mine).items():
                found[offset] = functions.get(offset), file, line
    finally:
        elf.close()
    return found
