/*
 * virtual_persistent.c - persistent collectives, and messages in parts, among
 * several requests that are completed together, in each of the ways there are.
 *
 * MPICH and its kin know neither in MPI_Testall: their programs end there.
 */
#include "mpi/test.h"

#include <string.h>

enum { COLLECTIVES = 2, PARTS = 2, BYTES = 16, ALL = 6, ROUNDS = 4 };

static int me, n;
static MPI_Request request[ALL];
static int mine[COLLECTIVES], sum[COLLECTIVES], told, heard;
static char out[PARTS * BYTES], in[PARTS * BYTES];

static void make(void)
{
    int to = (me + 1) % n, from = (me + n - 1) % n;
    for (int i = 0; i < COLLECTIVES; i++)
        MPI_Allreduce_init(&mine[i], &sum[i], 1, MPI_INT, MPI_SUM,
                           MPI_COMM_WORLD, MPI_INFO_NULL, &request[i]);
    MPI_Psend_init(out, PARTS, BYTES, MPI_CHAR, to, 1, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &request[2]);
    MPI_Precv_init(in, PARTS, BYTES, MPI_CHAR, from, 1, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &request[3]);
    MPI_Send_init(&told, 1, MPI_INT, to, 2, MPI_COMM_WORLD, &request[4]);
}

/* The last is a receive, with wildcards if `wild`. */
static void start(int round, int wild)
{
    int from = (me + n - 1) % n;
    for (int i = 0; i < COLLECTIVES; i++) {
        mine[i] = (i + 1) * me + round;
        sum[i] = -1;
    }
    told = 100 * me + round;
    memset(out, me + round, sizeof out);
    memset(in, -1, sizeof in);
    MPI_Irecv(&heard, 1, MPI_INT, wild ? MPI_ANY_SOURCE : from, 2,
              MPI_COMM_WORLD, &request[5]);
    MPI_Startall(5, request);
    for (int part = 0; part < PARTS; part++)
        MPI_Pready(part, request[2]);
}

static void check(const char *how, int round, const MPI_Status *status)
{
    int from = (me + n - 1) % n, all = n * (n - 1) / 2;
    for (int i = 0; i < COLLECTIVES; i++)
        CHECK(sum[i] == (i + 1) * all + n * round, "%s %d: a sum of %d", how,
              round, sum[i]);
    for (int i = 0; i < PARTS * BYTES; i++)
        CHECK(in[i] == from + round, "%s %d: %d at %d", how, round, in[i], i);
    CHECK(heard == 100 * from + round, "%s %d: heard %d", how, round, heard);
    CHECK(request[5] == MPI_REQUEST_NULL, "%s %d: it is there", how, round);
    CHECK(!status || (status->MPI_SOURCE == from && status->MPI_TAG == 2),
          "%s %d: a message of %d", how, round, status->MPI_SOURCE);
}

static void all_of(int round, bool waits, bool told_so, bool wild)
{
    MPI_Status status[ALL];
    int flag = 0;
    start(round, wild);
    if (waits)
        MPI_Waitall(ALL, request, told_so ? status : MPI_STATUSES_IGNORE);
    while (!waits && !flag)
        MPI_Testall(ALL, request, &flag,
                    told_so ? status : MPI_STATUSES_IGNORE);
    check(waits ? "wait for all" : "test all", round,
          told_so ? &status[5] : NULL);
}

static void some_of(int round, bool waits)
{
    MPI_Status status[ALL], its = {0};
    int count, index[ALL], of_each[ALL] = {0};
    start(round, false);
    for (int done = 0; done < ALL; done += count) {
        if (waits)
            MPI_Waitsome(ALL, request, &count, index, status);
        else
            MPI_Testsome(ALL, request, &count, index, status);
        CHECK(count >= 0 && done + count <= ALL, "%d of some", count);
        for (int i = 0; i < count; i++) {
            of_each[index[i]]++;
            if (index[i] == 5)
                its = status[i];
        }
    }
    for (int i = 0; i < ALL; i++)
        CHECK(of_each[i] == 1, "request %d: %d times", i, of_each[i]);
    check(waits ? "wait for some" : "test some", round, &its);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    world_rank = me;
    world_size = n;
    make();
    for (int round = 0; round < ROUNDS; round++) {
        all_of(round, true, round % 2, round / 2);
        all_of(round, false, round % 2, round / 2);
        some_of(round, true);
        some_of(round, false);
    }
    for (int i = 0; i < 5; i++)
        MPI_Request_free(&request[i]);
    test_end();
}
