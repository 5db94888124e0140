/*
 * convert_trace_calls.c - what each call is among operations; see
 * convert_trace.h.
 */
#include "convert_trace.h"

#include <stdlib.h>
#include <string.h>

#define POLL_GAP 1000            /* ns between two polls of one loop, at most */
#define APART ((int32_t)1 << 30) /* in tags: partitioned ones are */

/* A message's operation; false: the trace says nothing of it. */
static bool message(sw_convert_trace_t *c, const sw_traced_rank_t *rank,
                    const sw_trace_note_t *n, sw_traced_kind_t kind,
                    sw_vop_t *op)
{
    *op = (sw_vop_t){.peer = (int32_t)n->peer, .tag = (int32_t)n->tag};
    op->kind = n->kind == SW_NOTE_SENDS ? SW_OP_SEND : SW_OP_RECV;
    if (kind == SW_TRACED_SSEND && op->kind == SW_OP_SEND)
        op->flags = SW_SEND_SYNCHRONOUS;
    else if (op->kind == SW_OP_SEND &&
             (kind == SW_TRACED_BSEND || sw_traced_several(rank)))
        op->flags = SW_SEND_BUFFERED;
    if (kind == SW_TRACED_GIVE && op->kind == SW_OP_SEND)
        op->flags |= SW_SEND_GIVEN;
    bool apart = sw_traced_is_apart(n, kind);
    if (apart)
        op->tag |= APART;
    if (sw_traced_context(c, rank, n->communicator, &op->context) &&
        n->peer >= 0 && n->peer < c->world && n->tag >= 0 &&
        n->tag <= INT32_MAX) {
        if (op->kind == SW_OP_SEND && !apart && sw_traced_is_lost(c, rank, op))
            op->flags |= SW_SEND_BUFFERED;
        return true;
    }
    c->done->outside++;
    return false;
}

/* What a call has begun and not bound to a request. */
typedef struct {
    sw_vop_t send, receive;
    bool sends, receives;
} begun_t;

/* The request of what was begun last, and of what was begun with it. */
static void starts(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                   const sw_trace_event_t *e, begun_t *b, uint64_t request)
{
    if (b->sends) {
        b->send.request = sw_traced_request(rank);
        sw_traced_emit(c, rank, e->begin, &b->send);
        sw_traced_bind(c, rank, request, b->send.request, true);
    }
    if (b->receives) {
        b->receive.request = sw_traced_request(rank);
        sw_traced_emit(c, rank, e->begin, &b->receive);
        sw_traced_bind(c, rank, request, b->receive.request, false);
    }
    b->sends = b->receives = false;
}

/* What has ended with the call itself: alone it blocks, together both are
 * under way at once. */
static void blocks(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                   const sw_trace_event_t *e, begun_t *b)
{
    uint32_t sent = 0, received = 0;
    bool split = (b->sends && b->receives) || sw_traced_several(rank);
    if (b->sends) {
        sent = b->send.request = split ? sw_traced_request(rank) : 0;
        sw_traced_emit(c, rank, e->begin, &b->send);
    }
    if (b->receives) {
        received = b->receive.request = split ? sw_traced_request(rank) : 0;
        sw_traced_emit(c, rank, e->begin, &b->receive);
    }
    sw_traced_wait(c, rank, e->end, received, SW_OP_WAIT);
    sw_traced_wait(c, rank, e->end, sent, SW_OP_WAIT);
    b->sends = b->receives = false;
}

static uint64_t sends_of(const sw_trace_event_t *e)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < e->note_count; i++)
        n += e->notes[i].kind == SW_NOTE_SENDS;
    return n;
}

static void notes(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                  const sw_trace_event_t *e, sw_traced_kind_t kind, long root)
{
    begun_t b = {.sends = false};
    uint64_t sends = sends_of(e), *fate;
    for (uint32_t i = 0; i < e->note_count; i++) {
        const sw_trace_note_t *n = &e->notes[i];
        const sw_trace_note_t *after = i + 1 < e->note_count ? n + 1 : NULL;
        bool under_way = after && after->kind == SW_NOTE_STARTS;
        switch (n->kind) {
        case SW_NOTE_SENDS:
            b.sends = message(c, rank, n, kind, &b.send);
            b.send.bytes = n->bytes    ? n->bytes - 1
                           : sends > 1 ? e->sent / sends
                                       : e->sent;
            break;
        case SW_NOTE_RECEIVES:
            b.receives = message(c, rank, n, kind, &b.receive);
            b.receive.bytes = e->received;
            break;
        case SW_NOTE_POSTS: {
            sw_trace_note_t post = *n;
            fate = !under_way ? NULL
                              : sw_lookup_get(&c->fates,
                                              sw_traced_key(rank->name->number,
                                                            after->request));
            if (fate && *fate == SW_TRACED_CANCELLED)
                break;
            if (fate) {
                post.peer = (int64_t)(*fate >> 32);
                post.tag = (int64_t)(*fate & UINT32_MAX);
            }
            /* With wildcards and never completed: no record tells. */
            b.receives = message(c, rank, &post,
                                 fate ? SW_TRACED_MESSAGE : kind, &b.receive);
            break;
        }
        case SW_NOTE_COLLECTIVE: {
            const sw_trace_note_t *means = after && after->kind == SW_NOTE_MEANS
                                               ? after
                                               : NULL;
            if (means) {
                i++;
                after = i + 1 < e->note_count ? means + 1 : NULL;
                under_way = after && after->kind == SW_NOTE_STARTS;
            }
            sw_traced_collective(c, rank, e, kind, n->communicator, root, means,
                                 under_way ? after : NULL);
            i += under_way;
            break;
        }
        case SW_NOTE_STARTS: starts(c, rank, e, &b, n->request); break;
        case SW_NOTE_CAME:
        case SW_NOTE_ENDS:
            /* What a rank found complete among several, or by a test, need not
             * come first under another model. */
            sw_traced_ends(c, rank, e,
                           kind == SW_TRACED_POLL || kind == SW_TRACED_SOME,
                           n->request);
            break;
        default: break;
        }
    }
    blocks(c, rank, e, &b);
}

/* The time before a call, and in it where that is the program's own. */
static void times(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                  sw_traced_thread_t *thread, bool first,
                  const sw_trace_event_t *e, sw_traced_kind_t kind,
                  uint32_t section)
{
    uint64_t from = thread->begun ? thread->end : rank->name->start;
    bool poll = kind == SW_TRACED_POLL && !e->note_count;
    bool again = poll && thread->polled == e->record + 1;
    uint64_t gap = e->begin > from ? e->begin - from : 0;
    if (!thread->begun && !first)
        gap = 0; /* a thread begins with its first call */
    if (thread->begun)
        gap -= sw_min(gap, rank->cost);
    if (again && gap) {
        uint64_t ns = sw_names_time(rank->name, e->begin) -
                      sw_names_time(rank->name, e->begin - gap);
        gap = ns < POLL_GAP ? 0 : gap;
    }
    uint64_t to = kind == SW_TRACED_COMPUTE ? e->end : e->begin;
    sw_traced_section(c, rank, e->begin - gap, section);
    sw_traced_compute(c, rank, e->begin - gap, to);
    thread->polled = poll ? e->record + 1 : 0;
    thread->begun = true;
    thread->end = e->end;
    c->done->polls += poll;
}

void sw_traced_call(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                    sw_traced_thread_t *thread, bool first,
                    const sw_trace_event_t *e, const sw_call_name_t *name)
{
    sw_traced_kind_t kind = name ? c->kinds[name->name] : SW_TRACED_MESSAGE;
    char *at = NULL;
    long root = name ? strtol(name->details, &at, 10) : -1;
    uint64_t communicator = at ? strtoull(at, &at, 10) : 0;
    uint64_t section = at ? strtoull(at, NULL, 10) : rank->section;
    c->done->calls++;
    times(c, rank, thread, first, e, kind,
          section <= c->sections.count ? (uint32_t)section : 0);
    if (e->failed)
        return;
    bool one_sided = kind >= SW_TRACED_WINDOW && kind < SW_TRACED_COLLECTIVE;
    if (one_sided && sw_traced_window(c, rank, e, kind, communicator))
        return;
    if (sw_traced_is_bare(kind)) {
        sw_traced_collective(c, rank, e, kind, communicator, root, NULL, NULL);
    } else if (kind >= SW_TRACED_PUT && kind <= SW_TRACED_FETCH) {
        rank->put += e->sent;
        rank->got += e->received;
    } else if (one_sided) {
        c->done->unmodelled++;
    } else {
        notes(c, rank, e, kind, root);
    }
}
