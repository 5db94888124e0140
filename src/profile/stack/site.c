/*
 * site.c - see site.h.
 *
 *     depth 1, no Python:  pc     -> alone[] -> site
 *     the same walk again: pc, sp -> trails  -> site, or frames
 *     frames:              hash   -> stacks[] -> site, if its frames are these
 *                                 -> sw_sites, the process's table
 *
 * A first frame without a rule ends its stack. Such a stack depends on the
 * return address alone, too, and is found in `alone` at every depth.
 */
#include "site.h"

#include <errno.h>
#include <string.h>

/* Frames of one native and one Python frame at first: see sw_site_depth. */
sw_table_t sw_sites = {.width = sizeof(sw_site_t) + 2 * sizeof(uint32_t),
                       .limit = 1 << 20};
static int depth = 1;

typedef struct {
    uint16_t natives, pythons;
    uint32_t frames[2 * SW_DEPTH_MAX];
} frames_t;

bool sw_site_depth(int frames)
{
    bool can = false;

    if (frames < 1 || frames > SW_DEPTH_MAX || !sw_profile_lock())
        return false;
    if (sw_table_rows(&sw_sites) == 0) {
        depth = frames;
        sw_sites.width = (uint32_t)(sizeof(sw_site_t) +
                                    2 * (size_t)frames * sizeof(uint32_t));
        can = true;
    }
    sw_profile_unlock();
    return can;
}

bool sw_site_skip_module(const char *path)
{
    if (!sw_profile_lock())
        return false;
    bool done = sw_module_skip(path);
    sw_profile_unlock();
    atomic_fetch_add(&sw_epoch, 1);
    return done;
}

void sw_sites_closed(void)
{
    sw_places_check();
}

static inline bool is(const sw_site_t *s, const frames_t *stack, int n)
{
    uint32_t other = (uint32_t)(s->natives ^ stack->natives) |
                     (uint32_t)(s->pythons ^ stack->pythons);

    for (int i = 0; i < n; i++)
        other |= s->frames[i] ^ stack->frames[i];
    return other == 0;
}

static uint32_t known(uint64_t hash, const frames_t *stack, int n)
{
    sw_find_t find = sw_table_find(&sw_sites, hash);

    for (uint32_t row; (row = sw_table_next(&find));)
        if (is(sw_table_row(&sw_sites, row), stack, n))
            return row;
    return 0;
}

static uint32_t number(uint64_t hash, const frames_t *stack, int n)
{
    uint32_t site = known(hash, stack, n);

    if (site || !sw_profile_lock())
        return site;
    site = known(hash, stack, n);
    sw_site_t *s = site ? NULL : sw_table_new(&sw_sites);
    if (s) {
        s->natives = stack->natives;
        s->pythons = stack->pythons;
        memcpy(s->frames, stack->frames, (size_t)n * 4);
        site = sw_table_publish(&sw_sites, hash);
    }
    sw_profile_unlock();
    return site;
}

static uint32_t site_of(sw_thread_t *t, const frames_t *stack)
{
    int n = stack->natives + stack->pythons;
    uint64_t hash = (uint64_t)stack->natives << 16 | stack->pythons;

    for (int i = 0; i < n; i++)
        hash = sw_table_mix(hash, stack->frames[i]);
    hash = sw_table_mix_end(hash);
    uint32_t slot = hash >> 32 & (SW_CACHE - 1);
    if (sw_likely(t->stacks[slot].hash == hash) &&
        sw_likely(is(t->stacks[slot].row, stack, n)))
        return t->stacks[slot].site;
    uint32_t site = number(hash, stack, n);
    if (!site)
        return 0;
    t->stacks[slot].row = sw_table_row(&sw_sites, site);
    t->stacks[slot].site = site;
    t->stacks[slot].hash = hash;
    return site;
}

/* This thread's caches: a signal handler that interrupted a look into them
 * must leave them alone, and is told no site. To be left with what `turns` was
 * then, now and then by way of asking the linker what has become of objects:
 * the next call sees the answer. */
static inline sw_thread_t *enter(uint32_t *turns)
{
    sw_thread_t *t = sw_thread_own;

    if (sw_unlikely(!t)) {
        if (!(t = sw_thread_new(depth)))
            return NULL;
        t->turns = SW_SITE_CHECK;
    }
    *turns = t->turns;
    if (sw_unlikely(*turns == 0))
        return NULL;
    t->turns = 0;
    atomic_signal_fence(memory_order_seq_cst);
    return t;
}

static inline void leave(sw_thread_t *t, uint32_t turns)
{
    if (sw_unlikely(turns == 1)) {
        sw_places_check();
        turns += SW_SITE_CHECK;
    }
    atomic_signal_fence(memory_order_seq_cst);
    t->turns = turns - 1;
}

/* Make the caches true to the process's epoch. */
__attribute__((noinline)) static void refresh(sw_thread_t *t)
{
    uint32_t epoch = atomic_load(&sw_epoch);
    int error = errno;

    if (t->epoch != epoch) {
        if (t->epoch)
            sw_thread_forget(t);
        t->epoch = epoch;
        sw_python_look();
    }
    errno = error;
}

static bool stale(const sw_thread_t *t)
{
    return t->epoch != atomic_load_explicit(&sw_epoch, memory_order_relaxed);
}

static inline void copy(uint32_t *to, const uint32_t *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

/* The site of the trail's native frames and the Python frames of now; the
 * trail keeps them. */
static uint32_t with_python(sw_thread_t *t, sw_trail_t *trail)
{
    frames_t stack;
    int n = sw_python_frames(t, stack.frames, depth);
    uint32_t other = (uint32_t)(n ^ trail->pythons);

    if (n < 0)
        return 0;
    for (int i = 0; i < n; i++)
        other |= stack.frames[i] ^ trail->frames[trail->natives + i];
    if (sw_likely(other == 0 && trail->site))
        return trail->site;
    trail->pythons = (uint16_t)n;
    copy(trail->frames + trail->natives, stack.frames, n);
    stack.natives = trail->natives;
    stack.pythons = trail->pythons;
    copy(stack.frames, trail->frames, stack.natives + stack.pythons);
    return trail->site = site_of(t, &stack);
}

static uint32_t without_python(sw_thread_t *t, sw_trail_t *trail)
{
    frames_t stack = {.natives = trail->natives};

    trail->pythons = 0;
    copy(stack.frames, trail->frames, stack.natives);
    return trail->site = site_of(t, &stack);
}

/* Is the stack as it was on this trail? */
__attribute__((no_sanitize("address", "thread"))) static inline bool same_trail(
    const sw_trail_t *trail, const sw_caller_t *from)
{
    uintptr_t other = (trail->from.pc ^ from->pc) |
                      (trail->from.sp ^ from->sp) |
                      (trail->uses_bp ? trail->from.bp ^ from->bp : 0);

    if (other)
        return false;
    for (int i = 0; i < trail->words; i++)
        other |= trail->word[i].value ^ *(const uintptr_t *)trail->word[i].at;
    return other == 0;
}

static void remember(sw_thread_t *t, const sw_trail_t *trail)
{
    sw_trail_t *to = sw_thread_trail(t, &trail->from);

    to->from = trail->from;
    to->site = trail->site;
    to->natives = trail->natives;
    to->pythons = trail->pythons;
    to->words = trail->words;
    to->uses_bp = trail->uses_bp;
    copy(to->frames, trail->frames, trail->natives + trail->pythons);
    memcpy(to->word, trail->word, trail->words * sizeof *trail->word);
}

/* While the stack is walked it may turn out that objects were closed: what
 * was found is then found again. */
__attribute__((noinline)) static uint32_t look(sw_thread_t *t,
                                               const sw_caller_t *from)
{
    union {
        sw_trail_t trail;
        char room[sizeof(sw_trail_t) +
                  (2 * SW_DEPTH_MAX + 8) * sizeof(((sw_trail_t *)0)->word[0])];
    } u;
    int error = errno;
    bool told;

    u.trail.from = *from;
    for (int tries = 0;; tries++) {
        told = sw_unwind_walk(t, depth, &u.trail, t->trail_room);
        if (!stale(t) || tries == 3)
            break;
        refresh(t);
    }
    errno = error;
    if (!told)
        return 0;
    u.trail.site = 0;
    u.trail.pythons = 0;
    uint32_t site = sw_python_here() ? with_python(t, &u.trail)
                                     : without_python(t, &u.trail);
    if (stale(t) || !site)
        return site;
    if (u.trail.alone && !sw_python_here()) {
        uint32_t slot = sw_thread_cache_slot(from->pc);
        t->alone[slot].pc = from->pc;
        t->alone[slot].site = site;
    } else if (u.trail.words != SW_NO_TRAIL) {
        remember(t, &u.trail);
    }
    return site;
}

static inline uint32_t site_inside(sw_thread_t *t, const sw_caller_t *from)
{
    if (sw_unlikely(stale(t)))
        refresh(t);
    uint32_t slot = sw_thread_cache_slot(from->pc);
    if (sw_likely(t->alone[slot].pc == from->pc))
        return t->alone[slot].site;
    sw_trail_t *trail = sw_thread_trail(t, from);
    if (sw_likely(same_trail(trail, from)))
        return sw_python_here() ? with_python(t, trail) : trail->site;
    return look(t, from);
}

uint32_t sw_site(const sw_caller_t *from)
{
    uint32_t turns;
    sw_thread_t *t = enter(&turns);

    if (sw_unlikely(!t))
        return 0;
    uint32_t site = site_inside(t, from);
    leave(t, turns);
    return site;
}

sw_caller_t sw_site_leave(const sw_caller_t *inside, uintptr_t back)
{
    sw_caller_t caller = {sw_unwind_strip(back), 0, 0};
    uint32_t turns;
    sw_thread_t *t = enter(&turns);

    if (!t)
        return caller;
    if (stale(t))
        refresh(t);
    sw_unwind_step(t, inside, &caller);
    leave(t, turns);
    return caller;
}
