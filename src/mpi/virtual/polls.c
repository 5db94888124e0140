/*
 * polls.c - a rank that asks again and again, and finds nothing; see virtual.h.
 *
 * Polling takes the time of a test, and is not a question to the engine each
 * time: the last answer says until when nothing will be found.
 */
#include "rank.h"

#include "node/cpu_clock.h"

/* Polls in vain that advance the clock by their own cost alone. Each poll after
 * them advances it by a part of all that has passed since the first, too. So no
 * poll in vain lasts for ever. The clock goes up to where a poll may find
 * something. Where no rank knows when that is, it goes no further than the poll
 * has taken of the thread's processor time: other programs on the core do not
 * count. */
#define POLLS 1000u
#define POLLS_PART 64
#define POLL_LEAST SW_PS_PER_NS
/* What is computed or slept between two polls is more than polling, if it is
 * more than this. */
#define POLL_WORK (2000 * SW_PS_PER_NS)
#define POLL_NAP (100000 * SW_PS_PER_NS)

/* What a poll in vain takes that began `at`: nothing is found before `until`,
 * or (0) not known. */
static sw_ps_t poll_takes(sw_virtual_clock_t *c, sw_ps_t at, sw_ps_t until)
{
    sw_ps_t cost = sw_virtual_model.test, between = at - c->polled, more = 0;
    sw_ps_t napped = atomic_exchange(&c->napped, 0);
    int64_t now = until ? 0 : sw_cpu_clock_now();
    if (!c->polls || napped > POLL_NAP || between - napped > POLL_WORK) {
        c->polls = 0;
        c->polling = 0;
        c->polled_at = 0;
    } else if (between > 0) {
        c->polling += between;
    }
    if (++c->polls > POLLS) {
        more = sw_ps_max(c->polling / POLLS_PART, POLL_LEAST);
        sw_ps_t really = sw_ps_max(now - c->polled_at, 0);
        if (!until && (!c->polled_at || more > really))
            more = c->polled_at ? really : 0;
    }
    if (until && cost + more > until - at)
        more = sw_ps_max(until - at - cost, 0);
    c->polled_at = now;
    c->polling += cost + more;
    c->polled = at + cost + more;
    return cost + more;
}

/* When something may be found that was asked for; 0: not known. */
static sw_ps_t first_of_all(const sw_virtual_clock_t *c, sw_ps_t now)
{
    sw_ps_t first = SW_PS_NEVER;
    for (uint32_t i = 0; i < c->questions; i++)
        if (c->question[i].until > now && c->question[i].until < first)
            first = c->question[i].until;
    return first == SW_PS_NEVER ? 0 : first;
}

/* Its place, or behind the last. */
static uint32_t place_of(const sw_virtual_clock_t *c, uint64_t key)
{
    uint32_t i = 0;
    while (i < c->questions && c->question[i].key != key)
        i++;
    return i;
}

bool sw_virtual_still_not(uint64_t key)
{
    sw_virtual_clock_t *c = sw_virtual_mine();
    uint32_t i = place_of(c, key);
    if (!c->known || i == c->questions || c->question[i].until == SW_PS_NEVER)
        return false;
    sw_ps_t now = sw_virtual_now_here(c);
    if (now + sw_virtual_model.test >= c->question[i].until)
        return false;
    c->tested += poll_takes(c, now, first_of_all(c, now));
    return true;
}

/* What a thread has computed before is put; what it computes from one poll in
 * vain to the next is spent in waiting, unless it is worth something. */
void sw_virtual_in_host(void)
{
    sw_virtual_clock_t *c = sw_virtual_mine();
    if (!sw_virtual_shared)
        return;
    if (c->polls_told && c->computed + sw_virtual_asleep(c) < POLL_WORK) {
        c->computed = 0;
        atomic_store(&c->passed, 0);
        return;
    }
    sw_virtual_put(&(sw_vop_t){.kind = SW_OP_STUCK, .flags = SW_STUCK_POLLS});
    c->polls_told = true;
}

void sw_virtual_poll(void)
{
    sw_op_answer_t answer;
    sw_virtual_clock_t *c = sw_virtual_mine();
    if (sw_virtual_shared) {
        sw_virtual_in_host();
        return;
    }
    c->tested += sw_ps_max(sw_virtual_model.test, POLL_LEAST);
    sw_virtual_ask(&(sw_vop_t){.kind = SW_OP_CLOCK}, &answer);
    sw_virtual_idle();
}

void sw_virtual_found_nothing(uint64_t key, const sw_op_answer_t *answer)
{
    sw_virtual_clock_t *c = sw_virtual_mine();
    uint32_t i = place_of(c, key);
    if (i == SW_VIRTUAL_QUESTIONS)
        i = c->next_question++ % SW_VIRTUAL_QUESTIONS;
    else if (i == c->questions)
        c->questions++;
    c->question[i].key = key;
    c->question[i].until = answer->until;
    /* The engine has counted what a test takes. */
    sw_ps_t test = sw_virtual_model.test, at = answer->clock - test;
    bool known = answer->until > answer->clock && answer->until < SW_PS_NEVER;
    c->tested += poll_takes(c, at, known ? first_of_all(c, answer->clock) : 0) -
                 test;
}
