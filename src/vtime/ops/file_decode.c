/*
 * file_decode.c - one operation out of the bytes of a file; see
 * opfile_format.h.
 *
 * Each number is looked at: ranks that are there, contexts that are known and
 * have the rank as a member, times whose sum fits.
 */
#include "file_reader.h"

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

static bool known(sw_op_file_t *f, sw_op_cursor_t *at, uint32_t rank,
                  uint64_t context)
{
    if (!context || context == at->context)
        return true;
    if (context > UINT32_MAX || !sw_op_is_member(f, (uint32_t)context, rank))
        return false;
    at->context = (uint32_t)context;
    return true;
}

static bool read_message(sw_op_file_t *f, sw_op_cursor_t *at, sw_cursor_t *c,
                         uint32_t rank, sw_vop_t *op)
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
           flags <= (SW_SEND_SYNCHRONOUS | SW_SEND_BUFFERED | SW_SEND_GIVEN) &&
           known(f, at, rank, context);
}

static bool read_collective(sw_op_file_t *f, sw_op_cursor_t *at, sw_cursor_t *c,
                            uint32_t rank, sw_vop_t *op)
{
    uint64_t what = sw_varint(c), context = sw_varint(c);
    uint64_t root = sw_varint(c), first = 0;
    op->bytes = sw_varint(c);
    op->sent = sw_varint(c);
    op->received = sw_varint(c);
    bool between = what & SW_OPFILE_GROUPS;
    if (between)
        first = sw_varint(c);
    what &= ~(uint64_t)SW_OPFILE_GROUPS;
    op->what = (uint8_t)what;
    op->context = (uint32_t)context;
    op->peer = (int32_t)((int64_t)root - 1);
    if (what >= SW_COLLECTIVE_COUNT || !known(f, at, rank, context))
        return false;
    uint32_t n = context ? sw_op_context_of(f, (uint32_t)context)->n : f->ranks;
    sw_waits_t waits = sw_collective_waits[what];
    bool rooted = waits == SW_WAITS_ROOT || waits == SW_WAITS_AT_ROOT;
    if (between ? !first || first >= n : rooted && !root)
        return false;
    op->tag = (int32_t)first;
    return root <= n && op->bytes <= SW_OPFILE_BYTES_MOST &&
           op->sent <= SW_OPFILE_BYTES_MOST &&
           op->received <= SW_OPFILE_BYTES_MOST;
}

static bool read_window(sw_op_file_t *f, sw_op_cursor_t *at, sw_cursor_t *c,
                        uint32_t rank, sw_vop_t *op)
{
    uint64_t what = sw_varint(c), context = sw_varint(c);
    bool good = peer_of(f, sw_varint(c), rank, &op->peer);
    op->bytes = sw_varint(c);
    uint64_t flags = sw_varint(c);
    op->what = (uint8_t)what;
    op->context = (uint32_t)context;
    op->flags = (uint16_t)flags;
    return good && what < SW_WINDOW_COUNT &&
           flags <= (what == SW_WINDOW_MAKE
                         ? (SW_WINDOW_SEEN | SW_WINDOW_ALLOCATED)
                         : 1) &&
           op->bytes <= SW_OPFILE_BYTES_MOST && known(f, at, rank, context);
}

static bool read_shape(sw_op_file_t *f, sw_op_cursor_t *at, sw_cursor_t *c,
                       uint32_t rank, sw_vop_t *op)
{
    if (sw_opfile_message(op->kind))
        return read_message(f, at, c, rank, op);
    switch (op->kind) {
    case SW_OP_COLLECTIVE: return read_collective(f, at, c, rank, op);
    case SW_OP_WINDOW: return read_window(f, at, c, rank, op);
    case SW_OP_SELECT: {
        uint64_t what = sw_varint(c);
        op->what = (uint8_t)what;
        return what <= SW_TEST_SOME;
    }
    case SW_OP_THREAD: {
        uint64_t what = sw_varint(c), before = sw_varint(c);
        op->what = (uint8_t)what;
        op->tag = (int32_t)before;
        return what <= SW_THREAD_NEEDS && before <= INT32_MAX;
    }
    default: op->bytes = sw_varint(c); return op->bytes <= SW_SECTION_MOST;
    }
}

static bool read_time(sw_op_cursor_t *at, sw_cursor_t *c, sw_vop_t *op)
{
    uint64_t n = sw_varint(c), unit = n & 1 ? 1 : (uint64_t)SW_PS_PER_NS;
    n >>= 1;
    if (n > (uint64_t)(SW_OPFILE_TIME_MOST - at->time) / unit)
        return false;
    op->time = (sw_ps_t)(n * unit);
    at->time += op->time;
    return true;
}

bool sw_op_decode(sw_op_file_t *f, sw_op_cursor_t *at, uint32_t rank,
                  sw_vop_t *op)
{
    sw_cursor_t c = {.at = at->at, .end = at->end};
    unsigned head = *c.at++, request = head & SW_OPFILE_REQUEST;
    *op = (sw_vop_t){.kind = head & SW_OPFILE_KIND};
    if (op->kind == SW_OPFILE_WINDOW)
        op->kind = SW_OP_WINDOW;
    bool good = head < SW_OPFILE_ASLEEP || op->kind == SW_OP_COMPUTE;
    if (op->kind == SW_OP_COMPUTE) {
        op->flags = head & SW_OPFILE_ASLEEP ? SW_COMPUTE_ASLEEP : 0;
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
        int64_t by = request == SW_OPFILE_NEXT   ? 1
                     : request == SW_OPFILE_SAME ? 0
                                                 : sw_varint_signed(&c);
        int64_t n = (int64_t)at->request + by;
        if (by > UINT32_MAX || by < -(int64_t)UINT32_MAX || n <= 0 ||
            n > UINT32_MAX)
            return false;
        op->request = at->request = (uint32_t)n;
    }
    at->at = c.at;
    return good && !c.bad;
}
