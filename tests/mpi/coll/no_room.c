/*
 * no_room.c - nonblocking collectives where there is no room at all for what
 * the members share. Either all of them complete one with the right result, or
 * all of them learn from its error class that there is no memory.
 */
#include "mpi/test.h"

#define COMMUNICATORS 40

static int class_of(int error)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    return class;
}

static int try_one(MPI_Comm comm)
{
    MPI_Request r;
    int64_t one = world_rank + 1, all = -1;
    int rc = MPI_Iallreduce(&one, &all, 1, MPI_INT64_T, MPI_SUM, comm, &r);
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(rc != MPI_SUCCESS || all == world_size * (world_size + 1) / 2,
          "the sum is %lld", (long long)all);
    return class_of(rc);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    MPI_Comm comm[COMMUNICATORS];
    int refused = 0;
    for (int i = 0; i < COMMUNICATORS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Comm_set_errhandler(comm[i], MPI_ERRORS_RETURN);
    }
    for (int k = 0; k < 2 * COMMUNICATORS; k++) {
        int mine = try_one(comm[k / 2]), least, most;
        MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(least == most, "members differ: %d, %d", least, most);
        CHECK(mine == MPI_SUCCESS || mine == MPI_ERR_NO_MEM, "the class is %d",
              mine);
        refused += mine != MPI_SUCCESS;
    }
    if (world_rank == 0)
        printf("%d were refused\n", refused);
    for (int i = 0; i < COMMUNICATORS; i++)
        MPI_Comm_free(&comm[i]);
    test_end();
    return 0;
}
