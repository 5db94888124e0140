/*
 * convert_trace_collectives.c - the collectives of a trace as operations; see
 * convert_trace.h.
 *
 * A collective's call says what it is; for a persistent one, which a start
 * begins, a note does. Among neighbours it is a message to and from each, on a
 * context of their own. Between groups:
 *
 *   - with a root: a collective of the root and the other group; the other
 *     members of the root's group (MPI_PROC_NULL) have no part;
 *   - without: one of the members of both, whose block is the mean over all
 *     that travel, so that all know the same.
 *
 * What is not told becomes `other`: the members wait for each other.
 */
#include "convert_trace.h"

/* What a call's own operations are bound to until it ends: no request of a
 * trace, which begin at 1. */
#define OF_THE_CALL 0u

/* A collective as the trace tells it. */
typedef struct {
    sw_traced_kind_t kind;
    int64_t root; /* between groups: in the world */
    uint64_t size, sent, received;
    const sw_trace_note_t *starts; /* NULL: it blocks */
} told_t;

static bool has_root(unsigned what)
{
    return sw_collective_waits[what] == SW_WAITS_ROOT ||
           sw_collective_waits[what] == SW_WAITS_AT_ROOT;
}

/* Binds sends first, so that a wait takes receives first. */
static void among_neighbours(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                             const sw_trace_event_t *e, const told_t *t,
                             const sw_traced_near_t *near)
{
    uint32_t n = near->ins + near->outs;
    uint64_t block = near->ins ? t->received / near->ins : 0;
    uint64_t request = t->starts ? t->starts->request : OF_THE_CALL;
    for (uint32_t k = 0; k < n; k++) {
        bool sends = k < near->outs;
        int64_t peer = near->rank[sends ? near->ins + k : k - near->outs];
        if (peer < 0)
            continue;
        sw_vop_t op = {.kind = sends ? SW_OP_SEND : SW_OP_RECV,
                       .context = near->context,
                       .peer = (int32_t)peer,
                       .bytes = sends ? t->size : block,
                       .request = sw_traced_request(rank)};
        if (sends && sw_traced_several(rank))
            op.flags = SW_SEND_BUFFERED;
        sw_traced_emit(c, rank, e->begin, &op);
        sw_traced_bind(c, rank, request, op.request, sends);
    }
    if (!t->starts)
        sw_traced_ends(c, rank, e, false, OF_THE_CALL);
}

/* How many the rank's own group has. */
static uint64_t own_group(const sw_traced_groups_t *groups, uint32_t rank)
{
    for (uint32_t i = 0; i < groups->first; i++)
        if (groups->members[i] == rank)
            return groups->first;
    return groups->second;
}

/* False: it is `other`. */
static bool between_groups(sw_convert_trace_t *c,
                           const sw_traced_groups_t *groups, uint32_t rank,
                           const told_t *t, sw_vop_t *op)
{
    uint64_t n = groups->first + groups->second;
    uint64_t own = own_group(groups, rank);
    switch (op->what) {
    case SW_COLLECTIVE_ALLGATHERV:
        return false; /* no member knows its own group's blocks */
    case SW_COLLECTIVE_ALLGATHER:
        op->bytes = (own * t->sent + t->received) / n;
        break;
    case SW_COLLECTIVE_REDUCE_SCATTER:
    case SW_COLLECTIVE_REDUCE_SCATTER_BLOCK:
        op->bytes = t->sent / n; /* both groups reduce as much */
        break;
    case SW_COLLECTIVE_ALLTOALL:
        op->bytes = own * (t->sent + t->received) / n / n;
        break;
    case SW_COLLECTIVE_ALLTOALLV:
    case SW_COLLECTIVE_ALLTOALLW:
        op->bytes = (t->sent + t->received) / 2 / n;
        break;
    default:
        if (has_root(op->what)) {
            op->peer = 0;
            return sw_traced_rooted(c, op->context, t->root, &op->context);
        }
        break;
    }
    return true;
}

/* What it is among operations; what the trace does not tell is `other`. */
static void become(sw_convert_trace_t *c, const sw_traced_rank_t *rank,
                   const told_t *t, sw_vop_t *op)
{
    const sw_traced_groups_t *groups = sw_traced_groups(c, op->context);
    uint32_t context = op->context;
    bool good = t->kind >= SW_TRACED_COLLECTIVE;
    if (good)
        op->what = (uint8_t)(t->kind - SW_TRACED_COLLECTIVE);
    if (groups) {
        good = good && between_groups(c, groups, rank->name->number, t, op);
    } else if (good && has_root(op->what)) {
        op->peer = (int32_t)t->root;
        good = t->root >= 0 && (uint64_t)t->root < c->contexts[context];
    }
    if (good)
        return;
    op->what = t->kind == SW_TRACED_FENCE ? SW_COLLECTIVE_FENCE
                                          : SW_COLLECTIVE_OTHER;
    op->context = context;
    op->peer = -1;
    if (!sw_traced_is_bare(t->kind))
        c->done->approximate++;
}

/* MPI_PROC_NULL as the root between groups: this rank has no part in it. */
static bool no_part(const sw_convert_trace_t *c, const told_t *t,
                    uint32_t context)
{
    return sw_traced_groups(c, context) && t->root < 0 &&
           t->kind >= SW_TRACED_COLLECTIVE &&
           has_root(t->kind - SW_TRACED_COLLECTIVE);
}

static told_t told(const sw_trace_event_t *e, sw_traced_kind_t kind, long root,
                   const sw_trace_note_t *means, const sw_trace_note_t *starts)
{
    told_t t = {.kind = kind,
                .root = root,
                .size = e->size,
                .sent = e->sent,
                .received = e->received,
                .starts = starts};
    if (means)
        t.root = means->peer;
    if (means && means->number) {
        t.size = means->size;
        t.sent = means->sent;
        t.received = means->received;
        uint64_t id = means->number - 1;
        t.kind = id >= SW_COLL_COUNT ? SW_TRACED_START
                 : sw_collective_is_near((sw_collective_t)id)
                     ? SW_TRACED_NEAR
                     : (sw_traced_kind_t)(SW_TRACED_COLLECTIVE + id);
    }
    return t;
}

void sw_traced_collective(sw_convert_trace_t *c, sw_traced_rank_t *rank,
                          const sw_trace_event_t *e, sw_traced_kind_t kind,
                          uint64_t communicator, long root,
                          const sw_trace_note_t *means,
                          const sw_trace_note_t *starts)
{
    told_t t = told(e, kind, root, means, starts);
    const sw_traced_near_t *near = t.kind == SW_TRACED_NEAR
                                       ? sw_traced_near(c, rank, communicator)
                                       : NULL;
    sw_vop_t op = {.kind = SW_OP_COLLECTIVE,
                   .what = SW_COLLECTIVE_OTHER,
                   .peer = -1,
                   .bytes = t.size,
                   .sent = t.sent,
                   .received = t.received};
    if (near) {
        among_neighbours(c, rank, e, &t, near);
        return;
    }
    if (!sw_traced_context(c, rank, communicator, &op.context)) {
        c->done->outside++;
        return;
    }
    if (no_part(c, &t, op.context))
        return;
    become(c, rank, &t, &op);
    if (kind == SW_TRACED_FENCE) {
        op.sent = rank->put;
        op.received = rank->got;
        op.bytes = sw_max(rank->put, rank->got);
        rank->put = rank->got = 0;
    }
    bool split = starts || sw_traced_several(rank);
    op.request = split ? sw_traced_request(rank) : 0;
    sw_traced_emit(c, rank, e->begin, &op);
    if (starts)
        sw_traced_bind(c, rank, starts->request, op.request, false);
    else
        sw_traced_wait(c, rank, e->end, op.request, SW_OP_WAIT);
}
