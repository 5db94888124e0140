/*
 * list.c - see list.h.
 */
#include "list.h"

#include "node/base/settings.h"
#include "node/temporary.h"

#include <stdlib.h>

bool sw_lists_shared;

static bool hold(sw_list_t *l)
{
    if (!sw_lists_shared)
        return true;
    return !atomic_load_explicit(&l->held, memory_order_relaxed) &&
           !atomic_exchange_explicit(&l->held, true, memory_order_acquire);
}

static void let_go(sw_list_t *l)
{
    if (sw_lists_shared)
        atomic_store_explicit(&l->held, false, memory_order_release);
}

/* Threads may begin and end lists of one communicator at once. */
static void lock(sw_slates_t *s)
{
    while (sw_lists_shared &&
           atomic_exchange_explicit(&s->locked, true, memory_order_acquire))
        sw_os_pause();
}

static void unlock(sw_slates_t *s)
{
    if (sw_lists_shared)
        atomic_store_explicit(&s->locked, false, memory_order_release);
}

static void post(sw_list_t *l)
{
    sw_slates_t *s = l->on;
    lock(s);
    bool free = sw_slate_free(s, l->step);
    unlock(s);
    if (!free)
        return;
    sw_row_t *row = sw_list_row(l, s->me);
    row->what = l->what;
    l->kind->post(l, row);
    lock(s);
    sw_slate_post(s, l->step, row);
    unlock(s);
    l->posted = true;
}

static void leave(sw_list_t *l)
{
    sw_slates_t *s = l->on;
    lock(s);
    if (sw_likely(l->status == SW_OK))
        sw_slate_leave(s, l->step);
    else
        sw_slate_give_up(s, l->step);
    unlock(s);
    atomic_store_explicit(&l->over, true, memory_order_release);
}

void sw_list_begin(sw_list_t *l, const sw_list_kind_t *kind, sw_slates_t *on,
                   uint32_t what)
{
    l->kind = kind;
    l->on = on;
    l->what = what;
    l->status = l->result = SW_OK;
    l->posted = false;
    atomic_store_explicit(&l->over, false, memory_order_relaxed);
    lock(on);
    l->step = ++on->step;
    unlock(on);
    l->turn = sw_slate_turn(on, l->step);
    if (sw_unlikely(on->broken))
        sw_list_break(l);
    else if (hold(l)) {
        post(l);
        let_go(l);
    }
}

bool sw_list_push(sw_list_t *l, bool calls)
{
    if (sw_list_is_over(l))
        return true;
    if (!hold(l))
        return false;
    bool over = sw_list_is_over(l);
    if (!over && !l->posted && calls)
        post(l);
    if (!over && l->posted) {
        while (!l->kind->over(l) && !l->status && l->kind->work(l, calls))
            ;
        over = l->status || l->kind->over(l);
        if (over)
            leave(l);
    }
    let_go(l);
    return over;
}

void sw_list_break(sw_list_t *l)
{
    while (!hold(l))
        sw_os_pause();
    if (!sw_list_is_over(l)) {
        l->on->broken = true;
        l->status = SW_BROKEN;
        leave(l);
    }
    let_go(l);
}

int sw_list_end(sw_list_t *l)
{
    if (l->posted)
        l->kind->end(l);
    return l->status ? l->status : l->result;
}

char *sw_list_memory(size_t n, uint64_t *there)
{
    char *p = sw_temporary(n);
    *there = sw_arena_offset(p, n);
    if (*there == UINT64_MAX) {
        /* The others have begun already and cannot be told. */
        sw_say("no memory that peers reach for a nonblocking collective of "
               "%zu bytes: the arena is full. Raise STRAIGHTWAY_ARENA_SIZE", n);
        abort();
    }
    return p;
}
