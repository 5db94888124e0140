/*
 * Neighbourhood collectives with buffers in a device's memory, in all forms,
 * under a host that knows no devices. The members are a ring. Those of odd
 * numbers receive into ordinary memory.
 *
 *     gpu_neighbours DRIVER ROUNDS
 */
#include "mpi/random/random_device.h"

#define N 700
#define BLOCK (2 * N) /* doubles from a block to the next */

enum { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, KINDS };
enum { BLOCKING, IMMEDIATE, PERSISTENT, FORMS };

static MPI_Comm ring;
static MPI_Datatype vector; /* N doubles, one after every other */
static double *out, *in, *out_seen, *in_seen;

#if HAVE_PERSISTENT
#define CALL(Name, name, ...)                                  \
    (form == BLOCKING ? MPI_Neighbor_##name(__VA_ARGS__, ring) \
     : form == IMMEDIATE                                       \
         ? MPI_Ineighbor_##name(__VA_ARGS__, ring, q)          \
         : MPI_Neighbor_##name##_init(__VA_ARGS__, ring, MPI_INFO_NULL, q))
#else
#define CALL(Name, name, ...)                                  \
    (form == BLOCKING ? MPI_Neighbor_##name(__VA_ARGS__, ring) \
                      : MPI_Ineighbor_##name(__VA_ARGS__, ring, q))
#endif

static void call(int kind, int form, MPI_Request *q)
{
    static int one[] = {1, 1}, place[] = {0, 1};
    static MPI_Aint at[] = {0, BLOCK * sizeof(double)};
    static MPI_Datatype type[2];
    type[0] = type[1] = vector;
    switch (kind) {
    case ALLGATHER:
        CALL(Allgather, allgather, out, 1, vector, in, 1, vector);
        break;
    case ALLGATHERV:
        CALL(Allgatherv, allgatherv, out, 1, vector, in, one, place, vector);
        break;
    case ALLTOALL:
        CALL(Alltoall, alltoall, out, 1, vector, in, 1, vector);
        break;
    case ALLTOALLV:
        CALL(Alltoallv, alltoallv, out, one, place, vector, in, one, place,
             vector);
        break;
    default: CALL(Alltoallw, alltoallw, out, one, at, type, in, one, at, type);
    }
}

static double value(int rank, int block, int i, long round)
{
    return rank * 1e6 + block * 1e5 + i + (double)round * 1e7;
}

static void prepare(long round)
{
    for (int i = 0; i < 2 * BLOCK; i++) {
        out_seen[i] = value(world_rank, i / BLOCK, i % BLOCK, round);
        in_seen[i] = -1;
    }
    device_put(out);
    device_put(in);
}

static void check(int kind, int form, long round)
{
    device_get(in);
    for (int b = 0; b < 2; b++) {
        int from = (world_rank + (b ? 1 : world_size - 1)) % world_size;
        int block = kind < ALLTOALL ? 0 : !b;
        for (int i = 0; i < BLOCK; i++) {
            double want = i % 2 ? -1 : value(from, block, i, round);
            CHECK(in_seen[b * BLOCK + i] == want,
                  "kind %d, form %d, block %d: %d is %f, not %f", kind, form, b,
                  i, in_seen[b * BLOCK + i], want);
        }
    }
}

int main(int argc, char **argv)
{
    int ranks, ends = 1;
    MPI_Datatype some;
    test_start(&argc, &argv);
    device_begin(argv[1]);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &ends, 0, &ring);
    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &some);
    MPI_Type_create_resized(some, 0, BLOCK * sizeof(double), &vector);
    MPI_Type_commit(&vector);
    device_t *from = device_take(2 * BLOCK * sizeof(double));
    device_t *to = device_take(2 * BLOCK * sizeof(double));
    out = (double *)(void *)from->at;
    out_seen = (double *)(void *)from->seen;
    in = (double *)(void *)to->at;
    in_seen = (double *)(void *)to->seen;
    if (world_rank % 2)
        in = in_seen = malloc(2 * BLOCK * sizeof(double));
    MPI_Barrier(ring);
    for (long round = 0; round < argument(argc, argv, 2, 3); round++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int form = 0; form < FORMS - !HAVE_PERSISTENT; form++) {
                MPI_Request q = MPI_REQUEST_NULL;
                prepare(round);
                call(kind, form, &q);
                for (int start = 0; form == PERSISTENT && start < 2; start++) {
                    prepare(round + start);
                    MPI_Start(&q);
                    MPI_Wait(&q, MPI_STATUS_IGNORE);
                    check(kind, form, round + start);
                }
                if (form == PERSISTENT)
                    MPI_Request_free(&q);
                else
                    MPI_Wait(&q, MPI_STATUS_IGNORE);
                if (form != PERSISTENT)
                    check(kind, form, round);
                MPI_Barrier(ring);
            }
    MPI_Type_free(&some);
    MPI_Type_free(&vector);
    MPI_Comm_free(&ring);
    test_end();
    return 0;
}
