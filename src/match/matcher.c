/*
 * matcher.c - see matcher.h.
 */
#include "matcher.h"

#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>

sw_matcher_meet_t *sw_matcher_meet;
sw_matcher_other_t *sw_matcher_other;
sw_matcher_claim_t *sw_matcher_claim;
void (*sw_matcher_settle)(void);
void (*sw_matcher_recall)(sw_early_t *held);
bool sw_matcher_helps;
sw_matcher_stats_t sw_matcher_stats;

/* Receives by their patterns; messages by the patterns that they match. */
static sw_queues_t posted, early;
/* Has a receive or a probe ever asked for any? Before, messages wait in the
 * queue of their own pattern alone, and in `all`. */
static bool wild;
static sw_early_t *spare;
#define SPARE_PAYLOAD 64

/* The patterns that match a message; the first is its own. */
static sw_pattern_t wider(const sw_pattern_t *p, int i)
{
    return (sw_pattern_t){p->context, i & 1 ? SW_PATTERN_ANY : p->source,
                          i & 2 ? SW_PATTERN_ANY : p->tag};
}

/* Early messages ----------------------------------------------------------- */

static void unindex(sw_early_t *m)
{
    for (int i = 0; i < 4; i++)
        if (m->queued[i].queue)
            sw_queues_take(&early, &m->queued[i]);
}

static bool index_as(sw_early_t *m, int from, int to, uint64_t order)
{
    for (int i = from; i < to; i++) {
        const sw_pattern_t p = wider(&m->envelope.pattern, i);
        if (!sw_queues_put(&early, &p, &m->queued[i], order))
            return false;
    }
    return true;
}

static void discard(sw_early_t *m)
{
    if (m->envelope.bytes > SPARE_PAYLOAD) {
        free(m);
        return;
    }
    m->after = spare;
    spare = m;
}

static sw_early_t *new_early(size_t bytes)
{
    sw_early_t *m = spare;
    if (bytes <= SPARE_PAYLOAD && m) {
        spare = m->after;
        return m;
    }
    return malloc(sizeof *m + sw_max(bytes, SPARE_PAYLOAD));
}

/* A message in memory of this process; NULL: there is none. */
static sw_early_t *copy_of(const sw_envelope_t *e, const void *payload)
{
    sw_early_t *m = new_early(e->bytes);
    if (!m)
        return NULL;
    m->envelope = *e;
    for (int i = 0; i < 4; i++)
        m->queued[i].queue = NULL;
    memcpy(m->payload, payload, e->bytes);
    return m;
}

/* Where receives and probes find it. False: no memory, and nothing has
 * happened. */
static bool index_it(sw_early_t *m)
{
    const sw_envelope_t *e = &m->envelope;
    if (!index_as(m, 0, wild ? 4 : 1, sw_queues_next_order(&early))) {
        unindex(m);
        return false;
    }
    sw_matcher_stats.early++;
    sw_matcher_stats.early_bytes += e->bytes;
    sw_matcher_stats.waiting_most = sw_max(sw_matcher_stats.waiting_most,
                                           early.waiting / (wild ? 4 : 1));
    return true;
}

static bool keep(const sw_envelope_t *e, const void *payload)
{
    sw_early_t *m = copy_of(e, payload);
    if (!m || index_it(m))
        return m;
    discard(m);
    return false;
}

static int by_order(const void *a, const void *b)
{
    const sw_early_t *x = *(sw_early_t *const *)a, *y = *(sw_early_t *const *)b;
    return x->queued[0].order < y->queued[0].order ? -1 : 1;
}

static void no_memory(void)
{
    sw_say("out of memory: %zu messages wait for receives", early.waiting);
    abort();
}

/* The first pattern with an any: put what waits in the other three queues,
 * too. */
static void go_wild(void)
{
    size_t n = 0, count = early.waiting;
    wild = true;
    if (!count)
        return;
    sw_early_t **m = malloc(count * sizeof *m);
    if (!m)
        no_memory();
    for (size_t i = 0; i < early.buckets; i++)
        for (sw_fifo_t *q = early.bucket[i]; q; q = q->after)
            for (sw_queued_t *at = q->first; at; at = at->next)
                m[n++] = (sw_early_t *)at;
    sw_assert(n == count);
    qsort(m, n, sizeof *m, by_order);
    for (size_t i = 0; i < n; i++)
        if (!index_as(m[i], 1, 4, m[i]->queued[0].order))
            no_memory();
    free(m);
}

/* An entry of queue number i of a message: the message. */
static sw_early_t *message_of(sw_queued_t *at, const sw_pattern_t *p)
{
    int i = (p->source == SW_PATTERN_ANY) | (p->tag == SW_PATTERN_ANY) << 1;
    return at ? (sw_early_t *)(at - i) : NULL;
}

sw_early_t *sw_matcher_find(const sw_pattern_t *p)
{
    if (sw_unlikely(!wild && sw_pattern_is_wild(p)))
        go_wild();
    return message_of(sw_queues_first(&early, p), p);
}

void sw_matcher_extract(sw_early_t *m)
{
    unindex(m);
}

void sw_matcher_hand(sw_early_t *m, sw_posted_t *receive)
{
    sw_matcher_meet(receive, &m->envelope, m->payload);
    discard(m);
}

void sw_matcher_drop(sw_early_t *m)
{
    discard(m);
}

/* Receives ----------------------------------------------------------------- */

bool sw_matcher_post(sw_posted_t *r)
{
    sw_early_t *m = sw_matcher_find(&r->pattern);
    if (m) {
        sw_matcher_extract(m);
        r->queued.queue = NULL;
        sw_matcher_hand(m, r);
        return true;
    }
    if (!sw_queues_put(&posted, &r->pattern, &r->queued,
                       sw_queues_next_order(&posted)))
        no_memory();
    if (posted.waiting > sw_matcher_stats.posted_most)
        sw_matcher_stats.posted_most = posted.waiting;
    return false;
}

bool sw_matcher_withdraw(sw_posted_t *r)
{
    if (!r->queued.queue)
        return false;
    sw_queues_take(&posted, &r->queued);
    return true;
}

size_t sw_matcher_posted(void)
{
    return posted.waiting;
}

/* The earliest that a message meets. */
static sw_posted_t *earliest(const sw_pattern_t *p)
{
    sw_queued_t *found = sw_queues_first(&posted, p);
    for (int i = 1; i < 4 && posted.wild; i++) {
        const sw_pattern_t w = wider(p, i);
        sw_queued_t *other = sw_queues_first(&posted, &w);
        if (other && (!found || other->order < found->order))
            found = other;
    }
    return (sw_posted_t *)found;
}

sw_posted_t *sw_matcher_open(const sw_pattern_t *p)
{
    for (int i = 0; i < 4; i += 2) {
        const sw_pattern_t own = wider(p, i);
        if (sw_queues_first(&posted, &own))
            return NULL;
    }
    return earliest(p);
}

/* The same, taken out of its queue; *later: that is not known yet. */
static sw_posted_t *take_earliest(const sw_pattern_t *p, sw_early_t *held,
                                  bool *later)
{
    sw_posted_t *r;
    while ((r = earliest(p))) {
        sw_claim_t claim = sw_likely(!r->elsewhere) ? SW_CLAIM_OURS
                                                    : sw_matcher_claim(r, held);
        *later = claim == SW_CLAIM_LATER;
        if (*later)
            return NULL;
        sw_queues_take(&posted, &r->queued);
        if (claim == SW_CLAIM_OURS)
            return r;
    }
    return NULL;
}

/* Held up ------------------------------------------------------------------ */

static sw_early_t *held_up, *last_held_up;

sw_early_t *sw_matcher_held_up(void)
{
    return held_up;
}

static bool hold_up(const sw_envelope_t *e, const void *payload)
{
    sw_early_t *m = copy_of(e, payload);
    if (!m)
        return false;
    m->after = NULL;
    m->proxy = NULL;
    m->proxied = m->unproxied = false;
    if (held_up)
        last_held_up->after = m;
    else
        held_up = m;
    last_held_up = m;
    return true;
}

void sw_matcher_let_go(sw_early_t *m)
{
    sw_early_t *before = NULL;
    for (sw_early_t *at = held_up; at != m; at = at->after)
        before = at;
    if (before)
        before->after = m->after;
    else
        held_up = m->after;
    if (last_held_up == m)
        last_held_up = before;
}

/* In their order; false: some are left. Those with a proxy wait for a thread
 * that may call the other matcher. */
static bool go_on(void)
{
    if (held_up && !sw_matcher_helps && sw_matcher_settle)
        sw_matcher_settle();
    for (sw_early_t *m; (m = held_up);) {
        bool later = false;
        if (m->proxy && sw_matcher_helps)
            return false;
        sw_posted_t *r = take_earliest(&m->envelope.pattern, m, &later);
        if (later)
            return false;
        if (sw_unlikely(m->proxied))
            sw_matcher_recall(m);
        if (!r && !index_it(m))
            return false;
        held_up = m->after;
        if (r)
            sw_matcher_hand(m, r);
    }
    return true;
}

/* Coming ------------------------------------------------------------------- */

bool sw_matcher_local(const sw_envelope_t *e, const void *payload)
{
    bool later = sw_unlikely(held_up) && !go_on();
    sw_posted_t *r = later ? NULL : take_earliest(&e->pattern, NULL, &later);
    if (!r && !(sw_unlikely(later) ? hold_up : keep)(e, payload))
        return false;
    sw_matcher_stats.messages++;
    if (r)
        sw_matcher_meet(r, e, payload);
    return true;
}

static bool take(int place, const sw_cell_t *cell)
{
    if (sw_unlikely(sw_cell_kind(cell) >= SW_CELL_PULL)) {
        sw_matcher_other(place, cell);
        return true;
    }
    const sw_envelope_t e = {
        .pattern = {cell->context, cell->source, cell->tag},
        .place = place,
        .kind = sw_cell_kind(cell),
        .bytes = sw_cell_bytes(cell)};
    return sw_matcher_local(&e, cell->payload);
}

bool sw_matcher_turn(bool all)
{
    if (sw_unlikely(held_up))
        go_on();
    return sw_mailbox_turn(all, take) > 0;
}
