/*
 * rma_lives.c - windows come and go: none leaves anything behind, and freed
 * memory is the program's again.
 *
 *   rma_lives TIMES
 *
 * Also: several windows on the same memory, windows of no bytes, on part of the
 * ranks, on static data and stacks. One communicator is freed before its
 * window. A rank forks while there is a window. One window is freed in
 * MPI_Finalize, and another one comes and goes there.
 */
#include "mpi/growth.h"
#include "mpi/test.h"

#include <sys/wait.h>

enum { LENGTH_ = 8192 };
static long fixed[LENGTH_];

/* Each adds to the next one's, and looks at its own. */
static void use(MPI_Comm comm, MPI_Win window, long *memory, size_t at)
{
    long one = 1, before = memory[at];
    int me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    MPI_Win_fence(0, window);
    MPI_Accumulate(&one, 1, MPI_LONG, (me + 1) % n, (MPI_Aint)at, 1, MPI_LONG,
                   MPI_SUM, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    CHECK(memory[at] == before + 1, "%ld became %ld", before, memory[at]);
}

static void on(MPI_Comm comm, long *memory, size_t length)
{
    MPI_Win window;
    MPI_Win_create(memory, (MPI_Aint)(length * sizeof *memory), sizeof *memory,
                   MPI_INFO_NULL, comm, &window);
    use(comm, window, memory, length - 1);
    use(comm, window, memory, 0);
    MPI_Win_free(&window);
}

static void several(long *memory)
{
    MPI_Win one, two, none;
    MPI_Comm comm, half;
    long small[3] = {0};
    MPI_Win_create(memory, LENGTH_ * sizeof *memory, sizeof *memory,
                   MPI_INFO_NULL, MPI_COMM_WORLD, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Win_create(memory, LENGTH_ * sizeof *memory, sizeof *memory,
                   MPI_INFO_NULL, comm, &two);
    MPI_Comm_free(&comm);
    use(MPI_COMM_WORLD, one, memory, 77);
    use(MPI_COMM_WORLD, two, memory, 77);
    /* Some have no memory. */
    MPI_Win_create(world_rank ? NULL : memory,
                   world_rank ? 0 : LENGTH_ * (MPI_Aint)sizeof *memory,
                   sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &none);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, none);
    long add = 1;
    MPI_Accumulate(&add, 1, MPI_LONG, 0, 5, 1, MPI_LONG, MPI_SUM, none);
    MPI_Win_unlock(0, none);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(world_rank || memory[5] == world_size, "added %ld", memory[5]);
    MPI_Win_free(&none);
    MPI_Win_free(&two);
    MPI_Win_free(&one);
    on(MPI_COMM_WORLD, fixed, LENGTH_);
    on(MPI_COMM_WORLD, small, 3);
    on(MPI_COMM_SELF, memory, LENGTH_);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank / 2, -world_rank, &half);
    on(half, memory, LENGTH_);
    MPI_Comm_free(&half);
}

/* A child's memory is its own, and the window the parent's. */
static void forked(long *memory)
{
    MPI_Win window;
    memory[9] = 1;
    MPI_Win_create(memory, LENGTH_ * sizeof *memory, sizeof *memory,
                   MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    pid_t child = fork();
    if (child == 0) {
        memory[9] = 1000;
        _exit(memory[9] == 1000 ? 0 : 1);
    }
    int status = -1;
    if (child > 0)
        CHECK(waitpid(child, &status, 0) == child && status == 0,
              "the child ended with %d", status);
    CHECK(memory[9] == 1, "a child wrote %ld", memory[9]);
    use(MPI_COMM_WORLD, window, memory, 9);
    MPI_Win_free(&window);
}

static MPI_Win last;

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first. */
static int at_the_end(MPI_Comm comm, int key, void *memory, void *extra)
{
    (void)comm, (void)key, (void)extra;
    use(MPI_COMM_WORLD, last, memory, 11);
    on(MPI_COMM_WORLD, memory, LENGTH_);
    MPI_Win_free(&last);
    free(memory);
    return MPI_SUCCESS;
}

static void leave_to_the_end(long *memory)
{
    int key;
    MPI_Win_create(memory, LENGTH_ * sizeof *memory, sizeof *memory,
                   MPI_INFO_NULL, MPI_COMM_WORLD, &last);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, memory);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    long times = argument(argc, argv, 1, 100);
    long *memory = calloc(LENGTH_, sizeof *memory);
    several(memory);
    forked(memory);
    long before = 0;
    for (long i = 0; i < times; i++) {
        if (i == times / 4)
            before = resident_kib();
        if (i % 10 == 0) {
            free(memory);
            memory = calloc(LENGTH_, sizeof *memory);
        }
        on(MPI_COMM_WORLD, memory, LENGTH_);
    }
    long grown = resident_kib() - before;
    CHECK(grown < 4096, "grew by %ld KiB", grown);
    leave_to_the_end(memory);
    test_end();
    return 0;
}
