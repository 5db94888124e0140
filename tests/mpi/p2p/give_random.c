/* Random programs that give and take: any block, given, sent or given on,
 * reaches any way to receive, whole and with the status of a message of
 * MPI_BYTE. Blocks are resized and freed by strangers.
 *
 *     give_random SEED ROUNDS [THREADS]
 *
 * In each round every rank sends to every rank what a generator says that all
 * can replay; then it receives. Each thread does so with a communicator of its
 * own. */
#include <pthread.h>
#include <straightway_mpi.h>

#include "mpi/test.h"

enum { GIVE, GIVE_MALLOC, SEND, WAYS_OUT };
enum { TAKE, MTAKE, IMTAKE, ITAKE, RECV, IRECV, MRECV, PROBE_RECV, WAYS_IN };

#define LARGEST 300000
#define ROOM 8 /* blocks that were taken, to be given on */
#define MOST 4 /* messages of a pair in a round */

typedef struct {
    MPI_Comm comm;
    uint64_t seed;
    long rounds;
    void *kept[ROOM];
    size_t bytes[ROOM];
} player_t;

static size_t size_of(uint64_t key)
{
    rng_t r = rng_from(key);
    size_t n = rng_size(&r, LARGEST);
    return rng_one_in(&r, 8) ? 192 : n; /* as long as a descriptor */
}

static uint64_t key_of(const player_t *y, long round, int from, int to, int i)
{
    return key2(key2(y->seed, (uint64_t)round),
                (uint64_t)from * 1000000 + (uint64_t)to * 100 + (uint64_t)i);
}

static int messages(const player_t *y, long round, int from, int to)
{
    return (int)(key_of(y, round, from, to, 99) % (MOST + 1));
}

/* A block to give: one that was taken before if there is one as large. */
static void *block_for(player_t *y, size_t n, uint64_t key)
{
    void *p;
    rng_t r = rng_from(key + 1);
    size_t k = rng_below(&r, ROOM);
    if (y->kept[k] && y->bytes[k] >= n) {
        p = y->kept[k];
        y->kept[k] = NULL;
        return p;
    }
    CHECK(straightway_alloc(n, &p) == MPI_SUCCESS && p, "no block");
    return p;
}

static void send_one(player_t *y, int to, uint64_t key, MPI_Request *request,
                     void **later)
{
    rng_t r = rng_from(key + 2);
    size_t n = size_of(key);
    int way = (int)rng_below(&r, WAYS_OUT), tag = (int)rng_below(&r, 2), rc;
    void *p = way == GIVE ? block_for(y, n, key) : malloc(n ? n : 1);
    fill_from(p, n, key);
    *request = MPI_REQUEST_NULL;
    *later = NULL;
    if (way == SEND) {
        rc = MPI_Isend(p, (int)n, MPI_BYTE, to, tag, y->comm, request);
        *later = p;
    } else {
        rc = straightway_give(&p, n, to, tag, y->comm);
        CHECK(!p, "the giver still has its block");
    }
    CHECK(rc == MPI_SUCCESS, "way %d out: %d", way, rc);
}

/* Do something with a block that was taken, as a program might. */
static void use_up(player_t *y, void *p, size_t n, uint64_t key, rng_t *r)
{
    size_t k = rng_below(r, ROOM);
    if (rng_one_in(r, 4)) {
        size_t more = rng_below(r, 2 * n + 2) + 1, least = n < more ? n : more;
        p = realloc(p, more);
        CHECK(p && wrong_from(p, least, key) == least, "resized");
        n = more;
    }
    if (rng_one_in(r, 2)) {
        free(p);
        return;
    }
    memset(p, 0x5a, n);
    free(y->kept[k]);
    y->kept[k] = p;
    y->bytes[k] = n;
}

static void receive_one(player_t *y, int from, int tag, uint64_t key)
{
    rng_t r = rng_from(key + 3);
    size_t n = size_of(key), got = SIZE_MAX, room = n + rng_below(&r, 3) * 100;
    int way = (int)rng_below(&r, WAYS_IN), rc = MPI_SUCCESS, flag = 0;
    void *p = NULL;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    MPI_Count count = -1;
    bool takes = way <= ITAKE;
    memset(&status, 0x77, sizeof status);
    if (!takes)
        p = malloc(room ? room : 1);
    switch (way) {
    case TAKE:
        rc = straightway_take(&p, &got, from, tag, y->comm, &status);
        break;
    case MTAKE:
        MPI_Mprobe(from, tag, y->comm, &message, &status);
        rc = straightway_mtake(&p, &got, &message, &status);
        break;
    case IMTAKE:
        while (!flag)
            MPI_Improbe(from, tag, y->comm, &flag, &message, &status);
        rc = straightway_mtake(&p, &got, &message, &status);
        break;
    case ITAKE:
        straightway_itake(&p, room, from, tag, y->comm, &request);
        while (!flag && n % 3)
            rc = MPI_Test(&request, &flag, &status);
        if (!flag)
            rc = MPI_Wait(&request, &status);
        got = n;
        break;
    case RECV:
        rc = MPI_Recv(p, (int)room, MPI_BYTE, from, tag, y->comm, &status);
        break;
    case IRECV:
        MPI_Irecv(p, (int)room, MPI_BYTE, from, tag, y->comm, &request);
        rc = MPI_Wait(&request, &status);
        break;
    case MRECV:
        MPI_Mprobe(from, tag, y->comm, &message, &status);
        rc = MPI_Mrecv(p, (int)room, MPI_BYTE, &message, &status);
        break;
    default:
        MPI_Probe(from, tag, y->comm, &status);
        MPI_Get_elements_x(&status, MPI_BYTE, &count);
        CHECK((size_t)count == n, "a probe tells %lld bytes of %zu",
              (long long)count, n);
        rc = MPI_Recv(p, (int)n, MPI_BYTE, from, tag, y->comm, &status);
    }
    CHECK(rc == MPI_SUCCESS, "way %d in: %d", way, rc);
    MPI_Get_elements_x(&status, MPI_BYTE, &count);
    CHECK((size_t)count == n && (!takes || got == n),
          "way %d in: %lld and %zu bytes of %zu", way, (long long)count, got,
          n);
    CHECK(status.MPI_SOURCE == from && status.MPI_TAG == tag, "way %d: status",
          way);
    CHECK(wrong_from(p, n, key) == n, "way %d in: a wrong byte of %zu", way, n);
    if (takes)
        use_up(y, p, n, key, &r);
    else
        free(p);
}

/* From one rank, in the order of each tag. */
static void receive_from(player_t *y, long round, int from)
{
    int n = messages(y, round, from, world_rank);
    for (int tag = 0; tag < 2; tag++)
        for (int i = 0; i < n; i++) {
            uint64_t key = key_of(y, round, from, world_rank, i);
            rng_t r = rng_from(key + 2);
            rng_below(&r, WAYS_OUT);
            if ((int)rng_below(&r, 2) == tag)
                receive_one(y, from, tag, key);
        }
}

static void *play(void *given)
{
    player_t *y = given;
    MPI_Request *request = calloc((size_t)(world_size * MOST), sizeof *request);
    void **later = calloc((size_t)(world_size * MOST), sizeof *later);
    for (long round = 0; round < y->rounds; round++) {
        int open = 0;
        for (int to = 0; to < world_size; to++) {
            int n = messages(y, round, world_rank, to);
            for (int i = 0; i < n; i++, open++)
                send_one(y, to, key_of(y, round, world_rank, to, i),
                         &request[open], &later[open]);
        }
        for (int k = 0; k < world_size; k++)
            receive_from(y, round, (world_rank + k) % world_size);
        MPI_Waitall(open, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < open; i++)
            free(later[i]);
    }
    for (int k = 0; k < ROOM; k++)
        free(y->kept[k]);
    free(request);
    free(later);
    return NULL;
}

int main(int argc, char **argv)
{
    static player_t players[8];
    pthread_t thread[8];
    uint64_t seed = (uint64_t)argument(argc, argv, 1, 1);
    long rounds = argument(argc, argv, 2, 20);
    long threads = argument(argc, argv, 3, 1);
    int level;
    MPI_Init_thread(&argc, &argv,
                    threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (threads > 1 && level < MPI_THREAD_MULTIPLE)
        threads = 1;
    for (long i = 0; i < threads; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &players[i].comm);
        players[i].seed = key2(seed, (uint64_t)i);
        players[i].rounds = rounds;
    }
    for (long i = 1; i < threads; i++)
        pthread_create(&thread[i], NULL, play, &players[i]);
    play(&players[0]);
    for (long i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (long i = 0; i < threads; i++)
        MPI_Comm_free(&players[i].comm);
    test_end();
    return 0;
}
