/*
 * p2p_pending.c - what may go while a receive is pending, and what a probe
 * tells after a receive has failed.
 *
 *   p2p_pending CASE
 *
 * Ranks 0 and 1; each case is short, "all" runs all of them. "tags" takes more
 * ranks.
 *
 *   cancelled   a receive is cancelled, its request freed and its buffer
 *               unmapped
 *   freed       the communicator is freed while messages on it are pending
 *   truncated   the same, with a message that is too long for its receive
 *   persistent  persistent requests outlive their communicator
 *   gone_on     waits go on after the communicator last used is freed, and
 *               after calls on no communicator
 *   matched     a matched message outlives its communicator
 *   failed      probes after a receive that failed tell the true length
 *   cut         probes after a large message was cut short tell enough
 *   tags        probes after messages of 192 bytes on very many tags
 *   posted      MPI_Test and MPI_Iprobe beside thousands of posted receives
 */
#include "mpi/test.h"

#include <sys/mman.h>

#define LARGE 60000
#define MEDIUM 20000

static char *out, *in;
static int other;

static void check_from(const char *p, size_t n, uint64_t key, const char *what)
{
    size_t i = wrong_from(p, n, key);
    CHECK(i == n, "%s: byte %zu of %zu is wrong", what, i, n);
}

static int count_of(const MPI_Status *status)
{
    int n = -1;
    MPI_Get_count(status, MPI_BYTE, &n);
    return n;
}

/* Some calls that make progress. */
static void poll_a_while(void)
{
    for (int i = 0; i < 300; i++) {
        int flag;
        MPI_Iprobe(other, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "nobody has sent this");
    }
}

static void cancelled(void)
{
    static const size_t rooms[] = {192, 3000, 8192, 1 << 20};
    for (size_t i = 0; i < 2 * LENGTH(rooms); i++) {
        size_t room = rooms[i / 2];
        char *gone = mmap(NULL, room, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        MPI_Request request, after;
        if (i % 2) {
            MPI_Recv_init(gone, (int)room, MPI_BYTE, other, 1, MPI_COMM_WORLD,
                          &request);
            MPI_Start(&request);
        } else {
            MPI_Irecv(gone, (int)room, MPI_BYTE, other, 1, MPI_COMM_WORLD,
                      &request);
        }
        /* The next message is for this one. */
        MPI_Irecv(in, LARGE, MPI_BYTE, other, 1, MPI_COMM_WORLD, &after);
        MPI_Cancel(&request);
        MPI_Request_free(&request);
        munmap(gone, room);
        poll_a_while();
        MPI_Barrier(MPI_COMM_WORLD);
        fill_from(out, LARGE, i);
        MPI_Send(out, i % 4 < 2 ? 192 : LARGE, MPI_BYTE, other, 1,
                 MPI_COMM_WORLD);
        MPI_Status status;
        MPI_Wait(&after, &status);
        check_from(in, (size_t)count_of(&status), i, "after a cancelled one");
    }
}

/* What MPI_Wait does, in other words. */
static int complete(int way, MPI_Request *request, MPI_Status *status)
{
    int flag = 0, index, rc = MPI_SUCCESS;
    switch (way % 5) {
    case 0: return MPI_Wait(request, status);
    case 1:
        while (!flag && rc == MPI_SUCCESS)
            rc = MPI_Test(request, &flag, status);
        return rc;
    case 2:
        rc = MPI_Waitall(1, request, status);
        return rc == MPI_ERR_IN_STATUS ? status->MPI_ERROR : rc;
    case 3: return MPI_Waitany(1, request, &index, status);
    default:
        rc = MPI_Waitsome(1, request, &flag, &index, status);
        return rc == MPI_ERR_IN_STATUS ? status->MPI_ERROR : rc;
    }
}

static int called;

static void count_calls(MPI_Comm *comm, int *code, ...)
{
    called++;
}

/* A message of n bytes into `room` on a communicator that both free at once.
 * Others are made then, which may get its handle. */
static void outlived(int n, int room, int way, bool late, int handler)
{
    MPI_Comm comm, made[3];
    MPI_Request request;
    MPI_Status status;
    MPI_Errhandler user = MPI_ERRHANDLER_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (handler == 1)
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (handler == 2) {
        MPI_Comm_create_errhandler(count_calls, &user);
        MPI_Comm_set_errhandler(comm, user);
        MPI_Errhandler_free(&user);
    }
    called = 0;
    fill_from(out, (size_t)n, (uint64_t)way);
    if (world_rank == 0) {
        MPI_Irecv(in, room, MPI_BYTE, way % 2 ? 1 : MPI_ANY_SOURCE, 5, comm,
                  &request);
    } else {
        if (late)
            usleep(2000);
        MPI_Isend(out, n, MPI_BYTE, 0, 5, comm, &request);
    }
    MPI_Comm_free(&comm);
    for (size_t i = 0; i < LENGTH(made); i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
    poll_a_while();
    int rc = complete(way, &request, &status);
    if (world_rank == 0 && n <= room) {
        CHECK(rc == MPI_SUCCESS && count_of(&status) == n &&
                  status.MPI_SOURCE == 1 && status.MPI_TAG == 5,
              "%d bytes into %d, way %d: code %d, %d bytes", n, room, way, rc,
              count_of(&status));
        check_from(in, (size_t)n, (uint64_t)way, "communicator freed");
    } else if (world_rank == 0) {
        int error = -1;
        MPI_Error_class(rc, &error);
        CHECK(error == MPI_ERR_TRUNCATE || (handler == 2 && called),
              "%d bytes into %d, way %d: error class %d", n, room, way, error);
        CHECK(called == (handler == 2),
              "%d bytes into %d, way %d: a handler "
              "was called %d times",
              n, room, way, called);
    }
    for (size_t i = 0; i < LENGTH(made); i++) {
        fill_from(out, MEDIUM, 7);
        if (world_rank == 1) {
            MPI_Send(out, MEDIUM, MPI_BYTE, 0, 5, made[i]);
        } else {
            MPI_Probe(1, 5, made[i], &status);
            CHECK(count_of(&status) == MEDIUM, "a probe after it: %d bytes",
                  count_of(&status));
            MPI_Recv(in, MEDIUM, MPI_BYTE, 1, 5, made[i], &status);
            check_from(in, MEDIUM, 7, "after it");
        }
        MPI_Comm_free(&made[i]);
    }
}

static void freed(void)
{
    static const int sizes[][2] = {
        {192, 192}, {192, 1000}, {192, LARGE}, {MEDIUM, MEDIUM}, {0, LARGE},
    };
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (int way = 0; way < 5; way++)
            outlived(sizes[i][0], sizes[i][1], way, (way + (int)i) % 2, 0);
}

static void truncated(void)
{
    static const int sizes[][2] = {
        {MEDIUM, 9000},
        {LARGE, MEDIUM},
        {MEDIUM, 200},
    };
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (int way = 0; way < 5; way++)
            outlived(sizes[i][0], sizes[i][1], way, (way + (int)i) % 2,
                     1 + (way + (int)i) % 2);
}

static void persistent(void)
{
    enum { ROUNDS = 4 };
    MPI_Comm comm, made;
    MPI_Datatype type;
    MPI_Request request, first = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(MEDIUM, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    /* One of 192 bytes is under way when the others start. */
    if (world_rank == 1) {
        MPI_Send_init(out, 1, type, 0, 3, comm, &request);
        MPI_Send_init(out + MEDIUM, 192, MPI_BYTE, 0, 3, comm, &first);
        MPI_Start(&first);
    } else {
        MPI_Recv_init(in, 1, type, 1, 3, comm, &request);
    }
    MPI_Comm_free(&comm);
    MPI_Type_free(&type);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    for (int i = 0; i < ROUNDS; i++) {
        fill_from(out, MEDIUM, (uint64_t)i);
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        if (world_rank == 0 && i == 0)
            CHECK(count_of(&status) == 192, "the first was short");
        else if (world_rank == 0)
            check_from(in, MEDIUM, (uint64_t)i - 1, "persistent");
    }
    if (world_rank == 0) {
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        check_from(in, MEDIUM, ROUNDS - 1, "persistent, the last");
    }
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    if (world_rank == 1)
        MPI_Request_free(&first);
    MPI_Request_free(&request);
    MPI_Comm_free(&made);
}

static void gone_on(void)
{
    for (int i = 0; i < 6; i++) {
        MPI_Comm comm;
        MPI_Request request;
        int none = 0, error = MPI_SUCCESS;
        bool late = world_rank == i % 2;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Isend(out, LARGE, MPI_BYTE, other, 6, comm, &request);
        MPI_Recv(in, LARGE, MPI_BYTE, other, 6, comm, MPI_STATUS_IGNORE);
        if (i % 3)
            MPI_Barrier(comm);
        MPI_Comm_free(&comm);
        /* MPI-4 raises such errors on MPI_COMM_SELF, MPI-3 on the world. */
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Error_class(i % 2 ? MPI_Barrier(MPI_COMM_NULL)
                              : MPI_Bcast(&none, 1, MPI_INT, 0, MPI_COMM_NULL),
                        &error);
        CHECK(error == MPI_ERR_COMM, "no communicator: error class %d", error);
        if (late)
            usleep(20000);
        MPI_Sendrecv_replace(in, LARGE, MPI_BYTE, other, 7, other, 7,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        fill_from(out, LARGE, (uint64_t)i);
        if (late) {
            usleep(20000);
            MPI_Recv(in, LARGE, MPI_BYTE, other, 8, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            check_from(in, LARGE, (uint64_t)i, "gone on");
        } else {
            MPI_Send(out, LARGE, MPI_BYTE, other, 8, MPI_COMM_WORLD);
        }
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS, "a barrier");
    }
}

static void matched(void)
{
    for (int i = 0; i < 6; i++) {
        int n = i % 2 ? LARGE : 192;
        MPI_Comm comm, made;
        MPI_Request request;
        MPI_Message message;
        MPI_Status status;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        fill_from(out, (size_t)n, (uint64_t)i);
        if (world_rank == 1)
            MPI_Isend(out, n, MPI_BYTE, 0, 4, comm, &request);
        else
            MPI_Mprobe(1, 4, comm, &message, &status);
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        if (world_rank == 0) {
            CHECK(count_of(&status) == n, "%d bytes seen, not %d",
                  count_of(&status), n);
            if (i % 3)
                MPI_Imrecv(in, LARGE, MPI_BYTE, &message, &request);
            else
                MPI_Mrecv(in, LARGE, MPI_BYTE, &message, &status);
            if (i % 3)
                complete(i, &request, &status);
            CHECK(count_of(&status) == n && status.MPI_TAG == 4,
                  "%d bytes came, not %d", count_of(&status), n);
            check_from(in, (size_t)n, (uint64_t)i, "matched");
        } else {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Comm_free(&made);
    }
}

/* Messages of these lengths, one after another; how they are probed. */
static void row(const int *lengths, int n, bool matches, bool exact, int tag)
{
    MPI_Request request[8];
    if (world_rank == 1) {
        for (int i = 0; i < n; i++) {
            char *from = out + i * LARGE;
            fill_from(from, (size_t)lengths[i], (uint64_t)(i + tag));
            MPI_Isend(from, lengths[i], MPI_BYTE, 0, tag, MPI_COMM_WORLD,
                      &request[i]);
        }
        MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
        return;
    }
    MPI_Message message[8];
    for (int i = 0; i < n; i++) {
        MPI_Status status;
        if (matches)
            MPI_Mprobe(1, tag, MPI_COMM_WORLD, &message[i], &status);
        else
            MPI_Probe(1, tag, MPI_COMM_WORLD, &status);
        int told = count_of(&status);
        CHECK(exact ? told == lengths[i] : told >= lengths[i],
              "message %d of %d bytes: a%s probe tells of %d", i, lengths[i],
              matches ? " matched" : "", told);
        if (matches)
            continue;
        MPI_Recv(in, told, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &status);
        CHECK(count_of(&status) == lengths[i], "%d bytes came, not %d",
              count_of(&status), lengths[i]);
        check_from(in, (size_t)lengths[i], (uint64_t)(i + tag), "probed");
    }
    for (int i = 0; i < n && matches; i++) {
        MPI_Status status;
        if (i % 2) {
            MPI_Request later;
            MPI_Imrecv(in, LARGE, MPI_BYTE, &message[i], &later);
            MPI_Wait(&later, &status);
        } else {
            MPI_Mrecv(in, LARGE, MPI_BYTE, &message[i], &status);
        }
        CHECK(count_of(&status) == lengths[i], "%d bytes came, not %d",
              count_of(&status), lengths[i]);
        check_from(in, (size_t)lengths[i], (uint64_t)(i + tag), "matched");
    }
}

static const int mixed[][4] = {
    {192, LARGE, 192, MEDIUM},
    {LARGE, 192, 192, MEDIUM},
    {192, 192, LARGE, 192},
    {MEDIUM, LARGE, 192, LARGE},
};

static void rows(int tag, bool exact)
{
    for (size_t i = 0; i < 2 * LENGTH(mixed); i++)
        row(mixed[i / 2], 4, i % 2, exact, tag);
}

/* A message of n bytes where there is room for `room`. */
static void fail_once(int n, int room, int tag, bool waits)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Request request;
    int rc = MPI_SUCCESS;
    if (world_rank == 1) {
        MPI_Send(out, n, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    } else if (waits) {
        MPI_Irecv(in, room, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        rc = MPI_Recv(in, room, MPI_BYTE, 1, tag, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE);
    }
    CHECK(world_rank == 1 || rc != MPI_SUCCESS, "no error");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void failed(void)
{
    /* Do even these move by descriptor? */
    const char *least = getenv("STRAIGHTWAY_P2P_MIN");
    bool moved = least && atoi(least) <= 3000;
    rows(20, true);
    for (int i = 0; i < 6; i++) {
        int n = i % 3 == 0 ? 100 : i % 3 == 1 ? 192 : 3000;
        fail_once(n, 50, 21, i / 3);
        rows(21, !moved);
        rows(21, true);
        rows(22, true);
    }
}

static void cut(void)
{
    for (int i = 0; i < 4; i++) {
        fail_once(i % 2 ? LARGE : MEDIUM, 100, 23, i / 2);
        rows(23, false); /* enough */
        rows(23, true);  /* it is known again what is what */
        rows(24, true);
    }
}

/* All ranks but 0 share the tags. */
static void tags(void)
{
    enum { MANY = 140000, AT_ONCE = 2000 };
    static MPI_Request request[AT_ONCE];
    static char space[AT_ONCE][192];
    int *most, there, senders = world_size - 1;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &there);
    for (int i = 0; i < MANY && there && *most > 200 + MANY; i += AT_ONCE) {
        int sender = 1 + i / AT_ONCE % senders;
        if (world_rank != 0 && world_rank != sender)
            continue;
        for (int k = 0; k < AT_ONCE; k++)
            if (world_rank == 0)
                MPI_Irecv(space[k], 192, MPI_BYTE, sender, 200 + i + k,
                          MPI_COMM_WORLD, &request[k]);
            else
                MPI_Isend(space[k], 192, MPI_BYTE, 0, 200 + i + k,
                          MPI_COMM_WORLD, &request[k]);
        MPI_Waitall(AT_ONCE, request, MPI_STATUSES_IGNORE);
    }
    if (world_rank > 1)
        return;
    rows(25, true);
    rows(26, true);
}

static void posted(void)
{
    enum { N = 8192, ROOM = 8192, CALLS = 3000 };
    MPI_Request *request = malloc(N * sizeof *request);
    MPI_Request sent = MPI_REQUEST_NULL;
    char *room = malloc((size_t)N * ROOM);
    for (int i = 0; i < N; i++)
        MPI_Irecv(room + (size_t)i * ROOM, ROOM, MPI_BYTE,
                  i % 3 ? other : MPI_ANY_SOURCE, 30 + i % 5, MPI_COMM_WORLD,
                  &request[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2 * CALLS; i++) {
        int flag;
        if (i == CALLS) { /* one for which no receive is posted */
            MPI_Isend(out, LARGE, MPI_BYTE, other, 29, MPI_COMM_WORLD, &sent);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Iprobe(other, 28, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "nobody has sent this");
        MPI_Test(&request[i * 7 % N], &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "nobody has sent this");
    }
    MPI_Recv(in, LARGE, MPI_BYTE, other, 29, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Each gets its message, whatever else was received before. */
    for (int i = N; i-- > 0;) {
        int n = i % 4 ? 64 : ROOM;
        fill_from(out, (size_t)n, (uint64_t)(i % 5));
        if (world_rank == 1)
            MPI_Send(out, n, MPI_BYTE, other, 30 + i % 5, MPI_COMM_WORLD);
    }
    for (int i = 0; i < N; i++) {
        if (world_rank == 1) {
            MPI_Cancel(&request[i]);
            MPI_Wait(&request[i], MPI_STATUS_IGNORE);
            continue;
        }
        MPI_Status status;
        MPI_Wait(&request[i], &status);
        check_from(room + (size_t)i * ROOM, (size_t)count_of(&status),
                   (uint64_t)(i % 5), "posted");
    }
    free(request);
    free(room);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"cancelled", cancelled}, {"freed", freed},
        {"truncated", truncated}, {"persistent", persistent},
        {"matched", matched},     {"failed", failed},
        {"gone_on", gone_on},     {"cut", cut},
        {"tags", tags},           {"posted", posted},
    };
    alarm(100);
    test_start(&argc, &argv);
    bool more = argc > 1 && !strcmp(argv[1], "tags");
    CHECK(world_size == 2 || (more && world_size > 2), "two ranks, not %d",
          world_size);
    other = 1 - world_rank;
    out = malloc(8 * LARGE);
    in = malloc(8 * LARGE);
    const char *wanted = argc > 1 ? argv[1] : "all";
    bool known = false;
    for (size_t i = 0; i < LENGTH(cases); i++)
        if (!strcmp(wanted, cases[i].name) || !strcmp(wanted, "all")) {
            MPI_Barrier(MPI_COMM_WORLD);
            cases[i].run();
            known = true;
        }
    CHECK(known, "no case is called %s", wanted);
    free(out);
    free(in);
    test_end();
}
