"""What each procedure moves, between which ranks, and what it makes or ends.

CALLS has one row for a procedure, by its name without MPI_ (and without _c:
the large-count forms have the rows of the others). The generators make the
wrappers of recording (../record/rules.py) and of virtual time
(../virtual/rules.py) from it. A row names parameters as the MPI standard does,
with a $ before them: wrappers.py knows what a host's <mpi.h> calls them. So a
field is C. A row has no field for a parameter that the standard names alike in
all procedures of a family: $comm, $root, $op, $request, $status, $win.
"""
from dataclasses import dataclass

BLOCKING, NONBLOCKING, PERSISTENT = "blocking", "nonblocking", "persistent"


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
class Call:
    does: str               # the family that it belongs to
    form: str = BLOCKING
    mode: str = ""          # of a send: "", "b", "s" or "r"
    sends: Part = None
    receives: Part = None
    shape: str = ""         # of a collective: the members that each member
    #                         waits for, SW_SHAPE_...
    moves: str = ""         # of a collective: sw_moves_... (moves.h)
    in_place: str = ""      # the buffer that may be MPI_IN_PLACE
    blocks: str = ""        # which blocks may differ in size: "both", or the
    #                         root "sends" or "receives" them
    what: str = ""          # of a collective: its blocking form, capitals; of
    #                         a window: the operation, or its flags; of a
    #                         completion: which
    rooted: bool = False
    reduces: bool = False   # with $op
    waits: bool = False     # until what it asks for is there
    flag: bool = False      # *$flag says whether it is
    how: str = ""           # what it makes is a "duplicate", a "part", ...
    parent: str = ""        # the communicator from which it makes another
    makes: str = ""         # the handle that it makes
    members: str = ""       # the members of which communicator make it: the
    #                         "old", the "new", or with some "outside" the job


CALLS = {}


def call(name, does, **fields):
    assert name not in CALLS, name
    CALLS[name] = Call(does, **fields)


def of(name):
    """The row of a procedure, or None."""
    return CALLS.get(name[:-2] if name.endswith("_c") else name)


# Messages --------------------------------------------------------------------

SENT = Part("$count", "$datatype", "$buf", "$dest", "$tag")
RECEIVED = Part("$count", "$datatype", "$buf", "$source", "$tag")
for mode in ("", "b", "s", "r"):
    for name, form in ((f"{mode}send", BLOCKING), (f"I{mode}send", NONBLOCKING),
                       (f"{mode}send_init", PERSISTENT)):
        call(name[0].upper() + name[1:], "send", form=form, mode=mode,
             sends=SENT)
call("Recv", "receive", receives=RECEIVED)
call("Irecv", "receive", form=NONBLOCKING, receives=RECEIVED)
call("Recv_init", "receive", form=PERSISTENT, receives=RECEIVED)
call("Psend_init", "partitioned", form=PERSISTENT, sends=SENT)
call("Precv_init", "partitioned", form=PERSISTENT, receives=RECEIVED)
call("Mrecv", "matched", receives=RECEIVED)
call("Imrecv", "matched", form=NONBLOCKING, receives=RECEIVED)
for name, form in (("Sendrecv", BLOCKING), ("Isendrecv", NONBLOCKING)):
    call(name, "sendrecv", form=form,
         sends=Part("$sendcount", "$sendtype", "$sendbuf", "$dest",
                    "$sendtag"),
         receives=Part("$recvcount", "$recvtype", "$recvbuf", "$source",
                       "$recvtag"))
    call(name + "_replace", "sendrecv", form=form,
         sends=Part("$count", "$datatype", "$buf", "$dest", "$sendtag"),
         receives=Part("$count", "$datatype", "$buf", "$source", "$recvtag"))
call("Probe", "probe", waits=True)
call("Iprobe", "probe", flag=True)
call("Mprobe", "probe", waits=True, makes="$message")
call("Improbe", "probe", flag=True, makes="$message")

# Requests --------------------------------------------------------------------

for which in ("one", "any", "all", "some"):
    end = "" if which == "one" else which
    call(f"Wait{end}", "complete", what=which, waits=True)
    call(f"Test{end}", "complete", what=which, flag=which != "some")
call("Start", "start")
call("Startall", "start", what="all")
call("Request_free", "free request")
call("Cancel", "cancel")

# Collectives -----------------------------------------------------------------


def collective(name, shape, moves="", sends=None, receives=None, **fields):
    """Blocking, nonblocking and persistent."""
    for form, its_name in ((BLOCKING, name), (NONBLOCKING, f"I{name.lower()}"),
                           (PERSISTENT, f"{name}_init")):
        does = "neighbours" if shape == "NEIGHBOURS" else "collective"
        call(its_name, does, form=form, shape=f"SW_SHAPE_{shape}", moves=moves,
             sends=sends, receives=receives, what=name.upper(), **fields)


ONE = Part("$count", "$datatype")
OUT, IN = Part("$sendcount", "$sendtype"), Part("$recvcount", "$recvtype")
OUTS = Part("$sendcounts", "$sendtype", counts=True)
INS = Part("$recvcounts", "$recvtype", counts=True)
OUT_EACH = Part("$sendcounts", "$sendtypes", counts=True, types=True)
IN_EACH = Part("$recvcounts", "$recvtypes", counts=True, types=True)

collective("Barrier", "ALL")
collective("Bcast", "FROM_ROOT", "bcast", ONE, rooted=True)
collective("Reduce", "TO_ROOT", "reduce", ONE, rooted=True, reduces=True)
collective("Allreduce", "ALL", "allreduce", ONE, reduces=True)
collective("Scan", "BEFORE", "allreduce", ONE, reduces=True)
collective("Exscan", "BEFORE", "exscan", ONE, reduces=True)
collective("Reduce_scatter", "ALL", "reduce_scatter",
           Part("$recvcounts", "$datatype", counts=True), reduces=True)
collective("Reduce_scatter_block", "ALL", "reduce_scatter",
           Part("$recvcount", "$datatype"), reduces=True)
collective("Gather", "TO_ROOT", "gather", OUT, IN, rooted=True,
           in_place="$sendbuf")
collective("Gatherv", "TO_ROOT", "gather", OUT, INS, rooted=True,
           in_place="$sendbuf", blocks="receives")
collective("Scatter", "FROM_ROOT", "scatter", OUT, IN, rooted=True,
           in_place="$recvbuf")
collective("Scatterv", "FROM_ROOT", "scatter", OUTS, IN, rooted=True,
           in_place="$recvbuf", blocks="sends")
collective("Allgather", "ALL", "allgather", OUT, IN, in_place="$sendbuf")
collective("Allgatherv", "ALL", "allgather", OUT, INS, in_place="$sendbuf")
collective("Alltoall", "ALL", "alltoall", OUT, IN, in_place="$sendbuf")
collective("Alltoallv", "ALL", "alltoall", OUTS, INS, in_place="$sendbuf",
           blocks="both")
collective("Alltoallw", "ALL", "alltoall", OUT_EACH, IN_EACH,
           in_place="$sendbuf", blocks="both")
collective("Neighbor_allgather", "NEIGHBOURS", "neighbor_allgather", OUT, IN)
collective("Neighbor_allgatherv", "NEIGHBOURS", "neighbor_allgather", OUT, INS)
collective("Neighbor_alltoall", "NEIGHBOURS", "neighbor_alltoall", OUT, IN)
collective("Neighbor_alltoallv", "NEIGHBOURS", "neighbor_alltoall", OUTS, INS)
collective("Neighbor_alltoallw", "NEIGHBOURS", "neighbor_alltoall", OUT_EACH,
           IN_EACH)

# Communicators, types --------------------------------------------------------

for name, how, parent, makes, members in (
        ("Comm_dup", "duplicate", "$comm", "$newcomm", "old"),
        ("Comm_dup_with_info", "duplicate", "$comm", "$newcomm", "old"),
        ("Comm_split", "split", "$comm", "$newcomm", "old"),
        ("Comm_split_type", "split", "$comm", "$newcomm", "old"),
        ("Comm_create", "part", "$comm", "$newcomm", "old"),
        ("Comm_create_group", "part", "$comm", "$newcomm", "new"),
        ("Comm_create_from_group", "communicator", "", "$newcomm", "new"),
        ("Cart_create", "grid", "$comm_old", "$comm_cart", "old"),
        ("Cart_sub", "part", "$comm", "$newcomm", "old"),
        ("Graph_create", "graph", "$comm_old", "$comm_graph", "old"),
        ("Dist_graph_create_adjacent", "graph", "$comm_old",
         "$comm_dist_graph", "old"),
        ("Dist_graph_create", "graph", "$comm_old", "$comm_dist_graph",
         "old"),
        ("Intercomm_create", "intercommunicator", "$local_comm",
         "$newintercomm", "new"),
        ("Intercomm_create_from_groups", "intercommunicator", "",
         "$newintercomm", "new"),
        ("Intercomm_merge", "merger", "$intercomm", "$newintracomm", "new"),
        ("Comm_accept", "connection", "$comm", "$newcomm", "outside"),
        ("Comm_connect", "connection", "$comm", "$newcomm", "outside"),
        ("Comm_spawn", "spawned", "$comm", "$intercomm", "outside"),
        ("Comm_spawn_multiple", "spawned", "$comm", "$intercomm", "outside")):
    call(name, "make communicator", how=how, parent=parent or "MPI_COMM_NULL",
         makes=makes, members=members)
for name in ("Comm_idup", "Comm_idup_with_info"):
    call(name, "make communicator", form=NONBLOCKING, how="duplicate",
         parent="$comm", makes="$newcomm", members="old")
call("Comm_free", "free communicator")
call("Comm_disconnect", "free communicator")
call("Comm_set_name", "name communicator")
call("Type_free", "free type")

# One-sided -------------------------------------------------------------------

for name, what in (("Win_create", ""), ("Win_create_dynamic", ""),
                   ("Win_allocate", "ALLOCATED"),
                   ("Win_allocate_shared", "SEEN | SW_WINDOW_ALLOCATED")):
    call(name, "make window", what=what)
call("Win_free", "free window")
ORIGIN = Part("$origin_count", "$origin_datatype")
RESULT = Part("$result_count", "$result_datatype")
SINGLE = Part("1", "$datatype")
for name, what, sends, receives, reduces in (
        ("Put", "PUT", ORIGIN, None, False),
        ("Get", "GET", None, ORIGIN, False),
        ("Accumulate", "REDUCE", ORIGIN, None, True),
        ("Get_accumulate", "FETCH", ORIGIN, RESULT, True),
        ("Fetch_and_op", "FETCH", SINGLE, SINGLE, True),
        ("Compare_and_swap", "FETCH", SINGLE, SINGLE, False)):
    call(name, "window", what=what, sends=sends, receives=receives,
         reduces=reduces)
    if sends != SINGLE:
        call(f"R{name.lower()}", "window", form=NONBLOCKING, what=what,
             sends=sends, receives=receives, reduces=reduces)

# Files -----------------------------------------------------------------------

DATA = Part("$count", "$datatype")
for at in ("", "_all", "_shared", "_ordered", "_at", "_at_all"):
    for name, form in (("{}" + at, BLOCKING), ("i{}" + at, NONBLOCKING),
                       ("{}" + at + "_begin", NONBLOCKING)):
        call("File_" + name.format("write"), "file", form=form, sends=DATA)
        call("File_" + name.format("read"), "file", form=form, receives=DATA)
