/*
 * remap.c - see remap.h.
 *
 * The views begin at addresses that are multiples of a huge page, as the file
 * does. So one entry of a page table maps each huge page of the file.
 */
#define _GNU_SOURCE
#include "remap.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE ((size_t)2 << 20)

enum { IN, VIEW, ARRIVED, MAPPINGS };

typedef struct {
    int file, theirs;           /* descriptors: own, the partner's; 0: none */
    unsigned char *at[MAPPINGS];
    size_t span, length;        /* bytes: of a mapping, a message           */
} pages_t;

static pages_t made[2], *now = made;    /* of small pages, of huge ones     */
static int partner;
static MPI_Comm comm;

/* Addresses for so many bytes, from a multiple of a huge page on. */
static unsigned char *reserve(size_t bytes)
{
    unsigned char *found = mmap(NULL, bytes + HUGE, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                -1, 0);
    if (found == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)found % HUGE;
    if (before)
        munmap(found, before);
    munmap(found + before + bytes, HUGE - before);
    return found + before;
}

static bool map(int which, size_t bytes, int how, int descriptor)
{
    return mmap(now->at[which], bytes, PROT_READ | PROT_WRITE, how | MAP_FIXED,
                descriptor, 0) != MAP_FAILED;
}

/* Has the mapping got huge pages of shared memory? */
static bool has_huge(const void *mapping)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    char line[512];
    bool inside = false;
    size_t kilobytes = 0;
    if (!maps)
        return false;
    while (!kilobytes && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            inside = from == (uintptr_t)mapping;
        else if (inside)
            sscanf(line, "ShmemPmdMapped: %zu kB", &kilobytes);
    }
    fclose(maps);
    return kilobytes > 0;
}

static bool make(bool huge)
{
    size_t span = now->span;
    now->file = memfd_create("straightway-bench", MFD_CLOEXEC);
    for (int i = 0; i < MAPPINGS; i++)
        if (!(now->at[i] = reserve(span)))
            return false;
    if (now->file < 0 || ftruncate(now->file, (off_t)span) ||
        !map(IN, span, MAP_SHARED, now->file) ||
        (huge && madvise(now->at[IN], span, MADV_HUGEPAGE)))
        return false;
    memset(now->at[IN], 1, span);
    return (!huge || has_huge(now->at[IN])) && map(VIEW, span, MAP_PRIVATE, now->file);
}

static bool meet(void)
{
    long long mine[2] = {getpid(), now->file}, other[2] = {0, 0};
    char path[64];
    MPI_Sendrecv(mine, 2, MPI_LONG_LONG, partner, 0, other, 2, MPI_LONG_LONG,
                 partner, 0, comm, MPI_STATUS_IGNORE);
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", other[0], other[1]);
    now->theirs = open(path, O_RDWR | O_CLOEXEC);
    return now->theirs >= 0;
}

/* All ranks can, or none. */
static bool all(bool good)
{
    int mine = good, every;
    MPI_Allreduce(&mine, &every, 1, MPI_INT, MPI_LAND, comm);
    return every;
}

static void drop(void)
{
    for (int i = 0; i < MAPPINGS; i++)
        if (now->at[i])
            munmap(now->at[i], now->span);
    if (now->file > 0)
        close(now->file);
    if (now->theirs > 0)
        close(now->theirs);
    *now = (pages_t){0};
}

bool sw_remap_bind(size_t bytes, bool huge, int to, MPI_Comm on)
{
    sw_remap_choose(huge);
    now->length = bytes;
    now->span = (bytes + HUGE - 1) / HUGE * HUGE;
    partner = to;
    comm = on;
    if (all(bytes > 0) && all(make(huge)) && all(meet()))
        return true;
    drop();
    return false;
}

void sw_remap_choose(bool huge)
{
    now = &made[huge];
}

void sw_remap_free(void)
{
    for (int huge = 0; huge < 2; huge++) {
        sw_remap_choose(huge);
        drop();
    }
}

unsigned char *sw_remap_view(void)
{
    return now->at[VIEW];
}

unsigned char *sw_remap_arrived(void)
{
    return now->at[ARRIVED];
}

int sw_remap_send(bool written)
{
    char sent = 1;
    if (written)
        memcpy(now->at[IN], now->at[VIEW], now->length);
    if (!map(VIEW, now->length, MAP_PRIVATE, now->file))
        return MPI_ERR_NO_MEM;
    return MPI_Send(&sent, 1, MPI_CHAR, partner, 0, comm);
}

int sw_remap_receive(void)
{
    char sent;
    int error = MPI_Recv(&sent, 1, MPI_CHAR, partner, 0, comm,
                         MPI_STATUS_IGNORE);
    if (!error && !map(ARRIVED, now->length, MAP_PRIVATE, now->theirs))
        return MPI_ERR_NO_MEM;
    return error;
}
