/*
 * Hangs of one-sided communication (see hangs.h).
 */
#include "hangs.h"

static MPI_Win window;
static MPI_Group all;

/* A window over all ranks, which the procedures below find in `window`. */
static void make(void)
{
    void *base;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, W, &base, &window);
    MPI_Win_set_name(window, "halo");
    MPI_Comm_group(W, &all);
}

static MPI_Group only(int rank)
{
    MPI_Group found;
    MPI_Group_incl(all, 1, &rank, &found);
    return found;
}

/* One rank does not come to the fence. */
static void fence(void)
{
    make();
    MPI_Win_fence(0, window);
    if (me == 2) {
        /* HERE fence 2 */
        SLEEP_ON;
    }
    /* HERE fence 0-1 */
    MPI_Win_fence(0, window);
}

/* A rank exposes its window, and its origin does not complete. */
static void complete(void)
{
    make();
    if (me == 0) {
        MPI_Win_post(only(1), 0, window);
        /* HERE complete 0 */
        MPI_Win_wait(window);
    }
    MPI_Win_start(only(0), 0, window);
    MPI_Put(big, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, window);
    /* HERE complete 1 */
    MPI_Barrier(W);
}

/* A rank starts an access, and its target exposes nothing. */
static void post(void)
{
    make();
    if (me == 1) {
        /* HERE post 1 */
        MPI_Win_start(only(0), 0, window);
        /* HERE post 1 */
        MPI_Put(big, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, window);
        /* HERE post 1 */
        MPI_Win_complete(window);
    }
    /* HERE post 0 */
    MPI_Barrier(W);
}

/* A rank keeps its lock, and another one wants it. */
static void lock(void)
{
    make();
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
        MPI_Put(big, 8, MPI_BYTE, 2, 0, 8, MPI_BYTE, window);
        MPI_Win_flush(2, window);
    }
    MPI_Barrier(W);
    if (me == 1) {
        /* HERE lock 1 */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
        /* HERE lock 1 */
        MPI_Put(big, 8, MPI_BYTE, 2, 0, 8, MPI_BYTE, window);
        /* HERE lock 1 */
        MPI_Win_unlock(2, window);
    }
    /* HERE lock 0,2 */
    MPI_Barrier(W);
}

/* A rank keeps its locks of all, and another wants one for itself. */
static void lock_all(void)
{
    make();
    if (me == 0) {
        MPI_Win_lock_all(0, window);
        MPI_Put(big, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, window);
        MPI_Win_flush_all(window);
    }
    MPI_Barrier(W);
    if (me == 1) {
        /* HERE lock_all 1 */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        /* HERE lock_all 1 */
        MPI_Put(big, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, window);
        /* HERE lock_all 1 */
        MPI_Win_unlock(1, window);
    }
    /* HERE lock_all 0 */
    MPI_Barrier(W);
}

/* One rank does not free the window. */
static void win_free(void)
{
    make();
    if (me == 0) {
        /* HERE win_free 0 */
        MPI_Win_free(&window);
    }
    /* HERE win_free 1 */
    MPI_Recv(other, 8, MPI_BYTE, 0, 1, W, IGNORE);
}

/* One rank does not make the window. */
static void win_create(void)
{
    if (me == 0) {
        /* HERE win_create 0 */
        MPI_Win_create(big, 64, 1, MPI_INFO_NULL, W, &window);
    }
    /* HERE win_create 1 */
    SLEEP_ON;
}

/* A rank waits in its own memory for a flag that no rank puts there. */
static void flag(void)
{
    volatile char *base;
    MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, W, (void *)&base, &window);
    MPI_Win_lock_all(0, window);
    *base = 0;
    if (me == 0) {
        /* HERE flag 0 */
        while (!*base) {
        }
    }
    /* HERE flag 1 */
    MPI_Barrier(W);
}

int main(int argc, char **argv)
{
    static const kind_t kinds[] = {
        KIND(fence),    KIND(complete), KIND(post),       KIND(lock),
        KIND(lock_all), KIND(win_free), KIND(win_create), KIND(flag),
    };
    HANG(argc, argv, kinds);
}
