/*
 * Messages meet receives as MPI prescribes, against a model that goes through
 * plain lists: random posts, messages, probes, extracted messages and cancelled
 * receives, with any wildcards. A match costs the same among ten and among a
 * hundred thousand that wait: the test counts comparisons by the lengths of the
 * buckets.
 */
#include <string.h>

#include "match/matcher.h"
#include "must.h"

#define STEPS 200000
#define MOST 4000

typedef struct {
    sw_posted_t posted; /* first */
    uint64_t number;
    int64_t got; /* the message's number; -1: none */
} receive_t;

typedef struct {
    sw_pattern_t pattern;
    uint64_t number;
} message_t;

static receive_t *waiting[MOST];
static message_t early[MOST];
static int waiting_count, early_count;
static uint64_t state = 42;

static void met(sw_posted_t *receive, const sw_envelope_t *e,
                const void *payload)
{
    receive_t *r = (receive_t *)receive;
    uint64_t number;
    MUST(e->bytes >= sizeof number && r->got == -1);
    memcpy(&number, payload, sizeof number);
    for (uint32_t i = sizeof number; i < e->bytes; i++)
        MUST(((const char *)payload)[i] == (char)(number + i));
    r->got = (int64_t)number;
}

static bool matches(const sw_pattern_t *p, const sw_pattern_t *m)
{
    return p->context == m->context &&
           (p->source == SW_PATTERN_ANY || p->source == m->source) &&
           (p->tag == SW_PATTERN_ANY || p->tag == m->tag);
}

static sw_pattern_t pattern(int spread, bool any)
{
    uint64_t x = random_from(&state);
    sw_pattern_t p = {.context = 5 + x % 3,
                      .source = (int)(x >> 8) % spread,
                      .tag = (int)(x >> 32 & 0xffff) % spread};
    p.source = p.source < 0 ? -p.source : p.source;
    if (any && x >> 60 < 3)
        p.source = SW_PATTERN_ANY;
    if (any && (x >> 56 & 15) < 3)
        p.tag = SW_PATTERN_ANY;
    return p;
}

static int first_early(const sw_pattern_t *p)
{
    int i = 0;
    while (i < early_count && !matches(p, &early[i].pattern))
        i++;
    return i < early_count ? i : -1;
}

static void remove_early(int i)
{
    memmove(&early[i], &early[i + 1],
            (size_t)(--early_count - i) * sizeof *early);
}

static void remove_waiting(int i)
{
    memmove(&waiting[i], &waiting[i + 1],
            (size_t)(--waiting_count - i) * sizeof *waiting);
}

static void post(int spread, bool any)
{
    receive_t *r = calloc(1, sizeof *r);
    r->posted.pattern = pattern(spread, any);
    r->got = -1;
    int i = first_early(&r->posted.pattern);
    bool done = sw_matcher_post(&r->posted);
    MUST(done == (i >= 0));
    if (done) {
        MUST(r->got == (int64_t)early[i].number);
        remove_early(i);
        free(r);
    } else {
        waiting[waiting_count++] = r;
    }
}

static void come(uint64_t number, int spread)
{
    char payload[300];
    sw_envelope_t e = {.pattern = pattern(spread, false),
                       .kind = SW_CELL_DATA,
                       .bytes = 8 + (uint32_t)(random_from(&state) % 200)};
    memcpy(payload, &number, sizeof number);
    for (uint32_t i = sizeof number; i < e.bytes; i++)
        payload[i] = (char)(number + i);
    int i = 0;
    while (i < waiting_count &&
           !matches(&waiting[i]->posted.pattern, &e.pattern))
        i++;
    MUST(sw_matcher_local(&e, payload));
    if (i == waiting_count) {
        early[early_count++] = (message_t){e.pattern, number};
        return;
    }
    MUST(waiting[i]->got == (int64_t)number);
    free(waiting[i]);
    remove_waiting(i);
}

static void probe(int spread, bool any)
{
    sw_pattern_t p = pattern(spread, any);
    int i = first_early(&p);
    sw_early_t *m = sw_matcher_find(&p);
    uint64_t number;
    MUST(!m == (i < 0));
    if (!m)
        return;
    memcpy(&number, m->payload, sizeof number);
    MUST(number == early[i].number);
    if (random_from(&state) % 2)
        return;
    sw_matcher_extract(m);
    remove_early(i);
    MUST(sw_matcher_find(&p) != m);
    receive_t r = {.got = -1};
    if (random_from(&state) % 8)
        sw_matcher_hand(m, &r.posted);
    else
        sw_matcher_drop(m);
    MUST(r.got == -1 || r.got == (int64_t)number);
}

static void cancel(void)
{
    if (!waiting_count)
        return;
    int i = (int)(random_from(&state) % (uint64_t)waiting_count);
    MUST(sw_matcher_withdraw(&waiting[i]->posted));
    MUST(!sw_matcher_withdraw(&waiting[i]->posted));
    free(waiting[i]);
    remove_waiting(i);
}

/* In the first quarter no receive and no probe asks for any. */
static void at_random(void)
{
    for (uint64_t step = 0; step < STEPS; step++) {
        bool any = step > STEPS / 4;
        int spread = (int[]){1, 3, 20}[step / (STEPS / 24) % 3];
        uint64_t what = random_from(&state) % 20;
        bool flood = step / 3000 % 2;
        if (what < (flood ? 5u : 9u) && waiting_count < MOST)
            post(spread, any);
        else if (what < 16 && early_count < MOST)
            come(step, spread);
        else if (what < 19)
            probe(spread, any);
        else
            cancel();
    }
    while (early_count) {
        sw_early_t *m = sw_matcher_find(&early[0].pattern);
        MUST(m);
        sw_matcher_extract(m);
        sw_matcher_drop(m);
        remove_early(0);
    }
    while (waiting_count)
        cancel();
}

static size_t longest(const sw_queues_t *q)
{
    size_t most = 0;
    for (size_t i = 0; i < q->buckets; i++) {
        size_t n = 0;
        for (const sw_fifo_t *at = q->bucket[i]; at; at = at->after)
            n++;
        most = sw_max(most, n);
    }
    return most;
}

/* However many patterns wait, or have come and gone. */
static void many(void)
{
    enum { N = 100000 };
    static sw_queued_t entry[N];
    sw_queues_t q = {0};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            sw_pattern_t p = {9, round, i};
            MUST(sw_queues_put(&q, &p, &entry[i], sw_queues_next_order(&q)));
        }
        MUST(longest(&q) < 16);
        for (int i = 0; i < N; i++) {
            sw_pattern_t p = {9, round, i};
            MUST(sw_queues_first(&q, &p) == &entry[i]);
            sw_queues_take(&q, &entry[i]);
            MUST(!sw_queues_first(&q, &p));
        }
    }
    for (int i = 0; i < 10 * N; i++) {
        sw_pattern_t p = {9, i / N, i % N};
        MUST(sw_queues_put(&q, &p, &entry[0], sw_queues_next_order(&q)));
        sw_queues_take(&q, &entry[0]);
    }
    MUST(q.buckets <= 2 * N * 2 && longest(&q) < 16);
    sw_queues_free(&q);
}

/* Held up ------------------------------------------------------------------ */

/* Receives that another matcher has, too, and what that has given each: 0, the
 * proxy of this message, or FAR. Messages count from 1. */
enum { OPEN = 3, FAR = -1 };
static receive_t open_to_both[OPEN];
static int given[OPEN];
static bool unknown;
static int recalled;

static int number_of(const sw_early_t *m)
{
    uint64_t number;
    memcpy(&number, m->payload, sizeof number);
    return (int)number;
}

static sw_claim_t claim(sw_posted_t *posted, sw_early_t *held)
{
    int has = given[(receive_t *)posted - open_to_both];
    if (unknown)
        return SW_CLAIM_LATER;
    if (!has)
        return SW_CLAIM_OURS;
    if (has == FAR)
        return SW_CLAIM_LOST;
    sw_early_t *m = sw_matcher_held_up();
    while (number_of(m) != has)
        m = m->after;
    m->proxied = false;
    if (m == held)
        return SW_CLAIM_OURS;
    sw_matcher_let_go(m);
    sw_matcher_hand(m, posted);
    return SW_CLAIM_LOST;
}

static void recall(sw_early_t *m)
{
    m->proxied = false;
    recalled = number_of(m);
}

static void send(uint64_t number)
{
    const sw_envelope_t e = {
        .pattern = {77, 4, 1}, .kind = SW_CELL_DATA, .bytes = sizeof number};
    MUST(sw_matcher_local(&e, &number));
}

/* Three messages wait until it is known what the other matcher has given. */
static void held(int turn)
{
    const sw_pattern_t p = {77, 4, 1}, any = {77, SW_PATTERN_ANY, 1};
    const int gives[][OPEN] = {{2, 0, FAR}, {0, 0, 0}, {1, 3, 0},
                               {FAR, 3, 1}, {3, 2, 1}, {FAR, FAR, FAR}};
    const int gets[][OPEN] = {{2, 1, -1}, {1, 2, 3}, {1, 3, 2},
                              {-1, 3, 1}, {3, 2, 1}, {-1, -1, -1}};
    receive_t its_own = {.posted.pattern = p, .got = -1};
    unknown = true;
    recalled = 0;
    for (int i = 0; i < OPEN; i++) {
        open_to_both[i] = (receive_t){
            .posted = {.pattern = any, .elsewhere = true}, .got = -1};
        given[i] = gives[turn][i];
        MUST(!sw_matcher_post(&open_to_both[i].posted));
    }
    MUST(sw_matcher_open(&p) == &open_to_both[0].posted);
    for (int i = 1; i <= 3; i++)
        send((uint64_t)i);
    for (sw_early_t *m = sw_matcher_held_up(); m; m = m->after)
        for (int i = 0; i < OPEN; i++)
            m->proxied |= given[i] == number_of(m);
    if (turn == 5)
        sw_matcher_held_up()->after->proxied = true;
    MUST(!sw_matcher_post(&its_own.posted) && !sw_matcher_open(&p));
    MUST(sw_matcher_withdraw(&its_own.posted));
    sw_matcher_turn(true);
    MUST(number_of(sw_matcher_held_up()) == 1);
    unknown = false;
    sw_matcher_turn(true);
    MUST(!sw_matcher_held_up());
    for (int i = 0; i < OPEN; i++)
        MUST(open_to_both[i].got == gets[turn][i]);
    MUST(recalled == (turn == 5 ? 2 : 0));
    for (sw_early_t *m; (m = sw_matcher_find(&p));) {
        sw_matcher_extract(m);
        sw_matcher_drop(m);
    }
    MUST(!sw_matcher_posted());
}

int main(void)
{
    sw_matcher_meet = met;
    sw_matcher_claim = claim;
    sw_matcher_recall = recall;
    for (int turn = 0; turn < 6; turn++)
        held(turn);
    at_random();
    many();
    return 0;
}
