"""Lines by llvm-symbolizer or addr2line: all addresses of a file at once.

Both print:

    0x0000000000001234
    innermost function
    file:line
    function that it is inlined in, and so on
"""

import functools
import os
import re
import shutil
import subprocess

_PLACE = re.compile(r"([^<>]+):([1-9]\d*)(?: \(.*\))?$")


def _parsed(text):
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if not line.startswith("0x") or i + 2 >= len(lines):
            continue
        function, place = lines[i + 1], _PLACE.match(lines[i + 2])
        # A name without a line is a guess from the symbol table.
        if place:
            yield int(line, 16), (
                None if function in ("", "??") else function,
                os.path.normpath(place.group(1)), int(place.group(2)))


def _ask(command, path, offsets, seconds):
    done = subprocess.run(
        [*command, "-e", path], text=True, errors="replace",
        input="".join(f"0x{o:x}\n" for o in offsets),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=seconds)
    return dict(_parsed(done.stdout))


def _tool(name, *options):
    """A function (path, offsets, seconds) -> {offset: (function, file, line)},
    or None where the tool is missing."""
    path = shutil.which(name)
    return path and functools.partial(_ask, [
        path, "--addresses", "--inlines", *options])


def llvm():
    return _tool("llvm-symbolizer", "--functions=linkage", "--no-demangle",
                 "--output-style=GNU")


def gnu():
    return _tool("addr2line", "--functions")
