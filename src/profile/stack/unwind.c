/*
 * unwind.c - see unwind.h.
 *
 * What becomes of an address when its object is closed and another takes its
 * place: see site.h. A row of `places` names its mapping, and does not count
 * once that is dead. Addresses outside of all objects (code that was made at
 * run time) are not in the table, only in the threads' caches: nothing tells
 * when they change hands.
 */
#include "unwind.h"

#include "node/os/os.h"
#include "frame.h"
#include "module.h"

#include <signal.h>
#include <ucontext.h>

static sw_table_t places = SW_TABLE(sw_stack_place_t, 1 << 20);

static uint64_t hash_of(uintptr_t address)
{
    return sw_table_mix_end(sw_table_mix(2, address));
}

static bool known(uintptr_t address, sw_stack_place_t *to)
{
    sw_find_t find = sw_table_find(&places, hash_of(address));

    for (uint32_t row; (row = sw_table_next(&find));) {
        const sw_stack_place_t *p = sw_table_row(&places, row);
        const sw_mapping_t *m = sw_table_row(&sw_mappings, p->mapping);
        if (p->address == address && !atomic_load(&m->dead)) {
            *to = *p;
            to->skipped = atomic_load(&m->skipped);
            return true;
        }
    }
    return false;
}

/* With the lock held. A place whose frame found no room has frame 0. */
static void learn(uintptr_t address, sw_stack_place_t *to)
{
    *to = (sw_stack_place_t){.address = address,
                             .mapping = sw_mapping_of(address)};
    if (!to->mapping) {
        to->rule.bp_from = SW_BP_LOST;
        to->frame = sw_frame_of(SW_FRAME_NATIVE, 0, address);
        return;
    }
    const sw_mapping_t *m = sw_table_row(&sw_mappings, to->mapping);
    to->skipped = atomic_load(&m->skipped);
    to->rule = sw_cfi_rule(m->phdr, m->phnum, m->bias, address);
    to->frame = sw_frame_of(SW_FRAME_NATIVE, m->module, address - m->bias);
    sw_stack_place_t *row = sw_table_new(&places);
    if (row && to->frame) {
        *row = *to;
        sw_table_publish(&places, hash_of(address));
    }
}

void sw_places_check(void)
{
    if (!sw_profile_lock())
        return;
    if (sw_module_objects_changed())
        atomic_fetch_add(&sw_epoch, 1);
    sw_profile_unlock();
}

const sw_stack_place_t *sw_place_find(sw_thread_t *t, uintptr_t address)
{
    sw_stack_place_t *p = &t->places[sw_thread_cache_slot(address)];
    sw_stack_place_t found;

    if (!known(address, &found)) {
        if (!sw_profile_lock())
            return NULL;
        if (sw_module_objects_changed())
            atomic_fetch_add(&sw_epoch, 1);
        if (!known(address, &found))
            learn(address, &found);
        sw_profile_unlock();
    }
    *p = found;
    return p;
}

/* Walking ----------------------------------------------------------------- */

typedef struct {
    sw_caller_t at;
    bool exact; /* pc was interrupted: it is no return address */
    bool lost_bp;
    uintptr_t bp_at;     /* where at.bp was loaded from; 0: trail->from */
    uintptr_t page;      /* of a foreign stack: can be read to its end */
    uintptr_t low, size; /* of the thread's own stack */
    sw_trail_t *trail;
    uint32_t words, room; /* in the trail; more than room: no trail */
} walk_t;

/* A return address lies behind the call, which may be a function's last
 * instruction. */
static inline uintptr_t address_of(const walk_t *w)
{
    return w->at.pc - !w->exact;
}

static inline void note(walk_t *w, uintptr_t at, uintptr_t value)
{
    if (w->words < w->room) {
        w->trail->word[w->words].at = at;
        w->trail->word[w->words].value = value;
    }
    w->words++;
}

/* The word at `at`, if it lies in the stack above the stack pointer. A foreign
 * stack may be gone at the next call: no trail leads through one. */
__attribute__((no_sanitize("address", "thread"))) static inline bool word(
    walk_t *w, uintptr_t at, uintptr_t *to)
{
    if (sw_unlikely(at < w->at.sp || at & (sizeof *to - 1)))
        return false;
    if (sw_unlikely(at - w->low >= w->size)) {
        uintptr_t page = at & ~(uintptr_t)(SW_PAGE - 1);
        if (page != w->page && !sw_os_readable((const void *)at))
            return false;
        w->page = page;
        w->words = w->room + 1;
    }
    *to = *(const uintptr_t *)at;
    return true;
}

/* The frame pointer matters: so does the word that it came from. */
static inline bool use_bp(walk_t *w)
{
    if (w->lost_bp)
        return false;
    if (w->bp_at)
        note(w, w->bp_at, w->at.bp);
    else
        w->trail->uses_bp = true;
    return true;
}

#if defined(__x86_64__)
enum { CONTEXT = 0 }; /* sp points to the ucontext */
#else
enum { CONTEXT = sizeof(siginfo_t) }; /* a siginfo is in front */
#endif

/* Out of the frame that the kernel made for a signal: the registers are those
 * of what it interrupted, all of which is in the ucontext there. On aarch64 a
 * function that calls none may have been interrupted, whose return address is
 * only in a register: its own rule then finds no saved one. */
static bool interrupted(walk_t *w)
{
    uintptr_t context = w->at.sp + CONTEXT;
    const ucontext_t *u = (const void *)context;
    sw_caller_t to;

#if defined(__x86_64__)
    const greg_t *r = u->uc_mcontext.gregs;
    if (!word(w, (uintptr_t)&r[REG_RIP], &to.pc) ||
        !word(w, (uintptr_t)&r[REG_RSP], &to.sp) ||
        !word(w, (uintptr_t)&r[REG_RBP], &to.bp))
        return false;
#else
    const mcontext_t *r = &u->uc_mcontext;
    if (!word(w, (uintptr_t)&r->pc, &to.pc) ||
        !word(w, (uintptr_t)&r->sp, &to.sp) ||
        !word(w, (uintptr_t)&r->regs[29], &to.bp))
        return false;
#endif
    w->words = w->room + 1; /* rare: no trail */
    if (to.sp <= w->at.sp || !to.pc)
        return false; /* on another stack than the signal's: enough */
    w->at = to;
    w->exact = true;
    w->lost_bp = false;
    return true;
}

/* Go to the caller. False: this is the outermost frame that can be reached. */
static inline bool unwind(walk_t *w, const sw_cfi_rule_t *rule)
{
    uintptr_t cfa, pc, at;

    if (sw_likely(rule->cfa_from == SW_CFA_SP)) {
        cfa = w->at.sp + (uintptr_t)(intptr_t)rule->cfa;
    } else {
        if (rule->cfa_from == SW_CFA_SIGNAL)
            return interrupted(w);
        if (rule->cfa_from == SW_CFA_NONE || !use_bp(w))
            return false;
        at = cfa = w->at.bp + (uintptr_t)(intptr_t)rule->cfa;
        if (rule->cfa_from == SW_CFA_BP_LOAD) {
            if (!word(w, at, &cfa))
                return false;
            note(w, at, cfa);
        }
    }
    at = cfa + (uintptr_t)(intptr_t)rule->ra;
    if (sw_unlikely(cfa <= w->at.sp || !word(w, at, &pc)))
        return false;
    note(w, at, pc);
    pc = sw_unwind_strip(pc);
    if (sw_unlikely(!pc))
        return false;
    if (rule->bp_from == SW_BP_CFA) {
        at = cfa + (uintptr_t)(intptr_t)rule->bp;
        if (!word(w, at, &w->at.bp))
            return false;
        w->bp_at = at;
        w->lost_bp = false;
    } else if (rule->bp_from == SW_BP_BP) {
        if (use_bp(w)) {
            at = w->at.bp + (uintptr_t)(intptr_t)rule->bp;
            if (!word(w, at, &w->at.bp))
                return false;
            w->bp_at = at;
        }
    } else if (sw_unlikely(rule->bp_from == SW_BP_LOST)) {
        w->lost_bp = true;
    }
    w->at.pc = pc;
    w->at.sp = cfa;
    w->exact = false;
    return true;
}

/* Layers between the program and us, at most. */
#define SKIPPED_MAX 16

bool sw_unwind_walk(sw_thread_t *t, int most, sw_trail_t *trail, uint32_t room)
{
    walk_t w = {.at = trail->from,
                .trail = trail,
                .room = room,
                .low = t->stack_low,
                .size = t->stack_high - t->stack_low};
    const sw_stack_place_t *place = sw_place(t, address_of(&w));
    int n = 0;

    trail->uses_bp = false;
    trail->alone = place && ((!place->skipped && most == 1) ||
                             place->rule.cfa_from == SW_CFA_NONE);
    for (int i = 0; place && place->skipped && i < SKIPPED_MAX; i++) {
        walk_t next = w;
        if (!unwind(&next, &place->rule))
            break;
        w = next;
        place = sw_place(t, address_of(&w));
    }
    for (;;) {
        if (!place || !place->frame)
            return false;
        trail->frames[n++] = place->frame;
        if (n == most || !unwind(&w, &place->rule))
            break;
        place = sw_place(t, address_of(&w));
    }
    trail->natives = (uint16_t)n;
    trail->words = (uint8_t)(w.words <= room ? w.words : SW_NO_TRAIL);
    return true;
}

bool sw_unwind_step(sw_thread_t *t, const sw_caller_t *inside,
                    sw_caller_t *caller)
{
    sw_trail_t none;
    walk_t w = {.at = *inside,
                .exact = true,
                .trail = &none,
                .low = t->stack_low,
                .size = t->stack_high - t->stack_low};
    const sw_stack_place_t *place = sw_place(t, address_of(&w));

    if (!place || !unwind(&w, &place->rule))
        return false;
    *caller = w.at;
    return true;
}
