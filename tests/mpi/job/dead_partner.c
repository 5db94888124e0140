/*
 * dead_partner.c - messages with a rank that has died, as Open MPI lets the
 * others go on under `mpirun --with-ft ulfm`.
 *
 *   dead_partner REPORT [late]
 *
 * Rank 2 of 3 dies; late: while rank 0 waits for it. Rank 0 then waits for its
 * messages in each way that there is, and writes to REPORT which errors it
 * gets.
 */
#include "mpi/test.h"

#include <mpi-ext.h>
#include <signal.h>

#define DEAD 2

static FILE *report;
static char in[2][8], out[8];
static MPI_Request request[2];
static MPI_Status status[2];

static void tell(const char *way, int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    fprintf(report, "%s: %s\n", way,
            class == MPI_SUCCESS                    ? "success"
            : class == MPIX_ERR_PROC_FAILED         ? "failed"
            : class == MPIX_ERR_PROC_FAILED_PENDING ? "pending"
            : class == MPI_ERR_IN_STATUS            ? "in status"
                                                    : "another error");
}

/* A receive, or two. */
static void post(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Irecv(in[i], 8, MPI_BYTE, DEAD, i, MPI_COMM_WORLD, &request[i]);
}

static void drop(int n)
{
    for (int i = 0; i < n; i++)
        if (request[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&request[i]);
}

static void one_by_one(void)
{
    int flag = 0, code = MPI_SUCCESS;
    post(1);
    tell("wait", MPI_Wait(request, status));
    post(1);
    while (!flag && !code)
        code = MPI_Test(request, &flag, status);
    tell("test", code);
    MPI_Recv_init(in[0], 8, MPI_BYTE, DEAD, 0, MPI_COMM_WORLD, request);
    code = MPI_Start(request);
    tell("persistent", code ? code : MPI_Wait(request, status));
    drop(1);
    tell("recv", MPI_Recv(in[0], 8, MPI_BYTE, DEAD, 0, MPI_COMM_WORLD, status));
    tell("sendrecv", MPI_Sendrecv(out, 8, MPI_BYTE, DEAD, 0, in[0], 8, MPI_BYTE,
                                  DEAD, 0, MPI_COMM_WORLD, status));
}

static void several(void)
{
    int index[2], n = 0, flag = 0, code = MPI_SUCCESS;
    post(2);
    tell("waitall", MPI_Waitall(2, request, status));
    drop(2);
    post(2);
    while (!flag && !code)
        code = MPI_Testall(2, request, &flag, status);
    tell("testall", code);
    drop(2);
    post(2);
    tell("waitany", MPI_Waitany(2, request, &n, status));
    drop(2);
    post(2);
    tell("waitsome", MPI_Waitsome(2, request, &n, index, status));
    drop(2);
}

static void sends(void)
{
    int flag = 0, code;
    tell("ssend", MPI_Ssend(out, 8, MPI_BYTE, DEAD, 0, MPI_COMM_WORLD));
    code = MPI_Issend(out, 8, MPI_BYTE, DEAD, 0, MPI_COMM_WORLD, request);
    while (!flag && !code)
        code = MPI_Test(request, &flag, status);
    tell("issend", code);
}

static void probes(void)
{
    int flag = 0, code = MPI_SUCCESS;
    tell("probe", MPI_Probe(DEAD, 0, MPI_COMM_WORLD, status));
    while (!flag && !code)
        code = MPI_Iprobe(DEAD, 0, MPI_COMM_WORLD, &flag, status);
    tell("iprobe", code);
    MPI_Irecv(in[0], 8, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, request);
    tell("any source", MPI_Wait(request, status));
    drop(1);
}

int main(int argc, char **argv)
{
    bool late = argc > 2;
    MPI_Comm shrunk;
    int n = 0;
    test_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == DEAD) {
        usleep(late ? 300000 : 0);
        raise(SIGKILL);
    }
    if (world_rank == 0) {
        report = fopen(argv[1], "w");
        CHECK(report, "no report");
        usleep(late ? 0 : 300000);
        one_by_one();
        several();
        sends();
        probes();
        fclose(report);
    }
    MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunk);
    MPI_Comm_size(shrunk, &n);
    CHECK(n == 2, "%d are left", n);
    if (world_rank == 0)
        printf("gone on\n");
    fflush(stdout);
    _exit(0);
}
