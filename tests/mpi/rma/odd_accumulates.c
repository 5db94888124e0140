/*
 * odd_accumulates.c - one-sided calls with datatypes that MPI does not allow
 * there, and that hosts take.
 *
 * MPI_Compare_and_swap: hosts take characters, and benchmarks swap MPI_CHAR.
 * Open MPI takes every datatype.
 *
 * MPI_Accumulate with MPI_REPLACE and a datatype of mixed basic types: what a
 * call learns of a datatype must not be believed of the next one, which may
 * have the same handle.
 */
#include "mpi/test.h"

#define SIZE 256

static char *base;
static MPI_Win window;

static void swap(MPI_Datatype type, int size)
{
    char one[SIZE], none[SIZE], old[SIZE];
    if (type == MPI_DATATYPE_NULL)
        return;
    int target = (world_rank + 1) % world_size;
    memset(base, 0, SIZE);
    memset(one, 1, SIZE);
    memset(none, 0, SIZE);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 2; i++) {
        memset(old, 9, SIZE);
        MPI_Compare_and_swap(one, none, old, type, target, 0, window);
        MPI_Win_fence(0, window);
        for (int b = 0; b < SIZE; b++) {
            CHECK(old[b] == (b < size ? i : 9), "byte %d, swapped out, is %d",
                  b, old[b]);
            CHECK(base[b] == (b < size), "byte %d in the window is %d", b,
                  base[b]);
        }
    }
}

/* One int and bytes behind it. */
static MPI_Datatype mixed(int bytes)
{
    int lengths[2] = {1, bytes};
    MPI_Aint at[2] = {0, sizeof(int)};
    MPI_Datatype parts[2] = {MPI_INT, MPI_BYTE}, made;
    MPI_Type_create_struct(2, lengths, at, parts, &made);
    MPI_Type_commit(&made);
    return made;
}

static void replace(void)
{
    char from[SIZE];
    int target = (world_rank + 1) % world_size, result;
    memset(from, 7, SIZE);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    for (int bytes = 4; bytes <= 160; bytes *= 2) {
        MPI_Datatype type = mixed(bytes);
        int size = (int)sizeof(int) + bytes;
        memset(base, 0, SIZE);
        MPI_Win_fence(0, window);
        for (int i = 0; i < 2; i++)
            result = MPI_Accumulate(from, 1, type, target, 0, 1, type,
                                    MPI_REPLACE, window);
        MPI_Win_fence(0, window);
        for (int b = 0; b < SIZE; b++)
            CHECK(base[b] == (result == MPI_SUCCESS && b < size ? 7 : 0),
                  "%d bytes, result %d: byte %d is %d", size, result, b,
                  base[b]);
        MPI_Type_free(&type);
    }
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    MPI_Win_allocate(SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    swap(MPI_CHAR, 1);
    swap(MPI_CHARACTER, 1);
    swap(MPI_SIGNED_CHAR, 1);
    swap(MPI_CXX_BOOL, 1);
#ifdef OMPI_MAJOR_VERSION
    MPI_Datatype many;
    MPI_Type_contiguous(20, MPI_INT, &many);
    MPI_Type_commit(&many);
    swap(MPI_DOUBLE, 8);
    swap(MPI_LONG_DOUBLE, 16);
    swap(many, 80);
    MPI_Type_free(&many);
#endif
    replace();
    MPI_Win_free(&window);
    test_end();
    return 0;
}
