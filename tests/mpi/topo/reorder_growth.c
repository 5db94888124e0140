/*
 * reorder_growth.c - reordered topologies come and go without growth.
 *
 *   reorder_growth [ROUNDS]
 *
 * After a first tenth of the rounds the process may not gain mappings,
 * descriptors, nor more than a few MiB.
 */
#include "mpi/growth.h"

static void make(MPI_Comm comm, int i, int rank, MPI_Comm *to)
{
    int next = (rank + 1) % world_size, one = 1, periodic[] = {1, 0};
    int before = (rank + world_size - 1) % world_size;
    int dims[] = {world_size, 1}, index[64], edges[64];
    for (int k = 0; k < world_size; k++) {
        index[k] = k + 1;
        edges[k] = (k + 1) % world_size;
    }
    if (i % 4 == 0)
        MPI_Cart_create(comm, 2, dims, periodic, 1, to);
    else if (i % 4 == 1)
        MPI_Graph_create(comm, world_size, index, edges, 1, to);
    else if (i % 4 == 2)
        MPI_Dist_graph_create(comm, 1, &rank, &one, &next, MPI_UNWEIGHTED,
                              MPI_INFO_NULL, 1, to);
    else
        MPI_Dist_graph_create_adjacent(comm, 1, &before, &i, 1, &next, &i,
                                       MPI_INFO_NULL, 1, to);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int rounds = (int)argument(argc, argv, 1, 10000), rank;
    growth_t then = {0};
    long moved = 0, all = 0;
    MPI_Comm comm, made;
    MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank % 2 * world_size + world_rank,
                   &comm);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < rounds; i++) {
        int sum, new_rank;
        make(comm, i, rank, &made);
        MPI_Comm_rank(made, &new_rank);
        moved += new_rank != rank;
        if (i % 8 < 4) {
            MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, made);
            CHECK(sum == i * world_size, "Allreduce %d: %d", i, sum);
        }
        MPI_Comm_free(&made);
        if (i == rounds / 10)
            then = growth_now();
    }
    growth_check(then);
    MPI_Allreduce(&moved, &all, 1, MPI_LONG, MPI_SUM, comm);
    CHECK(all >= rounds, "%ld new ranks in %d topologies", all, rounds);
    MPI_Comm_free(&comm);
    test_end();
}
