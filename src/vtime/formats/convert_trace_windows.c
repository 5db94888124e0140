/*
 * convert_trace_windows.c - one-sided communication of a trace as operations;
 * see convert_trace.h.
 *
 * A note tells of which window of its communicator a call is, and at which
 * targets; for a group it is a note for each member. A window is a context of
 * its own, of the same members. As in a live run (mpi/virtual/windows.c) a
 * fence is a flush and a collective there, and posts and completes are empty
 * messages.
 *
 * Not as in a live run: an access with a request is complete with its epoch,
 * or a flush. A rank with several threads takes no locks, since on one line
 * none of them could give back what another waits for.
 *
 * Traces of older versions tell no window: see sw_traced_call.
 */
#include "convert_trace.h"

#include "trace/format.h"

#include <stdlib.h>

/* How a target is locked, as a value of `locks`. */
enum { LOCKED_SHARED = 1, LOCKED_EXCLUSIVE };

static const sw_trace_note_t *next_target(const sw_trace_event_t *e,
                                          const sw_trace_note_t *after)
{
    const sw_trace_note_t *n = after ? after + 1 : e->notes;
    while (n < e->notes + e->note_count && n->kind != SW_NOTE_TARGET)
        n++;
    return n < e->notes + e->note_count ? n : NULL;
}

static void emit(sw_convert_trace_t *c, sw_traced_rank_t *rank, uint64_t when,
                 uint32_t context, sw_window_t what, int64_t peer,
                 uint64_t bytes, unsigned flags)
{
    sw_vop_t op = {.kind = SW_OP_WINDOW,
                   .what = (uint8_t)what,
                   .context = context,
                   .peer = (int32_t)peer,
                   .bytes = bytes,
                   .flags = (uint16_t)flags};
    if (peer >= c->world || peer < -1)
        c->done->outside++;
    else
        sw_traced_emit(c, rank, when, &op);
}

/* A value of `locks`; NULL: no memory. */
static uint64_t *lock_of(sw_convert_trace_t *c, const sw_traced_rank_t *rank,
                         uint32_t context, int64_t peer)
{
    uint64_t *lock = sw_lookup_put(
        &c->locks, sw_traced_key(rank->name->number, (uint64_t)context << 20 |
                                                         (uint64_t)(peer + 1)));
    c->memory &= lock != NULL;
    return lock;
}

/* The rank has made it; a trace may begin later. */
static void be_made(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                    const sw_trace_event_t *e, uint32_t context)
{
    uint64_t *made = sw_lookup_put(&c->made,
                                   sw_traced_key(rank->name->number, context));
    if (made && !*made) {
        emit(c, rank, e->begin, context, SW_WINDOW_MAKE, -1, 0, 0);
        *made = 1;
    }
    c->memory &= made != NULL;
}

static void meet(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                 const sw_trace_event_t *e, uint32_t context,
                 sw_op_collective_t what)
{
    sw_vop_t op = {.kind = SW_OP_COLLECTIVE,
                   .what = (uint8_t)what,
                   .context = context,
                   .peer = -1};
    op.request = sw_traced_several(rank) ? sw_traced_request(rank) : 0;
    sw_traced_emit(c, rank, e->begin, &op);
    sw_traced_wait(c, rank, e->end, op.request, SW_OP_WAIT);
}

/* Empty messages to each of the group, or from each. */
static void tell_all(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                     const sw_trace_event_t *e, uint32_t context, bool sends,
                     int tag)
{
    for (const sw_trace_note_t *n = NULL; (n = next_target(e, n));) {
        sw_vop_t op = {.kind = sends ? SW_OP_SEND : SW_OP_RECV,
                       .context = context,
                       .peer = (int32_t)n->peer,
                       .tag = tag,
                       .flags = sends ? SW_SEND_BUFFERED : 0};
        if (n->peer < 0 || n->peer >= c->world) {
            c->done->outside++;
            continue;
        }
        bool waits = !sends && sw_traced_several(rank);
        op.request = waits ? sw_traced_request(rank) : 0;
        sw_traced_emit(c, rank, e->begin, &op);
        sw_traced_wait(c, rank, e->end, op.request, SW_OP_WAIT);
    }
}

static void take_lock(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                      const sw_trace_event_t *e, uint32_t context,
                      const sw_trace_note_t *n)
{
    bool exclusive = n->tag & SW_TARGET_EXCLUSIVE;
    uint64_t *lock = lock_of(c, rank, context, n->peer);
    if (sw_traced_several(rank))
        c->done->unmodelled++;
    else if (lock && !(n->tag & SW_TARGET_UNCHECKED)) {
        *lock = exclusive ? LOCKED_EXCLUSIVE : LOCKED_SHARED;
        emit(c, rank, e->begin, context, SW_WINDOW_LOCK, n->peer, 0,
             exclusive ? SW_WINDOW_EXCLUSIVE : 0);
    }
}

static void unlock(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                   const sw_trace_event_t *e, uint32_t context,
                   const sw_trace_note_t *n)
{
    uint64_t *lock = lock_of(c, rank, context, n->peer);
    emit(c, rank, e->begin, context, SW_WINDOW_FLUSH, n->peer, 0, 0);
    if (lock && *lock)
        emit(c, rank, e->begin, context, SW_WINDOW_UNLOCK, n->peer, 0,
             *lock == LOCKED_EXCLUSIVE ? SW_WINDOW_EXCLUSIVE : 0);
    if (lock)
        *lock = 0;
}

static void access(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                   const sw_trace_event_t *e, uint32_t context,
                   sw_traced_kind_t kind, int64_t peer)
{
    bool gets = kind == SW_TRACED_GET || (kind == SW_TRACED_FETCH && !e->sent);
    sw_window_t what = gets                      ? SW_WINDOW_GET
                       : kind == SW_TRACED_PUT   ? SW_WINDOW_PUT
                       : kind == SW_TRACED_FETCH ? SW_WINDOW_FETCH
                                                 : SW_WINDOW_REDUCE;
    emit(c, rank, e->begin, context, what, peer < 0 ? -2 : peer,
         gets ? e->received : e->sent, 0);
}

bool sw_traced_window(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                      const sw_trace_event_t *e, sw_traced_kind_t kind,
                      uint64_t communicator)
{
    const sw_trace_note_t *n = next_target(e, NULL);
    uint32_t context;
    if (!n) /* at no rank, or the test found nothing */
        return (kind >= SW_TRACED_PUT && kind <= SW_TRACED_FETCH) ||
               kind == SW_TRACED_EXPOSED;
    if (!n->number ||
        !sw_traced_window_context(c, rank, communicator, n->number, &context))
        return false;
    if (kind == SW_TRACED_WINDOW || kind == SW_TRACED_ALLOCATED) {
        sw_traced_collective(c, rank, e, SW_TRACED_OTHER, communicator, -1,
                             NULL, NULL);
        emit(c, rank, e->end, context, SW_WINDOW_MAKE, -1, 0,
             kind == SW_TRACED_ALLOCATED ? SW_WINDOW_ALLOCATED : 0);
        uint64_t *made = sw_lookup_put(
            &c->made, sw_traced_key(rank->name->number, context));
        c->memory &= made != NULL;
        if (made)
            *made = 1;
        return true;
    }
    be_made(c, rank, e, context);
    switch (kind) {
    case SW_TRACED_FREE:
    case SW_TRACED_FENCE:
        emit(c, rank, e->begin, context, SW_WINDOW_FLUSH, -1, 0, 0);
        meet(c, rank, e, context,
             kind == SW_TRACED_FENCE ? SW_COLLECTIVE_FENCE
                                     : SW_COLLECTIVE_OTHER);
        if (kind == SW_TRACED_FREE)
            emit(c, rank, e->end, context, SW_WINDOW_FREE, -1, 0, 0);
        break;
    case SW_TRACED_FLUSH:
    case SW_TRACED_FLUSH_LOCAL:
        emit(c, rank, e->begin, context, SW_WINDOW_FLUSH, n->peer, 0,
             kind == SW_TRACED_FLUSH ? 0 : SW_WINDOW_LOCAL);
        break;
    case SW_TRACED_LOCK: take_lock(c, rank, e, context, n); break;
    case SW_TRACED_UNLOCK: unlock(c, rank, e, context, n); break;
    case SW_TRACED_POST:
        tell_all(c, rank, e, context, true, SW_WINDOW_POSTED);
        break;
    case SW_TRACED_BEGIN:
        tell_all(c, rank, e, context, false, SW_WINDOW_POSTED);
        break;
    case SW_TRACED_COMPLETE:
        emit(c, rank, e->begin, context, SW_WINDOW_FLUSH, -1, 0, 0);
        tell_all(c, rank, e, context, true, SW_WINDOW_COMPLETED);
        break;
    case SW_TRACED_EXPOSED:
        tell_all(c, rank, e, context, false, SW_WINDOW_COMPLETED);
        break;
    default: access(c, rank, e, context, kind, n->peer); break;
    }
    return true;
}
