/*
 * span_lives.c - what programs do to communicators over several nodes, and
 * what must not harm them.
 *
 *   span_lives ALIVE ROUNDS
 *
 * Communicators are freed with messages pending, and after a single call; more
 * of them are alive than spans may be; they are copied, split, and left with
 * one member on each node; a rank in a collective owes a large message to a
 * peer in another call. The process may not gain descriptors, mappings, nor the
 * host's communicators.
 */
#include "mpi/growth.h"

#define BIG 300000

static int *big, *other;

/* Calls that go to all others and back. */
static void use(MPI_Comm comm, int i)
{
    int n, me, sum = -1, all[64];
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    int mine = me + i, root = i % n, got = me == root ? i : -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == n * (n - 1) / 2 + n * i, "Allreduce %d gives %d", i, sum);
    MPI_Bcast(&got, 1, MPI_INT, root, comm);
    CHECK(got == i, "Bcast %d gives %d", i, got);
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
    for (int k = 0; k < n; k++)
        CHECK(all[k] == k + i, "Allgather %d gives %d", i, all[k]);
}

/* The messages arrive after their communicator is gone. */
static void freed_with_messages(int i)
{
    MPI_Comm comm;
    MPI_Request request[2];
    int next = (world_rank + 1) % world_size, n = i % 2 ? BIG : 40;
    int before = (world_rank + world_size - 1) % world_size;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, i);
    for (int k = 0; k < n; k++)
        big[k] = world_rank + k + i;
    MPI_Irecv(other, n, MPI_INT, before, 3, comm, &request[0]);
    MPI_Isend(big, n, MPI_INT, next, 3, comm, &request[1]);
    MPI_Comm_free(&comm);
    use(MPI_COMM_WORLD, i);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    for (int k = 0; k < n; k++)
        CHECK(other[k] == before + k + i, "int %d of a message is %d", k,
              other[k]);
}

/* The even ranks receive, the odd ones have sent: but a rank is in a barrier
 * before its message has left, or before it has taken the other's. */
static void owes(int i)
{
    int peer = world_rank ^ 1, root = i % world_size;
    MPI_Request request = MPI_REQUEST_NULL;
    if (peer >= world_size)
        peer = MPI_PROC_NULL;
    for (int k = 0; k < BIG; k++)
        big[k] = world_rank * 7 + k + i;
    if (world_rank % 2) {
        MPI_Isend(big, BIG, MPI_INT, peer, 9, MPI_COMM_WORLD, &request);
        MPI_Bcast(&i, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        /* This rank is late to the collectives: it waits for the message of a
         * rank that is in one of them. */
        MPI_Recv(other, peer == MPI_PROC_NULL ? 0 : BIG, MPI_INT, peer, 9,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Bcast(&i, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; k < BIG && peer != MPI_PROC_NULL; k++)
            CHECK(other[k] == peer * 7 + k + i, "int %d of rank %d is %d", k,
                  peer, other[k]);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* More communicators than there may be spans, freed in another order. */
static void many_alive(int alive)
{
    MPI_Comm *comm = malloc((size_t)alive * sizeof *comm);
    for (int i = 0; i < alive; i++) {
        MPI_Comm_dup(i % 3 == 1 ? comm[i - 1] : MPI_COMM_WORLD, &comm[i]);
        use(comm[i], i);
    }
    for (int i = alive - 1; i >= 0; i--)
        use(comm[i], i);
    for (int i = 0; i < alive; i += 2)
        MPI_Comm_free(&comm[i]);
    for (int i = 1; i < alive; i += 2) {
        use(comm[i], i);
        MPI_Comm_free(&comm[i]);
    }
    free(comm);
}

/* Those that hold every second rank, and every rank but one, backwards. */
static void parts(int i)
{
    MPI_Comm part, copy;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &part);
    use(part, i);
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD,
                   world_rank == i % world_size ? MPI_UNDEFINED : 0,
                   -world_rank, &part);
    if (part == MPI_COMM_NULL)
        return;
    use(part, i);
    MPI_Comm_dup(part, &copy);
    MPI_Comm_free(&part);
    use(copy, i);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int alive = (int)argument(argc, argv, 1, 100);
    int rounds = (int)argument(argc, argv, 2, 300);
    long files = 0, maps = 0;
    big = malloc(BIG * sizeof *big);
    other = malloc(BIG * sizeof *other);
    many_alive(alive);
    for (int i = 0; i < 8; i++) {
        freed_with_messages(i);
        owes(i);
        parts(i);
    }
    for (int i = 0; i < rounds; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (i % 4)
            use(comm, i);
        MPI_Comm_free(&comm);
        if (i == rounds / 4) {
            files = entries_of("/proc/self/fd");
            maps = entries_of("/proc/self/map_files");
        }
    }
    CHECK(entries_of("/proc/self/fd") <= files, "%ld descriptors, %ld before",
          entries_of("/proc/self/fd"), files);
    CHECK(entries_of("/proc/self/map_files") <= maps + 8,
          "%ld mappings, %ld before", entries_of("/proc/self/map_files"), maps);
    many_alive(alive);
    free(big);
    free(other);
    test_end();
}
