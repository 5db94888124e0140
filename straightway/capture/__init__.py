"""Captures: the ranks' records of a job, on the disk.

A capture file holds tables of numbers (file.py); a trace holds every call
(traces.py). names.py gives names to addresses, and procedures.py classes to
procedures. `straightway.profile` interprets the numbers; this package does
not.

    found = capture.read("app.8.4711.swcap")
"""

from straightway.capture.file import (
    MAGIC, NOBODY, Block, Line, Matched, Module, Symbol, append, is_bare,
    names_payload, pack, read, read_blocks, trace_blocks, unpack, write)

__all__ = [
    "MAGIC", "NOBODY", "Block", "Line", "Matched", "Module", "Symbol",
    "append", "is_bare", "names_payload", "pack", "read", "read_blocks",
    "trace_blocks", "unpack", "write"]
