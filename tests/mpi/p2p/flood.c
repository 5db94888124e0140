/*
 * flood.c - very many small messages to a receiver that makes no MPI call.
 *
 *   flood MESSAGES SECONDS [ORDER]
 *
 * Rank 1 sends MESSAGES messages of up to 104 bytes, which wait. The receiver,
 * rank 0, sleeps until the sender tells it, through memory of both, that all
 * are sent, and SECONDS more. A sender that blocks is found after a minute. So
 * no small message may need the receiver. Rank 0 then takes all. ORDER:
 *
 *   first   in the order of sending
 *   last    a message with another tag, which was sent last, before all others
 *   posted  by receives that it posts all at once
 *
 * That happens three times. The first flood may take memory, so much for each
 * message. The others may take no more, for what has been received is free.
 */
#include "mpi/growth.h"

#include <stdatomic.h>
#include <time.h>

enum {
    FLOODS = 3,
    TAG = 5,
    LAST = 6,
    MOST = 104,
    BOUND = 60,       /* seconds after which a sender hangs */
    WAITING = 512,    /* bytes of memory for a waiting message */
    POSTED = 2048,    /* and for a receive */
    BESIDE = 32 << 10 /* KiB */
};

typedef struct {
    _Atomic int floods; /* that are sent */
    _Atomic long done;  /* messages of this flood that are sent */
} shared_t;

static shared_t *shared;
static long messages;

static int size_of(long i)
{
    static const int sizes[] = {8, 40, 41, MOST, 16, 64, 24, 8};
    return sizes[mix((uint64_t)i) % LENGTH(sizes)];
}

static void fill(char *p, int flood, long i)
{
    uint64_t number = (uint64_t)i << 8 | (uint64_t)flood;
    memset(p, (char)i, MOST);
    memcpy(p, &number, sizeof number);
}

static void check(const char *p, int flood, long i, const MPI_Status *status)
{
    char right[MOST];
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    fill(right, flood, i);
    CHECK(bytes == size_of(i), "message %ld of flood %d has %d bytes", i, flood,
          bytes);
    CHECK(!memcmp(p, right, (size_t)bytes), "message %ld of flood %d is wrong",
          i, flood);
}

static void send_all(int flood)
{
    char out[MOST];
    for (long i = 0; i < messages; i++) {
        fill(out, flood, i);
        MPI_Send(out, size_of(i), MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
        atomic_store_explicit(&shared->done, i + 1, memory_order_relaxed);
    }
    MPI_Send(out, 1, MPI_BYTE, 0, LAST, MPI_COMM_WORLD);
    atomic_store(&shared->floods, flood + 1);
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void sleep_until_sent(int flood, long seconds)
{
    for (int i = 0; atomic_load(&shared->floods) <= flood; i++) {
        CHECK(i < BOUND * 1000,
              "the sender waits for us after %ld messages "
              "of flood %d",
              atomic_load(&shared->done), flood);
        sleep_ms(1);
    }
    sleep_ms(seconds * 1000);
}

static void last(void)
{
    char byte;
    MPI_Recv(&byte, 1, MPI_BYTE, 1, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void take_all(int flood, const char *order)
{
    static char in[MOST];
    static char (*rooms)[MOST];
    static MPI_Request *request;
    MPI_Status status;
    if (!strcmp(order, "last"))
        last();
    if (!strcmp(order, "posted")) {
        if (!rooms) {
            rooms = calloc((size_t)messages, MOST);
            request = malloc((size_t)messages * sizeof *request);
        }
        for (long i = 0; i < messages; i++)
            MPI_Irecv(rooms[i], MOST, MPI_BYTE, i % 3 ? 1 : MPI_ANY_SOURCE, TAG,
                      MPI_COMM_WORLD, &request[i]);
        for (long i = messages; i-- > 0;) {
            MPI_Wait(&request[i], &status);
            check(rooms[i], flood, i, &status);
        }
    } else {
        for (long i = 0; i < messages; i++) {
            MPI_Recv(in, MOST, MPI_BYTE, i % 3 ? 1 : MPI_ANY_SOURCE, TAG,
                     MPI_COMM_WORLD, &status);
            check(in, flood, i, &status);
        }
    }
    if (strcmp(order, "last"))
        last();
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    messages = argument(argc, argv, 1, 50000);
    long seconds = argument(argc, argv, 2, 0);
    const char *order = argc > 3 ? argv[3] : "first";
    MPI_Aint bytes = world_rank ? 0 : sizeof *shared;
    int unit;
    MPI_Win window;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared,
                            &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &shared);
    if (world_rank == 0)
        memset(shared, 0, sizeof *shared);
    MPI_Barrier(MPI_COMM_WORLD);
    growth_t then = growth_now();
    long first = 0, each = strcmp(order, "posted") ? WAITING : POSTED;
    for (int flood = 0; flood < FLOODS; flood++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 1) {
            send_all(flood);
        } else if (world_rank == 0) {
            sleep_until_sent(flood, seconds);
            take_all(flood, order);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        long more = resident_kib() - then.kib;
        CHECK(more < messages * each / 1024 + BESIDE,
              "%ld KiB for %ld messages", more, messages);
        CHECK(!flood || more < first + (BESIDE >> 1),
              "flood %d has left %ld KiB, the first %ld", flood, more, first);
        if (!flood)
            first = more;
    }
    if (world_rank < 2)
        fprintf(stderr, "rank %d: %ld KiB after %ld messages\n", world_rank,
                first, messages);
    MPI_Win_free(&window);
    test_end();
}
