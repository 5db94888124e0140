/*
 * os_linux_self.c - what a process remembers of itself, and a forked child must
 * not take for its own: its number, and which numbers it has drawn.
 *
 * Both lie in a page that Linux fills with zeros in a child, whatever kind of
 * call forks (MADV_WIPEONFORK, Linux 4.14). So a look costs a load, where
 * getpid and getrandom are system calls. Where Linux does not wipe the page,
 * each look is such a call.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

typedef struct {
    _Atomic pid_t pid;     /* 0: not asked yet */
    _Atomic uint64_t next; /* 0: nothing was drawn yet */
} self_t;

/* As long as a page is, at most. */
#define ROOM 65536

static self_t unwiped; /* stands for a page that cannot be had */

/* Its own system call: the front takes madvise for the program's. */
static self_t *new_page(void)
{
    self_t *page = sw_os_map_private(NULL, ROOM);
    if (page && (!sw_os_heeds_advice() ||
                 syscall(SYS_madvise, page, ROOM, MADV_WIPEONFORK))) {
        sw_os_unmap(page, ROOM);
        page = NULL;
    }
    return page ? page : &unwiped;
}

/* Two threads may make one; the first is kept. */
static self_t *self(void)
{
    static self_t *_Atomic kept;
    self_t *page = atomic_load_explicit(&kept, memory_order_acquire);
    if (sw_likely(page))
        return page;
    self_t *mine = new_page();
    if (atomic_compare_exchange_strong(&kept, &page, mine))
        return mine;
    if (mine != &unwiped)
        sw_os_unmap(mine, ROOM);
    return page;
}

pid_t sw_os_pid(void)
{
    self_t *page = self();
    pid_t pid = atomic_load_explicit(&page->pid, memory_order_relaxed);
    if (sw_likely(pid))
        return pid;
    pid = getpid();
    if (page != &unwiped)
        atomic_store_explicit(&page->pid, pid, memory_order_relaxed);
    return pid;
}

/* Numbers of one process differ in how many came before, those of several in
 * the random bits. Every step of the mixing can be undone, so that two do not
 * become one. */
uint64_t sw_os_unique(void)
{
    self_t *page = self();
    uint64_t number = atomic_load(&page->next), none = 0;
    if (!number) {
        sw_os_random(&number, sizeof number);
        if (page == &unwiped)
            return number;
        atomic_compare_exchange_strong(&page->next, &none, number | 1);
    }
    number = atomic_fetch_add(&page->next, 0x9e3779b97f4a7c16u);
    number = (number ^ number >> 32) * 0xd6e8feb86659fd93u;
    return number ^ number >> 32;
}
