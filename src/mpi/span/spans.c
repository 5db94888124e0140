/*
 * spans.c - see spans.h: which function carries out a member's part.
 */
#include "spans.h"

int sw_span_move(sw_span_t *s, const sw_coll_move_t *m, size_t key)
{
    const sw_blocks_t *sends = &m->sends, *recvs = &m->recvs;
    bool is_root = s->me == m->root;
    sw_data_t one; /* the block for all, or from all */
    switch (m->id) {
    case SW_COLL_BCAST:
        one = is_root ? sw_block_data(sends, m->send, 0)
                      : sw_block_data(recvs, m->recv, 0);
        return sw_span_bcast(s, m->root, &one, key);
    case SW_COLL_GATHER:
        one = sw_block_data(sends, m->send, 0);
        return sw_span_gather(s, m->root, &one, sends->bytes, m->recv, recvs);
    case SW_COLL_GATHERV:
        one = sw_block_data(sends, m->send, 0);
        return sw_span_gatherv(s, m->root, &one, sends->bytes, m->recv, recvs);
    case SW_COLL_SCATTER:
        one = sw_block_data(recvs, m->recv, 0);
        return sw_span_scatter(s, m->root, m->send, sends,
                               m->in_place ? NULL : &one, key);
    case SW_COLL_SCATTERV:
        one = sw_block_data(recvs, m->recv, 0);
        return sw_span_scatterv(s, m->root, m->send, sends,
                                m->in_place ? NULL : &one, recvs->bytes);
    case SW_COLL_ALLGATHER:
    case SW_COLL_ALLGATHERV:
        one = sw_block_data(sends, m->send, 0);
        return sw_span_allgather(s, m->id, key, &one, sends->bytes, m->recv,
                                 recvs);
    case SW_COLL_ALLTOALL:
        return sw_span_alltoall(s, m->send, sends, m->recv, recvs);
    default: return sw_span_alltoallv(s, m->id, m->send, sends, m->recv, recvs);
    }
}

int sw_span_fold(sw_span_t *s, const sw_coll_fold_t *f, const sw_operation_t *o)
{
    switch (f->id) {
    case SW_COLL_REDUCE:
        return sw_span_reduce(s, f->root, o, f->in, f->out, f->n);
    case SW_COLL_ALLREDUCE: return sw_span_allreduce(s, o, f->in, f->out, f->n);
    case SW_COLL_SCAN:
    case SW_COLL_EXSCAN:
        return sw_span_scan(s, f->id == SW_COLL_EXSCAN, o, f->in, f->out, f->n);
    default: return sw_span_reduce_scatter(s, o, f->in, f->out, f->counts);
    }
}
