/*
 * file_encode.c - contexts, sections and operations as the bytes of a file; see
 * opfile_format.h.
 *
 * A rank remembers where in its buffer some shapes began, by their hash: that
 * is enough to find most that come again.
 */
#include "file_writer.h"

#include <errno.h>

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
        sw_op_writer_fail(w, EINVAL);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        if (members[i] >= w->ranks) {
            sw_op_writer_fail(w, EINVAL);
            return false;
        }
    /* At most three numbers of five bytes for a member. */
    if (!sw_op_room(w, w->ranks, 16 + (size_t)15 * n))
        return false;
    sw_op_buffer_t *b = &w->buffers[w->ranks];
    unsigned char *to = b->at + b->used;
    to = sw_opfile_varint(to, number);
    to = sw_opfile_varint(to, n);
    for (uint32_t i = 0, run; i < n; i += run) {
        run = run_of(n - i, members + i);
        to = sw_opfile_varint(to, members[i]);
        to = sw_opfile_varint(to, run);
        if (run > 1)
            to = sw_opfile_varint(
                to, sw_opfile_signed((int64_t)members[i + 1] - members[i]));
    }
    b->used = (uint32_t)(to - b->at);
    b->operations++;
    return true;
}

bool sw_op_write_section(sw_op_writer_t *w, uint32_t number, const char *name)
{
    size_t n = strlen(name);
    if (w->error || !number || number > SW_SECTION_MOST || !n ||
        n >= SW_SECTION_NAME) {
        sw_op_writer_fail(w, EINVAL);
        return false;
    }
    if (!sw_op_room(w, w->ranks, 16 + n))
        return false;
    sw_op_buffer_t *b = &w->buffers[w->ranks];
    unsigned char *to = b->at + b->used;
    to = sw_opfile_varint(to, number);
    to = sw_opfile_varint(to, 0);
    to = sw_opfile_varint(to, n);
    memcpy(to, name, n);
    b->used = (uint32_t)(to + n - b->at);
    b->operations++;
    return true;
}

/* Behind the kind. */
static unsigned char *shape(unsigned char *to, uint32_t rank,
                            const sw_vop_t *op)
{
    if (sw_opfile_message(op->kind)) {
        to = sw_opfile_varint(to, sw_opfile_peer(op->peer, rank));
        to = sw_opfile_varint(to, sw_opfile_signed(op->tag));
        to = sw_opfile_varint(to, op->context);
        to = sw_opfile_varint(to, op->bytes);
        return sw_opfile_varint(to, op->flags);
    }
    switch (op->kind) {
    case SW_OP_COLLECTIVE:
        to = sw_opfile_varint(to, op->what | (op->tag ? SW_OPFILE_GROUPS : 0));
        to = sw_opfile_varint(to, op->context);
        to = sw_opfile_varint(to, (uint64_t)((int64_t)op->peer + 1));
        to = sw_opfile_varint(to, op->bytes);
        to = sw_opfile_varint(to, op->sent);
        to = sw_opfile_varint(to, op->received);
        return op->tag ? sw_opfile_varint(to, (uint32_t)op->tag) : to;
    case SW_OP_WINDOW:
        to = sw_opfile_varint(to, op->what);
        to = sw_opfile_varint(to, op->context);
        to = sw_opfile_varint(to, sw_opfile_peer(op->peer, rank));
        to = sw_opfile_varint(to, op->bytes);
        return sw_opfile_varint(to, op->flags);
    case SW_OP_SELECT: return sw_opfile_varint(to, op->what);
    case SW_OP_THREAD:
        to = sw_opfile_varint(to, op->what);
        return sw_opfile_varint(to, (uint64_t)op->tag);
    default: /* SW_OP_SECTION */ return sw_opfile_varint(to, op->bytes);
    }
}

/* Where the same shape is, as bytes back from `at`; 0: nowhere. It is
 * remembered to be at `at` then. */
static uint32_t seen(sw_op_buffer_t *b, const unsigned char *shape, size_t n,
                     uint32_t at)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ shape[i]) * 16777619u;
    uint16_t *place = &b->shapes[(hash ^ hash >> 15) % SW_OPFILE_SHAPES];
    uint32_t was = *place;
    if (was && was - 1 + n <= at && !memcmp(b->at + was - 1, shape, n))
        return at - (was - 1);
    *place = (uint16_t)(at + 1 <= UINT16_MAX ? at + 1 : 0);
    return 0;
}

static bool can_be(const sw_op_writer_t *w, uint32_t rank, const sw_vop_t *op)
{
    return rank < w->ranks && op->kind >= SW_OP_COMPUTE &&
           (op->kind <= SW_OP_THREAD || op->kind == SW_OP_WINDOW) &&
           op->time >= 0 && op->time <= SW_OPFILE_TIME_MOST &&
           op->bytes <= SW_OPFILE_BYTES_MOST &&
           op->sent <= SW_OPFILE_BYTES_MOST &&
           op->received <= SW_OPFILE_BYTES_MOST && op->peer >= -1 &&
           (op->kind != SW_OP_SECTION || op->bytes <= SW_SECTION_MOST);
}

bool sw_op_write(sw_op_writer_t *w, uint32_t rank, const sw_vop_t *op)
{
    if (w->error)
        return false;
    if (!can_be(w, rank, op)) {
        sw_op_writer_fail(w, EINVAL);
        return false;
    }
    if (!sw_op_room(w, rank, SW_OPFILE_SHAPE_MOST + 32))
        return false;
    sw_op_buffer_t *b = &w->buffers[rank];
    unsigned char *head = b->at + b->used, *to = head + 1;
    unsigned request = SW_OPFILE_OTHER;
    if (!op->request)
        request = SW_OPFILE_NONE;
    else if (op->request == b->request + 1)
        request = SW_OPFILE_NEXT;
    else if (op->request == b->request)
        request = SW_OPFILE_SAME;
    unsigned kind = op->kind == SW_OP_WINDOW ? SW_OPFILE_WINDOW : op->kind;
    *head = (unsigned char)(kind | request);
    if (op->kind == SW_OP_COMPUTE) {
        if (op->flags & SW_COMPUTE_ASLEEP)
            *head |= SW_OPFILE_ASLEEP;
        /* Most are whole ns. */
        bool whole = op->time % SW_PS_PER_NS == 0;
        uint64_t time = (uint64_t)(whole ? op->time / SW_PS_PER_NS : op->time);
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
        to = sw_opfile_varint(
            to, sw_opfile_signed((int64_t)op->request - b->request));
    if (op->request)
        b->request = op->request;
    b->used = (uint32_t)(to - b->at);
    b->operations++;
    w->operations++;
    return true;
}
