/*
 * started_ends.c - what the standard allows with nonblocking collectives under
 * way, and few programs do: the communicator is freed, and datatypes are; a
 * blocking collective comes in between; wrong arguments; no data at all;
 * MPI_Request_get_status before the end; many in one MPI_Waitsome. And with
 * persistent ones: each rank starts them in an order of its own; they outlive
 * their communicator and datatype; some are never started.
 */
#include "mpi/test.h"

#define N 3000

static MPI_Comm fresh(void)
{
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    return made;
}

/* MPI_Comm_free marks it: what is pending goes on (MPI 4.1, 7.4.3). Open MPI
 * alone crashes there with collectives of its own. */
static void freed_communicator(void)
{
    int mine[N], sums[N], board[64], one = world_rank + 1, all = 1;
    MPI_Request q[3];
    MPI_Comm comm = fresh();
    MPI_Barrier(comm);
    for (int i = 0; i < N; i++)
        mine[i] = i + world_rank;
    MPI_Iallreduce(mine, sums, N, MPI_INT, MPI_SUM, comm, &q[0]);
    MPI_Iallgather(&one, 1, MPI_INT, board, 1, MPI_INT, comm, &q[1]);
    MPI_Ibarrier(comm, &q[2]);
    MPI_Comm_free(&comm);
    MPI_Comm after = fresh();
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, after);
    MPI_Comm_free(&after);
    MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        CHECK(sums[i] == world_size * i + world_size * (world_size - 1) / 2,
              "a freed communicator's sum is wrong at %d", i);
    for (int r = 0; r < world_size; r++)
        CHECK(board[r] == r + 1, "a freed communicator's board: %d", r);
}

/* The datatype ends before the collective does. */
static void freed_datatype(void)
{
    double field[64][8];
    MPI_Datatype column;
    MPI_Request q;
    int root = world_size - 1;
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 8; j++)
            field[i][j] = world_rank == root ? i * 8 + j : -1;
    MPI_Type_vector(64, 3, 8, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Ibcast(field, 1, column, root, MPI_COMM_WORLD, &q);
    MPI_Type_free(&column);
    MPI_Type_contiguous(5, MPI_INT, &column); /* may get the same handle */
    MPI_Type_commit(&column);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 8; j++)
            CHECK(field[i][j] == (world_rank == root || j < 3 ? i * 8 + j : -1),
                  "a freed datatype's bcast: wrong at %d, %d", i, j);
}

/* Blocking collectives overtake nonblocking ones on one communicator. */
static void overtaken(void)
{
    int before[200], now[200];
    MPI_Request q[200];
    for (int i = 0; i < 200; i++) {
        before[i] = world_rank + i;
        MPI_Iallreduce(MPI_IN_PLACE, &before[i], 1, MPI_INT, MPI_SUM,
                       MPI_COMM_WORLD, &q[i]);
        now[i] = i;
        MPI_Bcast(&now[i], 1, MPI_INT, i % world_size, MPI_COMM_WORLD);
    }
    for (int left = 200; left;) {
        int some[200], n;
        MPI_Waitsome(200, q, &n, some, MPI_STATUSES_IGNORE);
        left -= n;
    }
    for (int i = 0; i < 200; i++)
        CHECK(before[i] == world_size * i + world_size * (world_size - 1) / 2,
              "overtaken: wrong at %d", i);
}

/* The host judges at the member that is wrong, which then does as the others.
 */
static void wrong_arguments(void)
{
    int one = 1, sum = 0;
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Comm comm = fresh();
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(MPI_Iallreduce(&one, &sum, -1, MPI_INT, MPI_SUM, comm, &q) !=
              MPI_SUCCESS,
          "a count of -1 is taken");
    CHECK(MPI_Ibcast(&one, 1, MPI_INT, world_size, comm, &q) != MPI_SUCCESS,
          "a root that is no member is taken");
    CHECK(MPI_Ibcast(&one, 1, MPI_DATATYPE_NULL, 0, comm, &q) != MPI_SUCCESS,
          "no datatype is taken");
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(sum == world_size, "the sum after wrong arguments is %d", sum);
    MPI_Comm_free(&comm);
}

static MPI_Datatype summed;
static bool summed_lives;

/* Not commutative; of one int, or of two. */
static void twice(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int bytes;
    CHECK(*type == MPI_INT || !summed_lives || *type == summed,
          "an operation is told another datatype");
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *n * (bytes / (int)sizeof(int)); i++)
        ((int *)inout)[i] += 2 * ((int *)in)[i];
}

/* A user's operation and its datatype are freed while they are in use. */
static void freed_operation(void)
{
    int in[2 * N], sums[2][2 * N];
    MPI_Op op;
    MPI_Datatype two;
    MPI_Request q[2];
    MPI_Op_create(twice, 0, &op);
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    for (int i = 0; i < 2 * N; i++)
        in[i] = i + world_rank;
    summed = two;
    summed_lives = true;
    MPI_Iallreduce(in, sums[0], N, two, op, MPI_COMM_WORLD, &q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    summed_lives = false;
    MPI_Iallreduce(in, sums[0], N, two, op, MPI_COMM_WORLD, &q[0]);
    MPI_Ireduce(in, sums[1], N, two, op, 0, MPI_COMM_WORLD, &q[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&two);
    CHECK(op == MPI_OP_NULL, "an operation is freed, and not null");
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    /* The operation is not associative: of more operands, many sums are right.
     */
    for (int i = 0; i < 2 * N && world_size == 2; i++) {
        CHECK(sums[0][i] == 2 * i + i + 1, "a freed operation's sum is %d",
              sums[0][i]);
        CHECK(world_rank || sums[1][i] == sums[0][i],
              "a freed operation's reduction is %d", sums[1][i]);
    }
}

/* A communicator ends on which every nonblocking call was the host's. */
static void never_ours(void)
{
    int one = 1, sum = 0;
    MPI_Request q;
    MPI_Comm comm = fresh();
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    comm = fresh();
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Iallreduce(&one, &sum, -1, MPI_INT, MPI_SUM, comm, &q);
    MPI_Comm_free(&comm);
}

/* Statuses are empty, and a request that is done is null. */
static void statuses(void)
{
    MPI_Request q[2];
    MPI_Status status[2];
    int flag = 0, count = -1;
    for (int i = 0; i < 2; i++) {
        status[i].MPI_SOURCE = status[i].MPI_TAG = 77;
        MPI_Ibarrier(MPI_COMM_WORLD, &q[i]);
    }
    while (!flag)
        MPI_Request_get_status(q[1], &flag, &status[1]);
    CHECK(q[1] != MPI_REQUEST_NULL, "looked at, and gone");
    MPI_Waitall(2, q, status);
    for (int i = 0; i < 2; i++) {
        MPI_Get_count(&status[i], MPI_INT, &count);
        MPI_Test_cancelled(&status[i], &flag);
        CHECK(q[i] == MPI_REQUEST_NULL && count == 0 && !flag,
              "status %d: count %d, cancelled %d", i, count, flag);
    }
}

/* Nothing is sent, from nowhere. */
static void nothing(void)
{
    MPI_Request q[4];
    int counts[64] = {0}, places[64] = {0};
    MPI_Ibcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD, &q[0]);
    MPI_Iallreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q[1]);
    MPI_Ialltoallv(NULL, counts, places, MPI_INT, NULL, counts, places, MPI_INT,
                   MPI_COMM_WORLD, &q[2]);
    MPI_Igather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD, &q[3]);
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
}

/* Two neighbours in a page of memory get data at a time, while messages show
 * that page to peers. */
static void one_page(void)
{
    char *block = malloc(1 << 20), *other = malloc(1 << 20);
    MPI_Request q[4];
    size_t half = (1 << 19) - 100;
    for (int round = 0; round < 40; round++) {
        int root = round % world_size;
        memset(block, world_rank == root ? round : 0x55, 1 << 20);
        memset(other, round + 1, 1 << 20);
        MPI_Ibcast(block, (int)half, MPI_BYTE, root, MPI_COMM_WORLD, &q[0]);
        MPI_Ibcast(block + half, (1 << 20) - (int)half, MPI_BYTE, root,
                   MPI_COMM_WORLD, &q[1]);
        int next = (world_rank + 1) % world_size;
        MPI_Isend(other + 77, 600000, MPI_BYTE, next, 1, MPI_COMM_WORLD, &q[2]);
        MPI_Irecv(other + 700000, 300000, MPI_BYTE, MPI_ANY_SOURCE, 2,
                  MPI_COMM_WORLD, &q[3]);
        MPI_Send(other + 77, 300000, MPI_BYTE, next, 2, MPI_COMM_WORLD);
        char *got = malloc(600000);
        MPI_Recv(got, 600000, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 1 << 20; i++)
            CHECK(block[i] == (char)round, "round %d: byte %d is %d", round, i,
                  block[i]);
        for (int i = 0; i < 600000; i++)
            CHECK(got[i] == (char)(round + 1), "message %d: byte %d", round, i);
        free(got);
    }
    free(block);
    free(other);
}

#if HAVE_PERSISTENT
#define MANY 9

/* Each rank starts them in another order, with a message among them. */
static void any_order(void)
{
    int in[MANY][N], sums[MANY][N], word = -1;
    int next = (world_rank + 1) % world_size;
    int last = (world_rank + world_size - 1) % world_size;
    MPI_Request q[MANY + 2];
    for (int k = 0; k < MANY; k++)
        MPI_Allreduce_init(in[k], sums[k], k % 3 ? N : 1, MPI_INT, MPI_SUM,
                           MPI_COMM_WORLD, MPI_INFO_NULL, &q[k]);
    MPI_Recv_init(&word, 1, MPI_INT, last, 3, MPI_COMM_WORLD, &q[MANY]);
    MPI_Send_init(&world_rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD,
                  &q[MANY + 1]);
    for (int turn = 0; turn < 30; turn++) {
        for (int k = 0; k < MANY; k++)
            for (int i = 0; i < N; i++)
                in[k][i] = k + i * turn + world_rank;
        for (int k = 0; k < MANY; k++)
            MPI_Start(&q[(k + turn + world_rank) % MANY]);
        MPI_Startall(2, &q[MANY]);
        if (turn % 2)
            MPI_Waitall(MANY + 2, q, MPI_STATUSES_IGNORE);
        for (int left = turn % 2 ? 0 : MANY + 2, n, some[MANY + 2]; left;
             left -= n)
            MPI_Waitsome(MANY + 2, q, &n, some, MPI_STATUSES_IGNORE);
        CHECK(word == last, "in any order: message %d", word);
        for (int k = 0; k < MANY; k++)
            for (int i = 0; i < (k % 3 ? N : 1); i++)
                CHECK(sums[k][i] == world_size * (k + i * turn) +
                                        world_size * (world_size - 1) / 2,
                      "in any order: turn %d, sum %d wrong at %d", turn, k, i);
    }
    for (int k = 0; k < MANY + 2; k++)
        MPI_Request_free(&q[k]);
}

/* Requests last longer than their communicator, datatype and operation. MPICH
 * alone ends the program there with collectives of its own. */
static void outliving(void)
{
    double field[64][8], got[64][8];
    MPI_Datatype column;
    MPI_Request q[4];
    int flag, sum = -1, root = world_size - 1;
    MPI_Comm comm = fresh();
    MPI_Barrier(comm);
    MPI_Type_vector(64, 3, 8, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Bcast_init(field, 1, column, root, comm, MPI_INFO_NULL, &q[0]);
    MPI_Allreduce_init(&world_rank, &sum, 1, MPI_INT, MPI_SUM, comm,
                       MPI_INFO_NULL, &q[1]);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &q[2]);
    MPI_Scatter_init(field, 1, MPI_INT, got, 1, MPI_INT, 0, comm, MPI_INFO_NULL,
                     &q[3]);
    MPI_Type_free(&column);
    MPI_Comm_free(&comm);
    MPI_Type_contiguous(5, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 64; i++)
            for (int j = 0; j < 8; j++)
                field[i][j] = world_rank == root ? i * 8 + j + turn : -1;
        MPI_Test(&q[1], &flag, MPI_STATUS_IGNORE);
        CHECK(flag, "an inactive request is not complete");
        MPI_Startall(3, q);
        MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
        CHECK(sum == world_size * (world_size - 1) / 2, "outliving: %d", sum);
        for (int i = 0; i < 64; i++)
            for (int j = 0; j < 8; j++)
                CHECK(field[i][j] ==
                          (world_rank == root || j < 3 ? i * 8 + j + turn : -1),
                      "outliving: turn %d, wrong at %d, %d", turn, i, j);
    }
    for (int k = 0; k < 4; k++) {
        MPI_Request_free(&q[k]);
        CHECK(q[k] == MPI_REQUEST_NULL, "freed, and not null");
    }
    MPI_Type_free(&column);
}

/* A root that runs ahead of the others. */
static void running_ahead(void)
{
    int word;
    MPI_Request q;
    MPI_Bcast_init(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    for (int turn = 0; turn < 500; turn++) {
        word = world_rank ? -1 : turn;
        if (world_rank && turn % 100 == 0)
            usleep(1000);
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK(word == turn, "running ahead: %d in turn %d", word, turn);
    }
    MPI_Request_free(&q);
}

static void persistent(void)
{
    any_order();
    outliving();
    running_ahead();
}
#else
static void persistent(void)
{
}
#endif

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    nothing();
    statuses();
#ifndef OMPI_MAJOR_VERSION
    freed_communicator();
#else
    if (getenv("LD_PRELOAD"))
        freed_communicator();
#endif
    freed_datatype();
    overtaken();
    wrong_arguments();
    freed_operation();
    never_ours();
    one_page();
    persistent();
    test_end();
    return 0;
}
