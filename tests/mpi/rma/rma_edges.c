/*
 * rma_edges.c - what MPI allows in windows, and few programs do.
 *
 *   readers   rank 1 has a shared lock, and waits for a message of rank 2,
 *             which comes for one after rank 0 has come for an exclusive one
 *   pieces    many small blocks of MPI_Alloc_mem, attached to a window
 *   chars     sums of MPI_CHAR, which hosts take
 *   gaps      accumulates of pairs leave the gaps between their members alone
 *   mixed     a structure of several types can be replaced, and has no sum
 *   more      what Open MPI alone takes, and MPI does not allow
 */
#include "mpi/test.h"

enum { BYTES = 65536 };

static char *memory;
static MPI_Win window;

/* Rank 2 comes late, so that rank 0 waits already. */
static void come_late(void)
{
    int flag;
    for (int i = 0; i < 50; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
}

static void lock(bool all)
{
    if (all)
        MPI_Win_lock_all(0, window);
    else
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
}

static void unlock(bool all)
{
    if (all)
        MPI_Win_unlock_all(window);
    else
        MPI_Win_unlock(0, window);
}

/* Locks, and reads, so that a lazy host has the lock, too. */
static void read_locked(bool all)
{
    int got = -1;
    lock(all);
    MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_flush(0, window);
    CHECK(got == 0, "got %d", got);
}

static void readers(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    for (int i = 0; i < 4; i++) {
        bool all = i % 2, all_later = i / 2;
        int word = i;
        MPI_Barrier(world);
        if (world_rank == 1) {
            read_locked(all);
            MPI_Send(&word, 1, MPI_INT, 0, 1, world);
            MPI_Send(&word, 1, MPI_INT, 2, 1, world);
            MPI_Recv(&word, 1, MPI_INT, 2, 2, world, MPI_STATUS_IGNORE);
            unlock(all);
        } else if (world_rank == 0) {
            MPI_Recv(&word, 1, MPI_INT, 1, 1, world, MPI_STATUS_IGNORE);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
            MPI_Put(&word, 1, MPI_INT, 0, 4, 1, MPI_INT, window);
            MPI_Win_unlock(0, window);
        } else if (world_rank == 2) {
            MPI_Recv(&word, 1, MPI_INT, 1, 1, world, MPI_STATUS_IGNORE);
            come_late();
            read_locked(all_later);
            MPI_Send(&word, 1, MPI_INT, 1, 2, world);
            unlock(all_later);
        }
    }
}

/* Bytes of an element that are none of its two members. */
static int is_gap(MPI_Datatype type, size_t byte)
{
    return type == MPI_SHORT_INT ? byte >= sizeof(short) && byte < sizeof(int)
                                 : byte >= sizeof(double) + sizeof(int);
}

static void check_gaps(const char *what, MPI_Datatype type, const char *at,
                       size_t extent, int n, char fill)
{
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < extent; k++)
            CHECK(!is_gap(type, k) || at[i * extent + k] == fill,
                  "%s: byte %zu of element %d was written", what, k, i);
    for (size_t k = 0; k < 16; k++)
        CHECK(at[n * extent + k] == fill, "%s: written beyond", what);
}

static void gaps_of(MPI_Datatype type, MPI_Op op, int n)
{
    char origin[512], result[512];
    MPI_Aint low, extent;
    int right = (world_rank + 1) % world_size;
    MPI_Type_get_extent(type, &low, &extent);
    memset(memory, 90, 1024);
    memset(origin, 0, sizeof origin);
    memset(result, 33, sizeof result);
    MPI_Win_fence(0, window);
    if (op != MPI_NO_OP)
        MPI_Accumulate(origin, n, type, right, 0, n, type, op, window);
    MPI_Get_accumulate(origin, n, type, result, n, type, right, 512, n, type,
                       op, window);
    MPI_Win_fence(0, window);
    check_gaps("accumulate", type, memory, (size_t)extent, n, 90);
    check_gaps("get_accumulate", type, memory + 512, (size_t)extent, n, 90);
    check_gaps("its result", type, result, (size_t)extent, n, 33);
}

static void gaps(void)
{
    MPI_Datatype types[] = {MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT};
    MPI_Op ops[] = {MPI_REPLACE, MPI_MINLOC, MPI_NO_OP};
    for (size_t i = 0; i < LENGTH(types); i++)
        for (size_t k = 0; k < LENGTH(ops); k++) {
            gaps_of(types[i], ops[k], 1);
            gaps_of(types[i], ops[k], 7);
        }
}

/* Each is freed, and the next ones, half of them, come where it was. */
static void pieces(void)
{
    enum { N = 600 };
    static char *at[N];
    MPI_Win dynamic;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++) {
            MPI_Aint bytes = i % 50 ? 24 : 3000;
            MPI_Alloc_mem(bytes, MPI_INFO_NULL, &at[i]);
            memset(at[i], i, (size_t)bytes);
            if (i % 50)
                MPI_Win_attach(dynamic, at[i], bytes);
        }
        for (int k = 0; k < N; k++) {
            int i = (k * 7 + turn) % N;
            for (int byte = 0; byte < 24; byte++)
                CHECK(at[i][byte] == (char)i, "piece %d was written to", i);
            if (i % 50)
                MPI_Win_detach(dynamic, at[i]);
            MPI_Free_mem(at[i]);
        }
    }
    MPI_Win_free(&dynamic);
}

static void chars(void)
{
    char one[70], old = 0;
    memset(one, 1, sizeof one);
    MPI_Win_lock_all(0, window);
    MPI_Accumulate(one, 70, MPI_CHAR, 0, 8, 70, MPI_CHAR, MPI_SUM, window);
    MPI_Fetch_and_op(one, &old, MPI_CHAR, 0, 100, MPI_MAX, window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 8; i < 78 && world_rank == 0; i++)
        CHECK(memory[i] == world_size, "%d at %d", memory[i], i);
    CHECK(world_rank || memory[100] == 1, "the greatest is %d", memory[100]);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each origin has its own place at the target. */
static void mixed(void)
{
    typedef struct {
        int whole;
        double real;
    } both_t;
    both_t one = {world_rank + 1, world_rank + .5}, old = {0, 0}, *at;
    int lengths[] = {1, 0, 1}, right = (world_rank + 1) % world_size;
    MPI_Aint disps[] = {0, 4, offsetof(both_t, real)};
    MPI_Datatype types[] = {MPI_INT, MPI_CHAR, MPI_DOUBLE}, type, ints;
    MPI_Type_create_struct(3, lengths, disps, types, &type);
    MPI_Type_commit(&type);
    /* Of one type, where nothing is of the other one. */
    MPI_Type_create_struct(2, lengths, disps, types, &ints);
    MPI_Type_commit(&ints);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, window);
    MPI_Accumulate(&one, 1, type, right, 0, 1, type, MPI_REPLACE, window);
    CHECK(MPI_Accumulate(&one, 1, type, right, 0, 1, type, MPI_SUM, window) !=
              MPI_SUCCESS,
          "a sum over several types");
    MPI_Accumulate(&one, 1, ints, right, 64, 1, ints, MPI_SUM, window);
    MPI_Win_fence(0, window);
    at = (both_t *)(void *)memory;
    int left = (world_rank + world_size - 1) % world_size;
    CHECK(at->whole == left + 1 && at->real == left + .5, "%d and %g",
          at->whole, at->real);
    CHECK(at[4].whole == left + 1, "%d is the sum", at[4].whole);
    MPI_Get_accumulate(NULL, 0, MPI_INT, &old, 1, type, right, 0, 1, type,
                       MPI_NO_OP, window);
    MPI_Win_fence(0, window);
    CHECK(old.whole == one.whole && old.real == one.real, "%d and %g came",
          old.whole, old.real);
    MPI_Type_free(&type);
    MPI_Type_free(&ints);
}

#ifdef OMPI_MAJOR_VERSION

static void ten_and(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((long *)inout)[i] = 10 * ((long *)inout)[i] + ((long *)in)[i];
}

static void swap(MPI_Datatype type, const void *new, size_t bytes)
{
    const char zeros[32] = {0};
    char old[32], left[32];
    int right = (world_rank + 1) % world_size;
    memset(memory, 0, 64);
    memset(old, 1, sizeof old);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
    MPI_Compare_and_swap(new, zeros, old, type, right, 16, window);
    MPI_Compare_and_swap(zeros, zeros, left, type, right, 16, window);
    MPI_Win_unlock(right, window);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!memcmp(old, zeros, bytes), "%zu bytes: it was not zero", bytes);
    CHECK(!memcmp(left, new, bytes), "%zu bytes: another one", bytes);
    CHECK(!memcmp(memory + 16, new, bytes), "%zu bytes: not swapped", bytes);
}

static void more(void)
{
    const double pair[] = {1.5, -2};
    const long two[] = {3, 4};
    const float real = 2.5;
    long old[2] = {-1, -1};
    MPI_Datatype longs;
    MPI_Op op;
    int right = (world_rank + 1) % world_size;
    swap(MPI_DOUBLE, pair, 8);
    swap(MPI_FLOAT, &real, 4);
    swap(MPI_C_DOUBLE_COMPLEX, pair, 16);
    MPI_Type_contiguous(2, MPI_LONG, &longs);
    MPI_Type_commit(&longs);
    swap(longs, two, 16);
    MPI_Op_create(ten_and, 0, &op);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
    MPI_Fetch_and_op(two, old, longs, right, 16, MPI_SUM, window);
    MPI_Fetch_and_op(two, old, MPI_LONG, right, 24, op, window);
    MPI_Win_unlock(right, window);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(old[0] == 8 && old[1] == 4, "%ld and %ld came", old[0], old[1]);
    memcpy(old, memory + 16, sizeof old);
    CHECK(old[0] == 6 && old[1] == 83, "%ld and %ld", old[0], old[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&longs);
}

#else

static void more(void)
{
}

#endif

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    memory = calloc(1, BYTES);
    MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (!strcmp(argv[1], "readers"))
        readers();
    else if (!strcmp(argv[1], "pieces"))
        pieces();
    else if (!strcmp(argv[1], "chars"))
        chars();
    else if (!strcmp(argv[1], "mixed"))
        mixed();
    else if (!strcmp(argv[1], "more"))
        more();
    else
        gaps();
    MPI_Win_free(&window);
    free(memory);
    test_end();
    return 0;
}
