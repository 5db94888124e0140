/*
 * no_memory.c - accumulates of scattered elements, for which the library needs
 * memory for the time of the call. Without any, the call says so, changes
 * nothing at the target, and all others work as before.
 *
 *   no_memory CLASS      the class that such calls return: "none" or "no_mem"
 */
#include "mpi/test.h"

#define N 1000

static void expect(const char *what, int rc, bool fails)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    CHECK(class == (fails ? MPI_ERR_NO_MEM : MPI_SUCCESS),
          "%s returns an error of class %d", what, class);
}

int main(int argc, char **argv)
{
    int64_t *base, mine[N], got[N];
    MPI_Win win;
    MPI_Datatype every;
    test_start(&argc, &argv);
    bool fails = argc > 1 && !strcmp(argv[1], "no_mem");
    int right = (world_rank + 1) % world_size;
    int left = (world_rank + world_size - 1) % world_size;
    MPI_Type_vector(N / 2, 1, 2, MPI_INT64_T, &every);
    MPI_Type_commit(&every);
    MPI_Win_allocate(N * sizeof *base, sizeof *base, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; i < N; i++) {
        base[i] = i;
        mine[i] = world_rank + 1;
        got[i] = -1;
    }
    MPI_Win_fence(0, win);
    expect("MPI_Accumulate",
           MPI_Accumulate(mine, 1, every, right, 0, 1, every, MPI_SUM, win),
           fails);
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++) {
        CHECK(base[i] == i + (fails || i % 2 ? 0 : left + 1),
              "element %d is %lld", i, (long long)base[i]);
        base[i] = i;
    }
    MPI_Win_fence(0, win);
    expect("MPI_Get_accumulate",
           MPI_Get_accumulate(mine, 1, every, got, 1, every, right, 0, 1, every,
                              MPI_SUM, win),
           fails);
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i += 2) {
        CHECK(base[i] == i + (fails ? 0 : left + 1), "element %d is %lld", i,
              (long long)base[i]);
        CHECK(got[i] == (fails ? -1 : i), "element %d was %lld", i,
              (long long)got[i]);
    }
    MPI_Win_fence(0, win);
    expect("MPI_Put", MPI_Put(mine, 1, every, right, 0, 1, every, win), false);
    expect("MPI_Win_fence", MPI_Win_fence(0, win), false);
    expect("MPI_Get", MPI_Get(got, 1, every, right, 0, 1, every, win), false);
    expect("MPI_Win_fence", MPI_Win_fence(0, win), false);
    expect("MPI_Accumulate of all",
           MPI_Accumulate(mine, N, MPI_INT64_T, right, 0, N, MPI_INT64_T,
                          MPI_SUM, win),
           false);
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++) {
        CHECK(i % 2 || got[i] == world_rank + 1, "got %lld", (long long)got[i]);
        CHECK(base[i] == (i % 2 ? i : left + 1) + left + 1,
              "element %d is %lld", i, (long long)base[i]);
    }
    MPI_Win_free(&win);
    MPI_Type_free(&every);
    test_end();
    return 0;
}
