/* What giving and taking promise, one case at a time:
 *
 *     give_cases all | CASE [ROUNDS of the case "many"]
 *
 * A case that needs the library looks for it: without it the host's own calls
 * serve, and the results are the same. */
#include <straightway_mpi.h>
#include <sys/wait.h>

#include "mpi/ended.h"
#include "mpi/growth.h"
#include "mpi/test.h"

#define WORLD MPI_COMM_WORLD

static void *block(size_t n, uint64_t key)
{
    void *p;
    CHECK(straightway_alloc(n, &p) == MPI_SUCCESS && p, "no block");
    fill_from(p, n, key);
    return p;
}

static void give(void *p, size_t n, int to, int tag, MPI_Comm comm)
{
    int rc = straightway_give(&p, n, to, tag, comm);
    CHECK(rc == MPI_SUCCESS && !p, "a give returns %d", rc);
}

/* Check and return it. */
static void *take(size_t n, uint64_t key, int from, int tag, MPI_Comm comm)
{
    void *p = NULL;
    size_t got;
    int rc = straightway_take(&p, &got, from, tag, comm, MPI_STATUS_IGNORE);
    CHECK(rc == MPI_SUCCESS && p, "a take returns %d", rc);
    CHECK(got == n && wrong_from(p, n, key) == n, "%zu bytes for %zu, or wrong",
          got, n);
    return p;
}

/* Around a ring, 4,000 times, changed by each: no rank's memory grows. */
static void ring(void)
{
    enum { BYTES = 100000, ROUNDS = 4000 };
    int next = (world_rank + 1) % world_size;
    int before = (world_rank + world_size - 1) % world_size;
    long at_first = 0;
    unsigned char *p = block(BYTES, 0);
    for (int i = 0; i < ROUNDS; i++) {
        size_t got;
        p[i] = (unsigned char)i;
        give(p, BYTES, next, 1, WORLD);
        straightway_take((void **)&p, &got, before, 1, WORLD,
                         MPI_STATUS_IGNORE);
        CHECK(got == BYTES && p[i] == (unsigned char)i, "round %d", i);
        if (i == 500)
            at_first = resident_kib();
    }
    CHECK(resident_kib() < at_first + 8 * 1024, "%ld KiB of %ld",
          resident_kib(), at_first);
    free(p);
}

/* One makes them all, another frees them. */
static void stream(void)
{
    enum { BYTES = 1 << 20, ROUNDS = 1500, CREDIT = 8 };
    long at_first = 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (world_rank == 0) {
            give(block(BYTES, 7), BYTES, 1, 2, WORLD);
            if (i % CREDIT == 0)
                MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, WORLD, MPI_STATUS_IGNORE);
        } else if (world_rank == 1) {
            free(take(BYTES, 7, 0, 2, WORLD));
            if (i % CREDIT == 0)
                MPI_Send(NULL, 0, MPI_BYTE, 0, 3, WORLD);
        }
        if (i == 200)
            at_first = resident_kib();
    }
    CHECK(resident_kib() < at_first + 64 * 1024, "%ld KiB of %ld",
          resident_kib(), at_first);
}

static void edges(void)
{
    enum { BYTES = 50000 };
    void *p;
    size_t got = 1;
    MPI_Status status;
    MPI_Comm dup;
    MPI_Comm_dup(WORLD, &dup);
    give(block(BYTES, 1), BYTES, MPI_PROC_NULL, 0, WORLD);
    CHECK(straightway_take(&p, &got, MPI_PROC_NULL, 0, WORLD, &status) ==
                  MPI_SUCCESS &&
              got == 0 && status.MPI_SOURCE == MPI_PROC_NULL,
          "from MPI_PROC_NULL");
    free(p);
    give(block(0, 1), 0, world_rank, 4, WORLD);
    free(take(0, 1, world_rank, 4, WORLD));
    give(block(BYTES, 2), BYTES, world_rank, 4, WORLD);
    free(take(BYTES, 2, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD));
    /* A part of the block; a block of malloc; to be received after the
     * communicator is freed by its sender. */
    if (world_rank == 0) {
        give(block(BYTES, 3), BYTES - 5000, 1, 5, dup);
        p = malloc(BYTES);
        fill_from(p, BYTES, 4);
        give(p, BYTES, 1, 5, dup);
        p = calloc(1, BYTES);
        give(p, 0, 1, 5, dup);
    } else if (world_rank == 1) {
        free(take(BYTES - 5000, 3, 0, 5, dup));
        free(take(BYTES, 4, MPI_ANY_SOURCE, 5, dup));
        free(take(0, 4, 0, MPI_ANY_TAG, dup));
    }
    MPI_Comm_free(&dup);
}

/* Two of different tags, taken in the other order; and among sends. */
static void order(void)
{
    enum { BYTES = 30000, MANY = 40 };
    char text[BYTES];
    if (world_rank == 0) {
        for (int i = 0; i < MANY; i++) {
            give(block(BYTES, 100 + (uint64_t)i), BYTES, 1, 7, WORLD);
            fill_from(text, 192, 200 + (uint64_t)i);
            MPI_Send(text, 192, MPI_BYTE, 1, 7, WORLD);
            fill_from(text, 10, 300 + (uint64_t)i);
            MPI_Send(text, 10, MPI_BYTE, 1, 8, WORLD);
        }
    } else if (world_rank == 1) {
        for (int i = 0; i < MANY; i++)
            free(take(10, 300 + (uint64_t)i, 0, 8, WORLD));
        for (int i = 0; i < MANY; i++) {
            free(take(BYTES, 100 + (uint64_t)i, 0, 7, WORLD));
            free(take(192, 200 + (uint64_t)i, 0, 7, WORLD));
        }
    }
}

/* From any rank, as often as all give. */
static void anyone(void)
{
    enum { BYTES = 20000, MANY = 50 };
    int seen[64] = {0};
    if (world_rank) {
        for (int i = 0; i < MANY; i++)
            give(block(BYTES, (uint64_t)(world_rank * 1000 + i)), BYTES, 0,
                 world_rank, WORLD);
        return;
    }
    for (int i = 0; i < MANY * (world_size - 1); i++) {
        void *p;
        size_t got;
        MPI_Status status;
        straightway_take(&p, &got, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
        int from = status.MPI_SOURCE;
        CHECK(status.MPI_TAG == from && got == BYTES &&
                  wrong_from(p, got, (uint64_t)(from * 1000 + seen[from])) ==
                      got,
              "from %d", from);
        seen[from]++;
        free(p);
    }
}

static void between_groups(void)
{
    enum { BYTES = 40000 };
    MPI_Comm half, inter;
    if (world_size < 2)
        return;
    MPI_Comm_split(WORLD, world_rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, WORLD, 1 - world_rank % 2, 9, &inter);
    if (world_rank < 2) {
        give(block(BYTES, (uint64_t)world_rank), BYTES, 0, 0, inter);
        free(take(BYTES, (uint64_t)(1 - world_rank), 0, 0, inter));
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* A child finds what its parent has taken, and no other process sees it
 * write. */
static void child(void)
{
    enum { BYTES = 60000 };
    if (world_rank == 0) {
        give(block(BYTES, 11), BYTES, 1, 0, WORLD);
    } else if (world_rank == 1) {
        char *p = take(BYTES, 11, 0, 0, WORLD);
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            bool right = wrong_from(p, BYTES, 11) == BYTES;
            memset(p, 1, BYTES);
            p = realloc(p, 3 * BYTES);
            right = right && p && p[BYTES - 1] == 1;
            free(p);
            _exit(right ? 0 : 1);
        }
        CHECK(waitpid(pid, &status, 0) == pid && status == 0, "child: %x",
              (unsigned)status);
        CHECK(wrong_from(p, BYTES, 11) == BYTES, "a child has written");
        give(p, BYTES, 0, 1, WORLD);
    }
    if (world_rank == 0)
        free(take(BYTES, 11, 1, 1, WORLD));
}

static int class_of(int rc)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    return class;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

/* A wrong give changes nothing. */
static void errors(void)
{
    enum { BYTES = 50000 };
    bool library = straightway_version() != 0;
    MPI_Comm comm;
    MPI_Comm_dup(WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    char *p = block(BYTES, 5), *inside = p + 4096;
    void *same = p;
    CHECK(class_of(straightway_give(&same, BYTES, world_size, 0, comm)) ==
                  MPI_ERR_RANK &&
              same == p,
          "no such rank");
    CHECK(class_of(straightway_give(&same, BYTES, 0, -5, comm)) ==
                  MPI_ERR_TAG &&
              same == p,
          "no such tag");
    CHECK(class_of(straightway_take(&same, &(size_t){0}, world_size, 0, comm,
                                    MPI_STATUS_IGNORE)) == MPI_ERR_RANK,
          "no such rank to take from");
    if (library) {
        same = inside;
        CHECK(class_of(straightway_give(&same, 100, 0, 0, comm)) ==
                      MPI_ERR_BUFFER &&
                  same == inside,
              "inside");
        same = p;
        CHECK(class_of(straightway_give(&same, BYTES + 1, 0, 0, comm)) ==
                      MPI_ERR_COUNT &&
                  same == p,
              "too many");
        if (world_rank < 2) {
            CHECK(straightway_give(&same, BYTES, 1 - world_rank, 0, comm) ==
                      MPI_SUCCESS,
                  "right");
            same = p;
            CHECK(class_of(straightway_give(&same, BYTES, 1 - world_rank, 0,
                                            comm)) == MPI_ERR_BUFFER,
                  "given twice");
            p = take(BYTES, 5, 1 - world_rank, 0, comm);
        }
    }
    CHECK(wrong_from(p, BYTES, 5) == BYTES, "changed");
    free(p);
    /* Into too little room: the error of a message that was sent. */
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handler, &own);
    for (int room = 100; world_rank < 2 && room < BYTES; room *= 20) {
        give(block(BYTES, 6), BYTES, 1 - world_rank, 1, comm);
        char *to = malloc(BYTES);
        CHECK(class_of(MPI_Recv(to, room, MPI_BYTE, 1 - world_rank, 1, comm,
                                MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE,
              "cut to %d", room);
        free(to);
        give(block(BYTES, 7), BYTES, 1 - world_rank, 1, comm);
        free(take(BYTES, 7, 1 - world_rank, 1, comm));
    }
    MPI_Errhandler_free(&own);
    MPI_Comm_free(&comm);
}

/* More bytes than an int counts, nearly all of them untouched. */
static void give_many(char *p, size_t n)
{
    CHECK(p, "no block");
    p[0] = 1;
    p[n / 2] = 3;
    p[n - 1] = 2;
    give(p, n, 1, 0, WORLD);
}

static void check_many(char *p, size_t n, size_t got, const MPI_Status *status)
{
    MPI_Count count = 0;
    MPI_Get_elements_x(status, MPI_BYTE, &count);
    CHECK(got == n && (size_t)count == n && p[0] == 1 && p[n / 2] == 3 &&
              p[n - 1] == 2,
          "%zu of %zu bytes", got, n);
    free(p);
}

static void large(void)
{
    size_t n = ((size_t)3 << 30) + 5, got = 0;
    void *p = NULL;
    MPI_Status status;
    if (world_rank == 0) {
        straightway_alloc(n, &p);
        give_many(p, n);
    } else if (world_rank == 1) {
        straightway_take(&p, &got, 0, 0, WORLD, &status);
        check_many(p, n, got, &status);
    }
}

/* The same by value, to either way to take. */
static void large_copied(void)
{
    size_t n = (size_t)INT_MAX + 6, got = n;
    void *p = NULL;
    MPI_Status status;
    MPI_Request request;
    for (int i = 0; i < 2; i++) {
        if (world_rank == 0) {
            give_many(calloc(1, n), n);
        } else if (world_rank == 1 && i == 0) {
            straightway_take(&p, &got, 0, 0, WORLD, &status);
            check_many(p, n, got, &status);
        } else if (world_rank == 1) {
            straightway_itake(&p, n, 0, 0, WORLD, &request);
            MPI_Wait(&request, &status);
            check_many(p, n, got, &status);
        }
        MPI_Barrier(WORLD);
    }
}

/* Many gives around the ring: a rank gives most blocks on, frees the others
 * and makes new ones. No rank's memory grows. */
static long many_rounds;
static void many(void)
{
    enum { BYTES = 20000, LAST = BYTES / 8 - 1 };
    int next = (world_rank + 1) % world_size;
    int before = (world_rank + world_size - 1) % world_size;
    long at_first = 0;
    uint64_t *p = NULL;
    for (long i = 0; i < many_rounds; i++) {
        size_t got;
        if (!p)
            CHECK(straightway_alloc(BYTES, (void **)&p) == MPI_SUCCESS,
                  "no block");
        p[0] = p[LAST] = (uint64_t)(world_rank * 7 + i);
        give(p, BYTES, next, 1, WORLD);
        straightway_take((void **)&p, &got, before, 1, WORLD,
                         MPI_STATUS_IGNORE);
        CHECK(got == BYTES && p[0] == (uint64_t)(before * 7 + i) &&
                  p[LAST] == p[0],
              "round %ld", i);
        if (mix((uint64_t)(i * 64 + world_rank)) % 8 == 0) {
            free(p);
            p = NULL;
        }
        if (i == many_rounds / 50)
            at_first = resident_kib();
    }
    CHECK(resident_kib() < at_first + 8 * 1024, "%ld KiB of %ld",
          resident_kib(), at_first);
    free(p);
}

/* The request of straightway_itake, by every way to complete it ------------ */

enum {
    WAIT,
    TEST,
    WAITALL,
    TESTALL,
    WAITANY,
    TESTANY,
    WAITSOME,
    TESTSOME,
    GET_STATUS,
    WAYS
};
enum { TAKES = 7, OTHERS = 2, REQUESTS = TAKES + OTHERS };

/* Complete them all; every request has its status. */
static void complete(int way, MPI_Request r[], MPI_Status s[])
{
    int left = REQUESTS, flag = 0, which[REQUESTS], n;
    MPI_Status some[REQUESTS];
    for (int i = 0; i < REQUESTS && way <= TEST; i++)
        for (flag = 0; !flag;)
            if (way == WAIT)
                flag = MPI_Wait(&r[i], &s[i]) == MPI_SUCCESS;
            else
                MPI_Test(&r[i], &flag, &s[i]);
    for (int i = 0; i < REQUESTS && way == GET_STATUS; i++) {
        for (flag = 0; !flag;)
            MPI_Request_get_status(r[i], &flag, &s[i]);
        MPI_Wait(&r[i], &s[i]);
    }
    if (way == WAITALL)
        MPI_Waitall(REQUESTS, r, s);
    while (way == TESTALL && !flag)
        MPI_Testall(REQUESTS, r, &flag, s);
    while (way >= WAITANY && way <= TESTSOME && left > 0) {
        n = flag = 1;
        if (way == WAITANY)
            MPI_Waitany(REQUESTS, r, which, some);
        else if (way == TESTANY)
            MPI_Testany(REQUESTS, r, which, &flag, some);
        else if (way == WAITSOME)
            MPI_Waitsome(REQUESTS, r, &n, which, some);
        else
            MPI_Testsome(REQUESTS, r, &n, which, some);
        for (int i = 0; flag && i < n; i++)
            s[which[i]] = some[i];
        left -= flag ? n : 0;
    }
    for (int i = 0; i < REQUESTS; i++)
        CHECK(r[i] == MPI_REQUEST_NULL, "way %d leaves request %d", way, i);
}

static size_t length_of(int i)
{
    static const size_t n[TAKES] = {60000, 192, 0, 10, 4096, 200000, 60000};
    return n[i];
}

static void go(bool ahead, int from)
{
    if (ahead && world_rank == from)
        MPI_Send(NULL, 0, MPI_BYTE, 1 - from, 99, WORLD);
    else if (ahead)
        MPI_Recv(NULL, 0, MPI_BYTE, from, 99, WORLD, MPI_STATUS_IGNORE);
}

static void send_takes(int way, bool early)
{
    static char own[2][200000], more[20000], back[20000];
    MPI_Request sends[3];
    int open = 0;
    go(early, 1);
    for (int i = TAKES - 1; i >= 0; i--) {
        size_t n = length_of(i);
        uint64_t key = (uint64_t)(way * 100 + i);
        void *p = i == 4 ? malloc(n) : block(n, key);
        fill_from(p, n, key);
        if (i == 1 || i == 5) {
            fill_from(own[open], n, key);
            MPI_Isend(own[open], (int)n, MPI_BYTE, 1, i, WORLD, &sends[open]);
            free(p);
            open++;
            continue;
        }
        MPI_Request request = MPI_REQUEST_NULL;
        CHECK(straightway_igive(&p, n, 1, i, WORLD, &request) == MPI_SUCCESS &&
                  !p && request != MPI_REQUEST_NULL,
              "igive");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    go(!early, 0);
    MPI_Isend(more, 20000, MPI_BYTE, 1, TAKES, WORLD, &sends[open]);
    MPI_Recv(back, 20000, MPI_BYTE, 1, TAKES, WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
}

static void receive_takes(int way, bool early)
{
    static char own[2][20000];
    void *p[TAKES];
    MPI_Request r[REQUESTS];
    MPI_Status s[REQUESTS];
    go(!early, 0);
    for (int i = 0; i < TAKES; i++)
        CHECK(straightway_itake(&p[i], length_of(i) + 300 * (size_t)(way % 2),
                                0, i, WORLD, &r[i]) == MPI_SUCCESS,
              "itake");
    go(early, 1);
    MPI_Irecv(own[0], 20000, MPI_BYTE, 0, TAKES, WORLD, &r[TAKES]);
    MPI_Isend(own[1], 20000, MPI_BYTE, 0, TAKES, WORLD, &r[TAKES + 1]);
    complete(way, r, s);
    for (int i = 0; i < TAKES; i++) {
        MPI_Count got;
        size_t n = length_of(i);
        MPI_Get_elements_x(&s[i], MPI_BYTE, &got);
        CHECK((size_t)got == n && s[i].MPI_SOURCE == 0 && s[i].MPI_TAG == i,
              "way %d, take %d: %lld bytes", way, i, (long long)got);
        CHECK(wrong_from(p[i], n, (uint64_t)(way * 100 + i)) == n,
              "way %d, take %d is wrong", way, i);
        memset(p[i], 1, n);
        free(p[i]);
    }
}

/* An itake without a sender is cancelled; one whose request is freed comes into
 * the block as it was; a longer message is cut; a posted itake is served before
 * a probe. */
static void ends_of_requests(void)
{
    enum { BYTES = 50000 };
    MPI_Comm comm;
    MPI_Request r, r2;
    MPI_Status s;
    MPI_Count got;
    int flag, other = 1 - world_rank;
    void *p, *first, *q;
    MPI_Comm_dup(WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (world_rank < 2) {
        straightway_itake(&p, BYTES, other, 11, comm, &r);
        MPI_Cancel(&r);
        MPI_Wait(&r, &s);
        MPI_Test_cancelled(&s, &flag);
        CHECK(flag, "not cancelled");
        free(p);

        straightway_itake(&p, BYTES, other, 12, comm, &r);
        first = p;
        MPI_Request_free(&r);
        give(block(BYTES, 12), BYTES, other, 12, comm);
        while (wrong_from(first, BYTES, 12) != BYTES)
            MPI_Iprobe(other, 98, comm, &flag, MPI_STATUS_IGNORE);
        CHECK(p == first, "freed, and replaced");
        MPI_Sendrecv(NULL, 0, MPI_BYTE, other, 1, NULL, 0, MPI_BYTE, other, 1,
                     comm, MPI_STATUS_IGNORE);
        free(p);

        /* Open MPI alone writes all of a long message, behind the buffer, too.
         * Intel MPI raises errors of MPI_Wait on MPI_COMM_WORLD. */
        bool cuts = straightway_version() != 0;
        MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
        for (size_t most = 100; cuts && most < BYTES; most *= 20) {
            straightway_itake(&p, most, other, 13, comm, &r);
            give(block(BYTES, 13), BYTES, other, 13, comm);
            CHECK(class_of(MPI_Wait(&r, &s)) == MPI_ERR_TRUNCATE, "cut to %zu",
                  most);
            free(p);
        }
        MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);

        straightway_itake(&p, BYTES, MPI_ANY_SOURCE, 14, comm, &r);
        straightway_itake(&q, BYTES, other, MPI_ANY_TAG, comm, &r2);
        give(block(BYTES, 1), BYTES, other, 14, comm);
        give(block(BYTES - 1, 2), BYTES - 1, other, 14, comm);
        give(block(BYTES - 2, 3), BYTES - 2, other, 14, comm);
        MPI_Probe(other, 14, comm, &s);
        MPI_Get_elements_x(&s, MPI_BYTE, &got);
        CHECK(got == BYTES - 2, "a probe finds %lld bytes", (long long)got);
        free(take(BYTES - 2, 3, other, 14, comm));
        MPI_Wait(&r2, &s);
        CHECK(wrong_from(q, BYTES - 1, 2) == BYTES - 1, "the second");
        MPI_Wait(&r, &s);
        CHECK(wrong_from(p, BYTES, 1) == BYTES, "the first");
        give(p, BYTES, other, 15, comm);
        free(take(BYTES, 1, other, 15, comm));
        free(q);
        CHECK(straightway_itake(&p, 10, MPI_PROC_NULL, 0, comm, &r) ==
                      MPI_SUCCESS &&
                  MPI_Wait(&r, &s) == MPI_SUCCESS,
              "from none");
        free(p);
    }
    p = &flag;
    CHECK(class_of(straightway_itake(&p, 5000, world_size, 0, comm, &r)) ==
                  MPI_ERR_RANK &&
              !p,
          "no such rank");
    /* Room for more bytes than an int counts. */
    if (world_rank == 0) {
        give(block(BYTES, 4), BYTES, 1, 16, comm);
        MPI_Send("word", 4, MPI_BYTE, 1, 16, comm);
    } else if (world_rank == 1) {
        for (int i = 0; i < 2; i++) {
            size_t n = i ? 4 : BYTES;
            CHECK(straightway_itake(&p, (size_t)3 << 30, 0, 16, comm, &r) ==
                      MPI_SUCCESS,
                  "room for much");
            MPI_Wait(&r, &s);
            MPI_Get_elements_x(&s, MPI_BYTE, &got);
            CHECK((size_t)got == n &&
                      (i ? !memcmp(p, "word", 4) : wrong_from(p, n, 4) == n),
                  "much: %lld", (long long)got);
            free(p);
        }
    }
    MPI_Comm_free(&comm);
}

static void requests(void)
{
    for (int i = 0; i < 2 * WAYS; i++)
        if (world_rank == 0)
            send_takes(i / 2, i % 2);
        else if (world_rank == 1)
            receive_takes(i / 2, i % 2);
    ends_of_requests();
}

/* To be used when MPI is over, and when the giver has ended. */
static void *left_over;
static pid_t giver;
static void at_the_end(void)
{
    enum { BYTES = 30000 };
    int other = world_rank ^ 1;
    pid_t pid = getpid();
    if (other >= world_size)
        return;
    give(block(BYTES, 12), BYTES, other, 0, WORLD);
    left_over = take(BYTES, 12, other, 0, WORLD);
    MPI_Sendrecv(&pid, sizeof pid, MPI_BYTE, other, 0, &giver, sizeof giver,
                 MPI_BYTE, other, 0, WORLD, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*run)(void);
    bool asked; /* only if it is asked for */
} cases[] = {
    {"edges", edges, false},
    {"order", order, false},
    {"anyone", anyone, false},
    {"groups", between_groups, false},
    {"child", child, false},
    {"ring", ring, false},
    {"stream", stream, false},
    {"requests", requests, false},
    {"errors", errors, true},
    {"large", large, true},
    {"large_copied", large_copied, true},
    {"many", many, true},
    {"end", at_the_end, false},
};

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "all";
    char *early = NULL;
    many_rounds = argument(argc, argv, 2, 1000000);
    CHECK(straightway_alloc(10000, (void **)&early) == MPI_SUCCESS, "early");
    fill_from(early, 10000, 1);
    test_start(&argc, &argv);
    give(early, 10000, world_rank, 0, WORLD);
    free(take(10000, 1, world_rank, 0, WORLD));
    for (size_t i = 0; i < LENGTH(cases); i++)
        if (!strcmp(which, cases[i].name) ||
            (!strcmp(which, "all") && !cases[i].asked)) {
            cases[i].run();
            MPI_Barrier(WORLD);
        }
    test_end();
    if (left_over) {
        if (world_rank % 2)
            await_end_of(giver);
        CHECK(wrong_from(left_over, 30000, 12) == 30000, "after MPI");
        memset(left_over, 1, 30000);
        free(left_over);
    }
    return 0;
}
