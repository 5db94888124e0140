/*
 * arrays.c - a global array as libraries over MPI make it: blocks of it lie in
 * a window on all ranks. Ranks get, put and accumulate patches, which lie on
 * several ranks. A counter hands tasks out.
 *
 *   arrays SEED TIMES
 *
 * Each rank replays what all of them do on an array of its own, and compares.
 */
#include "mpi/test.h"

enum { ROWS = 90, COLUMNS = 70, TASKS = 60 };

typedef struct {
    int row, column, rows, columns;
} patch_t;

static long model[ROWS][COLUMNS], mine[ROWS][COLUMNS];
static long *memory;
static MPI_Win window;
static int down, across; /* blocks */

static patch_t block_of(int rank)
{
    int r = rank / across, c = rank % across;
    int row = ROWS * r / down, column = COLUMNS * c / across;
    return (patch_t){row, column, ROWS * (r + 1) / down - row,
                     COLUMNS * (c + 1) / across - column};
}

static patch_t random_patch(rng_t *r)
{
    patch_t p;
    p.rows = 1 + (int)rng_below(r, ROWS);
    p.columns = 1 + (int)rng_below(r, COLUMNS);
    p.row = (int)rng_below(r, (size_t)(ROWS - p.rows + 1));
    p.column = (int)rng_below(r, (size_t)(COLUMNS - p.columns + 1));
    return p;
}

static patch_t common(patch_t a, patch_t b)
{
    int row = a.row > b.row ? a.row : b.row;
    int column = a.column > b.column ? a.column : b.column;
    int end = a.row + a.rows < b.row + b.rows ? a.row + a.rows : b.row + b.rows;
    int edge = a.column + a.columns < b.column + b.columns
                   ? a.column + a.columns
                   : b.column + b.columns;
    return (patch_t){row, column, end - row, edge - column};
}

static void move(char how, patch_t whole)
{
    for (int rank = 0; rank < world_size; rank++) {
        patch_t b = block_of(rank), p = common(whole, b);
        if (p.rows <= 0 || p.columns <= 0)
            continue;
        MPI_Datatype here, there;
        MPI_Type_vector(p.rows, p.columns, COLUMNS, MPI_LONG, &here);
        MPI_Type_create_subarray(2, (int[]){b.rows, b.columns},
                                 (int[]){p.rows, p.columns},
                                 (int[]){p.row - b.row, p.column - b.column},
                                 MPI_ORDER_C, MPI_LONG, &there);
        MPI_Type_commit(&here);
        MPI_Type_commit(&there);
        long *at = &mine[p.row][p.column];
        if (how == 'g')
            MPI_Get(at, 1, here, rank, 0, 1, there, window);
        else if (how == 'p')
            MPI_Put(at, 1, here, rank, 0, 1, there, window);
        else
            MPI_Accumulate(at, 1, here, rank, 0, 1, there, MPI_SUM, window);
        MPI_Type_free(&here);
        MPI_Type_free(&there);
        if (rank % 2)
            MPI_Win_flush(rank, window);
    }
    MPI_Win_flush_all(window);
}

static long value(uint64_t key, int row, int column)
{
    return (long)(mix(key + (uint64_t)(row * COLUMNS + column)) % 100000);
}

/* All accumulate at once; or each puts into rows of its own. */
static void change(uint64_t key, bool puts)
{
    for (int rank = 0; rank < world_size; rank++) {
        rng_t r = rng_from(key2(key, (uint64_t)rank));
        for (int k = 0; k < 4; k++) {
            patch_t p = random_patch(&r);
            uint64_t values = rng_next(&r);
            if (puts) {
                p.row = p.row / world_size * world_size + rank;
                p.rows = p.row < ROWS;
            }
            for (int i = p.row; i < p.row + p.rows; i++)
                for (int j = p.column; j < p.column + p.columns; j++) {
                    mine[i][j] = value(values, i, j);
                    model[i][j] = mine[i][j] + (puts ? 0 : model[i][j]);
                }
            if (rank == world_rank)
                move(puts ? 'p' : 'a', p);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void compare(uint64_t key)
{
    rng_t r = rng_from(key2(key, (uint64_t)world_rank + 99));
    for (int k = 0; k < 4; k++) {
        patch_t p = random_patch(&r);
        memset(mine, -1, sizeof mine);
        move('g', p);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) {
                bool in = i >= p.row && i < p.row + p.rows && j >= p.column &&
                          j < p.column + p.columns;
                CHECK(mine[i][j] == (in ? model[i][j] : -1),
                      "%ld at %d, %d, not %ld", mine[i][j], i, j, model[i][j]);
            }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The first element counts; each task is done once. */
static void tasks(void)
{
    long done[TASKS] = {0}, all[TASKS], one = 1, task, zero = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        MPI_Accumulate(&zero, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_REPLACE,
                       window);
    MPI_Win_flush_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (;;) {
        MPI_Fetch_and_op(&one, &task, MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
        if (task >= TASKS)
            break;
        done[task]++;
    }
    MPI_Allreduce(done, all, TASKS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < TASKS; i++)
        CHECK(all[i] == 1, "task %d was done %ld times", i, all[i]);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    uint64_t seed = (uint64_t)argument(argc, argv, 1, 1);
    long times = argument(argc, argv, 2, 20);
    across = world_size % 2 ? 1 : 2;
    down = world_size / across;
    patch_t b = block_of(world_rank);
    MPI_Aint bytes = (MPI_Aint)((size_t)b.rows * b.columns * sizeof *memory);
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
    memset(memory, 0, (size_t)bytes);
    MPI_Win_create(memory, bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    MPI_Win_lock_all(0, window);
    for (long i = 0; i < times; i++) {
        change(key2(seed, (uint64_t)i), i % 3 == 2);
        compare(key2(seed, (uint64_t)i));
    }
    tasks();
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Free_mem(memory);
    test_end();
    return 0;
}
