"""The entries of MPI's procedures: where a call of the program comes in.

Usage: generate_entries.py --list
       generate_entries.py DIRECTORY PROCEDURES.INC COMPILER [FLAG...]

Writes one file for each procedure into DIRECTORY, with the entries of all its
forms: large counts, nonblocking and persistent. An entry calls the one function
that serves them all, which takes counts as int64_t. Where that leaves the call
to the host, the entry makes it there.

--list prints the files' names: those are the same whatever <mpi.h> declares.
"""
import os
import sys

from table import COLLECTIVES
from wrappers import STILL, listed, procedures, read_header, standard_names

def passed(parameter, name):
    """What the entry hands on: an array of counts or displacements with the
    size of its elements (base/counts.h), all else as it is."""
    words = parameter.replace("[", " [").replace("*", " * ").split()
    array = "*" in words or "[]" in words
    return (f"SW_VECTOR({name})" if array and words[0] == "const" and
            words[1] in ("int", "MPI_Count", "MPI_Aint") else name)


# Collectives ------------------------------------------------------------------

BLOCKING = """\
    int rc;
    sw_blocking_t here;
    sw_coll_call_t *call = sw_call_begin(&here, SW_COLL_{upper}, comm);
    if (call &&
        sw_call_carry_out(call,
                    {describe},
                    &rc))
        return sw_call_ended(&here.call, rc);
    SW_AWAY_IF(here.call.reason != SW_REASON_ALONE);
    SW_AWAY_BEAT_IF(here.call.reason != SW_REASON_ALONE);
"""
LIFTED = "    SW_LIFT(call, {}, {});\n"
STARTED = """\
    int rc;
    sw_coll_call_t *call = sw_call_start(SW_COLL_{upper}, SW_CALL_{form},
                                         comm, request);
    if (call &&
        sw_call_set_out(call,
                    {describe},
                    &rc))
        return rc;
"""


def given(procedure, *without):
    """What the entry hands on of its arguments."""
    return [passed(parameter, name)
            for parameter, name in zip(procedure.parameters, procedure.names)
            if name not in without]


def lifted(collective, procedure):
    """How a blocking entry's buffers are replaced (mpi/coll/lift.h)."""
    buffers = [name for name in procedure.names
               if name in ("buffer", "sendbuf", "recvbuf")]
    if not buffers or collective.neighbours:
        return ""
    return LIFTED.format(*(f"(const void **)&{buffers[0]}",
                           f"&{buffers[-1]}"))


def collective_entry(collective, form):
    def entry(procedure):
        blocking = form == "BLOCKING"
        body = (BLOCKING if blocking else STARTED).format(
            upper=collective.lower.upper(), form=form, describe=listed(
                f"sw_{collective.lower}",
                ["call", *given(procedure, "comm", "info", "request")], 20))
        if blocking:
            body += lifted(collective, procedure)
        return procedure.function(
            body, "sw_call_ended(&here.call, " if blocking else "")
    return entry


def collective_forms(collective):
    return {name: collective_entry(collective, form) for form, name in (
        ("BLOCKING", collective.name), ("NONBLOCKING", "I" + collective.lower),
        ("PERSISTENT", collective.name + "_init"))}


# Messages ---------------------------------------------------------------------

def served(function, *first):
    """The entry of a procedure that this function serves; `first`: arguments
    before the procedure's own."""
    def entry(procedure):
        call = listed(function, [*first, *given(procedure, "info"), "&rc"], 8)
        return procedure.function(
            f"    int rc;\n    if ({call})\n        return rc;\n")
    return entry


def send_forms(letter, mode):
    name = (letter + "send").capitalize()
    mode = "SW_SEND_" + mode
    return {name: served("sw_send", mode),
            "I" + name.lower(): served("sw_isend", mode),
            name + "_init": served("sw_send_init", mode)}


def exchange_forms(name):
    return {name: served("sw_" + name.lower()),
            "I" + name.lower(): served("sw_i" + name.lower())}


# What is done as the texts say ------------------------------------------------

def text(body):
    """The entry with this body, in which a $name is a parameter."""
    return lambda procedure: procedure.function(procedure.filled(body))


PACK = """\
    int64_t position_ = $position ? *$position : -1;
    if (sw_pack_into($inbuf, $incount, $datatype, $outbuf, $outsize, &position_,
                  $comm)) {
        *$position = position_;
        return MPI_SUCCESS;
    }
"""
REDUCE_LOCAL = """\
    if (sw_reduce_local($inbuf, $inoutbuf, $count, $datatype, $op))
        return MPI_SUCCESS;
"""
UNPACK = """\
    int64_t position_ = $position ? *$position : -1;
    if (sw_pack_from($inbuf, $insize, &position_, $outbuf, $outcount, $datatype,
                    $comm)) {
        *$position = position_;
        return MPI_SUCCESS;
    }
"""


# Windows ----------------------------------------------------------------------

WINDOW = """\
    int rc = MPI_SUCCESS;
    sw_win_t *w = sw_win(win);
    if (w && {serves})
        return rc;
    SW_AWAY;{beat}
"""


def window(function, requested=False, waits=True):
    """`waits`: the host may wait in it, and not only move data."""
    def entry(procedure):
        serves = listed(function, ["w", *given(procedure, "win", "request"),
                                   "&rc"], 8 if requested else 13)
        if requested:
            serves = (f"request &&\n        {serves} &&\n"
                      "        sw_rma_access_requested(request, &rc)")
        return procedure.function(WINDOW.format(
            serves=serves, beat="\n    SW_AWAY_BEAT;" if waits else ""))
    return entry


def access_forms(name):
    function = "sw_" + name.lower()
    return {name: window(function, waits=False),
            "R" + name.lower(): window(function, requested=True, waits=False)}


# What makes a communicator, or a window ---------------------------------------

def made(before, after):
    """The entry of a setup procedure (guard.h) that does this before and after
    the host's; `after` is what it returns, of the host's rc."""
    def entry(procedure):
        call = listed(f"host.{procedure.name}", procedure.names, 13)
        return procedure.whole(f"    SW_INSIDE;\n{procedure.filled(before)}"
                               f"    int rc = {call};\n"
                               f"    return {procedure.filled(after)};\n")
    return entry


def communicator(procedure):
    parent, fresh = procedure.names[0], procedure.names[-1]
    call = listed(f"host.{procedure.name}", [
        *procedure.names[:-1], f"{fresh} ? &made : NULL"], 13)
    kind = "_STILL" if STILL.match(procedure.name) else ""
    return procedure.whole(f"    SW_INSIDE{kind};\n"
                           f"    MPI_Comm made = {parent};\n"
                           f"    int rc = {call};\n"
                           f"    return sw_context_id_give(rc, {parent}, made, "
                           f"{fresh});\n")


def allocated(kind):
    return made("", f"sw_win_allocated(rc, {kind}, $baseptr, $size, "
                    "$disp_unit,\n                            $comm, $win)")


# All --------------------------------------------------------------------------

COLLECTIVE, MESSAGE, PARTITIONED, WINDOWS, PACKING, LOCAL, COMMUNICATOR = (
    "mpi/coll/describe.h", "mpi/p2p/calls.h", "mpi/p2p/partitioned.h",
    "mpi/rma/calls.h", "mpi/base/pack.h", "mpi/base/reduce_local.h",
    "mpi/base/context_id.h")

# For each procedure the header of what serves it, and its forms without _c:
# {name: a function that writes the entry of a Procedure}.
ENTRIES = {
    **{c.name: (COLLECTIVE, collective_forms(c)) for c in COLLECTIVES},
    "Send": (MESSAGE, send_forms("", "STANDARD")),
    "Rsend": (MESSAGE, send_forms("r", "READY")),
    "Ssend": (MESSAGE, send_forms("s", "SYNCHRONOUS")),
    "Bsend": (MESSAGE, send_forms("b", "BUFFERED")),
    "Recv": (MESSAGE, {"Recv": served("sw_recv"), "Irecv": served("sw_irecv"),
                       "Recv_init": served("sw_recv_init")}),
    "Mrecv": (MESSAGE, {"Mrecv": served("sw_mrecv"),
                        "Imrecv": served("sw_imrecv")}),
    "Sendrecv": (MESSAGE, exchange_forms("Sendrecv")),
    "Sendrecv_replace": (MESSAGE, exchange_forms("Sendrecv_replace")),
    "Psend_init": (PARTITIONED, {
        "Psend_init": served("sw_partitioned_init", "true")}),
    "Precv_init": (PARTITIONED, {
        "Precv_init": served("sw_partitioned_init", "false")}),
    "Pack": (PACKING, {"Pack": text(PACK)}),
    "Unpack": (PACKING, {"Unpack": text(UNPACK)}),
    "Reduce_local": (LOCAL, {"Reduce_local": text(REDUCE_LOCAL)}),
    **{name: (WINDOWS, access_forms(name))
       for name in ("Put", "Get", "Accumulate", "Get_accumulate")},
    **{name: (WINDOWS, {name: window("sw_" + name.lower())})
       for name in ("Fetch_and_op", "Compare_and_swap", "Win_fence",
                    "Win_start", "Win_complete", "Win_post", "Win_wait",
                    "Win_test", "Win_lock", "Win_unlock", "Win_lock_all",
                    "Win_unlock_all", "Win_sync")},
    "Win_flush": (WINDOWS, {"Win_flush": window("sw_win_flush"),
                            "Win_flush_local": window("sw_win_flush")}),
    "Win_flush_all": (WINDOWS, {
        "Win_flush_all": window("sw_win_flush_all"),
        "Win_flush_local_all": window("sw_win_flush_all")}),
    "Win_create": (WINDOWS, {"Win_create": made(
        "    uint64_t shown = sw_win_settle($base, $size);\n",
        "sw_win_created(rc, $base, $size, $disp_unit, shown, $comm, $win)")}),
    "Win_allocate": (WINDOWS, {"Win_allocate": allocated("SW_WIN_ALLOCATED")}),
    "Win_allocate_shared": (WINDOWS, {
        "Win_allocate_shared": allocated("SW_WIN_SHARED_MEMORY")}),
    "Win_create_dynamic": (WINDOWS, {"Win_create_dynamic": made(
        "", "sw_win_created_dynamic(rc, $comm, $win)")}),
    **{name: (COMMUNICATOR, {name: communicator})
       for name in ("Comm_dup", "Comm_split", "Comm_create", "Cart_sub",
                    "Intercomm_merge", "Comm_create_group",
                    "Comm_dup_with_info", "Comm_split_type")},
}


def file_of(name):
    return f"MPI_{name}.c"


def main(directory, *source):
    known = procedures(read_header(*source), standard_names())
    os.makedirs(directory, exist_ok=True)
    for procedure, (header, forms) in ENTRIES.items():
        with open(os.path.join(directory, file_of(procedure)), "w") as file:
            file.write("/* Generated by generate_entries.py: do not edit. */\n"
                       f'#include "{header}"\n#include "mpi/base/guard.h"\n')
            for name, entry in forms.items():
                for form in (name, name + "_c"):
                    if form in known:
                        file.write("\n" + entry(known[form]))


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print(";".join(map(file_of, ENTRIES)))
    else:
        main(sys.argv[1], sys.argv[2], sys.argv[3:])
