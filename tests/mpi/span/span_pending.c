/*
 * span_pending.c - the host's own collectives are pending on a communicator
 * over several nodes while blocking ones of ours run there.
 *
 *   span_pending [ROUNDS]
 *
 * Nonblocking and persistent collectives, and a duplication, begin before the
 * communicator's first blocking collective, or in its midst. The ranks complete
 * them in orders of their own, some long after.
 */
#include "mpi/test.h"

#define MANY 20000
#define KINDS 6

typedef struct {
    MPI_Request request[KINDS];
    int mine, sum, *block, *all, *to;
    MPI_Comm copy;
} pending_t;

static pending_t set[2];
static int *a, *b;

static void begin(pending_t *p, MPI_Comm comm, int i)
{
    int n = world_size, k = i % 3 ? 3 : MANY / n;
    p->mine = world_rank + i;
    for (int j = 0; j < k * n; j++) {
        p->block[j] = world_rank * 100 + j / k + i;
        p->to[j] = p->all[j] = -1;
    }
    MPI_Iallreduce(&p->mine, &p->sum, 1, MPI_INT, MPI_SUM, comm,
                   &p->request[0]);
    MPI_Ialltoall(p->block, k, MPI_INT, p->to, k, MPI_INT, comm,
                  &p->request[1]);
    MPI_Ibarrier(comm, &p->request[2]);
    MPI_Iallgather(&p->mine, 1, MPI_INT, p->all, 1, MPI_INT, comm,
                   &p->request[3]);
    MPI_Comm_idup(comm, &p->copy, &p->request[4]);
#ifdef OMPI_MAJOR_VERSION /* alone it takes others' messages for its own */
    MPI_Wait(&p->request[4], MPI_STATUS_IGNORE);
#endif
    p->request[5] = MPI_REQUEST_NULL;
#if MPI_VERSION >= 4
    MPI_Barrier_init(comm, MPI_INFO_NULL, &p->request[5]);
    MPI_Start(&p->request[5]);
#endif
}

/* Each rank waits in an order of its own. */
static void end(pending_t *p, int i)
{
    int n = world_size, k = i % 3 ? 3 : MANY / n;
    rng_t r = rng_from(key2((uint64_t)i, (uint64_t)world_rank));
    int order[KINDS] = {0, 1, 2, 3, 4, 5};
    for (int j = KINDS - 1; j > 0; j--) {
        int other = (int)rng_below(&r, (size_t)j + 1), t = order[j];
        order[j] = order[other];
        order[other] = t;
    }
    for (int j = 0; j < KINDS; j++)
        MPI_Wait(&p->request[order[j]], MPI_STATUS_IGNORE);
    if (p->request[5] != MPI_REQUEST_NULL)
        MPI_Request_free(&p->request[5]);
    CHECK(p->sum == n * (n - 1) / 2 + n * i, "round %d: Iallreduce gives %d", i,
          p->sum);
    for (int j = 0; j < k * n; j++)
        CHECK(p->to[j] == j / k * 100 + world_rank + i,
              "round %d: Ialltoall gives %d at %d", i, p->to[j], j);
    for (int j = 0; j < n; j++)
        CHECK(p->all[j] == j + i, "round %d: Iallgather gives %d", i,
              p->all[j]);
}

static void block(MPI_Comm comm, int i)
{
    int n = world_size, k = i % 5 ? 2 : MANY / n, root = i % n;
    for (int j = 0; j < k * n; j++) {
        a[j] = world_rank + j + i;
        b[j] = -1;
    }
    MPI_Allreduce(a, b, k, MPI_INT, MPI_SUM, comm);
    for (int j = 0; j < k; j++)
        CHECK(b[j] == n * (n - 1) / 2 + n * (j + i),
              "round %d: Allreduce "
              "gives %d at %d",
              i, b[j], j);
    MPI_Bcast(a, k, MPI_INT, root, comm);
    for (int j = 0; j < k; j++)
        CHECK(a[j] == root + j + i, "round %d: Bcast gives %d", i, a[j]);
    MPI_Gather(a, k, MPI_INT, b, k, MPI_INT, root, comm);
    for (int j = 0; j < k * n && world_rank == root; j++)
        CHECK(b[j] == root + j % k + i, "round %d: Gather gives %d", i, b[j]);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int rounds = (int)argument(argc, argv, 1, 30);
    a = calloc(MANY, sizeof *a);
    b = calloc(MANY, sizeof *b);
    for (int s = 0; s < 2; s++) {
        set[s].block = calloc(MANY, sizeof *a);
        set[s].all = calloc(MANY, sizeof *a);
        set[s].to = calloc(MANY, sizeof *a);
    }
    for (int i = 0; i < rounds; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        begin(&set[0], comm, i);
        block(comm, i);
        begin(&set[1], comm, i + 1);
        block(comm, i + 1);
        end(&set[1], i + 1);
        block(set[1].copy, i);
        MPI_Comm_free(&set[1].copy);
        block(comm, i + 2);
        end(&set[0], i);
        MPI_Comm_free(&comm);
        block(set[0].copy, i);
        MPI_Comm_free(&set[0].copy);
    }
    test_end();
}
