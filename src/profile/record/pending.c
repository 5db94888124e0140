/*
 * pending.c - see pending.h. A table with open addressing and linear probing.
 * When an entry leaves, those behind it close up, so the table needs no marks
 * for deleted entries.
 */
#include "pending.h"

#include "profile/base/memory.h"

#include <pthread.h>

#define FIRST 1024u

bool sw_pending_shared;
_Atomic uint32_t sw_pending_count, sw_pending_asking;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sw_pending_t *table;
static uint32_t size;

static void enter(void)
{
    if (sw_unlikely(sw_pending_shared))
        pthread_mutex_lock(&lock);
}

static void leave(void)
{
    if (sw_unlikely(sw_pending_shared))
        pthread_mutex_unlock(&lock);
}

static uint32_t home(uint64_t request)
{
    return (uint32_t)(request * 0x9e3779b97f4a7c15u >> 32);
}

static sw_pending_t *find(uint64_t request)
{
    if (!size)
        return NULL;
    for (uint32_t i = home(request);; i++) {
        sw_pending_t *p = &table[i & (size - 1)];
        if (!p->request || p->request == request)
            return p;
    }
}

static uint32_t count(void)
{
    return atomic_load_explicit(&sw_pending_count, memory_order_relaxed);
}

/* Under the lock, as all that changes the table. */
void sw_pending_ask(int more)
{
    uint32_t asking = atomic_load_explicit(&sw_pending_asking,
                                           memory_order_relaxed);
    atomic_store_explicit(&sw_pending_asking, asking + (uint32_t)more,
                          memory_order_relaxed);
}

static bool grow(void)
{
    uint32_t old_size = size, to = size ? 2 * size : FIRST;
    sw_pending_t *old = table, *at = sw_profile_memory(to * sizeof *at);
    if (!at)
        return false;
    table = at;
    size = to;
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].request)
            *find(old[i].request) = old[i];
    return true;
}

static sw_pending_t *place(uint64_t request)
{
    if (sw_unlikely(2 * (count() + 1) > size) && !grow())
        return NULL;
    sw_assert(2 * (count() + 1) <= size);
    sw_pending_t *p = find(request);
    if (!p->request)
        atomic_store_explicit(&sw_pending_count, count() + 1,
                              memory_order_relaxed);
    else if (p->asks)
        sw_pending_ask(-1);
    return p;
}

sw_pending_t *sw_pending_place(uint64_t request)
{
    if (sw_likely(!sw_pending_shared))
        return place(request);
    pthread_mutex_lock(&lock);
    sw_pending_t *p = place(request);
    if (!p)
        pthread_mutex_unlock(&lock);
    return p;
}

void sw_pending_leave(void)
{
    pthread_mutex_unlock(&lock);
}

bool sw_pending_add(const sw_pending_t *pending)
{
    sw_pending_t *p = sw_pending_place(pending->request);
    if (!p)
        return false;
    *p = *pending;
    sw_pending_placed(p);
    return true;
}

uint32_t sw_pending_replace(const sw_pending_t *pending)
{
    sw_pending_t *p = sw_pending_place(pending->request);
    if (!p)
        return 0;
    uint32_t former = p->request && !p->persistent ? p->name : 0;
    *p = *pending;
    sw_pending_placed(p);
    return former;
}

static void drop(sw_pending_t *p)
{
    if (p->asks)
        sw_pending_ask(-1);
    uint32_t hole = (uint32_t)(p - table), i = hole;
    while (true) {
        i = (i + 1) & (size - 1);
        if (!table[i].request)
            break;
        /* May the one at i move into the hole: is its home not behind it? */
        uint32_t from = home(table[i].request) & (size - 1);
        if (((i - from) & (size - 1)) >= ((i - hole) & (size - 1))) {
            table[hole] = table[i];
            hole = i;
        }
    }
    table[hole].request = 0;
    atomic_store_explicit(&sw_pending_count, count() - 1, memory_order_relaxed);
}

static bool end(uint64_t request, sw_pending_t *to)
{
    sw_pending_t *p = find(request);
    if (!p || !p->request || (p->persistent && !p->active))
        return false;
    *to = *p;
    if (p->persistent)
        p->active = false;
    else
        drop(p);
    return true;
}

bool sw_pending_end(uint64_t request, sw_pending_t *to)
{
    if (!count())
        return false;
    if (sw_likely(!sw_pending_shared))
        return end(request, to);
    pthread_mutex_lock(&lock);
    bool found = end(request, to);
    pthread_mutex_unlock(&lock);
    return found;
}

void sw_pending_end_all(const uint64_t *requests, int64_t n)
{
    enter();
    for (int64_t i = 0; i < n && count(); i++) {
        sw_pending_t *p = find(requests[i]);
        if (p && p->request && p->persistent)
            p->active = false;
        else if (p && p->request)
            drop(p);
    }
    leave();
}

static bool look(uint64_t request, bool takes, sw_pending_t *to)
{
    bool found = false;
    if (!count())
        return false;
    enter();
    sw_pending_t *p = find(request);
    if (p && p->request) {
        found = true;
        *to = *p;
        if (takes && !p->persistent)
            drop(p);
    }
    leave();
    return found;
}

bool sw_pending_look(uint64_t request, sw_pending_t *to)
{
    return look(request, false, to);
}

bool sw_pending_take(uint64_t request, sw_pending_t *to)
{
    return look(request, true, to);
}

void sw_pending_start(const sw_pending_t *pending)
{
    enter();
    sw_pending_t *p = find(pending->request);
    if (p && p->request) {
        *p = *pending;
        p->active = true;
    }
    leave();
}

void sw_pending_drop(uint64_t request)
{
    enter();
    sw_pending_t *p = find(request);
    if (p && p->request)
        drop(p);
    leave();
}
