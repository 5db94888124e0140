/*
 * in_turns.c - a program whose calls fall on two sides in turns: each result
 * is known beforehand.
 *
 *   in_turns KIND STEPS
 *
 *     plain        messages are at rest at each collective
 *     once         a receive stands, but at one collective of a step
 *     open         a receive stands at each collective
 *     persistent   a persistent request lives
 *     freed        a receive was freed, and completes unseen
 *     probed       a message waits for its receive, probed or matched
 *     nonblocking  a collective begins before a blocking one on some members,
 *                  and behind it on others
 *     parts        collectives of some ranks, as often as each rank likes
 *     refused      one member's wrong calls return their error
 *     serial       threads call collectives, one at a time: on each rank others
 *     any          the same, with MPI_THREAD_MULTIPLE
 *     thread       another thread calls collectives
 *     late         it does so after some steps
 *     alone        no collective of all ranks
 */
#include "mpi/test.h"

#include <pthread.h>
#include <semaphore.h>

enum { WORDS = 3000 };

static int out[WORDS], in[WORDS], left, right;
static const char *kind;

static bool is(const char *what)
{
    return !strcmp(kind, what);
}

static void fill(int from, int step)
{
    for (int i = 0; i < WORDS; i++)
        out[i] = from * 1000 + step + i;
}

static void check(int from, int step)
{
    for (int i = 0; i < WORDS; i++)
        CHECK(in[i] == from * 1000 + step + i, "%s: word %d of step %d", kind,
              i, step);
}

/* Round the ring; by its end all has come. */
static void exchange(int step)
{
    MPI_Request r[2];
    int n = step % 3 ? WORDS : 5;
    MPI_Irecv(in, n, MPI_INT, step % 2 ? left : MPI_ANY_SOURCE, 1,
              MPI_COMM_WORLD, &r[0]);
    fill(world_rank, step);
    MPI_Isend(out, n, MPI_INT, right, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK(in[i] == left * 1000 + step + i, "%s: word %d of step %d", kind,
              i, step);
}

static void sum(MPI_Comm comm, int step)
{
    int rank, n, total = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    rank += step;
    MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, comm);
    CHECK(total == n * (n - 1) / 2 + n * step, "%s: sum of step %d", kind,
          step);
}

static void spread(int step)
{
    int root = step % world_size;
    fill(root, step);
    memset(in, 0, sizeof in);
    if (world_rank == root)
        memcpy(in, out, sizeof in);
    MPI_Bcast(in, WORDS, MPI_INT, root, MPI_COMM_WORLD);
    check(root, step);
}

/* A receive stands across the collectives that `between` calls. */
static void stand(int step, bool rest)
{
    MPI_Request r;
    if (rest)
        sum(MPI_COMM_WORLD, step);
    MPI_Irecv(in, 7, MPI_INT, left, 2, MPI_COMM_WORLD, &r);
    sum(MPI_COMM_WORLD, step);
    sum(MPI_COMM_WORLD, step + 1);
    fill(world_rank, step);
    MPI_Send(out, 7, MPI_INT, right, 2, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < 7; i++)
        CHECK(in[i] == left * 1000 + step + i, "%s: word %d", kind, i);
}

static void probe(int step)
{
    MPI_Request r;
    MPI_Message m;
    MPI_Status s;
    int flag = 0;
    fill(world_rank, step);
    MPI_Isend(out, 9, MPI_INT, right, 3, MPI_COMM_WORLD, &r);
    sum(MPI_COMM_WORLD, step);
    if (step % 2) {
        MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &m, &s);
        sum(MPI_COMM_WORLD, step);
        MPI_Mrecv(in, 9, MPI_INT, &m, &s);
    } else {
        while (!flag)
            MPI_Iprobe(left, 3, MPI_COMM_WORLD, &flag, &s);
        sum(MPI_COMM_WORLD, step);
        MPI_Recv(in, 9, MPI_INT, left, 3, MPI_COMM_WORLD, &s);
    }
    CHECK(s.MPI_SOURCE == left && in[8] == left * 1000 + step + 8, "%s", kind);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void nonblocking(MPI_Comm other, int step)
{
    MPI_Request r;
    int one = step, total = -1;
    bool before = (step + world_rank) % 2;
    if (before)
        MPI_Iallreduce(&one, &total, 1, MPI_INT, MPI_SUM, other, &r);
    sum(MPI_COMM_WORLD, step);
    if (!before)
        MPI_Iallreduce(&one, &total, 1, MPI_INT, MPI_SUM, other, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(total == step * world_size, "%s: sum %d of step %d", kind, total,
          step);
}

static void refused(int step)
{
    int value = 0, got;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* The others call nothing until they hear of it. */
    if (world_rank == 0) {
        CHECK(MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS,
              "a count of -1 is wrong");
        for (int i = 1; i < world_size; i++)
            MPI_Send(&step, 1, MPI_INT, i, 4, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&got, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == step, "%s: %d in step %d", kind, got, step);
    }
    sum(MPI_COMM_WORLD, step);
}

static MPI_Comm threads_comm;
static int threads_steps;
static sem_t called;

static void *call(void *unused)
{
    for (int step = 0; step < threads_steps; step++) {
        sum(threads_comm, step);
        if (!step)
            sem_post(&called);
    }
    return unused;
}

static void *sum_once(void *step)
{
    sum(MPI_COMM_WORLD, *(int *)step);
    sum(*(int *)step % 2 ? threads_comm : MPI_COMM_WORLD, *(int *)step);
    return NULL;
}

/* Some thread or other calls them. */
static void serial(int step)
{
    pthread_t thread;
    if (mix((uint64_t)(step * world_size + world_rank)) % 2) {
        sum_once(&step);
        return;
    }
    pthread_create(&thread, NULL, sum_once, &step);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    int level, steps = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Comm other, half;
    MPI_Request kept = MPI_REQUEST_NULL;
    pthread_t thread;
    kind = argc > 1 ? argv[1] : "";
    bool threads = is("thread") || is("late");
    MPI_Init_thread(&argc, &argv,
                    threads || is("any") ? MPI_THREAD_MULTIPLE
                    : is("serial")       ? MPI_THREAD_SERIALIZED
                                         : MPI_THREAD_SINGLE,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    left = (world_rank + world_size - 1) % world_size;
    right = (world_rank + 1) % world_size;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_dup(MPI_COMM_WORLD, &threads_comm);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
    CHECK(!threads || level == MPI_THREAD_MULTIPLE, "no threads here");
    threads_steps = steps;
    if (is("persistent"))
        MPI_Send_init(out, 1, MPI_INT, right, 9, MPI_COMM_WORLD, &kept);
    sem_init(&called, 0, 0);
    for (int step = 0; step < steps; step++) {
        if (threads && step == (is("late") ? steps / 2 : 1)) {
            pthread_create(&thread, NULL, call, NULL);
            sem_wait(&called);
        }
        exchange(step);
        if (is("alone")) {
            for (int i = 0; i <= world_rank % 2; i++)
                sum(half, step);
            continue;
        }
        if (is("once") || is("open"))
            stand(step, is("once"));
        if (is("freed") && step == 2) {
            MPI_Request r;
            static int late; /* may come when a later step has begun */
            MPI_Irecv(&late, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &r);
            MPI_Request_free(&r);
            MPI_Send(out, 1, MPI_INT, right, 5, MPI_COMM_WORLD);
        }
        if (is("open"))
            continue;
        if (is("probed"))
            probe(step);
        if (is("nonblocking"))
            nonblocking(other, step);
        if (is("refused"))
            refused(step);
        if (is("serial") || is("any"))
            serial(step);
        if (is("parts"))
            for (int i = 0; i < 1 + step % 3 + 2 * (world_rank % 2); i++)
                sum(half, step + i);
        sum(step % 2 ? other : MPI_COMM_WORLD, step);
        spread(step);
    }
    if (threads)
        pthread_join(thread, NULL);
    if (kept != MPI_REQUEST_NULL)
        MPI_Request_free(&kept);
    MPI_Comm_free(&half);
    MPI_Comm_free(&threads_comm);
    MPI_Comm_free(&other);
    if (!world_rank)
        puts("all is well");
    MPI_Finalize();
    return 0;
}
