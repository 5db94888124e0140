"""A machine on a terminal: its domains and devices, its network, the ranks on
it, and what was measured."""

import dataclasses
import re

from straightway import units
from straightway.reporters import topo_words as words
from straightway.reporters.doctor_terminal import put_check
from straightway.reporters.page import Page

_LEAST = 16             # columns for a list that goes on below


def _parts(text, room):
    """Lines of a list, which end after its commas."""
    lines = [""]
    for word in re.findall(r"[^,\s]*[,\s]+|[^,\s]+", text):
        if lines[-1] and len((lines[-1] + word).rstrip()) > room:
            lines.append("")
        lines[-1] += word
    return [line.rstrip() for line in lines]


def _table(page, table):
    """A table whose last column goes on below where it has no room."""
    columns, rows = table
    room = page.width - sum(max(map(len, cells)) + 1 for cells in
                            list(zip(columns, *rows))[:-1])
    if room >= _LEAST:
        rows = [[*(row[:-1] if i == 0 else [""] * len(row[:-1])), part]
                for row in rows for i, part in enumerate(
                    _parts(row[-1], room))]
    numbers = [all(row[i].replace(".", "").isdigit() for row in table[1])
               for i in range(len(columns))]
    page.table([(name, "right" if number else "fill"
                 if i == len(columns) - 1 else "left")
                for i, (name, number) in enumerate(zip(columns, numbers))],
               rows)


def _switches(page, place, indent=0):
    """A line for each switch; nodes that follow each other share one."""
    inner = [part for part in place.parts if part.kind == "switch"]
    nodes = [part for part in place.parts if part.kind == "node"]
    if nodes:
        page.names("nodes ", words.names_of(nodes), indent)
    for part in inner:
        page.paragraph(f"switch {part.name or part.number}: "
                       + words.many(len(part.all("node")), "node"),
                       indent=indent)
        _switches(page, part, indent + 2)


def _fits(page, table):
    columns, rows = table
    return sum(max(map(len, cells)) + 1
               for cells in zip(columns, *rows)) <= page.width + 1


def _devices(page, table):
    """What is near to what is never cut: models go below, or each device has
    its own lines."""
    columns, rows = table
    if not _fits(page, table) and "model" in columns:
        at = columns.index("model")
        models = {}
        for row in rows:
            if row[at]:
                models.setdefault(row[at], []).append(row[0])
        small = (columns[:at] + columns[at + 1:],
                 [row[:at] + row[at + 1:] for row in rows])
        if _fits(page, small):
            _table(page, small)
            for model, names in models.items():
                page.paragraph(f"{model}: {', '.join(names)}", "dim")
            return
    if _fits(page, table):
        _table(page, table)
        return
    for row in rows:
        page.line(row[0])
        for name, text in zip(columns[1:], row[1:]):
            if text:
                page.paragraph(f"{name}: {text}", indent=4)


def _nodes(page, found):
    for nodes in words.survey.kinds_of_nodes(found.tree):
        node = nodes[0]
        if not node.parts:
            continue
        alike = "" if len(nodes) == 1 else f": {len(nodes)} alike"
        page.heading((node.name or "a node") + alike, words.summary(node))
        for text in filter(None, (words.model(node), words.own_caches(node)
                                  and f"each core: {words.own_caches(node)}")):
            page.line(text, "dim")
        for text in words.core_sentences(node):
            page.paragraph(text, "dim")
        here = [r for r in found.ranks if r.node == node.number]
        _table(page, words.domain_rows(node, here if len(nodes) == 1 else []))
        if words.survey.devices(node):
            page.line()
            _devices(page, words.device_rows(node))


def _matrix(page, cores):
    columns = ["from \\ to"] + [str(n) for n in cores.numbers]
    rows = [[str(a)] + ["" if t is None else f"{t:.0f}" for t in row]
            for a, row in zip(cores.numbers, cores.round_trip)]
    width = sum(max(len(row[i]) for row in [columns, *rows]) + 1
                for i in range(len(columns)))
    if width <= page.width:
        page.line("round trip of a cache line between cores, ns", "dim")
        page.table([(name, "right") for name in columns], rows)
    else:
        page.paragraph("The page is too narrow for the matrix: --html draws "
                       "it, --json has its figures.", "dim")


def _measured(page, found):
    if found.cores:
        page.heading("Between cores", f"measured in "
                     f"{units.duration(1e9 * found.seconds)}")
        for sentence in words.sentences(found.cores):
            page.paragraph(sentence)
        if len(found.cores.numbers) > 1:
            _matrix(page, found.cores)
    if found.pairs:
        page.heading("Between nodes", "messages of their first ranks")
        _table(page, words.pair_rows(found))


def render(found, out):
    """`found`: a Survey."""
    page = Page(out)
    if found.tree.kind != "node":
        page.line(words.whole_title(found), "bold")
    page.line(f"described by {found.source}", "dim")
    for note in found.tree.notes:
        page.paragraph(note, "yellow")
    if found.allowed is not None and found.tree.cpus & ~found.allowed:
        page.paragraph("This process may use the processors "
                       f"{words.processors.text(found.allowed)} alone.")
    if found.tree.all("switch"):
        page.heading("Network")
        _switches(page, found.tree)
    _nodes(page, found)
    if found.ranks:
        page.heading(words.many(len(found.ranks), "rank"), found.mpi)
        _table(page, words.rank_rows(found))
        group = None
        for check in found.checks:
            if check.group != group:
                group = check.group
                page.heading(group[0].upper() + group[1:])
            put_check(page.console, dataclasses.asdict(check), 0)
    _measured(page, found)
