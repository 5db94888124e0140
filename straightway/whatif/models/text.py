"""A model as the text that the engine reads (src/vtime/model/model_file.h)."""

from straightway.errors import UserError
from straightway.whatif.models.check import (ACCESSES, CLASSES, COMMON, KINDS,
                                             LOCKS)

_CONSTANTS = ("o_send", "o_recv", "L", "g", "O_send", "O_recv", "G")
_ENDLESS = (1 << 64) - 1


def _n(value):
    """Exact to a ps in 1000 s, with no more digits than necessary."""
    return str(value) if isinstance(value, int) else f"{value:.15g}"


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
    return [f"place {min(per_node or ranks, ranks)} {per_domain}"]


def _node_speeds(data, ranks):
    speeds = data.get("node_speeds")
    if not speeds:
        return []
    nodes = 1
    for place in _place(data, ranks):
        nodes = -(-ranks // int(place.split()[1]))
    if len(speeds) < nodes:
        raise UserError(f"node_speeds has {len(speeds)} nodes, and {ranks} "
                        f"ranks are on {nodes}: give one factor for each")
    return [f"node_speed {node} {_n(speed)}"
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
        words = [f"{key} {_n(link[key])}" for key in (*_CONSTANTS, "S")
                 if key in link]
        if words:
            lines.append(f"link {name} " + " ".join(words))
        lines += [f"{word} {name} " + " ".join(map(_n, row))
                  for word, rows in (("point", "points"), ("given", "given"))
                  for row in link.get(rows, ())]
    return lines


def onesided(tables):
    """The lines of one-sided calls, from the table `onesided` of a model."""
    lines = []
    for memory, one in tables.items():
        lines += [f"access {memory} {name} " + " ".join(map(_n, row))
                  for name in ACCESSES for row in one.get(name, ())]
        if "lock" in one:
            lines.append(f"locks {memory} "
                         + " ".join(_n(one[name]) for name in LOCKS))
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
    words = [f"{key} " + ("x".join(map(str, value)) if isinstance(value, list)
                          else _n(value))
             for key, value in own.items()
             if key in COMMON or key in KINDS[kind]]
    return [f"network {kind} " + " ".join(words)]


def _limits(rule):
    """The end of a rule's line: one, or one for each power of two."""
    bytes_ = (f" {rule.get('min_bytes', 0)} "
              f"{rule.get('max_bytes', _ENDLESS)}")
    least = rule.get("min_ranks", 0)
    most = rule.get("max_ranks", (1 << 32) - 1)
    if rule.get("powers_of_two"):
        return [f"{bytes_} {n} {n}" for n in (1 << k for k in range(1, 25))
                if least <= n <= most]
    limited = {"min_bytes", "max_bytes", "min_ranks", "max_ranks"} & set(rule)
    return [f"{bytes_} {least} {most}" if limited else ""]


def _rule(op, rule):
    use = rule["use"]
    if use == "table":
        return [f"table {op} {rule['ranks']} " + " ".join(map(_n, row))
                for row in rule["rows"]]
    rest = {"free": lambda: "",
            "scale": lambda: f" {_n(rule['factor'])}",
            "offload": lambda: f" {_n(rule['posting'])} {_n(rule['round'])} "
                               f"{_n(rule['G'])}"}
    if use in rest:
        return [f"{use} {op}{rest[use]()}"]
    algorithm = f" {rule['algorithm']}" if "algorithm" in rule else ""
    return [f"{use} {op}{algorithm}{limits}" for limits in _limits(rule)]


def lines(data, ranks):
    """The lines of a model file for so many ranks."""
    found = [f"ranks {ranks}", *_place(data, ranks), *_links(data),
             *onesided(data.get("onesided", {})), *_network(data)]
    noise = data.get("noise", {})
    if noise.get("period"):
        found.append(f"noise {_n(noise['period'])} {_n(noise['duration'])} "
                     f"{noise.get('seed', 1)}")
    found += [f"{key} {_n(data[key])}"
              for key in ("cpu_speed", "reduce", "test") if key in data]
    found += _node_speeds(data, ranks)
    if data.get("loggopsim"):
        found.append("loggopsim")
    for rule in data.get("collective", ()):
        for op in rule["op"]:
            found += _rule(op, rule)
    return found
