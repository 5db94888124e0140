/*
 * arena_static.c - the program's globals, moved into the arena's file.
 *
 * Fortran COMMON blocks and C globals are communication buffers like any
 * other. So before main, while there is one thread, the library copies the
 * program's writable segment into the file. It then maps the file over it, at
 * the same addresses. It treats libraries with much static data likewise. Whole
 * pages only, past what the loader made read-only (RELRO); thread-local data
 * and the brk heap lie elsewhere.
 *
 * Only touched pages are copied, so a program with gigabytes of .bss starts
 * as fast as before: its untouched pages stay holes in the file.
 *
 * A program that starts without an MPI library does not communicate from its
 * globals: a shell, a compiler, an interpreter that loads MPI later. Nothing
 * is moved there, and forks keep copy-on-write for these globals.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena_impl.h"

#include <link.h>
#include <signal.h>
#include <string.h>

#include "node/base/settings.h"

#define LIBRARY_MIN ((size_t)1 << 20) /* static data that is worth it */
#define BATCH 4096                    /* pages looked at in one go */

bool sw_static_always;

/* End of each range's initialised part, which comes from the program's file
 * and is copied whole, whether it was touched or not. */
static uintptr_t filed_end[SW_ARENA_RANGES];

typedef struct {
    size_t offset, largest;
    int objects;
    bool has_mpi;
} finder_t;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool starts(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Libraries that are not the program's own, or that must not be moved while
 * they run: the system's, the MPI library, and this one. */
static bool foreign(const char *name)
{
    static const char *const names[] = {
        "libc.",      "libc-",          "ld-",       "ld.",     "libpthread",
        "libm.",      "libm-",          "libdl",     "librt",   "libstdc++",
        "libgcc_s",   "libgfortran",    "libmpi",    "libpmpi", "libopen-",
        "libmca",     "libstraightway", "libasan",   "libtsan", "libubsan",
        "linux-vdso", "libcuda",        "libfabric", "libucp",  "libuct",
        "libucs",     "libucm",         "libpython",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (starts(name, names[i]))
            return true;
    return false;
}

static int see_mpi(struct dl_phdr_info *info, size_t size, void *to)
{
    (void)size;
    const char *name = base_name(info->dlpi_name);
    if (starts(name, "libmpi") || starts(name, "libpmpi"))
        ((finder_t *)to)->has_mpi = true;
    return 0;
}

static void add(finder_t *find, uintptr_t start, uintptr_t filed, uintptr_t end)
{
    size_t size = end - start;
    /* Not the object that this code's own data lies in: a forked child
     * replaces these ranges while it reads that. */
    if ((uintptr_t)&sw_arena - start < size)
        return;
    if (sw_arena.count == SW_ARENA_RANGES || size > find->largest ||
        !sw_os_is_private_rw((void *)start, size))
        return;
    /* Address and offset alike modulo a huge page, or none ever comes. */
    size_t offset = sw_round_up(find->offset, SW_HUGE) + start % SW_HUGE;
    filed_end[sw_arena.count] = sw_round_up(filed, SW_PAGE);
    sw_arena_range_t *range = &sw_arena.range[sw_arena.count++];
    range->start = (char *)start;
    range->size = size;
    range->offset = offset;
    find->offset = offset + size;
}

static int see_object(struct dl_phdr_info *info, size_t ignored, void *to)
{
    (void)ignored;
    finder_t *find = to;
    bool program = find->objects++ == 0;
    size_t least = program ? sw_settings.arena_threshold
                           : sw_max(LIBRARY_MIN, sw_settings.arena_threshold);
    if (!program &&
        (!info->dlpi_name[0] || foreign(base_name(info->dlpi_name))))
        return 0;
    uintptr_t relro = 0, relro_end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
            relro = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            relro_end = relro + info->dlpi_phdr[i].p_memsz;
        }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W) ||
            part->p_flags & PF_X)
            continue;
        uintptr_t start = info->dlpi_addr + part->p_vaddr;
        uintptr_t end = sw_round_up(start + part->p_memsz, SW_PAGE);
        if (relro_end > start && relro < end)
            start = sw_round_up(relro_end, SW_PAGE);
        start &= ~(uintptr_t)(SW_PAGE - 1);
        if (start < end && end - start >= least)
            add(find, start, info->dlpi_addr + part->p_vaddr + part->p_filesz,
                end);
    }
    return 0;
}

size_t sw_static_find(size_t offset, size_t largest)
{
    finder_t find = {.offset = offset, .largest = largest};
    dl_iterate_phdr(see_mpi, &find);
    if ((find.has_mpi || sw_static_always) && sw_os_threads() == 1)
        dl_iterate_phdr(see_object, &find);
    return find.offset;
}

/* Copy what a range holds into the file: all that is initialised, and what
 * was touched of the rest. */
static bool copy(const sw_arena_range_t *range, uintptr_t filed)
{
    static unsigned char touched[BATCH];
    uintptr_t start = (uintptr_t)range->start;
    size_t initialised = filed > start
                             ? sw_min(filed - start, range->size) / SW_PAGE
                             : 0;
    size_t pages = range->size / SW_PAGE;
    for (size_t at = 0; at < pages; at += BATCH) {
        size_t n = sw_min(pages - at, BATCH);
        if (sw_os_touched(range->start + at * SW_PAGE, n, touched))
            return false;
        if (at < initialised)
            memset(touched, 1, sw_min(initialised - at, n));
        for (size_t i = 0; i < n;) {
            size_t run = i;
            while (run < n && touched[run])
                run++;
            size_t from = (at + i) * SW_PAGE, size = (run - i) * SW_PAGE;
            if (size && sw_os_write_at(sw_arena.fd, range->start + from, size,
                                       range->offset + from))
                return false;
            i = run + 1;
        }
    }
    return true;
}

void sw_static_adopt(void)
{
    int kept = 1;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    for (int i = 1; i < sw_arena.count; i++) {
        sw_arena_range_t range = sw_arena.range[i];
        if (!copy(&range, filed_end[i]) ||
            !sw_os_map_shared(range.start, range.size, sw_arena.fd,
                              range.offset))
            continue;
        sw_os_dump(range.start, range.size, true);
        if (sw_settings.huge_pages && range.size >= SW_HUGE)
            sw_os_huge_advice(range.start, range.size);
        sw_arena.range[kept++] = range;
    }
    sw_arena.count = kept;
    sigprocmask(SIG_SETMASK, &before, NULL);
}
