/*
 * bandwidth.c - the loops of the benchmarks that everybody runs.
 *
 *   bandwidth HOW LEAST MOST ROUNDS [WINDOW]
 *
 * A sender posts a window of 64 messages out of one buffer, and its receiver 64
 * receives into one buffer; an answer of 4 bytes ends each round. MPI forbids
 * receives that lie over each other, and yet every benchmark does it: hosts
 * let each receive complete with its own count, and at the end a message lies
 * there. Sizes double from LEAST to MOST. Messages of a window differ by a
 * byte, so that each receive has a count of its own.
 * HOW:
 *
 *   one           from the lower half of the ranks to the upper half
 *   both          in both directions
 *   persistent    as `one`, with persistent requests
 *   bipersistent  as `both`, with persistent requests
 *   many          as `one`, into a buffer for each message
 *   latency       one message there, one back
 */
#include "mpi/test.h"

#define WINDOW_MAX 256

static int window = 64;
static char *out, *in;
static MPI_Request request[2 * WINDOW_MAX];
static MPI_Status status[2 * WINDOW_MAX];

static bool is(const char *how, const char *name)
{
    return !strcmp(how, name);
}

/* The size of a message of a window. */
static int size_of(int bytes, int i)
{
    return i == window - 1 ? bytes : bytes + (i + bytes) % 3 - 1;
}

static void check(int bytes, size_t step, int receives, uint64_t key)
{
    for (int i = 0; i < receives; i++) {
        int count, size = receives > 1 ? size_of(bytes, i) : bytes;
        MPI_Get_count(&status[i], MPI_BYTE, &count);
        CHECK(count == size, "receive %d of %d bytes tells %d", i, size, count);
    }
    for (int i = 0; i < (step ? window : 1); i++) {
        int size = step ? size_of(bytes, i) : bytes;
        size_t wrong = wrong_from(in + (size_t)i * step, (size_t)size, key);
        CHECK(wrong == (size_t)size,
              "byte %zu of message %d of %d bytes is wrong", wrong, i, size);
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

static bool has(const char *how, bool lower, bool sends)
{
    return !strncmp(how, "bi", 2) || is(how, "both") || lower == sends;
}

static void a_window(const char *how, int bytes, int peer, bool lower,
                     size_t step, uint64_t key)
{
    bool receives = has(how, lower, false);
    int n = 0;
    memset(in, 0, (size_t)bytes);
    fill_from(out, (size_t)bytes + 1, key);
    for (int i = 0; i < window && receives; i++)
        MPI_Irecv(in + (size_t)i * step, size_of(bytes, i), MPI_BYTE, peer, 100,
                  MPI_COMM_WORLD, &request[n++]);
    for (int i = 0; i < window && has(how, lower, true); i++)
        MPI_Isend(out, size_of(bytes, i), MPI_BYTE, peer, 100, MPI_COMM_WORLD,
                  &request[n++]);
    MPI_Waitall(n, request, status);
    if (receives)
        check(bytes, step, window, key);
    answer(peer, lower);
}

static void persistent(const char *how, int bytes, int peer, bool lower,
                       int rounds, uint64_t key)
{
    bool receives = has(how, lower, false);
    int n = 0;
    for (int i = 0; i < window && receives; i++)
        MPI_Recv_init(in, size_of(bytes, i), MPI_BYTE, peer, 100,
                      MPI_COMM_WORLD, &request[n++]);
    for (int i = 0; i < window && has(how, lower, true); i++)
        MPI_Send_init(out, size_of(bytes, i), MPI_BYTE, peer, 100,
                      MPI_COMM_WORLD, &request[n++]);
    for (int round = 0; round < rounds; round++) {
        uint64_t its = key + (uint64_t)round * 1000003;
        memset(in, 0, (size_t)bytes);
        fill_from(out, (size_t)bytes + 1, its);
        MPI_Startall(n, request);
        MPI_Waitall(n, request, status);
        if (receives)
            check(bytes, 0, window, its);
        answer(peer, lower);
    }
    for (int i = 0; i < n; i++)
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
    check(bytes, 0, 1, key);
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
    window = (int)argument(argc, argv, 5, window);
    CHECK(window <= WINDOW_MAX, "at most %d messages", WINDOW_MAX);
    out = malloc((size_t)most + 1);
    in = malloc(((size_t)most + 1) * (is(how, "many") ? (size_t)window : 1));
    for (int bytes = least; bytes <= most && peer < 2 * half; bytes *= 2) {
        if (strstr(how, "persistent")) {
            persistent(how, bytes, peer, lower, rounds, (uint64_t)bytes << 20);
            continue;
        }
        for (int i = 0; i < rounds; i++) {
            uint64_t key = (uint64_t)bytes << 20 | (uint64_t)i << 40;
            if (is(how, "latency"))
                latency(bytes, peer, lower, key);
            else
                a_window(how, bytes, peer, lower,
                         is(how, "many") ? (size_t)bytes + 1 : 0, key);
        }
    }
    free(out);
    free(in);
    test_end();
}
