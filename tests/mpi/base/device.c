/*
 * device.c - buffers in a device's memory, which the processor cannot touch.
 *
 *   device LIBRARY messages | collectives | leaving | threads
 *
 * LIBRARY is the stand-in of a driver (tests/device/standin/cuda/), and
 * device_memory.h makes the host serve its memory. If anything of ours touches
 * that memory, the test ends. Ranks 0 and 1 differ in which of their buffers
 * are the device's. The test compares what arrives with what arrives in
 * ordinary memory.
 */
#define _GNU_SOURCE
#include "device_memory.h"

#define ROOM 32768
#define BETWEEN 7 /* bytes that no message may change */

static int other;
static char *device[2], *plain[2]; /* to send, to receive */
static MPI_Datatype gaps;          /* two of three ints */

/* The buffer of a side, as MPI and as we see it. */
typedef struct {
    char *mpi, *own;
} buffer_t;

static buffer_t buffer(int side, bool of_device)
{
    device_close();
    return of_device ? (buffer_t){device[side], device_alias(device[side])}
                     : (buffer_t){plain[side], plain[side]};
}

/* Messages -------------------------------------------------------------- */

enum {
    RECV,
    WAIT,
    TEST,
    WAITALL,
    WAITANY,
    WAITSOME,
    PERSISTENT,
    MRECV,
    IMRECV,
    SENDRECV,
    REPLACE,
    ISENDRECV,
    WAYS
};

typedef struct {
    int way, count, bytes, tag;
    MPI_Datatype type;
    buffer_t out, in;
    bool any;
} message_t;

static void finish(int way, MPI_Request *request, MPI_Status *status)
{
    int n = 0, index;
    if (way == TEST) {
        while (!n)
            MPI_Test(request, &n, status);
    } else if (way == WAITALL) {
        MPI_Waitall(1, request, status);
    } else if (way == WAITANY) {
        MPI_Waitany(1, request, &index, status);
    } else if (way == WAITSOME) {
        MPI_Waitsome(1, request, &n, &index, status);
    } else {
        MPI_Wait(request, status);
    }
}

/* Both send and receive. */
static void exchange(const message_t *m, MPI_Status *status)
{
    MPI_Request send = MPI_REQUEST_NULL, receive;
    MPI_Message message;
    MPI_Comm comm = MPI_COMM_WORLD;
    int from = m->any ? MPI_ANY_SOURCE : other, count = m->count;
    MPI_Datatype type = m->type;
    if (m->way == SENDRECV) {
        MPI_Sendrecv(m->out.mpi, count, type, other, m->tag, m->in.mpi, count,
                     type, from, m->tag, comm, status);
        return;
    }
    if (m->way == REPLACE) {
        MPI_Sendrecv_replace(m->in.mpi, count, type, other, m->tag, from,
                             m->tag, comm, status);
        return;
    }
#if MPI_VERSION >= 4
    if (m->way == ISENDRECV) {
        MPI_Isendrecv(m->out.mpi, count, type, other, m->tag, m->in.mpi, count,
                      type, from, m->tag, comm, &receive);
        MPI_Wait(&receive, status);
        return;
    }
#endif
    if (m->way == RECV || m->way == MRECV || m->way == IMRECV) {
        MPI_Isend(m->out.mpi, count, type, other, m->tag, comm, &send);
        if (m->way == RECV) {
            MPI_Recv(m->in.mpi, count, type, from, m->tag, comm, status);
        } else {
            MPI_Mprobe(from, m->tag, comm, &message, status);
            if (m->way == MRECV) {
                MPI_Mrecv(m->in.mpi, count, type, &message, status);
            } else {
                MPI_Imrecv(m->in.mpi, count, type, &message, &receive);
                MPI_Wait(&receive, status);
            }
        }
    } else {
        if (m->way == PERSISTENT) {
            MPI_Recv_init(m->in.mpi, count, type, from, m->tag, comm, &receive);
            MPI_Send_init(m->out.mpi, count, type, other, m->tag, comm, &send);
            MPI_Start(&receive);
            MPI_Start(&send);
        } else {
            MPI_Irecv(m->in.mpi, count, type, from, m->tag, comm, &receive);
            MPI_Isend(m->out.mpi, count, type, other, m->tag, comm, &send);
        }
        finish(m->way, &receive, status);
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    if (m->way == PERSISTENT) {
        MPI_Request_free(&send);
        MPI_Request_free(&receive);
    }
}

/* What element i of a type with gaps keeps; all bytes of others. */
static bool is_data(MPI_Datatype type, size_t i)
{
    return type != gaps || i % 12 < 8;
}

static void one_message(message_t *m, int round)
{
    size_t extent = m->type == gaps ? 12 : 1;
    size_t span = (size_t)m->count * extent;
    uint64_t key = key2((uint64_t)round, (uint64_t)m->way);
    buffer_t *from = m->way == REPLACE ? &m->in : &m->out;
    /* Not where messages of 192 bytes have gone before: see mpi/p2p/route.h. */
    m->tag = 100 + round;
    memset(m->in.own, 99, span + BETWEEN);
    fill_from(from->own, span, key2(key, (uint64_t)world_rank));
    char *sent = malloc(span), *got = malloc(span);
    memcpy(sent, from->own, span);
    MPI_Status status;
    exchange(m, &status);
    device_close();
    fill_from(got, span, key2(key, (uint64_t)other));
    int bytes;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    /* MPICH's own MPI_Isendrecv leaves its status empty. */
    CHECK((bytes == m->bytes && status.MPI_SOURCE == other) ||
              (m->way == ISENDRECV && m->bytes < 192),
          "way %d: %d of %d bytes", m->way, bytes, m->bytes);
    for (size_t i = 0; i < span + BETWEEN; i++) {
        char kept = m->way == REPLACE && i < span ? sent[i] : 99;
        char right = i < span && is_data(m->type, i) ? got[i] : kept;
        CHECK(m->in.own[i] == right, "way %d, %d bytes: wrong at %zu", m->way,
              m->bytes, i);
    }
    free(sent);
    free(got);
}

/* For each rank: does it send from a device, does it receive into one? */
static const int kinds[] = {0xf, 0x2, 0xa, 0x9};

static void messages(void)
{
    static const int lengths[] = {96, 192, 600, 1200};
    int round = 0;
    for (size_t k = 0; k < LENGTH(kinds); k++)
        for (int way = 0; way < WAYS; way++)
            for (size_t i = 0; i < LENGTH(lengths); i++, round++) {
                int mine = kinds[k] >> 2 * world_rank;
                message_t m = {.way = way,
                               .type = MPI_BYTE,
                               .count = lengths[i],
                               .bytes = lengths[i],
                               .any = round % 3 == 0};
#if MPI_VERSION < 4
                if (way == ISENDRECV)
                    continue;
#endif
                if (round % 2) {
                    m.type = gaps;
                    m.count /= 8;
                }
                m.out = buffer(0, mine & 1);
                m.in = buffer(1, mine & 2);
                one_message(&m, round);
            }
    /* One that the host would not copy itself, from ordinary memory. */
    message_t m = {.way = WAIT,
                   .type = MPI_BYTE,
                   .count = 9000,
                   .bytes = 9000,
                   .out = buffer(0, false),
                   .in = buffer(1, true)};
    one_message(&m, round);
}

/* A message is longer than the room in the device's memory. On MPI_COMM_WORLD,
 * which has the same name in every run: whether a message may travel by a
 * descriptor depends on the name (mpi/p2p/route.h), and what is received of a
 * truncated one differs by that. */
static void truncated(void)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Errhandler before;
    MPI_Comm_get_errhandler(comm, &before);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    buffer_t in = buffer(1, true);
    memset(in.own, 99, 4000);
    if (world_rank == 0) {
        fill_from(plain[0], 4000, 5);
        MPI_Send(plain[0], 4000, MPI_BYTE, 1, 2, comm);
    } else {
        int class, code = MPI_Recv(in.mpi, 3000, MPI_BYTE, 0, 2, comm,
                                   MPI_STATUS_IGNORE);
        device_close();
        MPI_Error_class(code, &class);
        CHECK(class == MPI_ERR_TRUNCATE, "class %d", class);
        CHECK(wrong_from(in.own, 3000, 5) == 3000 && in.own[3000] == 99,
              "what there is room for");
    }
    MPI_Comm_set_errhandler(comm, before);
    MPI_Errhandler_free(&before);
}

/* Elements at absolute addresses: one part is the device's. */
static void both_kinds(void)
{
    MPI_Datatype type;
    int lengths[] = {300, 500};
    buffer_t far = buffer(1, true);
    MPI_Aint at[2];
    MPI_Get_address(plain[1], &at[0]);
    at[1] = (MPI_Aint)far.mpi;
    MPI_Type_create_hindexed(2, lengths, at, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    if (world_rank == 0) {
        fill_from(plain[0], 800, 6);
        MPI_Send(plain[0], 800, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    } else {
        MPI_Recv(MPI_BOTTOM, 1, type, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    char all[800];
    for (int root = 1; root >= 0; root--) {
        if (root == world_rank)
            MPI_Bcast(MPI_BOTTOM, 1, type, root, MPI_COMM_WORLD);
        else
            MPI_Bcast(all, 800, MPI_BYTE, root, MPI_COMM_WORLD);
        if (world_rank == 0 && root == 1) {
            CHECK(wrong_from(all, 800, 6) == 800, "from both kinds");
            device_close();
            memcpy(plain[1], all, 300);
            memcpy(far.own, all + 300, 500);
        }
    }
    device_close();
    CHECK(wrong_from(plain[1], 300, 6) == 300, "in ordinary memory");
    MPI_Type_free(&type);
}

static void packs(void)
{
    int at = 0, ints = 40;
    buffer_t a = buffer(0, true), b = buffer(1, true);
    fill_from(a.own, ROOM, 7);
    memset(b.own, 99, ROOM);
    char packed[1000];
    MPI_Pack(a.mpi, ints, gaps, packed, sizeof packed, &at, MPI_COMM_WORLD);
    CHECK(at == ints * 8, "packed %d bytes", at);
    at = 0;
    MPI_Unpack(packed, sizeof packed, &at, b.mpi, ints, gaps, MPI_COMM_WORLD);
    device_close();
    for (int i = 0; i < ints * 12; i++)
        CHECK(b.own[i] == (i % 12 < 8 ? a.own[i] : 99), "packing, byte %d", i);
    /* The packed data, too, may be the device's. */
    at = 0;
    MPI_Pack(plain[0], 100, MPI_INT, b.mpi, ROOM, &at, MPI_COMM_WORLD);
    device_close();
    CHECK(!memcmp(b.own, plain[0], 400), "packed into the device's memory");
}

/* No thread touches the memory while the program computes. */
static void computing(void)
{
    MPI_Request request[2];
    buffer_t in = buffer(1, true);
    for (int round = 0; round < 2; round++) {
        fill_from(plain[0], 2000, 8);
        MPI_Irecv(in.mpi, 2000, MPI_BYTE, other, 4, MPI_COMM_WORLD,
                  &request[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(plain[0], 2000, MPI_BYTE, other, 4, MPI_COMM_WORLD,
                  &request[1]);
        usleep(10000);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        device_close();
        CHECK(wrong_from(in.own, 2000, 8) == 2000, "after computing");
    }
}

/* Collectives ------------------------------------------------------------ */

typedef struct {
    char *send, *recv; /* `send` is MPI_IN_PLACE where `place` is */
    MPI_Comm comm;
    int n;
    MPI_Datatype type;
} call_t;

#define COUNT 10

static int counts[2] = {COUNT, COUNT}, places[2] = {COUNT, 0};
static int byte_places[2] = {0, COUNT * 12};
static MPI_Op own_op;

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += 3 * ((int *)in)[i];
}

#define CALL(name, ...)                \
    static void name(const call_t *c)  \
    {                                  \
        MPI_Datatype t = c->type;      \
        MPI_Datatype types[] = {t, t}; \
        (void)types;                   \
        __VA_ARGS__;                   \
    }
#define ROOT (world_rank == 1)
#define AT_ROOT(p) (ROOT ? (void *)(p) : NULL)

CALL(bcast, MPI_Bcast(ROOT ? c->send : c->recv, COUNT, t, 1, c->comm))
CALL(gather,
     MPI_Gather(c->send, COUNT, t, AT_ROOT(c->recv), COUNT, t, 1, c->comm))
CALL(gather_here, MPI_Gather(ROOT ? MPI_IN_PLACE : (void *)c->send, COUNT, t,
                             AT_ROOT(c->recv), COUNT, t, 1, c->comm))
CALL(gatherv, MPI_Gatherv(c->send, COUNT, t, AT_ROOT(c->recv), counts, places,
                          t, 1, c->comm))
CALL(scatter,
     MPI_Scatter(AT_ROOT(c->send), COUNT, t, c->recv, COUNT, t, 1, c->comm))
CALL(scatter_here,
     MPI_Scatter(AT_ROOT(c->send), COUNT, t,
                 ROOT ? MPI_IN_PLACE : (void *)c->recv, COUNT, t, 1, c->comm))
CALL(scatterv, MPI_Scatterv(AT_ROOT(c->send), counts, places, t, c->recv, COUNT,
                            t, 1, c->comm))
CALL(allgather, MPI_Allgather(c->send, COUNT, t, c->recv, COUNT, t, c->comm))
CALL(allgather_here,
     MPI_Allgather(MPI_IN_PLACE, 0, t, c->recv, COUNT, t, c->comm))
CALL(allgatherv,
     MPI_Allgatherv(c->send, COUNT, t, c->recv, counts, places, t, c->comm))
CALL(allgatherv_here,
     MPI_Allgatherv(MPI_IN_PLACE, 0, t, c->recv, counts, places, t, c->comm))
CALL(alltoall, MPI_Alltoall(c->send, COUNT, t, c->recv, COUNT, t, c->comm))
CALL(alltoall_here,
     MPI_Alltoall(MPI_IN_PLACE, 0, t, c->recv, COUNT, t, c->comm))
CALL(alltoallv, MPI_Alltoallv(c->send, counts, places, t, c->recv, counts,
                              places, t, c->comm))
CALL(alltoallw, MPI_Alltoallw(c->send, counts, byte_places, types, c->recv,
                              counts, byte_places, types, c->comm))
CALL(reduce,
     MPI_Reduce(c->send, AT_ROOT(c->recv), COUNT, MPI_INT, MPI_SUM, 1, c->comm))
CALL(reduce_here,
     MPI_Reduce(ROOT ? MPI_IN_PLACE : (void *)c->recv, AT_ROOT(c->recv), COUNT,
                MPI_INT, MPI_SUM, 1, c->comm))
CALL(allreduce,
     MPI_Allreduce(c->send, c->recv, COUNT, MPI_INT, MPI_SUM, c->comm))
CALL(allreduce_large,
     MPI_Allreduce(c->send, c->recv, 3000, MPI_INT, MPI_SUM, c->comm))
CALL(allreduce_here,
     MPI_Allreduce(MPI_IN_PLACE, c->recv, COUNT, MPI_INT, MPI_SUM, c->comm))
CALL(allreduce_pairs,
     MPI_Allreduce(c->send, c->recv, COUNT, MPI_SHORT_INT, MPI_MAXLOC, c->comm))
CALL(allreduce_own,
     MPI_Allreduce(c->send, c->recv, COUNT, MPI_INT, own_op, c->comm))
CALL(reduce_scatter,
     MPI_Reduce_scatter(c->send, c->recv, counts, MPI_INT, MPI_SUM, c->comm))
CALL(reduce_scatter_block, MPI_Reduce_scatter_block(c->send, c->recv, COUNT,
                                                    MPI_INT, MPI_SUM, c->comm))
CALL(scan, MPI_Scan(c->send, c->recv, COUNT, MPI_INT, MPI_SUM, c->comm))
CALL(scan_here,
     MPI_Scan(MPI_IN_PLACE, c->recv, COUNT, MPI_INT, MPI_SUM, c->comm))
CALL(exscan, MPI_Exscan(c->send, c->recv, COUNT, MPI_INT, MPI_SUM, c->comm))
CALL(near_allgather,
     MPI_Neighbor_allgather(c->send, COUNT, t, c->recv, COUNT, t, c->comm))
CALL(near_allgatherv, MPI_Neighbor_allgatherv(c->send, COUNT, t, c->recv,
                                              counts, places, t, c->comm))
CALL(near_alltoall,
     MPI_Neighbor_alltoall(c->send, COUNT, t, c->recv, COUNT, t, c->comm))
CALL(near_alltoallv, MPI_Neighbor_alltoallv(c->send, counts, places, t, c->recv,
                                            counts, places, t, c->comm))
CALL(near_alltoallw, MPI_Aint at[] = {0, COUNT * 12};
     MPI_Neighbor_alltoallw(c->send, counts, at, types, c->recv, counts, at,
                            types, c->comm))

static const struct {
    const char *name;
    void (*call)(const call_t *);
} calls[] = {
#define X(name) {#name, name}
    X(bcast),
    X(gather),
    X(gather_here),
    X(gatherv),
    X(scatter),
    X(scatter_here),
    X(scatterv),
    X(allgather),
    X(allgather_here),
    X(allgatherv),
    X(allgatherv_here),
    X(alltoall),
    X(alltoall_here),
    X(alltoallv),
    X(alltoallw),
    X(reduce),
    X(reduce_here),
    X(allreduce),
    X(allreduce_large),
    X(allreduce_here),
    X(allreduce_pairs),
    X(allreduce_own),
    X(reduce_scatter),
    X(reduce_scatter_block),
    X(scan),
    X(scan_here),
    X(exscan),
    X(near_allgather),
    X(near_allgatherv),
    X(near_alltoall),
    X(near_alltoallv),
    X(near_alltoallw),
#undef X
};

/* One call, with buffers of these kinds; what the receive buffer holds then
 * goes to `result`. */
static void one_call(size_t which, MPI_Comm comm, MPI_Datatype type, int kind,
                     char *result)
{
    int mine = kind >> 2 * world_rank;
    buffer_t out = buffer(0, mine & 1), in = buffer(1, mine & 2);
    for (int i = 0; i < ROOM / 4; i++) {
        ((int *)out.own)[i] = (int)(mix((uint64_t)(2 * i + world_rank)) % 1000);
        ((int *)in.own)[i] = -i - world_rank;
    }
    call_t c = {out.mpi, in.mpi, comm, world_size, type};
    calls[which].call(&c);
    device_close();
    memcpy(result, in.own, ROOM);
}

static void collectives(void)
{
    static char right[ROOM], got[ROOM];
    int dims[] = {2}, periods[] = {1};
    MPI_Comm ring, comm;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
    MPI_Op_create(add, 0, &own_op);
    for (size_t i = 0; i < LENGTH(calls); i++)
        for (int g = 0; g < 2; g++) {
            MPI_Datatype type = g ? gaps : MPI_INT;
            MPI_Comm_dup(ring, &comm);
            one_call(i, comm, type, 0, right);
            for (size_t k = 0; k < LENGTH(kinds); k++) {
                one_call(i, comm, type, kinds[k], got);
                for (size_t at = 0; at < ROOM; at++)
                    CHECK(got[at] == right[at], "%s, kinds %x: byte %zu",
                          calls[i].name, kinds[k], at);
            }
            MPI_Comm_free(&comm);
        }
    MPI_Op_free(&own_op);
    MPI_Comm_free(&ring);
}

/* A communicator on which one member keeps using the device's memory is left
 * to the host by all, at the same call. */
static void leaving(void)
{
    buffer_t in = buffer(1, world_rank == 1);
    for (int i = 0; i < 300; i++) {
        int one = i;
        if (i < 3)
            MPI_Allreduce(&one, in.mpi, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Bcast(in.mpi, 1, MPI_INT, i % 2, MPI_COMM_WORLD);
        device_close();
        CHECK(*(int *)in.own == 2 * (i < 3 ? i : 2), "call %d", i);
    }
}

/* Two elements with gaps between their bytes. */
static void with_gaps(void)
{
    buffer_t in = buffer(1, world_rank == 1);
    for (int i = 0; i < 300; i++) {
        int *at = (int *)in.own, root = i % 2;
        for (int j = 0; j < 6; j++)
            at[j] = world_rank == root ? 10 * i + j : -1;
        MPI_Bcast(in.mpi, 2, gaps, root, MPI_COMM_WORLD);
        device_close();
        for (int j = 0; j < 6; j++)
            CHECK(at[j] == (world_rank == root || j % 3 < 2 ? 10 * i + j : -1),
                  "call %d: %d is %d", i, j, at[j]);
    }
}

int main(int argc, char **argv)
{
    int provided;
    bool threads = !strcmp(argv[2], "threads");
    MPI_Init_thread(&argc, &argv,
                    threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    other = 1 - world_rank;
    int lengths[] = {2}, at[] = {0};
    MPI_Datatype two;
    MPI_Type_indexed(1, lengths, at, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, 12, &gaps);
    MPI_Type_commit(&gaps);
    /* Adopted, and in use, before there is a driver. */
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    device_start(argv[1]);
    for (int side = 0; side < 2; side++) {
        device[side] = device_allocate(ROOM + DEVICE_OPEN, 0);
        MPI_Alloc_mem(ROOM, MPI_INFO_NULL, &plain[side]);
        CHECK(device[side] && plain[side], "no memory");
    }
    if (!strcmp(argv[2], "collectives")) {
        collectives();
    } else if (!strcmp(argv[2], "leaving")) {
        leaving();
    } else if (!strcmp(argv[2], "gaps")) {
        with_gaps();
    } else {
        messages();
        truncated();
        both_kinds();
        packs();
        computing();
    }
    for (int side = 0; side < 2; side++)
        MPI_Free_mem(plain[side]);
    MPI_Type_free(&two);
    MPI_Type_free(&gaps);
    test_end();
}
