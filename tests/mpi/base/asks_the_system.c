/*
 * asks_the_system.c - how often calls that programs make often look at the
 * system's tables of this process: windows, communicators, requests, datatypes,
 * memory, by the hundred.
 *
 * The program's own names stand before libc's, also for the libraries that it
 * loads. So it counts each file below /proc/self and /sys that they open or
 * ask for.
 */
#include "mpi/test.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { WARM = 5, ROUNDS = 40, LIVE = 10, SMALL = 1000, BIG = 100000 };

static _Atomic int asked;

static void look(const char *path)
{
    if (path &&
        (!strncmp(path, "/proc/self/", 11) || !strncmp(path, "/sys/", 5)))
        asked++;
}

static int open_it(const char *path, int flags, va_list list)
{
    int mode = flags & O_CREAT ? va_arg(list, int) : 0;
    look(path);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#define OPEN(NAME)                              \
    int NAME(const char *path, int flags, ...); \
    int NAME(const char *path, int flags, ...)  \
    {                                           \
        va_list list;                           \
        va_start(list, flags);                  \
        int fd = open_it(path, flags, list);    \
        va_end(list);                           \
        return fd;                              \
    }
OPEN(open)
OPEN(open64)
OPEN(__open_2)
OPEN(__open64_2)

int stat(const char *restrict path, struct stat *restrict to)
{
    look(path);
    return fstatat(AT_FDCWD, path, to, 0);
}

/* One of each ------------------------------------------------------------ */

static int me, n, right, left;
static MPI_Comm world;
static MPI_Win opened, attached;
static char data[BIG], other[BIG];

static void allocate(int r)
{
    MPI_Win window;
    void *base;
    MPI_Aint bytes = (r % 3 == me ? 0 : 8) + r % 5 * 700;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, world, &base, &window);
    MPI_Win_free(&window);
}

static void allocate_shared(int r)
{
    MPI_Win window;
    void *base;
    MPI_Win_allocate_shared(1 + r % 5 * 700, 1, MPI_INFO_NULL, world, &base,
                            &window);
    MPI_Win_free(&window);
}

static void create(int r)
{
    MPI_Win window;
    char *block = malloc(BIG);
    MPI_Win_create(r % 2 ? data : block, BIG, 1, MPI_INFO_NULL, world, &window);
    MPI_Win_free(&window);
    free(block);
}

static void attach(int r)
{
    char *block = malloc(r % 2 ? SMALL : BIG);
    MPI_Win_attach(attached, block, r % 2 ? SMALL : BIG);
    MPI_Win_detach(attached, block);
    free(block);
}

static void allocate_memory(int r)
{
    void *p;
    MPI_Alloc_mem(r % 2 ? SMALL : BIG, MPI_INFO_NULL, &p);
    MPI_Free_mem(p);
}

static void synchronise(int r)
{
    long one = r, target = right;
    MPI_Win_fence(0, opened);
    MPI_Put(&one, 1, MPI_LONG, (int)target, 0, 1, MPI_LONG, opened);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, opened);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, opened);
    MPI_Put(&one, 1, MPI_LONG, right, me, 1, MPI_LONG, opened);
    MPI_Win_flush(right, opened);
    MPI_Win_unlock(right, opened);
}

static void communicators(int r)
{
    MPI_Comm new;
    if (r % 2)
        MPI_Comm_dup(world, &new);
    else
        MPI_Comm_split(world, 0, me, &new);
    MPI_Barrier(new);
    MPI_Comm_free(&new);
}

static void requests(int r)
{
    MPI_Request request[2];
    int bytes = r % 2 ? SMALL : BIG;
    MPI_Irecv(other, bytes, MPI_BYTE, left, 1, world, &request[0]);
    MPI_Isend(data, bytes, MPI_BYTE, right, 1, world, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Ibarrier(world, request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void persistent(int r)
{
    MPI_Request request[2];
    int bytes = r % 2 ? SMALL : BIG;
    MPI_Recv_init(other, bytes, MPI_BYTE, left, 1, world, &request[0]);
    MPI_Send_init(data, bytes, MPI_BYTE, right, 1, world, &request[1]);
    MPI_Startall(2, request);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void datatypes(int r)
{
    MPI_Datatype type;
    MPI_Type_vector(10 + r, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(data, 1, type, right, 2, other, 1, type, left, 2, world,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*make)(int r);
    } call[] = {
        {"MPI_Win_allocate", allocate},
        {"MPI_Win_allocate_shared", allocate_shared},
        {"MPI_Win_create", create},
        {"MPI_Win_attach", attach},
        {"MPI_Alloc_mem", allocate_memory},
        {"fence, lock, flush", synchronise},
        {"communicators", communicators},
        {"requests", requests},
        {"persistent requests", persistent},
        {"datatypes", datatypes},
    };
    MPI_Win live[LIVE];
    void *base;
    test_start(&argc, &argv);
    me = world_rank;
    n = world_size;
    right = (me + 1) % n;
    left = (me + n - 1) % n;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, world, &base, &opened);
    MPI_Win_create_dynamic(MPI_INFO_NULL, world, &attached);
    for (int i = 0; i < LIVE; i++)
        MPI_Win_allocate(SMALL, 1, MPI_INFO_NULL, world, &base, &live[i]);
    for (size_t i = 0; i < LENGTH(call); i++) {
        for (int r = 0; r < WARM; r++)
            call[i].make(r);
        MPI_Barrier(world);
        int before = asked;
        for (int r = 0; r < ROUNDS; r++)
            call[i].make(r);
        int mine = asked - before, most;
        MPI_Reduce(&mine, &most, 1, MPI_INT, MPI_MAX, 0, world);
        if (me == 0)
            printf("%s: %d\n", call[i].name, most);
    }
    for (int i = 0; i < LIVE; i++)
        MPI_Win_free(&live[i]);
    MPI_Win_free(&attached);
    MPI_Win_free(&opened);
    MPI_Comm_free(&world);
    test_end();
    return 0;
}
