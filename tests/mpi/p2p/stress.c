/*
 * stress.c - very many messages between all ranks, of sizes around every
 * threshold.
 *
 *   stress MESSAGES SEED
 *
 * The ranks send MESSAGES messages in all, in rounds. In each round a rank
 * sends some to ranks drawn at random. All ranks replay all draws, so that each
 * knows how many come to it. It takes them from any source: by receives posted
 * before, by receives, or by probes. A message is a stretch of one table of
 * random bytes. The receiver checks each sender's order, the length and every
 * byte. In the second half of the rounds no rank may take more memory.
 */
#include "mpi/growth.h"

enum {
    EACH = 32,  /* messages of a rank in a round */
    ROOMS = 16, /* receives posted at once */
    MOST = (1 << 20) + 1,
    RANKS_MAX = 64
};

/* Where implementations go from one way to another. */
static const int edges[] = {0,   8,   40,   41,   64,   104,  128,
                            192, 256, 1000, 1024, 2048, 4096, 8192};
static const int large[] = {16384, 32768, 65536, 1 << 18, 1 << 20};

typedef struct {
    int to, bytes;
    size_t from; /* of the table */
} draw_t;

static char *table, *rooms;
static uint64_t seed;
static uint64_t taken[RANKS_MAX];

static draw_t draw(int rank, long round, int i)
{
    rng_t r = rng_from(
        key2(seed, key2((uint64_t)round << 8 | (uint64_t)rank, (uint64_t)i)));
    draw_t d = {.to = (int)rng_below(&r, (size_t)world_size)};
    int beside = (int)rng_below(&r, 3) - 1;
    if (rng_one_in(&r, 100))
        d.bytes = large[rng_below(&r, rng_one_in(&r, 4) ? LENGTH(large) : 3)];
    else if (rng_one_in(&r, 3))
        d.bytes = (int)rng_size(&r, 5000);
    else
        d.bytes = edges[rng_below(&r, LENGTH(edges))];
    d.bytes += d.bytes + beside < 0 ? 0 : beside;
    d.from = rng_below(&r, MOST) & ~(size_t)7;
    return d;
}

/* What must have come: the sender's next message to this rank. */
static void check(const char *in, long round, const MPI_Status *status)
{
    int from = status->MPI_SOURCE, bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    draw_t d;
    do
        d = draw(from, round, (int)taken[from]++);
    while (d.to != world_rank);
    CHECK(taken[from] <= EACH, "rank %d has sent fewer in round %ld", from,
          round);
    CHECK(bytes == d.bytes,
          "a message of rank %d in round %ld has %d bytes, "
          "and should have %d",
          from, round, bytes, d.bytes);
    if (memcmp(in, table + d.from, (size_t)bytes))
        fail("a message of %d bytes of rank %d in round %ld is wrong", bytes,
             from, round);
}

/* Take a message for which no receive is posted. */
static void take_late(int tag, long round, rng_t *r)
{
    MPI_Message message;
    MPI_Status status;
    int bytes, flag = 0, how = (int)rng_below(r, 3);
    if (how == 0) {
        MPI_Recv(rooms, MOST, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
                 &status);
    } else if (how == 1) {
        MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        MPI_Mrecv(rooms, bytes, MPI_BYTE, &message, &status);
    } else {
        while (!flag)
            MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        MPI_Recv(rooms, bytes, MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD,
                 &status);
    }
    check(rooms, round, &status);
}

/* Post some receives, of any source, for messages that shall come. */
static int post(int coming, int tag, MPI_Request *request)
{
    int n = coming < ROOMS ? coming : ROOMS;
    for (int i = 0; i < n; i++)
        MPI_Irecv(rooms + (size_t)i * MOST, MOST, MPI_BYTE, MPI_ANY_SOURCE, tag,
                  MPI_COMM_WORLD, &request[i]);
    return n;
}

static void a_round(long round)
{
    MPI_Request request[ROOMS], out[EACH];
    MPI_Status status[ROOMS];
    rng_t r = rng_from(
        key2(seed, key2((uint64_t)round, 77u + (unsigned)world_rank)));
    int tag = (int)(round % 1000), coming = 0;
    memset(taken, 0, sizeof taken);
    for (int rank = 0; rank < world_size; rank++)
        for (int i = 0; i < EACH; i++)
            coming += draw(rank, round, i).to == world_rank;
    bool early = rng_one_in(&r, 2);
    int posted = early ? post(coming, tag, request) : 0;
    for (int i = 0; i < EACH; i++) {
        draw_t d = draw(world_rank, round, i);
        MPI_Isend(table + d.from, d.bytes, MPI_BYTE, d.to, tag, MPI_COMM_WORLD,
                  &out[i]);
    }
    while (posted || coming) {
        MPI_Waitall(posted, request, status);
        for (int i = 0; i < posted; i++)
            check(rooms + (size_t)i * MOST, round, &status[i]);
        coming -= posted;
        posted = rng_one_in(&r, 2) ? post(coming, tag, request) : 0;
        for (int late = posted ? 0 : 4; late && coming; late--, coming--)
            take_late(tag, round, &r);
    }
    MPI_Waitall(EACH, out, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    long messages = argument(argc, argv, 1, 100000);
    seed = (uint64_t)argument(argc, argv, 2, 1);
    CHECK(world_size <= RANKS_MAX, "at most %d ranks", RANKS_MAX);
    table = malloc(2 * MOST);
    rooms = malloc((size_t)ROOMS * MOST);
    fill_from(table, 2 * MOST, seed);
    memset(rooms, 0, (size_t)ROOMS * MOST);
    long rounds = messages / (EACH * world_size) + 1;
    growth_t then = growth_now();
    for (long round = 0; round < rounds; round++) {
        if (round == rounds / 2)
            then = growth_now();
        a_round(round);
    }
    growth_check(then);
    free(rooms);
    free(table);
    test_end();
}
