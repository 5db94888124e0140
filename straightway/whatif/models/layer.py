"""A model's data as the lines that the engine reads."""

from straightway.errors import UserError
from straightway.whatif.models.check import (ACCESSES, CLASSES, COMMON, KINDS,
                                             LOCKS)
from straightway.whatif.models.lines import Line

_CONSTANTS = ("o_send", "o_recv", "L", "g", "O_send", "O_recv", "G")
_FIGURES = {"free": (), "scale": ("factor",),
            "offload": ("posting", "round", "G")}
_ENDLESS = (1 << 64) - 1


def _place(data, ranks):
    per_node, nodes = data.get("ranks_per_node"), data.get("nodes")
    per_domain = data.get("ranks_per_domain", 0)
    if nodes and per_node and ranks > nodes * per_node:
        raise UserError(f"{ranks} ranks do not fit on {nodes} nodes with "
                        f"{per_node} each; make nodes or ranks_per_node more")
    if nodes and not per_node:
        per_node = -(-ranks // nodes)
    if not per_node and not per_domain:
        return []
    return [Line("place", min(per_node or ranks, ranks), per_domain)]


def _node_speeds(data, ranks):
    speeds = data.get("node_speeds")
    if not speeds:
        return []
    nodes = 1
    for place in _place(data, ranks):
        nodes = -(-ranks // place[1])
    if len(speeds) < nodes:
        raise UserError(f"node_speeds has {len(speeds)} nodes, and {ranks} "
                        f"ranks are on {nodes}: give one factor for each")
    return [Line("node_speed", node, speed)
            for node, speed in enumerate(speeds[:ranks])]


def _latency_at_the_ends(data, link):
    """A link's L covers one switch. A network that counts its switches itself
    takes this one off."""
    network = data.get("network", {})
    if network.get("kind", "none") == "none" or "hop" not in network:
        return link
    off = network["hop"]
    if "points" in link:
        return {**link, "points": [
            [size, send, max(0, wire - off), gap, receive]
            for size, send, wire, gap, receive in link["points"]]}
    return {**link, "L": max(0, link.get("L", 0) - off)}


def _links(data):
    lines = []
    for name in CLASSES:
        link = data.get("link", {}).get(name, {})
        if name == "network":
            link = _latency_at_the_ends(data, link)
        constants = {key: link[key] for key in (*_CONSTANTS, "S")
                     if key in link}
        if constants:
            lines.append(Line("link", name, constants))
        lines += [Line(word, name, *row)
                  for word, rows in (("point", "points"), ("given", "given"))
                  for row in link.get(rows, ())]
    return lines


def onesided(tables):
    """The lines of one-sided calls, from the table `onesided` of a model."""
    lines = []
    for memory, one in tables.items():
        lines += [Line("access", memory, name, *row)
                  for name in ACCESSES for row in one.get(name, ())]
        if "lock" in one:
            lines.append(Line("locks", memory, *(one[n] for n in LOCKS)))
    return lines


def _network(data):
    network = dict(data.get("network", {}))
    kind = network.pop("kind", "none")
    if kind == "none":
        return []
    link = data.get("link", {}).get("network", {})
    if not link and not {"hop", "latency", "G"} & set(network):
        name = kind.replace("_", "-")
        raise UserError(f"a {kind} needs a network with the times of links: "
                        f"one before it, as in hdr200+{name}")
    hop = network.pop("hop", 0)
    # A message passes one switch less than links: a host link has half.
    own = {"latency": hop, **network}
    if kind != "crossbar":
        own.setdefault("host_latency", hop / 2 if "latency" not in network
                       else own["latency"])
    elif "latency" not in network:
        own["latency"] = hop / 2
    own.setdefault("G", link.get("G", 0))
    if kind == "fat_tree":
        if "down" in own or "up" in own:
            own.pop("radix", None)
        else:
            own.setdefault("radix", 36)
    elif kind == "crossbar":
        own.pop("host_latency", None)
        own["G"] = own.pop("host_G", own["G"])
        own.pop("radix", None)
    else:
        own.pop("radix", None)
    return [Line("network", kind, {
        key: value for key, value in own.items()
        if key in COMMON or key in KINDS[kind]})]


def _limits(rule):
    """The last fields of a rule's lines: one, or one for each power of two."""
    bytes_ = rule.get("min_bytes", 0), rule.get("max_bytes", _ENDLESS)
    least = rule.get("min_ranks", 0)
    most = rule.get("max_ranks", (1 << 32) - 1)
    if rule.get("powers_of_two"):
        return [(*bytes_, n, n) for n in (1 << k for k in range(1, 25))
                if least <= n <= most]
    limited = {"min_bytes", "max_bytes", "min_ranks", "max_ranks"} & set(rule)
    return [(*bytes_, least, most) if limited else ()]


def _rule(op, rule):
    use = rule["use"]
    if use == "table":
        return [Line(use, op, rule["ranks"], *row) for row in rule["rows"]]
    if use in _FIGURES:
        return [Line(use, op, *(rule[key] for key in _FIGURES[use]))]
    algorithm = [rule["algorithm"]] if "algorithm" in rule else []
    return [Line(use, op, *algorithm, *limits) for limits in _limits(rule)]


def lines(data, ranks):
    """The lines of a model for so many ranks."""
    found = [Line("ranks", ranks), *_place(data, ranks), *_links(data),
             *onesided(data.get("onesided", {})), *_network(data)]
    noise = data.get("noise", {})
    if noise.get("period"):
        found.append(Line("noise", noise["period"], noise["duration"],
                          noise.get("seed", 1)))
    found += [Line(key, data[key])
              for key in ("cpu_speed", "reduce", "test") if key in data]
    found += _node_speeds(data, ranks)
    if data.get("loggopsim"):
        found.append(Line("loggopsim"))
    for rule in data.get("collective", ()):
        for op in rule["op"]:
            found += _rule(op, rule)
    return found
