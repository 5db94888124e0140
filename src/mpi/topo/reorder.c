/*
 * reorder.c - see reorder.h.
 */
#include "reorder.h"

#include "mpi/base/context_id.h"
#include "node/base/array.h"
#include "node/base/crc.h"

#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int64_t counts[SW_REORDER_COUNTS];

void sw_reorder_counts(int64_t to[SW_REORDER_COUNTS])
{
    for (int i = 0; i < SW_REORDER_COUNTS; i++)
        to[i] = atomic_load(&counts[i]);
}

static void count(const sw_mapping_t *told)
{
    atomic_fetch_add(&counts[SW_REORDER_ASKED], 1);
    if (!told)
        return;
    atomic_fetch_add(&counts[SW_REORDER_DONE], 1);
    atomic_fetch_add(&counts[SW_REORDER_BEFORE], told->across_before);
    atomic_fetch_add(&counts[SW_REORDER_AFTER], told->across);
}

/* Do all members want the same mapping? NULL: this one wants none. */
static int compare(MPI_Comm comm, const int *rank, int n, bool *same)
{
    uint64_t sum = rank ? sw_crc32(0, rank, (size_t)n * sizeof *rank) : 0;
    uint64_t mine[3] = {rank != NULL, sum, ~sum}, least[3] = {0};
    int code = host.Allreduce(mine, least, 3, MPI_UINT64_T, MPI_MIN, comm);
    *same = least[0] && least[1] == ~least[2];
    return code;
}

static int make_again(const sw_reorder_kind_t *kind, void *topology,
                      int new_rank, MPI_Comm *made)
{
    MPI_Comm between, again;
    int code = host.Comm_split(*made, 0, new_rank, &between);
    if (code != MPI_SUCCESS)
        return code;
    host.Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    code = kind->make(topology, between, &again);
    host.Comm_free(&between);
    if (code == MPI_SUCCESS) {
        host.Comm_free(made);
        *made = again;
    }
    return code;
}

static int reorder(MPI_Comm parent, const sw_reorder_kind_t *kind,
                   void *topology, MPI_Comm *made)
{
    MPI_Errhandler handler;
    bool same = false;
    int n, me;
    host.Comm_size(*made, &n);
    host.Comm_rank(*made, &me);
    sw_seat_t *seat = sw_seating_of(*made, n);
    if (!seat)
        return MPI_SUCCESS;
    host.Comm_get_errhandler(*made, &handler);
    host.Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
    sw_mapping_t told;
    int *rank = sw_array_zeroed((size_t)n, sizeof *rank);
    bool better = kind->map(topology, *made, seat, n, rank, &told);
    int code = compare(*made, better ? rank : NULL, n, &same);
    if (code == MPI_SUCCESS && same)
        code = make_again(kind, topology, rank[me], made);
    host.Comm_set_errhandler(*made, handler);
    host.Errhandler_free(&handler);
    if (code != MPI_SUCCESS)
        host.Comm_call_errhandler(parent, code);
    else if (me == 0)
        count(same ? &told : NULL);
    free(rank);
    free(seat);
    return code;
}

int sw_reordered(MPI_Comm parent, bool ours, const sw_reorder_kind_t *kind,
                 void *topology, int code, MPI_Comm fresh, MPI_Comm *made)
{
    if (ours && code == MPI_SUCCESS && fresh != parent &&
        fresh != MPI_COMM_NULL) {
        int again = reorder(parent, kind, topology, &fresh);
        (void)sw_context_id_give(MPI_SUCCESS, parent, fresh, made);
        return again;
    }
    return sw_context_id_give(code, parent, fresh, made);
}

void sw_reorder_map(MPI_Comm comm, const sw_reorder_kind_t *kind,
                    void *topology, int n, int *rank)
{
    int me;
    host.Comm_rank(comm, &me);
    /* Open MPI maps ranks beyond the grid to themselves. */
    sw_seat_t *seat = *rank == me && me < n ? sw_seating_of(comm, n) : NULL;
    if (!seat)
        return;
    sw_mapping_t told;
    int *ranks = sw_array_zeroed((size_t)n, sizeof *ranks);
    if (kind->map(topology, MPI_COMM_NULL, seat, n, ranks, &told))
        *rank = ranks[me];
    free(ranks);
    free(seat);
}
