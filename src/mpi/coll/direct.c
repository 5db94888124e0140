/*
 * direct.c - see direct.h.
 */
#include "direct.h"

#include "direct_round.h"
#include "mpi/base/reach.h"
#include "node/temporary.h"

#include <string.h>

#define LAYOUT_MOST 512 /* a layout that travels: a list of runs does not */
#define TOLD_MOST 128   /* blocks: each member reads those of all */

/* What a member tells ------------------------------------------------------ */

enum { SENDS_NONE, SENDS, CLOSED };

typedef struct {
    sw_ipc_t place; /* the lowest byte of all that it sends */
    uint64_t bytes; /* of all */
    uint32_t state;
    uint32_t layout_bytes; /* 0: the elements are bytes */
    _Alignas(16) char layout[LAYOUT_MOST];
} head_t;

typedef struct {
    int64_t at; /* of element 0, from the place */
    int64_t count;
    uint64_t bytes;
} block_t;

/* The root alone receives. */
static bool gathers(sw_collective_t id)
{
    return id == SW_COLL_GATHER || id == SW_COLL_GATHERV;
}

/* Blocks that a member tells of: a number that all know. */
static int told(const sw_coll_call_t *k)
{
    return sw_move_deals(k->id) ? k->c->n : 1;
}

static bool side(const sw_half_block_t *x, sw_carry_side_t *to)
{
    return sw_reach_side(x->at, x->count, x->type, to);
}

/* Block `i` of what this member sends; in place it is one that it receives.
 * False: it sends none. */
static bool sent(const sw_coll_call_t *k, int i, sw_half_block_t *to)
{
    const sw_move_t *m = &k->move;
    if (m->out.form != SW_HALF_NONE)
        *to = sw_half_block(&m->out, i);
    else if (m->in_place && !sw_move_deals(k->id) && m->in.form != SW_HALF_NONE)
        *to = sw_half_block(&m->in, k->c->me);
    else
        return false;
    return true;
}

/* All that is sent has one layout, which can travel. */
static bool add_layout(head_t *h, const sw_layout_t **known, bool first,
                       const sw_layout_t *l)
{
    if (first && l) {
        if (l->bytes > LAYOUT_MOST)
            return false;
        memcpy(h->layout, l, l->bytes);
        h->layout_bytes = (uint32_t)l->bytes;
    }
    if (first)
        *known = l;
    return *known == l;
}

/* No other member reads what the root of a gather sends to itself. */
static void tell(const sw_coll_call_t *k, head_t *h, block_t *b)
{
    int n = told(k);
    int64_t low = INT64_MAX, high = INT64_MIN;
    const sw_layout_t *layout = NULL;
    bool open = true;
    memset(h, 0, sizeof *h);
    memset(b, 0, (size_t)n * sizeof *b);
    if (gathers(k->id) && k->c->me == k->move.root)
        return;
    for (int i = 0; i < n; i++) {
        sw_half_block_t x;
        sw_carry_side_t s;
        int64_t from = 0, to;
        if (!sent(k, i, &x) || !x.bytes)
            continue;
        open = open && side(&x, &s) &&
               add_layout(h, &layout, !h->bytes, s.layout);
        if (!open)
            break;
        to = s.count;
        if (s.layout)
            sw_layout_span(s.layout, s.count, &from, &to);
        from += (intptr_t)x.at;
        to += (intptr_t)x.at;
        low = from < low ? from : low;
        high = to > high ? to : high;
        b[i] = (block_t){(intptr_t)x.at, s.count, x.bytes};
        h->bytes += x.bytes;
    }
    h->state = !open ? CLOSED : h->bytes ? SENDS : SENDS_NONE;
    if (h->state == SENDS && !sw_ipc_export((const void *)(intptr_t)low,
                                            (size_t)(high - low), &h->place))
        h->state = CLOSED;
    for (int i = 0; i < n; i++)
        b[i].at -= low;
}

/* What a member carries ---------------------------------------------------- */

typedef struct {
    const sw_coll_call_t *k;
    const char *all; /* what the members have told */
    size_t each;
} told_t;

static const head_t *head_of(const told_t *t, int i)
{
    return (const head_t *)(const void *)(t->all + (size_t)i * t->each);
}

/* All see the same heads. Small blocks are not worth two collectives. */
static bool worth_while(const told_t *t)
{
    uint64_t bytes = 0, blocks = 0;
    for (int i = 0; i < t->k->c->n; i++) {
        const head_t *h = head_of(t, i);
        if (h->state == CLOSED)
            return false;
        bytes += h->bytes;
        blocks += h->state == SENDS ? (uint64_t)told(t->k) : 0;
    }
    return blocks && bytes / blocks >= SW_DIRECT_MIN;
}

/* A peer's layout, as our own: no table is kept under its address. */
static const sw_layout_t *layout_of(const head_t *h, void *room)
{
    sw_layout_t *l = room;
    memcpy(room, h->layout, LAYOUT_MOST);
    l->serial = 0;
    l->users = 0;
    l->kept = 0;
    return h->layout_bytes <= LAYOUT_MOST && sw_layout_valid(l, h->layout_bytes)
               ? l
               : NULL;
}

/* This member's block to itself, in whatever memory. */
static bool keep(const told_t *t, const sw_half_block_t *to)
{
    sw_half_block_t own;
    sw_carry_side_t from, target;
    const sw_coll_call_t *k = t->k;
    if (!sent(k, sw_move_deals(k->id) ? k->c->me : 0, &own) ||
        own.bytes != to->bytes)
        return false;
    if (!own.bytes || (side(&own, &from) && side(to, &target) &&
                       sw_carry(&from, &target, to->bytes)))
        return true;
    sw_half_block_copy(&own, to, k->comm);
    return true;
}

/* From another member. */
static bool fetch(const told_t *t, int i, const sw_half_block_t *to)
{
    _Alignas(16) char room[LAYOUT_MOST];
    const sw_comm_t *c = t->k->c;
    const head_t *h = head_of(t, i);
    const block_t *b = (const block_t *)(const void *)(h + 1) +
                       (sw_move_deals(t->k->id) ? c->me : 0);
    sw_carry_side_t from = {NULL, NULL, b->count, 0}, target;
    bool known = side(to, &target);
    if (!known || b->bytes != to->bytes)
        return false;
    if (!b->bytes)
        return true;
    if (h->layout_bytes && !(from.layout = layout_of(h, room)))
        return false;
    char *at = sw_direct_open(t->k->c, i, &h->place,
                              sw_carry_lowest(&target, NULL));
    if (!at)
        return false;
    from.at = (const char *)((intptr_t)at + b->at);
    bool carried = sw_carry(&from, &target, to->bytes);
    sw_ipc_done(at);
    return carried;
}

static bool fetch_all(const told_t *t)
{
    const sw_coll_call_t *k = t->k;
    const sw_move_t *m = &k->move;
    int n = k->c->n, me = k->c->me;
    bool all = sw_move_collects(k->id);
    if (m->in.form == SW_HALF_NONE)
        return true;
    for (int j = 1; j <= n; j++) {
        int i = (me + j) % n;
        if ((!all && i != m->root) || (i == me && m->in_place))
            continue;
        sw_half_block_t to = sw_half_block(&m->in,
                                           sw_move_collects(k->id) ? i : 0);
        if (!(i == me ? keep(t, &to) : fetch(t, i, &to)))
            return false;
    }
    return true;
}

/* -------------------------------------------------------------------------- */

/* By what all members know. Sizes that only some know, they tell. */
static bool is_large(const sw_coll_call_t *k)
{
    bool known = k->id == SW_COLL_BCAST || k->id == SW_COLL_GATHER ||
                 k->id == SW_COLL_SCATTER || k->id == SW_COLL_ALLGATHER ||
                 k->id == SW_COLL_ALLTOALL;
    return (!known || k->bytes >= SW_DIRECT_MIN) && told(k) <= TOLD_MOST;
}

static int try(sw_coll_call_t *k, const told_t *t, char *mine, bool *good)
{
    head_t *h = (head_t *)(void *)mine;
    tell(k, h, (block_t *)(void *)(h + 1));
    /* What a member sends in place it would overwrite. */
    if (k->move.in_place && sw_move_deals(k->id) && sw_move_collects(k->id))
        h->state = CLOSED;
    int status = sw_direct_tell(k->c, mine, t->each, (char *)(uintptr_t)t->all);
    bool carried = status == SW_OK && worth_while(t) && fetch_all(t);
    int end = sw_direct_vote(k->c, carried, good);
    return status == SW_OK ? end : status;
}

bool sw_direct_move(sw_coll_call_t *k, int *status)
{
    sw_comm_t *c = k->c;
    bool good = false;
    if (!is_large(k) || !sw_direct_due(&c->direct_moves))
        return false;
    told_t t = {.k = k};
    t.each = sizeof(head_t) + (size_t)told(k) * sizeof(block_t);
    t.each = sw_round_up(t.each, SW_LINE);
    char *room = sw_temporary(((size_t)c->n + 1) * t.each);
    t.all = room + t.each;
    *status = try(k, &t, room, &good);
    sw_temporary_free(room);
    sw_direct_remember(&c->direct_moves, good);
    return good;
}
