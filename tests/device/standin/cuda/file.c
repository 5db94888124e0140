/*
 * file.c - pages of a device: a memfd with two mappings, the program's without
 * access and the driver's.
 *
 * The last page of each file tells other processes which pieces were freed. The
 * kernel frees a file when no process has it mapped.
 */
#include "inside.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)1 << 30)
#define CHUNKS 256
#define MOST ((size_t)1 << 40) /* bytes of an allocation */
#define UNIT ((size_t)2 << 20)
#define GRAIN ((size_t)512)
#define LAST ((size_t)4096)

/* Addresses without access, most of them for later. */
typedef struct {
    at_t at;
    size_t bytes;
} chunk_t;
static chunk_t chunk[CHUNKS];
static int chunks;
static at_t next;
static size_t left;

static file_t *dead;  /* whose alias a running operation may still use */
static file_t *holes; /* addresses of files that ended */

static size_t whole(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

bool file_reserved(at_t at)
{
    for (int i = 0; i < chunks; i++)
        if (at - chunk[i].at < chunk[i].bytes)
            return true;
    return false;
}

at_t file_reserve(size_t bytes)
{
    bytes = whole(bytes, UNIT);
    if (bytes > left) {
        size_t all = bytes + UNIT > CHUNK ? bytes + UNIT : CHUNK;
        void *at = chunks == CHUNKS
                       ? MAP_FAILED
                       : mmap(NULL, all, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                              0);
        if (at == MAP_FAILED)
            return 0;
        chunk[chunks++] = (chunk_t){(uintptr_t)at, all};
        next = whole((uintptr_t)at, UNIT);
        left = all - UNIT;
    }
    at_t at = next;
    next += bytes;
    left -= bytes;
    return at;
}

/* The address of the file that ended last, of those with so many bytes. */
static at_t reuse(size_t bytes)
{
    for (file_t **f = &holes, *found; (found = *f); f = &found->next)
        if (found->bytes == bytes) {
            at_t at = found->at;
            *f = found->next;
            free(found);
            return at;
        }
    return 0;
}

/* Map an open file; it is closed if that fails. */
static file_t *map(int fd, size_t bytes, int protection)
{
    struct stat s;
    file_t *f = calloc(1, sizeof *f);
    at_t at = reuse(bytes);
    if (!at)
        at = file_reserve(bytes);
    void *alias = mmap(NULL, bytes + LAST, PROT_READ | PROT_WRITE, MAP_SHARED,
                       fd, 0);
    if (!f || !at || alias == MAP_FAILED || fstat(fd, &s) != 0 ||
        mmap((void *)at, bytes, protection, MAP_SHARED | MAP_FIXED, fd, 0) ==
            MAP_FAILED) {
        if (alias != MAP_FAILED)
            munmap(alias, bytes + LAST);
        free(f);
        close(fd);
        return NULL;
    }
    *f = (file_t){.fd = fd,
                  .at = at,
                  .alias = alias,
                  .bytes = bytes,
                  .process = getpid(),
                  .inode = s.st_ino};
    return f;
}

file_t *file_make(size_t bytes, bool reach)
{
    int fd = bytes > MOST ? -1 : memfd_create("device", MFD_CLOEXEC);
    if (fd < 0)
        return NULL;
    bytes = whole(bytes, UNIT);
    if (ftruncate(fd, (off_t)(bytes + LAST)) != 0) {
        close(fd);
        return NULL;
    }
    return map(fd, bytes, reach ? PROT_READ | PROT_WRITE : PROT_NONE);
}

file_t *file_open(int process, int fd, uint64_t inode)
{
    char path[64];
    struct stat s;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, fd);
    int mine = open(path, O_RDWR | O_CLOEXEC);
    if (mine < 0)
        return NULL;
    if (fstat(mine, &s) != 0 || s.st_ino != inode ||
        s.st_size < (off_t)(UNIT + LAST)) {
        close(mine);
        return NULL;
    }
    file_t *f = map(mine, (size_t)s.st_size - LAST, PROT_NONE);
    if (f)
        f->process = process;
    return f;
}

bool file_cut(file_t *f, size_t bytes, at_t *at)
{
    if (bytes > f->bytes - f->used)
        return false;
    *at = f->at + f->used;
    f->used += whole(bytes, GRAIN);
    return true;
}

static _Atomic unsigned char *retired(const file_t *f, uint64_t offset)
{
    uint64_t n = offset / GRAIN;
    return (_Atomic unsigned char *)f->alias + f->bytes +
           (n < LAST ? n : LAST - 1);
}

void file_retire(file_t *f, uint64_t offset)
{
    atomic_store(retired(f, offset), 1);
}

bool file_retired(const file_t *f, uint64_t offset)
{
    return atomic_load(retired(f, offset));
}

void file_end(file_t *f)
{
    mmap((void *)f->at, f->bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    close(f->fd);
    f->next = dead;
    dead = f;
    if (settings.reuse) {
        file_t *hole = malloc(sizeof *hole);
        if (hole) {
            *hole = *f;
            hole->next = holes;
            holes = hole;
        }
    }
}

void file_bury(void)
{
    while (dead) {
        file_t *f = dead;
        dead = f->next;
        munmap(f->alias, f->bytes + LAST);
        free(f);
    }
}
