"""What a rank does: it waits in MPI, computes, polls, has stopped, is gone.

A rank with several threads waits when each of its threads that communicate
waits. A thread communicates if it has made a call other than MPI_Init; if none
has, the main thread counts.
"""

from straightway.where import phrases

GONE, ZOMBIE, STOPPED, HELD, NEW, LEFT, USER, POLLS, MOVES, UNSEEN, WAITS = (
    "gone", "zombie", "stopped", "held", "new", "left", "user", "polls",
    "moves", "unseen", "waits")
# What may keep others for ever comes first.
WORST = (GONE, ZOMBIE, STOPPED, HELD, NEW, LEFT, USER, POLLS, WAITS, MOVES,
         UNSEEN)
_POLLS = ("MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status",
          "MPI_Parrived", "MPI_Win_test")
_INIT = ("MPI_Init", "MPI_Session_init")
COLLECTIVE_ANYWAY = ("MPI_Finalize", "MPI_Win_free", "MPI_Win_fence")


def polls(call):
    return call is not None and call.name.startswith(_POLLS)


def in_init(rank):
    """Whether a rank is in MPI_Init now."""
    return any(t.inside and t.call and t.call.name.startswith(_INIT)
               for t in rank.threads)


def is_blocked(thread):
    """Whether a thread is in a call that may wait, and has been in it at both
    looks."""
    call = thread.call
    return bool(call and thread.inside and not thread.moves
                and not polls(call))


def speaking(rank):
    """The threads that communicate."""
    found = [t for t in rank.threads
             if t.call and not t.call.name.startswith(_INIT) or t.inside]
    return found or rank.threads[:1]


def of(rank):
    """The standing of a Rank that is seen."""
    if rank.state in ("Z", "X"):
        return ZOMBIE
    if rank.state == "T":
        return STOPPED
    if rank.state == "t":
        return HELD
    if rank.new:
        return NEW
    if rank.finalized:
        return LEFT
    threads = speaking(rank)
    if threads and all(map(is_blocked, threads)):
        return WAITS
    if any(t.moves for t in threads):
        return MOVES
    if any(polls(t.call) for t in threads if not is_blocked(t)):
        return POLLS
    return USER


def last_call(thread):
    """MPI_Allreduce #7 on 'c', the last call of a thread; "" for none"""
    call = thread.call if thread else None
    if call is None or call.name.startswith(_INIT):
        return ""
    return phrases.collective(call.name, call.number, call.communicator
                              if call.number is not None else None)


def free_thread(rank):
    """The thread that stands for a rank which does not wait in MPI."""
    return next((t for t in speaking(rank) if not is_blocked(t)),
                rank.threads[0] if rank.threads else None)


def at(thread):
    """ at x.c:12; "" where the place is not known"""
    return f" at {thread.place}" if thread and thread.place else ""


def user_code(rank):
    """in user code at x.c:12"""
    thread = free_thread(rank)
    if thread is None:
        return "in user code"
    text = "in user code"
    last = last_call(thread)
    if thread.sampled or not thread.call:
        text += at(thread)
    elif last:
        # No stack: its last call says where it was.
        text += f" after {last}{at(thread)}"
    if rank.state == "D":
        text += ", where it waits for a device or a file system"
    return text


def waiting_call(rank):
    """The thread whose call stands for a rank that waits."""
    return next((t for t in speaking(rank) if is_blocked(t)), None)


def _call(thread):
    """(is, are) of a thread's call."""
    call = thread.call
    if call.number is not None or call.name.startswith(COLLECTIVE_ANYWAY):
        where = None if call.name == "MPI_Finalize" else call.communicator
        text = phrases.collective(call.name, call.number, where)
        return f"is in {text}{at(thread)}", f"are in {text}{at(thread)}"
    if call.name in ("MPI_Recv", "MPI_Probe", "MPI_Mprobe", "MPI_Sendrecv",
                     "MPI_Sendrecv_replace"):
        text = f"{phrases.tag(call.tag)} from {phrases.peer(call.peer)}"
        text += f" in {call.name}{at(thread)}"
        return f"waits for {text}", f"wait for {text}"
    text = call.name
    if isinstance(call.peer, int):
        text += f" to rank {call.peer}" if call.name.endswith("end") else \
            f" of rank {call.peer}"
    return f"is in {text}{at(thread)}", f"are in {text}{at(thread)}"


def words(rank, standing):
    """(what one rank does, what several do): ("is stopped", "are stopped").
    `rank`: None for one that is not seen."""
    if standing == GONE:
        return "is gone", "are gone"
    if standing == UNSEEN:
        text = "on another node, which this report does not show"
        return f"is {text}", f"are {text}"
    if standing == ZOMBIE:
        return "has ended (a zombie)", "have ended (zombies)"
    if standing == STOPPED:
        return "is stopped", "are stopped"
    if standing == HELD:
        return "is held by a debugger", "are held by debuggers"
    if standing == NEW:
        text = "still in MPI_Init" if in_init(rank) else \
            user_code(rank) + " before MPI_Init"
        return f"is {text}", f"are {text}"
    if standing == LEFT:
        return "has left MPI_Finalize", "have left MPI_Finalize"
    if standing == WAITS:
        return _call(waiting_call(rank))
    thread = free_thread(rank)
    if standing == POLLS:
        thread = next(t for t in speaking(rank) if polls(t.call))
        text = f"with {thread.call.name}{at(thread)}"
        return f"polls {text}", f"poll {text}"
    if standing == MOVES:
        last = last_call(thread)
        text = f"busy: its last call is {last}{at(thread)}" if last else "busy"
        return f"is {text}", f"are {text.replace('its last', 'their last')}"
    text = user_code(rank)
    return f"is {text}", f"are {text}"
