/*
 * opfile_read.c - reading files of operations; see opfile_format.h.
 *
 * The file is mapped, and each rank has a cursor of a few words into it. A
 * part's checksum is looked at when the cursor comes to it, each number when
 * it is read: ranks that are there, contexts that are known and have the rank
 * as a member, times whose sum fits. So an engine may believe what it is
 * given.
 */
#include "opfile_format.h"

#include "../node/crc.h"
#include "../node/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Members from, from + step, ... */
typedef struct {
    uint32_t from, n;
    int64_t step;
} run_t;

typedef struct {
    uint32_t number, n;
    uint32_t run, runs;
} context_t;

typedef struct {
    const unsigned char *part, *at, *end;
    uint64_t next;              /* part */
    sw_ps_t time;               /* computed so far, and the last thing known */
    uint32_t request, context;  /* to be right, besides the world            */
    uint32_t left;              /* operations of this part                   */
} cursor_t;

struct sw_op_file {
    const unsigned char *map;
    size_t size;
    uint32_t ranks;
    uint64_t operations, parts, data_end;
    const unsigned char *first, *entries;
    char *note;
    cursor_t *cursors;
    context_t *contexts;        /* by number */
    uint32_t context_count, context_room;
    run_t *runs;
    uint32_t run_count, run_room;
    uint64_t damaged;
};

static bool wrong(char *why, size_t size, const char *form, ...)
    __attribute__((format(printf, 3, 4)));
static bool wrong(char *why, size_t size, const char *form, ...)
{
    va_list values;
    va_start(values, form);
    vsnprintf(why, size, form, values);
    va_end(values);
    return false;
}

/* Opening ----------------------------------------------------------------- */

static const unsigned char *entry(const sw_op_file_t *f, uint64_t part)
{
    return f->entries + part * SW_OPFILE_ENTRY;
}

static uint64_t first_part(const sw_op_file_t *f, uint64_t rank)
{
    return sw_opfile_8(f->first + 8 * rank);
}

/* The operations of a part, or NULL: it is damaged. */
static const unsigned char *load(const sw_op_file_t *f, uint64_t part,
                                 uint32_t *length, uint32_t *operations)
{
    const unsigned char *e = entry(f, part);
    uint64_t offset = sw_opfile_8(e);
    *length = sw_opfile_4(e + 8);
    *operations = sw_opfile_4(e + 12);
    if (offset < SW_OPFILE_HEAD || offset > f->data_end ||
        *length > f->data_end - offset || *length > SW_OPFILE_PART_MOST ||
        *operations > *length ||
        sw_crc32(0, f->map + offset, *length) != sw_opfile_4(e + 16))
        return NULL;
    return f->map + offset;
}

static bool read_tail(sw_op_file_t *f, const char *path, char *why,
                      size_t why_size)
{
    if (f->size < SW_OPFILE_HEAD || memcmp(f->map, SW_OPFILE_MAGIC, 8))
        return wrong(why, why_size, "%s is no file of operations", path);
    uint32_t version = sw_opfile_4(f->map + 8);
    if (version != SW_OPFILE_VERSION)
        return wrong(why, why_size, "%s has version %u of the format; this "
                     "Straightway reads version %u", path, version,
                     SW_OPFILE_VERSION);
    const unsigned char *tail = f->map + f->size - SW_OPFILE_TAIL;
    if (f->size < SW_OPFILE_HEAD + SW_OPFILE_TAIL ||
        memcmp(tail + SW_OPFILE_TAIL - 8, SW_OPFILE_END, 8))
        return wrong(why, why_size, "%s is cut short: its end is not there; "
                     "make it again", path);
    uint64_t at = sw_opfile_8(tail), room = f->size - SW_OPFILE_TAIL;
    f->parts = sw_opfile_8(tail + 8);
    f->operations = sw_opfile_8(tail + 16);
    f->ranks = sw_opfile_4(tail + 24);
    uint32_t note = sw_opfile_4(tail + 28);
    uint64_t most = f->size / SW_OPFILE_ENTRY;
    bool good = sw_crc32(0, tail, SW_OPFILE_TAIL - 12) ==
                    sw_opfile_4(tail + SW_OPFILE_TAIL - 12) &&
                f->ranks && f->ranks <= INT32_MAX && f->parts <= most &&
                at >= SW_OPFILE_HEAD && at <= room &&
                room - at == ((uint64_t)f->ranks + 2) * 8 +
                    f->parts * SW_OPFILE_ENTRY + note &&
                sw_crc32(0, f->map + at, room - at) ==
                    sw_opfile_4(tail + 32);
    if (!good)
        return wrong(why, why_size, "%s is damaged: its index is not as it "
                     "was written; make it again", path);
    f->data_end = at;
    f->first = f->map + at;
    f->entries = f->first + ((uint64_t)f->ranks + 2) * 8;
    for (uint64_t i = 0; i <= (uint64_t)f->ranks; i++)
        good &= first_part(f, i) <= first_part(f, i + 1);
    good &= first_part(f, 0) == 0 &&
            first_part(f, (uint64_t)f->ranks + 1) == f->parts;
    if (!good)
        return wrong(why, why_size, "%s is damaged: its index contradicts "
                     "itself; make it again", path);
    f->note = malloc((size_t)note + 1);
    if (!f->note)
        return wrong(why, why_size, "no memory for %s", path);
    memcpy(f->note, f->map + room - note, note);
    f->note[note] = '\0';
    for (char *c = f->note; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' ';
    return true;
}

/* Contexts ---------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const context_t *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* One context; `seen` [ranks] has for each rank the last that it was in, from
 * 1. False: it is not right. */
static bool read_context(sw_op_file_t *f, sw_cursor_t *c, uint32_t *seen,
                         bool *memory)
{
    uint64_t number = sw_varint(c), n = sw_varint(c);
    if (c->bad || number > UINT32_MAX || !n || n > f->ranks)
        return false;
    *memory = sw_grow(&f->contexts, f->context_count, &f->context_room,
                      sizeof *f->contexts);
    if (!*memory)
        return false;
    context_t *context = &f->contexts[f->context_count++];
    *context = (context_t){.number = (uint32_t)number, .n = (uint32_t)n,
                           .run = f->run_count};
    while (n) {
        uint64_t from = sw_varint(c), count = sw_varint(c);
        int64_t step = count > 1 ? sw_varint_signed(c) : 1;
        if (c->bad || !count || count > n || from >= f->ranks ||
            step > INT32_MAX || step < -(int64_t)INT32_MAX)
            return false;
        for (uint64_t i = 0; i < count; i++) {
            int64_t rank = (int64_t)from + (int64_t)i * step;
            if (rank < 0 || rank >= f->ranks ||
                seen[rank] == f->context_count)
                return false;
            seen[rank] = f->context_count;
        }
        *memory = sw_grow(&f->runs, f->run_count, &f->run_room,
                          sizeof *f->runs);
        if (!*memory)
            return false;
        f->runs[f->run_count++] = (run_t){(uint32_t)from, (uint32_t)count,
                                          step};
        context->runs++;
        n -= count;
    }
    return true;
}

/* All but those of damaged parts; false: no memory. */
static bool read_contexts(sw_op_file_t *f)
{
    uint32_t *seen = calloc(f->ranks, sizeof *seen), length, n;
    bool memory = seen != NULL;
    for (uint64_t part = first_part(f, f->ranks); memory && part < f->parts;
         part++) {
        const unsigned char *at = load(f, part, &length, &n);
        sw_cursor_t c = {.at = at, .end = at ? at + length : NULL};
        bool good = at != NULL;
        while (good && memory && n--) {
            uint32_t before = f->context_count;
            good = read_context(f, &c, seen, &memory);
            if (!good)
                f->context_count = before;
        }
        if (memory && (!good || c.at < c.end))
            f->damaged++;
    }
    free(seen);
    /* The same number again is the same context. */
    if (f->context_count)
        qsort(f->contexts, f->context_count, sizeof *f->contexts, by_number);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->context_count; i++)
        if (!kept || f->contexts[kept - 1].number != f->contexts[i].number)
            f->contexts[kept++] = f->contexts[i];
    f->context_count = kept;
    return memory;
}

static const context_t *context_of(const sw_op_file_t *f, uint32_t number)
{
    context_t key = {.number = number};
    return f->context_count
         ? bsearch(&key, f->contexts, f->context_count, sizeof key, by_number)
         : NULL;
}

static bool is_member(const sw_op_file_t *f, uint32_t number, uint32_t rank)
{
    const context_t *context = context_of(f, number);
    for (uint32_t i = 0; context && i < context->runs; i++) {
        const run_t *r = &f->runs[context->run + i];
        int64_t off = (int64_t)rank - r->from;
        if (r->step ? off % r->step == 0 && off / r->step >= 0 &&
                          off / r->step < r->n
                    : !off)
            return true;
    }
    return false;
}

uint32_t sw_op_context_count(const sw_op_file_t *f)
{
    return f->context_count;
}

uint32_t *sw_op_context(const sw_op_file_t *f, uint32_t i, uint32_t *number,
                        uint32_t *n)
{
    const context_t *context = &f->contexts[i];
    uint32_t *members = malloc(context->n * sizeof *members), k = 0;
    *number = context->number;
    *n = context->n;
    for (uint32_t r = 0; members && r < context->runs; r++) {
        const run_t *run = &f->runs[context->run + r];
        for (uint32_t j = 0; j < run->n; j++)
            members[k++] = (uint32_t)((int64_t)run->from + j * run->step);
    }
    return members;
}

bool sw_op_contexts(sw_op_file_t *f, sw_engine_t *engine)
{
    for (uint32_t i = 0; i < f->context_count; i++) {
        uint32_t number, n, *members = sw_op_context(f, i, &number, &n);
        bool good = members && (number == 0 ||
                                sw_engine_context(engine, number, n,
                                                  members));
        free(members);
        if (!good)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------- */

sw_op_file_t *sw_op_open(const char *path, char *why, size_t why_size)
{
    sw_op_file_t *f = calloc(1, sizeof *f);
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (!f || fd < 0 || fstat(fd, &st)) {
        wrong(why, why_size, "%s: %s", path, strerror(errno));
        goto bad;
    }
    if (!S_ISREG(st.st_mode)) {
        wrong(why, why_size, "%s is no file of operations", path);
        goto bad;
    }
    f->size = (size_t)st.st_size;
    if (f->size) {
        void *map = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED) {
            wrong(why, why_size, "%s: %s", path, strerror(errno));
            goto bad;
        }
        f->map = map;
    }
    if (!read_tail(f, path, why, why_size))
        goto bad;
    f->cursors = calloc(f->ranks, sizeof *f->cursors);
    if (!f->cursors || !read_contexts(f)) {
        wrong(why, why_size, "no memory for %s", path);
        goto bad;
    }
    close(fd);
    sw_op_rewind(f);
    return f;
bad:
    if (fd >= 0)
        close(fd);
    if (f)
        sw_op_close(f);
    return NULL;
}

void sw_op_close(sw_op_file_t *f)
{
    if (f->map)
        munmap((void *)(uintptr_t)f->map, f->size);
    free(f->note);
    free(f->cursors);
    free(f->contexts);
    free(f->runs);
    free(f);
}

void sw_op_rewind(sw_op_file_t *f)
{
    for (uint32_t i = 0; i < f->ranks; i++)
        f->cursors[i] = (cursor_t){.next = first_part(f, i)};
}

uint32_t sw_op_ranks(const sw_op_file_t *f)
{
    return f->ranks;
}

uint64_t sw_op_count(const sw_op_file_t *f)
{
    return f->operations;
}

const char *sw_op_note(const sw_op_file_t *f)
{
    return f->note;
}

uint64_t sw_op_damaged(const sw_op_file_t *f)
{
    return f->damaged;
}

/* Operations -------------------------------------------------------------- */

static bool peer_of(const sw_op_file_t *f, uint64_t code, uint32_t rank,
                    int32_t *peer)
{
    if (!code) {
        *peer = SW_OP_ANY;
        return true;
    }
    code--;
    int64_t to = (int64_t)rank + (int64_t)(code >> 1 ^ (0 - (code & 1)));
    *peer = (int32_t)to;
    return to >= 0 && to < f->ranks;
}

static bool known(sw_op_file_t *f, cursor_t *at, uint32_t rank,
                  uint64_t context)
{
    if (!context || context == at->context)
        return true;
    if (context > UINT32_MAX || !is_member(f, (uint32_t)context, rank))
        return false;
    at->context = (uint32_t)context;
    return true;
}

static bool read_message(sw_op_file_t *f, cursor_t *at, sw_cursor_t *c,
                         uint32_t rank, sw_op_t *op)
{
    bool good = peer_of(f, sw_varint(c), rank, &op->peer);
    int64_t tag = sw_varint_signed(c);
    uint64_t context = sw_varint(c), bytes = sw_varint(c);
    uint64_t flags = sw_varint(c);
    op->tag = (int32_t)tag;
    op->context = (uint32_t)context;
    op->bytes = bytes;
    op->flags = (uint16_t)flags;
    if (op->kind == SW_OP_SEND || op->kind == SW_OP_MATCHED)
        good &= op->peer >= 0 && tag >= 0;
    return good && tag >= -1 && tag <= INT32_MAX &&
           bytes <= SW_OPFILE_BYTES_MOST &&
           flags <= (SW_SEND_SYNCHRONOUS | SW_SEND_BUFFERED) &&
           known(f, at, rank, context);
}

static bool read_collective(sw_op_file_t *f, cursor_t *at, sw_cursor_t *c,
                            uint32_t rank, sw_op_t *op)
{
    uint64_t what = sw_varint(c), context = sw_varint(c);
    uint64_t root = sw_varint(c);
    op->bytes = sw_varint(c);
    op->sent = sw_varint(c);
    op->received = sw_varint(c);
    op->what = (uint8_t)what;
    op->context = (uint32_t)context;
    op->peer = (int32_t)((int64_t)root - 1);
    if (what >= SW_COLLECTIVE_COUNT || !known(f, at, rank, context))
        return false;
    uint32_t n = context ? context_of(f, (uint32_t)context)->n : f->ranks;
    sw_waits_t waits = sw_collective_waits[what];
    if ((waits == SW_WAITS_ROOT || waits == SW_WAITS_AT_ROOT) && !root)
        return false;
    return root <= n && op->bytes <= SW_OPFILE_BYTES_MOST &&
           op->sent <= SW_OPFILE_BYTES_MOST &&
           op->received <= SW_OPFILE_BYTES_MOST;
}

static bool read_shape(sw_op_file_t *f, cursor_t *at, sw_cursor_t *c,
                       uint32_t rank, sw_op_t *op)
{
    switch (op->kind) {
    case SW_OP_SEND:
    case SW_OP_RECV:
    case SW_OP_PROBE:
    case SW_OP_IPROBE:
    case SW_OP_CHOOSE:
    case SW_OP_MATCHED:
        return read_message(f, at, c, rank, op);
    case SW_OP_COLLECTIVE:
        return read_collective(f, at, c, rank, op);
    case SW_OP_SELECT: {
        uint64_t what = sw_varint(c);
        op->what = (uint8_t)what;
        return what <= SW_TEST_SOME;
    }
    case SW_OP_THREAD: {
        uint64_t what = sw_varint(c), before = sw_varint(c);
        op->what = (uint8_t)what;
        op->tag = (int32_t)before;
        return what <= SW_THREAD_ENDS && before <= INT32_MAX;
    }
    default:
        op->bytes = sw_varint(c);
        return op->bytes <= SW_OPFILE_BYTES_MOST;
    }
}

static bool read_time(cursor_t *at, sw_cursor_t *c, sw_op_t *op)
{
    uint64_t n = sw_varint(c), unit = n & 1 ? 1 : (uint64_t)SW_PS_PER_NS;
    n >>= 1;
    if (n > (uint64_t)(SW_OPFILE_TIME_MOST - at->time) / unit)
        return false;
    op->time = (sw_ps_t)(n * unit);
    at->time += op->time;
    return true;
}

/* The operation at hand; false: it is none. */
static bool read_op(sw_op_file_t *f, cursor_t *at, uint32_t rank, sw_op_t *op)
{
    sw_cursor_t c = {.at = at->at, .end = at->end};
    unsigned head = *c.at++, request = head & SW_OPFILE_REQUEST;
    *op = (sw_op_t){.kind = head & SW_OPFILE_KIND};
    bool good = op->kind >= SW_OP_COMPUTE && op->kind <= SW_OP_THREAD &&
                head < 0x80;
    if (op->kind == SW_OP_COMPUTE) {
        good = good && read_time(at, &c, op);
    } else if (good && sw_opfile_shaped(op->kind)) {
        if (head & SW_OPFILE_AGAIN) {
            const unsigned char *here = c.at;
            uint64_t back = sw_varint(&c);
            if (!back || back > (uint64_t)(here - at->part))
                return false;
            sw_cursor_t there = {.at = here - back, .end = here};
            good = read_shape(f, at, &there, rank, op) && !there.bad;
        } else {
            good = read_shape(f, at, &c, rank, op);
        }
    }
    if (request != SW_OPFILE_NONE) {
        int64_t by = request == SW_OPFILE_NEXT ? 1
                   : request == SW_OPFILE_SAME ? 0 : sw_varint_signed(&c);
        int64_t n = (int64_t)at->request + by;
        if (by > UINT32_MAX || by < -(int64_t)UINT32_MAX || n <= 0 ||
            n > UINT32_MAX)
            return false;
        op->request = at->request = (uint32_t)n;
    }
    at->at = c.at;
    return good && !c.bad;
}

static sw_source_state_t damage(sw_op_file_t *f, cursor_t *at, uint32_t rank)
{
    f->damaged++;
    at->left = 0;
    at->next = first_part(f, (uint64_t)rank + 1);
    return SW_SOURCE_END;
}

static sw_source_state_t next(void *of, uint32_t rank, sw_op_t *op)
{
    sw_op_file_t *f = of;
    cursor_t *at = &f->cursors[rank];
    while (sw_unlikely(!at->left)) {
        if (at->next >= first_part(f, (uint64_t)rank + 1))
            return SW_SOURCE_END;
        uint32_t length, n;
        const unsigned char *part = load(f, at->next++, &length, &n);
        if (!part || !n)
            return damage(f, at, rank);
        at->part = at->at = part;
        at->end = part + length;
        at->left = n;
        at->request = 0;
    }
    if (sw_unlikely(at->at >= at->end || !read_op(f, at, rank, op)))
        return damage(f, at, rank);
    if (!--at->left && at->at < at->end)
        f->damaged++;
    return SW_SOURCE_OP;
}

void sw_op_source(sw_op_file_t *f, sw_source_t *source)
{
    *source = (sw_source_t){.of = f, .next = next};
}
