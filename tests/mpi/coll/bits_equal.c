/*
 * bits_equal.c - the same input gives the same bits, on every rank and every
 * time. The values are arbitrary floats, so that any change in the order of
 * additions would show in the last bits.
 */
#include "mpi/test.h"

enum { REPEATS = 100, MOST = 5000 };

static double in[MOST * 16], first[MOST], out[MOST * 16];

static void draw(rng_t *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = rng_next(r);
        in[i] = ((double)(bits >> 11) / (double)(1ull << 53) - .5) *
                (double)(1ull << (bits % 40));
    }
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    CHECK(world_size <= 16, "at most 16 ranks");
    static const int sizes[] = {1, 2, 3, 7, 64, 1000, MOST};
    for (size_t s = 0; s < LENGTH(sizes); s++) {
        int n = sizes[s];
        size_t bytes = (size_t)n * sizeof(double);
        rng_t r = rng_from(key2((uint64_t)n, (uint64_t)world_rank));
        draw(&r, (size_t)n * (size_t)world_size);
        for (int kind = 0; kind < 5; kind++)
            for (int i = 0; i < REPEATS; i++) {
                bool mine = true;
                memset(out, 0, sizeof out);
                if (kind == 0)
                    MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM,
                                  MPI_COMM_WORLD);
                else if (kind == 1) {
                    MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0,
                               MPI_COMM_WORLD);
                    mine = world_rank == 0;
                } else if (kind == 2)
                    MPI_Scan(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                else if (kind == 3)
                    MPI_Reduce_scatter_block(in, out, n, MPI_DOUBLE, MPI_SUM,
                                             MPI_COMM_WORLD);
                else {
                    MPI_Exscan(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                    mine = world_rank > 0;
                }
                if (i == 0)
                    memcpy(first, out, bytes);
                CHECK(!mine || !memcmp(first, out, bytes),
                      "kind %d of %d doubles: repeat %d differs", kind, n, i);
                if (kind == 0 && i % 10 == 0) {
                    MPI_Bcast(first, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
                    CHECK(!memcmp(first, out, bytes),
                          "Allreduce of %d doubles: not rank 0's bits", n);
                }
            }
    }
    test_end();
}
