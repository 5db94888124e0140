/*
 * arena.c - the arena is set up: its range of addresses, its file, its rules.
 *
 * The file is as large as the memory could ever become, and costs nothing
 * before the program touches it. So nothing ever moves, grows or is mapped
 * again, and a peer's mapping holds for the life of the process. Three limits
 * bound the file's size:
 *   - 256 processes of a node map each other, well within 47 bits of
 *     addresses (256 x 320 GiB is five eighths);
 *   - half of RLIMIT_AS stays free for the program;
 *   - RLIMIT_FSIZE bounds any file.
 *
 * Law: the arena never makes a program slower than its own heap. Private pages
 * are what that heap has. Shared memory gets huge pages by a rule of its own
 * (shmem_enabled), often `never`. Where only ordinary memory gets huge pages
 * unasked, blocks of many megabytes stay private (sw_arena_plain_max). CMA
 * serves these to the peers. Making pages huge afterwards (MADV_COLLAPSE) costs
 * 1-2 s for 1 GiB, and would move pages that the program has placed by first
 * touch: a library must not decide that.
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

#include "node/base/settings.h"

#define SPAN_MIN ((size_t)64 << 20)
#define HEAP_MAX ((size_t)256 << 30)
#define SPARE SW_HUGE /* between the zones: the fork's heart beat */
/* Below this the caches decide about speed, above it huge pages do: a triad
 * over three arrays of 16 MiB was a fifth slower without them. Blocks of just
 * 4 MiB are in. */
#define PLAIN_MAX (((size_t)4 << 20) + (64 << 10))

/* Huge pages ----------------------------------------------------------- */

static bool chosen(const char *table, const char *word)
{
    char text[256], path[128] = "/sys/kernel/mm/transparent_hugepage/";
    strcat(path, table);
    if (sw_os_read_text(path, text, sizeof text) < 0)
        return false;
    return strstr(text, word) != NULL;
}

/* Is libc's heap told to ask for huge pages? */
static bool libc_asks(void)
{
    const char *tunables = getenv("GLIBC_TUNABLES");
    const char *found = tunables ? strstr(tunables, "glibc.malloc.hugetlb=")
                                 : NULL;
    return found && found[strlen("glibc.malloc.hugetlb=")] != '0';
}

static bool libc_has_huge_pages(void)
{
    return libc_asks() ? !chosen("enabled", "[never]")
                       : chosen("enabled", "[always]");
}

bool sw_arena_shared_asks_huge(void)
{
    return sw_settings.huge_pages && chosen("shmem_enabled", "[advise]");
}

static bool arena_has_huge_pages(void)
{
    if (chosen("shmem_enabled", "[always]") ||
        chosen("shmem_enabled", "[within_size]") ||
        chosen("shmem_enabled", "[force]"))
        return true;
    return sw_arena_shared_asks_huge();
}

/* Size ----------------------------------------------------------------- */

static size_t wanted_span(void)
{
    size_t span = sw_settings.arena_size;
    if (span == SW_AUTO_SIZE)
        span = 2 * sw_os_memory_total(); /* room for blocks that grow */
    return sw_min(span, HEAP_MAX) & ~(SW_HUGE - 1);
}

/* The common zone holds copies, and what MPI_Alloc_mem hands out. */
static size_t common_span(size_t heap)
{
    return sw_round_up(heap / 4, SW_HUGE);
}

/* How peers are to reach the heap, as STRAIGHTWAY_SHOW says. */
static void choose_mode(void)
{
    static const char *const names[] = {"lazy", "eager", "off"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(sw_settings.show, names[i])) {
            sw_show_mode = (sw_show_mode_t)i;
            return;
        }
    sw_say("STRAIGHTWAY_SHOW=%s is not understood: give lazy, eager or off "
           "(the default is kept)",
           sw_settings.show);
}

/* What is kept for reuse: no more than a sixteenth of the machine's memory, if
 * there is a rank on every core. */
static void bound_kept(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t ranks = cores > 0 ? (size_t)cores : 1;
    sw_settings.arena_keep = sw_min(sw_settings.arena_keep,
                                    sw_os_memory_total() / 16 / ranks);
}

/* Address space left over must be half of the limit. */
static size_t fit_addresses(size_t span)
{
    size_t limit = sw_os_address_limit();
    if (limit == SIZE_MAX)
        return span;
    size_t used = sw_os_address_used();
    while (span >= SPAN_MIN &&
           used + 2 * (span + common_span(span) + sw_extents_room(span)) +
                   2 * SPARE >
               limit / 2)
        span = span / 2 & ~(SW_HUGE - 1);
    return span;
}

/* Make the file as large as it may be; returns the span it has room for. */
static size_t fit_file(size_t span)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        span = limit.rlim_cur > 8 * SPARE
                   ? sw_min(span,
                            (limit.rlim_cur / 5 * 4 - SPARE) & ~(SW_HUGE - 1))
                   : 0;
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
    size_t common = common_span(span), all = span + SPARE + common;
    choose_mode();
    bool eager = sw_show_mode == SW_SHOW_EAGER;
    char *base = sw_os_reserve(all, SW_HUGE);
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
    if (!arena_has_huge_pages()) {
        if (libc_has_huge_pages())
            sw_arena_plain_max = PLAIN_MAX;
        if (!chosen("enabled", "[never]"))
            sw_arena_asked_max = PLAIN_MAX;
    }
    if (eager)
        sw_arena_heap_limit = sw_arena_plain_max;
    sw_arena.count = 1;
    sw_arena.range[0] = (sw_arena_range_t){base, all, 0};
    size_t end = all;
    if (sw_settings.arena_static && sw_show_mode != SW_SHOW_OFF)
        end = sw_round_up(sw_static_find(end, sw_arena_heap_limit), SW_HUGE);
    if (sw_os_resize(sw_arena.fd, end)) {
        /* The file may just be too short for the static data. */
        sw_arena.count = 1;
        end = all;
        if (sw_os_resize(sw_arena.fd, end)) {
            refuse("file size");
            goto unmap;
        }
    }
    sw_arena.span = end;
    size_t from = eager ? 0 : span;
    if (!sw_os_map_shared(base + from, all - from, sw_arena.fd, from)) {
        refuse("mapping the file");
        goto unmap;
    }
    if (!sw_extents_start(eager, (uint32_t)(span / SW_PAGE),
                          (uint32_t)((span + SPARE) / SW_PAGE),
                          (uint32_t)(common / SW_PAGE))) {
        refuse("address space for its records");
        goto unmap;
    }
    sw_show_start();
    if (!sw_blocks_start() || !sw_fork_start(base + span)) {
        refuse("fork handlers");
        goto unmap;
    }
    bound_kept();
    sw_arena_asks_huge = eager ? sw_settings.huge_pages : libc_asks();
    if (sw_arena_asks_huge)
        sw_os_huge_advice(base, span);
    if (sw_settings.huge_pages)
        sw_os_huge_advice(base + span + SPARE, common);
    if (eager)
        sw_static_adopt();
    goto out;
unmap:
    sw_os_unmap(base, all);
out:
    errno = saved;
}
