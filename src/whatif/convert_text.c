/*
 * convert_text.c - a file of operations as text, to be read by people: a line
 * for each operation, ranks one after the other.
 */
#include "convert.h"

#include <errno.h>
#include <string.h>

static void put_request(FILE *to, const sw_op_t *op)
{
    if (op->request)
        fprintf(to, " request %u", op->request);
}

static void put_message(FILE *to, const sw_op_t *op, const char *verb,
                        const char *way)
{
    fprintf(to, "%s %llu %s ", verb, (unsigned long long)op->bytes, way);
    if (op->peer < 0)
        fprintf(to, "any");
    else
        fprintf(to, "%d", op->peer);
    if (op->tag < 0)
        fprintf(to, " tag any");
    else
        fprintf(to, " tag %d", op->tag);
    if (op->context)
        fprintf(to, " context %u", op->context);
    if (op->flags & SW_SEND_SYNCHRONOUS)
        fprintf(to, " synchronous");
    if (op->flags & SW_SEND_BUFFERED)
        fprintf(to, " buffered");
}

static void put_op(FILE *to, const sw_op_t *op)
{
    switch (op->kind) {
    case SW_OP_COMPUTE:
        fprintf(to, "compute %lld.%03lld", (long long)(op->time / 1000),
                (long long)(op->time % 1000));
        break;
    case SW_OP_SEND:
        put_message(to, op, "send", "to");
        break;
    case SW_OP_RECV:
        put_message(to, op, "receive", "from");
        break;
    case SW_OP_COLLECTIVE:
        fprintf(to, "%s %llu sent %llu received %llu",
                sw_collective_names[op->what], (unsigned long long)op->bytes,
                (unsigned long long)op->sent,
                (unsigned long long)op->received);
        if (op->peer >= 0)
            fprintf(to, " root %d", op->peer);
        if (op->context)
            fprintf(to, " context %u", op->context);
        break;
    case SW_OP_WAIT:
        fprintf(to, "wait");
        break;
    case SW_OP_DROP:
        fprintf(to, "drop");
        break;
    case SW_OP_SECTION:
        fprintf(to, "section %llu", (unsigned long long)op->bytes);
        break;
    case SW_OP_THREAD:
        fprintf(to, op->what == SW_THREAD_GOES ? "thread %u"
                    : op->what == SW_THREAD_AFTER ? "after thread %u"
                    : "thread %u ends", op->request);
        if (op->what == SW_THREAD_AFTER && op->tag)
            fprintf(to, " but %d", op->tag);
        break;
    default:
        fprintf(to, "asks (kind %u)", op->kind);
        break;
    }
    put_request(to, op);
    putc('\n', to);
}

bool sw_ops_to_text(const char *in, const char *out, const sw_convert_t *how,
                    sw_converted_t *done)
{
    char why[1024];
    (void)how;
    sw_op_file_t *ops = sw_op_open(in, why, sizeof why);
    if (!ops)
        return sw_convert_fail("%s", why);
    FILE *to = !strcmp(out, "-") ? stdout : fopen(out, "w");
    if (!to) {
        sw_op_close(ops);
        return sw_convert_fail("%s: %s", out, strerror(errno));
    }
    sw_source_t source;
    sw_op_t op;
    sw_op_source(ops, &source);
    fprintf(to, "# %s\n", sw_op_note(ops));
    for (uint32_t rank = 0; rank < sw_op_ranks(ops); rank++) {
        fprintf(to, "rank %u\n", rank);
        while (source.next(source.of, rank, &op) == SW_SOURCE_OP) {
            fputs("  ", to);
            put_op(to, &op);
            done->operations++;
        }
    }
    done->damaged = sw_op_damaged(ops);
    sw_op_close(ops);
    bool good = !ferror(to);
    good &= to == stdout ? !fflush(to) : !fclose(to);
    return good || sw_convert_fail("%s: %s", out, strerror(errno));
}
