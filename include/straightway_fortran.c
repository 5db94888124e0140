/*
 * straightway_fortran.c - the C half of the Fortran module straightway_mpi
 * (straightway_mpi.f90 beside this file). A Fortran program compiles it once:
 *
 *     mpicc -I PREFIX/include -c straightway_fortran.c
 *     mpifort straightway_mpi.f90 program.f90 straightway_fortran.o
 */
#include <straightway_mpi.h>

void straightway_fortran_alloc(size_t bytes, void **block, int *error)
{
    *error = straightway_alloc(bytes, block);
}

void straightway_fortran_free(void **block)
{
    free(*block);
    *block = NULL;
}

void straightway_fortran_give(void **block, size_t bytes, int dest, int tag,
                              MPI_Fint comm, int *error)
{
    *error = straightway_give(block, bytes, dest, tag, MPI_Comm_f2c(comm));
}

void straightway_fortran_igive(void **block, size_t bytes, int dest, int tag,
                               MPI_Fint comm, MPI_Fint *request, int *error)
{
    MPI_Request given = MPI_REQUEST_NULL;
    *error = straightway_igive(block, bytes, dest, tag, MPI_Comm_f2c(comm),
                               &given);
    *request = MPI_Request_c2f(given);
}

void straightway_fortran_itake(void **block, size_t most, int source, int tag,
                               MPI_Fint comm, MPI_Fint *request, int *error)
{
    MPI_Request coming = MPI_REQUEST_NULL;
    *error = straightway_itake(block, most, source, tag, MPI_Comm_f2c(comm),
                               &coming);
    *request = MPI_Request_c2f(coming);
}

/* `from` gets the source and the tag. */
void straightway_fortran_take(void **block, size_t *bytes, int source, int tag,
                              MPI_Fint comm, int from[2], int *error)
{
    MPI_Status status;
    *error = straightway_take(block, bytes, source, tag, MPI_Comm_f2c(comm),
                              &status);
    from[0] = status.MPI_SOURCE;
    from[1] = status.MPI_TAG;
}
