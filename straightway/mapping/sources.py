"""Where the traffic of a program comes from.

    found = of_profile(profile, "bytes")    a capture's matrix, the whole run
    found = of_operations(path, "bytes", region)
                                            recorded operations, or a region

A capture counts messages, one-sided calls, and collectives whose blocks differ
(Alltoallv and its kin) for each pair of ranks. Other collectives load all
pairs alike, or by trees that the MPI chooses, and are in neither.
"""

import array
import os
import re
import tempfile

from straightway.errors import UserError, nearest
from straightway.mapping.traffic import Dense, Traffic
from straightway.whatif import operations

_SEND = re.compile(r"\s+send (\d+) to (\d+)")
_NAME = re.compile(r'# section (\d+) is "(.*)"$')


# From so many ranks on, if a quarter of their pairs have traffic, it is Dense.
DENSE = 256


def _flat(p, unit):
    """The matrix of a Profile, flat; as Profile.matrix() tells it."""
    ranks, here = p.job.ranks, {r.rank for r in p.ranks}
    found = array.array("q", bytes(8 * ranks * ranks))
    for rank in p.ranks:
        peers, own = rank.capture.table("peers"), rank.rank
        told = zip(peers["peer"], peers[f"sent_{unit}"])
        if max(peers["peer"], default=0) >= ranks:
            told = [one for one in told if one[0] < ranks]
        row = [0] * ranks
        for peer, amount in told:
            row[peer] += amount
        found[own * ranks:(own + 1) * ranks] = array.array("q", row)
    # What the sender has not told: it is missing, or sees no one-sided call.
    for rank in p.ranks:
        peers, own = rank.capture.table("peers"), rank.rank
        if len(here) < ranks or 1 in peers["kind"]:
            for kind, peer, amount in zip(peers["kind"], peers["peer"],
                                          peers[f"received_{unit}"]):
                if peer < ranks and (kind == 1 or peer not in here):
                    found[peer * ranks + own] += amount
    return found


def _dense(p, unit):
    """The Dense of a Profile; None where it is no such traffic."""
    ranks = p.job.ranks
    entries = sum(len(r.capture.table("peers")) for r in p.ranks)
    if ranks < DENSE or entries < ranks * ranks / 4 or \
            any(r.rank >= ranks for r in p.ranks):
        return None
    try:
        return Dense(ranks, _flat(p, unit), unit)
    except OverflowError:       # a damaged file has any numbers
        return None


def of_profile(p, unit):
    """The Traffic of a Profile. UserError where some ranks left nothing."""
    found = _dense(p, unit)
    if found:
        return found
    index = 1 if unit == "bytes" else 0
    return Traffic(p.job.ranks, {
        pair: one[index] for pair, one in p.matrix().items()
        if max(pair) < p.job.ranks}, unit)


def before(p, slots):
    """The placement of a Profile's run: each rank on its node, in order. None
    where the slots' nodes have no room, or ranks are missing."""
    if p.missing:
        return None
    free = {}
    for slot, node in enumerate(slots.nodes):
        free.setdefault(node, []).append(slot)
    found, numbers = [], {}
    for rank in p.ranks:
        node = numbers.setdefault(rank.capture.node_number, len(numbers))
        if not free.get(node):
            return None
        found.append(free[node].pop(0))
    return found


def of_operations(path, unit, ranks, region=None):
    """The Traffic of a file of operations; only that of a region, with those
    within it, if one is named."""
    sent, wanted, inside, names = {}, None, True, {}
    rank = 0
    with tempfile.TemporaryDirectory(prefix="straightway-") as folder:
        text = os.path.join(folder, "text")
        operations.convert(str(path), text, forms=("ops", "text"))
        with open(text, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                found = _SEND.match(line)
                if found:
                    if inside:
                        pair = rank, int(found[2])
                        sent[pair] = sent.get(pair, 0) + (
                            int(found[1]) if unit == "bytes" else 1)
                elif line.startswith("rank "):
                    wanted = wanted if wanted is not None else _sections(
                        names, region)
                    rank, inside = int(line.split()[1]), region is None
                elif line.startswith("  section ") and region is not None:
                    inside = int(line.split()[1]) in wanted
                else:
                    found = _NAME.match(line)
                    if found:
                        names[int(found[1])] = found[2]
    return Traffic(ranks, sent, unit)


def _sections(names, region):
    """The numbers of a region and those within it."""
    if region is None:
        return set()
    found = {number for number, name in names.items()
             if name == region or name.startswith(region + "/")}
    if not found:
        raise UserError(f"--region {region}: no region has this name; " + (
            nearest(region, sorted(names.values())) if names else
            "the program names none (MPI_Pcontrol, docs/profile.md)"))
    return found
