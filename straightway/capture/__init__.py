"""Captures: what the ranks of a job have recorded, on the disk.

A capture file holds tables of numbers (file.py); a trace holds every call
(traces.py). Addresses get names (names.py), and procedures have classes
(procedures.py). Nothing here says what the numbers mean for a program: that
is `straightway.profile`.

    found = capture.read("app.8.4711.swcap")
"""

from straightway.capture.file import (
    MAGIC, NOBODY, Block, Line, Module, Symbol, append, is_bare,
    names_payload, pack, read, read_blocks, trace_blocks, unpack, write)

__all__ = [
    "MAGIC", "NOBODY", "Block", "Line", "Module", "Symbol", "append",
    "is_bare", "names_payload", "pack", "read", "read_blocks", "trace_blocks",
    "unpack", "write"]
