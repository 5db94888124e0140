/*
 * convert_trace.c - traces into operations.
 *
 * A trace (docs/capture-format.md, TRAC) tells what each call of a rank did;
 * operations are what is left when the time that MPI took is taken out of it:
 *
 *   - Between calls a rank computes; so it does in calls that communicate
 *     with nobody (files, packing, types). What recording took is taken off.
 *   - Messages, their requests and what ended them are as they were. Receives
 *     with wildcards become receives of what they took: so a replay keeps the
 *     order that the run had. Of cancelled receives nothing is left.
 *   - Tests and probes that found nothing were waiting: neither their time
 *     counts, nor the gap between two that follow each other at once.
 *   - Collectives without an equal among the operations, between groups and
 *     among neighbours, and persistent ones, of which the trace does not say
 *     what they are, become `other`: their members wait for each other.
 *     So does a fence, with the bytes of all one-sided calls before it. Of
 *     other one-sided synchronisation nothing is left.
 *
 * The calls of several threads are put on the rank's one line in the order of
 * time, each as its beginning (with a request) and its end (a wait for it);
 * what is computed there is the time in which at least one thread does. So
 * what has happened in an order can happen in it again. Their sends, but those
 * that are synchronous, are complete at once, whatever the model: on one line
 * nobody could go on while a thread waits for a receiver.
 *
 * NAMES is the text of src/trace/names.h, as straightway/operations.py writes
 * it, with meanings of its own:
 *
 *     string "context N RANGES"   the members of context N, as first-last,...
 *     rank's NAME                 ns that recording one call took
 *     communicator ID             the number of its context and 1, 0: unknown
 *     call's NAME                 what the call is: a name of op.h's
 *                                 collectives, or one of `kinds` below
 *     call's DETAIL               its root (-1: none), a space, and its
 *                                 communicator's number in the rank's list
 */
#include "convert.h"
#include "lookup.h"

#include "../trace/names.h"
#include "../trace/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define POLL_GAP 1000       /* ns between two polls of one loop, at most */
#define TAG_PARTITIONED (INT32_MAX - 1)     /* they are matched apart */

/* Kinds of calls, besides collectives. */
typedef enum {
    IS_COMPUTE,     /* its time is the program's       */
    IS_MESSAGE,     /* its notes say what it does      */
    IS_SSEND,
    IS_BSEND,
    IS_START,       /* of persistent requests          */
    IS_POLL,        /* a test or a probe               */
    IS_SOME,        /* waits for one of several        */
    IS_FENCE,       /* and bytes                       */
    IS_OTHER,       /* makes a communicator, a window  */
    IS_ONE_SIDED,
    IS_UNMODELLED,
    IS_COLLECTIVE,  /* and above: sw_collective_t      */
} kind_t;
static const char *const kinds[IS_COLLECTIVE] = {
    "compute", "message", "ssend", "bsend", "start", "poll", "some",
    "fence", "make", "one-sided", "unmodelled"};

/* What became of a posted receive, as a value of `fates`. */
#define FATE_CANCELLED UINT64_MAX

/* What is to be done at some time, of ranks with several threads. */
typedef struct {
    uint64_t when, nth;
    sw_op_t op;         /* .kind 0: `busy` threads more compute from now on */
    int busy;
} item_t;

typedef struct {
    uint64_t end;       /* ticks: of its last call */
    uint64_t polled;    /* 1 and the record of the last call, if a poll */
    bool begun;
} thread_t;

typedef struct {
    sw_rank_name_t *name;
    thread_t *threads;
    uint64_t cost;              /* ticks of recording a call */
    uint32_t *free_requests, free_count, free_room, requests;
    uint64_t put, got;          /* bytes since the last fence */
    sw_ps_t computed;           /* and not yet written */
    item_t *items;              /* several threads only */
    size_t item_count, item_room;
} rank_t;

typedef struct {
    sw_names_t *names;
    sw_op_writer_t *writer;
    sw_converted_t *done;
    rank_t *ranks;              /* as names->ranks */
    uint32_t world;
    uint32_t *contexts;         /* how many members; by number */
    uint32_t context_room;
    sw_lookup_t posted;         /* under way in the first pass: 1 wild, 2
                                 * apart, and the way in the other bits      */
    sw_lookup_t fates;          /* receives whose posting does not tell it   */
    sw_lookup_t ways;           /* messages received << 32 | sent            */
    sw_lookup_t requests;       /* under way: the number, and one more's     */
    unsigned char *kinds;       /* by string */
    uint32_t file;
    bool memory;                /* there was always some */
} convert_t;

static uint64_t key_of(uint32_t rank, uint64_t request)
{
    return (uint64_t)rank << 40 ^ request;
}

static bool is_wild(const sw_note_t *n)
{
    return n->peer == SW_PEER_ANY || n->tag == SW_PEER_ANY;
}

/* Names ------------------------------------------------------------------- */

static unsigned char kind_of(const char *name)
{
    for (unsigned i = 0; i < IS_COLLECTIVE; i++)
        if (!strcmp(name, kinds[i]))
            return (unsigned char)i;
    for (unsigned i = 0; i < SW_COLLECTIVE_COUNT; i++)
        if (!strcmp(name, sw_collective_names[i]))
            return (unsigned char)(IS_COLLECTIVE + i);
    return IS_COMPUTE;
}

/* "context N 0-3,7-7": its members, which are to be freed. */
static uint32_t *members_of(const convert_t *c, const char *text,
                            uint32_t *number, uint32_t *n)
{
    char *at;
    unsigned long which = strtoul(text, &at, 10);
    uint32_t *members = NULL, room = 0;
    *n = 0;
    *number = (uint32_t)which;
    while (*at == ' ' || *at == ',') {
        unsigned long first = strtoul(at + 1, &at, 10), last = first;
        if (*at == '-')
            last = strtoul(at + 1, &at, 10);
        if (first > last || last >= c->world || *n + (last - first) >= c->world)
            break;
        if (*n + (last - first) + 1 > room) {
            room = sw_max(2 * room, *n + (last - first) + 1);
            uint32_t *to = realloc(members, room * sizeof *to);
            if (!to)
                break;
            members = to;
        }
        for (; first <= last; first++)
            members[(*n)++] = (uint32_t)first;
    }
    if (*at || !*n || which >= UINT32_MAX) {
        free(members);
        return NULL;
    }
    return members;
}

static bool read_strings(convert_t *c)
{
    c->kinds = calloc((size_t)c->names->string_count + 1, 1);
    c->memory = c->kinds != NULL;
    for (uint32_t i = 1; c->memory && i < c->names->string_count; i++) {
        const char *text = c->names->strings[i];
        c->kinds[i] = kind_of(text);
        if (strncmp(text, "context ", 8))
            continue;
        uint32_t number, n, *members = members_of(c, text + 8, &number, &n);
        if (!members)
            return sw_convert_fail("the names: \"%s\" is no context", text);
        while (number >= c->context_room) {
            uint32_t room = c->context_room ? 2 * c->context_room : 64;
            uint32_t *to = realloc(c->contexts, room * sizeof *to);
            if (!to) {
                free(members);
                return c->memory = false;
            }
            memset(to + c->context_room, 0,
                   (room - c->context_room) * sizeof *to);
            c->contexts = to;
            c->context_room = room;
        }
        c->contexts[number] = n;
        if (number)
            c->memory = sw_op_write_context(c->writer, number, n, members);
        free(members);
    }
    return c->memory;
}

static bool find_ranks(convert_t *c)
{
    sw_names_t *names = c->names;
    c->ranks = calloc((size_t)names->rank_count + 1, sizeof *c->ranks);
    c->memory = c->ranks != NULL;
    for (uint32_t i = 0; c->memory && i < names->rank_count; i++) {
        sw_rank_name_t *r = &names->ranks[i];
        rank_t *rank = &c->ranks[i];
        uint64_t cost = strtoull(r->name, NULL, 10);
        *rank = (rank_t){.name = r};
        rank->cost = r->ns ? (uint64_t)((unsigned __int128)cost * r->ticks /
                                        r->ns) : cost;
        rank->threads = calloc((size_t)r->thread_count + 1,
                               sizeof *rank->threads);
        c->memory = rank->threads != NULL;
    }
    return c->memory;
}

/* The context of a communicator in a rank's list; false: not known. */
static bool context_of(const convert_t *c, const rank_t *rank,
                       uint64_t communicator, uint32_t *context)
{
    uint64_t n = sw_names_communicator(rank->name, communicator);
    *context = (uint32_t)(n - 1);
    return n && n - 1 < c->context_room && c->contexts[n - 1];
}

/* Writing ----------------------------------------------------------------- */

/* What was computed since the last operation comes before it. */
static void put_op(convert_t *c, rank_t *rank, const sw_op_t *op)
{
    sw_op_t compute = {.kind = SW_OP_COMPUTE, .time = rank->computed};
    if (rank->computed) {
        c->done->operations++;
        c->memory &= sw_op_write(c->writer, rank->name->number, &compute);
    }
    rank->computed = 0;
    if (op) {
        c->done->operations++;
        c->memory &= sw_op_write(c->writer, rank->name->number, op);
    }
}

/* Several threads: to be put in order later. */
static void put_item(convert_t *c, rank_t *rank, uint64_t when,
                     const sw_op_t *op, int busy)
{
    if (rank->item_count == rank->item_room) {
        size_t room = rank->item_room ? 2 * rank->item_room : 256;
        item_t *to = realloc(rank->items, room * sizeof *to);
        if (!to) {
            c->memory = false;
            return;
        }
        rank->items = to;
        rank->item_room = room;
    }
    item_t *item = &rank->items[rank->item_count];
    *item = (item_t){.when = when, .nth = rank->item_count++, .busy = busy};
    if (op)
        item->op = *op;
}

static bool several(const rank_t *rank)
{
    return rank->name->thread_count > 1;
}

static void emit(convert_t *c, rank_t *rank, uint64_t when, const sw_op_t *op)
{
    if (several(rank))
        put_item(c, rank, when, op, 0);
    else
        put_op(c, rank, op);
}

/* The rank has computed from one time to another, in ticks. */
static void compute(convert_t *c, rank_t *rank, uint64_t from, uint64_t to)
{
    if (to <= from)
        return;
    if (several(rank)) {
        put_item(c, rank, from, NULL, 1);
        put_item(c, rank, to, NULL, -1);
        return;
    }
    rank->computed += (sw_ps_t)(sw_names_time(rank->name, to) -
                                sw_names_time(rank->name, from)) *
                      SW_PS_PER_NS;
}

static uint32_t new_request(rank_t *rank)
{
    return rank->free_count ? rank->free_requests[--rank->free_count]
                            : ++rank->requests;
}

/* Of several threads' calls, which come one thread after the other, the order
 * in time is not yet known: there, no number is given twice. */
static void give_back(convert_t *c, rank_t *rank, uint32_t request)
{
    if (several(rank))
        return;
    if (rank->free_count == rank->free_room) {
        uint32_t room = rank->free_room ? 2 * rank->free_room : 16;
        uint32_t *to = realloc(rank->free_requests, room * sizeof *to);
        if (!to) {
            c->memory = false;
            return;
        }
        rank->free_requests = to;
        rank->free_room = room;
    }
    rank->free_requests[rank->free_count++] = request;
}

static void wait_for(convert_t *c, rank_t *rank, uint64_t when,
                     uint32_t request, sw_op_kind_t kind)
{
    sw_op_t op = {.kind = (uint8_t)kind, .request = request};
    if (!request)
        return;
    emit(c, rank, when, &op);
    give_back(c, rank, request);
}

/* First pass: fates of receives ------------------------------------------- */

/* Does a posting wait in the match apart from others? */
static bool is_apart(const sw_note_t *n, kind_t kind)
{
    return kind == IS_START && !n->number && !is_wild(n);
}

/* A sender, its receiver, their context and tag, as one number. */
static uint64_t way_of(uint32_t context, int64_t from, int64_t to, int64_t tag)
{
    uint64_t x = ((uint64_t)from << 32 ^ (uint64_t)to) * 0x9e3779b97f4a7c15u;
    x ^= x >> 31;
    x += (uint64_t)context << 32 ^ (uint64_t)(uint32_t)tag;
    x *= 0xbf58476d1ce4e5b9u;
    return (x ^ x >> 29) & ~(uint64_t)3;
}

/* A receive of this way more, or fewer. */
static void count_way(convert_t *c, uint64_t way, int64_t by)
{
    uint64_t *value = sw_lookup_put(&c->ways, way);
    if (value)
        *value += (uint64_t)by << 32;
    else
        c->memory = false;
}

static uint64_t way_from(const convert_t *c, const rank_t *rank,
                         const sw_note_t *n)
{
    uint32_t context = 0;
    context_of(c, rank, n->communicator, &context);
    return way_of(context, n->peer, rank->name->number, n->tag);
}

/* Has nobody received a send? Nobody must wait for it then: it was cancelled,
 * or the receiver's trace ends before. */
static bool is_lost(convert_t *c, const rank_t *rank, const sw_op_t *op)
{
    uint64_t *value = sw_lookup_put(&c->ways, way_of(
        op->context, rank->name->number, op->peer, op->tag));
    if (!value)
        return c->memory = false;
    uint32_t sent = (uint32_t)++*value;
    return sent > *value >> 32;
}

static void foresee(convert_t *c, const rank_t *me, const sw_event_t *e,
                    kind_t kind)
{
    const sw_note_t *post = NULL;
    uint32_t rank = me->name->number;
    for (uint32_t i = 0; i < e->note_count; i++) {
        const sw_note_t *n = &e->notes[i];
        uint64_t key = key_of(rank, n->request), *value = NULL;
        switch (n->kind) {
        case SW_NOTE_POSTS:
            post = n;
            break;
        case SW_NOTE_STARTS:
            if (post && (value = sw_lookup_put(&c->posted, key))) {
                *value = way_from(c, me, post) | is_wild(post) |
                         (is_apart(post, kind) ? 2 : 0);
                if (!(*value & 3))
                    count_way(c, *value, 1);
            }
            c->memory &= !post || value;
            post = NULL;
            break;
        case SW_NOTE_RECEIVES:
            count_way(c, way_from(c, me, n), 1);
            break;
        case SW_NOTE_CAME:
        case SW_NOTE_ENDS:
            value = sw_lookup_get(&c->posted, key);
            if (!value)
                break;
            bool cancelled = n->kind == SW_NOTE_ENDS && !(*value & 2);
            bool wild = *value & 1;
            if (cancelled && !wild)
                count_way(c, *value & ~(uint64_t)3, -1);
            else if (wild && n->kind == SW_NOTE_CAME)
                count_way(c, way_from(c, me, n), 1);
            sw_lookup_remove(&c->posted, key);
            if (!cancelled && !(wild && n->kind == SW_NOTE_CAME))
                break;
            value = sw_lookup_put(&c->fates, key);
            if (!value)
                c->memory = false;
            else
                *value = cancelled || n->peer < 0 || n->tag < 0
                    ? FATE_CANCELLED
                    : (uint64_t)(uint32_t)n->peer << 32 | (uint32_t)n->tag;
            break;
        default:
            break;
        }
    }
}

/* Second pass: calls ------------------------------------------------------ */

/* A message's operation; false: nothing can be said of it. */
static bool message(convert_t *c, const rank_t *rank, const sw_note_t *n,
                    kind_t kind, sw_op_t *op)
{
    *op = (sw_op_t){.peer = (int32_t)n->peer, .tag = (int32_t)n->tag};
    op->kind = n->kind == SW_NOTE_SENDS ? SW_OP_SEND : SW_OP_RECV;
    if (kind == IS_SSEND && op->kind == SW_OP_SEND)
        op->flags = SW_SEND_SYNCHRONOUS;
    else if (op->kind == SW_OP_SEND && (kind == IS_BSEND || several(rank)))
        op->flags = SW_SEND_BUFFERED;
    if (is_apart(n, kind))
        op->tag = TAG_PARTITIONED;
    if (context_of(c, rank, n->communicator, &op->context) && n->peer >= 0 &&
        n->peer < c->world && n->tag >= 0 && n->tag <= INT32_MAX) {
        if (op->kind == SW_OP_SEND && op->tag != TAG_PARTITIONED &&
            is_lost(c, rank, op))
            op->flags = SW_SEND_BUFFERED;
        return true;
    }
    c->done->outside++;
    return false;
}

/* What a call has begun and not bound to a request. */
typedef struct {
    sw_op_t send, receive;
    bool sends, receives;
} begun_t;

static void remember(convert_t *c, const rank_t *rank, uint64_t request,
                     uint32_t one, uint32_t more)
{
    uint64_t *value = sw_lookup_put(&c->requests,
                                 key_of(rank->name->number, request));
    if (value)
        *value = (uint64_t)more << 32 | one;
    else
        c->memory = false;
}

/* The request of what was begun last, and of what was begun with it. */
static void starts(convert_t *c, rank_t *rank, const sw_event_t *e,
                   begun_t *b, uint64_t request)
{
    uint32_t one = 0, more = 0;
    if (b->sends) {
        more = b->send.request = new_request(rank);
        emit(c, rank, e->begin, &b->send);
    }
    if (b->receives) {
        one = b->receive.request = new_request(rank);
        emit(c, rank, e->begin, &b->receive);
    }
    if (one || more)
        remember(c, rank, request, one, more);
    b->sends = b->receives = false;
}

/* What has ended with the call itself: alone it blocks, together both are
 * under way at once. */
static void blocks(convert_t *c, rank_t *rank, const sw_event_t *e,
                   begun_t *b)
{
    uint32_t sent = 0, received = 0;
    bool split = (b->sends && b->receives) || several(rank);
    if (b->sends) {
        sent = b->send.request = split ? new_request(rank) : 0;
        emit(c, rank, e->begin, &b->send);
    }
    if (b->receives) {
        received = b->receive.request = split ? new_request(rank) : 0;
        emit(c, rank, e->begin, &b->receive);
    }
    wait_for(c, rank, e->end, received, SW_OP_WAIT);
    wait_for(c, rank, e->end, sent, SW_OP_WAIT);
    b->sends = b->receives = false;
}

static uint64_t sends_of(const sw_event_t *e)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < e->note_count; i++)
        n += e->notes[i].kind == SW_NOTE_SENDS;
    return n;
}

/* A collective of all members, with its request if `starts` follows. */
static void collective(convert_t *c, rank_t *rank, const sw_event_t *e,
                       kind_t kind, uint64_t communicator, long root,
                       const sw_note_t *starts)
{
    sw_op_t op = {.kind = SW_OP_COLLECTIVE, .what = SW_COLLECTIVE_OTHER,
                  .peer = -1, .bytes = e->size, .sent = e->sent,
                  .received = e->received};
    if (!context_of(c, rank, communicator, &op.context)) {
        c->done->outside++;
        return;
    }
    if (kind >= IS_COLLECTIVE)
        op.what = (uint8_t)(kind - IS_COLLECTIVE);
    sw_waits_t waits = sw_collective_waits[op.what];
    if (waits == SW_WAITS_ROOT || waits == SW_WAITS_AT_ROOT) {
        op.peer = (int32_t)root;
        if (root < 0 || (uint64_t)root >= c->contexts[op.context])
            op.what = SW_COLLECTIVE_OTHER, op.peer = -1;
    }
    if (kind == IS_FENCE) {
        op.sent = rank->put;
        op.received = rank->got;
        op.bytes = sw_max(rank->put, rank->got);
        rank->put = rank->got = 0;
    } else if (kind != IS_OTHER && op.what == SW_COLLECTIVE_OTHER) {
        c->done->approximate++;
    }
    bool split = starts || several(rank);
    op.request = split ? new_request(rank) : 0;
    emit(c, rank, e->begin, &op);
    if (starts)
        remember(c, rank, starts->request, op.request, 0);
    else
        wait_for(c, rank, e->end, op.request, SW_OP_WAIT);
}

/* What was found complete of several, or by looking, need not come first
 * under another model. What has come was used, so it is waited for; a send that
 * was over is not. */
static void ends(convert_t *c, rank_t *rank, const sw_event_t *e,
                 kind_t kind, uint64_t request)
{
    uint64_t key = key_of(rank->name->number, request);
    uint64_t *value = sw_lookup_get(&c->requests, key);
    if (!value)
        return;
    uint64_t both = *value;
    sw_lookup_remove(&c->requests, key);
    bool found = kind == IS_POLL || kind == IS_SOME;
    wait_for(c, rank, e->end, (uint32_t)both, SW_OP_WAIT);
    wait_for(c, rank, e->end, (uint32_t)(both >> 32),
             found ? SW_OP_DROP : SW_OP_WAIT);
}

static void notes(convert_t *c, rank_t *rank, const sw_event_t *e,
                  kind_t kind, long root)
{
    begun_t b = {.sends = false};
    uint64_t sends = sends_of(e), *fate;
    for (uint32_t i = 0; i < e->note_count; i++) {
        const sw_note_t *n = &e->notes[i];
        const sw_note_t *after = i + 1 < e->note_count ? n + 1 : NULL;
        bool under_way = after && after->kind == SW_NOTE_STARTS;
        switch (n->kind) {
        case SW_NOTE_SENDS:
            b.sends = message(c, rank, n, kind, &b.send);
            b.send.bytes = n->bytes ? n->bytes - 1
                         : sends > 1 ? e->sent / sends : e->sent;
            break;
        case SW_NOTE_RECEIVES:
            b.receives = message(c, rank, n, kind, &b.receive);
            b.receive.bytes = e->received;
            break;
        case SW_NOTE_POSTS: {
            sw_note_t post = *n;
            fate = !under_way ? NULL
                 : sw_lookup_get(&c->fates, key_of(rank->name->number,
                                                after->request));
            if (fate && *fate == FATE_CANCELLED)
                break;
            if (fate) {
                post.peer = (int64_t)(*fate >> 32);
                post.tag = (int64_t)(*fate & UINT32_MAX);
            }
            /* With wildcards and never completed: nobody can tell. */
            b.receives = message(c, rank, &post, fate ? IS_MESSAGE : kind,
                                 &b.receive);
            break;
        }
        case SW_NOTE_COLLECTIVE:
            collective(c, rank, e, kind, n->communicator, root,
                       under_way ? after : NULL);
            i += under_way;
            break;
        case SW_NOTE_STARTS:
            starts(c, rank, e, &b, n->request);
            break;
        case SW_NOTE_CAME:
        case SW_NOTE_ENDS:
            ends(c, rank, e, kind, n->request);
            break;
        default:
            break;
        }
    }
    blocks(c, rank, e, &b);
}

/* The time before a call, and in it where that is the program's own. */
static void times(convert_t *c, rank_t *rank, thread_t *thread, bool first,
                  const sw_event_t *e, kind_t kind)
{
    uint64_t from = thread->begun ? thread->end : rank->name->start;
    bool poll = kind == IS_POLL && !e->note_count;
    bool again = poll && thread->polled == e->record + 1;
    uint64_t gap = e->begin > from ? e->begin - from : 0;
    if (!thread->begun && !first)
        gap = 0;            /* a thread begins with its first call */
    if (thread->begun)
        gap -= sw_min(gap, rank->cost);
    if (again && gap) {
        uint64_t ns = sw_names_time(rank->name, e->begin) -
                      sw_names_time(rank->name, e->begin - gap);
        gap = ns < POLL_GAP ? 0 : gap;
    }
    uint64_t to = kind == IS_COMPUTE ? e->end : e->begin;
    compute(c, rank, e->begin - gap, to);
    thread->polled = poll ? e->record + 1 : 0;
    thread->begun = true;
    thread->end = e->end;
    c->done->polls += poll;
}

static void call(convert_t *c, rank_t *rank, thread_t *thread, bool first,
                 const sw_event_t *e, const sw_call_name_t *name)
{
    kind_t kind = name ? c->kinds[name->name] : IS_MESSAGE;
    char *at = NULL;
    long root = name ? strtol(name->details, &at, 10) : -1;
    uint64_t communicator = at ? strtoull(at, NULL, 10) : 0;
    c->done->calls++;
    times(c, rank, thread, first, e, kind);
    if (e->failed)
        return;
    if (kind == IS_FENCE || kind == IS_OTHER) {
        collective(c, rank, e, kind, communicator, root, NULL);
    } else if (kind == IS_ONE_SIDED) {
        rank->put += e->sent;
        rank->got += e->received;
    } else if (kind == IS_UNMODELLED) {
        c->done->unmodelled++;
    } else {
        notes(c, rank, e, kind, root);
    }
}

/* Several threads --------------------------------------------------------- */

static int in_time(const void *a, const void *b)
{
    const item_t *x = a, *y = b;
    if (x->when != y->when)
        return x->when < y->when ? -1 : 1;
    return x->nth < y->nth ? -1 : x->nth > y->nth;
}

static void put_items(convert_t *c, rank_t *rank)
{
    uint64_t last = 0;
    int busy = 0;
    if (rank->item_count)
        qsort(rank->items, rank->item_count, sizeof *rank->items, in_time);
    for (size_t i = 0; i < rank->item_count; i++) {
        const item_t *item = &rank->items[i];
        uint64_t now = sw_names_time(rank->name, item->when);
        if (busy > 0)
            rank->computed += (sw_ps_t)(now - last) * SW_PS_PER_NS;
        last = now;
        busy += item->busy;
        if (item->op.kind)
            put_op(c, rank, &item->op);
    }
}

/* The whole --------------------------------------------------------------- */

static bool wanted(void *of, uint32_t number)
{
    const convert_t *c = of;
    const sw_rank_name_t *rank = sw_names_rank(c->names, number);
    return rank && rank->file == c->file;
}

static bool go_through(convert_t *c, char **files, bool first_pass)
{
    for (c->file = 0; files[c->file]; c->file++) {
        sw_trace_reader_t reader;
        int error = sw_trace_open(&reader, files[c->file]);
        reader.wanted = wanted;
        reader.wanted_of = c;
        while (!error && c->memory && sw_trace_block(&reader)) {
            sw_rank_name_t *r = sw_names_rank(c->names, reader.rank);
            rank_t *rank = &c->ranks[r - c->names->ranks];
            uint32_t which = 0;
            while (which < r->thread_count &&
                   r->threads[which].number != reader.thread)
                which++;
            const sw_thread_name_t *t = which < r->thread_count
                                      ? &r->threads[which] : NULL;
            while (c->memory && sw_trace_event(&reader)) {
                const sw_call_name_t *name =
                    t ? sw_names_call(t, reader.event.record) : NULL;
                if (first_pass)
                    foresee(c, rank, &reader.event,
                            name ? c->kinds[name->name] : IS_MESSAGE);
                else
                    call(c, rank, &rank->threads[which], reader.thread == 0,
                         &reader.event, name);
            }
        }
        error = error ? error : reader.error;
        if (!first_pass)
            c->done->damaged += reader.damaged;
        sw_trace_close(&reader);
        if (error)
            return sw_convert_fail("%s: %s", files[c->file], error == EINVAL
                                   ? "no capture file" : strerror(error));
    }
    return c->memory;
}

/* From the last call to MPI_Finalize. */
static void finish(convert_t *c)
{
    for (uint32_t i = 0; i < c->names->rank_count && c->memory; i++) {
        rank_t *rank = &c->ranks[i];
        const sw_rank_name_t *r = rank->name;
        for (uint32_t k = 0; k < r->thread_count; k++)
            if (r->threads[k].number == 0)
                compute(c, rank, rank->threads[k].begun
                        ? rank->threads[k].end : r->start,
                        r->start + (r->ticks ? r->ticks : r->ns));
        if (several(rank))
            put_items(c, rank);
        put_op(c, rank, NULL);
    }
}

bool sw_trace_to_ops(const char *out, char **files, FILE *from,
                     sw_converted_t *done)
{
    sw_names_t names;
    convert_t c = {.names = &names, .done = done, .memory = true};
    if (!sw_names_read(&names, from) || !names.rank_count) {
        sw_names_free(&names);
        return sw_convert_fail("the names of the trace cannot be read");
    }
    c.world = names.ranks[names.rank_count - 1].number + 1;
    for (uint32_t i = 1; i < names.string_count; i++)
        if (!strncmp(names.strings[i], "world ", 6))
            c.world = sw_max(c.world, (uint32_t)strtoul(names.strings[i] + 6,
                                                        NULL, 10));
    c.writer = sw_op_writer_new(out, c.world, "from a trace");
    bool good = c.writer != NULL;
    if (!good)
        sw_convert_fail("%s: %s", out, strerror(errno));
    good = good && find_ranks(&c) && read_strings(&c) &&
           go_through(&c, files, true) && go_through(&c, files, false);
    if (good)
        finish(&c);
    bool told = c.writer && !good && c.memory;
    if (c.writer && good && c.memory) {
        good = sw_op_writer_close(c.writer) ||
               sw_convert_fail("%s: %s", out, strerror(errno));
    } else if (c.writer) {
        sw_op_writer_drop(c.writer);
        if (!told)
            sw_convert_fail("%s: no memory, or no room on the disk", out);
        good = false;
    }
    for (uint32_t i = 0; c.ranks && i < names.rank_count; i++) {
        free(c.ranks[i].threads);
        free(c.ranks[i].free_requests);
        free(c.ranks[i].items);
    }
    free(c.ranks);
    free(c.contexts);
    free(c.kinds);
    sw_lookup_free(&c.posted);
    sw_lookup_free(&c.fates);
    sw_lookup_free(&c.ways);
    sw_lookup_free(&c.requests);
    sw_names_free(&names);
    return good;
}
