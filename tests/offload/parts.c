/*
 * parts.c - partitioned messages between two members. Threads of the sender
 * tell in any order which partitions are ready. The receiver looks for any of
 * them meanwhile. All bytes arrive, each start anew, and no message waits for
 * another.
 */
#include "schedules.h"
#include "offload/parts.h"
#include "node/temporary.h"

#define AT_ONCE 4
#define TELLERS 3

typedef struct {
    sw_parts_t parts;
    unsigned partitions, left;
    size_t bytes, more; /* of a partition; that the receiver lacks */
    uint64_t round;
    sw_data_t data;
    char *staged; /* the sender's, in its arena */
    bool over;
} message_t;

/* A thread of the sender's, and its share of the partitions. */
typedef struct {
    member_t *m;
    message_t *x;
    unsigned first, step;
} teller_t;

static size_t total(const message_t *x)
{
    return x->partitions * x->bytes;
}

/* Opens it in one order on both members, which draw alike. */
static void open_message(member_t *m, message_t *x)
{
    static _Atomic uint64_t names = UINT64_C(1) << 32;
    uint64_t name = m->me == 0 ? atomic_fetch_add(&names, 1) + 1 : 0;
    expect_ok(m, sw_coll_bcast(m->seq, 0, PLAIN(&name), sizeof name));
    int size = below(&m->common, 4);
    x->partitions = 1 + (unsigned)below(&m->common, size == 3 ? 300 : 20);
    x->bytes = (size_t)(size == 0   ? below(&m->common, 40)
                        : size == 3 ? below(&m->common, 2000)
                        : size == 1 ? below(&m->common, 9000)
                                    : below(&m->common, 600000));
    bool eager = below(&m->common, 2) && total(x) < 65536;
    sw_parts_open(&x->parts, m->seq->team, name, m->me == 0 ? x->partitions : 0,
                  x->bytes, eager);
}

static void begin_message(member_t *m, message_t *x, uint64_t round)
{
    x->round = round;
    x->over = false;
    x->left = x->partitions;
    x->staged = NULL;
    x->more = m->me == 1 && !below(&m->own, 8) ? sw_min(total(x), 10) : 0;
    if (m->me == 0) {
        char *bytes = sw_temporary(total(x));
        fill(bytes, total(x), key_of(round, 0, 0));
        x->staged = bytes;
    } else {
        x->parts.room = total(x) - x->more;
        x->data = x->parts.to = take_data(m, x->parts.room);
    }
    sw_parts_begin(&x->parts);
    sw_schedule_set_out(&x->parts.schedule);
}

static void tell(message_t *x, unsigned i)
{
    char *from = x->staged + i * x->bytes;
    if (x->parts.eager)
        from = memcpy(sw_parts_copy(&x->parts, i), from, x->bytes);
    sw_parts_ready(&x->parts, i, sw_arena_offset(from, x->bytes));
}

static void *tell_some(void *at)
{
    const teller_t *t = at;
    for (unsigned i = t->first; i < t->x->partitions; i += t->step)
        tell(t->x, i);
    return NULL;
}

static void tell_all(member_t *m, message_t *x)
{
    pthread_t thread[TELLERS];
    teller_t share[TELLERS];
    unsigned count = (unsigned)below(&m->own, TELLERS + 1);
    if (!sw_schedules_shared || !count) {
        for (unsigned i = x->partitions; i--;)
            tell(x, i);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        share[i] = (teller_t){m, x, i, count};
        if (pthread_create(&thread[i], NULL, tell_some, &share[i]))
            fail(m, "no thread");
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
}

/* What the receiver finds in a partition that has arrived. */
static void look_at_one(member_t *m, message_t *x)
{
    unsigned i = (unsigned)below(&m->own, (int)x->partitions);
    uint64_t begin = i * x->bytes, end = begin + x->bytes;
    if (x->over || x->more || x->data.layout ||
        !sw_parts_arrived(&x->parts, begin, end))
        return;
    char *all = malloc(total(x) + 1);
    fill(all, total(x), key_of(x->round, 0, 0));
    if (x->parts.open)
        sw_show_fetch(x->data.at + begin, end - begin);
    if (memcmp(x->data.at + begin, all + begin, x->bytes))
        fail(m, "partition %u of %u has not arrived", i, x->partitions);
    free(all);
}

static void end_message(member_t *m, message_t *x)
{
    int rc = sw_schedule_end(&x->parts.schedule);
    if (rc != (x->more ? SW_TRUNCATED : SW_OK))
        fail(m, "a partitioned message says %d", rc);
    if (m->me == 0) {
        memset(x->staged, 0x3c, total(x));
        sw_temporary_free(x->staged);
    } else {
        if (sw_parts_received(&x->parts) != total(x))
            fail(m, "a message has another length");
        if (x->parts.open)
            sw_data_fetch(&x->data, 0, x->parts.room);
        if (!x->more)
            expect_there(m, &x->data, x->parts.room, key_of(x->round, 0, 0),
                         "a partitioned message");
    }
    x->over = true;
}

static void start_all(member_t *m, message_t *x, int count, uint64_t *round)
{
    for (int i = 0; i < count; i++) {
        begin_message(m, &x[i], ++*round);
        dawdle(m);
    }
    for (int i = 0; i < count && m->me == 0; i++)
        tell_all(m, &x[i]);
    unsigned turns = 0;
    for (int over = 0; over < count;) {
        message_t *one = &x[below(&m->own, count)];
        if (!one->over && m->me == 1)
            look_at_one(m, one);
        if (!one->over && sw_schedule_push(&one->parts.schedule, true)) {
            end_message(m, one);
            over++;
        }
        sw_wait_turn(&turns);
    }
    release_buffers(m);
}

/* The receiver goes away: the sender does not wait for it. */
static void deserted(member_t *m, message_t *x, uint64_t *round)
{
    unsigned turns = 0;
    open_message(m, x);
    begin_message(m, x, ++*round);
    if (m->me == 1) {
        while (!sw_schedule_push(&x->parts.schedule, true) && !x->parts.met)
            sw_wait_turn(&turns);
        sw_schedule_break(&x->parts.schedule);
    } else {
        for (unsigned i = 0; i + 1 < x->partitions; i++)
            tell(x, i);
    }
    expect_ok(m, sw_coll_barrier(m->seq));
    if (m->me == 0) {
        tell(x, x->partitions - 1);
        while (!sw_schedule_push(&x->parts.schedule, true))
            sw_wait_turn(&turns);
        sw_temporary_free(x->staged);
    }
    int rc = sw_schedule_end(&x->parts.schedule);
    if (rc != SW_BROKEN && rc != SW_OK)
        fail(m, "a deserted message says %d", rc);
    if (m->me == 1 && x->parts.open)
        sw_data_fetch(&x->data, 0, x->parts.room);
    sw_parts_close(&x->parts);
    expect_ok(m, sw_coll_barrier(m->seq));
    release_buffers(m);
}

static void body(member_t *m)
{
    static _Thread_local message_t x[AT_ONCE];
    uint64_t round = m->seed << 20;
    _Atomic bool quit = false;
    pthread_t helper;
    if (!m->seq->team->arena)
        return;
    bool helped = below(&m->own, 2);
    if (strcmp(m->way, "threads"))
        sw_schedules_shared = helped;
    if (helped && pthread_create(&helper, NULL, help_out, &quit))
        fail(m, "no second thread");
    for (int i = 0; i < rounds(20); i++) {
        int count = 1 + below(&m->common, AT_ONCE);
        for (int k = 0; k < count; k++)
            open_message(m, &x[k]);
        for (int starts = 1 + below(&m->common, 6); starts--;)
            start_all(m, x, count, &round);
        /* A sender may close before its receiver has read. */
        for (int k = 0; k < count; k++)
            sw_parts_close(&x[k].parts);
        deserted(m, x, &round);
    }
    atomic_store(&quit, true);
    if (helped)
        pthread_join(helper, NULL);
}

int main(void)
{
    sw_schedules_shared = true;
    for (int w = 0; w < WAYS && !THREAD_SANITIZED; w++)
        run_forked(2, &ways[w], (uint64_t)w + 1, body);
    run_threads(2, 1, body);
    return 0;
}
