"""No arrow runs back: what the files of a folder include or import, against
the list of arrows that lies in it.

    arrows.py FOLDER

FOLDER is src, where #include "..." counts, or a Python package, where imports
of its own modules do. A room is a folder; a module that lies beside the
package's folders is a room of its own.

The script prints each include and import that FOLDER/arrows.txt does not allow,
and each room that it does not name. It also prints modules that import each
other in a circle. In each case the exit status is 1.
"""
import ast
import pathlib
import re
import sys


def read_allowed(path):
    """{room: rooms and patterns that it may include}, in the list's order. A
    line that begins with a blank goes on with the one before. ValueError: a
    line is none, or a room stands there twice, or one may include a room that
    does not stand above it."""
    allowed, room = {}, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.partition("#")[0].rstrip()
        if not line:
            continue
        if line[0].isspace() and room:
            rooms = line
        else:
            room, colon, rooms = line.partition(":")
            if not colon or room in allowed:
                raise ValueError(f"{path}:{number}: {line}")
            allowed[room] = []
        for word in rooms.split():
            if word != "-" and not any(is_allowed([word], above)
                                       for above in allowed):
                raise ValueError(f"{path}:{number}: no {word} above")
            allowed[room] += [word] if word != "-" else []
    return allowed


def is_allowed(rooms, other):
    return any(other == room or room.endswith("*") and (
        other == room[:-1] or other.startswith(room[:-1] + "/"))
        for room in rooms)


def room_of(path, src):
    """The folder of a file; of a module beside the folders, its name."""
    folder = path.parent.relative_to(src)
    if path.suffix == ".py" and not folder.parts and path.stem != "__init__":
        return path.stem
    return str(folder)


# What a file asks for ---------------------------------------------------------

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


def module_file(package, name):
    """The file of a dotted name, or of the module that holds it; None where it
    is not of the package."""
    words = name.split(".")
    while words and words[0] == package.name:
        place = package.parent.joinpath(*words)
        for path in (place / "__init__.py",
                     place.parent / (words[-1] + ".py")):
            if path.is_file():
                return path
        words.pop()
    return None


def names_of(node, path, package):
    """The dotted names that a statement imports, in full."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    words = list(path.relative_to(package.parent).parts[:-node.level]) \
        if node.level else []
    words += [node.module] if node.module else []
    return [".".join([*words, alias.name]) for alias in node.names]


def imports(package):
    """(file, line, imported file) of a package's modules."""
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(), str(path))):
            for name in names_of(node, path, package):
                other = module_file(package, name)
                if other and other != path:
                    yield path, node.lineno, other


def circle(edges):
    """Files of which each imports the next, and the last the first; or None.
    `edges`: {file: the files that it imports}."""
    done, way = set(), []

    def walk(path):
        if path in way:
            return way[way.index(path):]
        if path in done:
            return None
        way.append(path)
        found = next(filter(None, map(walk, sorted(edges.get(path, ())))), None)
        way.pop()
        done.add(path)
        return found

    return next(filter(None, map(walk, sorted(edges))), None)


# What is wrong ----------------------------------------------------------------

def runs_back(src, found, verb):
    """Those of (file, line, other file) that the list does not allow."""
    allowed, listed = read_allowed(src / "arrows.txt"), f"{src.name}/arrows.txt"
    for path, number, other in found:
        here, there = room_of(path, src), room_of(other, src)
        where = f"{path.relative_to(src.parent)}:{number}"
        if here not in allowed:
            yield f"{where}: {listed} has no room {here}"
        elif here != there and not is_allowed(allowed[here], there):
            yield f"{where}: {here} may not {verb} {there} ({listed})"


def wrong(src):
    """What runs back, as lines of text."""
    yield from runs_back(src, includes(src), "include")
    found, edges = list(imports(src)), {}
    yield from runs_back(src, found, "import")
    for path, _, other in found:
        edges.setdefault(path, set()).add(other)
    modules = circle(edges)
    if modules:
        yield "a circle of imports: " + ", ".join(
            str(path.relative_to(src.parent)) for path in modules)


def main(src):
    found = list(wrong(pathlib.Path(src).resolve()))
    for line in found:
        print(line, file=sys.stderr)
    if found:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
