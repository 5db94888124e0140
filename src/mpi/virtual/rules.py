"""What a procedure's wrapper does in virtual time, by its row of the calls'
table.

A rule is C (see ../calls/wrappers.py for what is filled in), which leaves the
call's result in sw_result. Where the header lacks a procedure that a rule
calls, there is no wrapper.

A procedure without a rule has a wrapper only if the host calls MPI inside it
(generate.py, SETUP): virtual time takes it for computing.
"""
import table
from table import BLOCKING, NONBLOCKING, PERSISTENT
from wrappers import Families, amount, moved, truth


def host(name="@name@", args="@args@"):
    return f"sw_result = served.{name}({args});\n"


def given(it):
    """Its buffer, its count and its type."""
    return f"{it.buffer}, {amount(it)}"


HOLD = "sw_virtual_hold();\n"
OK = "if (sw_result == MPI_SUCCESS)\n    "
OWN = "MPI_Request own = MPI_REQUEST_NULL;\n"
# A function of ours does it all.
WHOLE = "sw_result = sw_virtual_@lower@(@args@);"

RULES = Families({
    "probe": WHOLE,
    "complete": WHOLE,
    "free request": HOLD + "MPI_Request gone = *$request;\n" + host() + OK
    + "sw_virtual_freed(gone);",
    "cancel": HOLD + host() + OK + "sw_virtual_cancelled(*$request);",
    "free window": "MPI_Win gone = *$win;\nsw_virtual_meet_window(gone, "
    "SW_COLLECTIVE_OTHER);\n" + host()
    + OK + "sw_virtual_window_freed(gone);"})
OF = {}                         # by name: those of no family
rule = RULES.rule


def of(procedure):
    """C, or None."""
    name = procedure.name
    return (OF.get(name[:-2] if name.endswith("_c") else name)
            or RULES.of(table.of(name)))


# Messages --------------------------------------------------------------------

MODES = {"": "0", "b": "SW_SEND_BUFFERED", "s": "SW_SEND_SYNCHRONOUS",
         "r": "0"}


@rule("send")
def send(call):
    s, flags = call.sends, MODES[call.mode]
    data = f"{given(s)}, {s.peer}, {s.tag}, $comm, {flags}"
    said = f"$comm, {s.peer}, {s.tag}, {amount(s)}, {flags}"
    if call.form == BLOCKING:
        return (OWN + HOLD + f"sw_result = sw_virtual_detach({data}) ? "
                f"MPI_SUCCESS : served.I{call.mode}send@c@(@args@, &own);\n"
                + OK + f"sw_result = sw_virtual_sent({said}, &own);")
    if call.form == NONBLOCKING:
        return (HOLD + f"if (sw_virtual_detach({data}))\n    sw_result = "
                "sw_virtual_detached_request($request);\nelse\n    " + host()
                + OK + f"sw_virtual_isent({said}, *$request, false);")
    return (host() + OK + f"sw_virtual_isent({said}, *$request, true);\n" + OK
            + f"sw_virtual_detachable(*$request, {data});")


@rule("receive")
def receive(call):
    r = call.receives
    if call.form == BLOCKING:
        return (f"int from = {r.peer}, what = {r.tag};\n" + OWN + HOLD
                + "sw_virtual_choose($comm, &from, &what);\n"
                + host("Irecv@c@", f"{r.buffer}, {r.count}, {r.type}, from, "
                       "what, $comm, &own") + OK
                + "sw_result = sw_virtual_received($comm, from, what, "
                f"{amount(r)}, &own, $status);")
    persistent = call.form == PERSISTENT
    return (("" if persistent else HOLD) + host() + OK
            + f"sw_virtual_posted($comm, {r.peer}, {r.tag}, {amount(r)}, "
            f"*$request, {truth(persistent)});")


@rule("partitioned")
def partitioned(call):
    data = call.sends or call.receives
    return (host() + OK + f"sw_virtual_partitioned({truth(call.sends)}, $comm, "
            f"{data.peer}, {data.tag}, $partitions * {amount(data)}, "
            "*$request);")


@rule("matched")
def matched(call):
    its = "MPI_Message its = *$message;\n"
    if call.form == BLOCKING:
        r = call.receives
        return (its + OWN + host("Imrecv@c@", f"{r.buffer}, {r.count}, "
                                 f"{r.type}, $message, &own") + OK
                + "sw_result = sw_virtual_mreceived(its, &own, $status);")
    return its + host() + OK + "sw_virtual_imreceived(its, *$request);"


# The send of a nonblocking one goes by itself: what is left is a receive, whose
# status tells what it took (MPICH's and Intel MPI's of an Isendrecv tell
# anything).
@rule("sendrecv")
def sendrecv(call):
    s, r = call.sends, call.receives
    data = f"{given(s)}, {s.peer}, {s.tag}, $comm"
    room = f"{r.buffer}, {r.count}, {r.type}"
    if call.form == NONBLOCKING:
        return (HOLD + f"if ({s.peer} == MPI_PROC_NULL || sw_virtual_detach("
                f"{data}, SW_DETACH_SMALL))\n    "
                + host("Irecv@c@", f"{room}, {r.peer}, {r.tag}, $comm, "
                       "$request") + "else\n    " + host() + OK
                + f"sw_virtual_isendrecv($comm, {s.peer}, {s.tag}, {amount(s)},"
                f" {r.peer}, {r.tag}, {amount(r)}, *$request);")
    if s.buffer == r.buffer:
        return (HOLD + "sw_result = sw_virtual_sendrecv_replace("
                f"{given(s)}, {s.peer}, {s.tag}, {r.peer}, {r.tag}, $comm, "
                "$status);")
    return (f"int from = {r.peer}, what = {r.tag};\n" + HOLD
            + "MPI_Request own[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};\n"
            f"sw_result = sw_virtual_detach({data}, 0)\n"
            "    ? MPI_SUCCESS\n"
            f"    : served.Isend@c@({s.buffer}, {s.count}, {s.type}, {s.peer}, "
            f"{s.tag}, $comm, &own[0]);\n"
            "if (sw_result == MPI_SUCCESS) {\n"
            f"    uint32_t sent = sw_virtual_sending($comm, {s.peer}, {s.tag}, "
            f"{amount(s)});\n"
            "    sw_virtual_choose($comm, &from, &what);\n    "
            + host("Irecv@c@", f"{room}, from, what, $comm, &own[1]")
            + "    if (sw_result == MPI_SUCCESS)\n"
            "        sw_result = sw_virtual_sendrecv($comm, from, what, "
            f"{amount(r)}, sent, own, $status);\n}}")


# Requests --------------------------------------------------------------------


@rule("start")
def start(call):
    n, requests = (("$count", "$array_of_requests") if call.what == "all"
                   else ("1", "$request"))
    return HOLD + f"sw_result = sw_virtual_start_all({n}, {requests});"


OF["Request_get_status"] = "sw_result = sw_virtual_get_status(@args@);"
for which, rest in (("all", "$count, @, $flag, $array_of_statuses"),
                    ("any", "$count, @, $index, $flag, $status"),
                    ("some", "$incount, @, $outcount, $array_of_indices, "
                             "$array_of_statuses")):
    # Some headers say that the requests are const, and some do not.
    OF[f"Request_get_status_{which}"] = (
        f"sw_result = sw_virtual_get_status_{which}("
        + rest.replace("@", "(MPI_Request *)(uintptr_t)$array_of_requests")
        + ");")
# Of a message in parts only the whole is modelled.
OF["Parrived"] = ("sw_virtual_unmodelled();\n" + host()
                  + "if (sw_result == MPI_SUCCESS && !*$flag)\n"
                  "    sw_virtual_poll();")

# Collectives -----------------------------------------------------------------


def among(call):
    """C that declares the members and what the call moves, and C that finds
    the latter."""
    return ("sw_known_comm_t *members = sw_virtual_comm($comm);\n"
            "sw_moved_t moves = {0};\n",
            f"moves = {moved(call, 'members')};\n" if call.moves else "")


@rule("collective")
def collective(call):
    what = f"SW_COLLECTIVE_{call.what}"
    told = f"members, &moves, {what}, {'$root' if call.rooted else '-1'}"
    first, found = among(call)
    if call.form != BLOCKING:
        return (first + HOLD + host()
                + "if (sw_result == MPI_SUCCESS && members) {\n" + found
                + f"sw_virtual_collective_pending({told}, *$request, "
                f"{truth(call.form == PERSISTENT)});\n}}")
    known = f"if (members)\n    {found}" if found else ""
    own = f"I{call.what.lower()}@c@"
    return (OWN + first
            + f"if (served.{own} && sw_virtual_apart($comm, {what})) {{\n"
            + HOLD + host(own, "@args@, &own") + "if (sw_result == MPI_SUCCESS)"
            f" {{\n{known}sw_result = sw_virtual_collective_own({told}, &own);"
            f"\n}}\n}} else {{\nif (members) {{\n"
            f"{found}sw_virtual_collective({told});\n}}\n{host()}}}")


@rule("neighbours")
def neighbours(call):
    first, found = among(call)
    if call.moves == "neighbor_allgather":      # to each of them
        found += ("moves.sent *= members->outs > 0 ? (uint64_t)members->outs "
                  ": 1;\n")
    if call.form == BLOCKING:
        return (OWN + first + HOLD
                + host(f"I{call.what.lower()}@c@", "@args@, &own")
                + "if (sw_result == MPI_SUCCESS) {\nif (members) {\n" + found
                + "}\nsw_result = sw_virtual_near_own(members, &moves, "
                "&own);\n}")
    return (first + HOLD + host()
            + "if (sw_result == MPI_SUCCESS && members) {\n" + found
            + "sw_virtual_near(members, &moves, $request, "
            f"{truth(call.form == PERSISTENT)});\n}}")


# Communicators, types --------------------------------------------------------


@rule("make communicator")
def make_communicator(call):
    """All members of the old one come, or only those of the new one."""
    if call.members == "outside":
        return "sw_virtual_unmodelled();\n" + host()
    if call.form == NONBLOCKING:
        return (f"*{call.makes} = MPI_COMM_NULL;\n" + HOLD + host() + OK
                + f"sw_virtual_idup({call.parent}, *{call.makes}, *$request);")
    made = (f'sw_known_comm_made("{call.how}", {call.parent}, '
            f"*{call.makes});")
    if call.members == "new":
        return (host() + "if (sw_result == MPI_SUCCESS) {\n"
                f"    {made}\n    sw_virtual_other(*{call.makes});\n}}")
    return f"sw_virtual_other({call.parent});\n" + host() + OK + made


OF["Comm_join"] = "sw_virtual_unmodelled();\n" + host()

# One-sided -------------------------------------------------------------------


@rule("make window")
def make_window(call):
    return ("sw_virtual_other($comm);\n" + host() + OK
            + "sw_virtual_window_made(*$win, $comm, "
            + (f"SW_WINDOW_{call.what}" if call.what else "0") + ");")


@rule("window")
def window(call):
    does = f"SW_WINDOW_{call.what}"
    if call.reduces:
        does = f"sw_virtual_combines($op, {does})"
    request = ("*$request" if call.form == NONBLOCKING else "MPI_REQUEST_NULL")
    return (HOLD + host() + OK + f"sw_virtual_moved($win, {does}, $target_rank,"
            f" {amount(call.receives or call.sends)}, {request});")


OF["Win_fence"] = ("sw_virtual_meet_window($win, SW_COLLECTIVE_FENCE);\n"
                   + host())
OF["Win_lock"] = ("sw_virtual_lock_window($win, $rank, $lock_type == "
                  "MPI_LOCK_EXCLUSIVE, $assert);\n" + host())
OF["Win_lock_all"] = ("sw_virtual_lock_window($win, SW_EVERY_TARGET, false, "
                      "$assert);\n" + host())
for name, does in (
        ("unlock", "unlock_window($win, $rank)"),
        ("unlock_all", "unlock_window($win, SW_EVERY_TARGET)"),
        ("flush", "flush($win, $rank, false)"),
        ("flush_all", "flush($win, SW_EVERY_TARGET, false)"),
        ("flush_local", "flush($win, $rank, true)"),
        ("flush_local_all", "flush($win, SW_EVERY_TARGET, true)"),
        ("post", "post_window($win, $group)"),
        ("complete", "complete_window($win)")):
    OF[f"Win_{name}"] = host() + OK + f"sw_virtual_{does};"
OF["Win_start"] = ("sw_virtual_start_window($win, $group);\n" + host()
                   + "sw_virtual_started_window($win);")
OF["Win_wait"] = "sw_result = sw_virtual_wait_window($win);"
OF["Win_test"] = "sw_result = sw_virtual_test_window($win, $flag);"

# Waiting for what left a buffer.
for name in ("Buffer_flush", "Comm_flush_buffer", "Session_flush_buffer"):
    OF[name] = "sw_virtual_unmodelled();\n" + host()
