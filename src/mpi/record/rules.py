"""What recording does around a procedure, by its row of the calls' table.

A rule has pieces of C (see ../calls/wrappers.py for what is filled in):

    local    declarations
    before   before the host's call, which may still find arguments wrong
    hand     arguments replaced in the call: {parameter: expression}
    after    when it has succeeded
    failed   when it has not
    nested   before a call that is not recorded (an attribute's callback makes
             it, say): the host may give a handle that it frees to another
             object

The recorder counts and times a procedure without a rule, and notes its
communicator or window. While recording is paused, the pieces run nevertheless
(event.h), but for those of PASSES.
"""
import re

import table
from table import BLOCKING, NONBLOCKING, PERSISTENT
from wrappers import Families, amount, data, moved, own_status, truth

# Not recorded: conversions of handles and the clock, whose cost is below that
# of recording them; tools' own interface; callbacks.
LEFT_OUT = re.compile(r"""(
    .*_(c2f|f2c|c2f08|f082c|f2f08|f082f|fromint|toint) | Wtime | Wtick |
    Aint_(add|diff) | T_.* | .*_FN | CONVERSION_.* | .*_fn |
    Register_datarep.* | Keyval_.* | Get_address | Address
)$""", re.X)

# Local calls that a program may make very often, and that nothing later depends
# on: they call no callback, and make and free nothing. While recording is
# paused, their wrappers pass them on at once.
PASSES = re.compile(r"""(
    Comm_(rank | size | remote_size | test_inter) | Iprobe |
    Cart_(get | coords | rank | shift) | Cartdim_get | Topo_test |
    Group_(rank | size | translate_ranks) |
    Type_(size | get_(true_)?extent)(_x | _c)? |
    Get_(count | elements)(_x | _c)? | Test_cancelled |
    Initialized | Finalized | Query_thread | Is_thread_main
)$""", re.X)

RULES = Families({
    "free request": dict.fromkeys(("before", "nested"),
                                  "sw_record_request_freed(*$request);"),
    "cancel": {"before": "sw_record_request_cancelled(*$request);"},
    "free communicator": {
        "local": "MPI_Comm gone = *$comm;",
        "before": "sw_event_comm(&e, gone);"},
    "name communicator": {
        "before": "sw_event_comm(&e, $comm);",
        "after": "sw_event_comm_after(&e, $comm);\n"
                 "sw_known_comm_rename($comm, $comm_name);"},
    "make window": {
        "before": "sw_collective_before(&e, $comm, SW_WAITS_ALL, -1);",
        "after": "sw_event_comm_after(&e, $comm);\n"
                 "sw_collective_look(&e, SW_WAITS_ALL, -1);\n"
                 "sw_window_made(&e, *$win, $comm);"},
    "free window": {
        "local": "MPI_Win gone = *$win;",
        "before": "sw_window_meet(&e, sw_window_before(&e, gone));",
        "after": "sw_collective_look(&e, SW_WAITS_ALL, -1);\n"
                 "sw_window_freed(gone);",
        "nested": "sw_window_freed(*$win);"}})
OF = {}                         # by name: those of no family
rule = RULES.rule


def of(procedure):
    """The pieces of a procedure's wrapper."""
    made = OF.get(procedure.name) or RULES.of(table.of(procedure.name))
    if made:
        return made
    comm, window = (procedure.by_type(kind)
                    for kind in ("MPI_Comm", "MPI_Win"))
    if comm:
        return {"before": f"sw_event_comm(&e, {comm});",
                "after": f"sw_event_comm_after(&e, {comm});"}
    return ({"before": f"(void)sw_window_before(&e, {window});"} if window
            else {})


def status(receives=None):
    """A status of our own where the program wants none. While recording is
    paused only a receive with wildcards needs it."""
    return own_status("" if receives is None else
                      f"(!e.paused || {receives.peer} == MPI_ANY_SOURCE || "
                      f"{receives.tag} == MPI_ANY_TAG)")


# Memory of devices -----------------------------------------------------------


def devices(out=None, to=None, sends="e.amount.sent != 0",
            receives="e.amount.received != 0"):
    """Where a call's data lie: `out` and `to` are buffers with their types.
    The conditions hold if the call has such data."""
    none = "NULL", "MPI_DATATYPE_NULL"
    return ("sw_record_devices(&e, "
            + ", ".join((sends if out else "false", *(out or none),
                         receives if to else "false", *(to or none)))
            + ");\n")


def lies(part):
    """The buffer and the type of a message's Part; None without one."""
    return part and (part.buffer, part.type)


def devices_of(call):
    """The same of a collective."""
    def kind(part):
        return "MPI_DATATYPE_NULL" if part.types else part.type

    def or_else(buffer, type_, other, other_type):
        if call.reduces or call.in_place == buffer:
            there = f"{buffer} == MPI_IN_PLACE"
            return (f"{there} ? {other} : {buffer}",
                    type_ if type_ == other_type
                    else f"{there} ? {other_type} : {type_}")
        return buffer, type_

    if not call.moves:
        return ""
    sent, received = kind(call.sends), kind(call.receives or call.sends)
    if call.moves == "bcast":
        return devices(("$buffer", sent), ("$buffer", received))
    return devices(or_else("$sendbuf", sent, "$recvbuf", received),
                   ("$recvbuf", received) if call.reduces else
                   or_else("$recvbuf", received, "$sendbuf", sent))


# Messages --------------------------------------------------------------------


@rule("send")
def send(call):
    s = call.sends
    before = f"sw_record_send_before(&e, $comm, {s.peer}, {s.tag});"
    if call.form == BLOCKING:
        return {"before": before,
                "after": (f"sw_record_send_after(&e, $comm, {s.peer}, "
                          f"{amount(s)});\n" + devices(lies(s)))}
    after = (f"sw_send_pending(&e, $comm, {s.peer}, {s.tag}, {amount(s)}, "
             f"*$request, {truth(call.form == PERSISTENT)});")
    if call.form == PERSISTENT:
        kept = devices(lies(s), sends=f"{s.peer} != MPI_PROC_NULL")
        return {"after": kept + after}
    return {"before": before, "after": f"{after}\n{devices(lies(s))}"}


@rule("receive")
def receive(call):
    r = call.receives
    named = f"&e, $comm, {r.peer}, {r.tag}"
    before = f"sw_record_receive_before({named});"
    if call.form == BLOCKING:
        return {**status(r), "before": before,
                "after": f"sw_record_receive_after({named}, {r.type}, its);\n"
                + devices(to=lies(r))}
    after = devices(to=lies(r), receives=f"{r.peer} != MPI_PROC_NULL") + (
             f"sw_receive_pending({named}, {r.type}, *$request, "
             f"{truth(call.form == PERSISTENT)});")
    return ({"after": after} if call.form == PERSISTENT
            else {"before": before + "\ne.partners = 0;", "after": after})


@rule("partitioned")
def partitioned(call):
    kind = "SEND" if call.sends else "RECEIVE"
    data = call.sends or call.receives
    where = devices(lies(call.sends), lies(call.receives),
                    *2 * (f"{data.peer} != MPI_PROC_NULL",))
    return {"after": where
            + f"sw_record_partitioned(&e, SW_PENDING_{kind}, $comm, "
                     f"{data.peer}, {data.tag},\n               "
                     f"$partitions, {amount(data)}, *$request);"}


for name in ("Pready", "Pready_range", "Pready_list"):
    OF[name] = {"before": "sw_record_pready_before(&e, $request);"}


@rule("matched")
def matched(call):
    before, kind = "sw_record_mrecv_before(&e, *$message);", call.receives.type
    if call.form == BLOCKING:
        return {**status(), "before": before,
                "after": f"sw_record_mrecv_after(&e, {kind}, its);\n"
                + devices(to=lies(call.receives))}
    return {"before": before + "\ne.partners = 0;",
            "after": devices(to=lies(call.receives), receives="e.comm")
            + f"sw_mrecv_pending(&e, {kind}, *$request);"}


@rule("sendrecv")
def sendrecv(call):
    s, r = call.sends, call.receives
    before = (f"sw_record_sendrecv_before(&e, $comm, {s.peer}, {s.tag}, "
              f"{r.peer}, {r.tag});")
    after = f"sw_record_send_after(&e, $comm, {s.peer}, {amount(s)});\n"
    if call.form == BLOCKING:
        return {**status(r), "before": before,
                "after": after + "sw_record_receive_after(&e, $comm, "
                                 f"{r.peer}, {r.tag}, {r.type}, its);\n"
                + devices(lies(s), lies(r))}
    return {"before": before + "\ne.partners = 0;",
            "after": after
            + devices(lies(s), lies(r),
                      receives=f"{r.peer} != MPI_PROC_NULL")
            + f"sw_isendrecv_pending(&e, $comm, {r.peer}, "
                             f"{r.tag}, {amount(r)}, *$request);"}


@rule("probe")
def probe(call):
    if not call.waits and not call.makes:
        return None
    after = f"sw_record_mprobe_after(&e, $comm, *{call.makes}, its);"
    if not call.waits:
        return {**status(), "before": "sw_event_comm(&e, $comm);",
                "after": f"if (*$flag)\n    {after}"}
    return {**status(), "before": "sw_record_probe_before(&e, $comm);",
            "after": "sw_record_probe_after(&e, $comm, its);\n"
                     + (after if call.makes else "")}


# Requests --------------------------------------------------------------------


@rule("complete")
def complete(call):
    many = "$incount" if call.what == "some" else "$count"
    several = call.what in ("all", "some")
    statuses = "$array_of_statuses" if several else "$status"
    requests = f"{many}, $array_of_requests"
    before = (f"sw_record_complete_before(&e, &kept, {requests}, {statuses}, "
              f"{truth(several)}, {truth(call.waits)});")
    ended = {"one": "", "any": ", *$index", "all": f", {many}",
             "some": ", *$outcount, $array_of_indices"}[call.what]
    if call.what == "one":
        requests = "1, $request"
        before = ("sw_record_complete_one_before(&e, &kept, $request, $status, "
                  f"{truth(call.waits)});")
    rest = "sw_record_complete_rest(&kept);"
    return {"local": "sw_completion_t kept;\nMPI_Status *its;",
            "before": f"its = {before}", "hand": {statuses: "its"},
            "after": ("if (*$flag)\n    " if call.flag else "")
            + f"sw_record_complete_{call.what}_after(&e, &kept{ended});\n"
            + rest,
            "failed": f"sw_record_complete_failed(&kept, {requests});\n{rest}"}


@rule("start")
def start(call):
    if call.what == "all":
        return {"local": "MPI_Request *were;",
                "before": "were = sw_record_startall_before(&e, $count, "
                          "$array_of_requests);",
                "after": "sw_record_start_after($count, were, "
                         "$array_of_requests);"}
    return {"local": "MPI_Request was = *$request;",
            "before": "sw_record_start_before(&e, was);",
            "after": "sw_record_start_after(1, &was, $request);"}


# Collectives -----------------------------------------------------------------


def blocks_of(call, part):
    """A Part whose blocks may differ, as a sw_moves_data_t; else NULL."""
    if not part or not part.counts:
        return "NULL"
    if part is call.sends and call.in_place == "$sendbuf":
        return f"{call.in_place} == MPI_IN_PLACE ? NULL : {data(part)}"
    return data(part)


def amounts(call):
    """What is counted of a call, once its communicator is known."""
    text = ""
    if call.rooted:
        text += "sw_collective_root(&e, $root);\n"
    if call.reduces:
        text += "SW_KEY_SET(&e.key, operation, sw_known_op($op));\n"
    if call.moves:
        text += f"sw_collective_moved(&e, {moved(call, 'e.comm')});\n"
        text += ("if (sw_unlikely(e.comm->away))\n    sw_collective_between("
                 f"&e, SW_COLL_{call.what}, {'$root' if call.rooted else -1},"
                 f"\n        {blocks_of(call, call.sends)},"
                 f"\n        {blocks_of(call, call.receives)});\n")
    if call.blocks == "both":
        text += (f"sw_collective_exchanged(&e, {call.in_place} == "
                 f"MPI_IN_PLACE, {data(call.sends)}, {data(call.receives)});\n")
    elif call.blocks:
        text += (f"sw_collective_{call.blocks[:-1]}(&e, $root, "
                 f"{data(getattr(call, call.blocks))});\n")
    return text + devices_of(call)


@rule("collective", "neighbours")
def collective(call):
    root = "$root" if call.rooted else "-1"
    begin = f"sw_collective_before(&e, $comm, {call.waiting}, {root});"
    met = "sw_event_comm_after(&e, $comm);\n"
    if call.form == PERSISTENT:
        return {"before": "sw_event_comm(&e, $comm);",
                "after": f"{met}if (sw_likely(e.comm)) {{\n{amounts(call)}"
                         "sw_collective_persistent(&e, SW_COLL_"
                         f"{call.what}, {call.waiting}, {root}, "
                         "*$request);\n}"}
    if call.form == NONBLOCKING:
        pending = (f"sw_collective_pending(&e, {call.waiting}, {root}, "
                   "*$request);")
        counted = amounts(call)
        if counted:
            counted = f"if (sw_likely(e.comm && !e.paused)) {{\n{counted}}}\n"
        return {"before": begin + "\ne.partners = 0;",
                "after": met + counted + pending}
    return {"before": begin,
            "after": f"{met}if (sw_likely(e.comm && !e.paused)) {{\n"
                     f"{amounts(call)}sw_collective_look(&e, {call.waiting}, "
                     f"{root});\n}}"}


# Communicators, types --------------------------------------------------------


@rule("make communicator")
def make_communicator(call):
    if call.form == NONBLOCKING:
        return None
    known = call.parent != "MPI_COMM_NULL"
    return {"before": f"sw_event_comm(&e, {call.parent});" if known else "",
            "after": (f"sw_event_comm_after(&e, {call.parent});\n"
                      if known else "")
            + f'sw_known_comm_made("{call.how}", {call.parent}, '
              f"*{call.makes});"}


# One-sided -------------------------------------------------------------------


WINDOW = "sw_window_t *w = sw_window_before(&e, $win);\n"
FLAGS = ("($assert & MPI_MODE_NOCHECK ? SW_TARGET_UNCHECKED : 0)")
OF["Win_fence"] = {
    "before": WINDOW + "sw_window_meet(&e, w);",
    "after": "sw_collective_look(&e, SW_WAITS_ALL, -1);"}
for name, asks, what in (
        ("lock", "lock", f"$rank, {FLAGS} | ($lock_type == MPI_LOCK_EXCLUSIVE "
                         "? SW_TARGET_EXCLUSIVE : 0)"),
        ("lock_all", "lock", f"SW_ALL_TARGETS, {FLAGS}"),
        ("unlock", "unlock", "$rank"),
        ("unlock_all", "unlock", "SW_ALL_TARGETS"),
        ("flush", "lock", "$rank, 0"), ("flush_local", "lock", "$rank, 0"),
        ("flush_all", "lock", "SW_ALL_TARGETS, 0"),
        ("flush_local_all", "lock", "SW_ALL_TARGETS, 0"),
        ("post", "post", "$group"), ("start", "start", "$group"),
        ("complete", "complete", ""), ("wait", "wait", ""),
        ("test", "wait", "")):
    target = f", {what}" if asks == "unlock" else ""
    OF[f"Win_{name}"] = {
        "before": WINDOW + f"sw_window_{asks}_before(&e, w{target});",
        "after": ("if (*$flag)\n    " if name == "test" else "")
        + f"sw_window_{asks}_after(&e, w{', ' * bool(what)}{what});"}


RESULT = {"FETCH": "$result_addr"}


@rule("window")
def window(call):
    if call.what == "FETCH":
        op = "$op" if call.reduces else "MPI_REPLACE"
        after = ("sw_record_fetch_after(&e, w, $target_rank, "
                 f"{amount(call.sends)}, {amount(call.receives)}, {op});")
    elif call.what == "GET":
        after = (f"sw_record_get_after(&e, w, $target_rank, "
                 f"{amount(call.receives)});")
    else:
        op = "$op" if call.reduces else "MPI_OP_NULL"
        after = ("sw_record_put_after(&e, w, $target_rank, "
                 f"{amount(call.sends)}, {op});")
    where = devices(("$origin_addr", call.sends.type) if call.sends else None,
                    (RESULT.get(call.what, "$origin_addr"), call.receives.type)
                    if call.receives else None)
    return {"before": WINDOW + "sw_record_access_before(&e, w);",
            "after": f"{after}\n{where}"}


# Files -----------------------------------------------------------------------


@rule("file")
def file(call):
    if call.sends:
        return {"after": f"sw_record_file_wrote(&e, {amount(call.sends)});\n"
                + devices(("$buf", call.sends.type))}
    read = f"sw_record_file_read(&e, {amount(call.receives)}, "
    where = devices(to=("$buf", call.receives.type))
    if call.form == BLOCKING:
        return {**status(), "after": f"{read}its);\n{where}"}
    return {"after": f"{read}NULL);\n{where}"}
