/*
 * contention.c - what many origins do to one place at once.
 *
 *   contention ROUNDS
 *
 * Counters, spin locks and queue locks (MCS) built on atomic operations;
 * short and long accumulates that meet at the same elements; locks of one
 * target and of all, which exclude each other; many locks held together.
 */
#include "mpi/test.h"

enum { LENGTH_ = 20000, COUNTER = 0, SPIN, TAIL, GUARDED, TABLE, WORDS = 64 };

static int me, n;
static long *words; /* rank 0's, and each rank's queue node */
static double *sums;
static MPI_Win window, vector;

static long fetch_add(long by, int target, int at)
{
    long old = 0;
    MPI_Fetch_and_op(&by, &old, MPI_LONG, target, at, MPI_SUM, window);
    MPI_Win_flush(target, window);
    return old;
}

static long exchange(long with, int target, int at)
{
    long old = 0;
    MPI_Fetch_and_op(&with, &old, MPI_LONG, target, at, MPI_REPLACE, window);
    MPI_Win_flush(target, window);
    return old;
}

static long swap(long was, long is, int target, int at)
{
    long old = 0;
    MPI_Compare_and_swap(&is, &was, &old, MPI_LONG, target, at, window);
    MPI_Win_flush(target, window);
    return old;
}

static long read_long(int target, int at)
{
    long value = 0;
    MPI_Fetch_and_op(NULL, &value, MPI_LONG, target, at, MPI_NO_OP, window);
    MPI_Win_flush(target, window);
    return value;
}

/* What only its owner may do: read, add, write. */
static void guarded(void)
{
    long value = 0;
    MPI_Get(&value, 1, MPI_LONG, 0, GUARDED, 1, MPI_LONG, window);
    MPI_Win_flush(0, window);
    value++;
    MPI_Put(&value, 1, MPI_LONG, 0, GUARDED, 1, MPI_LONG, window);
    MPI_Win_flush(0, window);
}

static void clear(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, window);
    memset(words, 0, WORDS * sizeof *words);
    MPI_Win_unlock(me, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void expect(const char *what, int at, long value)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
    CHECK(me || words[at] == value, "%s: %ld, not %ld", what, words[at], value);
    MPI_Win_unlock(me, window);
    clear();
}

/* Each number is drawn once: nxtval of Global Arrays. */
static void counters(long rounds)
{
    static char seen[1 << 20];
    MPI_Win_lock_all(0, window);
    for (long i = 0; i < rounds; i++) {
        long mine = fetch_add(1, 0, COUNTER);
        CHECK(mine >= 0 && mine < (long)sizeof seen && !seen[mine],
              "drew %ld twice", mine);
        seen[mine] = 1;
    }
    MPI_Win_unlock_all(window);
    long all = 0, drawn = 0;
    for (long i = 0; i < rounds * n; i++)
        drawn += seen[i] ? i + 1 : 0;
    MPI_Allreduce(&drawn, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == rounds * n * (rounds * n + 1) / 2, "drew others: %ld", all);
    expect("counter", COUNTER, rounds * n);
}

static void spin_locks(long rounds)
{
    MPI_Win_lock_all(0, window);
    for (long i = 0; i < rounds; i++) {
        while (swap(0, me + 1, 0, SPIN) != 0)
            ;
        guarded();
        CHECK(exchange(0, 0, SPIN) == me + 1, "another had the spin lock");
    }
    MPI_Win_unlock_all(window);
    expect("spin lock", GUARDED, rounds * n);
}

/* Each waits on a word of its own window: node at TABLE: next, and go. */
static void queue_locks(long rounds)
{
    MPI_Win_lock_all(0, window);
    for (long i = 0; i < rounds; i++) {
        exchange(0, me, TABLE);
        exchange(0, me, TABLE + 1);
        long before = exchange(me + 1, 0, TAIL);
        if (before) {
            exchange(me + 1, (int)before - 1, TABLE);
            while (!read_long(me, TABLE + 1))
                ;
        }
        guarded();
        if (swap(me + 1, 0, 0, TAIL) == me + 1)
            continue;
        long next;
        while (!(next = read_long(me, TABLE)))
            ;
        exchange(1, (int)next - 1, TABLE + 1);
    }
    MPI_Win_unlock_all(window);
    expect("queue lock", GUARDED, rounds * n);
}

static void exclusive_locks(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        guarded();
        MPI_Win_unlock(0, window);
        if (i % 5 == me % 5) {
            /* No other rank may write meanwhile. */
            long one = 0, two = 0;
            MPI_Win_lock_all(0, window);
            MPI_Get(&one, 1, MPI_LONG, 0, GUARDED, 1, MPI_LONG, window);
            MPI_Win_flush_all(window);
            MPI_Get(&two, 1, MPI_LONG, 0, GUARDED, 1, MPI_LONG, window);
            MPI_Win_unlock_all(window);
            CHECK(one == two, "written under a lock of all: %ld, %ld", one,
                  two);
        }
    }
    expect("exclusive locks", GUARDED, rounds * n);
}

/* Several targets at once, in one order. */
static void many_locks(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        for (int t = 0; t < n; t++)
            MPI_Win_lock((t + me + i) % 3 ? MPI_LOCK_SHARED
                                          : MPI_LOCK_EXCLUSIVE,
                         t, 0, window);
        fetch_add(1, 0, COUNTER);
        for (int t = 0; t < n; t++)
            MPI_Win_unlock(t, window);
    }
    expect("many locks", COUNTER, rounds * n);
}

/* Long vectors, single elements, other bounds, no alignment: all add. */
static void short_and_long(long rounds)
{
    static double ones[LENGTH_];
    for (int i = 0; i < LENGTH_; i++)
        ones[i] = 1;
    memset(sums, 0, LENGTH_ * sizeof *sums);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, vector);
    for (long i = 0; i < rounds; i++) {
        double old = -1;
        MPI_Accumulate(ones, LENGTH_, MPI_DOUBLE, 0, 0, LENGTH_, MPI_DOUBLE,
                       MPI_SUM, vector);
        for (int k = 0; k < 50; k++) {
            MPI_Fetch_and_op(ones, &old, MPI_DOUBLE, 0, k * 397, MPI_SUM,
                             vector);
            MPI_Win_flush(0, vector);
        }
        CHECK(old >= 0, "fetched %g", old);
        MPI_Get_accumulate(ones, 3, MPI_DOUBLE, &old, 0, MPI_DOUBLE, 0, 0, 0,
                           MPI_DOUBLE, MPI_SUM, vector);
        MPI_Win_flush(0, vector);
    }
    MPI_Win_unlock_all(vector);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; me == 0 && i < LENGTH_; i++) {
        double must = (double)(rounds * n) *
                      (i % 397 == 0 && i / 397 < 50 ? 2 : 1);
        CHECK(sums[i] == must, "sum %d is %g, not %g", i, sums[i], must);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    me = world_rank;
    n = world_size;
    long rounds = argument(argc, argv, 1, 200);
    MPI_Alloc_mem(WORDS * sizeof *words, MPI_INFO_NULL, &words);
    memset(words, 0, WORDS * sizeof *words);
    sums = malloc(LENGTH_ * sizeof *sums);
    MPI_Win_create(words, WORDS * sizeof *words, sizeof *words, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    MPI_Win_create(sums, LENGTH_ * sizeof *sums, sizeof *sums, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &vector);
    counters(rounds * 5);
    spin_locks(rounds);
    queue_locks(rounds);
    exclusive_locks(rounds);
    many_locks(rounds);
    short_and_long(rounds / 4 + 1);
    MPI_Win_free(&window);
    MPI_Win_free(&vector);
    MPI_Free_mem(words);
    free(sums);
    test_end();
    return 0;
}
