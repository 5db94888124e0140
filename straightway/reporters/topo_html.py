"""A machine as one HTML page: the drawing, domains and devices, ranks with what
is likely a mistake, and heat maps of what was measured."""

from markupsafe import Markup

from straightway.machine import survey
from straightway.reporters import heat, topo_drawing, topo_words as words
from straightway.reporters.html_parts import Cell, Column, Table, page

# The drawing's width beside the margin, and on a narrow screen (topo.css).
_WIDEST = {"broad": 930, "narrow": 360}
_SQUARE = 80            # a core's square in a heat map, at most
STYLES = ("page.css", "topo.css")


def _table(name, table):
    columns, rows = table
    return Table(name, [Column(c, "text") for c in columns],
                 [[Cell(text, text) for text in row] for row in rows])


def _picture(found):
    return Markup("".join(_drawing(found, name, widest)
                          for name, widest in _WIDEST.items()))


def _drawing(found, name, widest):
    width, height, lines = topo_drawing.drawn(found, widest)
    return (
        f'<svg class="machine {name}" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'role="img" aria-label="the machine">{"".join(lines)}</svg>')


def _nodes(found):
    for nodes in survey.kinds_of_nodes(found.tree):
        node = nodes[0]
        if node.parts:
            here = [r for r in found.ranks if r.node == node.number] \
                if len(nodes) == 1 else []
            yield {"title": words.names_of(nodes),
                   "summary": words.summary(node), "model": words.model(node),
                   "own": words.own_caches(node),
                   "domains": _table(f"domains{node.number}",
                                     words.domain_rows(node, here)),
                   "devices": _table(f"devices{node.number}",
                                     words.device_rows(node))}


def _map(one):
    """A Map with its squares and labels in percent of its side."""
    def at(ticks):
        return [(round(100 * (i + 0.5) / one.count, 2), label)
                for i, label in ticks]
    return {"name": one.name, "count": one.count,
            "widest": _SQUARE * one.count, "keys": list(one.keys()),
            "paths": Markup("".join(one.paths())),
            "x": at(one.ticks()), "y": at(one.ticks())}


def _figures(cores):
    """Every figure, of so many cores as a page has room for."""
    if not 2 <= len(cores.processors) <= words.MOST:
        return None
    columns = ["from \\ to", *map(str, cores.numbers)]
    return [_table(name, (columns, [
        [str(a), *("" if v is None else f"{v:.3g}" for v in row)]
        for a, row in zip(cores.numbers, matrix)]))
        for name, matrix in (("round-trip", cores.round_trip),
                             ("read", cores.read))]


def _facts(found):
    facts = [("Described by", found.source)]
    if found.machine:
        facts.append(("Kernel", found.machine["kernel"]))
    if found.allowed is not None and found.tree.cpus & ~found.allowed:
        facts.append(("This process may use the processors",
                      words.processors.text(found.allowed)))
    if found.mpi:
        facts.append(("MPI", found.mpi))
    return facts


def _cards(found):
    cores = sum(len(node.all("core")) for node in found.tree.all("node"))
    if cores:
        yield f"{cores:,}", "cores", "of all nodes"
    if found.ranks:
        doubts = sum(check.status != "ok" for check in found.checks)
        yield f"{len(found.ranks):,}", "ranks", (
            words.many(doubts, "doubt") + " about their places"
            if doubts else "their places look right")
    times = [t for row in found.cores.round_trip for t in row if t] \
        if found.cores else []
    if times:
        yield f"{max(times) / min(times):.1f}x", "from near to far", (
            "the longest round trip of a cache line against the shortest")


def _links(found):
    links = [("machine", "Machine")]
    if found.ranks:
        links.append(("ranks", "Ranks"))
    if found.cores:
        links.append(("cores", "Between cores"))
    if found.pairs:
        links.append(("pairs", "Between nodes"))
    return links


def context(found):
    nodes = found.tree.all("node")
    return {
        "title": words.whole_title(found), "kind": "Straightway topo",
        "command": words.summary(nodes[0]) if len(nodes) == 1 else
        words.many(len(nodes), "node"), "links": _links(found),
        "facts": _facts(found), "notes": found.tree.notes,
        "cards": list(_cards(found)), "picture": _picture(found),
        "nodes": list(_nodes(found)),
        "ranks": _table("ranks", words.rank_rows(found))
        if found.ranks else None, "checks": found.checks,
        "cores": found.cores,
        "said": words.sentences(found.cores) if found.cores else [],
        "maps": [_map(one) for one in heat.maps(found.cores)]
        if found.cores else [],
        "figures": _figures(found.cores) if found.cores else None,
        "pairs": _table("pairs", words.pair_rows(found))
        if found.pairs else None, "version": found.version}


def render(found, out):
    """`found`: a Survey."""
    out.write(page("topo.html", context(found), STYLES))
