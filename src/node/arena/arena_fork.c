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
 * Fork handlers do that, and they are the first that anybody registers in this
 * process (front/heap/fork.c). So they run last before the fork, and first
 * after it. No code of another library's runs while they hold a lock, nor in a
 * child that still shares its parent's memory. A handler of the program's may
 * allocate, as libc's heap lets it. The handlers contain cancellation points,
 * so a thread that is being cancelled passes them with cancellation off.
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
 * waits before it releases them.
 *
 * Children made without fork handlers: vfork and posix_spawn need no copy.
 * _Fork and libc's clone have the same done around them (sw_arena_fork_bare,
 * sw_arena_clone). _Fork may be called in a signal handler that has
 * interrupted a thread inside the heap. Such a call cannot wait for the heap's
 * locks. The child then copies all that was ever handed out, and may not
 * allocate: MPI programs may not do that there either. A raw clone system call
 * passes no handler: its child shares what is shared until it execs.
 *
 * A program may run on a stack that is a block itself (a coroutine). Where that
 * block is shared, parent and child would return from fork on the same pages at
 * once. So sw_arena_fork makes the fork on a private stack, and returns to the
 * coroutine's stack once that is private too. A thread's own stack becomes
 * private before the fork. A clone's child copies on a private stack as well,
 * before it goes to the one that the program has given to it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "node/base/settings.h"

#define CHUNK ((size_t)64 << 20) /* copied between two heart beats */
#define PATIENCE 10000           /* ms without a beat */
#define STACK ((size_t)256 << 10)
#define NEAR 16u                /* pages of a stack */
#define GIVEN ((size_t)4 << 10) /* of a clone's stack, to begin on */

#define LOCK_NS 50000000u /* _Fork waits no longer for a lock */

/* A fork under way. */
typedef struct {
    sigset_t mask; /* as it was, and so the state of cancellation */
    int cancel;
    bool bare;         /* no fork handlers run */
    bool shares_files; /* parent and child have one table of files */
    bool locked, copying;
    bool closed; /* the descriptor is no longer ours */
    int pipe[2];
    uint64_t beats;
    const sw_fork_also_t *also;
} fork_t;

const sw_fork_also_t *_Atomic sw_fork_also;
static fork_t handled;               /* by the handlers, under all locks */
static fork_t *in;                   /* in the child: its own */
static volatile uint64_t *beat_word; /* the same page, when mapped */

static void beat(void)
{
    if (in->pipe[1] < 0)
        *beat_word = ++in->beats;
}

static void give_up(const char *why)
{
    sw_say("a forked child could not copy its memory (%s); it ends here. "
           "Run with STRAIGHTWAY_ARENA=off if the program forks with a large "
           "heap",
           why);
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
    if (!in->closed || !used)
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
        if (in->locked)
            fill_zone(z, top, aside);
        else
            fill(start, aside, (size_t)z->first * SW_PAGE, used);
        if (aside)
            sw_os_unmap(aside, used);
    }
    if (in->locked)
        sw_extents_forked(z, end, in->bare);
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
    if (in->also)
        in->also->copy(make_strange_private);
    if (in->locked)
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

static bool anything_shared(const sw_fork_also_t *also)
{
    uint64_t first = 0, pages;
    return zone_shared(&sw_heap_zone) || zone_shared(&sw_common_zone) ||
           (sw_show_mode == SW_SHOW_EAGER && sw_arena.count > 1) ||
           sw_show_next(&first, sw_arena.span / SW_PAGE, &pages) ||
           (also && also->any());
}

/* Locks ----------------------------------------------------------------- */

static void lock(fork_t *f)
{
    sw_blocks_flush();
    f->also = atomic_load(&sw_fork_also);
    if (f->also)
        f->also->lock();
    sw_extents_lock();
    sw_show_lock();
    f->locked = true;
}

static void unlock(fork_t *f)
{
    if (!f->locked)
        return;
    sw_show_unlock();
    sw_extents_unlock();
    if (f->also)
        f->also->unlock();
}

static bool try_to_lock(fork_t *f)
{
    f->also = atomic_load(&sw_fork_also);
    if (f->also && !f->also->try())
        return false;
    if (sw_extents_try()) {
        if (sw_show_try())
            return true;
        sw_extents_unlock();
    }
    if (f->also)
        f->also->unlock();
    return false;
}

/* This thread itself may have them, interrupted by a signal. */
static void lock_soon(fork_t *f)
{
    uint64_t start = sw_os_now();
    while (!(f->locked = try_to_lock(f)) && sw_os_now() - start < LOCK_NS)
        sw_os_yield();
}

/* Before and after ------------------------------------------------------ */

static void keep_out(fork_t *f)
{
    sigset_t all;
    sigfillset(&all);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &f->cancel);
    pthread_sigmask(SIG_SETMASK, &all, &f->mask);
}

static void let_in(const fork_t *f)
{
    sigset_t mask = f->mask;
    int cancel = f->cancel;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    pthread_setcancelstate(cancel, NULL);
}

static void before(fork_t *f)
{
    f->pipe[0] = f->pipe[1] = -1;
    f->beats = 0;
    f->copying = sw_arena.fd >= 0 && anything_shared(f->also);
    if (!f->copying)
        return;
    f->closed = !still_open();
    if (f->shares_files || pipe2(f->pipe, O_CLOEXEC)) {
        f->pipe[0] = f->pipe[1] = -1;
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

static void after(fork_t *f, bool any_child)
{
    if (f->copying && f->pipe[1] >= 0) {
        char byte;
        close(f->pipe[1]);
        while (read(f->pipe[0], &byte, 1) < 0 && errno == EINTR)
            ;
        close(f->pipe[0]);
    } else if (f->copying && any_child) {
        wait_for_beats();
    }
    unlock(f);
}

static void after_in_child(fork_t *f)
{
    in = f;
    if (sw_arena.fd < 0) {
        unlock(f);
        return;
    }
    if (f->pipe[0] >= 0)
        close(f->pipe[0]);
    make_private();
    if (f->pipe[1] >= 0) {
        char byte = 1;
        while (write(f->pipe[1], &byte, 1) < 0 && errno == EINTR)
            ;
        close(f->pipe[1]);
    } else if (f->copying) {
        f->beats = UINT64_MAX - 1;
        beat();
    }
    if (!f->shares_files && still_open())
        close(sw_arena.fd);
    sw_arena.fd = -1;
    sw_arena.count = 0;
    if (f->locked && f->also)
        f->also->unlock();
}

/* Handlers -------------------------------------------------------------- */

/* They run from the start of the process on, and the arena may never come. */
static bool is_there(void)
{
    return beat_word != NULL;
}

static void prepare(void)
{
    if (!is_there())
        return;
    fork_t f = {.bare = false};
    keep_out(&f);
    lock(&f);
    before(&f);
    handled = f;
}

static void parent(void)
{
    if (!is_there())
        return;
    int saved = errno;
    fork_t f = handled; /* unlocked, it is another fork's */
    after(&f, true);
    let_in(&f);
    errno = saved;
}

static void child(void)
{
    if (!is_there())
        return;
    int saved = errno;
    fork_t f = handled;
    after_in_child(&f);
    let_in(&f);
    errno = saved;
}

bool sw_fork_watch(sw_fork_register_t *real)
{
    static _Atomic bool watching;
    if (atomic_exchange(&watching, true))
        return true;
    if ((real ? real(prepare, parent, child, NULL)
              : pthread_atfork(prepare, parent, child)) == 0)
        return true;
    atomic_store(&watching, false);
    return false;
}

bool sw_fork_start(char *spare)
{
    if (!sw_fork_watch(NULL))
        return false;
    beat_word = (volatile uint64_t *)spare;
    return true;
}

/* Without handlers ------------------------------------------------------ */

static void before_bare(fork_t *f)
{
    f->bare = true;
    keep_out(f);
    lock_soon(f);
    before(f);
}

pid_t sw_arena_fork_bare(pid_t (*real)(void))
{
    if (!is_there())
        return real();
    fork_t f = {.shares_files = false};
    before_bare(&f);
    pid_t pid = real();
    int saved = errno;
    if (pid)
        after(&f, pid > 0);
    else
        after_in_child(&f);
    let_in(&f);
    errno = saved;
    return pid;
}

/* What a clone's child is to do. It has its own copy, at the same place. */
typedef struct {
    fork_t fork;
    ucontext_t there;
    int (*run)(void *);
    void *with;
} clone_t;

static void *pointer_of(unsigned low, unsigned high)
{
    return (void *)(uintptr_t)((uint64_t)high << 32 | low);
}

static void on_given_stack(unsigned low, unsigned high)
{
    const clone_t *c = pointer_of(low, high);
    _exit(c->run(c->with));
}

static int in_clone(void *unused)
{
    clone_t *c = unused;
    after_in_child(&c->fork);
    let_in(&c->fork);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    c->there.uc_sigmask = mask;
    setcontext(&c->there);
    return 127;
}

int sw_arena_clone(sw_clone_t *real, int (*run)(void *), void *stack, int flags,
                   void *with, pid_t *parent_id, pid_t *child_id)
{
    if (!is_there())
        return real(run, stack, flags, with, parent_id, NULL, child_id);
    char *apart = sw_os_map_private(NULL, STACK);
    if (!apart) {
        errno = ENOMEM;
        return -1;
    }
    clone_t *c = (clone_t *)apart;
    c->run = run;
    c->with = with;
    c->fork.shares_files = flags & CLONE_FILES;
    getcontext(&c->there);
    c->there.uc_stack.ss_sp = (char *)stack - GIVEN;
    c->there.uc_stack.ss_size = GIVEN;
    c->there.uc_link = NULL;
    makecontext(&c->there, (void (*)(void))on_given_stack, 2,
                (unsigned)(uintptr_t)c,
                (unsigned)((uint64_t)(uintptr_t)c >> 32));
    before_bare(&c->fork);
    int pid = real(in_clone, apart + STACK, flags, c, parent_id, NULL,
                   child_id);
    int saved = errno;
    after(&c->fork, pid > 0);
    let_in(&c->fork);
    sw_os_unmap(apart, STACK);
    errno = saved;
    return pid;
}

/* Stacks in the arena --------------------------------------------------- */

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
    uintptr_t low, high; /* of a thread's stack, to become private */
    pid_t pid;
    int error;
} apart_t;

static void fork_apart(unsigned low, unsigned high)
{
    apart_t *on = pointer_of(low, high);
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
