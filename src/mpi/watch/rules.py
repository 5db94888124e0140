"""What watching does around a procedure, by its row of the calls' table.

A rule has pieces of C (see ../calls/wrappers.py for what is filled in):

    local    declarations
    before   before the call: what it waits for
    waits    true: the call may wait for other ranks
    hand     arguments replaced in the call: {parameter: expression}
    after    when it has succeeded
    failed   when it has not
    end      in both cases

A procedure without a rule is not watched: it waits for no rank.
"""
import re

import table
from table import BLOCKING, NONBLOCKING, PERSISTENT
from wrappers import Families, amount, own_status, truth

# Those that may wait, and of which the call alone is shown.
SHOWN = re.compile(r"""(
    Init | Init_thread | Session_(init|finalize) | Buffer_(detach|flush) |
    Comm_(detach|flush)_buffer | Comm_join | Open_port | Lookup_name |
    File_(close|sync|set_(view|size|atomicity)|preallocate|get_type_extent) |
    File_(read|write).*_end | Mrecv
)(_c)?$""", re.X)

RULES = Families({
    "free request": {"before": "if ($request)\n"
                               "    sw_watched_freed(*$request);"},
    "cancel": {"before": "if ($request)\n"
                         "    sw_watched_cancelled(*$request);"},
    "name communicator": {
        "after": "sw_watched_comm_named($comm, $comm_name);"},
    "free communicator": {
        "before": "if ($comm)\n"
                  "    sw_watched_collective(&w, *$comm, -1, 0);",
        "waits": True},
    "make window": {
        "before": "sw_watched_collective(&w, $comm, -1, 0);",
        "after": "sw_watched_win_made(*$win, $comm);",
        "waits": True},
    "free window": {
        "local": "MPI_Win gone = $win ? *$win : MPI_WIN_NULL;",
        "before": "sw_watched_win(&w, gone);",
        "after": "sw_watched_win_freed(gone);",
        "waits": True}})
rule = RULES.rule

OF = {                          # by name: those of no family
    "Finalize": {"before": "sw_watched_finalize(&w);", "waits": True,
                 "after": "sw_watched_finalized();"},
    "File_open": {"before": "sw_watched_collective(&w, $comm, -1, 0);",
                  "waits": True},
    "Comm_get_parent": {
        "after": "sw_watched_comm_made(MPI_COMM_NULL, *$parent);"},
    "Pready": {"before": "sw_watched_ready($request, 1);"},
    "Pready_range": {
        "before": "sw_watched_ready($request, (int64_t)$partition_high - "
                  "$partition_low + 1);"},
    "Pready_list": {"before": "sw_watched_ready($request, $length);"},
    "Win_fence": {"before": "sw_watched_win_fence(&w, $win);",
                  "waits": True}}


def of(procedure):
    """The pieces of a procedure's wrapper; None: it is not watched."""
    name = procedure.name
    made = OF.get(name) or RULES.of(table.of(name))
    if made is None and SHOWN.match(name):
        return {"waits": True}
    return made


# Messages --------------------------------------------------------------------


def data(it):
    """The bytes of a Part."""
    return f"sw_watched_bytes({amount(it)})"


def status(r):
    """A status of our own, where only it tells whose message has come."""
    return own_status(f"sw_watched_asks({r.peer}, {r.tag})",
                      "own.MPI_SOURCE = MPI_ANY_SOURCE; /* not told */\n")


RECEIVED = {"after": "sw_watched_received(&w, its);",
            "failed": "if (sw_watched_truncated(sw_result))\n"
                      "    sw_watched_received(&w, its);"}


def begun(kind, call):
    """The call's request, of a nonblocking or a persistent form."""
    return (f"sw_watched_request(&w, SW_WATCH_{kind}, *$request, "
            f"{truth(call.form == PERSISTENT)}, 0);")


@rule("send")
def send(call):
    s = call.sends
    asked = f"&w, $comm, {s.peer}, {s.tag}, {data(s)}"
    if call.form == PERSISTENT:
        return {"before": f"sw_watched_message({asked});",
                "after": begun("SENDS", call)}
    before = {"before": f"sw_watched_send({asked});"}
    if call.form == BLOCKING:
        return {**before, "waits": True}
    return {**before, "after": begun("SENDS", call)}


@rule("receive")
def receive(call):
    r = call.receives
    before = {"before": f"sw_watched_message(&w, $comm, {r.peer}, {r.tag}, "
                        f"{data(r)});"}
    if call.form == BLOCKING:
        return {**status(r), **before, **RECEIVED, "waits": True}
    return {**before, "after": begun("RECEIVES", call)}


@rule("partitioned")
def partitioned(call):
    kind = "SENDS" if call.sends else "RECEIVES"
    it = call.sends or call.receives
    return {"before": f"sw_watched_message(&w, $comm, {it.peer}, {it.tag}, "
                      f"sw_watched_bytes((int64_t){it.count} * $partitions, "
                      f"{it.type}));",
            "after": f"sw_watched_request(&w, SW_WATCH_{kind}, *$request, "
                     "true, $partitions);"}


@rule("matched")
def matched(call):
    return {"after": begun("OTHER", call)} if call.form != BLOCKING else None


@rule("sendrecv")
def sendrecv(call):
    s, r = call.sends, call.receives
    before = {"before": f"sw_watched_sendrecv(&w, $comm, {s.peer}, {s.tag}, "
                        f"{r.peer}, {r.tag},\n    {data(r)});"}
    if call.form == BLOCKING:
        return {**status(r), **before, **RECEIVED, "waits": True}
    return {**before, "after": begun("RECEIVES", call)}


@rule("probe")
def probe(call):
    made = {"before": "sw_watched_message(&w, $comm, $source, $tag, 0);",
            "waits": call.waits}
    if call.makes:
        came = "sw_watched_received(&w, its);"
        made = {**status(table.Part("", "", "", "$source", "$tag")), **made,
                "after": f"if (*$flag)\n    {came}" if call.flag else came}
    return {**made, "end": "w.polls = !*$flag;" if call.flag else ""}


# Requests --------------------------------------------------------------------


@rule("complete")
def complete(call):
    several = call.what in ("all", "some")
    statuses = "$array_of_statuses" if several else "$status"
    many = "$incount" if call.what == "some" else "$count"
    requests = "$request" if call.what == "one" else "$array_of_requests"
    n = "1" if call.what == "one" else many
    done = {"one": "sw_watched_done(&kept, 0, 0);",
            "any": "if (*$index != MPI_UNDEFINED)\n"
                   "    sw_watched_done(&kept, *$index, 0);",
            "all": f"sw_watched_done_all(&kept, {many});",
            "some": "sw_watched_done_some(&kept, *$outcount, "
                    "$array_of_indices);"}[call.what]
    found = "*$flag" if call.flag else (
        "*$outcount" if call.what == "some" and not call.waits else "")
    if found:
        done = (f"if ({found}) {{\n{done}\n}} else {{\n"
                "    w.polls = true;\n}")
    ends = f"sw_watched_wait_ends(&kept, {requests}, "
    if call.waits and call.what in ("any", "some"):
        done += f"\n{ends}false);"
    return {"local": "sw_watched_wait_t kept;\nMPI_Status *its;",
            "before": f"its = sw_watched_wait(&w, &kept, {n}, {requests}, "
                      f"{statuses},\n    {truth(several)}, "
                      f"{truth(call.waits)});",
            "hand": {statuses: "its"}, "waits": call.waits,
            "after": done, "failed": f"{ends}true);"}


@rule("start")
def start(call):
    if call.what == "all":
        return {"local": "uint64_t *were = $count > 0 ? sw_watched_scratch("
                         "(size_t)$count * sizeof *were) : NULL;",
                "before": "sw_watched_starts($count, "
                          "$array_of_requests, were);",
                "after": "sw_watched_started($count, $array_of_requests, "
                         "were);"}
    return {"local": "uint64_t were = 0;",
            "before": "sw_watched_starts(1, $request, &were);",
            "after": "sw_watched_started(1, $request, &were);"}


# Collectives -----------------------------------------------------------------


def moved(call):
    """The bytes of a block, where all blocks are alike. A member may have no
    say in one part (MPI_IN_PLACE); only the root of a scatter sends."""
    first, second, buffer = call.sends, call.receives, "$sendbuf"
    if call.in_place == "$recvbuf":
        first, second, buffer = call.receives, call.sends, "$recvbuf"
    if not first and not second:
        return "0"
    first = first or second

    def known(it):
        return data(it) if it and not it.counts else "SW_WATCH_UNKNOWN"

    if call.in_place != buffer or known(first) == known(second):
        return known(first)
    return (f"{buffer} == MPI_IN_PLACE ? {known(second)}\n"
            f"                         : {known(first)}")


@rule("collective", "neighbours")
def collective(call):
    root = "$root" if call.rooted else "-1"
    if call.form == PERSISTENT:
        return {"before": f"sw_watched_member(&w, $comm, {root}, "
                          f"{moved(call)});",
                "after": begun("COLLECTIVE", call)}
    before = {"before": f"sw_watched_collective(&w, $comm, {root}, "
                        f"{moved(call)});"}
    if call.form == BLOCKING:
        return {**before, "waits": True}
    return {**before, "after": begun("COLLECTIVE", call)}


@rule("make communicator")
def make_communicator(call):
    old = call.members == "old"
    before = (f"sw_watched_collective(&w, {call.parent}, -1, 0);" if old
              else f"sw_watched_member(&w, {call.parent}, -1, 0);")
    if call.form == NONBLOCKING:
        return {"before": before
                + f"\nuint64_t made = sw_watched_comm_promise({call.parent});",
                "after": "sw_watched_promised(&w, *$request, "
                         f"{call.makes}, made);"}
    parent = call.parent if old else "MPI_COMM_NULL"
    return {"before": before, "waits": True,
            "after": f"sw_watched_comm_made({parent}, *{call.makes});"}


# One-sided -------------------------------------------------------------------


for name, after in (
        ("lock", "sw_watched_win_locked(&w, $lock_type == "
                 "MPI_LOCK_EXCLUSIVE);"),
        ("unlock", "sw_watched_win_unlocked(&w);"),
        ("flush", ""), ("flush_local", "")):
    OF[f"Win_{name}"] = {
        "before": "sw_watched_win_target(&w, $win, $rank);", "waits": True,
        "after": after}
for name, after in (("lock_all", "sw_watched_win_locked(&w, false);"),
                    ("unlock_all", "sw_watched_win_unlocked(&w);"),
                    ("flush_all", ""), ("flush_local_all", "")):
    OF[f"Win_{name}"] = {
        "before": "sw_watched_win_target(&w, $win, MPI_ANY_SOURCE);",
        "waits": True, "after": after}
for name, starts in (("start", True), ("post", False)):
    OF[f"Win_{name}"] = {
        "before": f"sw_watched_win_group(&w, $win, $group, {truth(starts)});",
        "waits": starts}
for name, starts in (("complete", True), ("wait", False)):
    OF[f"Win_{name}"] = {
        "before": "sw_watched_win(&w, $win);", "waits": True,
        "after": f"sw_watched_win_ended(&w, {truth(starts)});"}
OF["Win_test"] = {
    "before": "sw_watched_win(&w, $win);",
    "after": "if (*$flag)\n    sw_watched_win_ended(&w, false);\n"
             "w.polls = !*$flag;"}


@rule("window")
def window(call):
    made = {"before": "sw_watched_win_target(&w, $win, $target_rank);"}
    if call.form == NONBLOCKING:
        made["after"] = begun("OTHER", call)
    return made


# Files -----------------------------------------------------------------------


@rule("file")
def file(call):
    return {"waits": True} if call.form == BLOCKING else None
