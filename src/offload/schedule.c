/*
 * schedule.c - see schedule.h.
 */
#include "schedule.h"

#include <stdlib.h>

bool sw_schedules_shared;
_Atomic int sw_schedules, sw_schedules_open;
_Atomic uint64_t sw_schedules_attended;

/* Those to push, in a circle; the next of them, and how many there are. Of
 * those that have not posted, it has the oldest one of each block of slates.
 * The others wait there (on->waiting), since only the one before makes way for
 * them: to push thousands in vain for each that ends would cost the square. */
static sw_schedule_t *under_way;
static _Atomic int to_push;
static _Atomic bool changing;

_Atomic uint64_t sw_schedule_pushes;

static void lock(_Atomic bool *locked)
{
    while (sw_schedules_shared &&
           atomic_exchange_explicit(locked, true, memory_order_acquire))
        sw_os_pause();
}

static void unlock(_Atomic bool *locked)
{
    if (sw_schedules_shared)
        atomic_store_explicit(locked, false, memory_order_release);
}

/* The first of a circle gets another one before it, or loses one. */
static void link_in(sw_schedule_t **first, sw_schedule_t *s)
{
    sw_schedule_t *head = *first;
    s->after = head ? head : s;
    s->before = head ? head->before : s;
    s->after->before = s->before->after = s;
    *first = head ? head : s;
}

static void unlink_from(sw_schedule_t **first, sw_schedule_t *s)
{
    if (*first == s)
        *first = s->after == s ? NULL : s->after;
    s->after->before = s->before;
    s->before->after = s->after;
    s->after = s->before = NULL;
}

/* All may push it. The caller has the lock `changing`. */
static void admit(sw_schedule_t *s)
{
    link_in(&under_way, s);
    sw_counter_add(&to_push, 1, false, memory_order_relaxed);
}

/* The oldest that has not posted, has, or is over: the next one comes. */
static void make_way(sw_schedule_t *s)
{
    sw_schedule_t *next = s->on->waiting;
    sw_assert(s->on->next == s);
    s->on->next = next;
    if (!next)
        return;
    unlink_from(&s->on->waiting, next);
    admit(next);
    /* Its waiter may post it from here on, and then comes for the lock. */
    atomic_store_explicit(&next->waits, false, memory_order_release);
}

static void join(sw_schedule_t *s)
{
    s->joined = true;
    lock(&changing);
    bool waits = !s->posted && s->on->next;
    atomic_store_explicit(&s->waits, waits, memory_order_relaxed);
    if (waits)
        link_in(&s->on->waiting, s);
    else
        admit(s);
    if (!s->posted && !waits)
        s->on->next = s;
    /* Sequentially consistent, before the agent may be asked: agent.h. */
    sw_counter_add(&sw_schedules, 1, sw_schedules_shared, memory_order_seq_cst);
    unlock(&changing);
}

/* It has posted. */
static void go_on(sw_schedule_t *s)
{
    if (!s->joined)
        return;
    lock(&changing);
    make_way(s);
    unlock(&changing);
}

static void arrive(sw_schedule_t *s)
{
    if (!s->joined)
        return;
    lock(&changing);
    if (atomic_load_explicit(&s->waits, memory_order_relaxed)) {
        unlink_from(&s->on->waiting, s);
    } else {
        unlink_from(&under_way, s);
        sw_counter_add(&to_push, -1, false, memory_order_relaxed);
        if (s->on->next == s)
            make_way(s);
    }
    sw_counter_add(&sw_schedules, -1, false, memory_order_relaxed);
    unlock(&changing);
}

static bool hold(sw_schedule_t *s)
{
    if (!sw_schedules_shared)
        return true;
    return !atomic_load_explicit(&s->held, memory_order_relaxed) &&
           !atomic_exchange_explicit(&s->held, true, memory_order_acquire);
}

static void let_go(sw_schedule_t *s)
{
    if (sw_schedules_shared)
        atomic_store_explicit(&s->held, false, memory_order_release);
}

/* Its slate is free. */
static void post(sw_schedule_t *s)
{
    sw_slates_t *on = s->on;
    sw_slate_row_t *row = sw_schedule_row(s, on->me);
    s->turn = sw_slate_turn(on, s->step);
    row->what = s->what;
    s->kind->post(s, row);
    sw_slate_post(on, s->step, row);
    s->posted = true;
    sw_slates_ring(on);
}

static bool may_post(sw_schedule_t *s)
{
    return sw_slates_found(s->on) && sw_slate_free(s->on, s->step);
}

static void try_to_post(sw_schedule_t *s)
{
    lock(&s->on->locked);
    bool free = may_post(s), refused = s->on->refused;
    unlock(&s->on->locked);
    if (free) {
        post(s);
        go_on(s);
    } else if (sw_unlikely(refused)) {
        sw_schedule_bad(s, SW_NO_ROOM);
    }
}

static void leave(sw_schedule_t *s)
{
    sw_slates_t *on = s->on;
    lock(&on->locked);
    if (sw_likely(s->status == SW_OK))
        sw_slate_leave(on, s->step);
    else
        sw_slate_give_up(on, s->step);
    unlock(&on->locked);
    arrive(s);
    atomic_store_explicit(&s->over, true, memory_order_release);
    sw_slates_ring(on);
}

void sw_schedule_begin(sw_schedule_t *s, const sw_schedule_kind_t *kind,
                       sw_slates_t *on, uint32_t what)
{
    s->kind = kind;
    s->on = on;
    s->what = what;
    s->status = s->result = SW_OK;
    s->posted = s->open = s->joined = false;
    atomic_store_explicit(&s->waits, false, memory_order_relaxed);
    s->calls = true;
    atomic_store_explicit(&s->over, false, memory_order_relaxed);
    lock(&on->locked);
    s->step = ++on->step;
    bool free = may_post(s);
    unlock(&on->locked);
    if (free)
        post(s);
    if (sw_unlikely(on->broken))
        sw_schedule_break(s);
}

static bool push(sw_schedule_t *s, bool calls)
{
    bool over = sw_schedule_is_over(s), worked = false;
    s->calls = calls;
    if (!over && !s->posted &&
        !atomic_load_explicit(&s->waits, memory_order_relaxed))
        try_to_post(s);
    if (!over && s->posted) {
        while (!s->kind->over(s) && !s->status && s->kind->work(s, calls))
            worked = true;
        over = s->status || s->kind->over(s);
        if (over)
            leave(s);
    } else if (!over && sw_unlikely(s->status)) {
        over = true;
        leave(s);
    }
    if (worked)
        sw_slates_ring(s->on);
    return over;
}

bool sw_schedule_set_out(sw_schedule_t *s)
{
    bool over = push(s, true);
    if (!over)
        join(s);
    return over;
}

static void attend(bool calls)
{
    /* One count of two threads' may be lost: there is another. */
    if (calls && sw_schedules_shared)
        sw_counter_add(&sw_schedules_attended, 1, false, memory_order_relaxed);
}

bool sw_schedule_push(sw_schedule_t *s, bool calls)
{
    attend(calls);
    if (sw_schedule_is_over(s))
        return true;
    if (!hold(s))
        return false;
    bool over = push(s, calls);
    let_go(s);
    return over;
}

bool sw_schedules_push(bool calls)
{
    int left = atomic_load_explicit(&to_push, memory_order_relaxed);
    bool any = left > 0;
    attend(calls);
    sw_counter_add(&sw_schedule_pushes, (uint64_t)left, false,
                   memory_order_relaxed);
    for (; left > 0; left--) {
        lock(&changing);
        sw_schedule_t *s = under_way;
        under_way = s ? s->after : NULL;
        bool held = s && hold(s);
        unlock(&changing);
        if (!held)
            continue;
        push(s, calls);
        let_go(s);
    }
    return any;
}

void sw_schedule_break(sw_schedule_t *s)
{
    while (!hold(s))
        sw_os_pause();
    if (!sw_schedule_is_over(s)) {
        s->on->broken = true;
        s->status = SW_BROKEN;
        leave(s);
    }
    let_go(s);
}

int sw_schedule_end(sw_schedule_t *s)
{
    /* The thread that found it over may still hold it for a moment. */
    while (atomic_load_explicit(&s->held, memory_order_acquire))
        sw_os_pause();
    if (s->posted)
        s->kind->end(s);
    if (s->open)
        sw_counter_add(&sw_schedules_open, -1, sw_schedules_shared,
                       memory_order_relaxed);
    return s->status ? s->status : s->result;
}
