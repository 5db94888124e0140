"""Names of code addresses: function, file and line.

A frame gets a name only where the module on disk is the one that ran; the
build id decides, where the module has one. elf.py finds the file with the
debug information (the module, or a file split off from it), and names from
symbol tables. Lines and inlined functions come from, in this order:

    llvm-symbolizer     right and quick: a second for a large program
    Python (dwarf.py)   as right, but a second for each unit of C++
    GNU addr2line       quick, but it takes some inlined functions for those
                        that they are inlined in, and some headers for the
                        source that includes them

Each gets the addresses that those before it did not know, or had no time for.
All spell functions alike (names.py).

Nothing here fails: a missing name is left out.
"""

import collections
import time

from straightway.symbols import dwarf, tools
from straightway.symbols.elf import DEBUG_FOLDERS, Module
from straightway.symbols.names import readable

PATIENCE = 60           # seconds for one call of resolve(), roughly


def _ways():
    """(function, its part of the time)"""
    llvm, gnu = tools.llvm(), tools.gnu()
    return [way for way in ((llvm, 1), (dwarf.lines, .25 if gnu else 1),
                            (gnu, 1)) if way[0]]


def _lines(module, offsets, deadline):
    """{offset: (function or None, file, line)}"""
    found = {}
    for way, part in _ways():
        rest = [o for o in offsets if o not in found]
        left = deadline - time.monotonic()
        if not rest or left <= 0:
            break
        try:
            found.update(way(module.debug_path, rest, part * left))
        except Exception:   # no time, or a format unknown to it
            pass
    return found


def _of_module(path, build_id, offsets, deadline, debug_folders):
    """{offset: {"function": ..., "file": ..., "line": ...}}"""
    names = {}
    with Module(path, build_id, debug_folders) as module:
        found = {}
        if module.has_lines:
            found = _lines(module, offsets, deadline)
        for offset in offsets:
            function, file, line = found.get(offset, (None, None, None))
            function = function or module.symbol(offset)
            given = {"function": function and readable(function, file),
                     "file": file, "line": line}
            names[offset] = {k: v for k, v in given.items() if v}
    return names


def resolve(frames, debug_folders=DEBUG_FOLDERS, patience=PATIENCE):
    """Names for frames (module's path, its build id in hexadecimal or "",
    offset): a list, in their order, of {"function", "file", "line"}, each
    absent where unknown.

    An offset is an address in the call instruction, as in the module's symbol
    table. Of inlined calls the innermost function counts: the one that holds
    the call in the source.
    """
    deadline = time.monotonic() + patience
    wanted = collections.defaultdict(set)
    for path, build_id, offset in frames:
        wanted[path, build_id or ""].add(offset)
    known = {}
    for (path, build_id), offsets in wanted.items():
        try:
            known[path, build_id] = _of_module(
                path, build_id, sorted(offsets), deadline, debug_folders)
        except Exception:   # no such file, another one, no ELF, damaged
            known[path, build_id] = {}
    return [dict(known[path, build_id or ""].get(offset, {}))
            for path, build_id, offset in frames]
