/*
 * op_words.c - an operation as a line of text, to be read by people.
 */
#include "steps.h"

#include <stdarg.h>

/* Text of which the end is cut where there is no room. */
typedef struct {
    char *at;
    size_t room;
} text_t;

static void put(text_t *to, const char *form, ...)
    __attribute__((format(printf, 2, 3)));
static void put(text_t *to, const char *form, ...)
{
    va_list values;
    va_start(values, form);
    int n = vsnprintf(to->at, to->room, form, values);
    va_end(values);
    size_t used = n < 0 ? 0 : sw_min((size_t)n, to->room - 1);
    to->at += used;
    to->room -= used;
}

static void put_request(text_t *to, const sw_vop_t *op)
{
    if (op->request)
        put(to, " request %u", op->request);
}

static void put_message(text_t *to, const sw_vop_t *op, const char *verb,
                        const char *way)
{
    put(to, "%s %llu %s ", verb, (unsigned long long)op->bytes, way);
    if (op->peer < 0)
        put(to, "any");
    else
        put(to, "%d", op->peer);
    if (op->tag < 0)
        put(to, " tag any");
    else
        put(to, " tag %d", op->tag);
    if (op->context)
        put(to, " context %u", op->context);
    if (op->flags & SW_SEND_SYNCHRONOUS)
        put(to, " synchronous");
    if (op->flags & SW_SEND_BUFFERED)
        put(to, " buffered");
    if (op->flags & SW_SEND_GIVEN)
        put(to, " given");
}

static void put_window(text_t *to, const sw_vop_t *op)
{
    put(to, "%s", sw_window_names[op->what]);
    if (op->what >= SW_WINDOW_PUT && op->what <= SW_WINDOW_FETCH)
        put(to, " %llu", (unsigned long long)op->bytes);
    if (op->what >= SW_WINDOW_PUT && op->peer < 0)
        put(to, " all");
    else if (op->what >= SW_WINDOW_PUT)
        put(to, " at %d", op->peer);
    put(to, " context %u", op->context);
    if (op->what == SW_WINDOW_MAKE && op->flags & SW_WINDOW_ALLOCATED)
        put(to, " allocated");
    if (op->flags & 1)
        put(to, op->what == SW_WINDOW_FLUSH  ? " local"
                : op->what == SW_WINDOW_MAKE ? " seen"
                                             : " exclusive");
}

void sw_op_words(const sw_vop_t *op, char *words, size_t room)
{
    text_t text = {words, room}, *to = &text;
    *words = '\0';
    switch (op->kind) {
    case SW_OP_COMPUTE:
        put(to, "compute %lld.%03lld", (long long)(op->time / 1000),
            (long long)(op->time % 1000));
        break;
    case SW_OP_SEND: put_message(to, op, "send", "to"); break;
    case SW_OP_RECV: put_message(to, op, "receive", "from"); break;
    case SW_OP_COLLECTIVE:
        put(to, "%s %llu sent %llu received %llu",
            sw_collective_names[op->what], (unsigned long long)op->bytes,
            (unsigned long long)op->sent, (unsigned long long)op->received);
        if (op->peer >= 0)
            put(to, " root %d", op->peer);
        if (op->tag)
            put(to, " groups of %d and the others", op->tag);
        if (op->context)
            put(to, " context %u", op->context);
        break;
    case SW_OP_WINDOW: put_window(to, op); break;
    case SW_OP_WAIT: put(to, "wait"); break;
    case SW_OP_DROP: put(to, "drop"); break;
    case SW_OP_SECTION:
        if (op->bytes)
            put(to, "section %llu", (unsigned long long)op->bytes);
        else
            put(to, "no section");
        break;
    case SW_OP_THREAD:
        if (op->what == SW_THREAD_GRAPH || op->what == SW_THREAD_NEEDS) {
            put(to,
                op->what == SW_THREAD_GRAPH ? "partial order"
                : op->request == SW_NEEDS_BEGUN
                    ? "needs the beginning of %d before"
                    : "needs %d before",
                op->tag);
            break;
        }
        put(to,
            op->what == SW_THREAD_GOES    ? "thread %u"
            : op->what == SW_THREAD_AFTER ? "after thread %u"
                                          : "thread %u ends",
            op->request);
        if (op->what == SW_THREAD_AFTER && op->tag)
            put(to, " but %d", op->tag);
        break;
    default: put(to, "asks (kind %u)", op->kind); break;
    }
    if (op->kind != SW_OP_THREAD)
        put_request(to, op);
}
