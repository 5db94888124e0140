/*
 * dynamic_far.c - a dynamic window among ranks of which some have not mapped
 * the others' arenas: little address space is left to them. Puts, gets and
 * accumulates of all ranks at once must come out right.
 */
#include "mpi/test.h"

#define BYTES (1 << 20)
#define ROUNDS 200

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    MPI_Win window;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    int64_t *mine = calloc(1, BYTES), one = 1;
    CHECK(mine, "no memory");
    MPI_Win_attach(window, mine, BYTES);
    MPI_Aint at[64], here;
    MPI_Get_address(mine, &here);
    CHECK(world_size <= 64, "too many ranks");
    MPI_Allgather(&here, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    for (int k = 0; k < ROUNDS; k++)
        for (int to = 0; to < world_size; to++) {
            int64_t value = world_rank * 1000 + k, back = -1;
            MPI_Aint place = at[to] + 8 * (1 + world_rank);
            MPI_Accumulate(&one, 1, MPI_INT64_T, to, at[to], 1, MPI_INT64_T,
                           MPI_SUM, window);
            MPI_Put(&value, 1, MPI_INT64_T, to, place, 1, MPI_INT64_T, window);
            MPI_Win_flush(to, window);
            MPI_Get(&back, 1, MPI_INT64_T, to, place, 1, MPI_INT64_T, window);
            MPI_Win_flush(to, window);
            CHECK(back == value, "rank %d holds %lld instead of %lld", to,
                  (long long)back, (long long)value);
        }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(mine[0] == (int64_t)ROUNDS * world_size,
          "%lld of %d accumulates have come", (long long)mine[0],
          ROUNDS * world_size);
    MPI_Win_detach(window, mine);
    MPI_Win_free(&window);
    free(mine);
    test_end();
    return 0;
}
