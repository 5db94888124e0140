"""What is special about a procedure, for the recorded wrappers.

A rule has pieces of C, in which $0, $1, ... are the procedure's arguments:

    local    declarations
    before   before the host's call, which may still find arguments wrong
    hand     arguments replaced in the call: {place: expression}
    after    when it has succeeded
    failed   when it has not
    paused   after it, instead of `after`, while recording is paused; nothing of
             an event's amounts, which nobody counts then
    nested   before a call that is not recorded: handles come again for others,
             whoever frees them (an attribute's callback, say)

Those without a rule are counted and timed; `generate_recorded.py` notes their
communicator or window. The large-count forms have the rules of the others.
"""
import re

# Not recorded: conversions of handles and the clock, whose cost is below that
# of recording them; tools' own interface; callbacks.
LEFT_OUT = re.compile(r"""(
    .*_(c2f|f2c|c2f08|f082c|f2f08|f082f|fromint|toint) | Wtime | Wtick |
    Aint_(add|diff) | T_.* | .*_FN | CONVERSION_.* | .*_fn |
    Register_datarep.* | Keyval_.* | Get_address | Address
)$""", re.X)

RULES = {}


def rule(pattern, **pieces):
    RULES[re.compile(f"(?:{pattern})$", re.X)] = pieces


def of(name):
    """The rule of a procedure, or an empty one."""
    plain = name[:-2] if name.endswith("_c") else name
    for pattern, pieces in RULES.items():
        if pattern.match(plain):
            return pieces
    return {}


def status(place, source=None):
    """A status of our own where the program wants none. While recording is
    paused only a receive from anybody needs it; `source`: where it says so,
    its tag being the next."""
    needed = (f" &&\n    (!e.paused || $%d == MPI_ANY_SOURCE || "
              f"$%d == MPI_ANY_TAG)" % (source, source + 1)
              if source is not None else "")
    return {"local": "MPI_Status own;\n"
                     f"MPI_Status *its = ${place} == MPI_STATUS_IGNORE"
                     f"{needed}\n    ? &own : ${place};",
            "hand": {place: "its"}}


# Messages --------------------------------------------------------------------

rule("Send|[BSR]send",
     before="sw_send_before(&e, $5, $3, $4);",
     after="sw_send_after(&e, $5, $3, (int64_t)$1, $2);")
rule("I[bsr]?send",
     before="sw_send_before(&e, $5, $3, $4);",
     after="sw_send_pending(&e, $5, $3, $4, (int64_t)$1, $2, *$6, false);")
rule("Send_init|[BSR]send_init",
     after="sw_send_pending(&e, $5, $3, $4, (int64_t)$1, $2, *$6, true);")
rule("Recv",
     **status(6, 3),
     before="sw_receive_before(&e, $5, $3, $4);",
     after="sw_receive_after(&e, $5, $3, $4, $2, its);")
rule("Irecv",
     before="sw_receive_before(&e, $5, $3, $4);\ne.partners = 0;",
     after="sw_receive_pending(&e, $5, $3, $4, $2, *$6, false);")
rule("Recv_init",
     after="sw_receive_pending(&e, $5, $3, $4, $2, *$6, true);")
rule("Psend_init",
     after="sw_partitioned(&e, SW_PENDING_SEND, $6, $4, $1,\n"
           "               (int64_t)$2, $3, *$8);")
rule("Precv_init",
     after="sw_partitioned(&e, SW_PENDING_RECEIVE, $6, $4, $1,\n"
           "               (int64_t)$2, $3, *$8);")
rule("Mrecv",
     **status(4),
     before="sw_mrecv_before(&e, *$3);",
     after="sw_mrecv_after(&e, $2, its);")
rule("Imrecv",
     before="sw_mrecv_before(&e, *$3);\ne.partners = 0;",
     after="sw_mrecv_pending(&e, $2, *$4);")
rule("Sendrecv",
     **status(11, 8),
     before="sw_sendrecv_before(&e, $10, $3, $4, $8, $9);",
     after="sw_send_after(&e, $10, $3, (int64_t)$1, $2);\n"
           "sw_receive_after(&e, $10, $8, $9, $7, its);")
rule("Sendrecv_replace",
     **status(8, 5),
     before="sw_sendrecv_before(&e, $7, $3, $4, $5, $6);",
     after="sw_send_after(&e, $7, $3, (int64_t)$1, $2);\n"
           "sw_receive_after(&e, $7, $5, $6, $2, its);")
rule("Isendrecv",
     before="sw_sendrecv_before(&e, $10, $3, $4, $8, $9);\ne.partners = 0;",
     after="sw_send_after(&e, $10, $3, (int64_t)$1, $2);\n"
           "sw_isendrecv_pending(&e, $10, $8, $9, (int64_t)$6, $7, *$11);")
rule("Isendrecv_replace",
     before="sw_sendrecv_before(&e, $7, $3, $4, $5, $6);\ne.partners = 0;",
     after="sw_send_after(&e, $7, $3, (int64_t)$1, $2);\n"
           "sw_isendrecv_pending(&e, $7, $5, $6, (int64_t)$1, $2, *$8);")
rule("Probe",
     **status(3),
     before="sw_probe_before(&e, $2);",
     after="sw_probe_after(&e, $2, its);")
rule("Mprobe",
     **status(4),
     before="sw_probe_before(&e, $2);",
     after="sw_probe_after(&e, $2, its);\n"
           "sw_mprobe_after(&e, $2, *$3, its);")
rule("Improbe",
     **status(5),
     before="sw_event_comm(&e, $2);",
     after="if (*$3)\n    sw_mprobe_after(&e, $2, *$4, its);")

# Requests --------------------------------------------------------------------


def completes(name, place, before, after, requests="$0, $1"):
    """The status or statuses are argument `place`."""
    rule(name, local="sw_completion_t kept;\nMPI_Status *its;",
         before=f"its = {before}", hand={place: "its"},
         after=f"{after}\nsw_complete_rest(&kept);",
         failed=f"sw_complete_failed(&kept, {requests});\n"
                "sw_complete_rest(&kept);")


for name, place, waits, found in (("Wait", 1, "true", ""),
                                  ("Test", 2, "false", "if (*$1)\n    ")):
    completes(name, place, "sw_complete_one_before(&e, &kept, $0, "
              f"${place}, {waits});",
              f"{found}sw_complete_one_after(&e, &kept);", "1, $0")
for name, place, several, waits, after in (
        ("Waitany", 3, "false", "true",
         "sw_complete_any_after(&e, &kept, *$2);"),
        ("Testany", 4, "false", "false",
         "if (*$3)\n    sw_complete_any_after(&e, &kept, *$2);"),
        ("Waitall", 2, "true", "true",
         "sw_complete_all_after(&e, &kept, $0);"),
        ("Testall", 3, "true", "false",
         "if (*$2)\n    sw_complete_all_after(&e, &kept, $0);"),
        ("Waitsome", 4, "true", "true",
         "sw_complete_some_after(&e, &kept, *$2, $3);"),
        ("Testsome", 4, "true", "false",
         "sw_complete_some_after(&e, &kept, *$2, $3);")):
    completes(name, place, "sw_complete_before(&e, &kept, $0, $1, "
              f"${place}, {several}, {waits});", after)
rule("Start", local="MPI_Request was = *$0;",
     before="sw_start_before(&e, was);",
     after="sw_start_after(1, &was, $0);")
rule("Startall", local="MPI_Request *were;",
     before="were = sw_startall_before(&e, $0, $1);",
     after="sw_start_after($0, were, $1);")
rule("Request_free", before="sw_request_freed(*$0);",
     nested="sw_request_freed(*$0);")
rule("Cancel", before="sw_request_cancelled(*$0);")

# Collectives: shape, root, what is moved, place of the communicator ----------


def collective(name, shape, root, comm, after):
    """Blocking, nonblocking and persistent."""
    begin = f"sw_collective_before(&e, ${comm}, {shape}, {root});"
    look = f"sw_collective_look(&e, {shape}, {root});"
    met = f"sw_event_comm_after(&e, ${comm});"
    pending = (f"sw_collective_pending(&e, {shape}, {root}, "
               f"*${comm + 1});")
    rule(name, before=begin, after=f"{after}\n{look}", paused=met)
    rule(f"I{name.lower()}", before=begin + "\ne.partners = 0;",
         after=f"{after}\n{pending}", paused=f"{met}\n{pending}")
    rule(f"{name}_init", before=f"sw_event_comm(&e, ${comm});",
         after=f"{after}\nsw_collective_persistent(&e, "
               f"SW_TRACE_{name.upper()}, {shape}, {root}, *${comm + 2});")


ALL, NONE = "SW_SHAPE_ALL", "-1"
FROM, TO = "SW_SHAPE_FROM_ROOT", "SW_SHAPE_TO_ROOT"

collective("Barrier", ALL, NONE, 0, "sw_barrier_after(&e, $0);")
collective("Bcast", FROM, "$3", 4,
           "sw_bcast_after(&e, $4, (int64_t)$1, $2, $3);")
collective("Reduce", TO, "$5", 6,
           "sw_reduce_after(&e, $6, (int64_t)$2, $3, $4, $5);")
collective("Allreduce", ALL, NONE, 5,
           "sw_allreduce_after(&e, $5, (int64_t)$2, $3, $4);")
collective("Reduce_scatter", ALL, NONE, 5,
           "sw_reduce_scatter_after(&e, $5, SW_VECTOR($2), $3, $4);")
collective("Reduce_scatter_block", ALL, NONE, 5,
           "sw_reduce_scatter_block_after(&e, $5, (int64_t)$2, $3, $4);")
collective("Scan", "SW_SHAPE_BEFORE", NONE, 5,
           "sw_scan_after(&e, $5, (int64_t)$2, $3, $4, false);")
collective("Exscan", "SW_SHAPE_BEFORE", NONE, 5,
           "sw_scan_after(&e, $5, (int64_t)$2, $3, $4, true);")
collective("Gather", TO, "$6", 7,
           "sw_gather_after(&e, $7, $0, (int64_t)$1, $2, (int64_t)$4, $5, "
           "$6);")
collective("Gatherv", TO, "$7", 8,
           "sw_gatherv_after(&e, $8, $0, (int64_t)$1, $2, SW_VECTOR($4), "
           "$6, $7);")
collective("Scatter", FROM, "$6", 7,
           "sw_scatter_after(&e, $7, (int64_t)$1, $2, $3, (int64_t)$4, $5, "
           "$6);")
collective("Scatterv", FROM, "$7", 8,
           "sw_scatterv_after(&e, $8, SW_VECTOR($1), $3, $4, (int64_t)$5, "
           "$6, $7);")
collective("Allgather", ALL, NONE, 6,
           "sw_allgather_after(&e, $6, $0, (int64_t)$1, $2, (int64_t)$4, "
           "$5);")
collective("Allgatherv", ALL, NONE, 7,
           "sw_allgatherv_after(&e, $7, $0, (int64_t)$1, $2, SW_VECTOR($4), "
           "$6);")
collective("Alltoall", ALL, NONE, 6,
           "sw_alltoall_after(&e, $6, $0, (int64_t)$1, $2, (int64_t)$4, $5);")
for letter in "vw":
    collective(f"Alltoall{letter}", ALL, NONE, 8,
               f"sw_alltoall{letter}_after(&e, $8, $0, SW_VECTOR($1), $3, "
               "SW_VECTOR($5), $7);")
NEAR = "SW_SHAPE_NEIGHBOURS"
collective("Neighbor_allgather", NEAR, NONE, 6,
           "sw_neighbor_allgather_after(&e, $6, (int64_t)$1, $2, "
           "(int64_t)$4, $5);")
collective("Neighbor_allgatherv", NEAR, NONE, 7,
           "sw_neighbor_allgatherv_after(&e, $7, (int64_t)$1, $2, "
           "SW_VECTOR($4), $6);")
collective("Neighbor_alltoall", NEAR, NONE, 6,
           "sw_neighbor_alltoall_after(&e, $6, (int64_t)$1, $2, "
           "(int64_t)$4, $5);")
for letter in "vw":
    collective(f"Neighbor_alltoall{letter}", NEAR, NONE, 8,
               f"sw_neighbor_alltoall{letter}_after(&e, $8, SW_VECTOR($1), "
               "$3, SW_VECTOR($5), $7);")

# Communicators, types --------------------------------------------------------

# (what makes one, how that is called, its parent, its place)
MADE = (
    ("Comm_dup", "duplicate", "$0", 1),
    ("Comm_dup_with_info", "duplicate", "$0", 2),
    ("Comm_split", "split", "$0", 3),
    ("Comm_split_type", "split", "$0", 4),
    ("Comm_create", "part", "$0", 2),
    ("Comm_create_group", "part", "$0", 3),
    ("Comm_create_from_group", "communicator", "MPI_COMM_NULL", 4),
    ("Cart_create", "grid", "$0", 5), ("Cart_sub", "part", "$0", 2),
    ("Graph_create", "graph", "$0", 5),
    ("Dist_graph_create_adjacent", "graph", "$0", 9),
    ("Dist_graph_create", "graph", "$0", 8),
    ("Intercomm_create", "intercommunicator", "$0", 5),
    ("Intercomm_create_from_groups", "intercommunicator", "MPI_COMM_NULL", 7),
    ("Intercomm_merge", "merger", "$0", 2),
    ("Comm_accept", "connection", "$3", 4),
    ("Comm_connect", "connection", "$3", 4),
    ("Comm_spawn", "spawned", "$5", 6),
    ("Comm_spawn_multiple", "spawned", "$6", 7))
for name, how, parent, place in MADE:
    parent_known = parent != "MPI_COMM_NULL"
    rule(name,
         before=f"sw_event_comm(&e, {parent});" if parent_known else "",
         after=(f"sw_event_comm_after(&e, {parent});\n"
                if parent_known else "")
         + f'sw_known_comm_made("{how}", {parent}, *${place});')
rule("Comm_free|Comm_disconnect",
     local="MPI_Comm gone = *$0;",
     before="sw_event_comm(&e, gone);")
rule("Comm_set_name",
     before="sw_event_comm(&e, $0);",
     after="sw_event_comm_after(&e, $0);\nsw_known_comm_rename($0, $1);")

# One-sided -------------------------------------------------------------------

rule("Win_create|Win_allocate|Win_allocate_shared",
     after="sw_window_made(*$5, @comm@);")
rule("Win_create_dynamic", after="sw_window_made(*$2, $1);")
rule("Win_free", local="MPI_Win gone = *$0;",
     before="sw_window_before(&e, gone);", after="sw_window_freed(gone);",
     nested="sw_window_freed(*$0);")
rule("R?[pP]ut", before="sw_window_before(&e, $7);",
     after="sw_put_after(&e, $3, (int64_t)$1, $2, MPI_OP_NULL);")
rule("R?[gG]et", before="sw_window_before(&e, $7);",
     after="sw_get_after(&e, $3, (int64_t)$1, $2);")
rule("R?[aA]ccumulate", before="sw_window_before(&e, $8);",
     after="sw_put_after(&e, $3, (int64_t)$1, $2, $7);")
rule("R?[gG]et_accumulate", before="sw_window_before(&e, $11);",
     after="sw_fetch_after(&e, $6, (int64_t)$1, $2, (int64_t)$4, $5, $10);")
rule("Fetch_and_op", before="sw_window_before(&e, $6);",
     after="sw_fetch_after(&e, $3, 1, $2, 1, $2, $5);")
rule("Compare_and_swap", before="sw_window_before(&e, $6);",
     after="sw_fetch_after(&e, $4, 1, $3, 1, $3, MPI_REPLACE);")

# Files -----------------------------------------------------------------------

for at, shift in (("", 0), ("_at", 1)):
    where = "(_all|_shared|_ordered)?" if not at else "(_all)?"
    count, kind, last = 2 + shift, 3 + shift, 4 + shift
    rule(f"File_write{at}{where}",
         after=f"sw_file_wrote(&e, (int64_t)${count}, ${kind});")
    rule(f"File_read{at}{where}",
         **status(last),
         after=f"sw_file_read(&e, (int64_t)${count}, ${kind}, its);")
    rule(f"File_iwrite{at}{where}|File_write{at}{where}_begin",
         after=f"sw_file_wrote(&e, (int64_t)${count}, ${kind});")
    rule(f"File_iread{at}{where}|File_read{at}{where}_begin",
         after=f"sw_file_read(&e, (int64_t)${count}, ${kind}, NULL);")
