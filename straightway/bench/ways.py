"""The file of ways: which way of a collective wins, over nodes and on one.

src/coll/ways.h describes the file, and the library reads it. This module
writes it.
"""

import contextlib
import fcntl
import os
import pathlib

from straightway import files
from straightway.bench import medians
from straightway.errors import UserError
from straightway.machine import nodes

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
    return nodes.ways()


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


def by_class(operation, chosen, ranks):
    """[(bytes, way)] of [(size of a cell, its way)]: the way from each size
    on. A class between two measured sizes goes as the nearer."""
    measured = sorted((_class(signature_bytes(operation, size, ranks)), way)
                      for size, way in chosen)
    found = []
    for number in range(CLASSES):
        _, way = min(measured, key=lambda one: abs(one[0] - number))
        if not found or found[-1][1] != way:
            found.append((1 << number - 1 if number else 0, way))
    return found


def steps(cells, ranks):
    """[(bytes, way)] of one collective's cells over nodes."""
    operation = cells[0]["operation"]
    if operation == "barrier":
        return [(0, best(cells[0]))]
    if operation in UNSIZED:
        return [(0, best_of_all(cells))]
    return by_class(operation, [(c["size"], best(c)) for c in cells], ranks)


def line(name, chosen):
    """A collective's line in the file, of [(bytes, way)]."""
    return " ".join([name, *(f"{size}:{way}" for size, way in chosen)])


def lines(cells, ranks):
    """{collective: its line} of the cells that have all ways."""
    found = {}
    for name in dict.fromkeys(c["operation"] for c in cells):
        mine = [c for c in cells if c["operation"] == name
                and all(c.get(way) for way in WAYS)]
        if mine and not name.startswith("neighbor_"):
            found[name] = line(name, steps(mine, ranks))
    return found


def entry_head(start):
    """The first line of the entry for the run that began so."""
    nodes = start["nodes"]
    most = max(nodes.count(node) for node in set(nodes))
    return (f"[{start['host']} {start['transport']} "
            f"nodes={len(set(nodes))} ranks={most}]")


def near_head(host, ranks, machine):
    """The first line of an entry of one node."""
    return f"[{host} shm nodes=1 ranks={ranks} machine={machine}]"


def entries(text):
    """{first line: (what stands behind it, {first word: line})} of a file."""
    found = {}
    at = None
    for row in text.splitlines()[1:]:
        code, _, about = row.partition("#")
        words = code.split()
        if row.startswith("["):
            _, at = found.setdefault(" ".join(words), (about.strip(), {}))
        elif words and at is not None:
            at[words[0]] = row
    return found


def merged(text, head, fresh, about=None):
    """The file's text with these lines in the entry `head`; other entries
    stay. So do the entry's lines of other collectives, unless `about`
    describes it anew."""
    blocks = entries(text)
    old_about, rows = blocks.get(head, ("", {}))
    blocks[head] = (old_about, {**rows, **fresh}) if about is None else \
        (about, fresh)
    out = [HEAD, "# written by straightway"]
    for name, (said, rows) in blocks.items():
        out += ["", f"{name} # {said}" if said else name, *rows.values()]
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


def write(file, head, fresh, about=None):
    """Put an entry into the file. A reader sees the old file or the new one,
    even when this process is killed."""
    file = pathlib.Path(os.path.realpath(file))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _alone(file.parent):
            text = merged(read(file), head, fresh, about)
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
