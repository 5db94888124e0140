/*
 * dying.c - ranks die, communicators are revoked, and the others go on, as
 * Open MPI lets them under `mpirun --with-ft ulfm`.
 *
 *   dying
 *
 * One rank after another dies, each inside another kind of call. The survivors
 * must get an error, whatever they wait for. Further collectives on the broken
 * communicator must fail, but the survivors can still agree on it, revoke it
 * and shrink it. On the shrunk communicator every result is right again. The
 * program needs a rank more than there are kinds. Each of the last two ranks
 * prints "gone on: N", for N deaths.
 */
#include "mpi/test.h"

#include <mpi-ext.h>
#include <signal.h>

#define MANY 300000

static double *a, *b;
static MPI_Comm comm;
static int me, n;

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class;
}

static void expect_broken(const char *what, int code)
{
    int class = class_of(code);
    CHECK(class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED ||
              class == MPIX_ERR_PROC_FAILED_PENDING,
          "%s: class %d", what, class);
}

static int small_allreduce(int round)
{
    (void)round;
    return MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, comm);
}

static int large_allreduce(int round)
{
    (void)round;
    return MPI_Allreduce(a, b, MANY, MPI_DOUBLE, MPI_SUM, comm);
}

static int small_bcast(int round)
{
    (void)round;
    return MPI_Bcast(a, 2, MPI_DOUBLE, 0, comm);
}

static int large_gather(int round)
{
    return MPI_Gather(a, MANY / 4, MPI_DOUBLE, b, MANY / 4, MPI_DOUBLE,
                      round % n, comm);
}

static int large_messages(int round)
{
    (void)round;
    MPI_Request request[2];
    MPI_Status status[2];
    int code = MPI_Irecv(b, MANY, MPI_DOUBLE, (me + n - 1) % n, 7, comm,
                         &request[0]);
    if (code)
        return code;
    code = MPI_Isend(a, MANY, MPI_DOUBLE, (me + 1) % n, 7, comm, &request[1]);
    if (code)
        return code;
    code = MPI_Waitall(2, request, status);
    for (int i = 0; i < 2 && class_of(code) == MPI_ERR_IN_STATUS; i++)
        if (status[i].MPI_ERROR != MPI_SUCCESS &&
            status[i].MPI_ERROR != MPI_ERR_PENDING)
            code = status[i].MPI_ERROR;
    return code;
}

static struct {
    const char *name;
    int (*call)(int round);
} kinds[] = {
    {"a small allreduce", small_allreduce},
    {"a large allreduce", large_allreduce},
    {"a small broadcast", small_bcast},
    {"a large gather", large_gather},
    {"large messages", large_messages},
};
#define KINDS ((int)LENGTH(kinds))

static void fill(void)
{
    for (int i = 0; i < MANY; i++)
        a[i] = i % 1000;
}

/* All that is left works. */
static void right(void)
{
    for (int round = 0; round < 20; round++) {
        int many = round % 2 ? MANY : 3;
        fill();
        CHECK(!MPI_Allreduce(a, b, many, MPI_DOUBLE, MPI_SUM, comm),
              "Allreduce");
        for (int i = 0; i < many; i++)
            CHECK(b[i] == n * (i % 1000), "Allreduce: element %d is %g", i,
                  b[i]);
        a[0] = me;
        CHECK(!MPI_Bcast(a, many, MPI_DOUBLE, n - 1, comm) && a[0] == n - 1,
              "Bcast gives %g", a[0]);
        CHECK(!MPI_Barrier(comm), "Barrier");
    }
    fill();
    CHECK(!MPI_Sendrecv(a, MANY, MPI_DOUBLE, (me + 1) % n, 3, b, MANY,
                        MPI_DOUBLE, (me + n - 1) % n, 3, comm,
                        MPI_STATUS_IGNORE),
          "Sendrecv");
    CHECK(!memcmp(a, b, MANY * sizeof *a), "Sendrecv brings other data");
}

static void shrink(void)
{
    MPI_Comm less;
    CHECK(!MPIX_Comm_shrink(comm, &less), "shrink");
    MPI_Comm_free(&comm);
    comm = less;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
}

static void die(int kind)
{
    int code = MPI_SUCCESS, flag = 1, victim = n - 1;
    fill();
    for (int round = 0; !code; round++) {
        if (me == victim && round == 30 + kind)
            raise(SIGKILL);
        code = kinds[kind].call(round);
    }
    expect_broken(kinds[kind].name, code);
    /* A rank that has seen the failure tells the ranks that cannot see it. */
    if (kinds[kind].call == large_messages)
        MPIX_Comm_revoke(comm);
    for (int i = 0; i < 3; i++) {
        code = MPI_Allreduce(a, b, i ? MANY : 1, MPI_DOUBLE, MPI_SUM, comm);
        expect_broken("a collective on what is broken", code);
    }
    MPIX_Comm_failure_ack(comm);
    code = MPI_Barrier(comm);
    expect_broken("a barrier after the acknowledgement", code);
    MPIX_Comm_agree(comm, &flag);
    CHECK(flag == 1, "agreed on %d", flag);
    if (me == 0)
        MPIX_Comm_revoke(comm);
    shrink();
    CHECK(n == victim, "%d are left of %d", n, victim + 1);
    right();
}

/* No rank dies: one member revokes what the others wait on. */
static void end_by_hand(void)
{
    MPI_Comm before = comm;
    MPI_Comm_dup(before, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    right();
    if (me == 0) {
        usleep(20000);
        MPIX_Comm_revoke(comm);
    } else {
        expect_broken("a barrier that is revoked", MPI_Barrier(comm));
    }
    expect_broken("a barrier after the revocation", MPI_Barrier(comm));
    MPI_Comm_free(&comm);
    comm = before;
    right();
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    CHECK(world_size == KINDS + 2, "needs %d ranks", KINDS + 2);
    a = calloc(MANY, sizeof *a);
    b = calloc((size_t)MANY * (size_t)world_size, sizeof *b);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    me = world_rank;
    n = world_size;
    right();
    for (int kind = 0; kind < KINDS; kind++)
        die(kind);
    end_by_hand(); /* last: it confuses the next MPIX_Comm_shrink */
    printf("gone on: %d\n", KINDS);
    fflush(stdout);
    MPI_Barrier(comm);
    /* MPI_Finalize does not end where ranks have died. */
    _exit(0);
}
