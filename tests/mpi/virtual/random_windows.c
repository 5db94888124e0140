/*
 * random_windows.c - one-sided communication at random, checked: fences, post
 * and start in a ring, locks of one target and of all, on windows that are
 * allocated, created, shared or dynamic.
 *
 *   random_windows SEED ROUNDS
 *
 * A window has a part for each origin, to which no other rank writes, and one
 * that all add to. The round's key and an origin's rank decide what it does, so
 * every rank knows what its own window must hold.
 */
#include "mpi/test.h"

enum { PART = 300, OPS = 8, FENCE, RING, LOCK, EXCLUSIVE, ALL, EPOCHS };
static const char *const names[] = {[FENCE] = "fence",
                                    [RING] = "post and start",
                                    [LOCK] = "lock",
                                    [EXCLUSIVE] = "exclusive lock",
                                    [ALL] = "lock of all"};

typedef enum { PUT, RPUT, GET, RGET, ADD, FETCH, SWAP, KINDS } kind_t;

typedef struct {
    kind_t kind;
    int target, at, count;
    bool flushes;
    /* a second write to one place in an epoch without flushes would be in no
     * order */
    bool skipped;
    uint64_t key;
} op_t;

static int me, n, *memory, *must, *mine;
static MPI_Win window;
static MPI_Aint *bases; /* of a dynamic one */
static long moved;

/* What this rank has written to others: the parts of theirs. */
static int *part_at(int target)
{
    return mine + target * PART;
}

static op_t draw(rng_t *r, int origin, int epoch, int k)
{
    op_t op = {.kind = (kind_t)rng_below(r, KINDS), .key = rng_next(r)};
    op.target = epoch == RING ? (origin + 1) % n : (int)rng_below(r, n);
    op.at = (int)rng_below(r, PART);
    op.count = 1 + (int)rng_below(r, (size_t)(PART - op.at));
    op.flushes = rng_one_in(r, 3);
    if (op.kind == FETCH || op.kind == SWAP)
        op.count = 1;
    op.skipped = epoch < LOCK && k > 0 && op.kind != ADD && op.kind != FETCH;
    return op;
}

static int value(const op_t *op, int i)
{
    return (int)(key2(op->key, (uint64_t)i) & 0xfffff);
}

static int ops_of(uint64_t key)
{
    return (int)(key % OPS);
}

/* What all have done here. */
static void expect(uint64_t key, int epoch)
{
    for (int origin = 0; origin < n; origin++) {
        uint64_t its = key2(key, (uint64_t)origin);
        rng_t r = rng_from(its);
        for (int k = 0; k < ops_of(its); k++) {
            op_t op = draw(&r, origin, epoch, k);
            int *to = must +
                      (op.kind == ADD || op.kind == FETCH ? n : origin) * PART +
                      op.at;
            for (int i = 0; i < op.count && op.target == me && !op.skipped; i++)
                switch (op.kind) {
                case PUT:
                case RPUT:
                case SWAP: to[i] = value(&op, i); break;
                case ADD:
                case FETCH: to[i] += value(&op, i); break;
                default: break;
                }
        }
    }
}

static void check(int epoch)
{
    for (int i = 0; i < (n + 1) * PART; i++)
        CHECK(memory[i] == must[i], "%s: at %d of part %d is %d, not %d",
              names[epoch], i % PART, i / PART, memory[i], must[i]);
}

static void got(const op_t *op, const int *buffer, int epoch)
{
    const int *was = part_at(op->target) + op->at;
    for (int i = 0; i < op->count; i++)
        CHECK(buffer[i] == was[i], "%s: got %d from %d at %d, not %d",
              names[epoch], buffer[i], op->target, op->at + i, was[i]);
}

/* In a fence and between post and start nothing is flushed: what is got there
 * may be what was before, so it is got from nowhere that was written to. */
static void operation(const op_t *op, int epoch, int *buffer, int *result)
{
    bool passive = epoch >= LOCK;
    MPI_Request request = MPI_REQUEST_NULL;
    int *shadow = part_at(op->target) + op->at, t = op->target;
    MPI_Aint at = (bases ? bases[t] : 0) +
                  ((MPI_Aint)me * PART + op->at) * (bases ? 4 : 1);
    MPI_Aint sum = (bases ? bases[t] : 0) +
                   ((MPI_Aint)n * PART + op->at) * (bases ? 4 : 1);
    for (int i = 0; i < op->count; i++)
        buffer[i] = value(op, i);
    moved++;
    switch (op->kind) {
    case RPUT:
        if (passive) {
            MPI_Rput(buffer, op->count, MPI_INT, t, at, op->count, MPI_INT,
                     window, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            memcpy(shadow, buffer, (size_t)op->count * sizeof(int));
            MPI_Win_flush(t, window);
            break;
        }
        /* fall through */
    case PUT:
        MPI_Put(buffer, op->count, MPI_INT, t, at, op->count, MPI_INT, window);
        memcpy(shadow, buffer, (size_t)op->count * sizeof(int));
        if (passive)
            MPI_Win_flush(t, window);
        break;
    case GET:
        if (!passive)
            break;
        MPI_Get(result, op->count, MPI_INT, t, at, op->count, MPI_INT, window);
        MPI_Win_flush_local(t, window);
        got(op, result, epoch);
        break;
    case RGET:
        if (!passive)
            break;
        MPI_Rget(result, op->count, MPI_INT, t, at, op->count, MPI_INT, window,
                 &request);
        for (int done = op->flushes; !done;)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        got(op, result, epoch);
        break;
    case ADD:
        MPI_Accumulate(buffer, op->count, MPI_INT, t, sum, op->count, MPI_INT,
                       MPI_SUM, window);
        break;
    case FETCH:
        MPI_Fetch_and_op(buffer, result, MPI_INT, t, sum, MPI_SUM, window);
        break;
    case SWAP:
        /* What is there is known; it is another's at no time. */
        *result = *shadow;
        MPI_Compare_and_swap(buffer, result, result + 1, MPI_INT, t, at,
                             window);
        *shadow = *buffer;
        if (passive) {
            MPI_Win_flush(t, window);
            CHECK(result[1] == result[0], "%s: swapped %d, not %d",
                  names[epoch], result[1], result[0]);
        }
        break;
    case KINDS: break;
    }
    if (passive && op->flushes)
        MPI_Win_flush_all(window);
    else if (passive && op->count % 3 == 0 && op->kind >= ADD)
        MPI_Win_flush_local(t, window);
}

static void all_ops(uint64_t its, int epoch, int buffers[OPS][2][PART + 1])
{
    rng_t r = rng_from(its);
    for (int k = 0; k < ops_of(its); k++) {
        op_t op = draw(&r, me, epoch, k);
        bool alone = epoch == LOCK || epoch == EXCLUSIVE;
        if (op.skipped)
            continue;
        if (alone)
            MPI_Win_lock(epoch == LOCK ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE,
                         op.target, 0, window);
        operation(&op, epoch, buffers[k][0], buffers[k][1]);
        if (alone)
            MPI_Win_unlock(op.target, window);
    }
}

static void round_of(uint64_t key)
{
    static int buffers[OPS][2][PART + 1];
    int epoch = FENCE + (int)(key % (EPOCHS - FENCE));
    int right = (me + 1) % n, left = (me + n - 1) % n, flag = 0;
    uint64_t its = key2(key, (uint64_t)me);
    MPI_Group world, to, from;
    if (its % 7 == 0)
        usleep((unsigned)(its >> 8) % 2000);
    if (its % 7 == 1 && MPI_Wtime() < 0)
        abort();
    switch (epoch) {
    case FENCE:
        MPI_Win_fence(0, window);
        all_ops(its, epoch, buffers);
        MPI_Win_fence(0, window);
        break;
    case RING:
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, &right, &to);
        MPI_Group_incl(world, 1, &left, &from);
        MPI_Win_post(from, 0, window);
        MPI_Win_start(to, 0, window);
        all_ops(its, epoch, buffers);
        MPI_Win_complete(window);
        if (its % 2)
            MPI_Win_wait(window);
        else
            while (!flag)
                MPI_Win_test(window, &flag);
        MPI_Group_free(&world);
        MPI_Group_free(&to);
        MPI_Group_free(&from);
        break;
    case ALL:
        MPI_Win_lock_all(key % 3 ? 0 : MPI_MODE_NOCHECK, window);
        all_ops(its, epoch, buffers);
        MPI_Win_unlock_all(window);
        break;
    default: all_ops(its, epoch, buffers); break;
    }
    expect(key, epoch);
    MPI_Barrier(MPI_COMM_WORLD);
    if (epoch >= LOCK)
        MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
    check(epoch);
    if (epoch >= LOCK)
        MPI_Win_unlock(me, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void windows_of(uint64_t key, int rounds)
{
    MPI_Aint size = (MPI_Aint)(n + 1) * PART * (MPI_Aint)sizeof(int), at;
    int *own = NULL, kind = (int)(key % 4);
    bases = NULL;
    memory = NULL;
    if (kind == 3)
        memory = own = calloc((size_t)size, 1);
    if (kind == 0) {
        /* Where peers reach it: its members serve the window. */
        MPI_Alloc_mem(size, MPI_INFO_NULL, &memory);
        MPI_Win_create(memory, size, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                       &window);
    } else if (kind == 1) {
        MPI_Win_allocate(size, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                         &memory, &window);
    } else if (kind == 2) {
        MPI_Win_allocate_shared(size, sizeof(int), MPI_INFO_NULL,
                                MPI_COMM_WORLD, &memory, &window);
    } else {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_attach(window, memory, size);
        MPI_Get_address(memory, &at);
        bases = malloc((size_t)n * sizeof *bases);
        MPI_Allgather(&at, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
    }
    memset(memory, 0, (size_t)size);
    must = calloc((size_t)size, 1);
    mine = calloc((size_t)n * PART, sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++)
        round_of(key2(key, (uint64_t)i));
    if (bases)
        MPI_Win_detach(window, memory);
    MPI_Win_free(&window);
    if (kind == 0)
        MPI_Free_mem(memory);
    free(bases);
    free(must);
    free(mine);
    free(own);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    me = world_rank;
    n = world_size;
    uint64_t seed = (uint64_t)argument(argc, argv, 1, 1);
    long count = argument(argc, argv, 2, 8);
    for (long i = 0; i < count; i++)
        windows_of(key2(seed, (uint64_t)i) * 4 + (uint64_t)i % 4, 12);
    long all = 0;
    MPI_Reduce(&moved, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("%ld operations right\n", all);
    test_end();
    return 0;
}
