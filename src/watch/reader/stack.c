/* stack.c - see stack.h. */
#include "stack.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "profile/stack/unwind.h"

enum { STACK_MOST = 256 << 10, STEPS = 4 * SW_STACK_FRAMES };

/* The copy; one at a time. */
static unsigned char bytes[STACK_MOST];
static uint64_t low;
static size_t size;

void sw_stack_copy(sw_space_t *s, uint64_t sp)
{
    const sw_area_t *a = sw_space_area(s, sp);

    low = sp;
    size = a ? sw_space_copy(s, sp, bytes, sw_min(a->to - sp, STACK_MOST)) : 0;
}

/* Walking ----------------------------------------------------------------- */

typedef struct {
    sw_point_t at;
    sw_space_t *space;
} walk_t;

/* The word at `at`, if it lies in the copy above the stack pointer. */
static bool word(const walk_t *w, uint64_t at, uint64_t *to)
{
    if (at < w->at.sp || at & 7 || at - low >= size || size - (at - low) < 8)
        return false;
    memcpy(to, bytes + (at - low), 8);
    return true;
}

#if defined(__x86_64__)
enum {
    CONTEXT = offsetof(ucontext_t, uc_mcontext.gregs),
    PC = CONTEXT + 8 * REG_RIP,
    SP = CONTEXT + 8 * REG_RSP,
    BP = CONTEXT + 8 * REG_RBP
};
#else
enum { /* a siginfo is in front */
       CONTEXT = sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext),
       PC = CONTEXT + offsetof(mcontext_t, pc),
       SP = CONTEXT + offsetof(mcontext_t, sp),
       BP = CONTEXT + offsetof(mcontext_t, regs) + 8 * 29
};
#endif

/* Out of the frame that the kernel made for a signal. A handler may have had a
 * stack of its own (sigaltstack): then the thread's is copied now. */
static bool interrupted(walk_t *w)
{
    sw_point_t to = {.exact = true};

    if (!word(w, w->at.sp + PC, &to.pc) || !word(w, w->at.sp + SP, &to.sp) ||
        !word(w, w->at.sp + BP, &to.bp) || !to.pc)
        return false;
    if (to.sp - low >= size)
        sw_stack_copy(w->space, to.sp);
    else if (to.sp <= w->at.sp)
        return false;
    w->at = to;
    return true;
}

/* Go to the caller. False: this is the outermost frame that can be reached. */
static bool unwind(walk_t *w, const sw_cfi_rule_t *rule, bool *lost)
{
    sw_point_t *p = &w->at;
    uint64_t cfa, pc;

    *lost = false;
    if (rule->cfa_from == SW_CFA_SIGNAL)
        return interrupted(w);
    if (rule->cfa_from == SW_CFA_NONE)
        return false;
    if (rule->cfa_from == SW_CFA_SP) {
        cfa = p->sp + (uint64_t)(int64_t)rule->cfa;
    } else {
        *lost = p->no_bp;
        cfa = p->bp + (uint64_t)(int64_t)rule->cfa;
        if (p->no_bp ||
            (rule->cfa_from == SW_CFA_BP_LOAD && !word(w, cfa, &cfa)))
            return false;
    }
    if (cfa <= p->sp || !word(w, cfa + (uint64_t)(int64_t)rule->ra, &pc))
        return false;
    pc = sw_unwind_strip(pc);
    if (!pc)
        return false;
    uint64_t saved = (uint64_t)(int64_t)rule->bp;
    if (rule->bp_from == SW_BP_CFA) {
        if (!word(w, cfa + saved, &p->bp))
            return false;
        p->no_bp = false;
    } else if (rule->bp_from == SW_BP_BP && !p->no_bp) {
        if (!word(w, p->bp + saved, &p->bp))
            return false;
    } else if (rule->bp_from == SW_BP_LOST) {
        p->no_bp = true;
    }
    p->pc = pc;
    p->sp = cfa;
    p->exact = false;
    return true;
}

/* The frame at the walk's place. A return address lies behind the call, which
 * may be a function's last instruction. */
static bool frame_at(const walk_t *w, sw_frames_t *to)
{
    uint64_t at = w->at.pc - !w->at.exact;
    const sw_area_t *a = sw_space_area(w->space, at);
    const sw_image_t *m = a && a->runs ? sw_image_of(w->space, a) : NULL;

    to->frame[to->count].image = m;
    to->frame[to->count].offset = m ? sw_image_address(m, a, at) : at;
    return m && !m->empty;
}

static void walk(sw_space_t *s, sw_point_t from, sw_frames_t *to, int most)
{
    walk_t w = {.at = from, .space = s};

    *to = (sw_frames_t){.count = 0};
    for (int i = 0; i < STEPS; i++) {
        bool known = frame_at(&w, to);
        const sw_image_t *m = to->frame[to->count].image;
        bool skipped = to->count == 0 && m && m->ours;
        uint64_t offset = to->frame[to->count].offset;
        to->count += !skipped;
        if (to->count == most || !known ||
            !unwind(&w, sw_image_rule(m, offset), &to->lost)) {
            to->count += to->count == 0; /* rather one of ours than none */
            break;
        }
    }
}

void sw_stack_walk(sw_space_t *s, sw_point_t from, sw_frames_t *to)
{
    walk(s, from, to, SW_STACK_FRAMES);
}

void sw_stack_first(sw_space_t *s, sw_point_t from, sw_frames_t *to)
{
    size = 0;
    walk(s, from, to, 1);
}
