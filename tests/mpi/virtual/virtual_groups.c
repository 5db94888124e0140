/*
 * virtual_groups.c - collectives between two groups whose virtual time is known
 * by hand; ranks 0, 1 and the last print "name_RANK nanoseconds".
 *
 * The groups are the first half of the ranks and the others; the model is that
 * of virtual_times.c. Data are checked, too.
 */
#include "stopwatch.h"

enum { BYTES = 1000, MOST = 64 };

static int me, n, half, first, others;
static MPI_Comm inter;
static char out[BYTES * MOST], in[BYTES * MOST];

static void fresh(void)
{
    memset(out, me + 1, sizeof out);
    memset(in, 0, sizeof in);
    begin();
}

/* Block i is of rank `from` + i. */
static void check(const char *name, int blocks, int from)
{
    for (int i = 0; i < blocks * BYTES; i++)
        if (in[i] != from + i / BYTES + 1) {
            printf("wrong: %s on %d at %d: %d\n", name, me, i, in[i]);
            return;
        }
}

static int far(void)
{
    return first ? half : 0;
}

static int root_of(int rank)
{
    return (me < half) != (rank < half) ? rank - (rank < half ? 0 : half)
           : me == rank                 ? MPI_ROOT
                                        : MPI_PROC_NULL;
}

static void without_root(void)
{
    int sums[2] = {1 << me, 0};
    fresh();
    MPI_Barrier(inter);
    end_each("barrier");
    fresh();
    MPI_Allreduce(out, in, BYTES, MPI_CHAR, MPI_MAX, inter);
    end_each("allreduce");
    check("allreduce", 1, first ? n - 1 : half - 1);
    MPI_Allreduce(&sums[0], &sums[1], 1, MPI_INT, MPI_SUM, inter);
    if (sums[1] != (first ? (1 << n) - (1 << half) : (1 << half) - 1))
        printf("wrong: sum on %d: %d\n", me, sums[1]);
    fresh();
    MPI_Allgather(out, BYTES, MPI_CHAR, in, BYTES, MPI_CHAR, inter);
    end_each("allgather");
    check("allgather", others, far());
    fresh();
    MPI_Alltoall(out, BYTES, MPI_CHAR, in, BYTES, MPI_CHAR, inter);
    end_each("alltoall");
    check("alltoall", others, far());
    /* So much that each group can have the same of it. */
    int all = half * (n - half) * 8, mine = all / (first ? half : n - half);
    fresh();
    MPI_Reduce_scatter_block(out, in, mine, MPI_CHAR, MPI_MAX, inter);
    end_each("reduce_scatter");
}

static void with_root(int root, const char *at)
{
    char name[40];
    int to = root_of(root);
    memset(out, 0, sizeof out);
#define NAME(what) (snprintf(name, sizeof name, "%s_%s", what, at), name)
    fresh();
    if (to == MPI_ROOT)
        memcpy(in, out, BYTES);
    MPI_Bcast(in, BYTES, MPI_CHAR, to, inter);
    end_each(NAME("bcast"));
    if (to >= 0)
        check(name, 1, root);
    fresh();
    MPI_Reduce(out, in, BYTES, MPI_CHAR, MPI_MAX, to, inter);
    end_each(NAME("reduce"));
    if (to == MPI_ROOT)
        check(name, 1, first ? n - 1 : half - 1);
    fresh();
    MPI_Gather(out, BYTES, MPI_CHAR, in, BYTES, MPI_CHAR, to, inter);
    end_each(NAME("gather"));
    if (to == MPI_ROOT)
        check(name, others, far());
    fresh();
    MPI_Scatter(out, BYTES, MPI_CHAR, in, BYTES, MPI_CHAR, to, inter);
    end_each(NAME("scatter"));
    if (to >= 0)
        check(name, 1, root);
}

/* Rank 0 comes 80 us late. */
static void late(void)
{
    fresh();
    for (int i = 0; i < 10 && me == 0; i++)
        MPI_Sendrecv(out, 0, MPI_CHAR, 0, 0, in, 0, MPI_CHAR, 0, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(inter);
    end_each("late");
}

static void forms(void)
{
    MPI_Request request;
    fresh();
    MPI_Iallreduce(out, in, BYTES, MPI_CHAR, MPI_MAX, inter, &request);
    MPI_Sendrecv(out, 0, MPI_CHAR, me, 0, in, 0, MPI_CHAR, me, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end_each("nonblocking");
    check("nonblocking", 1, first ? n - 1 : half - 1);
#if MPI_VERSION >= 4
    memset(in, 0, sizeof in);
    MPI_Allreduce_init(out, in, BYTES, MPI_CHAR, MPI_MAX, inter, MPI_INFO_NULL,
                       &request);
    for (int i = 0; i < 2; i++) {
        fresh();
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        end_each(i ? "again" : "persistent");
        check("persistent", 1, first ? n - 1 : half - 1);
    }
    MPI_Request_free(&request);
#endif
}

/* All members of both groups wait for each other. */
static void communicators(void)
{
    MPI_Comm made;
    int one = 1, sum = 0, size;
    fresh();
    MPI_Comm_dup(inter, &made);
    end_each("dup");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
    if (sum != others)
        printf("wrong: %d in a duplicate on %d\n", sum, me);
    MPI_Comm_free(&made);
    fresh();
    MPI_Intercomm_merge(inter, !first, &made);
    end_each("merge");
    MPI_Comm_size(made, &size);
    fresh();
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
    end_each("merged");
    if (sum != n || size != n)
        printf("wrong: %d of %d in a merge on %d\n", sum, size, me);
    MPI_Comm_free(&made);
    fresh();
    MPI_Comm_split(inter, 0, -me, &made);
    end_each("split");
    sum = 0;
    fresh();
    MPI_Barrier(made);
    end_each("splitted");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
    if (sum != others)
        printf("wrong: %d in a split on %d\n", sum, me);
    MPI_Comm_free(&made);
}

int main(int argc, char **argv)
{
    MPI_Comm local;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    half = n / 2;
    first = me < half;
    others = first ? n - half : half;
    MPI_Comm_split(MPI_COMM_WORLD, first, 0, &local);
    fresh();
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, first ? half : 0, 7, &inter);
    end_each("create");
    without_root();
    with_root(0, "first");
    with_root(n - 1, "last");
    late();
    forms();
    communicators();
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
