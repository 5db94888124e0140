/* A giver is killed, and those that have its blocks go on with them.
 *
 *     give_kill FILE      3 ranks; "well" is in FILE if all was right
 *
 * Rank 0 gives three blocks to rank 1, which takes one, kills rank 0, and then
 * takes the others, which are under way. Rank 2 gets one of them from rank 1.
 * A launcher ends the job when a rank dies: so rank 1 stops it meanwhile. */
#include <signal.h>
#include <straightway_mpi.h>

#include "mpi/ended.h"

enum { BYTES = 300000, BLOCKS = 3 };

static void give(void *p, int to, int tag)
{
    CHECK(straightway_give(&p, BYTES, to, tag, MPI_COMM_WORLD) == MPI_SUCCESS,
          "give");
}

static void *take(int from, int tag)
{
    void *p;
    size_t got;
    CHECK(straightway_take(&p, &got, from, tag, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE) == MPI_SUCCESS &&
              got == BYTES,
          "take");
    return p;
}

static void check(void *p, int tag)
{
    CHECK(wrong_from(p, BYTES, (uint64_t)tag) == BYTES, "block %d", tag);
    fill_from(p, BYTES, (uint64_t)tag);
}

/* Grown, written to and freed. */
static void use_up(void *p, int tag)
{
    check(p, tag);
    CHECK((p = realloc(p, 3 * BYTES)), "realloc");
    check(p, tag);
    free(p);
}

static void give_and_die(void)
{
    pid_t pid = getpid();
    for (int i = 0; i < BLOCKS; i++) {
        void *p;
        CHECK(straightway_alloc(BYTES, &p) == MPI_SUCCESS, "no block");
        fill_from(p, BYTES, (uint64_t)i);
        give(p, 1, i);
    }
    MPI_Send(&pid, sizeof pid, MPI_BYTE, 1, BLOCKS, MPI_COMM_WORLD);
    for (;;)
        pause();
}

static void survive(const char *path)
{
    pid_t giver, launcher = getppid();
    char *held = take(0, 0);
    MPI_Recv(&giver, sizeof giver, MPI_BYTE, 0, BLOCKS, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    /* If all goes wrong here, the job must still end. */
    char later[64];
    snprintf(later, sizeof later, "(sleep 15; kill -CONT %d) &", (int)launcher);
    CHECK(system(later) == 0, "%s", later);
    CHECK(kill(launcher, SIGSTOP) == 0 && kill(giver, SIGKILL) == 0, "kill");
    await_end_of(giver);
    check(held, 0);
    give(take(0, 2), 2, 2);
    use_up(take(0, 1), 1);
    MPI_Recv(NULL, 0, MPI_BYTE, 2, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(held, 0);
    free(held);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs("well", f) >= 0 && fclose(f) == 0, "%s", path);
    kill(launcher, SIGCONT);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    CHECK(argc > 1 && world_size == 3, "arguments");
    /* No first message between the others is to need the launcher. */
    MPI_Sendrecv(NULL, 0, MPI_BYTE, (world_rank + 1) % 3, 9, NULL, 0, MPI_BYTE,
                 (world_rank + 2) % 3, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        give_and_die();
    if (world_rank == 1)
        survive(argv[1]);
    if (world_rank == 2) {
        use_up(take(1, 2), 2);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
    }
    for (;;)
        pause();
}
