/*
 * Messages whose buffers lie in a GPU, on either side or on both: random types
 * and lengths, in all ways of sending and receiving, compared with ordinary
 * memory. Gaps stay as they were.
 *
 *     gpu_messages DRIVER WAY
 *
 *   random    the host knows no devices
 *   early     the same, and the driver is there before MPI_Init
 *   half      the same, and odd ranks have no driver
 *   nodes     the same in pairs, on nodes of their own
 *   threads   the same in two threads
 *   served    the host serves what the engine refuses (device_memory.h)
 *   steady    one launch a message, and nothing allocated or opened
 *   reuse     the buffers are freed and made again
 *   unready   both send before they receive
 *   killed    a rank ends while a message is under way
 *   packs     MPI_Pack and MPI_Unpack
 *   away      the receiver's program is in the host, which waits for the sender
 *   late      the sender's is, and the receiver comes late
 *   others    MPI_Sendrecv_replace, and partitioned messages
 */
#define _GNU_SOURCE
#include "device_memory.h"

#include <pthread.h>

#define ROOM ((size_t)3 << 20)
#define INTS (ROOM / sizeof(int))

static const char *mode;

static bool is_mode(const char *name)
{
    return !strcmp(mode, name);
}

static void find_driver(const char *library)
{
    device_start(library);
    if (!is_mode("served")) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGTRAP, SIG_DFL);
    }
}

/* Types of ints ------------------------------------------------------------ */

typedef struct {
    MPI_Datatype type;
    size_t ints; /* of an element */
    MPI_Aint extent;
} kind_t;

static kind_t random_kind(rng_t *r)
{
    static __thread int length[4000], at[4000];
    static __thread MPI_Aint place[4000];
    int n = 1 + (int)rng_below(r, 3000), step;
    MPI_Aint low;
    kind_t k = {.type = MPI_INT, .ints = 1};
    int size[3], part[3], from[3];
    switch (rng_below(r, 6)) {
    case 0: MPI_Type_dup(MPI_INT, &k.type); break;
    case 1:
        step = 1 + (int)rng_below(r, 4);
        MPI_Type_vector(n, step, step + (int)rng_below(r, 5), MPI_INT, &k.type);
        break;
    case 2:
        for (int i = 0, next = 0; i < n; i++) {
            length[i] = 1 + (int)rng_below(r, 5);
            at[i] = next + (int)rng_below(r, 4);
            next = at[i] + length[i];
        }
        MPI_Type_indexed(n, length, at, MPI_INT, &k.type);
        break;
    case 3:
        for (int i = 0; i < 3; i++) {
            size[i] = 2 + (int)rng_below(r, 20);
            part[i] = 1 + (int)rng_below(r, (size_t)size[i]);
            from[i] = (int)rng_below(r, (size_t)(size[i] - part[i] + 1));
        }
        MPI_Type_create_subarray(3, size, part, from, MPI_ORDER_C, MPI_INT,
                                 &k.type);
        break;
    case 4: /* at any byte */
        n = 1 + n % 400;
        for (int i = 0; i < n; i++) {
            length[i] = 1 + (int)rng_below(r, 40);
            place[i] = (i ? place[i - 1] + length[i - 1] * 4 : 0) +
                       (MPI_Aint)rng_below(r, 9);
        }
        MPI_Type_create_hindexed(n, length, place, MPI_INT, &k.type);
        break;
    default: { /* a structure of two */
        MPI_Datatype both[2];
        int one[2] = {1, 1};
        MPI_Aint where[2] = {8, 200};
        MPI_Type_vector(3, 2, 5, MPI_INT, &both[0]);
        MPI_Type_contiguous(7, MPI_INT, &both[1]);
        MPI_Type_create_struct(2, one, where, both, &k.type);
        MPI_Type_free(&both[0]);
        MPI_Type_free(&both[1]);
    }
    }
    MPI_Type_commit(&k.type);
    MPI_Type_get_extent(k.type, &low, &k.extent);
    MPI_Type_size(k.type, &step);
    k.ints = (size_t)step / sizeof(int);
    return k;
}

/* Buffers ------------------------------------------------------------------ */

/* Of one thread. Each buffer lies in ordinary memory and in a device's. */
typedef struct {
    MPI_Comm comm;
    uint64_t first;             /* of its messages' keys */
    char *plain[2], *device[2]; /* to send, to receive */
    char *sent, *wanted, *packed, *one;
} room_t;

static void open_room(room_t *m, MPI_Comm comm, bool devices)
{
    m->comm = comm;
    for (int i = 0; i < 2; i++) {
        CHECK(m->plain[i] = malloc(ROOM), "no memory");
        m->device[i] = devices ? device_allocate(ROOM, 0) : NULL;
        CHECK(m->device[i] || !devices, "no memory in the device");
    }
    m->sent = malloc(ROOM);
    m->wanted = malloc(ROOM);
    m->packed = malloc(ROOM);
    m->one = malloc(ROOM);
}

typedef struct {
    char *mpi, *own; /* as MPI and as this program sees it */
} buffer_t;

static buffer_t buffer_of(const room_t *m, int side, bool device)
{
    return device ? (buffer_t){m->device[side], device_alias(m->device[side])}
                  : (buffer_t){m->plain[side], m->plain[side]};
}

/* Messages ----------------------------------------------------------------- */

enum {
    SEND,
    SSEND,
    BSEND,
    RSEND,
    RECV,
    MRECV,
    IMRECV,
    PERSISTENT,
    SENDRECV,
    OWN,
    FREED,
    WAYS
};

typedef struct {
    kind_t out, in;
    int count, room; /* elements to send, and to receive */
    size_t ints;
    int way;
    bool from_device, to_device, cut;
} message_t;

static bool has_device(int rank)
{
    return !is_mode("half") || rank % 2 == 0;
}

/* All ranks draw the same message of a rank to its next one, but for what only
 * the two know. */
static message_t draw(uint64_t key, int source, int dest, size_t most)
{
    rng_t common = rng_from(key);
    message_t m = {.way = (int)rng_below(&common, WAYS)};
    rng_t r = rng_from(key2(key, (uint64_t)(m.way == OWN ? 77 : source)));
    m.out = random_kind(&r);
    m.in = random_kind(&r);
    size_t ints = 1 + rng_size(&r, most / sizeof(int));
    /* An element may begin a little behind its address. */
    size_t fits = (ROOM - 64) / (size_t)m.out.extent;
    m.count = (int)(ints / m.out.ints < 1      ? 1
                    : ints / m.out.ints < fits ? ints / m.out.ints
                                               : fits);
    for (;;) {
        m.ints = (size_t)m.count * m.out.ints;
        m.room = (int)((m.ints + m.in.ints - 1) / m.in.ints);
        if ((size_t)m.room * (size_t)m.in.extent <= ROOM - 64 || m.count == 1)
            break;
        m.count = (m.count + 1) / 2;
    }
    if (rng_below(&r, 12) == 0) {
        m.room = (m.room + 1) / 2;
        m.cut = (size_t)m.room * m.in.ints < m.ints;
    }
    m.from_device = rng_below(&r, 4) > 0 && has_device(source);
    m.to_device = rng_below(&r, 4) > 0 && has_device(dest);
    return m;
}

/* The ints of the message in the receiver's type. */
static void expect(room_t *b, const message_t *m, uint64_t key, int source)
{
    size_t all = m->ints * sizeof(int), room, element;
    int at = 0;
    fill_from(b->sent, ROOM, key2(key, (uint64_t)source));
    fill_from(b->wanted, ROOM, key2(key, 1000));
    MPI_Pack(b->sent, m->count, m->out.type, b->packed, (int)ROOM, &at,
             MPI_COMM_SELF);
    CHECK((size_t)at == all, "packed %d bytes of %zu", at, all);
    element = m->in.ints * sizeof(int);
    room = (size_t)m->room * element;
    all = all < room ? all : room;
    at = 0;
    MPI_Unpack(b->packed, (int)all, &at, b->wanted, (int)(all / element),
               m->in.type, MPI_COMM_SELF);
    if (all % element) {
        char *last = b->wanted + (MPI_Aint)(all / element) * m->in.extent;
        at = 0;
        MPI_Pack(last, 1, m->in.type, b->one, (int)ROOM, &at, MPI_COMM_SELF);
        memcpy(b->one, b->packed + all / element * element, all % element);
        at = 0;
        MPI_Unpack(b->one, (int)element, &at, last, 1, m->in.type,
                   MPI_COMM_SELF);
    }
}

static void complete(rng_t *r, MPI_Request *q, MPI_Status *status)
{
    int flag = 0;
    if (rng_below(r, 2))
        MPI_Wait(q, status);
    else
        while (!flag)
            MPI_Test(q, &flag, status);
}

/* One message to the next rank, and one from the last. `in` describes that. */
static int exchange(const room_t *b, const message_t *out, const message_t *in,
                    int next, int last, int tag, rng_t *r, MPI_Status *status)
{
    char *to = buffer_of(b, 1, in->to_device).mpi;
    const char *from = buffer_of(b, 0, out->from_device).mpi;
    int rc = MPI_SUCCESS, source = rng_below(r, 3) ? last : MPI_ANY_SOURCE;
    MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message message;
    MPI_Comm comm = b->comm;
    static char attached[ROOM + MPI_BSEND_OVERHEAD + 4096];
    switch (out->way) {
    case SEND:
    case SSEND:
    case BSEND:
    case RSEND:
    case FREED:
        MPI_Irecv(to, in->room, in->in.type, source, tag, comm, &q[0]);
        if (out->way == RSEND)
            MPI_Barrier(comm);
        if (out->way == SEND)
            MPI_Send(from, out->count, out->out.type, next, tag, comm);
        else if (out->way == SSEND)
            MPI_Ssend(from, out->count, out->out.type, next, tag, comm);
        else if (out->way == RSEND)
            MPI_Rsend(from, out->count, out->out.type, next, tag, comm);
        else if (out->way == FREED) {
            MPI_Isend(from, out->count, out->out.type, next, tag, comm, &q[1]);
            MPI_Request_free(&q[1]);
        } else if (!is_mode("threads")) {
            MPI_Buffer_attach(attached, (int)sizeof attached);
            MPI_Bsend(from, out->count, out->out.type, next, tag, comm);
            MPI_Buffer_detach(&(char *){0}, &(int){0});
        } else {
            MPI_Send(from, out->count, out->out.type, next, tag, comm);
        }
        rc = MPI_Wait(&q[0], status);
        if (out->way == FREED)
            MPI_Barrier(comm);
        break;
    case RECV:
        MPI_Isend(from, out->count, out->out.type, next, tag, comm, &q[1]);
        rc = MPI_Recv(to, in->room, in->in.type, source, tag, comm, status);
        complete(r, &q[1], MPI_STATUS_IGNORE);
        break;
    case MRECV:
    case IMRECV:
        MPI_Issend(from, out->count, out->out.type, next, tag, comm, &q[1]);
        MPI_Mprobe(source, tag, comm, &message, status);
        if (out->way == MRECV)
            rc = MPI_Mrecv(to, in->room, in->in.type, &message, status);
        else {
            MPI_Imrecv(to, in->room, in->in.type, &message, &q[0]);
            rc = MPI_Wait(&q[0], status);
        }
        complete(r, &q[1], MPI_STATUS_IGNORE);
        break;
    case PERSISTENT:
        MPI_Recv_init(to, in->room, in->in.type, source, tag, comm, &q[0]);
        MPI_Send_init(from, out->count, out->out.type, next, tag, comm, &q[1]);
        for (int i = 0; i < 2; i++) {
            MPI_Startall(2, q);
            rc = MPI_Wait(&q[0], status);
            complete(r, &q[1], MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&q[0]);
        MPI_Request_free(&q[1]);
        break;
    case SENDRECV:
        rc = MPI_Sendrecv(from, out->count, out->out.type, next, tag, to,
                          in->room, in->in.type, source, tag, comm, status);
        break;
    default:
        MPI_Isend(from, out->count, out->out.type, next, tag, comm, &q[1]);
        rc = MPI_Recv(to, in->room, in->in.type, next, tag, comm, status);
        complete(r, &q[1], MPI_STATUS_IGNORE);
    }
    return rc;
}

static void one_message(room_t *b, uint64_t key, size_t most)
{
    int next = (world_rank + 1) % world_size;
    int last = (world_rank + world_size - 1) % world_size;
    if (is_mode("nodes"))
        next = last = world_rank ^ 1;
    rng_t r = rng_from(key2(key, 5 + (uint64_t)world_rank));
    message_t out = draw(key, world_rank, next, most);
    if (out.way == OWN) {
        next = last = world_rank;
        MPI_Type_free(&out.out.type);
        MPI_Type_free(&out.in.type);
        out = draw(key, world_rank, world_rank, most);
    }
    message_t in = draw(key, last, world_rank, most);
    buffer_t from = buffer_of(b, 0, out.from_device);
    buffer_t to = buffer_of(b, 1, in.to_device);
    MPI_Status status;
    fill_from(from.own, ROOM, key2(key, (uint64_t)world_rank));
    fill_from(to.own, ROOM, key2(key, 1000));
    device_put(from.mpi);
    device_put(to.mpi);
    int rc = exchange(b, &out, &in, next, last, (int)(key % 1000), &r, &status);
    expect(b, &in, key, last);
    int class = MPI_SUCCESS, count = 0;
    MPI_Error_class(rc, &class);
    CHECK(class == (in.cut ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
          "message %llu, way %d: class %d", (unsigned long long)key, in.way,
          class);
    MPI_Get_elements(&status, MPI_INT, &count);
    CHECK(in.cut || (size_t)count == in.ints, "%d ints of %zu", count, in.ints);
    device_get(to.mpi);
    for (size_t i = 0; i < ROOM; i++)
        CHECK(to.own[i] == b->wanted[i],
              "message %llu, way %d, %zu ints, from %s to %s: byte %zu",
              (unsigned long long)key, in.way, in.ints,
              in.from_device ? "a device" : "memory",
              in.to_device ? "a device" : "memory", i);
    MPI_Type_free(&out.out.type);
    MPI_Type_free(&out.in.type);
    MPI_Type_free(&in.out.type);
    MPI_Type_free(&in.in.type);
}

static void random_messages(room_t *b, uint64_t first, int n, size_t most)
{
    MPI_Comm_set_errhandler(b->comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < n; i++)
        one_message(b, first + (uint64_t)i, most);
}

static void *one_thread(void *room)
{
    room_t *b = room;
    random_messages(b, b->first, 40, 1 << 18);
    return NULL;
}

static void two_threads(void)
{
    pthread_t thread[2];
    room_t room[2];
    MPI_Comm comm;
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        open_room(&room[i], comm, has_device(world_rank));
        room[i].first = 4000 + 1000 * (uint64_t)i;
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, one_thread, &room[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        MPI_Comm_free(&room[i].comm);
    }
}

/* Counts ------------------------------------------------------------------- */

static void steady(room_t *b)
{
    static const char *const calls[] = {
        "cuLaunchKernel", "cuMemAlloc_v2",         "cuMemHostAlloc",
        "cuStreamCreate", "cuIpcOpenMemHandle_v2", "cuIpcGetMemHandle"};
    static int length[3000], at[3000];
    enum { ROUNDS = 30 };
    MPI_Datatype type[2];
    for (int i = 0; i < 3000; i++) {
        length[i] = 1 + i % 3;
        at[i] = i * 5 + i % 2;
    }
    MPI_Type_vector(20000, 1, 2, MPI_INT, &type[0]);
    MPI_Type_indexed(3000, length, at, MPI_INT, &type[1]);
    for (int t = 0; t < 2; t++) {
        uint64_t before[LENGTH(calls)], n;
        MPI_Type_commit(&type[t]);
        for (int i = -5; i < ROUNDS; i++) {
            if (i == 0)
                for (size_t c = 0; c < LENGTH(calls); c++)
                    before[c] = device_count(calls[c]);
            if (world_rank == 0)
                MPI_Ssend(b->device[0], 1, type[t], 1, 1, b->comm);
            else if (world_rank == 1)
                MPI_Recv(b->device[1], 1, type[t], 0, 1, b->comm,
                         MPI_STATUS_IGNORE);
        }
        for (size_t c = 0; c < LENGTH(calls); c++) {
            n = device_count(calls[c]) - before[c];
            CHECK(device_real || n == (c == 0 && world_rank == 1 ? ROUNDS : 0),
                  "%d messages: %s %llu times", ROUNDS, calls[c],
                  (unsigned long long)n);
        }
        MPI_Type_free(&type[t]);
    }
}

/* Freed and made again ----------------------------------------------------- */

static void reuse(room_t *b)
{
    MPI_Datatype type;
    int next = (world_rank + 1) % world_size, n = 100000;
    int last = (world_rank + world_size - 1) % world_size, same = 0;
    char *at, *before = NULL;
    MPI_Request q;
    device_make_current();
    MPI_Type_vector(n, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 30; i++) {
        at = device_allocate(ROOM, 0);
        CHECK(at, "no memory");
        same += at == before;
        before = at;
        int *own = device_alias(at), *got = device_alias(b->device[1]);
        for (int j = 0; j < n; j++)
            own[2 * j] = i * 7 + j + world_rank;
        device_put(at);
        MPI_Isend(at, 1, type, next, i, MPI_COMM_WORLD, &q);
        MPI_Recv(b->device[1], n, MPI_INT, last, i, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        device_free(at);
        device_get(b->device[1]);
        for (int j = 0; j < n; j++)
            CHECK(got[j] == i * 7 + j + last, "round %d: %d is %d", i, j,
                  got[j]);
    }
    CHECK(device_real || same > 5, "%d times the same address", same);
    MPI_Type_free(&type);
}

/* Both send first: what is not too long is copied aside. */
static void unready(room_t *b)
{
    int other = world_rank ^ 1;
    if (other >= world_size)
        return;
    for (int n = 100; n < 100000; n *= 3) {
        int *own = device_alias(b->device[0]),
            *got = device_alias(b->device[1]);
        for (int j = 0; j < n; j++)
            own[j] = n + j + world_rank;
        device_put(b->device[0]);
        MPI_Send(b->device[0], n, MPI_INT, other, 3, b->comm);
        MPI_Recv(b->device[1], n, MPI_INT, other, 3, b->comm,
                 MPI_STATUS_IGNORE);
        device_get(b->device[1]);
        for (int j = 0; j < n; j++)
            CHECK(got[j] == n + j + other, "of %d: %d is %d", n, j, got[j]);
    }
}

/* The helper thread receives, and calls no driver. */
static void away(room_t *b)
{
    int n = 50000;
    for (int i = 0; i < 6; i++) {
        bool device = i % 2;
        buffer_t from = buffer_of(b, 0, true), to = buffer_of(b, 1, device);
        int *own = (int *)(void *)from.own, *got = (int *)(void *)to.own;
        MPI_Request q = MPI_REQUEST_NULL;
        MPI_Comm comm;
        for (int j = 0; j < n; j++)
            own[j] = i + j + world_rank;
        device_put(from.mpi);
        if (world_rank == 0)
            MPI_Irecv(to.mpi, n, MPI_INT, 1, i, b->comm, &q);
        else if (world_rank == 1)
            usleep(20000);
        if (world_rank == 1 && i < 3)
            MPI_Ssend(from.mpi, n, MPI_INT, 0, i, b->comm);
        else if (world_rank == 1)
            MPI_Send(from.mpi, n, MPI_INT, 0, i, b->comm);
        MPI_Comm_split(b->comm, 0, 0, &comm);
        MPI_Comm_free(&comm);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        device_get(to.mpi);
        for (int j = 0; j < n && world_rank == 0; j++)
            CHECK(got[j] == i + j + 1, "round %d: %d is %d", i, j, got[j]);
    }
}

static void late(room_t *b)
{
    int n = 50000, *own = device_alias(b->device[0]);
    const int *got = device_alias(b->device[1]);
    for (int i = 0; i < 6; i++) {
        MPI_Request q = MPI_REQUEST_NULL;
        MPI_Comm comm;
        for (int j = 0; j < n; j++)
            own[j] = i + j + world_rank;
        device_put(b->device[0]);
        MPI_Barrier(b->comm);
        if (world_rank == 1)
            MPI_Isend(b->device[0], n, MPI_INT, 0, i, b->comm, &q);
        if (world_rank == 0) {
            usleep(30000);
            MPI_Recv(b->device[1], n, MPI_INT, 1, i, b->comm,
                     MPI_STATUS_IGNORE);
        }
        MPI_Comm_split(b->comm, 0, 0, &comm);
        MPI_Comm_free(&comm);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        device_get(b->device[1]);
        for (int j = 0; j < n && world_rank == 0; j++)
            CHECK(got[j] == i + j + 1, "round %d: %d is %d", i, j, got[j]);
    }
}

static void killed(room_t *b)
{
    MPI_Request q;
    if (world_rank == 1) {
        MPI_Isend(b->device[0], (int)INTS, MPI_INT, 0, 1, b->comm, &q);
        usleep(50000);
        raise(SIGKILL);
    }
    usleep(100000);
    MPI_Recv(b->device[1], (int)INTS, MPI_INT, 1, 1, b->comm,
             MPI_STATUS_IGNORE);
    MPI_Recv(b->device[1], (int)INTS, MPI_INT, 1, 1, b->comm,
             MPI_STATUS_IGNORE);
}

/* Packing ------------------------------------------------------------------ */

static void packs(room_t *b)
{
    for (uint64_t i = 0; i < 60; i++) {
        rng_t r = rng_from(key2(i, (uint64_t)world_rank));
        kind_t k = random_kind(&r);
        int count = 1 + (int)rng_below(&r, ROOM / 2 / (size_t)k.extent), at = 3;
        bool packed = rng_below(&r, 2);
        buffer_t from = buffer_of(b, 0, rng_below(&r, 4)), to, line;
        to = buffer_of(b, 1, !packed);
        line = packed ? buffer_of(b, 1, true) : (buffer_t){b->one, b->one};
        size_t bytes = (size_t)count * k.ints * sizeof(int);
        count = bytes + 3 > ROOM ? 1 : count;
        fill_from(from.own, ROOM, i);
        device_put(from.mpi);
        memcpy(b->sent, from.own, ROOM);
        MPI_Pack(from.mpi, count, k.type, line.mpi, (int)ROOM, &at, b->comm);
        bytes = (size_t)at - 3;
        device_get(line.mpi);
        at = 0;
        MPI_Pack(b->sent, count, k.type, b->packed, (int)ROOM, &at, b->comm);
        CHECK((size_t)at == bytes && !memcmp(line.own + 3, b->packed, bytes),
              "pack %llu", (unsigned long long)i);
        if (!packed) {
            fill_from(to.own, ROOM, ~i);
            fill_from(b->wanted, ROOM, ~i);
            device_put(to.mpi);
            at = 3;
            MPI_Unpack(line.mpi, (int)ROOM, &at, to.mpi, count, k.type,
                       b->comm);
            CHECK((size_t)at == bytes + 3, "unpacked %d bytes", at - 3);
            at = 0;
            MPI_Unpack(b->packed, (int)ROOM, &at, b->wanted, count, k.type,
                       b->comm);
            device_get(to.mpi);
            CHECK(!memcmp(to.own, b->wanted, ROOM), "unpack %llu",
                  (unsigned long long)i);
        }
        MPI_Type_free(&k.type);
    }
}

/* Others ------------------------------------------------------------------- */

/* The ints with gaps at `own` are those of a rank's round. */
static void check_ints(const int *own, int n, int round, int rank)
{
    for (int j = 0; j < n; j++)
        CHECK(own[2 * j] == round * 7 + j + rank && own[2 * j + 1] == -1,
              "round %d: %d is %d, %d", round, j, own[2 * j], own[2 * j + 1]);
}

static void set_ints(int *own, int n, int round)
{
    for (int j = 0; j < n; j++) {
        own[2 * j] = round * 7 + j + world_rank;
        own[2 * j + 1] = -1;
    }
}

static void others(room_t *b)
{
    enum { N = 40000, PARTS = 8 };
    int next = (world_rank + 1) % world_size;
    int last = (world_rank + world_size - 1) % world_size;
    int *own = device_alias(b->device[0]), *got = device_alias(b->device[1]);
    MPI_Datatype every, some;
    MPI_Type_vector(1, 1, 2, MPI_INT, &every);
    MPI_Type_create_resized(every, 0, 2 * sizeof(int), &some);
    MPI_Type_commit(&some);
    for (int i = 0; i < 4; i++) {
        set_ints(own, N, i);
        device_put(b->device[0]);
        MPI_Sendrecv_replace(b->device[0], N, some, next, 1, last, 1, b->comm,
                             MPI_STATUS_IGNORE);
        device_get(b->device[0]);
        check_ints(own, N, i, last);
    }
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
    MPI_Request q[2];
    MPI_Psend_init(b->device[0], PARTS, N / PARTS, some, next, 2, b->comm,
                   MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(b->device[1], PARTS, N / PARTS, some, last, 2, b->comm,
                   MPI_INFO_NULL, &q[1]);
    for (int i = 0; i < 4; i++) {
        set_ints(own, N, 10 + i);
        set_ints(got, N, 30);
        device_put(b->device[0]);
        device_put(b->device[1]);
        MPI_Startall(2, q);
        for (int j = 0; j < PARTS; j++)
            MPI_Pready(j, q[0]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        device_get(b->device[1]);
        check_ints(got, N, 10 + i, last);
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
#else
    (void)got;
#endif
    MPI_Type_free(&every);
    MPI_Type_free(&some);
}

int main(int argc, char **argv)
{
    room_t room;
    mode = argv[2];
    if (is_mode("early"))
        find_driver(argv[1]);
    test_start(&argc, &argv);
    if (!is_mode("early") && has_device(world_rank))
        find_driver(argv[1]);
    open_room(&room, MPI_COMM_WORLD, has_device(world_rank));
    if (is_mode("steady"))
        steady(&room);
    else if (is_mode("reuse"))
        reuse(&room);
    else if (is_mode("unready"))
        unready(&room);
    else if (is_mode("away"))
        away(&room);
    else if (is_mode("late"))
        late(&room);
    else if (is_mode("killed"))
        killed(&room);
    else if (is_mode("packs"))
        packs(&room);
    else if (is_mode("others"))
        others(&room);
    else if (is_mode("threads"))
        two_threads();
    else
        random_messages(&room, 100, is_mode("served") ? 12 : 100,
                        is_mode("served") ? 20000 : 1 << 20);
    CHECK(device_faults() == 0, "the driver has seen faults");
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        puts("all is well");
    MPI_Finalize();
    return 0;
}
