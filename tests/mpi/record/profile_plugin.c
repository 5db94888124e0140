/* A shared object that calls MPI, as often as its caller asks. */
#include <mpi.h>

__attribute__((visibility("default"))) void call(int times)
{
    for (int i = 0; i < times; i++)
        MPI_Barrier(MPI_COMM_SELF);
}
