"""Readers: each makes a tree (machine/tree.py) of one description.

    sysfs.py            this machine's /sys, or a copy of another's
    hwloc.py            what lstopo writes as XML; of this machine, if it has
                        hwloc's tools
    slurm.py            Slurm's topology.yaml and topology.conf
    ibnetdiscover.py    an InfiniBand network
    saved.py            the JSON of `straightway topo`

Two more read about a job on the machine:

    allocation.py       the names of its nodes: a list, a host file, what a
                        batch system says
    launch_files.py     where its ranks are: a rankfile, an order, a host file

A file that cannot be read is a UserError with the line and the remedy. A
network's nodes are leaves, until `furnish` gives each the parts of a machine.
"""

import pathlib

from straightway.errors import UserError


def text_of(path):
    """The text of a file."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", 1) from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start} is no text (UTF-8); give "
                        "the file that the tool wrote", 1) from None


def wrong(path, line, what, fix):
    """The UserError of one line of a file."""
    return UserError(f"{path}, line {line}: {what}\n  {fix}", 1)


def furnish(network, node):
    """Give each node of a network the parts of one machine."""
    for one in network.all("node"):
        one.cpus, one.memory = node.cpus, node.memory
        one.parts, one.devices = node.parts, node.devices
    return network


def number_nodes(network):
    """Number the nodes and switches of a network in the order of its tree."""
    for kind in ("node", "switch"):
        for number, place in enumerate(network.all(kind)):
            place.number = number
    return network
