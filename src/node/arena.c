/*
 * arena.c - the arena is set up: its range of addresses, its file, its rules.
 *
 * The file is as large as the memory could ever become, and costs nothing
 * before it is touched, so nothing ever moves, grows or is mapped again: a
 * peer's mapping holds for the life of the process. Three limits cut it down:
 * 256 processes of a node map each other, and all of that must stay well
 * within 47 bits of addresses (256 x 256 GiB is half); RLIMIT_AS keeps half of
 * itself free for the program; RLIMIT_FSIZE bounds the file.
 *
 * Law: the arena never makes a program slower than its own heap. Shared
 * memory gets huge pages by a rule of its own (shmem_enabled), often `never`.
 * Where ordinary memory gets them unasked (`always`, or glibc told to ask)
 * and shared memory does not, a block of many megabytes is better off in the
 * heap: sw_arena_heap_limit sends those to libc, and CMA serves them to the
 * peers. Making pages huge afterwards (MADV_COLLAPSE) costs 1-2 s for 1 GiB
 * and would move first-touched pages: not for a library to decide.
 *
 * Memory that runs out shows as with any shared memory: the process is killed
 * by the memory controller or gets SIGBUS at the first touch, where private
 * memory would be killed as well.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "settings.h"

#define SPAN_MIN ((size_t)64 << 20)
#define SPARE SW_HUGE   /* behind the heap part: the fork's heart beat */
/* Below this the caches decide about speed, above it huge pages do: a triad
 * over three arrays of 16 MiB was a fifth slower without them. Blocks of just
 * 4 MiB are in. */
#define PLAIN_MAX (((size_t)4 << 20) + (64 << 10))

sw_arena_t sw_arena = {.fd = -1};
size_t sw_arena_heap_limit = SIZE_MAX;

/* Huge pages ----------------------------------------------------------- */

static bool chosen(const char *table, const char *word)
{
    char text[256], path[128] = "/sys/kernel/mm/transparent_hugepage/";
    strcat(path, table);
    if (sw_os_read_text(path, text, sizeof text) < 0)
        return false;
    return strstr(text, word) != NULL;
}

static bool libc_has_huge_pages(void)
{
    const char *tunables = getenv("GLIBC_TUNABLES");
    const char *found =
        tunables ? strstr(tunables, "glibc.malloc.hugetlb=") : NULL;
    if (found && found[strlen("glibc.malloc.hugetlb=")] != '0')
        return !chosen("enabled", "[never]");
    return chosen("enabled", "[always]");
}

static bool arena_has_huge_pages(void)
{
    if (chosen("shmem_enabled", "[always]") ||
        chosen("shmem_enabled", "[within_size]") ||
        chosen("shmem_enabled", "[force]"))
        return true;
    return sw_settings.huge_pages && chosen("shmem_enabled", "[advise]");
}

/* Size ----------------------------------------------------------------- */

static size_t wanted_span(void)
{
    size_t span = sw_settings.arena_size;
    if (!span)
        span = 2 * sw_os_memory_total(); /* room for blocks that grow */
    return sw_min(span, SW_SPAN_MAX) & ~(SW_HUGE - 1);
}

/* Address space left over must be half of the limit. */
static size_t fit_addresses(size_t span)
{
    size_t limit = sw_os_address_limit();
    if (limit == SIZE_MAX)
        return span;
    size_t used = sw_os_address_used();
    while (span >= SPAN_MIN &&
           used + span + sw_extents_room(span) + 2 * SPARE > limit / 2)
        span = span / 2 & ~(SW_HUGE - 1);
    return span;
}

/* Make the file as large as it may be; returns the span it has room for. */
static size_t fit_file(size_t span)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        span = limit.rlim_cur > SPARE
            ? sw_min(span, (limit.rlim_cur - SPARE) & ~(SW_HUGE - 1)) : 0;
    return span;
}

static void refuse(const char *what)
{
    if (sw_settings.verbose)
        sw_say("no arena: %s: %s; large blocks stay private", what,
               strerror(errno));
    if (sw_arena.fd >= 0)
        close(sw_arena.fd);
    sw_arena.fd = -1;
    sw_arena.count = 0;
    sw_arena.span = 0;
    sw_arena.range[0] = (sw_arena_range_t){0};
    sw_pages = NULL;
}

void sw_arena_start(void)
{
    if (!sw_settings.arena || sw_arena.fd >= 0)
        return;
    int saved = errno;
    if (sw_os_page_size() != SW_PAGE) {
        errno = ENOTSUP;
        refuse("pages are not of 4 KiB");
        goto out;
    }
    size_t span = fit_file(fit_addresses(wanted_span()));
    if (span < SPAN_MIN && span < wanted_span()) {
        errno = ENOMEM;
        refuse("RLIMIT_AS or RLIMIT_FSIZE leave no room");
        goto out;
    }
    if (!span)
        goto out;
    char *base = sw_os_reserve(span + SPARE, SW_HUGE);
    if (!base) {
        refuse("address space");
        goto out;
    }
    sw_arena.fd = sw_os_memfd("straightway");
    if (sw_arena.fd < 0) {
        refuse("memfd_create");
        goto unmap;
    }
    sw_arena.fd = sw_os_high_fd(sw_arena.fd);
    sw_arena.file = sw_os_file_id(sw_arena.fd);
    if (libc_has_huge_pages() && !arena_has_huge_pages())
        sw_arena_heap_limit = PLAIN_MAX;
    sw_arena.count = 1;
    sw_arena.range[0] = (sw_arena_range_t){base, span, 0};
    size_t end = span + SPARE;
    if (sw_settings.arena_static)
        end = sw_round_up(sw_static_find(end, sw_arena_heap_limit), SW_HUGE);
    if (sw_os_resize(sw_arena.fd, end)) {
        /* The file may just be too short for the static data. */
        sw_arena.count = 1;
        end = span + SPARE;
        if (sw_os_resize(sw_arena.fd, end)) {
            refuse("file size");
            goto unmap;
        }
    }
    sw_arena.span = end;
    if (!sw_os_map_shared(base, span + SPARE, sw_arena.fd, 0)) {
        refuse("mapping the file");
        goto unmap;
    }
    if (!sw_extents_start(span)) {
        refuse("address space for its records");
        goto unmap;
    }
    if (!sw_blocks_start() || !sw_fork_start()) {
        refuse("fork handlers");
        goto unmap;
    }
    if (sw_settings.huge_pages)
        sw_os_huge_advice(base, span);
    sw_static_adopt();
    goto out;
unmap:
    sw_os_unmap(base, span + SPARE);
out:
    errno = saved;
}
