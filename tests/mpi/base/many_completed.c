/*
 * many_completed.c - MPI_Waitany, MPI_Waitsome and their kin complete each of
 * thousands of requests once, of one kind or of all kinds among each other.
 *
 *   many_completed KIND CALL REQUESTS
 *
 *   KIND   receives, sends, persistent, collectives, all, or others (the MPI's)
 *   CALL   waitany, testany, waitsome, testsome, waitall, testall
 */
#include "mpi/test.h"

enum { RECEIVES, SENDS, PERSISTENT, COLLECTIVES, OTHERS, ALL };
static const char *const kinds[] = {"receives",    "sends",  "persistent",
                                    "collectives", "others", "all"};
enum { WAITANY, TESTANY, WAITSOME, TESTSOME, WAITALL, TESTALL };
static const char *const calls[] = {"waitany",  "testany", "waitsome",
                                    "testsome", "waitall", "testall"};

static int n, kind, call, peer;
static MPI_Request *q;
static MPI_Status *status;
static int *in, *out, *seen, *indices;

static int of(const char *name, const char *const *names)
{
    int i = 0;
    while (strcmp(name, names[i]))
        i++;
    return i;
}

static int kind_of(int i)
{
    return kind == ALL ? i % ALL : kind;
}

static int query(void *extra, MPI_Status *to)
{
    MPI_Status_set_elements(to, MPI_INT, 0);
    MPI_Status_set_cancelled(to, 0);
    to->MPI_SOURCE = to->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int nothing(void *extra)
{
    return MPI_SUCCESS;
}
static int cancel(void *extra, int complete)
{
    return MPI_SUCCESS;
}

static void start(int i)
{
    in[i] = i;
    out[i] = -1;
    switch (kind_of(i)) {
    case RECEIVES:
        MPI_Irecv(&out[i], 1, MPI_INT, peer, i % 100, MPI_COMM_WORLD, &q[i]);
        break;
    case SENDS:
        MPI_Isend(&in[i], 1, MPI_INT, peer, 100, MPI_COMM_WORLD, &q[i]);
        break;
    case PERSISTENT:
        if (q[i] == MPI_REQUEST_NULL)
            MPI_Recv_init(&out[i], 1, MPI_INT, peer, i % 100 + 200,
                          MPI_COMM_WORLD, &q[i]);
        MPI_Start(&q[i]);
        break;
    case COLLECTIVES:
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                       &q[i]);
        break;
    default:
        MPI_Grequest_start(query, nothing, cancel, NULL, &q[i]);
        MPI_Grequest_complete(q[i]);
    }
}

/* What the peer's requests want. */
static void serve(void)
{
    for (int i = 0; i < n; i++)
        if (kind_of(i) == RECEIVES || kind_of(i) == PERSISTENT)
            MPI_Send(&in[i], 1, MPI_INT, peer,
                     i % 100 + (kind_of(i) == PERSISTENT ? 200 : 0),
                     MPI_COMM_WORLD);
}

static void take(void)
{
    for (int i = 0; i < n; i++) {
        int got;
        if (kind_of(i) != SENDS)
            continue;
        MPI_Recv(&got, 1, MPI_INT, peer, 100, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        CHECK(got == i, "a send of %d brings %d", i, got);
    }
}

static void completed(int i, const MPI_Status *s)
{
    CHECK(i >= 0 && i < n && !seen[i], "request %d completes twice", i);
    seen[i] = 1;
    if (kind_of(i) == RECEIVES || kind_of(i) == PERSISTENT) {
        int count, tag = i % 100 + (kind_of(i) == PERSISTENT ? 200 : 0);
        MPI_Get_count(s, MPI_INT, &count);
        CHECK(s->MPI_SOURCE == peer && s->MPI_TAG == tag && count == 1,
              "request %d: %d elements from %d with tag %d", i, count,
              s->MPI_SOURCE, s->MPI_TAG);
        CHECK(out[i] == i, "request %d brings %d", i, out[i]);
    }
    CHECK(kind_of(i) != COLLECTIVES || out[i] == i * world_size,
          "collective %d gives %d", i, out[i]);
    CHECK(kind_of(i) == PERSISTENT || q[i] == MPI_REQUEST_NULL,
          "request %d stays", i);
}

static void complete(void)
{
    int flag = 0, one, some;
    switch (call) {
    case WAITANY:
        MPI_Waitany(n, q, &one, status);
        completed(one, status);
        break;
    case TESTANY:
        MPI_Testany(n, q, &one, &flag, status);
        if (flag)
            completed(one, status);
        break;
    case WAITSOME:
    case TESTSOME:
        (call == WAITSOME ? MPI_Waitsome : MPI_Testsome)(n, q, &some, indices,
                                                         status);
        CHECK(call == TESTSOME || some > 0, "%d are completed", some);
        for (int k = 0; k < some; k++)
            completed(indices[k], &status[k]);
        break;
    case WAITALL:
        MPI_Waitall(n, q, status);
        flag = 1;
        break;
    default: MPI_Testall(n, q, &flag, status);
    }
    for (int i = 0; i < n && flag && call >= WAITALL; i++)
        completed(i, &status[i]);
}

int main(int argc, char **argv)
{
    int left, one = 0, flag = 0;
    test_start(&argc, &argv);
    kind = of(argv[1], kinds);
    call = of(argv[2], calls);
    n = atoi(argv[3]);
    peer = world_rank ^ 1;
    CHECK(world_size == 2, "2 ranks");
    q = malloc((size_t)n * sizeof *q);
    status = malloc((size_t)n * sizeof *status);
    in = malloc((size_t)n * sizeof *in);
    out = malloc((size_t)n * sizeof *out);
    seen = malloc((size_t)n * sizeof *seen);
    indices = malloc((size_t)n * sizeof *indices);
    for (int i = 0; i < n; i++)
        q[i] = MPI_REQUEST_NULL;
    for (int round = 0; round < 3; round++) {
        memset(seen, 0, (size_t)n * sizeof *seen);
        for (int i = 0; i < n; i++)
            start(i);
        serve();
        take();
        do {
            complete();
            left = n;
            for (int i = 0; i < n; i++)
                left -= seen[i];
        } while (left);
        MPI_Waitany(n, q, &one, status);
        CHECK(one == MPI_UNDEFINED, "%d is active", one);
        MPI_Testany(n, q, &one, &flag, status);
        CHECK(one == MPI_UNDEFINED && flag, "%d is active", one);
        MPI_Waitsome(n, q, &one, indices, status);
        CHECK(one == MPI_UNDEFINED, "%d are active", one);
    }
    for (int i = 0; i < n; i++)
        if (q[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&q[i]);
    test_end();
    return 0;
}
