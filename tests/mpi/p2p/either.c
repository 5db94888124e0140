/*
 * either.c - receives from any source where some ranks share a node with the
 * receiver and others do not.
 *
 *   either order SEED ROUNDS    random receives, messages and modes, in MPI's
 *                               order
 *   either away                 synchronous messages to a rank whose program
 *                               stays in a call of the MPI's
 *   either decided SEED ROUNDS  the same with several messages a rank: none of
 *                               the next round overtakes a synchronous one
 *   either away-ends            synchronous ones whose communicator is freed,
 *                               and receives: persistent, cut or cancelled
 *   either many N               so many synchronous ones of a rank, and so many
 *                               of which the last is, to a rank that is away
 *   either ends                 cancelled, freed, persistent, truncated
 *
 * At least three ranks. Rank 0 receives.
 */
#include "mpi/test.h"

enum { TAGS = 3, MOST = 60, LARGEST = 200000, ROOM = LARGEST };

/* Order -------------------------------------------------------------------- */

typedef struct {
    int source, tag, bytes, mode;
} sent_t;

typedef struct {
    int source, tag; /* as asked, or any */
    int from, got;   /* whose message, and which of its */
} posted_t;

static int size_of(rng_t *r)
{
    static const int sizes[] = {16, 40, 41, 500, 4096, 4097, 20000, LARGEST};
    return sizes[rng_below(r, LENGTH(sizes))];
}

/* What a rank sends in a round: all ranks know it. */
static int plan(uint64_t seed, int round, int rank, sent_t *to)
{
    rng_t r = rng_from(key2(seed, (uint64_t)(round * 64 + rank)));
    int n = 1 + (int)rng_below(&r, 12);
    for (int i = 0; i < n; i++)
        to[i] = (sent_t){rank, (int)rng_below(&r, TAGS), size_of(&r),
                         (int)rng_below(&r, 4)};
    return n;
}

static void send_all(uint64_t seed, int round)
{
    static char data[MOST][LARGEST];
    sent_t s[MOST];
    MPI_Request q[MOST];
    int n = plan(seed, round, world_rank, s), open = 0;
    for (int i = 0; i < n; i++) {
        int head[2] = {world_rank, i};
        memset(data[i], world_rank + i, (size_t)s[i].bytes);
        memcpy(data[i], head, sizeof head);
        if (s[i].mode == 0)
            MPI_Send(data[i], s[i].bytes, MPI_CHAR, 0, s[i].tag,
                     MPI_COMM_WORLD);
        else if (s[i].mode == 1)
            MPI_Ssend(data[i], s[i].bytes, MPI_CHAR, 0, s[i].tag,
                      MPI_COMM_WORLD);
        else
            (s[i].mode == 2 ? MPI_Isend
                            : MPI_Issend)(data[i], s[i].bytes, MPI_CHAR, 0,
                                          s[i].tag, MPI_COMM_WORLD, &q[open++]);
    }
    MPI_Waitall(open, q, MPI_STATUSES_IGNORE);
}

static void note(posted_t *p, const char *data, const MPI_Status *status,
                 sent_t s[][MOST])
{
    int head[2], bytes;
    memcpy(head, data, sizeof head);
    MPI_Get_count(status, MPI_CHAR, &bytes);
    p->from = head[0];
    p->got = head[1];
    const sent_t *m = &s[p->from][p->got];
    CHECK(status->MPI_SOURCE == p->from && status->MPI_TAG == m->tag,
          "from %d with %d, told %d and %d", p->from, m->tag,
          status->MPI_SOURCE, status->MPI_TAG);
    CHECK(bytes == m->bytes, "%d bytes, not %d", bytes, m->bytes);
    CHECK(data[bytes - 1] == (char)(p->from + p->got), "bytes of %d of %d",
          p->got, p->from);
    CHECK((p->source == MPI_ANY_SOURCE || p->source == p->from) &&
              (p->tag == MPI_ANY_TAG || p->tag == m->tag),
          "no match");
}

static bool matches(const posted_t *p, const sent_t *m)
{
    return (p->source == MPI_ANY_SOURCE || p->source == m->source) &&
           (p->tag == MPI_ANY_TAG || p->tag == m->tag);
}

/* Of one sender's messages, an earlier receive has not got a later one if both
 * receives match the earlier. */
static void check_order(const posted_t *p, int n, sent_t s[][MOST])
{
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            CHECK(p[a].from != p[b].from || p[a].got < p[b].got ||
                      !matches(&p[a], &s[p[b].from][p[b].got]),
                  "receive %d got %d of %d, receive %d got %d", a, p[a].got,
                  p[a].from, b, p[b].got);
}

/* Receives for all messages of the round, some from any source. There must be
 * one for each message, in any order of arrival. So those with a source of
 * their own are posted before the others. */
static int ask(uint64_t seed, int round, bool all_open, sent_t s[][MOST],
               posted_t *p)
{
    rng_t r = rng_from(key2(seed + 1, (uint64_t)round));
    int n = 0, way = all_open ? 0 : (int)rng_below(&r, 3);
    for (int rank = 1; rank < world_size; rank++)
        for (int i = 0, k = plan(seed, round, rank, s[rank]); i < k; i++)
            p[n++] = (posted_t){.source = way == 1 ||
                                                  (way == 2 && rng_below(&r, 2))
                                              ? rank
                                              : MPI_ANY_SOURCE,
                                .tag = way == 0 ? MPI_ANY_TAG : s[rank][i].tag};
    if (way == 2) {
        posted_t sorted[8 * MOST];
        int at = 0;
        for (int open = 0; open < 2; open++)
            for (int i = 0; i < n; i++)
                if ((p[i].source == MPI_ANY_SOURCE) == open)
                    sorted[at++] = p[i];
        memcpy(p, sorted, (size_t)n * sizeof *p);
    }
    return n;
}

static char in[8 * MOST][ROOM];

/* One after another, or all posted and then completed in some way. */
static void receive_all(uint64_t seed, int round)
{
    static sent_t s[64][MOST];
    static posted_t p[8 * MOST];
    static MPI_Request q[8 * MOST];
    MPI_Status status, many[8 * MOST];
    int index[8 * MOST], count, flag;
    rng_t r = rng_from(key2(seed + 2, (uint64_t)round));
    int how = (int)rng_below(&r, 7), n = ask(seed, round, how > 4, s, p);
    if (how == 5 || how == 6) {
        for (int i = 0; i < n; i++) {
            if (how == 6)
                MPI_Probe(p[i].source, p[i].tag, MPI_COMM_WORLD, &status);
            if (how == 6)
                MPI_Recv(in[i], ROOM, MPI_CHAR, status.MPI_SOURCE,
                         status.MPI_TAG, MPI_COMM_WORLD, &status);
            else
                MPI_Recv(in[i], ROOM, MPI_CHAR, p[i].source, p[i].tag,
                         MPI_COMM_WORLD, &status);
            note(&p[i], in[i], &status, s);
        }
        if (how == 5)
            check_order(p, n, s);
        return;
    }
    for (int i = 0; i < n; i++)
        MPI_Irecv(in[i], ROOM, MPI_CHAR, p[i].source, p[i].tag, MPI_COMM_WORLD,
                  &q[i]);
    if (how == 0) {
        MPI_Waitall(n, q, many);
        for (int i = 0; i < n; i++)
            note(&p[i], in[i], &many[i], s);
    }
    for (int left = how == 0 ? 0 : n; left > 0;) {
        if (how == 1) {
            MPI_Waitany(n, q, &index[0], &status);
            note(&p[index[0]], in[index[0]], &status, s);
            left--;
        } else if (how == 2) {
            MPI_Waitsome(n, q, &count, index, many);
            for (int i = 0; i < count; i++)
                note(&p[index[i]], in[index[i]], &many[i], s);
            left -= count;
        } else if (how == 3) {
            for (int i = 0; i < n; i++) {
                if (q[i] == MPI_REQUEST_NULL)
                    continue;
                MPI_Test(&q[i], &flag, &status);
                if (flag)
                    note(&p[i], in[i], &status, s);
                left -= flag;
            }
        } else {
            MPI_Wait(&q[n - left], &status);
            note(&p[n - left], in[n - left], &status, s);
            left--;
        }
    }
    check_order(p, n, s);
}

static void order(uint64_t seed, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        if (world_rank == 0)
            receive_all(seed, round);
        else
            send_all(seed, round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Away --------------------------------------------------------------------- */

/* Rank 0 is in a call that makes a communicator until all have sent. */
static void away(void)
{
    char data[5000], to[8][5000];
    MPI_Request q[8];
    MPI_Comm dup;
    for (int round = 0; round < 20; round++) {
        int n = round % 2 ? 10 : (int)sizeof data;
        memset(data, world_rank, sizeof data);
        if (world_rank == 0)
            for (int i = 1; i < world_size; i++)
                MPI_Irecv(to[i], sizeof data, MPI_CHAR, MPI_ANY_SOURCE, 7,
                          MPI_COMM_WORLD, &q[i]);
        else
            MPI_Ssend(data, n, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        if (world_rank == 0) {
            MPI_Status s[8];
            MPI_Waitall(world_size - 1, q + 1, s);
            for (int i = 1; i < world_size; i++)
                CHECK(to[i][0] == s[i - 1].MPI_SOURCE &&
                          to[i][n - 1] == to[i][0],
                      "round %d: from %d came %d", round, s[i - 1].MPI_SOURCE,
                      to[i][0]);
        }
        MPI_Comm_free(&dup);
    }
}

/* Decided ------------------------------------------------------------------ */

/* Each sends some messages, the last of which is synchronous: when that is over
 * all have met their receives. Rank 0 is in a call of the MPI's until then. The
 * first that has left that call sends its next messages. */
static void decided(uint64_t seed, int rounds)
{
    enum { FEW = 4 };
    static const int sizes[] = {16, 40, 2000, 5000, 70000};
    static char data[FEW][70000];
    MPI_Request q[8 * FEW];
    MPI_Status s[8 * FEW];
    MPI_Comm dup;
    for (int round = 0; round < rounds; round++) {
        int count[8], of_its_own[8], n = 0;
        rng_t r = rng_from(key2(seed, (uint64_t)round));
        for (int rank = 1; rank < world_size; rank++) {
            count[rank] = 1 + (int)rng_below(&r, FEW);
            of_its_own[rank] = (int)rng_below(&r, (uint64_t)count[rank]);
        }
        if (world_rank == 0) {
            for (int rank = 1; rank < world_size; rank++)
                for (int i = 0; i < of_its_own[rank]; i++, n++)
                    MPI_Irecv(in[n], ROOM, MPI_CHAR, rank, MPI_ANY_TAG,
                              MPI_COMM_WORLD, &q[n]);
            for (int rank = 1; rank < world_size; rank++)
                for (int i = of_its_own[rank]; i < count[rank]; i++, n++)
                    MPI_Irecv(in[n], ROOM, MPI_CHAR, MPI_ANY_SOURCE,
                              MPI_ANY_TAG, MPI_COMM_WORLD, &q[n]);
        } else {
            rng_t own = rng_from(
                key2(seed + 1, (uint64_t)(round * 64 + world_rank)));
            for (int i = 0; i < count[world_rank]; i++) {
                int head[3] = {world_rank, i, round},
                    last = i + 1 == count[world_rank];
                int bytes = sizes[rng_below(&own, LENGTH(sizes))];
                int how = last ? 1 : (int)rng_below(&own, 3);
                memcpy(data[i], head, sizeof head);
                (how == 1 ? MPI_Issend : MPI_Isend)(
                    data[i], bytes, MPI_CHAR, 0, 7 + i, MPI_COMM_WORLD, &q[i]);
                if (how != 2)
                    MPI_Wait(&q[i], MPI_STATUS_IGNORE);
            }
            MPI_Waitall(count[world_rank], q, MPI_STATUSES_IGNORE);
        }
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        if (world_rank == 0) {
            int next[8] = {0}, head[3];
            MPI_Waitall(n, q, s);
            for (int i = 0; i < n; i++) {
                memcpy(head, in[i], sizeof head);
                CHECK(head[2] == round && head[0] == s[i].MPI_SOURCE &&
                          head[1] == next[head[0]] &&
                          s[i].MPI_TAG == 7 + head[1],
                      "round %d, receive %d of %d: %d's %d of round %d, and "
                      "told %d, %d",
                      round, i, n, head[0], head[1], head[2], s[i].MPI_SOURCE,
                      s[i].MPI_TAG);
                next[head[0]]++;
            }
        }
        MPI_Comm_free(&dup);
    }
}

/* Away, and ends ----------------------------------------------------------- */

enum { MANY = 5000 };

/* This rank stays in a call of the MPI's until the others come. */
static void stay(void)
{
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_free(&dup);
}

static void post_for_all(int bytes, int tag, MPI_Comm comm, MPI_Request *q)
{
    for (int i = 1; i < world_size; i++)
        MPI_Irecv(in[i], bytes, MPI_CHAR, MPI_ANY_SOURCE, tag, comm, &q[i]);
}

static void check_one(const char *what, const char *data, const MPI_Status *s,
                      int round)
{
    CHECK(data[0] == s->MPI_SOURCE && data[1] == round % 100 &&
              data[MANY - 1] == data[0],
          "%s, round %d: from %d came %d of %d", what, round, s->MPI_SOURCE,
          data[0], data[1]);
}

/* A receive is too short. MPICH 5.0 by itself forgets that of a message that
 * was there before a receive from any source: the whole length, no error. Ranks
 * of another node alone send through the host. */
static bool lost_by_host(const MPI_Status *s)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *node = getenv("STRAIGHTWAY_NODE_SIZE");
    int n, count;
    MPI_Get_library_version(version, &n);
    MPI_Get_count(s, MPI_CHAR, &count);
    n = sscanf(version, "MPICH Version: %d", &n) == 1 ? n : 0;
    return n == 5 && count == MANY && node && s->MPI_SOURCE >= atoi(node);
}

static void away_ends(void)
{
    static char data[MANY];
    MPI_Request q[8], started[8];
    MPI_Status s[8];
    for (int i = 1; i < world_size && !world_rank; i++)
        MPI_Recv_init(in[i], MANY, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG,
                      MPI_COMM_WORLD, &started[i]);
    memset(data, world_rank, MANY);
    for (int round = 0; round < 60; round++) {
        MPI_Comm gone;
        int flag, class;
        data[1] = (char)(round % 100);
        /* The communicator is freed while the messages are pending. */
        MPI_Comm_dup(MPI_COMM_WORLD, &gone);
        if (world_rank)
            MPI_Issend(data, MANY, MPI_CHAR, 0, 3, gone, &q[1]);
        else
            post_for_all(MANY, 3, gone, q);
        MPI_Comm_free(&gone);
        stay();
        MPI_Waitall(world_rank ? 1 : world_size - 1, q + 1, s + 1);
        for (int i = 1; i < world_size && !world_rank; i++)
            check_one("freed", in[i], &s[i], round);
        /* Persistent receives. */
        if (world_rank)
            MPI_Ssend(data, MANY, MPI_CHAR, 0, world_rank, MPI_COMM_WORLD);
        else
            MPI_Startall(world_size - 1, started + 1);
        stay();
        if (!world_rank) {
            MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, &flag,
                       MPI_STATUS_IGNORE);
            MPI_Waitall(world_size - 1, started + 1, s + 1);
        }
        for (int i = 1; i < world_size && !world_rank; i++)
            check_one("started", in[i], &s[i], round);
        /* Receives that are too short. */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (world_rank)
            MPI_Ssend(data, MANY, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
        else
            post_for_all(10, 5, MPI_COMM_WORLD, q);
        stay();
        for (int i = 1; i < world_size && !world_rank; i++) {
            MPI_Error_class(MPI_Wait(&q[i], s), &class);
            CHECK(class == MPI_ERR_TRUNCATE || lost_by_host(&s[0]),
                  "cut: class %d", class);
        }
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        /* Receives that are cancelled, or not any more. */
        if (world_rank)
            MPI_Issend(data, MANY, MPI_CHAR, 0, 6, MPI_COMM_WORLD, &q[1]);
        else
            post_for_all(MANY, 6, MPI_COMM_WORLD, q);
        stay();
        for (int i = 1; i < world_size && !world_rank; i++) {
            MPI_Cancel(&q[i]);
            MPI_Wait(&q[i], s);
            MPI_Test_cancelled(s, &flag);
            if (flag)
                MPI_Recv(in[i], MANY, MPI_CHAR, MPI_ANY_SOURCE, 6,
                         MPI_COMM_WORLD, s);
            check_one("cancelled", in[i], s, round);
        }
        if (world_rank)
            MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    }
    for (int i = 1; i < world_size && !world_rank; i++)
        MPI_Request_free(&started[i]);
}

/* Many --------------------------------------------------------------------- */

static void many(int n)
{
    MPI_Request *q = calloc((size_t)n, sizeof *q);
    int (*data)[2] = calloc((size_t)n, sizeof *data);
    for (int all = 0; all < 2; all++) {
        for (int i = 0; i < n && !world_rank; i++)
            MPI_Irecv(data[i], 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                      MPI_COMM_WORLD, &q[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < n && world_rank == 1; i++) {
            data[i][0] = i;
            data[i][1] = all;
            (all || i + 1 == n ? MPI_Issend : MPI_Isend)(
                data[i], 2, MPI_INT, 0, i / 100, MPI_COMM_WORLD, &q[i]);
        }
        if (world_rank == 1)
            MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
        stay();
        if (world_rank == 0)
            MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n && !world_rank; i++)
            CHECK(data[i][0] == i && data[i][1] == all, "receive %d: %d of %d",
                  i, data[i][0], data[i][1]);
    }
    free(data);
    free(q);
}

/* Ends --------------------------------------------------------------------- */

static void ends(void)
{
    char data[100] = "", to[100];
    int flag, count;
    MPI_Request q;
    MPI_Status s;
    for (int round = 0; round < 12; round++) {
        int from = 1 + round % (world_size - 1);
        data[0] = (char)round;
        /* None comes: it ends cancelled. The next one gets the message. */
        if (world_rank == 0) {
            MPI_Irecv(to, 100, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &q);
            MPI_Cancel(&q);
            MPI_Wait(&q, &s);
            MPI_Test_cancelled(&s, &flag);
            CHECK(flag, "round %d: not cancelled", round);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == from)
            MPI_Send(data, 50, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        if (world_rank == 0) {
            MPI_Irecv(to, 100, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG,
                      MPI_COMM_WORLD, &q);
            if (round % 2)
                usleep(1000);
            /* Cancelled or not, the message is not lost. */
            MPI_Cancel(&q);
            MPI_Wait(&q, &s);
            MPI_Test_cancelled(&s, &flag);
            if (flag)
                MPI_Recv(to, 100, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                         &s);
            MPI_Get_count(&s, MPI_CHAR, &count);
            CHECK(count == 50 && s.MPI_SOURCE == from && to[0] == round,
                  "round %d: %d bytes of %d from %d", round, count, to[0],
                  s.MPI_SOURCE);
        }
        /* Freed while it is open: the bytes come all the same. */
        if (world_rank == 0) {
            memset(to, 99, sizeof to);
            MPI_Irecv(to, 100, MPI_CHAR, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &q);
            MPI_Request_free(&q);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == from) {
            MPI_Ssend(data, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
            MPI_Send(data, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
        }
        if (world_rank == 0) {
            char last;
            MPI_Recv(&last, 1, MPI_CHAR, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &s);
            for (int i = 0; i < 100000 && to[0] != round; i++)
                MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag,
                           MPI_STATUS_IGNORE);
            CHECK(to[0] == round, "round %d: %d came", round, to[0]);
        }
        /* Too long for the receive. */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (world_rank == from)
            MPI_Send(data, 60, MPI_CHAR, 0, 4, MPI_COMM_WORLD);
        if (world_rank == 0) {
            int class = 0;
            MPI_Irecv(to, 30, MPI_CHAR, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &q);
            int rc = MPI_Wait(&q, &s);
            MPI_Error_class(rc, &class);
            CHECK(class == MPI_ERR_TRUNCATE, "round %d: class %d", round,
                  class);
        }
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
    /* A persistent one, whose type is freed. */
    MPI_Datatype pairs;
    MPI_Type_contiguous(2, MPI_CHAR, &pairs);
    MPI_Type_commit(&pairs);
    if (world_rank == 0)
        MPI_Recv_init(to, 50, pairs, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &q);
    MPI_Type_free(&pairs);
    for (int round = 0; round < 12; round++) {
        int from = 1 + round % (world_size - 1);
        data[0] = (char)round;
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == from)
            MPI_Send(data, 50, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
        if (world_rank)
            continue;
        MPI_Start(&q);
        MPI_Wait(&q, &s);
        CHECK(s.MPI_SOURCE == from && to[0] == round, "started %d: %d from %d",
              round, to[0], s.MPI_SOURCE);
    }
    if (world_rank == 0)
        MPI_Request_free(&q);
    /* Both directions at once, of either kind, and of one's own. */
    int left = (world_rank + world_size - 1) % world_size;
    int right = (world_rank + 1) % world_size, got = -1, mine = world_rank;
    MPI_Sendrecv(&mine, 1, MPI_INT, right, 6, &got, 1, MPI_INT, MPI_ANY_SOURCE,
                 6, MPI_COMM_WORLD, &s);
    CHECK(got == left && s.MPI_SOURCE == left, "%d for %d", got, left);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv_replace(&mine, 1, MPI_INT, left, 6, right, 6, MPI_COMM_WORLD,
                         &s);
    CHECK(mine == right && s.MPI_SOURCE == right, "%d for %d", mine, right);
    /* A buffered message beside an open receive that would match it. */
    char room[2000];
    MPI_Buffer_attach(room, sizeof room);
    MPI_Irecv(to, 100, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
              &q);
    MPI_Barrier(MPI_COMM_WORLD);
    data[0] = (char)world_rank;
    MPI_Bsend(data, 33, MPI_CHAR, right, 0, MPI_COMM_WORLD);
    MPI_Wait(&q, &s);
    MPI_Get_count(&s, MPI_CHAR, &count);
    CHECK(s.MPI_SOURCE == left && to[0] == left && count == 33,
          "%d bytes of %d from %d", count, to[0], s.MPI_SOURCE);
    MPI_Buffer_detach(&(void *){0}, &(int){0});
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "order"))
        order((uint64_t)atoi(argv[2]), atoi(argv[3]));
    else if (!strcmp(what, "away"))
        away();
    else if (!strcmp(what, "many"))
        many(atoi(argv[2]));
    else if (!strcmp(what, "away-ends"))
        away_ends();
    else if (!strcmp(what, "decided"))
        decided((uint64_t)atoi(argv[2]), atoi(argv[3]));
    else
        ends();
    test_end();
}
