"""The shape of a machine as a model for straightway whatif: how many nodes
there are, and ranks of a node and of a NUMA domain. It has no times; users lay
it over models that have.

A tree of switches says how many nodes a leaf switch has, and nothing of its
links to other switches. So the model's network is a full fat tree.
"""

import json

from straightway.errors import printable
from straightway.reporters import topo_words as words


def _leaf(tree):
    """The most nodes at one switch of a network with several such switches."""
    counts = [sum(part.kind == "node" for part in switch.parts)
              for switch in tree.all("switch")]
    counts = [count for count in counts if count]
    return max(counts) if len(counts) > 1 else 0


def render(found, out):
    """`found`: a Survey."""
    nodes, name = found.tree.all("node"), words.whole_title(found)
    cores = max(len(node.all("core")) for node in nodes)
    domain = max((len(numa.all("core")) for node in nodes
                  for numa in node.all("numa")), default=0)
    ranks = len(nodes) * max(cores, 1)
    lines = ["# From `straightway topo`. Lay it over models that have times:",
             f"#   straightway whatif run -n {ranks} --model "
             "node+hdr200 --model THIS.toml ./app",
             *(printable(f"# {note}") for note in found.tree.notes),
             f"description = {json.dumps('the shape of ' + name)}",
             f"nodes = {len(nodes)}"]
    if cores:
        lines.append(f"ranks_per_node = {cores}")
    if domain:
        lines.append(f"ranks_per_domain = {domain}")
    leaf = _leaf(found.tree)
    if leaf:
        lines += ["", "[network]", 'kind = "fat_tree"', f"radix = {2 * leaf}",
                  f"nodes_per_leaf = {leaf}"]
    out.write("\n".join(lines) + "\n")
