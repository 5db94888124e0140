/*
 * list.c - see list.h.
 */
#include "list.h"

#include <stdlib.h>

bool sw_lists_shared;
_Atomic int sw_lists, sw_lists_open;
_Atomic uint64_t sw_lists_attended;

/* Those to push, in a circle; the next of them, and how many there are. Of
 * those that have not posted, it has the oldest one of each block of slates.
 * The others wait there (on->waiting), since only the one before makes way for
 * them: to push thousands in vain for each that ends would cost the square. */
static sw_list_t *under_way;
static _Atomic int to_push;
static _Atomic bool changing;

_Atomic uint64_t sw_list_pushes;

static void lock(_Atomic bool *locked)
{
    while (sw_lists_shared &&
           atomic_exchange_explicit(locked, true, memory_order_acquire))
        sw_os_pause();
}

static void unlock(_Atomic bool *locked)
{
    if (sw_lists_shared)
        atomic_store_explicit(locked, false, memory_order_release);
}

/* The first of a circle gets another one before it, or loses one. */
static void link_in(sw_list_t **first, sw_list_t *l)
{
    sw_list_t *head = *first;
    l->after = head ? head : l;
    l->before = head ? head->before : l;
    l->after->before = l->before->after = l;
    *first = head ? head : l;
}

static void unlink_from(sw_list_t **first, sw_list_t *l)
{
    if (*first == l)
        *first = l->after == l ? NULL : l->after;
    l->after->before = l->before;
    l->before->after = l->after;
    l->after = l->before = NULL;
}

/* All may push it. The caller has the lock `changing`. */
static void admit(sw_list_t *l)
{
    link_in(&under_way, l);
    sw_counter_add(&to_push, 1, false, memory_order_relaxed);
}

/* The oldest that has not posted, has, or is over: the next one comes. */
static void make_way(sw_list_t *l)
{
    sw_list_t *next = l->on->waiting;
    sw_assert(l->on->next == l);
    l->on->next = next;
    if (!next)
        return;
    unlink_from(&l->on->waiting, next);
    admit(next);
    /* Its waiter may post it from here on, and then comes for the lock. */
    atomic_store_explicit(&next->waits, false, memory_order_release);
}

static void join(sw_list_t *l)
{
    l->joined = true;
    lock(&changing);
    bool waits = !l->posted && l->on->next;
    atomic_store_explicit(&l->waits, waits, memory_order_relaxed);
    if (waits)
        link_in(&l->on->waiting, l);
    else
        admit(l);
    if (!l->posted && !waits)
        l->on->next = l;
    /* Sequentially consistent, before the agent may be asked: agent.h. */
    sw_counter_add(&sw_lists, 1, sw_lists_shared, memory_order_seq_cst);
    unlock(&changing);
}

/* It has posted. */
static void go_on(sw_list_t *l)
{
    if (!l->joined)
        return;
    lock(&changing);
    make_way(l);
    unlock(&changing);
}

static void arrive(sw_list_t *l)
{
    if (!l->joined)
        return;
    lock(&changing);
    if (atomic_load_explicit(&l->waits, memory_order_relaxed)) {
        unlink_from(&l->on->waiting, l);
    } else {
        unlink_from(&under_way, l);
        sw_counter_add(&to_push, -1, false, memory_order_relaxed);
        if (l->on->next == l)
            make_way(l);
    }
    sw_counter_add(&sw_lists, -1, false, memory_order_relaxed);
    unlock(&changing);
}

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

/* Its slate is free. */
static void post(sw_list_t *l)
{
    sw_slates_t *s = l->on;
    sw_slate_row_t *row = sw_list_row(l, s->me);
    l->turn = sw_slate_turn(s, l->step);
    row->what = l->what;
    l->kind->post(l, row);
    sw_slate_post(s, l->step, row);
    l->posted = true;
    sw_slates_ring(s);
}

static bool may_post(sw_list_t *l)
{
    return sw_slates_found(l->on) && sw_slate_free(l->on, l->step);
}

static void try_to_post(sw_list_t *l)
{
    lock(&l->on->locked);
    bool free = may_post(l), refused = l->on->refused;
    unlock(&l->on->locked);
    if (free) {
        post(l);
        go_on(l);
    } else if (sw_unlikely(refused)) {
        sw_list_bad(l, SW_NO_ROOM);
    }
}

static void leave(sw_list_t *l)
{
    sw_slates_t *s = l->on;
    lock(&s->locked);
    if (sw_likely(l->status == SW_OK))
        sw_slate_leave(s, l->step);
    else
        sw_slate_give_up(s, l->step);
    unlock(&s->locked);
    arrive(l);
    atomic_store_explicit(&l->over, true, memory_order_release);
    sw_slates_ring(s);
}

void sw_list_begin(sw_list_t *l, const sw_list_kind_t *kind, sw_slates_t *on,
                   uint32_t what)
{
    l->kind = kind;
    l->on = on;
    l->what = what;
    l->status = l->result = SW_OK;
    l->posted = l->open = l->joined = false;
    atomic_store_explicit(&l->waits, false, memory_order_relaxed);
    l->calls = true;
    atomic_store_explicit(&l->over, false, memory_order_relaxed);
    lock(&on->locked);
    l->step = ++on->step;
    bool free = may_post(l);
    unlock(&on->locked);
    if (free)
        post(l);
    if (sw_unlikely(on->broken))
        sw_list_break(l);
}

static bool push(sw_list_t *l, bool calls)
{
    bool over = sw_list_is_over(l), worked = false;
    l->calls = calls;
    if (!over && !l->posted &&
        !atomic_load_explicit(&l->waits, memory_order_relaxed))
        try_to_post(l);
    if (!over && l->posted) {
        while (!l->kind->over(l) && !l->status && l->kind->work(l, calls))
            worked = true;
        over = l->status || l->kind->over(l);
        if (over)
            leave(l);
    } else if (!over && sw_unlikely(l->status)) {
        over = true;
        leave(l);
    }
    if (worked)
        sw_slates_ring(l->on);
    return over;
}

bool sw_list_set_out(sw_list_t *l)
{
    bool over = push(l, true);
    if (!over)
        join(l);
    return over;
}

static void attend(bool calls)
{
    /* One count of two threads' may be lost: there is another. */
    if (calls && sw_lists_shared)
        sw_counter_add(&sw_lists_attended, 1, false, memory_order_relaxed);
}

bool sw_list_push(sw_list_t *l, bool calls)
{
    attend(calls);
    if (sw_list_is_over(l))
        return true;
    if (!hold(l))
        return false;
    bool over = push(l, calls);
    let_go(l);
    return over;
}

bool sw_lists_push(bool calls)
{
    int left = atomic_load_explicit(&to_push, memory_order_relaxed);
    bool any = left > 0;
    attend(calls);
    sw_counter_add(&sw_list_pushes, (uint64_t)left, false,
                   memory_order_relaxed);
    for (; left > 0; left--) {
        lock(&changing);
        sw_list_t *l = under_way;
        under_way = l ? l->after : NULL;
        bool held = l && hold(l);
        unlock(&changing);
        if (!held)
            continue;
        push(l, calls);
        let_go(l);
    }
    return any;
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
    /* The thread that found it over may still hold it for a moment. */
    while (atomic_load_explicit(&l->held, memory_order_acquire))
        sw_os_pause();
    if (l->posted)
        l->kind->end(l);
    if (l->open)
        sw_counter_add(&sw_lists_open, -1, sw_lists_shared,
                       memory_order_relaxed);
    return l->status ? l->status : l->result;
}
