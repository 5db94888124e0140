/*
 * near_ends.c - what the standard allows with nonblocking neighbourhood
 * collectives, and few programs do: the communicator is freed, and datatypes
 * are; a member goes into a call of the host's before it knows which blocks
 * come on its edges; wrong arguments; members without edges; many at once.
 * Persistent ones outlive their communicator and datatypes, too.
 */
#include "mpi/test.h"

#define LARGE 30000
#define MANY 50

/* A ring. With two ranks, two edges lead from each to the other. */
static MPI_Comm make_ring(void)
{
    int dims[1] = {world_size}, periodic[1] = {1};
    MPI_Comm made;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 0, &made);
    return made;
}

static int other(int edge)
{
    return (world_rank + (edge ? 1 : world_size - 1)) % world_size;
}

static int large_out[2][LARGE], large_in[2][LARGE];

static void large_fill(int salt)
{
    for (int e = 0; e < 2; e++)
        for (int i = 0; i < LARGE; i++) {
            large_out[e][i] = world_rank * 1000003 + i + salt;
            large_in[e][i] = -1;
        }
}

static void large_check(int salt, const char *what)
{
    for (int e = 0; e < 2; e++)
        for (int i = 0; i < LARGE; i++)
            CHECK(large_in[e][i] == other(e) * 1000003 + i + salt,
                  "%s: edge %d is wrong at %d", what, e, i);
}

static void freed_communicator(void)
{
    int one = world_rank + 1, board[2] = {0}, v[2] = {0};
    int counts[2] = {1, 1}, places[2] = {0, 0}, to[2] = {0, 1};
    MPI_Aint address[2] = {0, 0}, into[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    int w[2] = {0};
    MPI_Request q[4];
    MPI_Comm comm = make_ring();
    large_fill(1);
    MPI_Ineighbor_alltoall(large_out, LARGE, MPI_INT, large_in, LARGE, MPI_INT,
                           comm, &q[0]);
    MPI_Ineighbor_allgather(&one, 1, MPI_INT, board, 1, MPI_INT, comm, &q[1]);
    MPI_Ineighbor_alltoallv(&one, counts, places, MPI_INT, v, counts, to,
                            MPI_INT, comm, &q[2]);
    MPI_Ineighbor_alltoallw(&one, counts, address, types, w, counts, into,
                            types, comm, &q[3]);
    MPI_Comm_free(&comm);
    comm = make_ring();
    MPI_Comm_free(&comm);
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    large_check(1, "a freed communicator's alltoall");
    for (int e = 0; e < 2; e++)
        CHECK(board[e] == other(e) + 1 && v[e] == other(e) + 1 &&
                  w[e] == other(e) + 1,
              "a freed communicator: %d, %d, %d on edge %d", board[e], v[e],
              w[e], e);
}

/* One member completes it first, then makes a communicator. The others make the
 * communicator first, which blocks until that member comes. */
static void held_up(void)
{
    for (int round = 0; round < world_size; round++) {
        MPI_Request q;
        MPI_Comm made, comm = make_ring();
        large_fill(round);
        MPI_Ineighbor_alltoall(large_out, LARGE, MPI_INT, large_in, LARGE,
                               MPI_INT, comm, &q);
        if (world_rank == round)
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        if (world_rank != round)
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        large_check(round, "a member held the others up");
        MPI_Comm_free(&made);
        MPI_Comm_free(&comm);
    }
}

static void freed_datatype(void)
{
    int grid[20][4], out[20][4];
    MPI_Datatype column;
    MPI_Request q;
    MPI_Comm comm = make_ring();
    for (int i = 0; i < 80; i++) {
        out[i / 4][i % 4] = world_rank * 100 + i / 4;
        grid[i / 4][i % 4] = -1;
    }
    MPI_Type_vector(20, 1, 4, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &column);
    MPI_Type_commit(&column);
    MPI_Ineighbor_alltoall(out, 1, column, grid, 1, column, comm, &q);
    MPI_Type_free(&column);
    MPI_Type_contiguous(5, MPI_INT, &column); /* may get the same handle */
    MPI_Type_commit(&column);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    MPI_Comm_free(&comm);
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 4; j++)
            CHECK(grid[i][j] == (j < 2 ? other(j) * 100 + i : -1),
                  "a freed datatype: %d at %d, %d", grid[i][j], i, j);
}

/* The host judges at the member that is wrong, which then does as the others.
 */
static void wrong_arguments(void)
{
    int one[2] = {world_rank, world_rank}, got[2] = {-1, -1};
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Comm comm = make_ring();
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (world_rank == 0) {
        CHECK(MPI_Ineighbor_alltoall(one, -1, MPI_INT, got, 1, MPI_INT, comm,
                                     &q) != MPI_SUCCESS,
              "a count of -1 is taken");
        CHECK(MPI_Ineighbor_allgather(one, 1, MPI_DATATYPE_NULL, got, 1,
                                      MPI_INT, comm, &q) != MPI_SUCCESS,
              "no datatype is taken");
    }
    MPI_Ineighbor_alltoall(one, 1, MPI_INT, got, 1, MPI_INT, comm, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(got[0] == other(0) && got[1] == other(1),
          "after wrong arguments: %d, %d", got[0], got[1]);
    MPI_Comm_free(&comm);
}

/* Rank 0 sends to all but the last on two edges each. Nothing comes back. The
 * last rank has none but its own. */
static void uneven_graph(void)
{
    int from[4] = {0, 0}, to[64], outs = 0, ins = world_rank ? 2 : 0;
    int sent[64], got[2] = {-1, -1}, ranks[2], me = world_rank;
    MPI_Request q[2];
    MPI_Comm comm;
    for (int r = 1; r < world_size - 1 && !me; r++)
        to[outs++] = r;
    for (int r = 1; r < world_size - 1 && !me; r++)
        to[outs++] = r;
    if (me == world_size - 1) {
        from[0] = from[1] = me;
        ins = 1;
        to[outs++] = me;
    }
    for (int i = 0; i < outs; i++)
        sent[i] = me ? 7 : to[i] * 2 + (i >= world_size - 2);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, from, MPI_UNWEIGHTED,
                                   outs, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &comm);
    MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm, &q[0]);
    MPI_Ineighbor_allgather(&me, 1, MPI_INT, ranks, 1, MPI_INT, comm, &q[1]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    if (ins == 2) /* MPICH 4.0 may turn them round */
        CHECK(got[0] / 2 == me && got[1] / 2 == me && got[0] != got[1],
              "two edges: %d, %d", got[0], got[1]);
    if (ins == 1)
        CHECK(got[0] == 7, "the edge to itself: %d", got[0]);
    MPI_Comm_free(&comm);
}

/* More than the slates hold, completed from the end. */
static void many(void)
{
    int sent[MANY][2], got[MANY][2];
    MPI_Request q[MANY];
    MPI_Comm comm = make_ring();
    for (int i = 0; i < MANY; i++) {
        sent[i][0] = sent[i][1] = world_rank * MANY + i;
        if (i % 2)
            MPI_Ineighbor_alltoall(sent[i], 1, MPI_INT, got[i], 1, MPI_INT,
                                   comm, &q[i]);
        else
            MPI_Ineighbor_allgather(sent[i], 1, MPI_INT, got[i], 1, MPI_INT,
                                    comm, &q[i]);
    }
    for (int i = MANY - 1; i >= 0; i--) {
        MPI_Wait(&q[i], MPI_STATUS_IGNORE);
        for (int e = 0; e < 2; e++)
            CHECK(got[i][e] == other(e) * MANY + i, "many: %d on edge %d of %d",
                  got[i][e], e, i);
    }
    MPI_Comm_free(&comm);
}

#if HAVE_PERSISTENT
/* Each rank starts them in another order. */
static void outliving(void)
{
    static int face[20][4], halo[20][4];
    int counts[2] = {1, 1}, sent, got[2], board[2];
    MPI_Aint here[2] = {0, 0}, into[2] = {0, sizeof(int)};
    MPI_Datatype column, types[2];
    MPI_Request q[3];
    MPI_Comm comm = make_ring();
    MPI_Type_vector(20, 1, 4, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &column);
    MPI_Type_commit(&column);
    MPI_Type_dup(MPI_INT, &types[0]);
    types[1] = types[0];
    MPI_Neighbor_alltoall_init(face, 1, column, halo, 1, column, comm,
                               MPI_INFO_NULL, &q[0]);
    MPI_Neighbor_alltoallw_init(&sent, counts, here, types, got, counts, into,
                                types, comm, MPI_INFO_NULL, &q[1]);
    MPI_Neighbor_allgather_init(&sent, 1, types[0], board, 1, types[0], comm,
                                MPI_INFO_NULL, &q[2]);
    MPI_Type_free(&column);
    MPI_Type_free(&types[0]);
    MPI_Comm_free(&comm);
    for (int turn = 0; turn < 20; turn++) {
        sent = world_rank * 100 + turn;
        for (int i = 0; i < 80; i++) {
            face[i / 4][i % 4] = sent * 20 + i / 4;
            halo[i / 4][i % 4] = -1;
        }
        for (int k = 0; k < 3; k++)
            MPI_Start(&q[(k + turn + world_rank) % 3]);
        MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
        for (int e = 0; e < 2; e++)
            CHECK(got[e] == other(e) * 100 + turn && got[e] == board[e],
                  "turn %d: %d, %d on edge %d", turn, got[e], board[e], e);
        for (int i = 0; i < 20; i++)
            for (int j = 0; j < 4; j++)
                CHECK(halo[i][j] == (j < 2 ? got[j] * 20 + i : -1),
                      "turn %d: %d at %d, %d", turn, halo[i][j], i, j);
    }
    for (int k = 0; k < 3; k++)
        MPI_Request_free(&q[k]);
}
#endif

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    CHECK(world_size <= 16, "at most 16 ranks");
    freed_communicator();
    held_up();
    freed_datatype();
    wrong_arguments();
    uneven_graph();
    many();
#if HAVE_PERSISTENT
    outliving();
#endif
    test_end();
    return 0;
}
