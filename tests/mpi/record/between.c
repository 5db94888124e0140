/*
 * between.c - calls whose bytes inside and between nodes are known by
 * construction.
 *
 * Each rank writes to FOLDER/between.RANK what a profile must say of it:
 *
 *     PROCEDURE SENT SENT_BETWEEN RECEIVED RECEIVED_BETWEEN
 *
 * It finds the nodes of all ranks by itself: MPI_Comm_split_type says which
 * ranks share a node, or argument 2 how many consecutive ranks do.
 *
 * Usage: between FOLDER [RANKS_A_NODE]
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

#define MOST 64

static int me, n, node[MOST];
static FILE *notes;

static void find_nodes(int size)
{
    int mine = me;
    MPI_Comm near;
    if (size) {
        mine = me / size;
    } else {
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                            MPI_INFO_NULL, &near);
        MPI_Bcast(&mine, 1, MPI_INT, 0, near);
        MPI_Comm_free(&near);
    }
    MPI_Allgather(&mine, 1, MPI_INT, node, 1, MPI_INT, MPI_COMM_WORLD);
}

static int away(int rank)
{
    return node[rank] != node[me];
}

/* Ranks `from` to `to` - 1 on other nodes, each as often as its weight says;
 * NULL: once. */
static long count_away(int from, int to, const int *weight)
{
    long found = 0;
    for (int i = from; i < to; i++)
        found += away(i) ? (weight ? weight[i] : 1) : 0;
    return found;
}

static void note(const char *name, long sent, long sent_between, long received,
                 long received_between)
{
    fprintf(notes, "MPI_%s %ld %ld %ld %ld\n", name, sent, sent_between,
            received, received_between);
}

int main(int argc, char **argv)
{
    static char out[MOST * 1000], in[MOST * 1000];
    int counts[MOST], mine[MOST], places[MOST], total = 0;
    char path[4096];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm all = MPI_COMM_WORLD;
    MPI_Pcontrol(0);
    find_nodes(argc > 2 ? atoi(argv[2]) : 0);
    MPI_Pcontrol(1);
    snprintf(path, sizeof path, "%s/between.%d", argv[1], me);
    notes = fopen(path, "w");
    if (!notes)
        MPI_Abort(all, 1);
    int root = n - 1, next = (me + 1) % n, last = (me + n - 1) % n;
    long others = count_away(0, n, NULL), any = others > 0;
    for (int i = 0; i < n; i++) {
        counts[i] = 10 * (i + 1); /* of block i, on all ranks */
        mine[i] = 10 * (me + 1);  /* what rank i has for this rank */
        places[i] = 500 * i;
        total += counts[i];
    }
    long blocks = count_away(0, n, counts);

    MPI_Bcast(out, 100, MPI_BYTE, root, all);
    note("Bcast", me == root ? 100 : 0, me == root ? 100 * any : 0,
         me == root ? 0 : 100, me == root ? 0 : 100 * away(root));
    MPI_Reduce(out, in, 100, MPI_BYTE, MPI_BOR, root, all);
    note("Reduce", 100, 100 * away(root), me == root ? 100 : 0,
         me == root ? 100 * any : 0);
    MPI_Allreduce(out, in, 100, MPI_BYTE, MPI_BOR, all);
    note("Allreduce", 100, 100 * any, 100, 100 * any);
    MPI_Scan(out, in, 100, MPI_BYTE, MPI_BOR, all);
    note("Scan", 100, count_away(me + 1, n, NULL) ? 100 : 0, 100,
         count_away(0, me, NULL) ? 100 : 0);
    MPI_Reduce_scatter(out, in, counts, MPI_BYTE, MPI_BOR, all);
    note("Reduce_scatter", total, blocks, counts[me], counts[me] * any);
    MPI_Gather(out, 100, MPI_BYTE, in, 100, MPI_BYTE, root, all);
    note("Gather", 100, 100 * away(root), me == root ? 100 * n : 0,
         me == root ? 100 * others : 0);
    MPI_Gatherv(out, counts[me], MPI_BYTE, in, counts, places, MPI_BYTE, root,
                all);
    note("Gatherv", counts[me], counts[me] * away(root), me == root ? total : 0,
         me == root ? blocks : 0);
    MPI_Scatter(out, 100, MPI_BYTE, in, 100, MPI_BYTE, root, all);
    note("Scatter", me == root ? 100 * n : 0, me == root ? 100 * others : 0,
         100, 100 * away(root));
    MPI_Scatterv(out, counts, places, MPI_BYTE, in, counts[me], MPI_BYTE, root,
                 all);
    note("Scatterv", me == root ? total : 0, me == root ? blocks : 0,
         counts[me], counts[me] * away(root));
    MPI_Allgather(out, 100, MPI_BYTE, in, 100, MPI_BYTE, all);
    note("Allgather", 100, 100 * any, 100 * n, 100 * others);
    MPI_Allgatherv(out, counts[me], MPI_BYTE, in, counts, places, MPI_BYTE,
                   all);
    note("Allgatherv", counts[me], counts[me] * any, total, blocks);
    MPI_Ialltoall(out, 100, MPI_BYTE, in, 100, MPI_BYTE, all, &request);
    note("Ialltoall", 100 * n, 100 * others, 100 * n, 100 * others);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Alltoallv(out, counts, places, MPI_BYTE, in, mine, places, MPI_BYTE,
                  all);
    note("Alltoallv", total, blocks, 10 * (me + 1) * n, 10 * (me + 1) * others);

    MPI_Sendrecv(out, 50, MPI_BYTE, next, 1, in, 100, MPI_BYTE, last, 1, all,
                 MPI_STATUS_IGNORE);
    note("Sendrecv", 50, 50 * away(next), 50, 50 * away(last));
    MPI_Irecv(in, 100, MPI_BYTE, last, 2, all, &request);
    MPI_Send(out, 70, MPI_BYTE, next, 2, all);
    note("Send", 70, 70 * away(next), 0, 0);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    note("Waitall", 0, 0, 70, 70 * away(last));

    /* Neighbours on a ring, the same ranks in another order. */
    MPI_Comm back;
    MPI_Comm_split(all, 0, -me, &back);
    int sources[] = {n - 1 - last, n - 1 - next}, sizes[] = {30, 40};
    int expected[] = {40, 30}, displacements[] = {0, 500};
    MPI_Comm ring;
    MPI_Dist_graph_create_adjacent(back, 2, sources, MPI_UNWEIGHTED, 2, sources,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    if (n > 2) {
        MPI_Neighbor_alltoallv(out, sizes, displacements, MPI_BYTE, in,
                               expected, displacements, MPI_BYTE, ring);
        note("Neighbor_alltoallv", 70, 30 * away(last) + 40 * away(next), 70,
             40 * away(last) + 30 * away(next));
    }
    MPI_Comm_free(&ring);
    MPI_Comm_free(&back);
    fclose(notes);
    if (me == 0)
        puts("all is well");
    MPI_Finalize();
    return 0;
}
