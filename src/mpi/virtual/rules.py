"""What is special about a procedure in virtual time, for its wrapper.

A rule is C, in which $0, $1, ... are the procedure's arguments, @c@ is "_c"
for the large-count form (else nothing), @args@ all arguments, and @name@ the
procedure's name; it leaves the call's result in sw_result. `nested` is done
before a call that is not followed (see ../record/rules.py). `needs` names a
procedure that the header must have.

Procedures without a rule have no wrapper but those that call others of MPI
inside (generate.py, SETUP), which count as computing.
"""
import os
import re
import runpy

# The profile's rules say what each collective moves.
RECORDED = runpy.run_path(os.path.join(
    os.path.dirname(__file__), os.pardir, "record", "rules.py"))

RULES = {}


def rule(pattern, body, nested=""):
    RULES[re.compile(f"(?:{pattern})$", re.X)] = {"body": body,
                                                   "nested": nested}


def of(name):
    plain = name[:-2] if name.endswith("_c") else name
    for pattern, found in RULES.items():
        if pattern.match(plain):
            return found
    return None


def call(name="@name@", args="@args@"):
    return f"sw_result = served.{name}({args});\n"


HOLD = "sw_virtual_hold();\n"
OK = "if (sw_result == MPI_SUCCESS)\n    "
OWN = "MPI_Request own = MPI_REQUEST_NULL;\n"

# Messages --------------------------------------------------------------------

for letter, flags in (("", "0"), ("b", "SW_SEND_BUFFERED"),
                      ("s", "SW_SEND_SYNCHRONOUS"), ("r", "0")):
    detach = ("sw_virtual_detach($0, (int64_t)$1, $2, $3, $4, $5, "
              f"{flags})")
    own = f"sw_result = {detach} ? MPI_SUCCESS : "
    rule(f"{letter.upper()}send" if letter else "Send",
         OWN + HOLD + own + "served."
         f"I{letter}send@c@(@args@, &own);\n" + OK +
         f"sw_result = sw_virtual_sent($5, $3, $4, (int64_t)$1, $2, {flags}, "
         "&own);")
    rule(f"I{letter}send", HOLD + (f"if ({detach})\n    sw_result = "
                            "sw_virtual_detached_request($6);\nelse\n    ")
         + call() + OK +
         f"sw_virtual_isent($5, $3, $4, (int64_t)$1, $2, {flags}, *$6, "
         "false);")
    rule(f"{letter.upper() + 's' if letter else 'S'}end_init", call() + OK +
         f"sw_virtual_isent($5, $3, $4, (int64_t)$1, $2, {flags}, *$6, true);"
         + ("\nif (sw_result == MPI_SUCCESS)\n    sw_virtual_detachable(*$6, "
            f"$0, (int64_t)$1, $2, $3, $4, $5, {flags});"))
rule("Recv",
     "int from = $3, what = $4;\n" + OWN + HOLD +
     "sw_virtual_choose($5, &from, &what);\n" +
     call("Irecv@c@", "$0, $1, $2, from, what, $5, &own") + OK +
     "sw_result = sw_virtual_received($5, from, what, (int64_t)$1, $2, &own, "
     "$6);")
rule("Irecv", HOLD + call() + OK +
     "sw_virtual_posted($5, $3, $4, (int64_t)$1, $2, *$6, false);")
rule("Recv_init", call() + OK +
     "sw_virtual_posted($5, $3, $4, (int64_t)$1, $2, *$6, true);")
rule("Psend_init", call() + OK +
     "sw_virtual_partitioned(true, $6, $4, $5, $1 * (int64_t)$2, $3, *$8);")
rule("Precv_init", call() + OK +
     "sw_virtual_partitioned(false, $6, $4, $5, $1 * (int64_t)$2, $3, *$8);")
rule("Sendrecv",
     "int from = $8, what = $9;\n" + HOLD +
     "MPI_Request own[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};\n"
     "sw_result = sw_virtual_detach($0, (int64_t)$1, $2, $3, $4, $10, 0)\n"
     "    ? MPI_SUCCESS\n"
     "    : served.Isend@c@($0, $1, $2, $3, $4, $10, &own[0]);\n"
     "if (sw_result == MPI_SUCCESS) {\n"
     "    uint32_t sent = sw_virtual_sending($10, $3, $4, (int64_t)$1, $2);\n"
     "    sw_virtual_choose($10, &from, &what);\n    " +
     call("Irecv@c@", "$5, $6, $7, from, what, $10, &own[1]") +
     "    if (sw_result == MPI_SUCCESS)\n"
     "        sw_result = sw_virtual_sendrecv($10, from, what, (int64_t)$6, "
     "$7, sent, own, $11);\n}")
rule("Sendrecv_replace",
     HOLD + "sw_result = sw_virtual_sendrecv_replace($0, (int64_t)$1, $2, $3, "
     "$4, $5, $6, $7, $8);")
# The send goes by itself: what is left is a receive, whose status tells what
# it took (MPICH's and Intel MPI's of an Isendrecv tell anything).
rule("Isendrecv",
     HOLD + "if ($3 == MPI_PROC_NULL || sw_virtual_detach($0, (int64_t)$1, "
     "$2, $3, $4, $10, SW_DETACH_SMALL))\n    " +
     call("Irecv@c@", "$5, $6, $7, $8, $9, $10, $11") +
     "else\n    " + call() + OK +
     "sw_virtual_isendrecv($10, $3, $4, (int64_t)$1, $2, $8, $9, "
     "(int64_t)$6, $7, *$11);")
rule("Isendrecv_replace",
     HOLD + "if ($3 == MPI_PROC_NULL || sw_virtual_detach($0, (int64_t)$1, "
     "$2, $3, $4, $7, SW_DETACH_SMALL))\n    " +
     call("Irecv@c@", "$0, $1, $2, $5, $6, $7, $8") +
     "else\n    " + call() + OK +
     "sw_virtual_isendrecv($7, $3, $4, (int64_t)$1, $2, $5, $6, "
     "(int64_t)$1, $2, *$8);")
rule("Probe", "sw_result = sw_virtual_probe(@args@);")
rule("Iprobe", "sw_result = sw_virtual_iprobe(@args@);")
rule("Mprobe", "sw_result = sw_virtual_mprobe(@args@);")
rule("Improbe", "sw_result = sw_virtual_improbe(@args@);")
rule("Mrecv",
     "MPI_Message its = *$3;\n" + OWN +
     call("Imrecv@c@", "$0, $1, $2, $3, &own") + OK +
     "sw_result = sw_virtual_mreceived(its, &own, $4);")
rule("Imrecv", "MPI_Message its = *$3;\n" + call() + OK +
     "sw_virtual_imreceived(its, *$4);")

# Requests --------------------------------------------------------------------

for name in ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall",
             "Testany", "Testsome"):
    rule(name, f"sw_result = sw_virtual_{name.lower()}(@args@);")
rule("Request_get_status", "sw_result = sw_virtual_get_status(@args@);")
for which, rest in (("all", "$2, $3"), ("any", "$2, $3, $4"),
                    ("some", "$2, $3, $4")):
    # Some headers say that the requests are const, and some do not.
    rule(f"Request_get_status_{which}",
         f"sw_result = sw_virtual_get_status_{which}($0, "
         f"(MPI_Request *)(uintptr_t)$1, {rest});")
# Of a message in parts only the whole is modelled.
rule("Parrived", "sw_virtual_unmodelled();\n" + call() +
     "if (sw_result == MPI_SUCCESS && !*$2)\n    sw_virtual_poll();")
rule("Start", HOLD + "sw_result = sw_virtual_start_all(1, $0);")
rule("Startall", HOLD + "sw_result = sw_virtual_start_all($0, $1);")
rule("Request_free", HOLD + "MPI_Request gone = *$0;\n" + call() + OK +
     "sw_virtual_freed(gone);")
rule("Cancel", HOLD + call() + OK + "sw_virtual_cancelled(*$0);")

# Collectives -----------------------------------------------------------------


def moves(name):
    """What a profile says of it: sw_NAME_after(&e, ...)."""
    after = RECORDED["of"](name)["after"]
    return "\n".join(line for line in after.split("\n")
                     if "sw_collective_" not in line
                     and not line.lstrip().startswith(("*$", "SW_SHAPE"))
                     ).split("\nsw_collective_")[0]


def collective(name, root, comm):
    what = "SW_COLLECTIVE_" + name.upper()
    event = f"sw_event_t e;\nsw_virtual_event(&e, ${comm});\n"
    told = moves(name)
    rule(name, OWN + event +
         f"if (served.I{name.lower()}@c@ && "
         f"sw_virtual_apart(${comm}, {what})) {{\n    " + HOLD +
         call(f"I{name.lower()}@c@", "@args@, &own") +
         "    if (sw_result == MPI_SUCCESS) {\n" +
         "        if (e.comm) {\n" + told + "\n        }\n"
         f"        sw_result = sw_virtual_collective_own(&e, {what}, {root}, "
         "&own);\n    }\n} else {\n    if (e.comm) {\n" + told +
         f"\n        sw_virtual_collective(&e, {what}, {root});\n    }}\n    "
         + call() + "}")
    for form, place, persistent in ((f"I{name.lower()}", comm + 1, "false"),
                                    (f"{name}_init", comm + 2, "true")):
        rule(form, event + HOLD + call() +
             "if (sw_result == MPI_SUCCESS && e.comm) {\n" + told +
             f"\n    sw_virtual_collective_pending(&e, {what}, {root}, "
             f"*${place}, {persistent});\n}}")


NONE = "-1"
for name, root, comm in (
        ("Barrier", NONE, 0), ("Bcast", "$3", 4), ("Reduce", "$5", 6),
        ("Allreduce", NONE, 5), ("Reduce_scatter", NONE, 5),
        ("Reduce_scatter_block", NONE, 5), ("Scan", NONE, 5),
        ("Exscan", NONE, 5), ("Gather", "$6", 7), ("Gatherv", "$7", 8),
        ("Scatter", "$6", 7), ("Scatterv", "$7", 8), ("Allgather", NONE, 6),
        ("Allgatherv", NONE, 7), ("Alltoall", NONE, 6),
        ("Alltoallv", NONE, 8), ("Alltoallw", NONE, 8)):
    collective(name, root, comm)

for name, comm in (("Neighbor_allgather", 6), ("Neighbor_allgatherv", 7),
                   ("Neighbor_alltoall", 6), ("Neighbor_alltoallv", 8),
                   ("Neighbor_alltoallw", 8)):
    told = moves(name)
    event = f"sw_event_t e;\nsw_virtual_event(&e, ${comm});\n"
    # What is told of an allgather is sent to each.
    each = ("\ne.amount.sent *= e.comm->outs > 0 ? (uint64_t)e.comm->outs : 1;"
            if "allgather" in name else "")
    rule(name, OWN + event + HOLD +
         call(f"I{name.lower()}@c@", "@args@, &own") +
         "if (sw_result == MPI_SUCCESS) {\n    if (e.comm) {\n" + told + each +
         "\n    }\n    sw_result = sw_virtual_near_own(&e, &own);\n}")
    for form, place, persistent in ((f"I{name.lower()}", comm + 1, "false"),
                                    (f"{name}_init", comm + 2, "true")):
        rule(form, event + HOLD + call() +
             "if (sw_result == MPI_SUCCESS && e.comm) {\n" + told + each +
             f"\n    sw_virtual_near(&e, ${place}, {persistent});\n}}")

# Communicators, types --------------------------------------------------------
# All members of the parent come, or only those of the new one.

NEW_ONES = ("Comm_create_group", "Comm_create_from_group",
            "Intercomm_create", "Intercomm_create_from_groups",
            "Intercomm_merge")
for name, how, parent, place in RECORDED["MADE"]:
    if how in ("connection", "spawned"):        # with others than the world's
        continue
    made = f'sw_known_comm_made("{how}", {parent}, *${place});'
    if name in NEW_ONES:
        rule(name, call() + "if (sw_result == MPI_SUCCESS) {\n"
             f"    {made}\n    sw_virtual_other(*${place});\n}}")
    else:
        rule(name, f"sw_virtual_other({parent});\n" + call() + OK + made)
for name, place in (("Comm_idup", 1), ("Comm_idup_with_info", 2)):
    rule(name, f"*${place} = MPI_COMM_NULL;\n" + HOLD + call() + OK +
         f"sw_virtual_idup($0, *${place}, *${place + 1});")
rule("Comm_accept|Comm_connect|Comm_join|Comm_spawn|Comm_spawn_multiple",
     "sw_virtual_unmodelled();\n" + call())

# One-sided -------------------------------------------------------------------

for name, comm, place, shared in (
        ("Win_create", 4, 5, "false"), ("Win_allocate", 3, 5, "false"),
        ("Win_allocate_shared", 3, 5, "true"),
        ("Win_create_dynamic", 1, 2, "false")):
    rule(name, f"sw_virtual_other(${comm});\n" + call() + OK +
         f"sw_virtual_window_made(*${place}, ${comm}, {shared});")
rule("Win_free",
     "MPI_Win gone = *$0;\nsw_virtual_fence(gone);\n" + call() + OK +
     "sw_virtual_window_freed(gone);")
rule("Win_fence", "sw_virtual_fence($1);\n" + call())

# Whom, how many bytes: what the operation does is the engine's name for it.
for name, what, target, count, kind, op, window in (
        ("Put", "PUT", 3, "$1", 2, None, 7),
        ("Get", "GET", 3, "$1", 2, None, 7),
        ("Accumulate", "REDUCE", 3, "$1", 2, 7, 8),
        ("Get_accumulate", "FETCH", 6, "$4", 5, 10, 11),
        ("Fetch_and_op", "FETCH", 3, "1", 2, 5, 6),
        ("Compare_and_swap", "FETCH", 4, "1", 3, None, 6)):
    does = f"SW_WINDOW_{what}"
    if op:
        does = f"sw_virtual_combines(${op}, {does})"
    for form, request in ((name, "MPI_REQUEST_NULL"),
                          ("R" + name.lower(), f"*${window + 1}")):
        rule(form, HOLD + call() + OK +
             f"sw_virtual_moved(${window}, {does}, ${target}, "
             f"(int64_t){count}, ${kind}, {request});")

rule("Win_lock", "sw_virtual_lock_window($3, $1, $0 == MPI_LOCK_EXCLUSIVE, "
     "$2);\n" + call())
rule("Win_lock_all", "sw_virtual_lock_window($1, SW_EVERY_TARGET, false, "
     "$0);\n" + call())
rule("Win_unlock", call() + OK + "sw_virtual_unlock_window($1, $0);")
rule("Win_unlock_all", call() + OK +
     "sw_virtual_unlock_window($0, SW_EVERY_TARGET);")
for local in ("", "_local"):
    flag = "true" if local else "false"
    rule(f"Win_flush{local}", call() + OK +
         f"sw_virtual_flush($1, $0, {flag});")
    rule(f"Win_flush{local}_all", call() + OK +
         f"sw_virtual_flush($0, SW_EVERY_TARGET, {flag});")
rule("Win_post", call() + OK + "sw_virtual_post_window($2, $0);")
rule("Win_start", "sw_virtual_start_window($2, $0);\n" + call() +
     "sw_virtual_started_window($2);")
rule("Win_complete", call() + OK + "sw_virtual_complete_window($0);")
rule("Win_wait", "sw_result = sw_virtual_wait_window($0);")
rule("Win_test", "sw_result = sw_virtual_test_window($0, $1);")

# Waiting for what left a buffer.
rule("(Buffer|Comm|Session)_(flush_buffer|flush)",
     "sw_virtual_unmodelled();\n" + call())
