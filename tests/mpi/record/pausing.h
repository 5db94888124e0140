/*
 * pausing.h - included before a program (-include), it switches the profile off
 * and on again before calls at random, on each rank for itself.
 */
#ifndef PAUSING_H
#define PAUSING_H

#include <mpi.h>

static inline void pausing(void)
{
    static unsigned long long state;
    if (!state) {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        state = 88172645463325252u + 7919u * (unsigned)rank;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if (state >> 32 & 1)
        MPI_Pcontrol(state >> 40 & 1);
}

#define MPI_Send(...) (pausing(), MPI_Send(__VA_ARGS__))
#define MPI_Ssend(...) (pausing(), MPI_Ssend(__VA_ARGS__))
#define MPI_Isend(...) (pausing(), MPI_Isend(__VA_ARGS__))
#define MPI_Issend(...) (pausing(), MPI_Issend(__VA_ARGS__))
#define MPI_Recv(...) (pausing(), MPI_Recv(__VA_ARGS__))
#define MPI_Irecv(...) (pausing(), MPI_Irecv(__VA_ARGS__))
#define MPI_Mprobe(...) (pausing(), MPI_Mprobe(__VA_ARGS__))
#define MPI_Mrecv(...) (pausing(), MPI_Mrecv(__VA_ARGS__))
#define MPI_Imrecv(...) (pausing(), MPI_Imrecv(__VA_ARGS__))
#define MPI_Sendrecv(...) (pausing(), MPI_Sendrecv(__VA_ARGS__))
#define MPI_Recv_init(...) (pausing(), MPI_Recv_init(__VA_ARGS__))
#define MPI_Send_init(...) (pausing(), MPI_Send_init(__VA_ARGS__))
#define MPI_Start(...) (pausing(), MPI_Start(__VA_ARGS__))
#define MPI_Startall(...) (pausing(), MPI_Startall(__VA_ARGS__))
#define MPI_Wait(...) (pausing(), MPI_Wait(__VA_ARGS__))
#define MPI_Waitall(...) (pausing(), MPI_Waitall(__VA_ARGS__))
#define MPI_Waitany(...) (pausing(), MPI_Waitany(__VA_ARGS__))
#define MPI_Waitsome(...) (pausing(), MPI_Waitsome(__VA_ARGS__))
#define MPI_Test(...) (pausing(), MPI_Test(__VA_ARGS__))
#define MPI_Testall(...) (pausing(), MPI_Testall(__VA_ARGS__))
#define MPI_Cancel(...) (pausing(), MPI_Cancel(__VA_ARGS__))
#define MPI_Request_free(...) (pausing(), MPI_Request_free(__VA_ARGS__))
#define MPI_Comm_dup(...) (pausing(), MPI_Comm_dup(__VA_ARGS__))
#define MPI_Comm_split(...) (pausing(), MPI_Comm_split(__VA_ARGS__))
#define MPI_Comm_free(...) (pausing(), MPI_Comm_free(__VA_ARGS__))
#define MPI_Barrier(...) (pausing(), MPI_Barrier(__VA_ARGS__))
#define MPI_Bcast(...) (pausing(), MPI_Bcast(__VA_ARGS__))
#define MPI_Reduce(...) (pausing(), MPI_Reduce(__VA_ARGS__))
#define MPI_Allreduce(...) (pausing(), MPI_Allreduce(__VA_ARGS__))
#define MPI_Gatherv(...) (pausing(), MPI_Gatherv(__VA_ARGS__))
#define MPI_Allgather(...) (pausing(), MPI_Allgather(__VA_ARGS__))
#define MPI_Alltoall(...) (pausing(), MPI_Alltoall(__VA_ARGS__))
#define MPI_Alltoallv(...) (pausing(), MPI_Alltoallv(__VA_ARGS__))

#endif
