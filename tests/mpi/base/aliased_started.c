/*
 * aliased_started.c - nonblocking collectives that send and receive the same
 * memory, which MPI forbids. Some only the root starts. No rank completes them.
 *
 *   aliased_started FILE ELEMENTS     FILE.RANK gets what the calls return
 */
#include "mpi/test.h"

static FILE *file;

static void took(const char *what, int rc)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    fprintf(file, "%s %d\n", what, class);
    fflush(file);
}

#define TRY(what, ...) took(#what, MPI_##what(__VA_ARGS__))

int main(int argc, char **argv)
{
    char name[4096];
    MPI_Request q;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Datatype of = MPI_INT, types[16];
    int counts[16], places[16];
    test_start(&argc, &argv);
    int n = atoi(argv[2]), me = world_rank;
    CHECK(world_size <= 16, "at most 16 ranks");
    snprintf(name, sizeof name, "%s.%d", argv[1], me);
    file = fopen(name, "w");
    CHECK(file, "no file %s", name);
    int *b = calloc((size_t)(n * world_size), sizeof *b);
    for (int i = 0; i < world_size; i++) {
        counts[i] = n;
        places[i] = i * n;
        types[i] = of;
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (me == 0) {
        TRY(Igather, b, n, of, b, n, of, 0, comm, &q);
        TRY(Igatherv, b, n, of, b, counts, places, of, 0, comm, &q);
        TRY(Iscatter, b, n, of, b, n, of, 0, comm, &q);
        TRY(Iscatterv, b, counts, places, of, b, n, of, 0, comm, &q);
    }
    TRY(Iallgather, b + me * n, n, of, b, n, of, comm, &q);
    TRY(Iallgatherv, b + me * n, n, of, b, counts, places, of, comm, &q);
    TRY(Ialltoall, b, n, of, b, n, of, comm, &q);
    TRY(Ialltoallv, b, counts, places, of, b, counts, places, of, comm, &q);
    TRY(Ialltoallw, b, counts, places, types, b, counts, places, types, comm,
        &q);
    if (me == 0)
        TRY(Ireduce, b, b, n, of, MPI_SUM, 0, comm, &q);
    TRY(Iallreduce, b, b, n, of, MPI_SUM, comm, &q);
    TRY(Ireduce_scatter, b, b, counts, of, MPI_SUM, comm, &q);
    TRY(Ireduce_scatter_block, b, b, n, of, MPI_SUM, comm, &q);
    TRY(Iscan, b, b, n, of, MPI_SUM, comm, &q);
    TRY(Iexscan, b, b, n, of, MPI_SUM, comm, &q);
    fclose(file);
    test_end();
    return 0;
}
