/*
 * virtual_more.c - procedures that few programs call, in virtual time; rank 0
 * prints "name nanoseconds". The model is that of virtual_times.c.
 */
#include "stopwatch.h"

#include <string.h>
#include <unistd.h>

static int me, n;
static char buffer[1 << 20];

static void send(int bytes, int tag)
{
    MPI_Send(buffer, bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
}

/* A duplicate exists once all members have made the call. A rank may use it
 * before it makes another duplicate, or after: both mean the same one. */
static void duplicate(bool info)
{
    MPI_Comm first, second;
    MPI_Request r;
    int mine = me;
    begin();
    if (me == n - 1)
        usleep(1000);
#ifdef WITH_INFO
    if (info)
        MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &first, &r);
    else
#endif
        MPI_Comm_idup(MPI_COMM_WORLD, &first, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    end(info ? "idup_with_info" : "idup");
    if (me == 0)
        MPI_Send(&mine, 1, MPI_INT, n - 1, 1, first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    if (me == n - 1)
        MPI_Recv(&mine, 1, MPI_INT, 0, 1, first, MPI_STATUS_IGNORE);
    MPI_Bcast(&mine, 1, MPI_INT, n - 1, second);
    MPI_Bcast(&mine, 1, MPI_INT, 0, first);
    if (mine != 0)
        printf("wrong: %d\n", mine);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
}

#ifdef STATUSES
static void receive(MPI_Request *r, int tag)
{
    MPI_Irecv(buffer, 60000, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(buffer + 60000, 8, MPI_CHAR, 1, tag + 1, MPI_COMM_WORLD, &r[1]);
}

static void check(const char *name, bool good)
{
    if (!good)
        printf("wrong: %s\n", name);
}

/* Each of two is complete when its message has come, and not before. */
static void status_all(void)
{
    MPI_Request r[2];
    MPI_Status s[2];
    int flag = 0;
    begin();
    if (me == 0) {
        receive(r, 20);
        while (!flag)
            MPI_Request_get_status_all(2, r, &flag, s);
        end("status_all");
        check("all", s[0].MPI_TAG == 20 && s[1].MPI_TAG == 21);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Request_get_status_all(2, r, &flag, MPI_STATUSES_IGNORE);
        check("all of none", flag);
    } else if (me == 1) {
        send(8, 21);
        send(60000, 20);
    }
}

static void status_any(void)
{
    MPI_Request r[2];
    MPI_Status s;
    int flag = 0, index = -1;
    begin();
    if (me == 0) {
        receive(r, 22);
        while (!flag)
            MPI_Request_get_status_any(2, r, &index, &flag, &s);
        end("status_any");
        check("any", index == 1 && s.MPI_TAG == 23);
        /* It is so still. */
        MPI_Request_get_status_any(2, r, &index, &flag, MPI_STATUS_IGNORE);
        check("any again", flag && index == 1);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Request_get_status_any(2, r, &index, &flag, &s);
        check("any of none", flag && index == MPI_UNDEFINED);
    } else if (me == 1) {
        send(8, 23);
        send(60000, 22);
    }
}

static void status_some(void)
{
    MPI_Request r[2];
    MPI_Status s[2];
    int count = 0, indices[2] = {-1, -1};
    begin();
    if (me == 0) {
        receive(r, 24);
        while (!count)
            MPI_Request_get_status_some(2, r, &count, indices, s);
        end("status_some");
        check("some", count == 1 && indices[0] == 1 && s[0].MPI_TAG == 25);
        while (count < 2)
            MPI_Request_get_status_some(2, r, &count, indices,
                                        MPI_STATUSES_IGNORE);
        end("status_both");
        check("both", indices[0] + indices[1] == 1);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Request_get_status_some(2, r, &count, indices, s);
        check("some of none", count == MPI_UNDEFINED);
    } else if (me == 1) {
        send(8, 25);
        send(60000, 24);
    }
}
#endif

#ifdef PARTITIONED
/* Not modelled: whether a part has come. How often it was asked is printed. */
static void counted(void)
{
    MPI_Request r;
    int asked = 0, flag = 0;
    if (me == 0)
        MPI_Precv_init(buffer, 2, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &r);
    else
        MPI_Psend_init(buffer, 2, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &r);
    MPI_Start(&r);
    for (int part = 0; part < 2; part++) {
        if (me == 1)
            MPI_Pready(part, r);
        for (flag = 0; me == 0 && !flag; asked++)
            MPI_Parrived(r, part, &flag);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    if (me == 0)
        printf("asked %d\n", asked);
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc > 1) {
#ifdef PARTITIONED
        counted();
#endif
    } else {
        duplicate(false);
#ifdef WITH_INFO
        duplicate(true);
#endif
#ifdef STATUSES
        status_all();
        status_any();
        status_some();
#endif
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
