/*
 * near.c - neighbourhood collectives: a message to each neighbour and one from
 * each, on a context of their own, complete together.
 */
#include "virtual.h"

#include <stdlib.h>

/* Their tag beside partitioned messages, which share the context. */
#define NEAR_TAG INT32_MAX

/* All operations of one call; NULL: no memory, or there are none. */
static sw_vop_t *messages(sw_known_comm_t *c, const sw_moved_t *moves,
                          uint32_t *count)
{
    *count = 0;
    if (!c || !c->in || c->ins < 0 || c->outs < 0)
        return NULL;
    sw_vop_t *all = malloc((size_t)(c->ins + c->outs + 1) * sizeof *all);
    sw_virtual_lock();
    uint32_t context = sw_virtual_aside(c);
    for (int i = 0; all && i < c->ins + c->outs; i++) {
        int64_t rank = sw_known_rank(c, c->in[i]);
        bool sends = i >= c->ins;
        uint64_t bytes = sends ? moves->sent : moves->received;
        if (rank < 0)
            continue;
        all[(*count)++] = (sw_vop_t){
            .kind = sends ? SW_OP_SEND : SW_OP_RECV,
            .context = context,
            .peer = (int32_t)rank,
            .tag = NEAR_TAG,
            .request = sw_work_number(),
            .bytes = bytes / (uint64_t)(sends ? c->outs : c->ins)};
    }
    sw_virtual_unlock();
    return all;
}

/* The first operation stands for the request, the others go with it. */
void sw_virtual_near(sw_known_comm_t *c, const sw_moved_t *moves,
                     MPI_Request *own, bool persistent)
{
    uint32_t n;
    sw_vop_t *all = messages(c, moves, &n), none = {.kind = 0};
    if (!all)
        return;
    sw_virtual_lock();
    sw_work_t *w = sw_work_new(c, n ? &all[0] : &none);
    if (w) {
        w->others = malloc((n + 1) * sizeof *w->others);
        for (uint32_t i = 1; i < n && w->others; i++)
            w->others[w->other_count++] = all[i].request;
        w->persistent = persistent;
        w->active = !persistent;
        w->done = !n;
        w->apart = persistent;
        for (uint32_t i = 0; i < n && !persistent; i++)
            sw_virtual_put(&all[i]);
        if (persistent) {
            w->op.kind = 0; /* the parts are put at each start */
            w->parts = all;
            w->part_count = n;
            all = NULL;
        }
        sw_work_add(w, (uintptr_t)*own);
    }
    free(all);
    sw_virtual_unlock();
}

int sw_virtual_near_own(sw_known_comm_t *c, const sw_moved_t *moves,
                        MPI_Request *own)
{
    uint32_t n;
    sw_vop_t *all = messages(c, moves, &n);
    sw_virtual_lock();
    for (uint32_t i = 0; i < n; i++)
        sw_virtual_put(&all[i]);
    for (uint32_t i = 0; i < n; i++) {
        sw_virtual_tell(SW_OP_WAIT, all[i].request);
        sw_work_number_free(all[i].request);
    }
    sw_virtual_unlock();
    free(all);
    return sw_virtual_finish(own, MPI_STATUS_IGNORE, true);
}
