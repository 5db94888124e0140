/*
 * fresh_windows.c - windows in memory of the host's, of many sizes, none
 * included, that differ from member to member: what stands in them when they
 * are made, seen at once by the others; then every member reaches every byte of
 * all.
 *
 *   fresh_windows [ROUNDS] --log FILE
 */
#include "mpi/test.h"

enum { MOST = 20000 };

static int me, n;
static FILE *logged;

static MPI_Aint bytes_of(int round, int r)
{
    static const MPI_Aint some[] = {0,  1,   3,    4,    5,    8,
                                    17, 700, 4096, 5000, 8192, MOST};
    return some[mix((uint64_t)(round * 64 + r)) % LENGTH(some)];
}

static char byte(int round, int owner, MPI_Aint i)
{
    return (char)(mix(key2((uint64_t)(round * 64 + owner), (uint64_t)i)));
}

/* What the others have not touched yet is as the host has made it. */
static void look_at_once(MPI_Win window, int round)
{
    static char got[MOST];
    for (int k = 1; k < n; k++) {
        int r = (me + k) % n;
        int bytes = (int)bytes_of(round, r);
        unsigned long sum = 0;
        MPI_Get(got, bytes, MPI_BYTE, r, 0, bytes, MPI_BYTE, window);
        MPI_Win_flush(r, window);
        for (int i = 0; i < bytes; i++)
            sum = sum * 31 + (unsigned char)got[i];
        fprintf(logged, "%d from %d: %lx\n", round, r, sum);
    }
}

/* A counter at each member's beginning, if it has room for one. */
static void count(MPI_Win window, int round)
{
    long one = 1, old;
    for (int r = 0; r < n; r++)
        if (bytes_of(round, r) >= 8 && bytes_of(round, r) % 8 == 0)
            MPI_Fetch_and_op(&one, &old, MPI_LONG, r, 0, MPI_SUM, window);
    MPI_Win_flush_all(window);
}

static void write_all(MPI_Win window, int round)
{
    static char from[MOST];
    for (int k = 1; k < n; k++) {
        int r = (me + k) % n;
        MPI_Aint bytes = bytes_of(round, r);
        for (MPI_Aint i = 0; i < bytes; i++)
            from[i] = byte(round, r, i);
        for (MPI_Aint i = me; i < bytes; i += n) /* each its share */
            MPI_Put(from + i, 1, MPI_BYTE, r, i, 1, MPI_BYTE, window);
        MPI_Win_flush(r, window);
    }
}

static void one(int round, bool shared)
{
    MPI_Win window;
    char *base = NULL;
    MPI_Aint bytes = bytes_of(round, me);
    if (shared)
        MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                                &window);
    else
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                         &window);
    MPI_Win_lock_all(0, window);
    look_at_once(window, round);
    MPI_Barrier(MPI_COMM_WORLD);
    count(window, round);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    if (bytes >= 8 && bytes % 8 == 0)
        CHECK(*(long *)(void *)base == n, "round %d: %ld", round,
              *(long *)(void *)base);
    MPI_Barrier(MPI_COMM_WORLD);
    write_all(window, round);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    for (MPI_Aint i = 0; i < bytes; i++)
        CHECK(i % n == me || base[i] == byte(round, me, i),
              "round %d: byte %ld", round, (long)i);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    char name[4096];
    test_start(&argc, &argv);
    me = world_rank;
    n = world_size;
    snprintf(name, sizeof name, "%s.%d", argv[argc - 1], me);
    logged = fopen(name, "w");
    CHECK(logged != NULL, "cannot write %s", name);
    long rounds = argument(argc, argv, 1, 12);
    for (int round = 0; round < rounds; round++)
        one(round, round % 3 == 2);
    fclose(logged);
    test_end();
    return 0;
}
