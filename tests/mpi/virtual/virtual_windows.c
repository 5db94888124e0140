/*
 * virtual_windows.c - one-sided communication whose virtual time is known by
 * hand; ranks 0, 1 and the last (9) print "name_RANK nanoseconds".
 *
 *   virtual_windows [deadlock]
 *
 * The model is that of virtual_times.c. Data are checked, too. With "deadlock"
 * no rank posts the exposure that rank 0 starts an access to.
 */
#include "stopwatch.h"

enum { BYTES = 1000 };

static int me, n, last;
static char *mine, buffer[BYTES], result[BYTES];
static MPI_Win window;

static void fresh(void)
{
    memset(buffer, me + 1, BYTES);
    memset(result, 0, BYTES);
    begin();
}

static void holds(const char *name, const char *memory, int value)
{
    for (int i = 0; i < BYTES; i++)
        if (memory[i] != value) {
            printf("wrong: %s on %d at %d: %d\n", name, me, i, memory[i]);
            return;
        }
}

/* So many times 8 us. */
static void late(int times)
{
    for (int i = 0; i < times; i++)
        MPI_Sendrecv(buffer, 0, MPI_CHAR, me, 0, result, 0, MPI_CHAR, me, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

#define PUT() MPI_Put(buffer, BYTES, MPI_CHAR, last, 0, BYTES, MPI_CHAR, window)
#define GET() MPI_Get(result, BYTES, MPI_CHAR, last, 0, BYTES, MPI_CHAR, window)

static void flushed(void)
{
    MPI_Request request;
    long one = 1, found = -1, compare = 0;
    MPI_Win_lock_all(0, window);
    fresh();
    if (me == 0) {
        PUT();
        MPI_Win_flush(last, window);
    }
    end_each("put");
    fresh();
    if (me == 0) {
        GET();
        MPI_Win_flush_all(window);
        holds("get", result, 1);
    }
    end_each("get");
    fresh();
    if (me == 0) {
        PUT();
        MPI_Win_flush_local(last, window);
    }
    end_each("local");
    fresh();
    if (me == 0)
        MPI_Win_flush_local_all(window);
    end_each("nothing");
    if (me == 0)
        MPI_Win_flush_all(window);
    fresh();
    if (me == 0) {
        MPI_Accumulate(buffer, BYTES, MPI_CHAR, last, 0, BYTES, MPI_CHAR,
                       MPI_REPLACE, window);
        MPI_Win_flush(last, window);
    }
    end_each("accumulate");
    fresh();
    if (me == 0) {
        MPI_Get_accumulate(buffer, BYTES / 4, MPI_INT, result, BYTES / 4,
                           MPI_INT, last, 0, BYTES / 4, MPI_INT, MPI_SUM,
                           window);
        MPI_Win_flush(last, window);
        holds("get_accumulate", result, 1);
    }
    end_each("get_accumulate");
    fresh();
    if (me == 0) {
        MPI_Fetch_and_op(&one, &found, MPI_LONG, last, BYTES, MPI_SUM, window);
        MPI_Win_flush(last, window);
    }
    end_each("fetch_and_op");
    fresh();
    if (me == 0) {
        MPI_Compare_and_swap(&compare, &one, &found, MPI_LONG, last, BYTES,
                             window);
        MPI_Win_flush(last, window);
        if (found != 1)
            printf("wrong: %ld swapped\n", found);
    }
    end_each("compare_and_swap");
    fresh();
    if (me == 0) {
        MPI_Rput(buffer, BYTES, MPI_CHAR, last, 0, BYTES, MPI_CHAR, window,
                 &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    end_each("rput");
    if (me == 0)
        MPI_Win_flush_all(window);
    fresh();
    if (me == 0) {
        MPI_Rget(result, BYTES, MPI_CHAR, last, 0, BYTES, MPI_CHAR, window,
                 &request);
        late(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        holds("rget", result, 1);
    }
    end_each("rget");
    MPI_Win_unlock_all(window);
}

static void fenced(void)
{
    MPI_Win_fence(0, window);
    fresh();
    if (me == 0)
        PUT();
    MPI_Win_fence(0, window);
    end_each("fence");
    if (me == last)
        holds("fence", mine, 1);
    MPI_Win_fence(0, window);
}

/* Rank 1 comes 8 us after rank 0. */
static void locked(int kind, const char *name)
{
    fresh();
    if (me == 1)
        late(1);
    if (me < 2) {
        MPI_Win_lock(kind, last, 0, window);
        PUT();
        MPI_Win_unlock(last, window);
    }
    end_each(name);
}

static void exposed(bool tests, bool posts)
{
    MPI_Group world, origin, target;
    int zero = 0, flag = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &zero, &origin);
    MPI_Group_incl(world, 1, &last, &target);
    fresh();
    if (me == last && posts) {
        MPI_Win_post(origin, 0, window);
        end_each(tests ? "post_again" : "post");
    } else if (me == 0) {
        MPI_Win_start(target, 0, window);
        end_each(tests ? "start_again" : "start");
        PUT();
        MPI_Win_complete(window);
    }
    if (!posts)
        return;
    if (me == last && tests)
        while (!flag)
            MPI_Win_test(window, &flag);
    else if (me == last)
        MPI_Win_wait(window);
    end_each(tests ? "tested" : "exposed");
    if (me == last)
        holds("put", mine, 1);
    MPI_Group_free(&world);
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
}

static void dynamic(void)
{
    MPI_Aint at = 0;
    char memory[BYTES] = "";
    MPI_Win loose;
    fresh();
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &loose);
    end_each("dynamic");
    MPI_Win_attach(loose, memory, BYTES);
    MPI_Get_address(memory, &at);
    MPI_Bcast(&at, 1, MPI_AINT, last, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, loose);
    fresh();
    if (me == 0) {
        MPI_Put(buffer, BYTES, MPI_CHAR, last, at, BYTES, MPI_CHAR, loose);
        MPI_Win_flush(last, loose);
    }
    end_each("attached");
    MPI_Win_unlock_all(loose);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == last)
        holds("attached", memory, 1);
    MPI_Win_detach(loose, memory);
    MPI_Win_free(&loose);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    last = n - 1;
    fresh();
    MPI_Win_allocate(2 * BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                     &window);
    end_each("make");
    memset(mine, 0, 2 * BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1) {
        exposed(false, false);
    } else {
        flushed();
        fenced();
        locked(MPI_LOCK_EXCLUSIVE, "lock");
        locked(MPI_LOCK_SHARED, "shared");
        exposed(false, true);
        exposed(true, true);
        dynamic();
    }
    fresh();
    MPI_Win_free(&window);
    end_each("free");
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
