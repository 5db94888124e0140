"""Placements by METIS, if the package pymetis is there (it is optional).

METIS divides the ranks among the innermost parts of the machine. The sizes
that it gives are near to those asked for; the ranks that are too many in one
part go to the next ones with room.
"""

try:
    import pymetis
except ImportError:
    pymetis = None


def _divided(problem, count, recursive):
    """The part of each rank, by METIS."""
    start, others, amounts = [0], [], []
    # METIS takes whole numbers; large amounts lose their last digits.
    most = max((amount for near in problem.graph for _, amount in near),
               default=1)
    scale = max(1.0, most / 10000)
    for near in problem.graph:
        others += [other for other, _ in near]
        amounts += [max(1, round(amount / scale)) for _, amount in near]
        start.append(len(others))
    return pymetis.part_graph(count, xadj=start, adjncy=others,
                              eweights=amounts, recursive=recursive)[1]


def placement(problem, recursive=False):
    """A placement; None without METIS, or with nothing to divide. METIS
    divides into all parts at once, or into two, and so on."""
    if not pymetis or not problem.at or not any(problem.graph):
        return None
    stretches = problem.below[-1]
    members = [[] for _ in stretches]
    for rank, part in enumerate(_divided(problem, len(stretches),
                                        recursive)):
        members[part].append(rank)
    spare = []
    for (begin, end), one in zip(stretches, members):
        spare += one[end - begin:]
        del one[end - begin:]
    found = [0] * problem.ranks
    for (begin, end), one in zip(stretches, members):
        while len(one) < end - begin:
            one.append(spare.pop(0))
        for slot, rank in enumerate(sorted(one), begin):
            found[rank] = slot
    return found
