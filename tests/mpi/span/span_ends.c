/*
 * span_ends.c - the ends of communicators over several nodes, as a program may
 * bring them about.
 *
 *   span_ends [ROUNDS]
 *
 * A communicator is freed while peers are still in its last collective, and
 * while the host's own requests are pending on it. Callbacks of attributes call
 * collectives: on the communicator that is being freed, and in MPI_Finalize. At
 * the end communicators are alive still.
 */
#include "mpi/test.h"

#include <time.h>

#define LONG 70000

static int *out, *in, ended;
static MPI_Comm kept, unmet;

static int sum_of(MPI_Comm comm, int mine)
{
    int sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

static void check_sum(MPI_Comm comm, int i, const char *when)
{
    int n, me, sum;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    sum = sum_of(comm, me + i);
    CHECK(sum == n * (n - 1) / 2 + n * i, "%s, round %d: a sum of %d", when, i,
          sum);
}

static void nap(int us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000L}, NULL);
}

/* Some members are late to the last collective, and others are gone by then.
 * The next communicator may get the same handle and context. */
static void freed_at_once(int i)
{
    MPI_Comm comm;
    int root = i % world_size, n = i % 3 ? 5 : LONG;
    MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -world_rank : world_rank, &comm);
    int me;
    MPI_Comm_rank(comm, &me);
    for (int k = 0; k < n; k++)
        out[k] = me == root ? i + k : -1;
    if ((world_rank + i) % 3 == 0)
        nap(2000);
    if (i % 4 == 1)
        check_sum(comm, i, "before the last call");
    MPI_Bcast(out, n, MPI_INT, root, comm);
    MPI_Comm_free(&comm);
    for (int k = 0; k < n; k++)
        CHECK(out[k] == i + k, "round %d: int %d is %d", i, k, out[k]);
}

/* The host's requests are pending when the communicator goes. (Open MPI alone
 * crashes then.) */
static void freed_with_requests(int i)
{
#ifndef OMPI_MAJOR_VERSION
    MPI_Comm comm;
    MPI_Request request[3];
    int mine = world_rank + i, all = -1, n = world_size;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (i % 2)
        check_sum(comm, i, "before the requests");
    MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm, &request[0]);
    MPI_Ibarrier(comm, &request[1]);
    check_sum(comm, i, "with requests pending");
    for (int k = 0; k < LONG; k++)
        in[k] = world_rank == i % n ? k + i : -1;
    MPI_Ibcast(in, i % 3 ? 9 : LONG, MPI_INT, i % n, comm, &request[2]);
    MPI_Comm_free(&comm);
    check_sum(MPI_COMM_WORLD, i, "the communicator is gone");
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    CHECK(all == n * (n - 1) / 2 + n * i, "Iallreduce gives %d", all);
    for (int k = 0; k < (i % 3 ? 9 : LONG); k++)
        CHECK(in[k] == k + i, "Ibcast: int %d is %d", k, in[k]);
#else
    (void)i;
#endif
}

static int at_end(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key;
    (void)extra;
    /* MPI_COMM_SELF ends in MPI_Finalize, where the others live still. */
    MPI_Comm on = comm == MPI_COMM_SELF ? MPI_COMM_WORLD : comm;
    check_sum(on, *(int *)value, "in a callback");
    if (on != comm && kept != MPI_COMM_NULL) {
        check_sum(kept, 5, "in a callback, on another");
        check_sum(unmet, 6, "in a callback, on one without collectives");
        MPI_Comm_free(&kept);
        MPI_Comm_free(&unmet);
    }
    ended++;
    return MPI_SUCCESS;
}

/* The attribute is older than the first collective, or younger. */
static void freed_with_callbacks(int i, int key)
{
    static int number;
    MPI_Comm comm, next;
    number = i;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (i % 2)
        check_sum(comm, i, "before the attribute");
    MPI_Comm_set_attr(comm, key, &number);
    if (i % 4 < 2)
        check_sum(comm, i, "after the attribute");
    ended = 0;
    MPI_Comm_free(&comm);
    CHECK(ended == 1, "round %d: %d callbacks", i, ended);
    /* It may have the same handle, and other members. */
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == i % world_size, 0, &next);
    check_sum(next, i, "on the next communicator");
    MPI_Comm_free(&next);
}

/* Two ranks alone have used it when MPI ends. */
static void make_unmet(void)
{
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &unmet, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (world_rank == 0)
        MPI_Send(out, LONG, MPI_INT, 1, 1, unmet);
    else if (world_rank == 1)
        MPI_Recv(in, LONG, MPI_INT, 0, 1, unmet, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    static int last = 77;
    int rounds = (int)argument(argc, argv, 1, 40), key;
    out = calloc(LONG, sizeof *out);
    in = calloc(LONG, sizeof *in);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
    for (int i = 0; i < rounds; i++) {
        freed_at_once(i);
        freed_with_requests(i);
        freed_with_callbacks(i, key);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    check_sum(kept, 1, "on the last one");
    make_unmet();
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &last);
    ended = 0;
    MPI_Finalize();
    CHECK(ended == 1, "%d callbacks in MPI_Finalize", ended);
    if (world_rank == 0)
        printf("all is well\n");
}
