/*
 * update.c - see update.h.
 */
#include "update.h"

#include "node/base/copy.h"

#define PART ((size_t)256 << 10) /* bytes of one turn of a long one */
#define ASIDE 1024               /* bytes that are updated beside their place */

/* Long ones ---------------------------------------------------------------- */

static inline void begin(const sw_rma_share_t *w, int target)
{
    sw_queue_t *q = &w->shared->member[target].updates;
    sw_queue_await(q);
    for (int i = 0; i < w->n; i++) {
        sw_rma_member_t *m = &w->shared->member[i];
        bool lost = false;
        SW_WAIT_UNLESS(lost, atomic_load(&m->active) == 0, &m->doorbell);
    }
}

static inline void end(const sw_rma_share_t *w, int target)
{
    sw_queue_pass(&w->shared->member[target].updates);
}

void sw_rma_update_begin(const sw_rma_share_t *w, int target)
{
    begin(w, target);
}

void sw_rma_update_end(const sw_rma_share_t *w, int target)
{
    end(w, target);
}

/* Kernels want their elements where the compiler would put them. */
static bool aligned(const void *p, size_t elem)
{
    size_t low = elem & -elem;
    return (uintptr_t)p % (low < 16 ? low : 16) == 0;
}

/* Elements that lie anywhere go through memory of our own. */
static void combine_aside(const sw_update_t *u, char *at, const char *origin,
                          size_t n)
{
    _Alignas(SW_LINE) char mine[ASIDE], theirs[ASIDE];
    for (size_t some, i = 0; i < n; i += some) {
        some = sw_min(n - i, ASIDE / u->elem);
        size_t from = i * u->elem, bytes = some * u->elem;
        sw_copy(mine, origin + from, bytes);
        sw_copy(theirs, at + from, bytes);
        u->kernel(theirs, mine, theirs, some);
        sw_copy(at + from, theirs, bytes);
    }
}

static inline void apply(const sw_update_t *u, void *at, const void *origin,
                         size_t n)
{
    if (u->kind == SW_UPDATE_REPLACE)
        sw_copy(at, origin, n * u->elem);
    else if (u->kind == SW_UPDATE_NOTHING)
        return;
    else if (aligned(at, u->elem) && aligned(origin, u->elem))
        u->kernel(at, origin, at, n);
    else
        combine_aside(u, at, origin, n);
}

void sw_update_apply(const sw_update_t *u, void *at, const void *origin,
                     size_t n)
{
    apply(u, at, origin, n);
}

static void update_long(const sw_rma_share_t *w, int target,
                        const sw_update_t *u, char *at, const char *origin,
                        char *result, size_t n)
{
    size_t part = n;
    if (n * u->elem > PART)
        part = sw_max(PART / u->elem, 1);
    for (size_t some, i = 0; i < n; i += some) {
        some = sw_min(n - i, part);
        size_t from = i * u->elem;
        begin(w, target);
        if (result)
            sw_copy(result + from, at + from, some * u->elem);
        apply(u, at + from, origin ? origin + from : NULL, some);
        end(w, target);
    }
}

/* Short ones --------------------------------------------------------------- */

/* One element, by the processor. `result` may be `origin`, and lie anywhere. */
#define ELEMENT(BITS)                                                          \
    static void update_##BITS(const sw_update_t *u, void *at,                  \
                              const void *origin, void *result)                \
    {                                                                          \
        _Atomic uint##BITS##_t *word = at;                                     \
        uint##BITS##_t mine = 0, old, new;                                     \
        if (u->kind != SW_UPDATE_NOTHING)                                      \
            memcpy(&mine, origin, sizeof mine);                                \
        switch (u->kind) {                                                     \
        case SW_UPDATE_ADD: old = atomic_fetch_add(word, mine); break;         \
        case SW_UPDATE_REPLACE: old = atomic_exchange(word, mine); break;      \
        case SW_UPDATE_NOTHING: old = atomic_load(word); break;                \
        default:                                                               \
            old = atomic_load_explicit(word, memory_order_relaxed);            \
            do                                                                 \
                u->kernel(&new, &mine, &old, 1);                               \
            while (!atomic_compare_exchange_weak(word, &old, new));            \
        }                                                                      \
        if (result)                                                            \
            memcpy(result, &old, sizeof old);                                  \
    }                                                                          \
                                                                               \
    static void swap_##BITS(void *at, const void *origin, const void *compare, \
                            void *result)                                      \
    {                                                                          \
        uint##BITS##_t mine, old;                                              \
        memcpy(&mine, origin, sizeof mine);                                    \
        memcpy(&old, compare, sizeof old);                                     \
        atomic_compare_exchange_strong((_Atomic uint##BITS##_t *)at, &old,     \
                                       mine);                                  \
        memcpy(result, &old, sizeof old);                                      \
    }

ELEMENT(8)
ELEMENT(16)
ELEMENT(32)
ELEMENT(64)

static void update_element(const sw_update_t *u, void *at, const void *origin,
                           void *result)
{
    switch (u->elem) {
    case 1: update_8(u, at, origin, result); break;
    case 2: update_16(u, at, origin, result); break;
    case 4: update_32(u, at, origin, result); break;
    default: update_64(u, at, origin, result);
    }
}

static bool is_atomic(const void *at, size_t elem)
{
    return (elem == 1 || elem == 2 || elem == 4 || elem == 8) &&
           (uintptr_t)at % elem == 0;
}

/* No more active: where there are no other threads, it alone was. */
static void leave(const sw_rma_share_t *w)
{
    _Atomic uint32_t *active = &w->shared->member[w->me].active;
    if (sw_likely(!w->threads))
        atomic_store_explicit(active, 0, memory_order_release);
    else
        atomic_fetch_sub_explicit(active, 1, memory_order_release);
}

/* Become active, unless a long one is at work. */
static bool enter(const sw_rma_share_t *w, int target)
{
    atomic_fetch_add(&w->shared->member[w->me].active, 1);
    if (sw_likely(!sw_queue_taken(&w->shared->member[target].updates)))
        return true;
    leave(w);
    return false;
}

/* A long one looks at all members, a short one takes a locked instruction for
 * each element. */
static bool is_short(const sw_rma_share_t *w, size_t n)
{
    return n == 1 || n <= (size_t)w->n / 2;
}

bool sw_rma_update(const sw_rma_share_t *w, int target, const sw_update_t *u,
                   void *at, const void *origin, void *result, size_t n)
{
    size_t elem = u->elem;
    if (!is_short(w, n) || !is_atomic(at, elem) || !enter(w, target)) {
        update_long(w, target, u, at, origin, result, n);
        return true;
    }
    for (size_t i = 0; i < n; i++)
        update_element(u, (char *)at + i * elem,
                       origin ? (const char *)origin + i * elem : NULL,
                       result ? (char *)result + i * elem : NULL);
    leave(w);
    return false;
}

static void swap_element(size_t elem, void *at, const void *origin,
                         const void *compare, void *result)
{
    switch (elem) {
    case 1: swap_8(at, origin, compare, result); break;
    case 2: swap_16(at, origin, compare, result); break;
    case 4: swap_32(at, origin, compare, result); break;
    default: swap_64(at, origin, compare, result);
    }
}

bool sw_rma_swap(const sw_rma_share_t *w, int target, size_t elem, void *at,
                 const void *origin, const void *compare, void *result)
{
    if (is_atomic(at, elem) && enter(w, target)) {
        swap_element(elem, at, origin, compare, result);
        leave(w);
        return false;
    }
    char old[8];
    sw_rma_update_begin(w, target);
    memcpy(old, at, elem);
    if (!memcmp(old, compare, elem))
        memcpy(at, origin, elem);
    sw_rma_update_end(w, target);
    memcpy(result, old, elem);
    return true;
}
