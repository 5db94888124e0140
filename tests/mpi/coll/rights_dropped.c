/*
 * rights_dropped.c - a rank gives up its rights after MPI_Init, as servers do:
 * it becomes another user, or forbids others to look at it. From then on the
 * system refuses copies between it and the other ranks. Collectives on memory
 * that no peer maps must give the right results all the same.
 *
 *   rights_dropped ELEMENTS
 */
#define _GNU_SOURCE
#include "vectors.h"
#include <sys/mman.h>
#include <sys/prctl.h>

static int64_t *mapped(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED, "no memory");
    return p;
}

static void reductions(void)
{
    int root = world_size - 1;
    prepare();
    MPI_Allreduce(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        check("Allreduce", i, sum(world_size, i));
    prepare();
    MPI_Reduce(in, out, n, MPI_INT64_T, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; i < n && world_rank == root; i++)
        check("Reduce", i, sum(world_size, i));
    prepare();
    MPI_Scan(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        check("Scan", i, sum(world_rank + 1, i));
    int each = n / world_size;
    prepare();
    MPI_Reduce_scatter_block(in, out, each, MPI_INT64_T, MPI_SUM,
                             MPI_COMM_WORLD);
    for (int i = 0; i < each; i++)
        check("Reduce_scatter_block", i,
              sum(world_size, world_rank * each + i));
}

static void moves(void)
{
    int each = n / world_size, root = world_size - 1;
    (world_rank == root ? prepare_in_place : prepare)();
    MPI_Bcast(out, n, MPI_INT64_T, root, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        check("Bcast", i, value(root, i));
    prepare();
    MPI_Allgather(in, each, MPI_INT64_T, out, each, MPI_INT64_T,
                  MPI_COMM_WORLD);
    check_blocks("Allgather", each, 0);
    prepare();
    MPI_Alltoall(in, each, MPI_INT64_T, out, each, MPI_INT64_T, MPI_COMM_WORLD);
    check_blocks("Alltoall", each, world_rank * each);
    prepare();
    MPI_Gather(in, each, MPI_INT64_T, out, each, MPI_INT64_T, root,
               MPI_COMM_WORLD);
    if (world_rank == root)
        check_blocks("Gather", each, 0);
    prepare();
    MPI_Scatter(in, each, MPI_INT64_T, out, each, MPI_INT64_T, root,
                MPI_COMM_WORLD);
    for (int i = 0; i < each; i++)
        check("Scatter", i, value(root, world_rank * each + i));
}

/* A process with the rights of root would still reach all others. */
static void drop_rights(void)
{
    if (geteuid() == 0)
        CHECK(setgid(65534) == 0 && setuid(65534) == 0, "setuid");
    else
        CHECK(prctl(PR_SET_DUMPABLE, 0) == 0, "PR_SET_DUMPABLE");
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    n = argc > 1 ? atoi(argv[1]) : 50000;
    in = mapped((size_t)n * sizeof *in);
    out = mapped((size_t)n * sizeof *in);
    for (int round = 0; round < 3; round++) {
        reductions();
        moves();
        if (round == 0 && world_rank == 0)
            drop_rights();
    }
    test_end();
    return 0;
}
