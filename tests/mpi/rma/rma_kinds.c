/*
 * rma_kinds.c - what programs see of windows in memory of the host's, on stacks
 * and of dynamic ones, written down: attributes, sizes that differ, loads and
 * stores beside RMA, memory that is attached, detached and attached again.
 *
 *   rma_kinds [all] --log FILE
 *
 * With `all` it also uses dynamic windows, which ends some hosts. It then
 * accesses memory that is not there: the call must raise an error.
 */
#include "mpi/test.h"

enum { LONGS = 50000, ROUNDS = 30 };

static int me, n;
static bool uses;
static FILE *logged;

static void attributes(MPI_Win window, const char *what, void *base)
{
    const int key[] = {MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT,
                       MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL};
    MPI_Group group;
    int size;
    fprintf(logged, "%s:", what);
    for (int i = 0; i < 5; i++) {
        void *value = NULL;
        int flag = 0;
        MPI_Win_get_attr(window, key[i], &value, &flag);
        if (i == 0)
            fprintf(logged, " base %d", flag && value == base);
        else if (flag && i == 1)
            fprintf(logged, " size %ld", (long)*(MPI_Aint *)value);
        else
            fprintf(logged, " %d", flag ? *(int *)value : -1);
    }
    MPI_Win_get_group(window, &group);
    MPI_Group_size(group, &size);
    MPI_Group_free(&group);
    fprintf(logged, " group %d\n", size);
}

/* Rank r has r * 640 bytes, in units of 1, 2, 4, 8, ... */
static MPI_Aint bytes_of(int r)
{
    return (MPI_Aint)r * 640;
}

static int unit_of(int r)
{
    return 1 << r % 4;
}

static void put_to_all(MPI_Win window)
{
    long from[8], sum = 1, old = -1;
    MPI_Win_fence(0, window);
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 8; i++)
            from[i] = 1000 * r + 10 * me + i;
        if (r)
            MPI_Put(from, 8, MPI_LONG, r, (MPI_Aint)me * 64 / unit_of(r), 8,
                    MPI_LONG, window);
    }
    MPI_Win_fence(0, window);
    for (int r = 1; r < n; r++) {
        long got[8] = {0};
        MPI_Get(got, 8, MPI_LONG, r, (MPI_Aint)((me + 1) % n) * 64 / unit_of(r),
                8, MPI_LONG, window);
        MPI_Win_fence(0, window);
        for (int i = 0; i < 8; i++)
            CHECK(got[i] == 1000 * r + 10 * ((me + 1) % n) + i, "%d: %ld", r,
                  got[i]);
    }
    /* A counter at the end of each. */
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < ROUNDS; i++)
        MPI_Fetch_and_op(&sum, &old, MPI_LONG, n - 1,
                         (bytes_of(n - 1) - 8) / unit_of(n - 1), MPI_SUM,
                         window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_own(const char *base)
{
    const long *mine = (const long *)(const void *)base;
    for (int i = 0; me && i < 8 * n; i++)
        CHECK(mine[i] == 1000 * me + 10 * (i / 8) + i % 8, "%d: %ld", i,
              mine[i]);
    if (me == n - 1)
        CHECK(mine[bytes_of(me) / 8 - 1] == (long)n * ROUNDS, "counter %ld",
              mine[bytes_of(me) / 8 - 1]);
}

static void host_memory(int shared, int apart)
{
    MPI_Win window;
    MPI_Info info;
    char *base = NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false");
    if (shared)
        MPI_Win_allocate_shared(bytes_of(me), unit_of(me), info, MPI_COMM_WORLD,
                                &base, &window);
    else
        MPI_Win_allocate(bytes_of(me), unit_of(me), info, MPI_COMM_WORLD, &base,
                         &window);
    MPI_Info_free(&info);
    if (me)
        memset(base, 0, (size_t)bytes_of(me));
    attributes(window, shared ? "shared" : "allocated", base);
    put_to_all(window);
    check_own(base);
    if (shared) {
        int r = (me + 1) % n, unit;
        MPI_Aint size;
        long *theirs = NULL, got = 0, mine = 77 + me;
        MPI_Win_shared_query(window, r, &size, &unit, &theirs);
        fprintf(logged, "theirs: %ld %d\n", (long)size, unit);
        MPI_Win_fence(0, window);
        if (r) {
            CHECK(theirs[8 * me] == 1000 * r + 10 * me, "%ld", theirs[8 * me]);
            theirs[8 * me] = mine; /* a store, then RMA */
        }
        MPI_Win_fence(0, window);
        if (r)
            MPI_Get(&got, 1, MPI_LONG, r, (MPI_Aint)me * 64 / unit_of(r), 1,
                    MPI_LONG, window);
        MPI_Win_fence(0, window);
        CHECK(!r || got == mine, "a store that RMA does not see: %ld", got);
        MPI_Win_lock_all(0, window);
        if (r) { /* RMA, then a load of a third */
            mine += 1000;
            MPI_Put(&mine, 1, MPI_LONG, r, (MPI_Aint)me * 64 / unit_of(r), 1,
                    MPI_LONG, window);
            MPI_Win_flush(r, window);
        }
        MPI_Win_sync(window);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(window);
        MPI_Win_shared_query(window, MPI_PROC_NULL, &size, &unit, &theirs);
        fprintf(logged, "first: %ld %d\n", (long)size, unit);
        for (int o = 0; me && o < n; o++)
            if ((o + 1) % n == me)
                CHECK(((long *)(void *)base)[8 * o] == 1077 + o, "not seen");
        MPI_Win_unlock_all(window);
    }
    MPI_Win_free(&window);
}

/* All write vectors to one rank, which has memory there, and all add there. */
static void both_ways(MPI_Win window, int target, MPI_Aint at, long *memory,
                      int longs)
{
    MPI_Datatype column;
    int k = longs / n / 4;
    long *from = malloc((size_t)k * sizeof *from), one = 1, old, zero = 0;
    long *got = calloc((size_t)k, sizeof *got);
    MPI_Type_vector(k, 1, n, MPI_LONG, &column);
    MPI_Type_commit(&column);
    if (me == target)
        memset(memory, 0, (size_t)longs * sizeof *memory);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < k; i++)
        from[i] = i * 10 + me;
    MPI_Win_lock_all(0, window);
    MPI_Put(from, k, MPI_LONG, target, at + me * 8, 1, column, window);
    MPI_Win_flush(target, window);
    MPI_Get(got, k, MPI_LONG, target, at + me * 8, 1, column, window);
    MPI_Win_flush(target, window);
    for (int i = 0; i < k; i++)
        CHECK(got[i] == from[i], "%d: %ld for %ld", i, got[i], from[i]);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    /* Short and long sums meet; the last long is a counter. */
    for (int i = 0; i < ROUNDS; i++) {
        int m = i % 2 ? 3 : k * n;
        MPI_Datatype all;
        long *ones = malloc((size_t)m * sizeof *ones);
        for (int j = 0; j < m; j++)
            ones[j] = 1;
        MPI_Type_contiguous(m, MPI_LONG, &all);
        MPI_Type_commit(&all);
        MPI_Accumulate(ones, m, MPI_LONG, target, at, 1, all, MPI_SUM, window);
        MPI_Win_flush(target, window);
        MPI_Type_free(&all);
        free(ones);
        do {
            MPI_Fetch_and_op(&zero, &old, MPI_LONG, target,
                             at + (longs - 1) * 8, MPI_NO_OP, window);
            MPI_Win_flush(target, window);
            one = old + 1;
            MPI_Compare_and_swap(&one, &old, &zero, MPI_LONG, target,
                                 at + (longs - 1) * 8, window);
            MPI_Win_flush(target, window);
        } while (zero != old && (zero = 0, true));
        zero = 0;
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == target) {
        MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
        for (int i = 0; i < k * n; i++) {
            long adds = (long)n * ROUNDS / 2 * (i < 3 ? 2 : 1);
            CHECK(memory[i] == i / n * 10 + i % n + adds, "%d: %ld", i,
                  memory[i]);
        }
        CHECK(memory[longs - 1] == (long)n * ROUNDS, "counter %ld",
              memory[longs - 1]);
        MPI_Win_unlock(me, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&column);
    free(from);
    free(got);
}

static void on_stack(void)
{
    long memory[200];
    MPI_Win window;
    MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    attributes(window, "stack", memory);
    MPI_Win_free(&window);
}

static void attached(MPI_Win window, void *memory, size_t longs)
{
    MPI_Aint mine, at[64];
    MPI_Win_attach(window, memory, (MPI_Aint)(longs * sizeof(long)));
    MPI_Get_address(memory, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
    for (int r = 0; r < n; r++)
        both_ways(window, r, at[r], memory, (int)longs);
}

static void dynamic(void)
{
    MPI_Win window;
    long few[200], *block = malloc(LONGS * sizeof *block);
    long *small = malloc(sizeof few);
    MPI_Aint at[2], theirs[2];
    MPI_Datatype both;
    long two[2] = {5 + me, 6 + me}, got[2] = {0, 0};
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    attributes(window, "dynamic", MPI_BOTTOM);
    if (!uses) {
        MPI_Win_free(&window);
        free(block);
        free(small);
        return;
    }
    attached(window, block, LONGS);
    attached(window, few, 200);
    attached(window, small, 200);
    /* One type over two of them. */
    MPI_Get_address(&block[7], &at[0]);
    MPI_Get_address(&few[8], &at[1]);
    MPI_Sendrecv(at, 2, MPI_AINT, (me + 1) % n, 0, theirs, 2, MPI_AINT,
                 (me + n - 1) % n, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_create_hindexed_block(2, 1, theirs, MPI_LONG, &both);
    MPI_Type_commit(&both);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (me + n - 1) % n, 0, window);
    MPI_Put(two, 2, MPI_LONG, (me + n - 1) % n, 0, 1, both, window);
    MPI_Win_flush((me + n - 1) % n, window);
    MPI_Get(got, 2, MPI_LONG, (me + n - 1) % n, 0, 1, both, window);
    MPI_Win_unlock((me + n - 1) % n, window);
    CHECK(got[0] == two[0] && got[1] == two[1], "over two regions");
    MPI_Type_free(&both);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Away, and other memory, perhaps at the same place. */
    for (int i = 0; i < 5; i++) {
        MPI_Win_detach(window, block);
        free(block);
        block = malloc((LONGS + 1000 * (size_t)i) * sizeof *block);
        attached(window, block, (size_t)(LONGS / 50 + 1000 * i));
    }
    MPI_Win_detach(window, small);
    MPI_Win_detach(window, few);
    MPI_Win_detach(window, block);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
    free(block);
    free(small);
}

static void faults(void)
{
    MPI_Win window;
    long value = 1, old = 3;
    int code[4], class;
    const MPI_Aint at = 4096; /* the system maps nothing so low */
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, window);
    for (int r = 0; r < n; r++) {
        code[0] = MPI_Put(&value, 1, MPI_LONG, r, at, 1, MPI_LONG, window);
        code[1] = MPI_Get(&old, 1, MPI_LONG, r, at, 1, MPI_LONG, window);
        code[2] = MPI_Accumulate(&value, 1, MPI_LONG, r, at, 1, MPI_LONG,
                                 MPI_SUM, window);
        code[3] = MPI_Compare_and_swap(&value, &value, &old, MPI_LONG, r, at,
                                       window);
        for (int i = 0; i < 4; i++) {
            MPI_Error_class(code[i], &class);
            CHECK(class == MPI_ERR_RMA_RANGE, "%d: class %d", i, class);
        }
    }
    CHECK(old == 3, "something came: %ld", old);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    char name[4096];
    test_start(&argc, &argv);
    me = world_rank;
    n = world_size;
    snprintf(name, sizeof name, "%s.%d", argc > 2 ? argv[argc - 1] : "log", me);
    logged = fopen(name, "w");
    CHECK(logged != NULL, "cannot write %s", name);
    uses = argc > 1 && !strcmp(argv[1], "all");
    for (int apart = 0; apart < 2; apart++)
        for (int shared = 0; shared < 2; shared++)
            host_memory(shared, apart);
    on_stack();
    dynamic();
    if (uses)
        faults();
    fclose(logged);
    test_end();
    return 0;
}
