"""MPI procedures by class, from their names.

I/O (MPI_File_*) has a class of its own: it is not communication, and reports
count its time apart.
"""

import functools

from straightway import collectives

CLASSES = ("collective", "nonblocking collective", "persistent collective",
           "neighbourhood collective", "send", "receive", "send-receive",
           "persistent start", "completion", "test", "probe", "one-sided",
           "pack", "communicator management", "datatype management", "I/O",
           "start and end", "other")
IO = "I/O"

_COLLECTIVES = {c.name for c in collectives.OF_ALL}
ROOTED = {c.name for c in collectives.OF_ALL if c.rooted}
_SENDS = {"Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend",
          "Irsend", "straightway_give"}
_RECEIVES = {"Recv", "Irecv", "Mrecv", "Imrecv", "straightway_take"}
_BOTH = {"Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace"}
_PARTS = {"Pready", "Pready_range", "Pready_list", "Parrived", "Psend_init",
          "Precv_init"}
_COMPLETION = {"Wait", "Waitall", "Waitany", "Waitsome", "Cancel",
               "Request_free"}
_TEST = {"Test", "Testall", "Testany", "Testsome", "Test_cancelled",
         "Request_get_status", "Request_get_status_all",
         "Request_get_status_any", "Request_get_status_some"}
_PROBE = {"Probe", "Iprobe", "Mprobe", "Improbe"}
_ONE_SIDED = {"Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op",
              "Compare_and_swap", "Rput", "Rget", "Raccumulate",
              "Rget_accumulate"}
_PACK = {"Pack", "Unpack", "Pack_external", "Unpack_external", "Pack_size",
         "Pack_external_size"}
_PROCESSES = {"Open_port", "Close_port", "Publish_name", "Unpublish_name",
              "Lookup_name"}
_ENDS = {"Init", "Init_thread", "Finalize", "Abort", "Session_init",
         "Session_finalize"}


def stem(name):
    """MPI_Isend_c -> Isend"""
    name = name[4:] if name.startswith("MPI_") else name
    return name[:-2] if name.endswith("_c") else name


def nonblocking(name):
    """MPI_Allreduce_c -> MPI_Iallreduce_c"""
    return f"MPI_I{name[4].lower()}{name[5:]}"


@functools.cache
def class_of(name):
    """The class of a procedure, one of CLASSES."""
    word = stem(name)
    blocking = word[1:].capitalize() if word.startswith("I") else ""
    if word in _COLLECTIVES:
        return "collective"
    if word.startswith(("Neighbor_", "Ineighbor_")):
        return "neighbourhood collective"
    if blocking in _COLLECTIVES:
        return "nonblocking collective"
    if word.startswith(("File_", "Register_datarep")):
        return IO
    if word in _SENDS:
        return "send"
    if word in _RECEIVES:
        return "receive"
    if word in _BOTH:
        return "send-receive"
    if word.endswith("_init") and word[:-5] in _COLLECTIVES:
        return "persistent collective"
    if word in _PARTS or word in ("Start", "Startall") or \
            word.endswith("_init") and word not in _ENDS:
        return "persistent start"
    if word in _COMPLETION:
        return "completion"
    if word in _TEST:
        return "test"
    if word in _PROBE:
        return "probe"
    if word in _ONE_SIDED or word.startswith("Win_"):
        return "one-sided"
    if word in _PACK:
        return "pack"
    if word.startswith(("Comm_", "Intercomm_", "Cart_", "Graph_", "Group_",
                        "Dist_graph_")) or word in _PROCESSES:
        return "communicator management"
    if word.startswith("Type_"):
        return "datatype management"
    return "start and end" if word in _ENDS else "other"


def is_rooted(name):
    """Whether it is a blocking collective with a root."""
    return stem(name) in ROOTED


def has_own_blocks(name):
    """Whether it is a collective whose blocks have sizes of their own, which
    the matrix counts: Alltoallv and its kin."""
    return class_of(name) in CLASSES[:4] and \
        stem(name).removesuffix("_init").endswith(("v", "w"))
