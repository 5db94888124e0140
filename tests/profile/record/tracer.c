/*
 * The trace against what was put in: random events of several threads, read
 * back from the file by a decoder of its own; then with a limit, on a full
 * disk, and closed at any time.
 */
#include "must.h"

#include "profile/base/blob.h"
#include "profile/base/job.h"
#include "profile/record/tracer.h"
#include "node/base/crc.h"
#include "node/base/settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define THREADS 3
#define EVENTS 60000
#define RECORDS 40
#define NOTES 6

typedef struct {
    uint32_t record; /* place in the thread's records, or RECORDS */
    uint64_t began, ticks;
    sw_amount_t amount;
    unsigned notes;
    struct {
        unsigned kind, n;
        uint64_t field[5];
    } note[NOTES];
} event_t;

static struct thread {
    sw_tracer_t *trace;
    sw_record_t record[RECORDS];
    event_t *event;
    uint64_t state;
    uint32_t read; /* events that the reader has met */
} threads[THREADS];

static char trace_file[600];

static uint64_t below(struct thread *t, uint64_t n)
{
    return random_from(&t->state) % n;
}

/* Any number of digits. */
static uint64_t any(struct thread *t)
{
    uint64_t n = below(t, UINT64_MAX);
    return n >> below(t, 64);
}

static void make_events(struct thread *t)
{
    uint64_t now = any(t) >> 8;
    for (int i = 0; i < EVENTS; i++) {
        event_t *e = &t->event[i];
        now += any(t) >> 34;
        *e = (event_t){.record = (uint32_t)below(t, RECORDS + 1),
                       .began = now,
                       .ticks = any(t) >> 34};
        now += e->ticks;
        if (below(t, 2))
            e->amount = (sw_amount_t){.size = 8 * below(t, 3),
                                      .sent = 8 * below(t, 3),
                                      .received = any(t) >> 60};
        e->amount.failed = below(t, 50) == 0;
        e->notes = (unsigned)below(t, 3) ? 0 : (unsigned)below(t, NOTES);
        for (unsigned k = 0; k < e->notes; k++) {
            e->note[k].kind = 2 + (unsigned)below(t, 9);
            e->note[k].n = 1 + (unsigned)below(t, 5);
            for (unsigned f = 0; f < e->note[k].n; f++)
                e->note[k].field[f] = any(t);
        }
    }
}

static void *put_events(void *of)
{
    struct thread *t = of;
    for (int i = 0; i < EVENTS; i++) {
        event_t *e = &t->event[i];
        t->trace->notes_used = 0;
        for (unsigned k = 0; k < e->notes; k++)
            sw_tracer_note(t->trace, (sw_note_kind_t)e->note[k].kind,
                           e->note[k].field, e->note[k].n);
        sw_tracer_event(t->trace,
                        e->record < RECORDS ? &t->record[e->record] : NULL,
                        e->began, e->ticks, &e->amount);
    }
    sw_tracer_close(t->trace);
    return NULL;
}

/* Reading ----------------------------------------------------------------- */

typedef struct {
    const unsigned char *at, *end;
} reader_t;

static uint64_t little(const unsigned char *at, int bytes)
{
    uint64_t n = 0;
    while (bytes--)
        n = n << 8 | at[bytes];
    return n;
}

static uint64_t number(reader_t *r)
{
    uint64_t n = 0;
    for (unsigned shift = 0;; shift += 7) {
        MUST(r->at < r->end && shift < 70);
        n |= (uint64_t)(*r->at & 0x7f) << shift;
        if (!(*r->at++ & 0x80))
            return n;
    }
}

static void read_event(struct thread *t, reader_t *r, uint64_t *clock,
                       sw_amount_t *last)
{
    MUST(t->read < EVENTS);
    const event_t *e = &t->event[t->read++];
    uint64_t head = number(r);
    uint32_t place = RECORDS;
    if (head >> 2)
        for (place = 0; place < RECORDS; place++)
            if (t->record[place].number == head >> 2)
                break;
    MUST(place == e->record);
    MUST((head & 1) == e->amount.failed);
    *clock += number(r);
    MUST(*clock == e->began);
    uint64_t ticks = number(r);
    MUST(ticks == e->ticks);
    *clock += ticks;
    unsigned k = 0;
    while (head & 2) {
        uint64_t note = number(r);
        if (!note)
            break;
        if (note == (SW_NOTE_AMOUNT << 3 | 3)) {
            last[place].size = number(r);
            last[place].sent = number(r);
            last[place].received = number(r);
            continue;
        }
        MUST(k < e->notes);
        MUST(note == (e->note[k].kind << 3 | e->note[k].n));
        for (unsigned f = 0; f < e->note[k].n; f++)
            MUST(number(r) == e->note[k].field[f]);
        k++;
    }
    MUST(k == e->notes);
    MUST(last[place].size == e->amount.size);
    MUST(last[place].sent == e->amount.sent);
    MUST(last[place].received == e->amount.received);
}

/* Returns the events of the file. */
static uint64_t read_file(void)
{
    static unsigned char bytes[64 << 20];
    FILE *file = fopen(trace_file, "rb");
    MUST(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    MUST(size >= 16 && size < sizeof bytes);
    MUST(!memcmp(bytes, "\x89SWCAP\r\n\1\0\0\0\0\0\0\0", 16));
    uint64_t events = 0;
    for (size_t at = 16; at < size;) {
        const unsigned char *head = bytes + at, *payload = head + 24;
        MUST(size - at >= 48 && !memcmp(head, "TRAC", 4));
        uint64_t length = little(head + 8, 8);
        MUST(length <= size - at - 24);
        MUST(sw_crc32(0, payload, length) == little(head + 4, 4));
        MUST(little(head + 16, 4) == 5 && little(head + 20, 4) == 0);
        MUST(little(payload, 4) == 1 && little(payload + 4, 4) < THREADS);
        struct thread *t = &threads[little(payload + 4, 4)];
        uint64_t clock = little(payload + 8, 8), n = little(payload + 16, 4);
        sw_amount_t last[RECORDS + 1] = {{0}};
        reader_t r = {payload + 24, payload + length};
        for (uint64_t i = 0; i < n; i++)
            read_event(t, &r, &clock, last);
        MUST(r.at == r.end);
        events += n;
        at += 24 + length;
    }
    return events;
}

/* The parts --------------------------------------------------------------- */

static void open_trace(uint64_t limit)
{
    sw_tracer_sums.events = sw_tracer_sums.bytes = sw_tracer_sums.lost = 0;
    sw_tracer_sums.stopped = NULL;
    MUST(sw_tracer_open(limit) <= limit);
    for (uint32_t i = 0; i < THREADS; i++) {
        threads[i].trace = sw_tracer_make(i, false);
        threads[i].read = 0;
        memset(threads[i].record, 0, sizeof threads[i].record);
    }
}

static uint64_t run(void)
{
    pthread_t id[THREADS];
    for (int i = 0; i < THREADS; i++)
        MUST(!pthread_create(&id[i], NULL, put_events, &threads[i]));
    for (int i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
    uint64_t there = read_file();
    MUST(there == sw_tracer_sums.events);
    MUST(there + sw_tracer_sums.lost == (uint64_t)THREADS * EVENTS);
    return there;
}

static void whole(void)
{
    open_trace((uint64_t)1 << 40);
    MUST(run() == (uint64_t)THREADS * EVENTS);
    MUST(!sw_tracer_sums.stopped && sw_tracer_sums.lost == 0);
}

/* One job of four ranks: each may take a quarter. */
static void limited(void)
{
    open_trace(4 << 20);
    uint64_t there = run();
    MUST(there > 0 && there < (uint64_t)THREADS * EVENTS);
    MUST(!strcmp(sw_tracer_sums.stopped, "limit"));
    MUST(sw_tracer_sums.bytes <= 1 << 20);
}

/* The system takes no more than half a block of the third. */
static void full(void)
{
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 650000;
    open_trace((uint64_t)1 << 40);
    setrlimit(RLIMIT_FSIZE, &limit);
    uint64_t there = run();
    setrlimit(RLIMIT_FSIZE, &before);
    MUST(there > 0 && there < (uint64_t)THREADS * EVENTS);
    MUST(!strcmp(sw_tracer_sums.stopped, "disk"));
}

/* A process ends while its threads are at work: of each, the file has what
 * came before some moment. */
static void *close_all(void *unused)
{
    for (int i = 0; i < THREADS; i++) {
        usleep((useconds_t)below(&threads[i], 4000));
        sw_tracer_close(threads[i].trace);
    }
    return unused;
}

static void closed(void)
{
    uint64_t shortest = UINT64_MAX;
    for (int turn = 0; turn < 10; turn++) {
        pthread_t closer, id[THREADS];
        open_trace((uint64_t)1 << 40);
        for (int i = 0; i < THREADS; i++)
            MUST(!pthread_create(&id[i], NULL, put_events, &threads[i]));
        MUST(!pthread_create(&closer, NULL, close_all, NULL));
        for (int i = 0; i < THREADS; i++)
            pthread_join(id[i], NULL);
        pthread_join(closer, NULL);
        uint64_t there = read_file();
        MUST(there == sw_tracer_sums.events);
        shortest = sw_min(shortest, there);
    }
    MUST(shortest < (uint64_t)THREADS * EVENTS);
}

int main(void)
{
    char folder[] = "/tmp/straightway-trace-XXXXXX";
    MUST(mkdtemp(folder));
    sw_job.rank = 5;
    sw_job.ranks = 4;
    snprintf(sw_job.path, sizeof sw_job.path, "%s/app.4.1.swcap", folder);
    snprintf(trace_file, sizeof trace_file, "%s/app.4.1.rank5.swtrace", folder);
    for (int i = 0; i < THREADS; i++) {
        threads[i].state = 88172645463325252u + (uint64_t)i;
        threads[i].event = calloc(EVENTS, sizeof(event_t));
        MUST(threads[i].event);
        make_events(&threads[i]);
    }
    whole();
    limited();
    full();
    closed();
    unlink(trace_file);
    rmdir(folder);
    return 0;
}
