/*
 * bandwidth.c - the loops of the benchmarks that everybody runs.
 *
 *   bandwidth HOW LEAST MOST ROUNDS
 *
 * A sender posts a window of 64 messages out of one buffer, and its receiver 64
 * receives into one buffer; an answer of 4 bytes ends each round. MPI forbids
 * receives that lie over each other, and yet every benchmark does it: hosts
 * let each receive complete with its own count, and at the end a message lies
 * there.
 * HOW:
 *
 *   one         from the lower half of the ranks to the upper half
 *   both        in both directions
 *   persistent  as `one`, with persistent requests
 *   many        as `one`, into a buffer for each message
 *   latency     one message there, one back
 */
#include "mpi/test.h"

#define WINDOW 64

static char *out, *in;
static MPI_Request request[2 * WINDOW];
static MPI_Status status[2 * WINDOW];

static bool is(const char *how, const char *name)
{
    return !strcmp(how, name);
}

static void check(size_t bytes, size_t step, int receives, uint64_t key)
{
    for (int i = 0; i < receives; i++) {
        int count;
        MPI_Get_count(&status[i], MPI_BYTE, &count);
        CHECK((size_t)count == bytes, "receive %d of %zu bytes tells %d", i,
              bytes, count);
    }
    for (int i = 0; i < (step ? WINDOW : 1); i++) {
        size_t wrong = wrong_from(in + (size_t)i * step, bytes, key);
        CHECK(wrong == bytes, "byte %zu of message %d of %zu bytes is wrong",
              wrong, i, bytes);
    }
}

static void answer(int peer, bool sends)
{
    int word = 4711;
    if (sends)
        MPI_Recv(&word, 1, MPI_INT, peer, 101, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    else
        MPI_Send(&word, 1, MPI_INT, peer, 101, MPI_COMM_WORLD);
    CHECK(word == 4711, "an answer is wrong");
}

static void window(const char *how, int bytes, int peer, bool lower,
                   size_t step, uint64_t key)
{
    bool sends = lower || is(how, "both"), receives = !lower ||
                                                      is(how, "both");
    int n = 0;
    memset(in, 0, (size_t)bytes);
    fill_from(out, (size_t)bytes, key);
    for (int i = 0; i < WINDOW && receives; i++)
        MPI_Irecv(in + (size_t)i * step, bytes, MPI_BYTE, peer, 100,
                  MPI_COMM_WORLD, &request[n++]);
    for (int i = 0; i < WINDOW && sends; i++)
        MPI_Isend(out, bytes, MPI_BYTE, peer, 100, MPI_COMM_WORLD,
                  &request[n++]);
    MPI_Waitall(n, request, status);
    if (receives)
        check((size_t)bytes, step, WINDOW, key);
    answer(peer, lower);
}

static void persistent(int bytes, int peer, bool lower, int rounds,
                       uint64_t key)
{
    for (int i = 0; i < WINDOW; i++)
        if (lower)
            MPI_Send_init(out, bytes, MPI_BYTE, peer, 100, MPI_COMM_WORLD,
                          &request[i]);
        else
            MPI_Recv_init(in, bytes, MPI_BYTE, peer, 100, MPI_COMM_WORLD,
                          &request[i]);
    for (int round = 0; round < rounds; round++) {
        memset(in, 0, (size_t)bytes);
        fill_from(out, (size_t)bytes, key + (uint64_t)round * 1000003);
        MPI_Startall(WINDOW, request);
        MPI_Waitall(WINDOW, request, status);
        if (!lower)
            check((size_t)bytes, 0, WINDOW,
                  key + (uint64_t)round * 1000003);
        answer(peer, lower);
    }
    for (int i = 0; i < WINDOW; i++)
        MPI_Request_free(&request[i]);
}

static void latency(int bytes, int peer, bool lower, uint64_t key)
{
    fill_from(out, (size_t)bytes, key);
    memset(in, 0, (size_t)bytes);
    if (lower)
        MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, status);
    if (!lower)
        MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    check((size_t)bytes, 0, 1, key);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    const char *how = argv[1];
    int least = (int)argument(argc, argv, 2, 1);
    int most = (int)argument(argc, argv, 3, 1 << 20);
    int rounds = (int)argument(argc, argv, 4, 20);
    int half = world_size / 2;
    bool lower = world_rank < half;
    int peer = lower ? world_rank + half : world_rank - half;
    size_t room = (size_t)most * (is(how, "many") ? WINDOW : 1);
    out = malloc(room);
    in = malloc(room);
    for (int bytes = least; bytes <= most && peer < 2 * half; bytes *= 2) {
        if (is(how, "persistent")) {
            persistent(bytes, peer, lower, rounds, (uint64_t)bytes << 20);
            continue;
        }
        for (int i = 0; i < rounds; i++) {
            uint64_t key = (uint64_t)bytes << 20 | (uint64_t)i << 40;
            if (is(how, "latency"))
                latency(bytes, peer, lower, key);
            else
                window(how, bytes, peer, lower,
                       is(how, "many") ? (size_t)bytes : 0, key);
        }
    }
    free(out);
    free(in);
    test_end();
}
