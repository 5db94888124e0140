/*
 * opfile_write.c - writing files of operations; see opfile_format.h.
 *
 * Each rank has a buffer, which grows with use; when it is full it becomes a
 * part. How large it may become depends on how many ranks there are, so that
 * the buffers of 100,000 ranks together take no more than those of 1000.
 * Contexts are told on the buffer behind that of the last rank. The file gets
 * its name when it is whole.
 */
#include "opfile_format.h"

#include "../node/crc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFERS ((uint64_t)128 << 20)   /* bytes, of all ranks together */
#define FEW 2048u
#define MANY (64u << 10)
#define SHAPES 64u              /* remembered by a rank */
#define OUT ((size_t)1 << 20)

typedef struct {
    unsigned char *at;
    uint32_t used, room, operations, request;
    uint16_t shapes[SHAPES];    /* where one begins in the buffer, and 1 */
} buffer_t;

typedef struct {
    uint64_t offset;
    uint32_t rank, length, operations, crc;
} entry_t;

struct sw_op_writer {
    char *path, *draft, *note;
    int fd, error;
    uint32_t ranks, most;       /* bytes of a part, at most */
    buffer_t *buffers;          /* the last is the contexts' */
    entry_t *entries;
    uint64_t entry_count, entry_room;
    uint64_t operations, written;
    unsigned char *out;
    size_t out_used;
};

static void fail(sw_op_writer_t *w, int error)
{
    if (!w->error)
        w->error = error;
}

/* The file ---------------------------------------------------------------- */

static bool flush(sw_op_writer_t *w)
{
    for (size_t done = 0; done < w->out_used && !w->error;) {
        ssize_t n = write(w->fd, w->out + done, w->out_used - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            fail(w, n == 0 ? ENOSPC : errno);
    }
    w->out_used = 0;
    return !w->error;
}

static bool put(sw_op_writer_t *w, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    w->written += n;
    while (n && !w->error) {
        size_t some = sw_min(n, OUT - w->out_used);
        memcpy(w->out + w->out_used, from, some);
        w->out_used += some;
        from += some;
        n -= some;
        if (w->out_used == OUT)
            flush(w);
    }
    return !w->error;
}

static bool new_entry(sw_op_writer_t *w, const entry_t *entry)
{
    if (w->entry_count == w->entry_room) {
        uint64_t room = w->entry_room ? 2 * w->entry_room : 64;
        entry_t *to = realloc(w->entries, room * sizeof *to);
        if (!to) {
            fail(w, ENOMEM);
            return false;
        }
        w->entries = to;
        w->entry_room = room;
    }
    w->entries[w->entry_count++] = *entry;
    return true;
}

/* What is in a rank's buffer becomes a part. */
static bool part(sw_op_writer_t *w, uint32_t rank)
{
    buffer_t *b = &w->buffers[rank];
    if (!b->used)
        return !w->error;
    entry_t entry = {.offset = w->written, .rank = rank, .length = b->used,
                     .operations = b->operations,
                     .crc = sw_crc32(0, b->at, b->used)};
    if (!new_entry(w, &entry) || !put(w, b->at, b->used))
        return false;
    b->used = b->operations = b->request = 0;
    memset(b->shapes, 0, sizeof b->shapes);
    return true;
}

/* Room for n bytes more in a rank's buffer. */
static bool room(sw_op_writer_t *w, uint32_t rank, size_t n)
{
    buffer_t *b = &w->buffers[rank];
    if (sw_likely(n <= b->room - b->used))
        return true;
    if (b->used && b->used + n > w->most && !part(w, rank))
        return false;
    if (n <= b->room - b->used)
        return true;
    size_t more = sw_max(sw_min(2 * (size_t)b->room, w->most), b->used + n);
    more = sw_max(more, (size_t)128);
    unsigned char *to = realloc(b->at, more);
    if (!to) {
        fail(w, ENOMEM);
        return false;
    }
    b->at = to;
    b->room = (uint32_t)more;
    return true;
}

/* Beginning and end ------------------------------------------------------- */

static void release(sw_op_writer_t *w)
{
    for (uint64_t i = 0; w->buffers && i <= w->ranks; i++)
        free(w->buffers[i].at);
    if (w->fd >= 0)
        close(w->fd);
    free(w->buffers);
    free(w->entries);
    free(w->out);
    free(w->path);
    free(w->draft);
    free(w->note);
    free(w);
}

/* A note is one line. */
static char *line_of(const char *note)
{
    char *line = strdup(note ? note : "");
    for (char *c = line; c && *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return line;
}

sw_op_writer_t *sw_op_writer_new(const char *path, uint32_t ranks,
                                 const char *note)
{
    if (!ranks || ranks > INT32_MAX) {
        errno = EINVAL;
        return NULL;
    }
    sw_op_writer_t *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    size_t length = strlen(path) + 32;
    w->fd = -1;
    w->ranks = ranks;
    w->most = (uint32_t)sw_min(sw_max((size_t)(BUFFERS / ranks), FEW), MANY);
    w->path = strdup(path);
    w->draft = malloc(length);
    w->note = line_of(note);
    w->out = malloc(OUT);
    w->buffers = calloc((size_t)ranks + 1, sizeof *w->buffers);
    int error = ENOMEM;
    if (w->path && w->draft && w->note && w->out && w->buffers) {
        snprintf(w->draft, length, "%s.%ld.part", path, (long)getpid());
        w->fd = open(w->draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                     0666);
        error = errno;
    }
    if (w->fd < 0) {
        release(w);
        errno = error;
        return NULL;
    }
    unsigned char head[SW_OPFILE_HEAD] = {0};
    memcpy(head, SW_OPFILE_MAGIC, 8);
    sw_opfile_put4(head + 8, SW_OPFILE_VERSION);
    put(w, head, sizeof head);
    return w;
}

void sw_op_writer_drop(sw_op_writer_t *w)
{
    unlink(w->draft);
    release(w);
}

/* Entries by rank, in the order of each: where each rank's begin. */
static uint64_t *sort_entries(sw_op_writer_t *w)
{
    uint64_t *first = calloc((size_t)w->ranks + 2, sizeof *first);
    entry_t *sorted = malloc(sw_max(w->entry_count, 1) * sizeof *sorted);
    if (!first || !sorted) {
        free(first);
        free(sorted);
        fail(w, ENOMEM);
        return NULL;
    }
    for (uint64_t i = 0; i < w->entry_count; i++)
        first[w->entries[i].rank + 1]++;
    for (uint64_t i = 1; i <= (uint64_t)w->ranks + 1; i++)
        first[i] += first[i - 1];
    for (uint64_t i = 0; i < w->entry_count; i++)
        sorted[first[w->entries[i].rank]++] = w->entries[i];
    /* Each has moved on to where the next begins. */
    memmove(first + 1, first, ((size_t)w->ranks + 1) * sizeof *first);
    first[0] = 0;
    free(w->entries);
    w->entries = sorted;
    return first;
}

static uint32_t put_summed(sw_op_writer_t *w, uint32_t crc, const void *bytes,
                           size_t n)
{
    put(w, bytes, n);
    return sw_crc32(crc, bytes, n);
}

static bool put_index(sw_op_writer_t *w)
{
    uint64_t *first = sort_entries(w), at = w->written;
    if (!first)
        return false;
    uint32_t crc = 0;
    unsigned char raw[SW_OPFILE_TAIL];
    for (uint64_t i = 0; i <= (uint64_t)w->ranks + 1; i++) {
        sw_opfile_put8(raw, first[i]);
        crc = put_summed(w, crc, raw, 8);
    }
    free(first);
    for (uint64_t i = 0; i < w->entry_count; i++) {
        const entry_t *e = &w->entries[i];
        unsigned char *to = sw_opfile_put8(raw, e->offset);
        to = sw_opfile_put4(to, e->length);
        to = sw_opfile_put4(to, e->operations);
        to = sw_opfile_put4(to, e->crc);
        sw_opfile_put4(to, 0);
        crc = put_summed(w, crc, raw, SW_OPFILE_ENTRY);
    }
    uint32_t note = (uint32_t)strlen(w->note);
    crc = put_summed(w, crc, w->note, note);
    unsigned char *to = sw_opfile_put8(raw, at);
    to = sw_opfile_put8(to, w->entry_count);
    to = sw_opfile_put8(to, w->operations);
    to = sw_opfile_put4(to, w->ranks);
    to = sw_opfile_put4(to, note);
    to = sw_opfile_put4(to, crc);
    memset(to, 0, SW_OPFILE_TAIL - (size_t)(to - raw));
    memcpy(raw + SW_OPFILE_TAIL - 8, SW_OPFILE_END, 8);
    sw_opfile_put4(raw + SW_OPFILE_TAIL - 12,
                   sw_crc32(0, raw, SW_OPFILE_TAIL - 12));
    return put(w, raw, sizeof raw);
}

bool sw_op_writer_close(sw_op_writer_t *w)
{
    /* Contexts first: they are needed first. */
    for (uint64_t i = 0; i <= w->ranks && !w->error; i++)
        part(w, (uint32_t)(i ? i - 1 : w->ranks));
    bool good = !w->error && put_index(w) && flush(w);
    int fd = w->fd;
    w->fd = -1;
    if (close(fd) && good)
        fail(w, errno);
    if (!w->error && rename(w->draft, w->path))
        fail(w, errno);
    int error = w->error;
    if (error)
        unlink(w->draft);
    release(w);
    errno = error;
    return !error;
}

/* Contexts ---------------------------------------------------------------- */

/* How many members from the first on have one step. */
static uint32_t run_of(uint32_t n, const uint32_t *members)
{
    uint32_t i = 1;
    int64_t step = n > 1 ? (int64_t)members[1] - members[0] : 0;
    while (i < n && (int64_t)members[i] - members[i - 1] == step)
        i++;
    return i;
}

bool sw_op_write_context(sw_op_writer_t *w, uint32_t number, uint32_t n,
                         const uint32_t *members)
{
    if (w->error || !n || n > w->ranks) {
        fail(w, EINVAL);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        if (members[i] >= w->ranks) {
            fail(w, EINVAL);
            return false;
        }
    /* At most three numbers of five bytes for a member. */
    if (!room(w, w->ranks, 16 + (size_t)15 * n))
        return false;
    buffer_t *b = &w->buffers[w->ranks];
    unsigned char *to = b->at + b->used;
    to = sw_opfile_varint(to, number);
    to = sw_opfile_varint(to, n);
    for (uint32_t i = 0, run; i < n; i += run) {
        run = run_of(n - i, members + i);
        to = sw_opfile_varint(to, members[i]);
        to = sw_opfile_varint(to, run);
        if (run > 1)
            to = sw_opfile_varint(to, sw_opfile_signed(
                (int64_t)members[i + 1] - members[i]));
    }
    b->used = (uint32_t)(to - b->at);
    b->operations++;
    return true;
}

/* Operations -------------------------------------------------------------- */

/* Behind the kind. */
static unsigned char *shape(unsigned char *to, uint32_t rank,
                            const sw_op_t *op)
{
    switch (op->kind) {
    case SW_OP_SEND:
    case SW_OP_RECV:
    case SW_OP_PROBE:
    case SW_OP_IPROBE:
    case SW_OP_CHOOSE:
    case SW_OP_MATCHED:
        to = sw_opfile_varint(to, sw_opfile_peer(op->peer, rank));
        to = sw_opfile_varint(to, sw_opfile_signed(op->tag));
        to = sw_opfile_varint(to, op->context);
        to = sw_opfile_varint(to, op->bytes);
        return sw_opfile_varint(to, op->flags);
    case SW_OP_COLLECTIVE:
        to = sw_opfile_varint(to, op->what);
        to = sw_opfile_varint(to, op->context);
        to = sw_opfile_varint(to, (uint64_t)((int64_t)op->peer + 1));
        to = sw_opfile_varint(to, op->bytes);
        to = sw_opfile_varint(to, op->sent);
        return sw_opfile_varint(to, op->received);
    case SW_OP_SELECT:
        return sw_opfile_varint(to, op->what);
    case SW_OP_THREAD:
        to = sw_opfile_varint(to, op->what);
        return sw_opfile_varint(to, (uint64_t)op->tag);
    default:    /* SW_OP_SECTION */
        return sw_opfile_varint(to, op->bytes);
    }
}

/* Where the same shape is, as bytes back from `at`; 0: nowhere. It is
 * remembered to be at `at` then. */
static uint32_t seen(buffer_t *b, const unsigned char *shape, size_t n,
                     uint32_t at)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ shape[i]) * 16777619u;
    uint16_t *place = &b->shapes[(hash ^ hash >> 15) % SHAPES];
    uint32_t was = *place;
    if (was && was - 1 + n <= at && !memcmp(b->at + was - 1, shape, n))
        return at - (was - 1);
    *place = (uint16_t)(at + 1 <= UINT16_MAX ? at + 1 : 0);
    return 0;
}

static bool can_be(const sw_op_writer_t *w, uint32_t rank, const sw_op_t *op)
{
    return rank < w->ranks && op->kind >= SW_OP_COMPUTE &&
           op->kind <= SW_OP_THREAD && op->time >= 0 &&
           op->time <= SW_OPFILE_TIME_MOST &&
           op->bytes <= SW_OPFILE_BYTES_MOST &&
           op->sent <= SW_OPFILE_BYTES_MOST &&
           op->received <= SW_OPFILE_BYTES_MOST && op->peer >= -1;
}

bool sw_op_write(sw_op_writer_t *w, uint32_t rank, const sw_op_t *op)
{
    if (w->error)
        return false;
    if (!can_be(w, rank, op)) {
        fail(w, EINVAL);
        return false;
    }
    if (!room(w, rank, SW_OPFILE_SHAPE_MOST + 32))
        return false;
    buffer_t *b = &w->buffers[rank];
    unsigned char *head = b->at + b->used, *to = head + 1;
    unsigned request = SW_OPFILE_OTHER;
    if (!op->request)
        request = SW_OPFILE_NONE;
    else if (op->request == b->request + 1)
        request = SW_OPFILE_NEXT;
    else if (op->request == b->request)
        request = SW_OPFILE_SAME;
    *head = (unsigned char)(op->kind | request);
    if (op->kind == SW_OP_COMPUTE) {
        /* Most are whole ns. */
        bool whole = op->time % SW_PS_PER_NS == 0;
        uint64_t time = (uint64_t)(whole ? op->time / SW_PS_PER_NS
                                         : op->time);
        to = sw_opfile_varint(to, time << 1 | !whole);
    } else if (sw_opfile_shaped(op->kind)) {
        unsigned char *end = shape(to, rank, op);
        /* The kind is the shape's first byte; of a request it says nothing
         * there. */
        uint32_t at = (uint32_t)(to - b->at);
        uint32_t back = seen(b, to, (size_t)(end - to), at);
        if (back && end - to > 1) {
            *head |= SW_OPFILE_AGAIN;
            to = sw_opfile_varint(to, back);
        } else {
            to = end;
        }
    }
    if (request == SW_OPFILE_OTHER)
        to = sw_opfile_varint(to, sw_opfile_signed((int64_t)op->request -
                                                   b->request));
    if (op->request)
        b->request = op->request;
    b->used = (uint32_t)(to - b->at);
    b->operations++;
    w->operations++;
    return true;
}
