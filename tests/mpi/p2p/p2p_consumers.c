/*
 * p2p_consumers.c - threads that take messages from one stream, each in a way
 * of its own: MPI's recipe for several consumers (MPI 3.0, 3.8.2).
 *
 *   p2p_consumers MESSAGES [MODES]
 *
 * Every rank sends MESSAGES messages of many lengths to the next, all with one
 * tag. Each of a rank's consumers takes messages from what comes to the rank.
 * MODES has a letter for each consumer:
 *
 *   m   a matched probe
 *   i   a matched probe that does not block
 *   r   a receive with room for the longest message
 *   n   a nonblocking receive of that kind
 *   s   a receive into strided memory
 *
 * A message's first two words say how long it is, and which. Each must arrive
 * once and whole, with the length that probe and status tell.
 */
#include "mpi/test.h"
#include <pthread.h>
#include <stdatomic.h>

enum { TAG = 7, MOST = 100000, WORDS = MOST / 8, CONSUMERS_MAX = 16 };

static long messages = 1000;
static int left, right;
static _Atomic unsigned char *seen;
static const char *modes = "mirnsm";

static int length_of(uint64_t which)
{
    static const int lengths[] = {16, 192, 208, 2000, 20000, 50000, MOST};
    return lengths[mix(which * 31 + 7) % (sizeof lengths / sizeof *lengths)];
}

/* Words of 8 bytes: the length, which one, then what follows from that. */
static void fill(uint64_t *words, int bytes, uint64_t which)
{
    words[0] = (uint64_t)bytes;
    words[1] = which;
    for (int i = 2; i < bytes / 8; i++)
        words[i] = mix(which * 100003 + (uint64_t)i);
}

/* False: it says stop. */
static bool check(const uint64_t *words, int step, int bytes, char mode)
{
    uint64_t which = words[step];
    CHECK((uint64_t)bytes == words[0],
          "%c: message %llu has %llu bytes, "
          "the status tells %d",
          mode, (unsigned long long)which, (unsigned long long)words[0], bytes);
    for (int i = 2; i < bytes / 8; i++)
        CHECK(words[i * step] == mix(which * 100003 + (uint64_t)i),
              "%c: message %llu is wrong at word %d of %d", mode,
              (unsigned long long)which, i, bytes / 8);
    if (which >= (uint64_t)messages)
        return false;
    CHECK(atomic_fetch_add(&seen[which], 1) == 0, "%c: message %llu came twice",
          mode, (unsigned long long)which);
    return true;
}

static int bytes_of(MPI_Status *status)
{
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    return bytes;
}

static int probe(bool blocking, MPI_Message *message)
{
    MPI_Status status;
    int flag = blocking;
    if (blocking)
        MPI_Mprobe(left, TAG, MPI_COMM_WORLD, message, &status);
    while (!flag)
        MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, message,
                    &status);
    return bytes_of(&status);
}

static bool take(char mode, uint64_t *room, MPI_Datatype strided)
{
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    int bytes = -1, step = mode == 's' ? 2 : 1;
    if (mode == 'm') {
        bytes = probe(true, &message);
        MPI_Mrecv(room, bytes, MPI_BYTE, &message, &status);
    } else if (mode == 'i') {
        bytes = probe(false, &message);
        MPI_Imrecv(room, bytes / 8, MPI_UINT64_T, &message, &request);
        MPI_Wait(&request, &status);
    } else if (mode == 'r') {
        MPI_Recv(room, MOST, MPI_BYTE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                 &status);
    } else if (mode == 'n') {
        int flag = 0;
        MPI_Irecv(room, WORDS, MPI_UINT64_T, left, TAG, MPI_COMM_WORLD,
                  &request);
        while (!flag)
            MPI_Test(&request, &flag, &status);
    } else {
        MPI_Recv(room, WORDS, strided, left, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
    }
    CHECK(bytes < 0 || bytes == bytes_of(&status),
          "%c: the probe tells %d bytes, the receive %d", mode, bytes,
          bytes_of(&status));
    return check(room, step, bytes_of(&status), mode);
}

static void *consume(void *argument)
{
    char mode = *(const char *)argument;
    uint64_t *room = malloc(2 * MOST);
    MPI_Datatype strided;
    MPI_Type_create_resized(MPI_UINT64_T, 0, 16, &strided);
    MPI_Type_commit(&strided);
    while (take(mode, room, strided))
        ;
    MPI_Type_free(&strided);
    free(room);
    return NULL;
}

static void produce(int consumers)
{
    enum { AHEAD = 8 };
    static uint64_t data[AHEAD][WORDS];
    MPI_Request request[AHEAD];
    for (int i = 0; i < AHEAD; i++)
        request[i] = MPI_REQUEST_NULL;
    for (long which = 0; which < messages + consumers; which++) {
        int i = (int)(which % AHEAD);
        int bytes = which < messages ? length_of((uint64_t)which) : 16;
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
        fill(data[i], bytes, (uint64_t)which);
        if (mix((uint64_t)which) % 3)
            MPI_Isend(data[i], bytes, MPI_BYTE, right, TAG, MPI_COMM_WORLD,
                      &request[i]);
        else
            MPI_Send(data[i], bytes, MPI_BYTE, right, TAG, MPI_COMM_WORLD);
    }
    MPI_Waitall(AHEAD, request, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (provided < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        if (world_rank == 0)
            printf("no MPI_THREAD_MULTIPLE here\n");
        return 0;
    }
    if (argc > 1)
        messages = atol(argv[1]);
    if (argc > 2)
        modes = argv[2];
    seen = calloc((size_t)messages, 1);
    left = (world_rank + world_size - 1) % world_size;
    right = (world_rank + 1) % world_size;
    int consumers = (int)strlen(modes);
    CHECK(consumers <= CONSUMERS_MAX, "at most %d modes", CONSUMERS_MAX);
    pthread_t thread[CONSUMERS_MAX];
    for (int i = 0; i < consumers; i++)
        pthread_create(&thread[i], NULL, consume, (void *)(modes + i));
    produce(consumers);
    for (int i = 0; i < consumers; i++)
        pthread_join(thread[i], NULL);
    for (long i = 0; i < messages; i++)
        CHECK(seen[i] == 1, "message %ld never came", i);
    test_end();
    return 0;
}
