/*
 * one_sided.c - the one-sided loops of the benchmarks that everybody runs: each
 * access, through each kind of window, with each synchronisation.
 *
 *   one_sided MOST ROUNDS
 *
 * Rank 0 puts, gets, accumulates, fetches and compares at rank 1, one access to
 * an epoch, and a window of 32 to an epoch.
 */
#include "mpi/test.h"

#define WINDOW 32

enum { CREATED, ALLOCATED, DYNAMIC, WINDOWS };
enum { LOCK, FLUSH, FLUSH_LOCAL, LOCK_ALL, PSCW, FENCE, SYNCS };
static const char *const names[] = {"lock",     "flush",      "flush_local",
                                    "lock_all", "post/start", "fence"};

static MPI_Win win;
static MPI_Group other;
static MPI_Aint base; /* rank 1's, as accesses name it */
static char *memory, *local;

static void open_window(int kind, MPI_Aint bytes)
{
    MPI_Aint mine = 0;
    memory = NULL;
    if (kind == ALLOCATED)
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                         &win);
    else
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
    if (kind == CREATED)
        MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (kind == DYNAMIC) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, memory, bytes);
        MPI_Get_address(memory, &mine);
    }
    base = mine;
    MPI_Bcast(&base, 1, MPI_AINT, 1, MPI_COMM_WORLD);
}

static void close_window(int kind)
{
    if (kind == DYNAMIC)
        MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    if (kind != ALLOCATED)
        MPI_Free_mem(memory);
}

/* Around the accesses of rank 0. */
static void begin(int sync)
{
    if (sync == FENCE)
        MPI_Win_fence(0, win);
    if (sync == PSCW && world_rank == 1)
        MPI_Win_post(other, 0, win);
    if (world_rank)
        return;
    if (sync == PSCW)
        MPI_Win_start(other, 0, win);
    if (sync == LOCK_ALL || sync == FLUSH || sync == FLUSH_LOCAL)
        MPI_Win_lock_all(0, win);
    if (sync == LOCK)
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
}

static void end(int sync)
{
    if (sync == FENCE)
        MPI_Win_fence(0, win);
    if (world_rank == 0) {
        if (sync == PSCW)
            MPI_Win_complete(win);
        if (sync == FLUSH)
            MPI_Win_flush(1, win);
        if (sync == FLUSH_LOCAL)
            MPI_Win_flush_local(1, win);
        if (sync == LOCK_ALL || sync == FLUSH || sync == FLUSH_LOCAL)
            MPI_Win_unlock_all(win);
        if (sync == LOCK)
            MPI_Win_unlock(1, win);
    }
    if (sync == PSCW && world_rank == 1)
        MPI_Win_wait(win);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Rank 1 reads and writes its memory with plain loads and stores. */
    if (sync != FENCE && sync != PSCW && world_rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Win_unlock(1, win);
    }
}

static void there(size_t bytes, uint64_t key, const char *what, int sync)
{
    CHECK(world_rank != 1 || wrong_from(memory, bytes, key) == bytes,
          "%s of %zu bytes with %s is wrong", what, bytes, names[sync]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void put(int bytes, int sync, int times, uint64_t key)
{
    fill_from(local, (size_t)bytes, key);
    begin(sync);
    for (int i = 0; i < times && world_rank == 0; i++)
        MPI_Put(local, bytes, MPI_BYTE, 1, base, bytes, MPI_BYTE, win);
    end(sync);
    there((size_t)bytes, key, "a put", sync);
}

static void get(int bytes, int sync, int times)
{
    memset(local, 0, (size_t)bytes);
    begin(sync);
    for (int i = 0; i < times && world_rank == 0; i++)
        MPI_Get(local, bytes, MPI_BYTE, 1, base, bytes, MPI_BYTE, win);
    end(sync);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 1)
        MPI_Send(memory, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    if (world_rank)
        return;
    char *want = malloc((size_t)bytes);
    MPI_Recv(want, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(!memcmp(local, want, (size_t)bytes),
          "a get of %d bytes with %s is wrong", bytes, names[sync]);
    free(want);
}

/* So many ones are added to zeros. */
static void accumulate(int bytes, int sync, int times)
{
    if (world_rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        memset(memory, 0, (size_t)bytes);
        MPI_Win_unlock(1, win);
    }
    memset(local, 1, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    begin(sync);
    for (int i = 0; i < times && world_rank == 0; i++)
        MPI_Accumulate(local, bytes, MPI_SIGNED_CHAR, 1, base, bytes,
                       MPI_SIGNED_CHAR, MPI_SUM, win);
    end(sync);
    for (int i = 0; i < bytes && world_rank == 1; i++)
        CHECK(memory[i] == times, "accumulate of %d bytes with %s: %d", bytes,
              names[sync], memory[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void atomics(int sync, int times)
{
    int64_t one = 1, was = -1, sum, compare;
    int64_t *mine = (int64_t *)(void *)memory;
    if (world_rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        *mine = 0;
        MPI_Win_unlock(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < times; i++) {
        begin(sync);
        if (world_rank == 0)
            MPI_Fetch_and_op(&one, &was, MPI_INT64_T, 1, base, MPI_SUM, win);
        end(sync);
        CHECK(world_rank || sync == FLUSH_LOCAL || was == 2 * i,
              "fetch and op with %s: %ld", names[sync], (long)was);
        begin(sync);
        compare = 2 * i + 1;
        sum = 2 * i + 2;
        if (world_rank == 0)
            MPI_Compare_and_swap(&sum, &compare, &was, MPI_INT64_T, 1, base,
                                 win);
        end(sync);
        CHECK(world_rank || was == compare, "compare and swap with %s: %ld",
              names[sync], (long)was);
    }
    CHECK(world_rank != 1 || *mine == 2 * times, "atomics with %s: %ld",
          names[sync], (long)*mine);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int most = (int)argument(argc, argv, 1, 1 << 16);
    int rounds = (int)argument(argc, argv, 2, 3);
    int peer = !world_rank;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    local = malloc((size_t)most);
    for (int kind = 0; kind < WINDOWS; kind++)
        for (int sync = 0; sync < SYNCS; sync++) {
            open_window(kind, most);
            for (int bytes = 8; bytes <= most; bytes *= 8)
                for (int i = 0; i < rounds; i++) {
                    put(bytes, sync, i ? WINDOW : 1, mix((uint64_t)i));
                    get(bytes, sync, i ? WINDOW : 1);
                    accumulate(bytes, sync, i ? WINDOW : 1);
                }
            atomics(sync, rounds);
            close_window(kind);
        }
    MPI_Group_free(&all);
    MPI_Group_free(&other);
    free(local);
    test_end();
}
