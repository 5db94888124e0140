/*
 * barrier.c - Barrier over several nodes, and other small agreements.
 */
#include "await.h"

/* Every member of this node has come, which its leader knows. */
static int arrive(sw_span_t *s)
{
    uint64_t mine = 0;
    SW_ARRAY(uint64_t, all, s->here);
    return sw_coll_gather(s->sequence, 0, &(sw_data_t){.at = (char *)&mine},
                          sizeof mine, all,
                          &(sw_blocks_t){.bytes = sizeof mine});
}

/* The leader lets the members of its node go. */
static int release(sw_span_t *s)
{
    uint64_t go = 0;
    return sw_coll_bcast(s->sequence, 0, &(sw_data_t){.at = (char *)&go},
                         sizeof go);
}

int sw_span_barrier(sw_span_t *s)
{
    int rc = arrive(s);
    if (s->mine == 0) {
        MPI_Request request;
        int code = host.Ibarrier(s->lane, &request);
        rc = sw_await_first_bad(rc, sw_span_await(s, &request, code, 0));
    }
    return sw_await_first_bad(rc, release(s));
}

int sw_span_most(sw_span_t *s, int32_t mine, int32_t *most)
{
    int rc = sw_coll_most(s->sequence, mine, most);
    if (s->mine == 0) {
        MPI_Request request;
        int code = host.Iallreduce(MPI_IN_PLACE, most, 1, MPI_INT32_T, MPI_MAX,
                                   s->lane, &request);
        rc = sw_await_first_bad(rc,
                                sw_span_await(s, &request, code, sizeof *most));
    }
    return sw_await_first_bad(
        rc, sw_coll_bcast(s->sequence, 0, &(sw_data_t){.at = (char *)most},
                          sizeof *most));
}
