/*
 * p2p_lifetimes.c - what a program may use again, and when.
 *
 *   p2p_lifetimes
 *
 * Rank 0 sends to rank 1. Rank 1 matches every message at once, and comes back
 * for it much later. Or it does not ask before something that it needs is gone:
 *
 *   sends      of every mode, persistent or not, spoil their buffer as soon as
 *              MPI says that they are complete
 *   types      are freed while receives with them are under way, and other
 *              types made in their place
 *   exchanges  (MPI_Isendrecv) tell how much has come, and leave alone what
 *              lies behind it
 */
#include "mpi/test.h"

#if HAVE_LARGE_COUNT || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION > 4)
#define HAVE_ISENDRECV 1
#endif

#define LARGE (600 << 10)
#define ROUNDS 12
#define LATE_US 20000

static char *out, *in;

static void check_from(const char *p, size_t n, uint64_t key, const char *what,
                       int round)
{
    size_t i = wrong_from(p, n, key);
    CHECK(i == n, "%s, round %d: byte %zu of %zu is wrong", what, round, i, n);
}

/* What the sender does about its request in round i. */
static void end(MPI_Request *request, int i)
{
    int flag = 0, index;
    MPI_Status status;
    while (!flag && i % 4 != 0)
        if (i % 4 == 1)
            MPI_Test(request, &flag, &status);
        else if (i % 4 == 2)
            MPI_Testany(1, request, &index, &flag, &status);
        else
            MPI_Request_get_status(*request, &flag, &status);
    if (i % 4 == 0 || i % 4 == 3)
        MPI_Wait(request, &status);
}

typedef int (*init_t)(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                      MPI_Request *);

static void sends(void)
{
    static const init_t init[] = {MPI_Send_init, MPI_Ssend_init,
                                  MPI_Rsend_init};
    static const init_t send[] = {MPI_Isend, MPI_Issend, MPI_Irsend};
    for (int mode = 0; mode < 6; mode++) {
        MPI_Request request = MPI_REQUEST_NULL;
        bool persistent = mode < 3;
        if (persistent && world_rank == 0)
            init[mode](out, LARGE, MPI_BYTE, 1, mode, MPI_COMM_WORLD, &request);
        for (int i = 0; i < ROUNDS; i++) {
            uint64_t key = key2((uint64_t)mode, (uint64_t)i);
            bool ready = mode % 3 == 2;
            if (world_rank == 1 && ready)
                MPI_Irecv(in, LARGE, MPI_BYTE, 0, mode, MPI_COMM_WORLD,
                          &request);
            MPI_Barrier(MPI_COMM_WORLD);
            if (world_rank == 0) {
                fill_from(out, LARGE, key);
                if (persistent)
                    MPI_Start(&request);
                else
                    send[mode - 3](out, LARGE, MPI_BYTE, 1, mode,
                                   MPI_COMM_WORLD, &request);
                end(&request, i);
                memset(out, 0xee, LARGE);
            } else {
                usleep(LATE_US / 8); /* it has arrived */
                if (!ready)
                    MPI_Irecv(in, LARGE, MPI_BYTE, 0, mode, MPI_COMM_WORLD,
                              &request);
                usleep(LATE_US);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                check_from(in, LARGE, key, persistent ? "persistent" : "sent",
                           i);
            }
        }
        if (persistent && world_rank == 0)
            MPI_Request_free(&request);
    }
}

/* Every other of n ints, or every third. */
static MPI_Datatype comb(int n, int step)
{
    MPI_Datatype type;
    MPI_Type_vector(n, 1, step, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void types(void)
{
    enum { N = 10000, MANY = 200 };
    int *numbers = (int *)(void *)out, *got = (int *)(void *)in;
    int *wide = malloc(3 * N * sizeof *wide);
    for (int i = 0; i < MANY; i++) {
        bool persistent = i % 2;
        MPI_Request request;
        if (i < ROUNDS)
            MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 0) {
            for (int k = 0; k < N; k++)
                numbers[k] = k * 7 + i;
            MPI_Send(numbers, N, MPI_INT, 1, 1, MPI_COMM_WORLD);
            MPI_Send(numbers, N, MPI_INT, 1, 2, MPI_COMM_WORLD);
            continue;
        }
        memset(got, 0xff, 3 * N * sizeof *got);
        if (i < ROUNDS && i % 3)
            usleep(LATE_US / 8);
        MPI_Datatype type = comb(N, 2), other;
        if (persistent) {
            MPI_Recv_init(got, 1, type, 0, 1, MPI_COMM_WORLD, &request);
            MPI_Type_free(&type);
            other = comb(N, 3);
            MPI_Start(&request);
        } else {
            MPI_Irecv(got, 1, type, 0, 1, MPI_COMM_WORLD, &request);
            MPI_Type_free(&type);
            other = comb(N, 3);
        }
        MPI_Request second;
        MPI_Irecv(wide, 1, other, 0, 2, MPI_COMM_WORLD, &second);
        MPI_Type_free(&other);
        MPI_Wait(&second, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (persistent)
            MPI_Request_free(&request);
        for (int k = 0; k < N; k++)
            CHECK(wide[3 * k] == k * 7 + i,
                  "another freed type, round %d: "
                  "number %d is %d",
                  i, k, wide[3 * k]);
        for (int k = 0; k < 2 * N; k++)
            CHECK(got[k] == (k % 2 ? -1 : k / 2 * 7 + i),
                  "a freed type, round %d: number %d is %d", i, k, got[k]);
    }
    free(wide);
}

#if HAVE_ISENDRECV
static void exchanges(void)
{
    enum { LENGTHS = 4 };
    static const int lengths[LENGTHS] = {192, 16384, 100, LARGE};
    for (int i = 0; i < ROUNDS; i++) {
        int mine = lengths[i % LENGTHS];
        int theirs = lengths[(i + 1) % LENGTHS];
        if (world_rank == 1) {
            int n = mine;
            mine = theirs;
            theirs = n;
        }
        MPI_Request request;
        MPI_Status status;
        bool replaces = i >= ROUNDS / 2;
        fill_from(out, (size_t)mine, (uint64_t)(i + 100 * world_rank));
        memset(in, 0xaa, LARGE);
        if (replaces) {
            /* As many bytes must go as may come. */
            mine = theirs = mine > theirs ? mine : theirs;
            fill_from(in, (size_t)mine, (uint64_t)(i + 100 * world_rank));
            MPI_Isendrecv_replace(in, mine, MPI_BYTE, 1 - world_rank, 3,
                                  1 - world_rank, MPI_ANY_TAG, MPI_COMM_WORLD,
                                  &request);
        } else {
            MPI_Isendrecv(out, mine, MPI_BYTE, 1 - world_rank, 3, in, LARGE,
                          MPI_BYTE, 1 - world_rank, MPI_ANY_TAG, MPI_COMM_WORLD,
                          &request);
        }
        end(&request, i);
        check_from(in, (size_t)theirs, (uint64_t)(i + 100 * (1 - world_rank)),
                   replaces ? "replaced" : "exchanged", i);
        for (int k = theirs; k < LARGE; k++)
            CHECK(in[k] == (char)0xaa,
                  "exchanged, round %d: %d bytes came, "
                  "byte %d is changed",
                  i, theirs, k);
        if (world_rank == 0) { /* what a probe makes of it */
            fill_from(out, 192, (uint64_t)i);
            MPI_Send(out, 192, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
            fill_from(out, LARGE, (uint64_t)i + 1);
            MPI_Send(out, LARGE, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
            continue;
        }
        for (int k = 0; k < 2; k++) {
            int n = -1, want = k ? LARGE : 192;
            usleep(LATE_US / 8);
            MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &n);
            CHECK(n == want,
                  "after an exchange, round %d: a probe tells of "
                  "%d bytes, not %d",
                  i, n, want);
            MPI_Recv(in, n, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check_from(in, (size_t)n, (uint64_t)(i + k), "probed", i);
        }
    }
}
#endif

int main(int argc, char **argv)
{
    alarm(60);
    test_start(&argc, &argv);
    CHECK(world_size == 2, "two ranks, not %d", world_size);
    out = malloc(LARGE);
    in = malloc(LARGE);
    sends();
    types();
#if HAVE_ISENDRECV
    exchanges();
#endif
    test_end();
}
