/*
 * p2p_limits.c - messages at the edges of what MPI allows.
 *
 *   p2p_limits CASE [REPORT [return | user]]
 *
 * Each case is a small program of its own that must end by itself, and soon:
 * an alarm ends a rank that hangs. Cases that are about errors write what
 * they were told to REPORT.rank, to be compared with the host alone.
 *
 *   outstanding   thousands of requests under way at once
 *   oneway        large sends to a receiver that is late
 *   truncate      messages larger than the room for them
 *   lookalike     data that are copies of what receive buffers have held
 *   headtohead    both send, then both receive, as hosts let small ones
 *   progress      waits that must help a large message to go on
 *   computing     a rank that makes no MPI call for a while
 *   finalize      messages that were sent just before the end
 *   self          large messages to itself
 *   shared        one buffer sent to many, and again while it is being sent
 *   uneven        elements of which no descriptor holds a whole number
 *   aftercut      a large message after one that was cut short
 *   all           every one but truncate and aftercut, in a row
 */
#include "mpi/test.h"
#include <time.h>

#define LARGE (3 << 20)
#define BOUND 60 /* seconds after which a hang is a hang */

static FILE *report;
static bool user_handler;
static int handled, other; /* other: the partner, or -1 */
static char *big[2];

static void check_from(const char *p, size_t n, uint64_t key, const char *what)
{
    size_t i = wrong_from(p, n, key);
    CHECK(i == n, "%s: wrong at %zu of %zu", what, i, n);
}

static void count_handled(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handled++;
}

/* Under way at once ------------------------------------------------------ */

static void outstanding(void)
{
    enum { N = 4000, SIZE = 20000 };
    if (other < 0)
        return;
    MPI_Request *request = malloc(2 * N * sizeof *request);
    char *in = malloc((size_t)N * SIZE), *out = malloc((size_t)SIZE + N);
    fill_from(out, SIZE + N, (uint64_t)world_rank);
    /* Three quarters of the receives before the sends, in another order. */
    int late = N / 4;
    for (int i = 0; i < N - late; i++) {
        int t = (int)((unsigned)i * 1009u % (N - late));
        MPI_Irecv(in + (size_t)t * SIZE, SIZE, MPI_BYTE, other, t,
                  MPI_COMM_WORLD, &request[t]);
    }
    for (int i = 0; i < N; i++)
        MPI_Isend(out + i, SIZE, MPI_BYTE, other, i, MPI_COMM_WORLD,
                  &request[N + i]);
    for (int t = N - late; t < N; t++)
        MPI_Irecv(in + (size_t)t * SIZE, SIZE, MPI_BYTE, other, t,
                  MPI_COMM_WORLD, &request[t]);
    MPI_Waitall(2 * N, request, MPI_STATUSES_IGNORE);
    fill_from(out, SIZE + N, (uint64_t)other);
    for (int t = 0; t < N; t++)
        CHECK(!memcmp(in + (size_t)t * SIZE, out + t, SIZE), "message %d", t);
    free(in);
    free(out);
    free(request);
}

static void oneway(void)
{
    enum { N = 60 };
    size_t n = 1 << 20;
    for (int i = 0; i < N && other >= 0; i++) {
        if (world_rank % 2 == 0) {
            fill_from(big[0], n, (uint64_t)i);
            MPI_Send(big[0], (int)n - i, MPI_BYTE, other, i % 3,
                     MPI_COMM_WORLD);
            memset(big[0], 0, n); /* it is ours again */
        } else {
            if (i % 20 == 0)
                usleep(100000);
            MPI_Recv(big[1], (int)n, MPI_BYTE, other, i % 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            check_from(big[1], n - (size_t)i, (uint64_t)i, "one way");
        }
    }
}

static void shared(void)
{
    enum { N = 40 };
    MPI_Request request[2 * N];
    int n = LARGE / N;
    fill_from(big[0], (size_t)n, 5);
    for (int i = 0; i < N && other >= 0; i++) {
        MPI_Irecv(big[1] + i * n, n, MPI_BYTE, other, i % 2, MPI_COMM_WORLD,
                  &request[i]);
        MPI_Isend(big[0], n, MPI_BYTE, other, i % 2, MPI_COMM_WORLD,
                  &request[N + i]);
    }
    if (other < 0)
        return;
    MPI_Waitall(2 * N, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        check_from(big[1] + i * n, (size_t)n, 5, "shared");
}

/* Elements of which no descriptor holds a whole number, as packed data and as
 * what a procedure must copy aside. Hosts refuse a message that ends within an
 * element. */
static void uneven_of(MPI_Datatype type, size_t size, MPI_Aint extent)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
    enum { FIRST = 1 }; /* it takes large packed data for truncated */
#else
    enum { FIRST = 0 };
#endif
    enum { N = 2000, WAYS = 3 };
    char *wanted = malloc(N * size), *packed = malloc(N * size);
    char *element = malloc(N * (size_t)extent);
    for (int way = FIRST; way < WAYS; way++) {
        int from = 0, at = 0;
        memset(element, 0, N * (size_t)extent);
        fill_from(packed, N * size, (uint64_t)(way + world_rank));
        fill_from(wanted, N * size, (uint64_t)(way + other));
        if (way == 0) {
            MPI_Sendrecv(packed, (int)(N * size), MPI_PACKED, other, 3, element,
                         N, type, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Unpack(packed, (int)(N * size), &from, element, N, type,
                       MPI_COMM_WORLD);
            if (way == 1) {
                MPI_Sendrecv_replace(element, N, type, other, 3, other, 3,
                                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Request request[2];
                memset(packed, 0, N * size);
                MPI_Isend(element, N, type, other, 3, MPI_COMM_WORLD,
                          &request[0]);
                MPI_Irecv(packed, (int)(N * size), MPI_PACKED, other, 3,
                          MPI_COMM_WORLD, &request[1]);
                MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
            }
        }
        if (way < 2)
            MPI_Pack(element, N, type, packed, (int)(N * size), &at,
                     MPI_COMM_WORLD);
        CHECK(!memcmp(packed, wanted, N * size), "way %d of %zu bytes", way,
              size);
    }
    free(wanted);
    free(packed);
    free(element);
}

static void uneven(void)
{
    MPI_Datatype three, spaced;
    if (other < 0)
        return;
    MPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){0, 8, 16},
                           (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_CHAR},
                           &three);
    MPI_Type_create_resized(three, 0, 24, &spaced);
    MPI_Type_commit(&spaced);
    uneven_of(spaced, 13, 24);
    MPI_Type_free(&spaced);
    MPI_Type_free(&three);
    uneven_of(MPI_LONG_DOUBLE_INT, sizeof(long double) + sizeof(int),
              2 * sizeof(long double));
}

/* Errors ----------------------------------------------------------------- */

static void told(const char *what, int code, const MPI_Status *s)
{
    int class = -1, status_class = -1;
    MPI_Error_class(code, &class);
    if (s && class == MPI_ERR_IN_STATUS)
        MPI_Error_class(s->MPI_ERROR, &status_class);
    fprintf(report, "%s: %s%s, handler called %d\n", what,
            class == MPI_SUCCESS         ? "success"
            : class == MPI_ERR_TRUNCATE  ? "truncated"
            : class == MPI_ERR_IN_STATUS ? "in status: "
                                         : "another error",
            status_class == MPI_ERR_TRUNCATE ? "truncated"
            : status_class == MPI_SUCCESS    ? "success"
            : status_class < 0               ? ""
                                             : "another",
            handled);
    handled = 0;
}

/* Complete the receive in request[0], in one of WAYS; returns the code. Of the
 * three requests, one has nothing to wait for, and one is null. */
enum { WAYS = 13 };
static int receive_by(int way, MPI_Request *request, MPI_Status *s)
{
    int code = MPI_SUCCESS, flag = 0, index[3], count;
    switch (way) {
    case 2:
    case 4: return MPI_Waitall(way == 2 ? 2 : 3, request, s);
    case 6:
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Test(request, &flag, s);
        return code;
    case 7:
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Testall(3, request, &flag, s);
        return code;
    case 8: return MPI_Waitany(1, request, index, s);
    case 9:
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Testany(1, request, index, &flag, s);
        return code;
    case 10: return MPI_Waitsome(1, request, &count, index, s);
    case 11:
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Request_get_status(request[0], &flag, s);
        return MPI_Wait(request, s);
    case 12: return MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    default: return MPI_Wait(request, s);
    }
}

#define AFTER 60000
static bool after;

/* A message of n bytes where there is room for `room`; then a good one. */
static void truncated(MPI_Comm comm, int n, int room)
{
    char name[64];
    MPI_Request request[3];
    MPI_Status s[3];
    for (int way = 0; way < WAYS && other >= 0; way++) {
        bool receives = world_rank % 2;
        snprintf(name, sizeof name, "%d into %d, way %d", n, room, way);
        memset(s, 0, sizeof s);
        fill_from(big[0], (size_t)n, 9);
        memset(big[1], 77, (size_t)n + 64);
        if (!receives && way == 3)
            MPI_Sendrecv(big[0], n, MPI_BYTE, other, 1, NULL, 0, MPI_BYTE,
                         other, 1, comm, MPI_STATUS_IGNORE);
        else if (!receives)
            MPI_Send(big[0], n, MPI_BYTE, other, 1, comm);
        else
            switch (way) {
            case 0:
                told(name,
                     MPI_Recv(big[1], room, MPI_BYTE, other, 1, comm, &s[0]),
                     &s[0]);
                break;
            case 3:
                told(name,
                     MPI_Sendrecv(NULL, 0, MPI_BYTE, other, 1, big[1], room,
                                  MPI_BYTE, other, 1, comm, &s[0]),
                     &s[0]);
                break;
            case 5:
                told(name,
                     MPI_Recv(big[1], room, MPI_BYTE, MPI_ANY_SOURCE,
                              MPI_ANY_TAG, comm, MPI_STATUS_IGNORE),
                     NULL);
                break;
            default:
                MPI_Irecv(big[1], room, MPI_BYTE, other, 1, comm, request);
                MPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 1, comm,
                          &request[1]);
                request[2] = MPI_REQUEST_NULL;
                /* Whether Open MPI tells of it, where it has no statuses to
                 * write, is a matter of time. */
                if (way < 12)
                    told(name, receive_by(way, request, s), s);
                else
                    receive_by(way, request, s);
                handled = 0;
                if (request[1] != MPI_REQUEST_NULL)
                    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
            }
        /* Open MPI 5.0 copies a large message over the end of the room: that
         * is reported, and no host's work but ours must keep to it. */
        for (int i = room; receives && i < n + 64; i++)
            if (big[1][i] != 77) {
                fprintf(report, "%s: written beyond\n", name);
                break;
            }
        MPI_Barrier(comm);
        /* The program goes on. */
        if (!receives) {
            MPI_Send(big[0], n, MPI_BYTE, other, 2, comm);
        } else {
            MPI_Recv(big[1], n, MPI_BYTE, other, 2, comm, &s[0]);
            check_from(big[1], (size_t)n, 9, name);
        }
        if (!after)
            continue;
        /* What comes after the one that was cut short is seen as it is. */
        fill_from(big[0], AFTER, 10);
        if (!receives) {
            MPI_Send(big[0], AFTER, MPI_BYTE, other, 1, comm);
        } else {
            int come;
            MPI_Probe(other, 1, comm, &s[0]);
            MPI_Get_count(&s[0], MPI_BYTE, &come);
            CHECK(come == AFTER, "%s: %d bytes seen after it", name, come);
            MPI_Recv(big[1], AFTER, MPI_BYTE, other, 1, comm, &s[0]);
            check_from(big[1], AFTER, 10, name);
        }
    }
    for (int i = 0; i < WAYS && other < 0; i++)
        MPI_Barrier(comm);
}

static void truncate_all(void)
{
    static const int size[][2] = {
        {100, 99},    {192, 191},       {192, 0},       {1000, 999},
        {1000, 192},  {1000, 100},      {40000, 39999}, {40000, 192},
        {40000, 191}, {300000, 299999}, {300000, 5000}, {300000, 0}};
    MPI_Comm comm;
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (user_handler)
        MPI_Comm_create_errhandler(count_handled, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (size_t i = 0; i < LENGTH(size); i++)
        truncated(comm, size[i][0], size[i][1]);
    if (user_handler)
        MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

/* Short ones as long as a descriptor, then a large one. */
static void after_cut(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    after = true;
    truncated(comm, 192, 191);
    truncated(comm, 192, 0);
    MPI_Comm_free(&comm);
}

/* MPI does not define what a receive buffer holds while a message is under way,
 * but a program can read it. If it sends those bytes on, they are data,
 * whatever they look like. */
static void lookalike(void)
{
    enum { SEEN = 192, N = 24 };
    char seen[2 * N][SEEN], back[SEEN];
    if (other < 0)
        return;
    for (int i = 0; i < N; i++) {
        MPI_Request request;
        int n = i % 3 ? 100000 : 192 + i;
        fill_from(big[0], (size_t)n, (uint64_t)i);
        memset(big[1], 0, (size_t)n);
        if ((world_rank + i) % 2) {
            MPI_Irecv(big[1], n, MPI_BYTE, other, 3, MPI_COMM_WORLD, &request);
            MPI_Ssend(NULL, 0, MPI_BYTE, other, 4, MPI_COMM_WORLD);
            usleep(2000);
            memcpy(seen[2 * i], big[1], SEEN);
            MPI_Recv(NULL, 0, MPI_BYTE, other, 5, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            memcpy(seen[2 * i + 1], big[1], SEEN);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            check_from(big[1], (size_t)n, (uint64_t)i, "seen");
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, other, 4, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Isend(big[0], n, MPI_BYTE, other, 3, MPI_COMM_WORLD, &request);
            MPI_Send(NULL, 0, MPI_BYTE, other, 5, MPI_COMM_WORLD);
            memset(seen[2 * i], i, 2 * SEEN);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    /* All of them go over, and come back the same; in messages of their own
     * size, and at the head of larger ones. */
    for (int i = 0; i < 2 * N; i++)
        for (int n = SEEN; n < 70000; n = n * 6 + 1) {
            memset(big[0], 1, (size_t)n);
            memcpy(big[0], seen[i], SEEN);
            int to = world_rank % 2 == 0;
            for (int turn = 0; turn < 2; turn++)
                if (to ^ turn) {
                    MPI_Send(turn ? big[1] : big[0], n, MPI_BYTE, other, 6,
                             MPI_COMM_WORLD);
                } else {
                    MPI_Status s;
                    int count;
                    MPI_Recv(big[1], n + 1000, MPI_BYTE, other, 6,
                             MPI_COMM_WORLD, &s);
                    MPI_Get_count(&s, MPI_BYTE, &count);
                    CHECK(count == n, "%d bytes came as %d", n, count);
                    memcpy(back, big[1], SEEN);
                    CHECK(!to || !memcmp(back, seen[i], SEEN),
                          "what was seen does not come back");
                }
        }
}

/* Unsafe, but it works on every host while the messages are small (4 KiB are
 * too many for Open MPI 5.0, with its header). */
static void headtohead(void)
{
    for (int i = 0; i < 30 && other >= 0; i++)
        for (int n = 32; n <= 2048; n *= 2) {
            fill_from(big[0], (size_t)n, (uint64_t)(world_rank + i));
            MPI_Send(big[0], n, MPI_BYTE, other, 1, MPI_COMM_WORLD);
            MPI_Recv(big[1], n, MPI_BYTE, other, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            check_from(big[1], (size_t)n, (uint64_t)(other + i), "head");
        }
}

/* Rank 0 posts a large receive and waits for something else, which its
 * partner comes to only when the large message has gone. */
static void progress(void)
{
    MPI_Comm made;
    MPI_Win win;
    MPI_Win_create(big[0], 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < 2 * 10; i++) {
        MPI_Request large = MPI_REQUEST_NULL, small;
        int n = i % 2 ? LARGE : 30000, v = i, w = 0;
        bool receives = (world_rank + i / 10) % 2 == 0;
        if (other >= 0 && receives) {
            MPI_Irecv(big[1], n, MPI_BYTE, other, 1, MPI_COMM_WORLD, &large);
        } else if (other >= 0) {
            usleep(3000);
            fill_from(big[0] + 64, (size_t)n, (uint64_t)i);
            if (i % 3)
                MPI_Ssend(big[0] + 64, n, MPI_BYTE, other, 1, MPI_COMM_WORLD);
            else
                MPI_Send(big[0] + 64, n, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        }
        switch (i / 2 % 5) {
        case 0:
            if (other >= 0 && receives)
                MPI_Recv(&w, 1, MPI_INT, other, 2, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            else if (other >= 0)
                MPI_Send(&v, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
            break;
        case 1:
            MPI_Ibarrier(MPI_COMM_WORLD, &small);
            MPI_Wait(&small, MPI_STATUS_IGNORE);
            break;
        case 2:
            MPI_Comm_dup(MPI_COMM_WORLD, &made);
            MPI_Comm_free(&made);
            break;
        case 3: MPI_Win_fence(0, win); break;
        case 4: MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
        MPI_Wait(&large, MPI_STATUS_IGNORE);
        if (other >= 0 && receives)
            check_from(big[1], (size_t)n, (uint64_t)i, "progress");
    }
    MPI_Win_free(&win);
}

static void computing(void)
{
    if (other < 0)
        return;
    for (int i = 0; i < 6; i++) {
        MPI_Request request;
        int n = i % 2 ? LARGE : 50000, flag = 0;
        if ((world_rank + i) % 2) {
            MPI_Irecv(big[1], n, MPI_BYTE, other, 1, MPI_COMM_WORLD, &request);
            usleep(100000); /* no MPI call in all this */
            if (i > 3)
                while (!flag)
                    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            check_from(big[1], (size_t)n, (uint64_t)i, "computing");
        } else {
            fill_from(big[0], (size_t)n, (uint64_t)i);
            MPI_Isend(big[0], n, MPI_BYTE, other, 1, MPI_COMM_WORLD, &request);
            if (i > 1)
                usleep(100000);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            memset(big[0], 0, (size_t)n);
        }
    }
}

/* Sends that have ended for the sender; the receiver takes them late, and
 * then all finalize at once. */
static void finalize(void)
{
    if (other < 0)
        return;
    int sizes[] = {192, 4096, 60000, LARGE};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        if (world_rank % 2 == 0) {
            fill_from(big[0], (size_t)sizes[i], i);
            MPI_Request request;
            MPI_Isend(big[0], sizes[i], MPI_BYTE, other, 1, MPI_COMM_WORLD,
                      &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            memset(big[0], 0, (size_t)sizes[i]);
        } else {
            usleep(50000);
            MPI_Recv(big[1], sizes[i], MPI_BYTE, other, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            check_from(big[1], (size_t)sizes[i], i, "finalize");
        }
    }
}

static void self(void)
{
    for (int i = 0; i < 8; i++) {
        MPI_Comm comm = i % 2 ? MPI_COMM_SELF : MPI_COMM_WORLD;
        int me = i % 2 ? 0 : world_rank, n = LARGE >> (2 * (i / 2));
        MPI_Request request[2];
        fill_from(big[0], (size_t)n, (uint64_t)i);
        if (i % 3 == 0) {
            MPI_Sendrecv(big[0], n, MPI_BYTE, me, 1, big[1], n, MPI_BYTE, me, 1,
                         comm, MPI_STATUS_IGNORE);
        } else if (i % 3 == 1) {
            MPI_Irecv(big[1], n, MPI_BYTE, me, 1, comm, &request[0]);
            MPI_Ssend(big[0], n, MPI_BYTE, me, 1, comm);
            MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        } else {
            MPI_Isend(big[0], n, MPI_BYTE, me, 1, comm, &request[0]);
            MPI_Recv(big[1], n, MPI_BYTE, me, 1, comm, MPI_STATUS_IGNORE);
            MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        }
        check_from(big[1], (size_t)n, (uint64_t)i, "self");
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"outstanding", outstanding}, {"oneway", oneway},
        {"truncate", truncate_all},   {"lookalike", lookalike},
        {"headtohead", headtohead},   {"progress", progress},
        {"computing", computing},     {"self", self},
        {"shared", shared},           {"uneven", uneven},
        {"aftercut", after_cut},      {"finalize", finalize},
    };
    alarm(BOUND);
    test_start(&argc, &argv);
    other = (world_rank ^ 1) < world_size ? world_rank ^ 1 : -1;
    user_handler = argc > 3 && !strcmp(argv[3], "user");
    if (argc > 2) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", argv[2], world_rank);
        CHECK((report = fopen(name, "w")), "cannot write %s", name);
    }
    big[0] = malloc(LARGE + 4096);
    big[1] = malloc(LARGE + 4096);
    const char *wanted = argc > 1 ? argv[1] : "";
    bool all = !strcmp(wanted, "all"), known = false, last = false;
    for (size_t i = 0; i < LENGTH(cases); i++)
        if (!strcmp(wanted, cases[i].name) ||
            (all && cases[i].run != truncate_all &&
             cases[i].run != after_cut)) {
            cases[i].run();
            known = true;
            last = cases[i].run == finalize;
        }
    CHECK(known, "no case is called %s", wanted);
    if (report)
        fclose(report);
    if (last) {
        MPI_Finalize(); /* with no barrier before */
        if (world_rank == 0)
            printf("all is well\n");
        return 0;
    }
    free(big[0]);
    free(big[1]);
    test_end();
}
