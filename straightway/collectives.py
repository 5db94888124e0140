"""What MPI says of its collectives: the one table.

COLLECTIVES has a row for each, in the order of reports. The build makes the
enumeration and the facts in C from it (src/contract/generate_collectives.py),
and the wrappers of recording and of virtual time (src/mpi/calls/table.py). A
row names parameters as the MPI standard does, with a $ before them.
"""

from dataclasses import dataclass

# The members for which a member must wait: all; the root, and the root itself
# for none; on the root all, and the others for none; those of lower rank; those
# from which it receives.
ALL, ROOT, AT_ROOT, LOWER, NEIGHBOURS = (
    "ALL", "ROOT", "AT_ROOT", "LOWER", "NEIGHBOURS")


@dataclass(frozen=True)
class Part:
    """Data that the caller sends or receives: one message or more blocks.

    With `counts`, `count` is an array that has a number for each block, and
    with `types`, `type` is one, too.
    """
    count: str
    type: str
    buffer: str = ""
    peer: str = ""
    tag: str = ""
    counts: bool = False
    types: bool = False


@dataclass(frozen=True)
class Collective:
    name: str               # of the blocking form, without MPI_
    number: int             # in files of traces (less one) and operations
    waits: str
    moves: str = ""         # the rule of what it moves: sw_moves_... (moves.h)
    sends: Part = None
    receives: Part = None
    in_place: str = ""      # the buffer that may be MPI_IN_PLACE
    blocks: str = ""        # which blocks may differ in size: "both", or the
    #                         root "sends" or "receives" them
    reduces: bool = False   # with $op

    @property
    def rooted(self):
        return self.waits in (ROOT, AT_ROOT)

    @property
    def lower(self):
        return self.name.lower()

    @property
    def neighbours(self):
        return self.waits == NEIGHBOURS


_ONE = Part("$count", "$datatype")
_OUT, _IN = Part("$sendcount", "$sendtype"), Part("$recvcount", "$recvtype")
_OUTS = Part("$sendcounts", "$sendtype", counts=True)
_INS = Part("$recvcounts", "$recvtype", counts=True)
_OUT_EACH = Part("$sendcounts", "$sendtypes", counts=True, types=True)
_IN_EACH = Part("$recvcounts", "$recvtypes", counts=True, types=True)

COLLECTIVES = (
    Collective("Barrier", 0, ALL),
    Collective("Bcast", 1, ROOT, "bcast", _ONE),
    Collective("Gather", 8, AT_ROOT, "gather", _OUT, _IN, "$sendbuf"),
    Collective("Gatherv", 9, AT_ROOT, "gather", _OUT, _INS, "$sendbuf",
               "receives"),
    Collective("Scatter", 10, ROOT, "scatter", _OUT, _IN, "$recvbuf"),
    Collective("Scatterv", 11, ROOT, "scatter", _OUTS, _IN, "$recvbuf",
               "sends"),
    Collective("Allgather", 12, ALL, "allgather", _OUT, _IN, "$sendbuf"),
    Collective("Allgatherv", 13, ALL, "allgather", _OUT, _INS, "$sendbuf"),
    Collective("Alltoall", 14, ALL, "alltoall", _OUT, _IN, "$sendbuf"),
    Collective("Alltoallv", 15, ALL, "alltoall", _OUTS, _INS, "$sendbuf",
               "both"),
    Collective("Alltoallw", 16, ALL, "alltoall", _OUT_EACH, _IN_EACH,
               "$sendbuf", "both"),
    Collective("Neighbor_allgather", 17, NEIGHBOURS, "neighbor_allgather",
               _OUT, _IN),
    Collective("Neighbor_allgatherv", 18, NEIGHBOURS, "neighbor_allgather",
               _OUT, _INS),
    Collective("Neighbor_alltoall", 19, NEIGHBOURS, "neighbor_alltoall",
               _OUT, _IN),
    Collective("Neighbor_alltoallv", 20, NEIGHBOURS, "neighbor_alltoall",
               _OUTS, _INS),
    Collective("Neighbor_alltoallw", 21, NEIGHBOURS, "neighbor_alltoall",
               _OUT_EACH, _IN_EACH),
    Collective("Reduce", 2, AT_ROOT, "reduce", _ONE, reduces=True),
    Collective("Allreduce", 3, ALL, "allreduce", _ONE, reduces=True),
    Collective("Reduce_scatter", 4, ALL, "reduce_scatter",
               Part("$recvcounts", "$datatype", counts=True), reduces=True),
    Collective("Reduce_scatter_block", 5, ALL, "reduce_scatter",
               Part("$recvcount", "$datatype"), reduces=True),
    Collective("Scan", 6, LOWER, "allreduce", _ONE, reduces=True),
    Collective("Exscan", 7, LOWER, "exscan", _ONE, reduces=True))

# Those of all members, by number: files of operations have no neighbours.
OF_ALL = tuple(sorted((c for c in COLLECTIVES if not c.neighbours),
                      key=lambda c: c.number))
