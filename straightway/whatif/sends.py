"""The traffic of recorded operations: what their messages send.

    found = traffic(path, "bytes", ranks, region)

Collectives load all pairs alike, or by trees that the MPI chooses: they are no
part of it.
"""

import os
import re
import tempfile

from straightway.errors import UserError, nearest
from straightway.mapping.traffic import Traffic
from straightway.whatif import operations

_SEND = re.compile(r"\s+send (\d+) to (\d+)")
_NAME = re.compile(r'# section (\d+) is "(.*)"$')


def traffic(path, unit, ranks, region=None):
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
