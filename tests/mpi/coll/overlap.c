/*
 * overlap.c - ranks that run ahead and ranks that lag, in long streams of
 * small collectives that nothing else orders: rooted ones, and neighbourhood
 * collectives in a row.
 *
 *   overlap [CALLS]
 */
#include "mpi/test.h"

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    long calls = argument(argc, argv, 1, 100000);
    int n = world_size, me = world_rank, *all = malloc((size_t)n * 8);
    int wraps = 0, beside[2], left, right;
    MPI_Comm row;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &wraps, 0, &row);
    MPI_Cart_shift(row, 0, 1, &left, &right);
    rng_t own = rng_from(key2(9, (uint64_t)me));
    for (long i = 0; i < calls; i++) {
        rng_t r = rng_from((uint64_t)i / 50); /* a stream of 50 alike */
        int kind = (int)rng_below(&r, 6);
        int root = (int)((rng_below(&r, (size_t)n) +
                          (rng_one_in(&r, 3) ? (size_t)i : 0)) %
                         (size_t)n);
        int v = me * 7 + (int)i, w = -1;
        if (rng_one_in(&own, 2000))
            usleep((useconds_t)rng_below(&own, 500));
        switch (kind) {
        case 0:
            w = me == root ? v : -1;
            MPI_Bcast(&w, 1, MPI_INT, root, MPI_COMM_WORLD);
            CHECK(w == root * 7 + (int)i, "Bcast %ld: %d", i, w);
            break;
        case 1:
            MPI_Reduce(&v, &w, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
            CHECK(me != root || w == 7 * n * (n - 1) / 2 + n * (int)i,
                  "Reduce %ld: %d", i, w);
            break;
        case 2:
            MPI_Gather(&v, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
            for (int j = 0; me == root && j < n; j++)
                CHECK(all[j] == j * 7 + (int)i, "Gather %ld: from %d", i, j);
            break;
        case 3:
            for (int j = 0; j < n; j++)
                all[j] = me == root ? j + (int)i : -1;
            MPI_Scatter(all, 1, MPI_INT, &w, 1, MPI_INT, root, MPI_COMM_WORLD);
            CHECK(w == me + (int)i, "Scatter %ld: %d", i, w);
            break;
        case 4:
            MPI_Exscan(&v, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK(me == 0 || w == 7 * me * (me - 1) / 2 + me * (int)i,
                  "Exscan %ld: %d", i, w);
            break;
        case 5:
            beside[0] = beside[1] = -1;
            MPI_Neighbor_allgather(&v, 1, MPI_INT, beside, 1, MPI_INT, row);
            CHECK(beside[0] == (left < 0 ? -1 : left * 7 + (int)i) &&
                      beside[1] == (right < 0 ? -1 : right * 7 + (int)i),
                  "Neighbor_allgather %ld: %d and %d", i, beside[0], beside[1]);
            break;
        }
    }
    MPI_Comm_free(&row);
    free(all);
    test_end();
}
