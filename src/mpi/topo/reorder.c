/*
 * reorder.c - see reorder.h.
 */
#include "reorder.h"

#include "node/base/crc.h"

#include <stdatomic.h>

static _Atomic int64_t counts[SW_REORDER_COUNTS];

void sw_reorder_counts(int64_t to[SW_REORDER_COUNTS])
{
    for (int i = 0; i < SW_REORDER_COUNTS; i++)
        to[i] = atomic_load(&counts[i]);
}

static void count(bool asked, bool done, const sw_mapping_t *told)
{
    atomic_fetch_add(&counts[SW_REORDER_ASKED], asked);
    if (!done)
        return;
    atomic_fetch_add(&counts[SW_REORDER_DONE], 1);
    atomic_fetch_add(&counts[SW_REORDER_BEFORE], told->across_before);
    atomic_fetch_add(&counts[SW_REORDER_AFTER], told->across);
}

/* Do all members want the same mapping? */
static int compare(MPI_Comm comm, const int *rank, int n, bool *same)
{
    uint64_t sum = rank ? sw_crc32(0, rank, (size_t)n * sizeof *rank) : 0;
    uint64_t mine[3] = {rank != NULL, sum, ~sum}, least[3] = {0};
    int code = host.Allreduce(mine, least, 3, MPI_UINT64_T, MPI_MIN, comm);
    *same = least[0] && least[1] == ~least[2];
    return code;
}

static int make_again(int new_rank, sw_reorder_make_t *make,
                      const void *topology, MPI_Comm from, MPI_Comm *to)
{
    MPI_Comm between;
    int code = host.Comm_split(from, 0, new_rank, &between);
    if (code != MPI_SUCCESS)
        return code;
    host.Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    code = make(between, topology, to);
    host.Comm_free(&between);
    return code;
}

int sw_reorder(MPI_Comm parent, const int *rank, int n,
               const sw_mapping_t *told, sw_reorder_make_t *make,
               const void *topology, MPI_Comm *made)
{
    MPI_Errhandler handler;
    MPI_Comm again;
    bool same;
    int me;
    host.Comm_rank(*made, &me);
    host.Comm_get_errhandler(*made, &handler);
    host.Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
    int code = compare(*made, rank, n, &same);
    if (code == MPI_SUCCESS && same)
        code = make_again(rank[me], make, topology, *made, &again);
    if (code == MPI_SUCCESS && same) {
        host.Comm_free(made);
        *made = again;
    }
    host.Comm_set_errhandler(*made, handler);
    host.Errhandler_free(&handler);
    if (code != MPI_SUCCESS)
        host.Comm_call_errhandler(parent, code);
    else if (me == 0)
        count(true, same, told);
    return code;
}
