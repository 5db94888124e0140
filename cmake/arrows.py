"""No arrow runs back: every #include "..." of src/ against src/arrows.txt.

    arrows.py SRC [STAMP]

Prints each include that the list does not allow, and each room that it does
not name; the exit status is then 1. Else STAMP is touched.
"""
import pathlib
import re
import sys


def read_allowed(path):
    """{room: rooms and patterns that it may include}, in the list's order.
    ValueError: a line is none, or a room stands there twice, or one may include
    a room that does not stand above it."""
    allowed = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        room, colon, rooms = line.partition(":")
        if not colon or room in allowed:
            raise ValueError(f"{path}:{number}: {line}")
        allowed[room] = [word for word in rooms.split() if word != "-"]
        for word in allowed[room]:
            if not any(is_allowed([word], above) for above in allowed):
                raise ValueError(f"{path}:{number}: no {word} above")
    return allowed


def is_allowed(rooms, other):
    return any(other == room or room.endswith("*") and (
        other == room[:-1] or other.startswith(room[:-1] + "/"))
        for room in rooms)


def includes(src):
    """(file, line, included file) of what lies in src."""
    for path in sorted(src.rglob("*")):
        if path.suffix not in (".c", ".h", ".inc", ".S"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            for folder in (path.parent, src) if found else ():
                other = (folder / found.group(1)).resolve()
                if other.is_file() and src in other.parents:
                    yield path, number, other
                    break


def wrong(src):
    """What runs back, as lines of text."""
    allowed = read_allowed(src / "arrows.txt")
    for path, number, other in includes(src):
        here, there = (str(it.parent.relative_to(src)) for it in (path, other))
        where = f"{path.relative_to(src.parent)}:{number}"
        if here not in allowed:
            yield f"{where}: src/arrows.txt has no room {here}"
        elif here != there and not is_allowed(allowed[here], there):
            yield f"{where}: {here} may not include {there} (src/arrows.txt)"


def main(src, stamp=None):
    found = list(wrong(pathlib.Path(src).resolve()))
    for line in found:
        print(line, file=sys.stderr)
    if found:
        return 1
    if stamp:
        pathlib.Path(stamp).touch()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
