/*
 * random_heap.c - a program that uses its heap in every way while it
 * communicates from it, against a model.
 *
 *   random_heap SEED STEPS
 *
 * All ranks draw the same steps. Each knows what every rank's blocks must hold,
 * byte by byte: in a model that lies outside the heap. Blocks are allocated,
 * reallocated, freed, written, given up (MADV_DONTNEED), protected, inherited
 * by forked children, which may become another program, and sent and received
 * in parts.
 */
#include "mpi/test.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define BLOCKS 12
#define LARGEST ((size_t)768 << 10)
#define PAGE ((size_t)4096)

static char *block[BLOCKS];
static size_t size[BLOCKS];
static char *model; /* [rank][block][LARGEST] */
static uint64_t step;

static char *modelled(int rank, int b)
{
    return model + ((size_t)rank * BLOCKS + (size_t)b) * LARGEST;
}

/* New contents of [at, at+n) of a block, on every rank its own. */
static void write_to(int b, size_t at, size_t n)
{
    for (int r = 0; r < world_size; r++)
        fill_from(modelled(r, b) + at, n, key2(step, (uint64_t)(r * 64 + b)));
    memcpy(block[b] + at, modelled(world_rank, b) + at, n);
}

static bool right(int b)
{
    return !memcmp(block[b], modelled(world_rank, b), size[b]);
}

static void check(int b, const char *after)
{
    const char *is = block[b], *must = modelled(world_rank, b);
    size_t i = 0;
    while (i < size[b] && is[i] == must[i])
        i++;
    CHECK(i == size[b], "step %llu, after %s: byte %zu of block %d (%zu bytes)",
          (unsigned long long)step, after, i, b, size[b]);
}

static size_t draw_size(rng_t *r)
{
    return rng_one_in(r, 3) ? 1 + rng_size(r, LARGEST - 1)
                            : (32 << 10) + rng_below(r, LARGEST - (32 << 10));
}

static void allocate(rng_t *r, int b)
{
    size_t n = size[b] = draw_size(r);
    switch (rng_below(r, 3)) {
    case 0: block[b] = malloc(n); break;
    case 1:
        block[b] = calloc(n, 1);
        for (int k = 0; k < world_size; k++)
            memset(modelled(k, b), 0, n);
        check(b, "calloc");
        break;
    default:
        if (posix_memalign((void **)&block[b], PAGE, n))
            fail("no memory");
    }
    write_to(b, 0, n);
}

static void reallocate(rng_t *r, int b)
{
    size_t old = size[b], n = draw_size(r);
    block[b] = realloc(block[b], n);
    size[b] = n < old ? n : old;
    check(b, "realloc");
    size[b] = n;
    if (n > old)
        write_to(b, old, n - old);
}

/* Whole pages inside a block: where they begin, and how many bytes. */
static size_t pages_inside(int b, char **first)
{
    uintptr_t low = ((uintptr_t)block[b] + PAGE - 1) & ~(PAGE - 1);
    uintptr_t high = ((uintptr_t)block[b] + size[b]) & ~(PAGE - 1);
    *first = (char *)low;
    return high > low ? high - low : 0;
}

/* Ranks' blocks lie differently in their pages, so the models differ. */
static void give_up(int b)
{
    char *first;
    size_t n = pages_inside(b, &first);
    int at = (int)(first - block[b]), bytes = (int)n;
    int all_at[64], all_bytes[64];
    MPI_Allgather(&at, 1, MPI_INT, all_at, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(&bytes, 1, MPI_INT, all_bytes, 1, MPI_INT, MPI_COMM_WORLD);
    if (n)
        CHECK(madvise(first, n, MADV_DONTNEED) == 0, "MADV_DONTNEED");
    for (int r = 0; r < world_size; r++)
        if (all_bytes[r])
            memset(modelled(r, b) + all_at[r], 0, (size_t)all_bytes[r]);
    check(b, "MADV_DONTNEED");
}

/* The child may go on as another program. */
static void inherit(bool another)
{
    pid_t pid = fork();
    if (pid == 0 && another) {
        execl("/proc/self/exe", "random_heap", "child", NULL);
        _exit(8);
    }
    if (pid == 0) {
        for (int b = 0; b < BLOCKS; b++) {
            if (!block[b])
                continue;
            if (!right(b))
                _exit(10 + b);
            memset(block[b], 0x5a, size[b]);
        }
        for (int b = 0; b < BLOCKS; b++) {
            free(block[b]);
            char *p = calloc(1, 300000);
            if (!p || p[0] || p[299999])
                _exit(9);
            free(p);
        }
        _exit(0);
    }
    int status = -1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
          "step %llu: a child ended with %#x", (unsigned long long)step,
          (unsigned)status);
    for (int b = 0; b < BLOCKS; b++)
        if (block[b])
            check(b, "fork");
}

/* n bytes at `from` of block b go to `to` of block c. */
typedef struct {
    int b, c;
    size_t from, to, n;
} part_t;

static bool draw_part(rng_t *r, part_t *p)
{
    p->b = (int)rng_below(r, BLOCKS);
    p->c = (int)rng_below(r, BLOCKS);
    if (p->b == p->c || !block[p->b] || !block[p->c])
        return false;
    size_t most = size[p->b] < size[p->c] ? size[p->b] : size[p->c];
    p->n = rng_one_in(r, 3) ? most : rng_below(r, most) + 1;
    bool whole = rng_one_in(r, 3);
    p->from = whole ? 0 : rng_below(r, size[p->b] - p->n + 1);
    p->to = whole ? 0 : rng_below(r, size[p->c] - p->n + 1);
    return true;
}

static void exchange(rng_t *r, part_t p)
{
    char *out = block[p.b] + p.from, *in = block[p.c] + p.to;
    int next = (world_rank + 1) % world_size;
    int last = (world_rank + world_size - 1) % world_size;
    MPI_Datatype type = MPI_BYTE;
    int count = (int)p.n;
    size_t piece = 1 + rng_below(r, 600), stride = piece + rng_below(r, 300);
    bool gaps = rng_one_in(r, 3) && p.n >= 4 * stride;
    size_t pieces = gaps ? (p.n - piece) / stride + 1 : 0;
    if (gaps) {
        MPI_Type_vector((int)pieces, (int)piece, (int)stride, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        count = 1;
    }
    MPI_Request request[2];
    switch (rng_below(r, 3)) {
    case 0:
        MPI_Sendrecv(out, count, type, next, 3, in, count, type, last, 3,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Irecv(in, count, type, last, 3, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, count, type, next, 3, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        break;
    default:
        MPI_Isend(out, count, type, next, 3, MPI_COMM_WORLD, &request[0]);
        MPI_Recv(in, count, type, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    }
    if (gaps)
        MPI_Type_free(&type);
    for (int k = 0; k < world_size; k++) {
        char *to = modelled((k + 1) % world_size, p.c) + p.to;
        const char *from = modelled(k, p.b) + p.from;
        for (size_t i = 0; i < pieces; i++)
            memcpy(to + i * stride, from + i * stride, piece);
        if (!gaps)
            memcpy(to, from, p.n);
    }
    check(p.b, "sending");
    check(p.c, "receiving");
}

/* Of block b, `each` bytes of every rank go to, or come from, block c. */
static void collect(rng_t *r, part_t p)
{
    char *out = block[p.b] + p.from, *in = block[p.c] + p.to;
    int n = world_size, root = (int)rng_below(r, (size_t)n);
    size_t each = p.n / (size_t)n;
    switch (rng_below(r, 7)) {
    case 0:
        MPI_Bcast(in, (int)p.n, MPI_BYTE, root, MPI_COMM_WORLD);
        for (int k = 0; k < n; k++)
            memcpy(modelled(k, p.c) + p.to, modelled(root, p.c) + p.to, p.n);
        break;
    case 1:
    case 2: {
        bool all = rng_one_in(r, 2);
        if (all)
            MPI_Allreduce(out, in, (int)p.n, MPI_BYTE, MPI_BXOR,
                          MPI_COMM_WORLD);
        else
            MPI_Reduce(out, in, (int)p.n, MPI_BYTE, MPI_BXOR, root,
                       MPI_COMM_WORLD);
        for (int k = 0; k < n; k++) {
            if (!all && k != root)
                continue;
            char *to = modelled(k, p.c) + p.to;
            for (size_t i = 0; i < p.n; i++) {
                to[i] = 0;
                for (int j = 0; j < n; j++)
                    to[i] ^= modelled(j, p.b)[p.from + i];
            }
        }
        break;
    }
    case 3:
        MPI_Allgather(out, (int)each, MPI_BYTE, in, (int)each, MPI_BYTE,
                      MPI_COMM_WORLD);
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                memcpy(modelled(k, p.c) + p.to + (size_t)j * each,
                       modelled(j, p.b) + p.from, each);
        break;
    case 4:
        MPI_Gather(out, (int)each, MPI_BYTE, in, (int)each, MPI_BYTE, root,
                   MPI_COMM_WORLD);
        for (int j = 0; j < n; j++)
            memcpy(modelled(root, p.c) + p.to + (size_t)j * each,
                   modelled(j, p.b) + p.from, each);
        break;
    case 5:
        MPI_Alltoall(out, (int)each, MPI_BYTE, in, (int)each, MPI_BYTE,
                     MPI_COMM_WORLD);
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                memcpy(modelled(k, p.c) + p.to + (size_t)j * each,
                       modelled(j, p.b) + p.from + (size_t)k * each, each);
        break;
    default:
        MPI_Scan(out, in, (int)p.n, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
        for (int k = 0; k < n; k++) {
            char *to = modelled(k, p.c) + p.to;
            for (size_t i = 0; i < p.n; i++) {
                to[i] = modelled(0, p.b)[p.from + i];
                for (int j = 1; j <= k; j++)
                    to[i] ^= modelled(j, p.b)[p.from + i];
            }
        }
    }
    check(p.b, "a collective (sent)");
    check(p.c, "a collective (received)");
}

/* A buffer that may only be read is a send buffer still. */
static void send_protected(rng_t *r, part_t p)
{
    char *first;
    size_t n = pages_inside(p.b, &first);
    if (n)
        CHECK(mprotect(first, n, PROT_READ) == 0, "mprotect");
    exchange(r, p);
    if (n)
        CHECK(mprotect(first, n, PROT_READ | PROT_WRITE) == 0, "mprotect");
}

static void one_step(rng_t *r)
{
    int b = (int)rng_below(r, BLOCKS);
    part_t p;
    if (!block[b]) {
        allocate(r, b);
        return;
    }
    switch (rng_below(r, 16)) {
    case 0:
        check(b, "all");
        free(block[b]);
        block[b] = NULL;
        break;
    case 1: reallocate(r, b); break;
    case 2: give_up(b); break;
    case 3:
        if (rng_one_in(r, 4))
            inherit(rng_one_in(r, 3));
        break;
    case 4:
        if (draw_part(r, &p))
            send_protected(r, p);
        break;
    case 5:
    case 6: {
        size_t at = rng_below(r, size[b]);
        write_to(b, at, rng_below(r, size[b] - at) + 1);
        break;
    }
    default:
        if (!draw_part(r, &p))
            break;
        if (rng_one_in(r, 2))
            exchange(r, p);
        else
            collect(r, p);
    }
}

int main(int argc, char **argv)
{
    alarm(200);
    if (argc == 2 && !strcmp(argv[1], "child"))
        return 0;
    test_start(&argc, &argv);
    CHECK(argc == 3 && world_size <= 64, "random_heap SEED STEPS");
    rng_t r = rng_from(strtoull(argv[1], NULL, 10));
    uint64_t steps = strtoull(argv[2], NULL, 10);
    model = mmap(NULL, (size_t)world_size * BLOCKS * LARGEST,
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(model != MAP_FAILED, "no memory");
    for (step = 1; step <= steps; step++)
        one_step(&r);
    for (int b = 0; b < BLOCKS; b++) {
        if (block[b])
            check(b, "all");
        free(block[b]);
    }
    test_end();
    return 0;
}
