"""What each procedure moves, between which ranks, and what it makes or ends.

CALLS has one row for a procedure, by its name without MPI_ (and without _c:
the large-count forms have the rows of the others). The generators make the
wrappers of recording (../record/rules.py) and of virtual time
(../virtual/rules.py) from it. A row names parameters as the MPI standard does,
with a $ before them: wrappers.py knows what a host's <mpi.h> calls them. So a
field is C. A row has no field for a parameter that the standard names alike in
all procedures of a family: $comm, $root, $op, $request, $status, $win.
"""
import os
import sys
from dataclasses import dataclass

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "contract"))

from generate_collectives import table

COLLECTIVES, Part = table().COLLECTIVES, table().Part
BLOCKING, NONBLOCKING, PERSISTENT = "blocking", "nonblocking", "persistent"


@dataclass(frozen=True)
class Call:
    does: str               # the family that it belongs to
    form: str = BLOCKING
    mode: str = ""          # of a send: "", "b", "s" or "r"
    sends: Part = None
    receives: Part = None
    waiting: str = ""       # of a collective: the members that each member
    #                         waits for, SW_WAITS_...
    moves: str = ""         # of a collective: sw_moves_... (moves.h)
    in_place: str = ""      # the buffer that may be MPI_IN_PLACE
    blocks: str = ""        # of a collective, as in its own table
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


for c in COLLECTIVES:
    for form, name in ((BLOCKING, c.name), (NONBLOCKING, f"I{c.lower}"),
                       (PERSISTENT, f"{c.name}_init")):
        call(name, "neighbours" if c.neighbours else "collective", form=form,
             waiting=f"SW_WAITS_{c.waits}", moves=c.moves, sends=c.sends,
             receives=c.receives, in_place=c.in_place, blocks=c.blocks,
             what=c.name.upper(), rooted=c.rooted, reduces=c.reduces)

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
