"""Words and tables that the reporters of a machine share."""

from straightway import units
from straightway.machine import groups, job, processors, survey, tree
from straightway.machine.readers import hostlist
from straightway.ranges import ranges

# Figures of so many cores stand in a table; JSON has those of any number.
MOST = 32

# Kinds of places that cores may share, and their titles.
_KINDS = (("package", "package"), ("numa", "NUMA domain"),
          ("cache", "shared cache"))
_NAMES = {"gpu": "GPU ", "network": "network ", "memory": "memory of "}


def number_list(numbers):
    return str(ranges(numbers))


def many(count, noun):
    return f"{count:,} {noun}{'s' * (count != 1)}"


def core_kinds(node):
    """{name of a kind of core: its cores}; empty where all are alike."""
    found = {}
    for core in node.all("core"):
        if core.name:
            found.setdefault(core.name, []).append(core)
    return found


def core_sentences(node):
    """performance: cores 0-7, processors 0-15"""
    return [f"{name}: cores {number_list([c.number for c in cores])}, "
            f"processors {processors.text(sum(c.cpus for c in cores))}"
            for name, cores in core_kinds(node).items()]


def summary(node):
    """2 packages, 4 NUMA domains, 64 cores, 128 threads, 256 GiB"""
    found = tree.counts(node)
    kinds = ", ".join(f"{len(cores)} {name}"
                      for name, cores in core_kinds(node).items())
    parts = [many(found[kind], noun) + f" ({kinds})" * (
        kind == "core" and bool(kinds)) for kind, noun in (
        ("package", "package"), ("numa", "NUMA domain"), ("core", "core"),
        ("thread", "thread")) if found.get(kind)]
    if node.memory:
        parts.append(units.size(node.memory))
    return ", ".join(parts) or "nothing is known of its parts"


def model(node):
    """The name of the processors."""
    return next((p.name for p in node.all("package") if p.name), "")


def whole_title(found):
    top = found.tree
    if top.kind == "node":
        return top.name or "a node"
    nodes = many(len(top.all("node")), "node")
    return f"{nodes} under {top.name}" if top.name else nodes


def names_of(nodes):
    """tux[0-5],login1"""
    return hostlist.fold([node.name or str(node.number) for node in nodes])


def own_caches(node):
    """L1 32 KiB, L2 1 MiB: what each core has alone; of the first core."""
    found = []
    for path in node.paths("core"):
        found = [f"L{p.level} {units.size(p.size)}" if p.size
                 else f"L{p.level}" for p in path if p.kind == "cache"
                 and len(p.all("core")) == 1]
        break
    return ", ".join(reversed(found))


def _cell(path, kind):
    place = next((p for p in path if p.kind == kind and len(
        p.all("core")) > 1 or p.kind == kind != "cache"), None)
    if place is None:
        return ""
    if kind == "cache":
        size = f", {units.size(place.size)}" if place.size else ""
        return place.title() + size
    size = f", {units.size(place.memory)}" if place.memory else ""
    return f"{place.number}{size if kind == 'numa' else ''}"


def domain_rows(node, ranks=()):
    """(columns, rows) of a node's domains, and the ranks that may run there.
    """
    found = survey.domains(node)
    columns, rows = [], []
    for kind, title in _KINDS:
        if any(_cell(path, kind) for path, _ in found):
            columns.append((kind, title))
    for path, cores in found:
        cpus = sum(core.cpus for core in cores)
        row = [_cell(path, kind) for kind, _ in columns]
        row += [number_list([core.number for core in cores]),
                processors.text(cpus)]
        if ranks:
            row.append(number_list([r.number for r in ranks
                                    if r.cpus & cpus]) or "none")
        rows.append(row)
    heads = [title for _, title in columns] + ["cores", "processors"]
    return heads + ["ranks"] * bool(ranks), rows


def device_title(device):
    """GPU card0, network mlx5_0, memory of numa 2"""
    name = "" if device.name == device.address else device.name
    return (_NAMES[device.kind] + name).strip()


def _without_empty(columns, rows):
    """A table without the columns that have no text."""
    kept = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    return [columns[i] for i in kept], [[row[i] for i in kept] for row in rows]


def _adapters(node, device):
    """The adapters nearest to a GPU: mlx5_0 (PCI switch)."""
    adapters, how = survey.nearest_adapters(node, device) \
        if device.kind == tree.GPU else ([], "")
    names = ", ".join(one.name for one in adapters)
    return f"{names} ({how})" if names else ""


def device_rows(node):
    """(columns, rows) of a node's devices, with their nearness."""
    rows = []
    for device, place in survey.devices(node):
        about = device.model or (units.size(device.size) if device.size
                                 else "")
        near = "the whole node" if place is node else place.title()
        rows.append([device_title(device), about, device.address, near,
                     _adapters(node, device)])
    return _without_empty(["device", "model", "PCI address", "nearest to",
                           "network by"], rows)


def _shared(node, kind):
    """The places of a kind with several cores, the outer ones first."""
    return [place for place in node.all(kind) if len(place.all("core")) > 1
            or kind != "cache"]


def _inside(node, cpus, kind):
    """The one place of a kind that holds all these processors."""
    found = [place for place in _shared(node, kind)
             if not cpus & node.cpus & ~place.cpus]
    if not found:
        return "several"
    return found[0].title() if kind == "cache" else str(found[0].number)


def rank_rows(found):
    """(columns, rows) of the ranks. Ranks with the same package, NUMA domain
    or cache share it; a kind with one place on each node needs no column."""
    nodes = {node.number: node for node in found.tree.all("node")}
    kinds = [(kind, title) for kind, title in _KINDS
             if any(len(_shared(node, kind)) > 1 for node in nodes.values())]
    several = len(nodes) > 1
    rows = []
    for one in found.ranks:
        node = nodes[one.node]
        row = [str(one.number)] + [node.name] * several
        row += [job.bound_to(node, one.cpus),
                processors.text(one.cpus & node.cpus or one.cpus)]
        row += [_inside(node, one.cpus, kind) for kind, _ in kinds]
        rows.append(row + [str(one.memory) if one.memory >= 0
                           else "not known"])
    return (["rank"] + ["node"] * several + ["bound to", "processors"]
            + [title for _, title in kinds] + ["memory of domain"], rows)


# Figures --------------------------------------------------------------------

def _span(low, high, unit="ns"):
    low, high = f"{low:.3g}", f"{high:.3g}"
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def _members(cores, level):
    """Groups by the numbers of their cores."""
    return "; ".join(number_list([cores.numbers[i] for i in group])
                     for group in level)


def sentences(cores):
    """What the figures say, and what the system claims."""
    times = [t for row in cores.round_trip for t in row if t]
    if not times:
        return ["There is one core: nothing to measure between cores."]
    found = [f"A cache line goes from core to core and back in "
             f"{_span(min(times), max(times))}."]
    for level in cores.levels:
        said = (f"{many(len(level.groups), 'group')} of cores by round trip: "
                f"{_span(*level.inside)} inside, {_span(*level.outside)} "
                "outside; ")
        found.append(said + (
            f"the system claims the same ({level.claimed})." if level.claimed
            else "the system claims no such groups. Their cores: "
            + _members(cores, level.groups) + "."))
    for title, claimed in cores.unseen.items():
        found.append(f"The system claims {len(claimed)} groups by {title} "
                     f"(cores {_members(cores, claimed)}), and the figures "
                     "show no such groups.")
    if not cores.levels and not cores.unseen:
        found.append(f"No round trip takes {groups.STEP:g} times as long as "
                     "a shorter one: the cores are one group, as the system "
                     "claims.")
    return found


def pair_rows(found):
    names = {node.number: node.name for node in found.tree.all("node")}
    return (["nodes", "8 bytes, one way", "1 MiB"],
            [[f"{names[a]} and {names[b]}",
              units.duration(1e3 * pair.latency_us),
              f"{pair.gbs:.3g} GB/s"] for pair in found.pairs
             for a, b in (pair.nodes,)])
