/*
 * arena_fork.c - a forked child sees its own memory.
 *
 * The kernel copies private pages when either side writes to them. What is
 * shared with peers is MAP_SHARED, so fork alone would leave parent and child
 * writing to the same pages. Before the child runs anything else, it maps
 * private memory there, and copies the live blocks and the shown pages out of
 * the file. The forking thread of the parent waits meanwhile. From then on the
 * child's heap works as before, but belongs to no file: peers never see it, and
 * the child's own forks are ordinary ones.
 *
 *   parent   prepare: signals off, lock  | fork |  wait ........ | go on
 *   child                                |      |  copy the data | go on
 *
 * The child skips holes of the file (pages never touched) and free extents. The
 * parent waits on a pipe: the child writes a byte when it is done, and its
 * death closes the pipe. Where there are no descriptors left for a pipe, the
 * child beats a counter in a spare page between the zones, which stays shared.
 * The parent then waits as long as the counter beats. A parent that shares
 * nothing does not wait.
 *
 * A program may have closed our descriptor, which it does not know. Then
 * the child moves its shared mapping aside and copies from there, which finds
 * no holes but is as right. (The kernel moves one mapping at a time: what core
 * dumps hold must be alike throughout first.)
 *
 * Other threads of the parent run on meanwhile. So a child of a threaded
 * program sees the pages that they have shown as they are a moment after the
 * fork. What locks and fork handlers protect is consistent: the forking thread
 * waits before it releases them. Children made without fork handlers: vfork and
 * posix_spawn need no copy; a raw clone system call or _Fork shares what is
 * shared with its parent until it execs.
 *
 * A program may run on a stack that is a block itself (a coroutine). Where that
 * block is shared, parent and child would return from fork on the same pages at
 * once. So sw_arena_fork makes the fork on a private stack, and returns to the
 * coroutine's stack once that is private too. A thread's own stack becomes
 * private before the fork.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "node/base/settings.h"

#define CHUNK ((size_t)64 << 20)        /* copied between two heart beats   */
#define PATIENCE 10000                  /* ms without a beat                */
#define STACK ((size_t)256 << 10)
#define NEAR 16u                        /* pages of a stack                 */

static sigset_t mask_before;
static int done_pipe[2] = {-1, -1};
static bool copying;
static uint64_t beats;
const sw_fork_also_t *_Atomic sw_fork_also;
static const sw_fork_also_t *also;      /* of the fork under way            */
static bool closed;                     /* ... which is no longer ours      */
static volatile uint64_t *beat_word;    /* the same page, when mapped       */

static void beat(void)
{
    if (done_pipe[1] >= 0)
        return;
    *beat_word = ++beats;
}

static void give_up(const char *why)
{
    sw_say("a forked child could not copy its memory (%s); it ends here. "
           "Run with STRAIGHTWAY_ARENA=off if the program forks with a large "
           "heap", why);
    _exit(127);
}

/* The same from a mapping that was moved aside. Zero pages stay untouched. */
static void copy_mapped(char *to, const char *from, size_t size)
{
    static const char zeros[SW_PAGE];
    for (size_t at = 0; at < size; at += SW_PAGE) {
        if (memcmp(from + at, zeros, SW_PAGE))
            memcpy(to + at, from + at, SW_PAGE);
        if (at % CHUNK == 0)
            beat();
    }
}

/* Copy the data of file range [from, to) to the same place in memory. */
static void copy(char *start, size_t offset, size_t size)
{
    size_t at = offset, end = offset + size;
    while (at < end) {
        size_t from = at, to = end;
        if (!sw_os_next_data(sw_arena.fd, &from, &to))
            return;
        at = to;
        while (from < to) {
            size_t n = sw_min(to - from, CHUNK);
            if (sw_os_read_at(sw_arena.fd, start + (from - offset), n, from))
                give_up("out of memory");
            from += n;
            beat();
        }
    }
}

/* `aside`: where the shared mapping went, or NULL to read the file. */
static void fill(char *start, const char *aside, size_t offset, size_t size)
{
    if (aside)
        copy_mapped(start, aside, size);
    else
        copy(start, offset, size);
}

static char *move_aside(char *start, size_t used)
{
    if (!closed || !used)
        return NULL;
    sw_os_dump(start, used, true);
    char *aside = sw_os_move(start, used);
    if (!aside)
        give_up("no address space");
    return aside;
}

/* The used extents of a zone that was shared. */
static void fill_zone(const sw_zone_t *z, uint32_t top, const char *aside)
{
    for (uint32_t page = z->first, run = page; page <= top;) {
        uint32_t head = page < top ? sw_page_head(page) : 0;
        if (SW_HEAD_STATE(head) == SW_PAGE_USED) {
            page += SW_HEAD_PAGES(head);
            continue;
        }
        size_t from = (size_t)(run - z->first) * SW_PAGE;
        fill(sw_page_address(run), aside ? aside + from : NULL,
             (size_t)run * SW_PAGE, (size_t)(page - run) * SW_PAGE);
        page += page < top ? SW_HEAD_PAGES(head) : 1;
        run = page;
    }
}

static void make_zone_private(sw_zone_t *z)
{
    uint32_t top = sw_zone_top(z), end = z->end;
    char *start = sw_page_address(z->first);
    size_t used = (size_t)(top - z->first) * SW_PAGE;
    if (z->kind == SW_ZONE_SHARED) {
        char *aside = move_aside(start, used);
        if (!sw_os_map_lazy(start, (size_t)(end - z->first) * SW_PAGE)) {
            /* Strict accounting: then no more than what is in use. */
            end = top;
            if (used && !sw_os_map_lazy(start, used))
                give_up("no address space");
        }
        fill_zone(z, top, aside);
        if (aside)
            sw_os_unmap(aside, used);
    }
    sw_extents_forked(z, end);
}

static void make_range_private(char *start, uint64_t offset, size_t size)
{
    char *old = move_aside(start, size);
    if (!sw_os_map_lazy(start, size))
        give_up("no address space");
    fill(start, old, offset, size);
    if (old)
        sw_os_unmap(old, size);
}

/* Pages of another process. */
static void make_strange_private(void *start, size_t size)
{
    char *old = sw_os_move(start, size);
    if (!old || !sw_os_map_lazy(start, size))
        give_up("no address space");
    copy_mapped(start, old, size);
    sw_os_unmap(old, size);
}

/* The pages of a range that are shown. */
static void make_shown_private(const sw_arena_range_t *range)
{
    uint64_t page = range->offset / SW_PAGE, pages;
    uint64_t end = page + range->size / SW_PAGE;
    for (; sw_show_next(&page, end, &pages); page += pages)
        make_range_private(range->start + page * SW_PAGE - range->offset,
                           page * SW_PAGE, pages * SW_PAGE);
}

/* In the child: replace shared memory by private copies. */
static void make_private(void)
{
    for (int i = 0; i < sw_arena.count; i++) {
        const sw_arena_range_t *range = &sw_arena.range[i];
        if (sw_show_mode == SW_SHOW_LAZY)
            make_shown_private(range);
        else if (i && sw_show_mode == SW_SHOW_EAGER)
            make_range_private(range->start, range->offset, range->size);
    }
    make_zone_private(&sw_heap_zone);
    make_zone_private(&sw_common_zone);
    if (also)
        also->copy(make_strange_private);
    sw_show_forked();
}

/* Is the stack shared here, or near enough to be written to while the child
 * copies? */
static bool on_shared_stack(void)
{
    const char *here = __builtin_frame_address(0);
    uint64_t offset = sw_arena_offset(here, 1), pages;
    if (offset == UINT64_MAX || sw_shown_always(offset))
        return offset != UINT64_MAX;
    uint64_t first = offset / SW_PAGE, end = first + NEAR;
    first -= sw_min(first, NEAR);
    return sw_show_next(&first, end, &pages);
}

static bool still_open(void)
{
    return sw_same_file(sw_os_file_id(sw_arena.fd), sw_arena.file);
}

static bool zone_shared(const sw_zone_t *z)
{
    return z->kind == SW_ZONE_SHARED && sw_zone_top(z) > z->first;
}

static bool anything_shared(void)
{
    uint64_t first = 0, pages;
    return zone_shared(&sw_heap_zone) || zone_shared(&sw_common_zone) ||
           (sw_show_mode == SW_SHOW_EAGER && sw_arena.count > 1) ||
           sw_show_next(&first, sw_arena.span / SW_PAGE, &pages) ||
           (also && also->any());
}

static void prepare(void)
{
    sigset_t all;
    sigfillset(&all);
    sigset_t before;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    sw_blocks_flush();
    also = atomic_load(&sw_fork_also);
    if (also)
        also->lock();
    sw_extents_lock();
    sw_show_lock();
    mask_before = before;
    copying = sw_arena.fd >= 0 && anything_shared();
    if (!copying)
        return;
    closed = !still_open();
    beats = 0;
    if (pipe2(done_pipe, O_CLOEXEC)) {
        done_pipe[0] = done_pipe[1] = -1;
        *beat_word = 0;
    }
}

static void wait_for_beats(void)
{
    uint64_t seen = 0;
    for (int idle = 0; idle < PATIENCE && seen != UINT64_MAX; idle++) {
        struct timespec ms = {0, 1000000};
        nanosleep(&ms, NULL);
        if (*beat_word != seen) {
            seen = *beat_word;
            idle = 0;
        }
    }
}

static void parent(void)
{
    int saved = errno;
    if (copying && done_pipe[1] >= 0) {
        char byte;
        close(done_pipe[1]);
        while (read(done_pipe[0], &byte, 1) < 0 && errno == EINTR)
            ;
        close(done_pipe[0]);
    } else if (copying) {
        wait_for_beats();
    }
    sigset_t before = mask_before;
    sw_show_unlock();
    sw_extents_unlock();
    if (also)
        also->unlock();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
}

static void child(void)
{
    int saved = errno;
    if (sw_arena.fd >= 0) {
        if (done_pipe[0] >= 0 && copying)
            close(done_pipe[0]);
        make_private();
        if (copying && done_pipe[1] >= 0) {
            char byte = 1;
            while (write(done_pipe[1], &byte, 1) < 0 && errno == EINTR)
                ;
            close(done_pipe[1]);
        } else if (copying) {
            beats = UINT64_MAX - 1;
            beat();
        }
        if (still_open())
            close(sw_arena.fd);
        sw_arena.fd = -1;
        sw_arena.count = 0;
    } else {
        sw_show_unlock();
        sw_extents_unlock();
    }
    if (also)
        also->unlock();
    done_pipe[0] = done_pipe[1] = -1;
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
    errno = saved;
}

/* Where the program has given a thread its stack (pthread_attr_setstack), libc
 * keeps the thread-local data there as well. Parent and child both write to
 * these before the child can copy anything. */
static bool on_shared_thread(uintptr_t *low, uintptr_t *high)
{
    uint64_t page, pages, offset = sw_arena_offset(&errno, 1);
    if (sw_likely(offset == UINT64_MAX || sw_shown_always(offset)) ||
        !sw_os_stack(low, high))
        return false;
    page = sw_arena_offset((const void *)*low, *high - *low) / SW_PAGE;
    return sw_show_next(&page, page + (*high - *low) / SW_PAGE, &pages);
}

/* What the private stack needs to know. It lies there, not in the arena. */
typedef struct {
    ucontext_t back, apart;
    pid_t (*fork)(void);
    uintptr_t low, high;        /* of a thread's stack, to become private */
    pid_t pid;
    int error;
} apart_t;

static void fork_apart(unsigned low, unsigned high)
{
    apart_t *on = (apart_t *)(uintptr_t)((uint64_t)high << 32 | low);
    sw_show_hide((void *)on->low, on->high - on->low);
    on->pid = on->fork();
    on->error = errno;
}

pid_t sw_arena_fork(pid_t (*real)(void))
{
    uintptr_t low = 0, high = 0;
    if (sw_likely(sw_arena.fd < 0 ||
                  !(on_shared_thread(&low, &high) || on_shared_stack())))
        return real();
    apart_t *on = sw_os_map_private(NULL, STACK);
    if (!on) {
        errno = ENOMEM;
        return -1;
    }
    on->fork = real;
    on->low = low;
    on->high = high;
    getcontext(&on->apart);
    size_t used = sw_round_up(sizeof *on, SW_LINE);
    on->apart.uc_stack.ss_sp = (char *)on + used;
    on->apart.uc_stack.ss_size = STACK - used;
    on->apart.uc_link = &on->back;
    makecontext(&on->apart, (void (*)(void))fork_apart, 2,
                (unsigned)(uintptr_t)on,
                (unsigned)((uint64_t)(uintptr_t)on >> 32));
    swapcontext(&on->back, &on->apart);
    pid_t pid = on->pid;
    int error = on->error;
    sw_os_unmap(on, STACK);
    if (pid < 0)
        errno = error;
    return pid;
}

bool sw_fork_start(char *spare)
{
    beat_word = (volatile uint64_t *)spare;
    return pthread_atfork(prepare, parent, child) == 0;
}
