/*
 * virtual_kept.c - collectives with a root, in groups and between two, whose
 * root is done in virtual time before its host is.
 *
 *   virtual_kept plain      of all sizes, one after the other
 *   virtual_kept asks       the others probe for messages before they call one
 */
#include "mpi/test.h"

enum { MOST = 1 << 20 };

static int me, n, first;
static bool second;
static char *data, *more;
static MPI_Comm inter;

/* As rank `root` of the group says it in a collective between two. */
static int root_is(bool in_second, int root)
{
    if (second != in_second)
        return root;
    return me == root + (in_second ? first : 0) ? MPI_ROOT : MPI_PROC_NULL;
}

static void fill(int size, int value)
{
    memset(data, value, (size_t)size);
}

static void has(int size, int value)
{
    for (int i = 0; i < size; i += 997)
        CHECK(data[i] == (char)value, "byte %d is %d, not %d", i, data[i],
              value);
}

static void between(int size, bool in_second)
{
    int root = root_is(in_second, 0);
    bool gets = second != in_second;
    fill(size, gets ? 0 : 3);
    MPI_Bcast(data, size, MPI_CHAR, root, inter);
    has(size, 3);
    MPI_Wtime();
    MPI_Scatter(data, size / n, MPI_CHAR, more, size / n, MPI_CHAR, root,
                inter);
    MPI_Gather(data, size / n, MPI_CHAR, more, size / n, MPI_CHAR, root, inter);
    MPI_Reduce(data, more, size, MPI_CHAR, MPI_MAX, root, inter);
    if (me == 0)
        MPI_Wtime();
}

static void plain(void)
{
    for (int size = 1024; size <= MOST; size *= 4) {
        between(size, false);
        between(size, true);
        fill(size, me == 0 ? 4 : 0);
        MPI_Bcast(data, size, MPI_CHAR, 0, MPI_COMM_WORLD);
        has(size, 4);
    }
}

static void asks(void)
{
    int flag;
    for (int i = 0; i < 10; i++) {
        MPI_Comm where = i % 2 ? inter : MPI_COMM_WORLD;
        if (second) {
            usleep(1000);
            for (int k = 0; k < 3; k++)
                MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag,
                           MPI_STATUS_IGNORE);
        }
        fill(MOST, me == 0 ? i : 0);
        MPI_Bcast(data, MOST, MPI_CHAR, i % 2 ? root_is(false, 0) : 0, where);
        if (second)
            has(MOST, i);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    first = n / 2;
    second = me >= first;
    MPI_Comm_split(MPI_COMM_WORLD, second, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, second ? 0 : first, 5,
                         &inter);
    data = calloc(1, MOST);
    more = calloc((size_t)n, MOST);
    CHECK(data && more, "memory");
    if (argc > 1 && !strcmp(argv[1], "asks"))
        asks();
    else
        plain();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    if (me == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
