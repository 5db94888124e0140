/*
 * remap.c - see remap.h.
 *
 * The views begin at addresses that are multiples of a huge page, as the file
 * does. So one entry of a page table maps each huge page of the file.
 */
#include "remap.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE ((size_t)2 << 20)

enum { IN, VIEW, ARRIVED, MAPPINGS };

struct sw_remap {
    int file, theirs; /* descriptors: own, the partner's; 0: none */
    unsigned char *at[MAPPINGS];
    size_t span, length; /* bytes: of a mapping, a message */
    int partner;
    MPI_Comm comm;
};

/* Addresses for so many bytes, from a multiple of a huge page on. */
static unsigned char *reserve(size_t bytes)
{
    unsigned char *found = mmap(NULL, bytes + HUGE, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                                0);
    if (found == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)found % HUGE;
    if (before)
        munmap(found, before);
    munmap(found + before + bytes, HUGE - before);
    return found + before;
}

static bool map(const sw_remap_t *r, int which, size_t bytes, int how,
                int descriptor)
{
    return mmap(r->at[which], bytes, PROT_READ | PROT_WRITE, how | MAP_FIXED,
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

static bool make(sw_remap_t *r, bool huge)
{
    size_t span = r->span;
    r->file = memfd_create("straightway-bench", MFD_CLOEXEC);
    for (int i = 0; i < MAPPINGS; i++)
        if (!(r->at[i] = reserve(span)))
            return false;
    if (r->file < 0 || ftruncate(r->file, (off_t)span) ||
        !map(r, IN, span, MAP_SHARED, r->file) ||
        (huge && madvise(r->at[IN], span, MADV_HUGEPAGE)))
        return false;
    memset(r->at[IN], 1, span);
    return (!huge || has_huge(r->at[IN])) &&
           map(r, VIEW, span, MAP_PRIVATE, r->file);
}

static bool meet(sw_remap_t *r)
{
    long long mine[2] = {getpid(), r->file}, other[2] = {0, 0};
    char path[64];
    MPI_Sendrecv(mine, 2, MPI_LONG_LONG, r->partner, 0, other, 2, MPI_LONG_LONG,
                 r->partner, 0, r->comm, MPI_STATUS_IGNORE);
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", other[0], other[1]);
    r->theirs = open(path, O_RDWR | O_CLOEXEC);
    return r->theirs >= 0;
}

/* All ranks can, or none. */
static bool all(bool good, MPI_Comm comm)
{
    int mine = good, every;
    MPI_Allreduce(&mine, &every, 1, MPI_INT, MPI_LAND, comm);
    return every;
}

sw_remap_t *sw_remap_bind(size_t bytes, bool huge, int partner, MPI_Comm comm)
{
    sw_remap_t *r = calloc(1, sizeof *r);
    if (!r)
        MPI_Abort(comm, 1);
    r->length = bytes;
    r->span = (bytes + HUGE - 1) / HUGE * HUGE;
    r->partner = partner;
    r->comm = comm;
    if (all(bytes > 0, comm) && all(make(r, huge), comm) && all(meet(r), comm))
        return r;
    sw_remap_free(r);
    return NULL;
}

void sw_remap_free(sw_remap_t *r)
{
    if (!r)
        return;
    for (int i = 0; i < MAPPINGS; i++)
        if (r->at[i])
            munmap(r->at[i], r->span);
    if (r->file > 0)
        close(r->file);
    if (r->theirs > 0)
        close(r->theirs);
    free(r);
}

unsigned char *sw_remap_view(const sw_remap_t *r)
{
    return r->at[VIEW];
}

unsigned char *sw_remap_arrived(const sw_remap_t *r)
{
    return r->at[ARRIVED];
}

int sw_remap_send(const sw_remap_t *r, bool written)
{
    char sent = 1;
    if (written)
        memcpy(r->at[IN], r->at[VIEW], r->length);
    if (!map(r, VIEW, r->length, MAP_PRIVATE, r->file))
        return MPI_ERR_NO_MEM;
    return MPI_Send(&sent, 1, MPI_CHAR, r->partner, 0, r->comm);
}

int sw_remap_receive(const sw_remap_t *r)
{
    char sent;
    int error = MPI_Recv(&sent, 1, MPI_CHAR, r->partner, 0, r->comm,
                         MPI_STATUS_IGNORE);
    if (!error && !map(r, ARRIVED, r->length, MAP_PRIVATE, r->theirs))
        return MPI_ERR_NO_MEM;
    return error;
}
