/*
 * p2p_lengths.c - probes among messages that are as long as a descriptor is.
 *
 *   p2p_lengths SEED MESSAGES
 *
 * Every rank sends MESSAGES messages to the next, of 192 bytes and of more, in
 * every mode, on two tags. It receives as many from the other side in every
 * way, often with receives posted ahead of a probe. A message begins with its
 * length and its number. So the receiver can check before and after what a
 * probe tells.
 */
#include "mpi/test.h"

enum { TAGS = 2, MOST = 60000, AHEAD = 4, SENDS = 16 };

static int left, right, messages;
static char *room[AHEAD + 1];

/* What the n-th message from a rank is like: both sides draw it. */
static int length_of(int from, int n)
{
    static const int lengths[] = {192, 192, 192, 24, 193, 16384, 30000, MOST};
    return lengths[mix(key2((uint64_t)from, (uint64_t)n)) % LENGTH(lengths)];
}

static int tag_of(int from, int n)
{
    return (int)(mix(key2((uint64_t)from + 99, (uint64_t)n)) % TAGS);
}

static void fill(char *at, int from, int n)
{
    int header[2] = {length_of(from, n), n};
    memset(at, n, (size_t)header[0]);
    memcpy(at, header, sizeof header);
}

static void check(const char *at, const MPI_Status *status, int n, int tag)
{
    int bytes, header[2], last = length_of(left, n) - 1;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    memcpy(header, at, sizeof header);
    CHECK(bytes == length_of(left, n) && header[0] == bytes && header[1] == n &&
              at[last] == (char)n && status->MPI_TAG == tag &&
              status->MPI_SOURCE == left,
          "message %d of %d bytes with tag %d: %d bytes came, tag %d, source "
          "%d; it says %d bytes, message %d",
          n, length_of(left, n), tag, bytes, status->MPI_TAG,
          status->MPI_SOURCE, header[0], header[1]);
}

static void probed(const MPI_Status *status, int n)
{
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    CHECK(bytes == length_of(left, n),
          "a probe tells %d bytes of message %d, "
          "which has %d",
          bytes, n, length_of(left, n));
}

/* The next message with this tag, after the n-th. */
static int next_of(int n, int tag)
{
    do
        n++;
    while (n < messages && tag_of(left, n) != tag);
    return n;
}

static void send_one(rng_t *r, int n, char *data, MPI_Request *request)
{
    int bytes = length_of(world_rank, n), tag = tag_of(world_rank, n);
    fill(data, world_rank, n);
    *request = MPI_REQUEST_NULL;
    switch (rng_below(r, 5)) {
    case 0:
        MPI_Isend(data, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD, request);
        break;
    case 1:
        MPI_Issend(data, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD, request);
        break;
    case 2:
        MPI_Ibsend(data, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD, request);
        break;
    case 3: MPI_Bsend(data, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD); break;
    default: /* also small ones do not block, while they are few */
        if (bytes <= 193)
            MPI_Send(data, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD);
        else
            MPI_Isend(data, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD,
                      request);
    }
}

/* Receive the messages of one tag, one after the other. */
static void receive_all(rng_t *r, int tag)
{
    for (int n = next_of(-1, tag); n < messages; n = next_of(n, tag)) {
        MPI_Request ahead[AHEAD];
        MPI_Status status;
        MPI_Message message;
        int posted = (int)rng_below(r, AHEAD + 1), which[AHEAD], flag = 0, k;
        for (k = 0; k < posted && n < messages; k++, n = next_of(n, tag)) {
            which[k] = n;
            MPI_Irecv(room[k], MOST, MPI_BYTE,
                      rng_one_in(r, 2) ? left : MPI_ANY_SOURCE, tag,
                      MPI_COMM_WORLD, &ahead[k]);
        }
        if (n < messages) {
            int kind = (int)rng_below(r, 4);
            if (kind == 0)
                MPI_Probe(left, tag, MPI_COMM_WORLD, &status);
            while (kind == 1 && !flag)
                MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &status);
            if (kind == 2)
                MPI_Mprobe(left, tag, MPI_COMM_WORLD, &message, &status);
            if (kind < 3)
                probed(&status, n);
            if (kind == 2)
                MPI_Mrecv(room[AHEAD], length_of(left, n), MPI_BYTE, &message,
                          &status);
            else
                MPI_Recv(room[AHEAD], MOST, MPI_BYTE, left, tag, MPI_COMM_WORLD,
                         &status);
            check(room[AHEAD], &status, n, tag);
        }
        for (int i = 0; i < k; i++) {
            MPI_Wait(&ahead[i], &status);
            check(room[i], &status, which[i], tag);
        }
    }
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    long seed = argument(argc, argv, 1, 1);
    messages = (int)argument(argc, argv, 2, 200);
    left = (world_rank + world_size - 1) % world_size;
    right = (world_rank + 1) % world_size;
    for (int i = 0; i <= AHEAD; i++)
        room[i] = malloc(MOST);
    rng_t r = rng_from(key2((uint64_t)seed, (uint64_t)world_rank));
    int most = messages * (MOST + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)most);
    MPI_Buffer_attach(buffer, most);
    char *data = malloc((size_t)messages * MOST);
    MPI_Request *request = malloc((size_t)messages * sizeof *request);
    for (int n = 0; n < messages; n++)
        send_one(&r, n, data + (size_t)n * MOST, &request[n]);
    for (int tag = 0; tag < TAGS; tag++)
        receive_all(&r, tag);
    MPI_Waitall(messages, request, MPI_STATUSES_IGNORE);
    MPI_Buffer_detach(&buffer, &most);
    free(buffer);
    free(data);
    free(request);
    test_end();
}
