/*
 * alone.c - see alone.h.
 */
#include "alone.h"

#include "mpi/base/reach.h"

/* A scan of the first member that is exclusive has no result. */
static bool fold(const sw_coll_call_t *k)
{
    const sw_reduction_t *r = &k->reduction;
    bool away = (r->ins && sw_out_of_reach(r->in, r->type)) ||
                (r->outs && sw_out_of_reach(r->out, r->type));
    if (away && r->outs && r->in != r->out)
        sw_reach_copy(r->in, r->out, r->outs, r->type, k->comm);
    return away;
}

static bool away(const sw_half_block_t *x)
{
    return x->bytes && sw_out_of_reach(x->at, x->type);
}

static bool move(const sw_coll_call_t *k)
{
    const sw_move_t *m = &k->move;
    bool sends = m->out.form != SW_HALF_NONE;
    bool receives = m->in.form != SW_HALF_NONE;
    sw_half_block_t from = {.bytes = 0}, to = {.bytes = 0};
    if (sends)
        from = sw_half_block(&m->out, 0);
    if (receives)
        to = sw_half_block(&m->in, 0);
    if (!away(&from) && !away(&to))
        return false;
    if (!sends || !receives || m->in_place)
        return true;
    if (from.bytes != to.bytes)
        return false;
    sw_half_block_copy(&from, &to, k->comm);
    return true;
}

bool sw_alone_carry_out(sw_coll_call_t *k)
{
    k->reason = SW_REASON_ALONE;
    return sw_collective_reduces(k->id) ? fold(k) : move(k);
}
