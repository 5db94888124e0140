/*
 * partitioned_ends.c - what MPI allows around partitioned messages. A host
 * keeps the receiver, a communicator is freed, requests complete among others
 * or never start. There is room for more than is sent, or for less.
 */
#include "mpi/test.h"

#include <stdlib.h>

#define LARGE 300000

static int me;

static void fill(int *at, int n, int first)
{
    for (int i = 0; i < n; i++)
        at[i] = first + i;
}

static int differs(const int *at, int n, int first)
{
    for (int i = 0; i < n; i++)
        if (at[i] != first + i)
            return 1;
    return 0;
}

/* Rank 1 sits in a blocking receive, whose message rank 2 sends when rank 0 has
 * completed its partitioned one. */
static void held_up(void)
{
    int *at = malloc(LARGE * sizeof *at), word = 0;
    MPI_Request request;
    if (me == 0) {
        fill(at, LARGE, 5);
        MPI_Psend_init(at, 3, LARGE / 3, MPI_INT, 1, 0, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready_range(0, 2, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 2, 1, MPI_COMM_WORLD);
    } else if (me == 1) {
        MPI_Precv_init(at, 1, LARGE, MPI_INT, 0, 0, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Recv(&word, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (differs(at, LARGE, 5))
            fail("held up: wrong data");
    } else {
        MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    }
    if (me < 2)
        MPI_Request_free(&request);
    free(at);
}

/* The communicator goes while messages are under way on it. */
static void freed(int n)
{
    int *at = malloc((size_t)n * sizeof *at);
    MPI_Comm comm;
    MPI_Request request;
    for (int turn = 0; turn < 20; turn++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        fill(at, n, me == 0 ? turn : -n);
        if (me == 0)
            MPI_Psend_init(at, 1, n, MPI_INT, 1, 7, comm, MPI_INFO_NULL,
                           &request);
        else if (me == 1)
            MPI_Precv_init(at, 1, n, MPI_INT, 0, 7, comm, MPI_INFO_NULL,
                           &request);
        if (me < 2)
            MPI_Start(&request);
        MPI_Comm_free(&comm);
        for (int start = 0; start < 3 && me < 2; start++) {
            if (start)
                MPI_Start(&request);
            if (me == 0)
                MPI_Pready(0, request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            if (me == 1 && differs(at, n, turn))
                fail("freed communicator: wrong data");
        }
        if (me < 2)
            MPI_Request_free(&request);
    }
    free(at);
}

/* Rank 0 and rank 1 exchange, beside other requests. */
static void among_others(int n)
{
    int *out = malloc((size_t)n * sizeof *out), word[2] = {me, -1}, flag = 0;
    int *in = malloc((size_t)n * sizeof *in), other = !me;
    MPI_Request request[4];
    MPI_Status status[4];
    if (me < 2) {
        MPI_Psend_init(out, 2, n / 2, MPI_INT, other, 0, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request[0]);
        MPI_Recv_init(&word[1], 1, MPI_INT, other, 0, MPI_COMM_WORLD,
                      &request[1]);
        MPI_Precv_init(in, 1, n, MPI_INT, other, 0, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request[2]);
        MPI_Send_init(&word[0], 1, MPI_INT, other, 0, MPI_COMM_WORLD,
                      &request[3]);
    }
    for (int turn = 0; turn < 30 && me < 2; turn++) {
        MPI_Startall(4, request);
        fill(out, n, me * 1000 + turn);
        MPI_Pready(1, request[0]);
        MPI_Request_get_status(request[0], &flag, &status[0]);
        if (flag)
            fail("a message is complete, of which half is ready");
        MPI_Pready(0, request[0]);
        if (turn % 2)
            while (!flag)
                MPI_Request_get_status(request[2], &flag, &status[2]);
        MPI_Waitall(4, request, status);
        if (differs(in, n, other * 1000 + turn) || word[1] != other)
            fail("among others: wrong data");
        if (status[2].MPI_SOURCE != other || status[2].MPI_TAG != 0)
            fail("among others: wrong status");
    }
    for (int i = 0; i < 4 && me < 2; i++)
        MPI_Request_free(&request[i]);
    free(out);
    free(in);
}

/* Static data, which the sender copies while the receiver computes. */
static void of_static_data(void)
{
    static int at[LARGE];
    MPI_Request request;
    if (me == 0)
        MPI_Psend_init(at, 2, LARGE / 2, MPI_INT, 1, 1, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    else if (me == 1)
        MPI_Precv_init(at, 1, LARGE, MPI_INT, 0, 1, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    for (int turn = 0; turn < 60 && me < 2; turn++) {
        fill(at, LARGE, me == 0 ? turn : -LARGE);
        MPI_Start(&request);
        if (me == 0)
            MPI_Pready_range(0, 1, request);
        else
            usleep(3000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (differs(at, LARGE, turn))
            fail("static data: wrong data");
    }
    if (me < 2)
        MPI_Request_free(&request);
}

/* What ranks initialize and do not start costs nothing, and does not disturb
 * the messages between the same ranks. One pair stays until the end. */
static void never_started(void)
{
    static int at[64];
    MPI_Request unused[8], used;
    int last = me == 0 ? 1 : 0;
    if (me > 1)
        return;
    for (int i = 0; i < 9; i++) {
        MPI_Request *to = i < 8 ? &unused[i] : &used;
        if (me == 0)
            MPI_Psend_init(at, 2, 32, MPI_INT, last, 3, MPI_COMM_WORLD,
                           MPI_INFO_NULL, to);
        else
            MPI_Precv_init(at, 1, 64, MPI_INT, last, 3, MPI_COMM_WORLD,
                           MPI_INFO_NULL, to);
    }
    for (int i = 0; i < 7; i++)
        MPI_Request_free(&unused[i]);
    MPI_Start(&used);
    if (me == 0) {
        fill(at, 64, 9);
        MPI_Pready_range(0, 1, used);
    }
    MPI_Wait(&used, MPI_STATUS_IGNORE);
    if (differs(at, 64, 9))
        fail("beside requests that never start: wrong data");
}

static void many(int times)
{
    int at[8];
    MPI_Request request;
    for (int i = 0; i < times && me < 2; i++) {
        if (me == 0)
            MPI_Psend_init(at, 4, 2, MPI_INT, 1, 2, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &request);
        else
            MPI_Precv_init(at, 8, 1, MPI_INT, 0, 2, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &request);
        MPI_Start(&request);
        if (me == 0) {
            fill(at, 8, i);
            MPI_Pready_range(0, 3, request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (me == 1 && differs(at, 8, i))
            fail("one of many: wrong data");
        MPI_Request_free(&request);
    }
}

/* Ints whose gaps follow no rule: no layout describes a million of them, so the
 * receiver's host unpacks them. */
static MPI_Datatype irregular(int n)
{
    int *at = malloc((size_t)n * sizeof *at), next = 0;
    MPI_Datatype type;
    for (int i = 0; i < n; i++) {
        at[i] = next;
        next += 1 + (int)(mix((uint64_t)i) % 3);
    }
    MPI_Type_create_indexed_block(n, 1, at, MPI_INT, &type);
    MPI_Type_commit(&type);
    free(at);
    return type;
}

/* Rank 0 sends `sent` partitions of so many ints. The partitions of rank 1 have
 * as many elements of `type`, in each of which are `each` ints. What is ready
 * last is the first partition. */
static void of_other_sizes(int sent, int ints, int room, int count,
                           MPI_Datatype type, int each, MPI_Comm comm)
{
    MPI_Aint lb, extent;
    MPI_Request request;
    MPI_Status status;
    int came = sent * ints, fits = room * count * each, flag, class, left;
    int last = (room - 1) * count * each;
    MPI_Type_get_extent(type, &lb, &extent);
    size_t bytes = me ? (size_t)extent * (size_t)(room * count) + 64
                      : (size_t)came * sizeof(int);
    int *at = malloc(bytes);
    if (me == 0)
        MPI_Psend_init(at, sent, ints, MPI_INT, 1, 5, comm, MPI_INFO_NULL,
                       &request);
    else
        MPI_Precv_init(at, room, count, type, 0, 5, comm, MPI_INFO_NULL,
                       &request);
    for (int turn = 1; turn < 4; turn++) {
        if (me == 0)
            fill(at, came, turn);
        else
            memset(at, 0xff, bytes);
        MPI_Start(&request);
        if (me == 0) {
            MPI_Pready_range(1, sent - 1, request);
            MPI_Send(NULL, 0, MPI_INT, 1, 6, comm);
            MPI_Recv(NULL, 0, MPI_INT, 1, 6, comm, MPI_STATUS_IGNORE);
            MPI_Pready(0, request);
            MPI_Wait(&request, &status);
            continue;
        }
        MPI_Recv(NULL, 0, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < 100; i++) {
            MPI_Parrived(request, room - 1, &flag);
            CHECK(!flag || (last >= ints && last < came),
                  "ints %d of %d are there, and %d are not", last, came, ints);
        }
        MPI_Send(NULL, 0, MPI_INT, 0, 6, comm);
        for (int i = 0; i < room; i++)
            do
                MPI_Parrived(request, i, &flag);
            while (!flag);
        MPI_Error_class(MPI_Wait(&request, &status), &class);
        CHECK(class == (came > fits ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
              "%d ints into %d: error class %d", came, fits, class);
        MPI_Get_elements(&status, MPI_INT, &left);
        CHECK(left == (came < fits ? came : fits), "%d ints into %d: %d", came,
              fits, left);
        size_t n = bytes / sizeof *at, seen = 0;
        for (size_t i = 0; i < n; i++)
            if (at[i] != -1)
                CHECK(at[i] == turn + (int)seen++, "int %zu: %d", i, at[i]);
        CHECK((int)seen == left, "%zu ints of %d", seen, left);
    }
    MPI_Request_free(&request);
    free(at);
}

static void sizes_differ(void)
{
    enum { MILLION = 1200000 };
    MPI_Comm comm;
    MPI_Datatype gaps, many = irregular(MILLION);
    MPI_Type_create_resized(MPI_INT, 0, 12, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Comm_split(MPI_COMM_WORLD, me < 2, me, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int n = 8; n <= 40000 && me < 2; n *= 5000) {
        of_other_sizes(2, n, 4, n, MPI_INT, 1, comm);
        of_other_sizes(2, n, 3, n - 1, gaps, 1, comm);
        of_other_sizes(4, n, 2, n, MPI_INT, 1, comm);
        of_other_sizes(2, n, 1, n, gaps, 1, comm);
        of_other_sizes(3, n, 2, n + 3, MPI_INT, 1, comm);
    }
    if (me < 2) {
        of_other_sizes(2, MILLION / 2, 2, 1, many, MILLION, comm);
        of_other_sizes(3, MILLION / 2, 2, 1, many, MILLION, comm);
    }
    MPI_Comm_free(&comm);
    MPI_Type_free(&gaps);
    MPI_Type_free(&many);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    me = world_rank;
    held_up();
    freed(10);
    freed(LARGE);
    among_others(8);
    among_others(LARGE);
    of_static_data();
    many(3000);
    never_started();
    sizes_differ();
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
