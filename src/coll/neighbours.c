/*
 * neighbours.c - see neighbours.h; and Neighbor_allgather, Neighbor_alltoall
 * with their variants. A member offers its block (payload.h), or deals
 * (deal.h), and then receives, edge by edge.
 */
#include "deal.h"

#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

void sw_neighbours_sort(sw_neighbours_t *to, int me)
{
    int n = 0;
    for (int i = 0; i < to->outs; i++)
        if (to->out[i] != SW_NOBODY && to->out[i] != me)
            to->reader[n++] = to->out[i];
    qsort(to->reader, (size_t)n, sizeof *to->reader, by_number);
    to->readers = 0;
    for (int i = 0; i < n; i++)
        if (i == 0 || to->reader[i] != to->reader[i - 1])
            to->reader[to->readers++] = to->reader[i];
    to->first = 0;
    while (to->first < to->ins && to->in[to->first] <= me)
        to->first++;
}

/* Finds what a member offers on an edge. A member that has posted this step is
 * done with the one before. */
static int source(sw_sequence_t *seq, int member, uint64_t step, uint32_t what,
                  const int *index, int edge, sw_source_t *to)
{
    int rc = index
                 ? sw_deal_source(seq, member, step, what, index[edge], -1, to)
                 : sw_source(seq, member, step, what, to);
    if (!rc && seq->known[member] < step - 1)
        seq->known[member] = step - 1;
    return rc;
}

/* Receives on all edges. `index`: which block of its sender comes on each;
 * NULL: the one that goes on all edges. */
static int receive(sw_sequence_t *seq, uint64_t step, uint32_t what,
                   const int *index, const void *send, const sw_blocks_t *sends,
                   void *recv, const sw_blocks_t *recvs)
{
    const sw_neighbours_t *all = seq->neighbours;
    int rc = SW_OK;
    for (int k = 0; k < all->ins; k++) {
        int edge = all->first + k;
        edge -= edge < all->ins ? 0 : all->ins;
        int member = all->in[edge], bad = SW_OK;
        size_t room = sw_block(recvs, edge).bytes;
        if (member == SW_NOBODY || room == 0)
            continue;
        sw_data_t to = sw_block_data(recvs, recv, edge);
        sw_source_t from;
        if (member == seq->me) {
            int block = index ? index[edge] : 0;
            sw_data_t own = sw_block_data(sends, send, block);
            from.bytes = sw_block(sends, block).bytes;
            sw_source_keep(&own, &to, sw_min(from.bytes, room));
        } else {
            bad = source(seq, member, step, what, index, edge, &from);
            if (!bad)
                bad = sw_source_put(&from, &to, sw_min(from.bytes, room));
        }
        if (!bad && from.bytes > room)
            bad = SW_TRUNCATED;
        rc = rc ? rc : bad;
    }
    return rc;
}

static void conclude(sw_sequence_t *seq, uint64_t step, bool part,
                     sw_exposed_t *x)
{
    sw_sequence_done(seq, step);
    if (!part)
        return;
    for (int i = 0; i < seq->neighbours->readers; i++)
        sw_sequence_await_done(seq, seq->neighbours->reader[i], step);
    sw_expose_end(x, false);
}

int sw_coll_neighbor_allgather(sw_sequence_t *seq, const sw_data_t *send,
                               size_t bytes, void *recv,
                               const sw_blocks_t *recvs)
{
    uint32_t what = sw_sequence_what(SW_COLL_NEIGHBOR_ALLGATHER, 0);
    uint64_t step = ++seq->step;
    sw_blocks_t own = {.bytes = bytes, .data = send};
    sw_exposed_t x;
    bool part = sw_payload_offer(
        seq, step, what, SW_READ_NEIGHBOURS,
        sw_payload_eager(seq->team->eager, send->layout), send, bytes, &x);
    int rc = receive(seq, step, what, NULL, NULL, &own, recv, recvs);
    conclude(seq, step, part, &x);
    return rc;
}

int sw_coll_neighbor_alltoall(sw_sequence_t *seq, const void *send,
                              const sw_blocks_t *sends, const int *index,
                              void *recv, const sw_blocks_t *recvs)
{
    uint32_t what = sw_sequence_what(SW_COLL_NEIGHBOR_ALLTOALL, 0);
    uint64_t step = ++seq->step;
    const sw_neighbours_t *all = seq->neighbours;
    sw_hand_t hand = {.n = all->outs,
                      .own = -1,
                      .readers = SW_READ_NEIGHBOURS,
                      .eager = sw_payload_eager(seq->team->eager, sends->data),
                      .to = all->out,
                      .me = seq->me};
    sw_exposed_t x;
    bool part = sw_deal(seq, step, what, &hand, send, sends, &x);
    int rc = receive(seq, step, what, index, send, sends, recv, recvs);
    conclude(seq, step, part, &x);
    return rc;
}
