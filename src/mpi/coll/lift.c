/*
 * lift.c - see lift.h.
 */
#include "lift.h"

#include "mpi/base/loose.h"
#include "mpi/base/reach.h"
#include "node/temporary.h"

/* A side of the call: blocks at the program's buffer. */
typedef struct {
    sw_half_t half;
    int n;
    void *room; /* of the copy; NULL: the side stays where it lies */
    char *at;   /* what stands there for the buffer */
} lifted_t;

struct sw_lift {
    MPI_Comm comm;
    lifted_t out, in;
    /* What the host writes. The description ends before the host's call. */
    int n;
    sw_half_block_t block[];
};

/* Sides -------------------------------------------------------------------- */

/* The host reads the whole input of a call in place where it writes. */
static void reduction(const sw_reduction_t *r, lifted_t *out, lifted_t *in)
{
    bool in_place = r->in == r->out;
    out->n = in->n = 1;
    sw_half_rows(&out->half, r->in, r->ins,
                 r->ins && !in_place ? r->type : NULL);
    sw_half_rows(&in->half, r->out, in_place ? r->ins : r->outs,
                 r->outs || in_place ? r->type : NULL);
}

static void movement(const sw_coll_call_t *k, lifted_t *out, lifted_t *in)
{
    out->n = sw_move_deals(k->id) ? k->c->n : 1;
    in->n = sw_move_collects(k->id) ? k->c->n : 1;
    out->half = k->move.out;
    in->half = k->move.in;
    if (k->move.in_place && in->half.form != SW_HALF_NONE)
        out->half.form = SW_HALF_NONE;
}

static sw_half_block_t block_of(const lifted_t *x, int i)
{
    return sw_half_block(&x->half, i);
}

/* Where a block lies in the room. */
static void *lifted_at(const lifted_t *x, const sw_half_block_t *b)
{
    return x->at + ((intptr_t)b->at - (intptr_t)x->half.buffer);
}

/* Some of it is out of reach. Absolute addresses stay: no room has them. */
static bool is_away(const lifted_t *x)
{
    bool away = false;
    if (x->half.form == SW_HALF_NONE || !x->half.buffer)
        return false;
    for (int i = 0; i < x->n && !away; i++) {
        sw_half_block_t b = block_of(x, i);
        away = b.bytes && sw_out_of_reach(b.at, b.type);
    }
    return away;
}

/* Room for all blocks, and a copy of them. An error of the host's leaves what
 * it receives as it was, so that is copied, too. */
static void rise(lifted_t *x, MPI_Comm comm)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int i = 0; i < x->n; i++) {
        int64_t from, to;
        sw_half_block_t b = block_of(x, i);
        if (!b.bytes)
            continue;
        sw_loose_span(b.type, b.count, &from, &to);
        int64_t at = (intptr_t)b.at - (intptr_t)x->half.buffer;
        low = at + from < low ? at + from : low;
        high = at + to > high ? at + to : high;
    }
    x->room = sw_temporary((size_t)(high - low));
    x->at = (char *)((intptr_t)x->room - low);
    for (int i = 0; i < x->n; i++) {
        sw_half_block_t b = block_of(x, i);
        if (b.bytes)
            sw_reach_copy(b.at, lifted_at(x, &b), b.count, b.type, comm);
    }
}

/* What the host writes: of a reduction in place, the result alone. */
static void remember(const sw_coll_call_t *k, sw_lift_t *l)
{
    if (!l->in.room)
        return;
    l->n = l->in.n;
    for (int i = 0; i < l->n; i++)
        l->block[i] = block_of(&l->in, i);
    if (sw_collective_reduces(k->id)) {
        l->block[0].count = k->reduction.outs;
        l->block[0].bytes = (uint64_t)k->reduction.outs *
                            l->block[0].type->size;
    }
}

/* -------------------------------------------------------------------------- */

sw_lift_t *sw_lift(const sw_coll_call_t *k)
{
    lifted_t out = {.n = 0}, in = {.n = 0};
    if (sw_collective_reduces(k->id))
        reduction(&k->reduction, &out, &in);
    else
        movement(k, &out, &in);
    bool sends = is_away(&out), receives = is_away(&in);
    if (!sends && !receives)
        return NULL;
    size_t bytes = sizeof(sw_lift_t) + (size_t)in.n * sizeof(sw_half_block_t);
    sw_lift_t *l = sw_temporary(bytes);
    if (sends)
        rise(&out, k->comm);
    if (receives)
        rise(&in, k->comm);
    *l = (sw_lift_t){.comm = k->comm, .out = out, .in = in};
    remember(k, l);
    return l;
}

void sw_lift_replace(const sw_lift_t *l, const void **send, void **receive)
{
    if (l->out.room && *send == l->out.half.buffer)
        *send = l->out.at;
    if (l->in.room && *receive == l->in.half.buffer)
        *receive = l->in.at;
}

void sw_lift_end(sw_lift_t **lift)
{
    sw_lift_t *l = *lift;
    if (sw_likely(!l))
        return;
    for (int i = 0; i < l->n; i++) {
        const sw_half_block_t *b = &l->block[i];
        if (b->bytes)
            sw_reach_copy(lifted_at(&l->in, b), (void *)(uintptr_t)b->at,
                          b->count, b->type, l->comm);
    }
    sw_temporary_free(l->out.room);
    sw_temporary_free(l->in.room);
    sw_temporary_free(l);
}
