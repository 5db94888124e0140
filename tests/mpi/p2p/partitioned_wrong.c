/*
 * partitioned_wrong.c - the errors of partitions that are not there.
 *
 *   partitioned_wrong --log LOG
 *
 * Writes to LOG.rank the error class of each wrong call. A wrong call makes
 * nothing ready, and the message is right in the end.
 */
#include "mpi/test.h"

enum { PARTS = 4, EACH = 3 };

static FILE *log_;
static const char *handled = "nothing";

static const char *name_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class == MPI_SUCCESS       ? "none"
           : class == MPI_ERR_ARG     ? "argument"
           : class == MPI_ERR_REQUEST ? "request"
           : class == MPI_ERR_OTHER   ? "other"
                                      : "another";
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    handled = name_of(*code);
}

static void tell(const char *what, int code)
{
    fprintf(log_, "%s: %s, handled %s\n", what, name_of(code), handled);
    handled = "nothing";
}

#define TRY(call) tell(#call, call)

static void send_wrongly(MPI_Request request)
{
    int beyond[] = {0, 1, PARTS}, below[] = {-1}, flag;
    TRY(MPI_Pready(PARTS, request));
    TRY(MPI_Pready(-1, request));
    TRY(MPI_Pready_range(2, PARTS, request));
    TRY(MPI_Pready_range(-1, 1, request));
    TRY(MPI_Pready_range(2, 1, request));
    TRY(MPI_Pready_range(PARTS + 2, PARTS, request));
    TRY(MPI_Pready_list(3, beyond, request));
    TRY(MPI_Pready_list(1, below, request));
    TRY(MPI_Pready_list(0, NULL, request));
    TRY(MPI_Pready_list(-1, below, request));
    TRY(MPI_Pready_list(1, NULL, request));
    TRY(MPI_Parrived(request, 0, &flag));
}

static void receive_wrongly(MPI_Request request)
{
    int flag;
    TRY(MPI_Parrived(request, PARTS, &flag));
    TRY(MPI_Parrived(request, -1, &flag));
    TRY(MPI_Parrived(request, 0, NULL));
    TRY(MPI_Pready(0, request));
    for (int i = 0; i < 1000; i++)
        for (int part = 0; part < PARTS; part++) {
            MPI_Parrived(request, part, &flag);
            CHECK(!flag, "partition %d is there", part);
        }
}

int main(int argc, char **argv)
{
    char name[4096];
    int at[PARTS * EACH], wait = 0;
    MPI_Request request;
    MPI_Errhandler handler;
    test_start(&argc, &argv);
    snprintf(name, sizeof name, "%s.%d", argv[argc - 1], world_rank);
    log_ = fopen(name, "w");
    CHECK(log_ != NULL, "cannot write %s", name);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (world_rank == 0)
        MPI_Psend_init(at, PARTS, EACH, MPI_INT, 1, 0, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(at, PARTS, EACH, MPI_INT, 0, 0, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    if (world_rank == 0)
        TRY(MPI_Pready(0, request)); /* it is not started */
    for (int i = 0; i < PARTS * EACH; i++)
        at[i] = world_rank ? -1 : i;
    MPI_Start(&request);
    if (world_rank == 0) {
        send_wrongly(request);
        MPI_Send(&wait, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&wait, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Pready_range(0, PARTS - 1, request);
    } else {
        MPI_Recv(&wait, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        receive_wrongly(request);
        MPI_Send(&wait, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < PARTS * EACH; i++)
        CHECK(at[i] == i, "int %d: %d", i, at[i]);
    MPI_Request_free(&request);
    MPI_Errhandler_free(&handler);
    fclose(log_);
    test_end();
    return 0;
}
