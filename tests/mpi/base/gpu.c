/*
 * Buffers in a device's memory under a host that knows no devices: with --gpu
 * our own kernels make every copy. A touch of the device's pages by the host,
 * or by us, ends the program.
 *
 *     gpu DRIVER
 */
#include "gpu_memory.h"

#define N 5000
#define ROOM (16 * N * sizeof(double))

static char *device[2], *seen[2], *plain, *packed[2];

/* Ready for a call of MPI, and after it. */
static void put(void)
{
    device_put(device[0]);
    device_put(device[1]);
}

static void get(void)
{
    device_get(device[0]);
    device_get(device[1]);
}

/* The data at `seen` as they would be from `rank` with this key. */
static void compare(const char *at, int rank, uint64_t key, int count,
                    MPI_Datatype type, const char *what)
{
    int n[2] = {0, 0};
    get();
    fill_from(plain, ROOM, key2(key, (uint64_t)rank));
    MPI_Pack(at, count, type, packed[0], ROOM, &n[0], MPI_COMM_WORLD);
    MPI_Pack(plain, count, type, packed[1], ROOM, &n[1], MPI_COMM_WORLD);
    CHECK(n[0] == n[1] && !memcmp(packed[0], packed[1], (size_t)n[0]),
          "%s: other bytes", what);
}

static void one_type(int count, MPI_Datatype type, uint64_t key)
{
    int next = (world_rank + 1) % world_size;
    int last = (world_rank + world_size - 1) % world_size;
    MPI_Request request[2];
    uint64_t own = key2(key, (uint64_t)world_rank);
    fill_from(seen[0], ROOM, own);
    put();
    MPI_Sendrecv(device[0], count, type, next, 5, device[1], count, type, last,
                 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compare(seen[1], last, key, count, type, "Sendrecv");
    fill_from(seen[1], ROOM, 1);
    put();
    MPI_Irecv(device[1], count, type, last, 6, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(device[0], count, type, next, 6, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    compare(seen[1], last, key, count, type, "Isend, Irecv");
    /* To ordinary memory. */
    MPI_Sendrecv(device[0], count, type, next, 7, plain, count, type, last, 7,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    memcpy(seen[1], plain, ROOM);
    put();
    compare(seen[1], last, key, count, type, "to ordinary memory");
    MPI_Bcast(device[0], count, type, 0, MPI_COMM_WORLD);
    compare(seen[0], 0, key, count, type, "Bcast");
}

static void sums(void)
{
    double *in = (double *)(void *)seen[0], *out = (double *)(void *)seen[1];
    for (int i = 0; i < N; i++)
        in[i] = i + world_rank;
    put();
    MPI_Allreduce(device[0], device[1], N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    get();
    for (int i = 0; i < N; i++)
        CHECK(out[i] == world_size * i + world_size * (world_size - 1) / 2,
              "sum %d is %f", i, out[i]);
}

/* A member alone. */
static void alone(MPI_Datatype type)
{
    int zero = 0, one = 1;
    fill_from(seen[0], ROOM, key2(9, (uint64_t)world_rank));
    for (int how = 0; how < 4; how++) {
        fill_from(seen[1], ROOM, 1);
        put();
        if (how == 0)
            MPI_Allgather(device[0], 1, type, device[1], 1, type,
                          MPI_COMM_SELF);
        else if (how == 1)
            MPI_Alltoallv(device[0], &one, &zero, type, device[1], &one, &zero,
                          type, MPI_COMM_SELF);
        else if (how == 2)
            MPI_Scatter(device[0], 1, type, device[1], 1, type, 0,
                        MPI_COMM_SELF);
        else
            MPI_Gatherv(device[0], 1, type, device[1], &one, &zero, type, 0,
                        MPI_COMM_SELF);
        compare(seen[1], world_rank, 9, 1, type, "alone");
    }
    MPI_Bcast(device[0], 1, type, 0, MPI_COMM_SELF);
    MPI_Allgather(MPI_IN_PLACE, 1, type, device[0], 1, type, MPI_COMM_SELF);
    MPI_Allreduce(device[0], device[1], N, MPI_INT, MPI_MAX, MPI_COMM_SELF);
    MPI_Allreduce(MPI_IN_PLACE, device[1], N, MPI_INT, MPI_MAX, MPI_COMM_SELF);
    MPI_Exscan(device[0], device[0], 0, MPI_INT, MPI_MAX, MPI_COMM_SELF);
    get();
    CHECK(!memcmp(seen[0], seen[1], N * sizeof(int)), "a sum of one");
}

int main(int argc, char **argv)
{
    static int length[N], at[N];
    MPI_Datatype vector, list;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    device_load(argv[1]);
    for (int i = 0; i < 2; i++) {
        device[i] = device_allocate(ROOM, 0);
        CHECK(device[i], "no memory");
        seen[i] = device_alias(device[i]);
        packed[i] = malloc(ROOM);
    }
    plain = malloc(ROOM);
    for (int i = 0; i < N; i++) {
        length[i] = 1 + i % 3;
        at[i] = i * 5 + i % 2;
    }
    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &vector);
    MPI_Type_indexed(N, length, at, MPI_INT, &list);
    MPI_Type_commit(&vector);
    MPI_Type_commit(&list);
    for (uint64_t round = 0; round < 2; round++) {
        one_type(1, vector, round);
        one_type(3, list, round);
        one_type(N, MPI_DOUBLE, round);
    }
    sums();
    alone(vector);
    alone(list);
    MPI_Type_free(&vector);
    MPI_Type_free(&list);
    CHECK(device_real || device_count("cuLaunchKernel") > 10, "no launches");
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        puts("all is well");
    MPI_Finalize();
    return 0;
}
