/*
 * The reader of traces gives what was written, whatever else is in the file;
 * damage costs the block that it hits, and no bytes at all make it fail.
 */
#include "made.h"
#include "rounds.h"

#include "profile/base/blob.h"

#include <errno.h>

enum { NOTES = 6, EVENTS = 40, BLOCKS = 30 };

typedef struct {
    sw_trace_event_t event;
    sw_trace_note_t notes[NOTES];
} model_t;

static const unsigned fields_of[] = {0, 3, 3, 3, 3, 1, 1, 1, 5, 1};

/* The fields of one note, and `more` that the reader does not know. */
static void put_head(made_t *m, unsigned kind, unsigned more)
{
    put_varint(m, kind << 3 | (fields_of[kind] + more));
}

static sw_trace_note_t make_note(made_t *m)
{
    sw_trace_note_t n = {.kind = (sw_note_kind_t)(2 + random_below(7))};
    unsigned more = (unsigned)random_below(3);
    put_head(m, n.kind, more);
    bool came = n.kind == SW_NOTE_CAME;
    if (came || n.kind == SW_NOTE_STARTS || n.kind == SW_NOTE_ENDS)
        put_varint(m, n.request = random_number());
    if (came || n.kind <= SW_NOTE_POSTS) {
        put_signed(m, n.peer = (int64_t)random_number());
        put_signed(m, n.tag = -(int64_t)(random_number() >> 1));
    }
    if (came || n.kind <= SW_NOTE_COLLECTIVE)
        put_varint(m, n.number = random_number());
    if (came)
        put_varint(m, n.bytes = random_number());
    /* Of a send: its communicator, and its bytes if they are told. */
    for (unsigned i = 1; i <= more; i++) {
        uint64_t field = random_number();
        put_varint(m, field);
        if (n.kind == SW_NOTE_SENDS && i == 2)
            n.bytes = field + 1;
    }
    return n;
}

/* The last amounts of records in this block. */
static struct {
    uint64_t size, sent, received;
} last[EVENTS * 4];

static void make_event(made_t *m, uint64_t *ticks, model_t *to)
{
    sw_trace_event_t *e = &to->event;
    uint64_t record = random_below(EVENTS * 4);
    uint64_t gap = random_number() >> 24, took = random_number() >> 24;
    bool amount = random_below(2), waits = random_below(2);
    bool unknown = random_below(4) == 0;
    *e = (sw_trace_event_t){.record = record,
                            .begin = *ticks + gap,
                            .end = *ticks + gap + took,
                            .failed = random_below(2),
                            .note_count = (uint32_t)random_below(NOTES)};
    *ticks = e->end;
    bool notes = amount || waits || unknown || e->note_count;
    put_varint(m, record << 2 | (uint64_t)notes << 1 | e->failed);
    put_varint(m, gap);
    put_varint(m, took);
    for (uint32_t i = 0; i < e->note_count; i++)
        to->notes[i] = make_note(m);
    if (amount) {
        put_head(m, SW_NOTE_AMOUNT, 0);
        put_varint(m, last[record].size = random_number());
        put_varint(m, last[record].sent = random_number());
        put_varint(m, last[record].received = random_number());
    }
    if (waits) {
        uint64_t n = random_number() >> 24;
        put_head(m, SW_NOTE_WAITED, 0);
        put_varint(m, n);
        e->waited = n < took ? n : took;
    }
    if (unknown) {
        put_varint(m, 77 << 3 | 2);
        put_varint(m, random_number());
        put_varint(m, random_number());
    }
    if (notes)
        put_varint(m, 0);
    e->size = last[record].size;
    e->sent = last[record].sent;
    e->received = last[record].received;
}

static model_t model[BLOCKS][EVENTS];
static size_t block_at[BLOCKS + 1];

static void other_block(made_t *m)
{
    unsigned char rubbish[300];
    for (size_t i = 0; i < sizeof rubbish; i++)
        rubbish[i] = (unsigned char)random_below(256);
    memcpy(rubbish + 100, "TRACRANKTRAC", 12);
    put_block(m, random_below(2) ? "RANK" : "NEWS", 5, rubbish, sizeof rubbish);
}

/* A file of BLOCKS trace blocks: block b is rank b's. */
static made_t make_file(bool others)
{
    made_t file = {0};
    put_file(&file);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        made_t events = {0};
        uint64_t base = random_number() >> 8, ticks = base;
        memset(last, 0, sizeof last);
        for (int e = 0; e < EVENTS; e++)
            make_event(&events, &ticks, &model[b][e]);
        if (others && random_below(2))
            other_block(&file);
        block_at[b] = file.size;
        put_trace(&file, b, b + 7, base, EVENTS, &events);
        free(events.at);
    }
    block_at[BLOCKS] = file.size;
    return file;
}

static void same_event(const sw_trace_event_t *e, const model_t *m)
{
    const sw_trace_event_t *f = &m->event;
    MUST(e->record == f->record && e->failed == f->failed);
    MUST(e->begin == f->begin && e->end == f->end);
    MUST(e->size == f->size && e->sent == f->sent);
    MUST(e->received == f->received && e->waited == f->waited);
    MUST(e->note_count == f->note_count);
    for (uint32_t i = 0; i < e->note_count; i++) {
        const sw_trace_note_t *a = &e->notes[i], *b = &m->notes[i];
        MUST(a->kind == b->kind && a->peer == b->peer && a->tag == b->tag);
        MUST(a->number == b->number && a->request == b->request);
        MUST(a->bytes == b->bytes);
    }
}

static void what_was_written(void)
{
    made_t file = make_file(true);
    sw_trace_reader_t r;
    MUST(!made_open(&r, &file));
    for (uint32_t b = 0; b < BLOCKS; b++) {
        MUST(sw_trace_block(&r) && r.rank == b && r.thread == b + 7);
        for (int e = 0; e < EVENTS; e++) {
            MUST(sw_trace_event(&r));
            same_event(&r.event, &model[b][e]);
        }
        MUST(!sw_trace_event(&r));
    }
    MUST(!sw_trace_block(&r) && !r.damaged && !r.cut && !r.error);
    MUST(r.blocks == BLOCKS);
    sw_trace_close(&r);
    free(file.at);
}

static bool is_odd(void *of, uint32_t rank)
{
    (void)of;
    return rank % 2;
}

static void only_what_is_wanted(void)
{
    made_t file = make_file(true);
    sw_trace_reader_t r;
    MUST(!made_open(&r, &file));
    r.wanted = is_odd;
    for (uint32_t b = 1; b < BLOCKS; b += 2)
        MUST(sw_trace_block(&r) && r.rank == b);
    MUST(!sw_trace_block(&r) && !r.damaged);
    sw_trace_close(&r);
    free(file.at);
}

/* Which blocks are read in full. */
static void read_whole(sw_trace_reader_t *r, bool *whole)
{
    memset(whole, 0, BLOCKS * sizeof *whole);
    while (sw_trace_block(r)) {
        uint32_t b = r->rank, n = 0;
        while (sw_trace_event(r)) {
            if (b < BLOCKS && n < EVENTS &&
                r->event.record == model[b][n].event.record)
                n++;
        }
        if (b < BLOCKS)
            whole[b] = n == EVENTS;
    }
    MUST(!r->error);
}

static void damage_costs_its_block(void)
{
    made_t file = make_file(false);
    for (int round = 0; round < rounds(1500); round++) {
        size_t at = 16 + random_below(file.size - 16);
        unsigned char before = file.at[at];
        bool whole[BLOCKS];
        sw_trace_reader_t r;
        file.at[at] ^= (unsigned char)(1 + random_below(255));
        MUST(!made_open(&r, &file));
        read_whole(&r, whole);
        for (int b = 0; b < BLOCKS; b++) {
            bool hit = at >= block_at[b] && at < block_at[b + 1];
            MUST(whole[b] || hit);
        }
        sw_trace_close(&r);
        file.at[at] = before;
    }
    free(file.at);
}

static void a_cut_file_gives_what_it_has(void)
{
    made_t file = make_file(false);
    size_t size = file.size;
    for (int round = 0; round < rounds(200); round++) {
        bool whole[BLOCKS];
        sw_trace_reader_t r;
        file.size = 16 + random_below(size - 16);
        MUST(!made_open(&r, &file));
        read_whole(&r, whole);
        bool edge = file.size == 16;
        for (int b = 0; b < BLOCKS; b++) {
            MUST(whole[b] == (block_at[b + 1] <= file.size));
            edge |= block_at[b + 1] == file.size;
        }
        MUST(r.cut == !edge);
        sw_trace_close(&r);
    }
    free(file.at);
}

/* Bytes of many kinds at once, with all that follows from them. */
static void no_bytes_make_it_fail(void)
{
    for (int round = 0; round < rounds(1000); round++) {
        made_t file = make_file(true);
        sw_trace_reader_t r;
        bool whole[BLOCKS];
        for (uint64_t n = random_below(200); n; n--) {
            size_t at = 16 + random_below(file.size - 16);
            size_t run = sw_min(1 + random_below(20), file.size - at);
            memset(file.at + at, random_below(2) ? 0xff : 0, run);
        }
        MUST(!made_open(&r, &file));
        read_whole(&r, whole);
        sw_trace_close(&r);
        free(file.at);
    }
}

/* A sound checksum over events that are none. */
static void no_events_make_it_fail(void)
{
    for (int round = 0; round < rounds(8000); round++) {
        made_t file = {0}, events = {0};
        sw_trace_reader_t r;
        size_t n = random_below(200);
        for (size_t i = 0; i < n; i++) {
            unsigned char byte = (unsigned char)random_below(256);
            if (random_below(2))
                byte &= 0x1f;
            put(&events, &byte, 1);
        }
        uint32_t count = (uint32_t)random_below(2 + n);
        put_file(&file);
        put_trace(&file, 1, 0, random_number(), count, &events);
        MUST(!made_open(&r, &file));
        uint64_t found = 0, before = 0;
        while (sw_trace_block(&r)) {
            before = r.ticks;
            while (sw_trace_event(&r)) {
                MUST(r.event.begin >= before && r.event.end >= r.event.begin);
                MUST(r.event.waited <= r.event.end - r.event.begin);
                before = r.event.end;
                found++;
            }
        }
        MUST(found <= count && found <= n / 3);
        MUST(found == count || r.damaged == 1);
        sw_trace_close(&r);
        free(file.at);
        free(events.at);
    }
}

/* Lengths and counts are never room that is taken. */
static void nothing_is_believed(void)
{
    static const uint64_t lengths[] = {
        1, 23, 1 << 20, UINT32_MAX, (uint64_t)1 << 62, UINT64_MAX};
    made_t events = {0};
    put(&events, "\4\1\1", 3);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        made_t file = {0};
        sw_trace_reader_t r;
        put_file(&file);
        put_trace(&file, 1, 0, 0, 1, &events);
        put_trace(&file, 2, 0, 0, 1, &events);
        for (int k = 0; k < 8; k++)
            file.at[16 + 8 + k] = (unsigned char)(lengths[i] >> 8 * k);
        MUST(!made_open(&r, &file));
        MUST(sw_trace_block(&r) && r.rank == 2 && sw_trace_event(&r));
        MUST(r.event.record == 1 && r.event.begin == 1 && r.event.end == 2);
        MUST(!sw_trace_block(&r) && r.damaged == 1);
        sw_trace_close(&r);
        free(file.at);
    }
    made_t file = {0};
    sw_trace_reader_t r;
    put_file(&file);
    put_trace(&file, 1, 0, 0, UINT32_MAX, &events);
    MUST(!made_open(&r, &file));
    MUST(!sw_trace_block(&r) && r.damaged == 1);
    sw_trace_close(&r);
    free(file.at);
    free(events.at);
}

static void other_files_are_told(void)
{
    sw_trace_reader_t r;
    made_t file = {0};
    MUST(made_open(&r, &file) == EINVAL);
    sw_trace_close(&r);
    put(&file, "\x89SWCAP\r\n\2\0\0\0\0\0\0\0", 16);
    MUST(made_open(&r, &file) == EINVAL);
    sw_trace_close(&r);
    MUST(sw_trace_open(&r, "/not there") == ENOENT && !sw_trace_block(&r));
    sw_trace_close(&r);
    free(file.at);
}

int main(void)
{
    what_was_written();
    only_what_is_wanted();
    damage_costs_its_block();
    a_cut_file_gives_what_it_has();
    no_bytes_make_it_fail();
    no_events_make_it_fail();
    nothing_is_believed();
    other_files_are_told();
    return 0;
}
