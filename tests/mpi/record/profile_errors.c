/*
 * profile_errors.c - what failing completion calls return, with statuses and
 * without. Prints the error class of each; 2 ranks.
 */
#include <mpi.h>

#include <stdio.h>

static int me;
static int a[100], b[100];

static void told(const char *what, int code)
{
    int class = code;
    if (code)
        MPI_Error_class(code, &class);
    if (me == 1)
        printf("%s: %s\n", what,
               class == MPI_SUCCESS         ? "success"
               : class == MPI_ERR_IN_STATUS ? "in status"
               : class == MPI_ERR_TRUNCATE  ? "truncated"
               : class == MPI_ERR_PENDING   ? "pending"
                                            : "other");
}

/* Rank 0 sends two messages, the first of which is too long for rank 1. */
static void begin(MPI_Request *r)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        MPI_Isend(a, 50, MPI_INT, 1, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(a, 5, MPI_INT, 1, 2, MPI_COMM_WORLD, &r[1]);
    } else {
        MPI_Irecv(b, 10, MPI_INT, 0, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(b + 50, 10, MPI_INT, 0, 2, MPI_COMM_WORLD, &r[1]);
    }
}

int main(int argc, char **argv)
{
    MPI_Request r[2];
    MPI_Status s[2];
    int index, count, which[2], flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    begin(r);
    told("Waitall, ignored", MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    begin(r);
    told("Waitall", MPI_Waitall(2, r, s));
    begin(r);
    told("Wait, ignored", MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    for (int ignored = 0; ignored < 2; ignored++) {
        begin(r);
        for (int left = 2; left; left -= count > 0 ? count : 1) {
            int rc = MPI_Waitsome(2, r, &count, which,
                                  ignored ? MPI_STATUSES_IGNORE : s);
            if (count == MPI_UNDEFINED)
                break;
            if (rc)
                told("Waitsome", rc);
        }
        begin(r);
        for (int i = 0; i < 2; i++) {
            int rc = MPI_Waitany(2, r, &index, ignored ? MPI_STATUS_IGNORE : s);
            if (rc)
                told("Waitany", rc);
        }
        begin(r);
        int rc;
        do
            rc = MPI_Testall(2, r, &flag, ignored ? MPI_STATUSES_IGNORE : s);
        while (!rc && !flag);
        told("Testall", rc);
        begin(r);
        do
            rc = MPI_Test(&r[0], &flag, ignored ? MPI_STATUS_IGNORE : s);
        while (!rc && !flag);
        told("Test", rc);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    }
    begin(r);
    told("Recv",
         me ? MPI_Recv(b, 3, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
            : MPI_Send(a, 50, MPI_INT, 1, 3, MPI_COMM_WORLD));
    MPI_Waitall(2, r, s);
    MPI_Finalize();
    if (me == 0)
        puts("all is well");
    return 0;
}
