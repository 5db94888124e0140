/*
 * reader.c - see reader.h.
 */
#include "reader.h"

#include "node/base/crc.h"
#include "node/base/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_HEADER 16
#define HEADER 24                /* of a block */
#define PAYLOAD_HEADER 24        /* of a trace block's payload */
#define WINDOW ((size_t)1 << 20) /* bytes searched at once */

typedef struct {
    unsigned char kind[4];
    uint32_t crc, rank;
    uint64_t length;
} header_t;

static uint32_t little4(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

static uint64_t little8(const unsigned char *at)
{
    return little4(at) | (uint64_t)little4(at + 4) << 32;
}

/* The file ---------------------------------------------------------------- */

/* Bytes read, fewer than `n` only at the end of the file or with r->error. */
static size_t read_at(sw_trace_reader_t *r, uint64_t at, void *to, size_t n)
{
    size_t done = 0;
    while (done < n && !r->error) {
        ssize_t some = pread(r->fd, (char *)to + done, n - done,
                             (off_t)(at + done));
        if (some == 0)
            break;
        if (some > 0)
            done += (size_t)some;
        else if (errno != EINTR)
            r->error = errno;
    }
    return done;
}

int sw_trace_open(sw_trace_reader_t *r, const char *path)
{
    unsigned char head[FILE_HEADER];
    struct stat st;
    *r = (sw_trace_reader_t){.at = FILE_HEADER};
    r->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0 || fstat(r->fd, &st))
        return r->error = errno;
    r->size = (uint64_t)st.st_size;
    r->budget = 4 * r->size;
    if (read_at(r, 0, head, sizeof head) < sizeof head ||
        memcmp(head, "\x89SWCAP\r\n", 8) || little4(head + 8) != 1)
        return r->error = r->error ? r->error : EINVAL;
    return 0;
}

void sw_trace_close(sw_trace_reader_t *r)
{
    if (r->fd >= 0)
        close(r->fd);
    free(r->payload);
    free(r->notes);
    free(r->amounts);
    *r = (sw_trace_reader_t){.fd = -1};
}

/* Whether a header that can be right lies at `at`. */
static bool header_at(sw_trace_reader_t *r, uint64_t at, header_t *h)
{
    unsigned char raw[HEADER];
    if (read_at(r, at, raw, sizeof raw) < sizeof raw)
        return false;
    memcpy(h->kind, raw, 4);
    h->crc = little4(raw + 4);
    h->length = little8(raw + 8);
    h->rank = little4(raw + 16);
    for (int i = 0; i < 4; i++)
        if (raw[i] < 'A' || raw[i] > 'Z')
            return false;
    return little4(raw + 20) == 0 && h->length <= r->size - at - HEADER;
}

static bool is_trace(const header_t *h)
{
    return !memcmp(h->kind, "TRAC", 4);
}

/* Read the payload behind the header at `at`: whether it is sound. */
static bool load(sw_trace_reader_t *r, uint64_t at, const header_t *h)
{
    if (h->length > SW_TRACE_BLOCK_MOST)
        return false;
    if (h->length > r->payload_room) {
        size_t room = sw_max(2 * r->payload_room, (size_t)h->length);
        unsigned char *to = realloc(r->payload, room);
        if (!to) {
            r->error = ENOMEM;
            return false;
        }
        r->payload = to;
        r->payload_room = room;
    }
    size_t n = (size_t)h->length;
    return read_at(r, at + HEADER, r->payload, n) == n &&
           sw_crc32(0, r->payload, n) == h->crc;
}

/* Where the next sound block lies behind `at`, else the end of the file. What
 * may be read for it is limited: a file of false headers is not worth more. */
static uint64_t next_sound(sw_trace_reader_t *r, uint64_t at)
{
    static const char kinds[3][5] = {"TRAC", "RANK", "SYMS"};
    unsigned char *window = malloc(WINDOW);
    if (!window)
        r->error = ENOMEM;
    while (!r->error && at + HEADER <= r->size && r->budget) {
        size_t n = read_at(r, at, window, WINDOW);
        r->budget -= sw_min(n, r->budget);
        for (size_t i = 0; i + 4 <= n; i++) {
            header_t h;
            if (memcmp(window + i, kinds[0], 4) &&
                memcmp(window + i, kinds[1], 4) &&
                memcmp(window + i, kinds[2], 4))
                continue;
            if (!header_at(r, at + i, &h) || h.length > r->budget)
                continue;
            r->budget -= h.length;
            if (load(r, at + i, &h)) {
                free(window);
                return at + i;
            }
        }
        at += n < WINDOW ? n : n - 3; /* a name may lie across the edge */
    }
    free(window);
    return r->size;
}

/* Whether what may be a header, or the end of the file, lies at `at`. */
static bool goes_on(sw_trace_reader_t *r, uint64_t at)
{
    unsigned char kind[4];
    if (read_at(r, at, kind, sizeof kind) < sizeof kind)
        return at == r->size;
    for (int i = 0; i < 4; i++)
        if (kind[i] < 'A' || kind[i] > 'Z')
            return false;
    return true;
}

/* The block's payload begins; false if it is none that this can read. */
static bool begin(sw_trace_reader_t *r, const header_t *h)
{
    if (h->length < PAYLOAD_HEADER || little4(r->payload) != 1)
        return false;
    r->rank = h->rank;
    r->thread = little4(r->payload + 4);
    r->ticks = little8(r->payload + 8);
    r->left = little4(r->payload + 16);
    r->cursor = (sw_cursor_t){.at = r->payload + PAYLOAD_HEADER,
                              .end = r->payload + h->length};
    /* An event has three bytes at least. */
    if (r->left > (h->length - PAYLOAD_HEADER) / 3)
        return false;
    r->blocks++;
    r->amounts_used = 0;
    return true;
}

bool sw_trace_block(sw_trace_reader_t *r)
{
    r->left = 0;
    while (!r->error && r->at < r->size) {
        header_t h;
        uint64_t at = r->at;
        bool can_be = header_at(r, at, &h);
        uint64_t next = can_be ? at + HEADER + h.length : 0;
        bool other = can_be &&
                     (!is_trace(&h) ||
                      (r->wanted && !r->wanted(r->wanted_of, h.rank)));
        if (other && goes_on(r, next)) {
            r->at = next;
            continue;
        }
        if (can_be && !other && load(r, at, &h)) {
            r->at = next;
            if (begin(r, &h))
                return true;
            r->damaged++;
            continue;
        }
        if (r->error)
            return false;
        r->damaged++;
        if (can_be && goes_on(r, next)) {
            r->at = next;
            continue;
        }
        r->at = next_sound(r, at + 1);
        r->cut |= r->at == r->size;
    }
    return false;
}

/* Amounts ----------------------------------------------------------------- */

/* By record, those of this block alone: others' places count as free. There
 * are never more of them than the block has events. */
static sw_amounts_t *place_of(sw_trace_reader_t *r, uint64_t record)
{
    size_t mask = r->amounts_room - 1;
    size_t i = (size_t)(record * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (r->amounts[i].block == r->blocks && r->amounts[i].record != record)
        i = (i + 1) & mask;
    return &r->amounts[i];
}

static bool grow_amounts(sw_trace_reader_t *r)
{
    sw_amounts_t *old = r->amounts;
    size_t room = r->amounts_room;
    size_t larger = sw_max(2 * room, (size_t)1024);
    sw_amounts_t *to = calloc(larger, sizeof *to);
    if (!to) {
        r->error = ENOMEM;
        return false;
    }
    r->amounts = to;
    r->amounts_room = larger;
    for (size_t i = 0; i < room; i++)
        if (old[i].block == r->blocks)
            *place_of(r, old[i].record) = old[i];
    free(old);
    return true;
}

static bool set_amounts(sw_trace_reader_t *r, const sw_trace_event_t *e)
{
    if (2 * r->amounts_used >= r->amounts_room && !grow_amounts(r))
        return false;
    sw_amounts_t *a = place_of(r, e->record);
    r->amounts_used += a->block != r->blocks;
    *a = (sw_amounts_t){.record = e->record,
                        .size = e->size,
                        .sent = e->sent,
                        .received = e->received,
                        .block = r->blocks};
    return true;
}

static void get_amounts(sw_trace_reader_t *r, sw_trace_event_t *e)
{
    if (!r->amounts_used)
        return;
    const sw_amounts_t *a = place_of(r, e->record);
    if (a->block != r->blocks)
        return;
    e->size = a->size;
    e->sent = a->sent;
    e->received = a->received;
}

/* Events ------------------------------------------------------------------ */

static sw_trace_note_t *new_note(sw_trace_reader_t *r, sw_note_kind_t kind)
{
    if (!sw_grow(&r->notes, r->event.note_count, &r->notes_room,
                 sizeof *r->notes)) {
        r->error = ENOMEM;
        return NULL;
    }
    sw_trace_note_t *note = &r->notes[r->event.note_count++];
    *note = (sw_trace_note_t){.kind = kind};
    return note;
}

/* One note; `fields` says how many numbers it has, and a reader passes over
 * those that it does not know. */
static bool take_note(sw_trace_reader_t *r, sw_cursor_t *c, uint64_t kind,
                      unsigned fields, bool *amount)
{
    sw_trace_event_t *e = &r->event;
    sw_trace_note_t *note = NULL;
    unsigned taken = 0;
#define FIELD() (taken < fields ? taken++, sw_varint(c) : 0)
#define SIGNED() (taken < fields ? taken++, sw_varint_signed(c) : 0)
    bool kept = kind >= SW_NOTE_SENDS && kind <= SW_NOTE_MEANS &&
                kind != SW_NOTE_WAITED;
    if (kept && !(note = new_note(r, (sw_note_kind_t)kind)))
        return false;
    switch (kind) {
    case SW_NOTE_AMOUNT:
        *amount = true;
        e->size = FIELD();
        e->sent = FIELD();
        e->received = FIELD();
        break;
    case SW_NOTE_SENDS:
    case SW_NOTE_RECEIVES:
    case SW_NOTE_POSTS:
        note->peer = SIGNED();
        note->tag = SIGNED();
        note->number = FIELD();
        note->communicator = FIELD();
        if (kind == SW_NOTE_SENDS && taken < fields)
            note->bytes = FIELD() + 1;
        break;
    case SW_NOTE_COLLECTIVE:
        note->number = FIELD();
        note->communicator = FIELD();
        break;
    case SW_NOTE_STARTS:
    case SW_NOTE_ENDS: note->request = FIELD(); break;
    case SW_NOTE_CAME:
        note->request = FIELD();
        note->peer = SIGNED();
        note->tag = SIGNED();
        note->number = FIELD();
        note->bytes = FIELD();
        note->communicator = FIELD();
        break;
    case SW_NOTE_TARGET:
        note->peer = SIGNED();
        note->number = FIELD();
        note->tag = (int64_t)FIELD();
        break;
    case SW_NOTE_MEANS:
        note->number = FIELD();
        note->peer = SIGNED();
        note->size = FIELD();
        note->sent = FIELD();
        note->received = FIELD();
        break;
    case SW_NOTE_WAITED: e->waited = FIELD(); break;
    default: break;
    }
#undef FIELD
#undef SIGNED
    for (; taken < fields; taken++)
        sw_varint(c);
    return true;
}

bool sw_trace_event(sw_trace_reader_t *r)
{
    sw_cursor_t c = r->cursor;
    sw_trace_event_t *e = &r->event;
    if (!r->left)
        return false;
    uint64_t head = sw_varint(&c), gap = sw_varint(&c), last = sw_varint(&c);
    uint64_t begin = r->ticks + gap, end = begin + last;
    bool amount = false;
    *e = (sw_trace_event_t){
        .record = head >> 2, .failed = head & 1, .begin = begin, .end = end};
    if (head & 2)
        for (;;) {
            uint64_t note = sw_varint(&c);
            if (!note)
                break;
            if (!take_note(r, &c, note >> 3, note & 7, &amount))
                return false;
        }
    if (amount && !c.bad) {
        if (!set_amounts(r, e))
            return false;
    } else {
        get_amounts(r, e);
    }
    if (sw_unlikely(c.bad || begin < r->ticks || end < begin)) {
        r->damaged++;
        r->left = 0;
        return false;
    }
    e->waited = e->waited < last ? e->waited : last;
    e->notes = r->notes;
    r->ticks = end;
    r->cursor = c;
    r->left--;
    r->damaged += !r->left && c.at < c.end;
    return true;
}
