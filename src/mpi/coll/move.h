/*
 * move.h - a call of one of the procedures that move blocks, whatever its form:
 * blocking, nonblocking or persistent. Each family's file checks the arguments
 * of its own and fills this in.
 *
 * What MPI ignores (counts at a member that is not the root, say) may be
 * anything, so it does not come in here: a side without a datatype lists no
 * counts.
 */
#ifndef SW_MPI_COLL_MOVE_H
#define SW_MPI_COLL_MOVE_H

#include "vector.h"

typedef struct {
    sw_collective_t id;
    int root;
    bool in_place;              /* this member's call is                    */
    const void *send;
    void *recv;
    int64_t sendcount, recvcount;       /* of each block                    */
    const sw_datatype_t *s, *r; /* NULL: this member sends none, gets none  */
    /* Where blocks have counts of their own. */
    sw_vector_t sendcounts, sdispls, recvcounts, rdispls;
    /* Alltoallw, instead of `s` and `r`: [n], the caller's. */
    const sw_datatype_t **ss, **rs;
} sw_move_t;

/* n blocks of a buffer that the v and w variants send, or receive. */
static inline sw_vbuffer_t sw_move_sends(const sw_move_t *m, int n,
                                         MPI_Comm comm)
{
    return (sw_vbuffer_t){.user = (void *)(uintptr_t)m->send,
                          .counts = m->sendcounts,
                          .displacements = m->sdispls,
                          .types = m->ss ? m->ss
                                         : (const sw_datatype_t **)&m->s,
                          .same = !m->ss, .bytes = m->ss, .n = n,
                          .comm = comm};
}
static inline sw_vbuffer_t sw_move_recvs(const sw_move_t *m, int n,
                                         MPI_Comm comm)
{
    return (sw_vbuffer_t){.user = m->recv, .counts = m->recvcounts,
                          .displacements = m->rdispls,
                          .types = m->rs ? m->rs
                                         : (const sw_datatype_t **)&m->r,
                          .same = !m->rs, .bytes = m->rs, .n = n,
                          .comm = comm};
}

#endif
