"""The ways over several nodes: which wins, and the file that says so.

src/coll/span_ways.h describes the file, and the library reads it. This module
writes it.
"""

import contextlib
import fcntl
import os
import pathlib

from straightway import files
from straightway.bench import medians
from straightway.errors import UserError

WAYS = ("host", "leaders", "lanes")     # the simplest first
HEAD = "straightway ways 1"
# A way must win by so much against each that is simpler.
MARGIN = 1.05
# A choice for all sizes must lose nowhere by more than noise.
LOSS = 0.95
CLASSES = 32
# The members of these know no common size: one way serves all sizes.
UNSIZED = ("gatherv", "scatterv")


def path():
    """The file that `straightway run` reads."""
    given = os.environ.get("STRAIGHTWAY_WAYS")
    if given:
        return pathlib.Path(given)
    config = os.environ.get("XDG_CONFIG_HOME") or \
        os.path.expanduser("~/.config")
    return pathlib.Path(config, "straightway", "ways")


def signature_bytes(operation, size, ranks):
    """The bytes by which the members choose, of a cell of this size."""
    return size * ranks if operation.startswith("reduce_scatter") else size


def best(cell):
    """The way of a cell; a way must beat each simpler one by the margin."""
    chosen = "host"
    for way in WAYS[1:]:
        if cell[way] and cell[chosen]["median"] \
                > MARGIN * cell[way]["median"]:
            chosen = way
    return chosen


def best_of_all(cells):
    """One way for all cells."""
    chosen = "host"
    for way in WAYS[1:]:
        gains = [c[chosen]["median"] / c[way]["median"] for c in cells]
        if medians.geometric_mean(gains) > MARGIN and min(gains) >= LOSS:
            chosen = way
    return chosen


def _class(size):
    return min(size.bit_length(), CLASSES - 1)


def steps(cells, ranks):
    """[(bytes, way)] of one collective's cells: the way from each size on. A
    class between two measured sizes goes as the nearer."""
    operation = cells[0]["operation"]
    if operation == "barrier":
        return [(0, best(cells[0]))]
    if operation in UNSIZED:
        return [(0, best_of_all(cells))]
    measured = sorted((_class(signature_bytes(operation, c["size"], ranks)),
                       best(c)) for c in cells)
    found = []
    for number in range(CLASSES):
        _, way = min(measured, key=lambda one: abs(one[0] - number))
        if not found or found[-1][1] != way:
            found.append((1 << number - 1 if number else 0, way))
    return found


def lines(cells, ranks):
    """{collective: its line} of the cells that have all ways."""
    found = {}
    for name in dict.fromkeys(c["operation"] for c in cells):
        mine = [c for c in cells if c["operation"] == name
                and all(c.get(way) for way in WAYS)]
        if mine and not name.startswith("neighbor_"):
            found[name] = " ".join([name, *(
                f"{size}:{way}" for size, way in steps(mine, ranks))])
    return found


def entry_head(start):
    """The first line of the entry for the run that began so."""
    nodes = start["nodes"]
    most = max(nodes.count(node) for node in set(nodes))
    return (f"[{start['host']} {start['transport']} "
            f"nodes={len(set(nodes))} ranks={most}]")


def merged(text, head, fresh):
    """The file's text with these lines in the entry `head`; lines of other
    collectives and other entries stay."""
    blocks = {}
    at = None
    for line in text.splitlines()[1:]:
        words = line.split("#")[0].split()
        if line.startswith("["):
            at = blocks.setdefault(" ".join(words), {})
        elif words and at is not None:
            at[words[0]] = line
    blocks.setdefault(head, {}).update(fresh)
    out = [HEAD, "# written by straightway bench collectives --tune"]
    for name, rows in blocks.items():
        out += ["", name, *rows.values()]
    return "\n".join(out) + "\n"


@contextlib.contextmanager
def _alone(folder):
    """Hold the folder's lock: two commands may write at once."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # A file system without locks: the later writer wins.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def read(file):
    """The file's text, or that of an empty one. UserError: it is another kind
    of file, or cannot be read."""
    try:
        text = pathlib.Path(file).read_text(encoding="utf-8")
    except FileNotFoundError:
        return HEAD
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: "
                        f"{getattr(error, 'strerror', 'no text')}", 1) \
            from None
    if text.partition("\n")[0].strip() != HEAD:
        raise UserError(f"{file}: its first line is not \"{HEAD}\"\n  remove "
                        "it, or name another file with STRAIGHTWAY_WAYS", 1)
    return text


def write(file, head, fresh):
    """Put an entry into the file. A reader sees the old file or the new one,
    even when this process is killed."""
    file = pathlib.Path(os.path.realpath(file))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _alone(file.parent):
            text = merged(read(file), head, fresh)
            draft = files.draft(file)
            try:
                with open(draft, "w", encoding="utf-8") as out:
                    out.write(text)
                    out.flush()
                    os.fsync(out.fileno())
                os.replace(draft, file)
            except BaseException:
                os.unlink(draft)
                raise
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}", 1) from None
