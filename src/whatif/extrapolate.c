/*
 * extrapolate.c - a regular program's operations, as on more ranks.
 *
 * Regular is what all ranks do alike: the same operations in the same order,
 * with the same sizes, tags and requests, among all of the world. Partners may
 * differ in one way: each is as far from its rank on all of them, on a ring of
 * all ranks, or on a grid that wraps around. A larger ring, or a grid with
 * about the same ratio of its sides, then has what the new ranks do. Blocks
 * and computation stay as they are (weak scaling), rank r computing for as long
 * as rank r mod N did. Whatever is not so is refused, with a sentence; what
 * comes out says in its note that it is extrapolated.
 */
#include "convert.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *in;
    sw_op_file_t *ops;
    sw_source_t source;
    uint32_t ranks, more;
    uint32_t columns, new_columns;  /* of the grid; 0: a ring */
    sw_op_t *op;                    /* of each rank: the one at hand */
    uint64_t nth;                   /* of its operations */
} extra_t;

static bool refuse(const extra_t *x, const char *why, uint32_t rank)
{
    return sw_convert_fail("%s cannot be extrapolated: operation %llu of "
                           "rank %u %s", x->in, (unsigned long long)x->nth,
                           rank, why);
}

/* The next operation of each rank; 0: all have ended, -1: refused. */
static int next(extra_t *x)
{
    uint32_t ended = 0;
    x->nth++;
    for (uint32_t r = 0; r < x->ranks; r++)
        ended += x->source.next(x->source.of, r, &x->op[r]) != SW_SOURCE_OP;
    if (ended == x->ranks && !sw_op_damaged(x->ops))
        return 0;
    if (ended) {
        sw_convert_fail("%s cannot be extrapolated: its ranks have not "
                        "equally many operations, or it is damaged", x->in);
        return -1;
    }
    const sw_op_t *a = &x->op[0];
    for (uint32_t r = 0; r < x->ranks; r++) {
        const sw_op_t *b = &x->op[r];
        bool collective = a->kind == SW_OP_COLLECTIVE;
        const char *why = NULL;
        if (a->kind != b->kind || a->what != b->what)
            why = "is of another kind than rank 0's";
        else if (b->context)
            why = "is on a communicator that is not the world";
        else if (a->bytes != b->bytes || a->tag != b->tag ||
                 a->request != b->request || a->flags != b->flags)
            why = "has another size, tag or request than rank 0's";
        else if (collective && a->peer != b->peer)
            why = "has another root than rank 0's";
        else if ((a->peer < 0) != (b->peer < 0))
            why = "has wildcards where rank 0's has none";
        if (why) {
            refuse(x, why, r);
            return -1;
        }
    }
    return 1;
}

static bool has_partner(const sw_op_t *op)
{
    return op->kind != SW_OP_COLLECTIVE && op->kind != SW_OP_COMPUTE &&
           op->kind != SW_OP_WAIT && op->kind != SW_OP_DROP &&
           op->kind != SW_OP_SECTION && op->kind != SW_OP_THREAD &&
           op->peer >= 0;
}

/* How far the partner of a rank is in rows and in columns. */
static void distance(const extra_t *x, uint32_t columns, uint32_t rank,
                     uint32_t *down, uint32_t *right)
{
    uint32_t rows = x->ranks / columns, peer = (uint32_t)x->op[rank].peer;
    *down = (peer / columns + rows - rank / columns) % rows;
    *right = (peer % columns + columns - rank % columns) % columns;
}

/* Is it equally far on all ranks of a grid of so many columns? */
static bool fits(const extra_t *x, uint32_t columns)
{
    uint32_t down, right, d, r;
    distance(x, columns, 0, &down, &right);
    for (uint32_t rank = 1; rank < x->ranks; rank++) {
        distance(x, columns, rank, &d, &r);
        if (d != down || r != right)
            return false;
    }
    return true;
}

/* Grids by their columns, from 1 (a ring: one column of all), as flags; those
 * that do not fit all partners go. */
static bool look(extra_t *x)
{
    bool *fit = malloc((size_t)x->ranks + 1);
    int state = 1;
    if (!fit)
        return sw_convert_fail("%s: no memory", x->in);
    for (uint32_t c = 1; c <= x->ranks; c++)
        fit[c] = x->ranks % c == 0 && (c == 1 || c < x->ranks);
    uint32_t kept = 1;
    while (kept && (state = next(x)) > 0) {
        if (!has_partner(&x->op[0]))
            continue;
        kept = 0;
        for (uint32_t c = 1; c <= x->ranks; c++) {
            fit[c] = fit[c] && fits(x, c);
            kept += fit[c];
        }
    }
    if (!kept)
        refuse(x, "has a partner that is not as far away as others', on a "
               "ring or on a grid", 0);
    x->columns = 0;
    for (uint32_t c = 1; c <= x->ranks && !x->columns; c++)
        if (fit[c])
            x->columns = c;
    free(fit);
    return state == 0 && x->columns;
}

/* The sides of the new grid. */
static void choose_grid(extra_t *x)
{
    double ratio = (double)x->columns * x->columns / x->ranks, best = INFINITY;
    x->new_columns = 1;
    for (uint32_t c = 1; x->columns > 1 && c <= x->more; c++) {
        double far = x->more % c ? INFINITY
            : fabs(log((double)c * c / x->more / ratio));
        if (far < best) {
            best = far;
            x->new_columns = c;
        }
    }
}

/* Of a distance on a ring of n, the same on one of m: back is back. */
static uint32_t shift(uint32_t at, uint32_t far, uint32_t n, uint32_t m)
{
    uint64_t to = 2 * (uint64_t)far > n ? (uint64_t)at + m - (n - far) % m
                                        : (uint64_t)at + far;
    return (uint32_t)(to % m);
}

static void partner(const extra_t *x, uint32_t rank, sw_op_t *op)
{
    uint32_t down, right, rows = x->ranks / x->columns;
    uint32_t columns = x->new_columns, new_rows = x->more / columns;
    distance(x, x->columns, 0, &down, &right);
    uint32_t row = shift(rank / columns, down, rows, new_rows);
    uint32_t column = shift(rank % columns, right, x->columns, columns);
    op->peer = (int32_t)(row * columns + column);
}

static bool write_all(extra_t *x, sw_op_writer_t *writer,
                      sw_converted_t *done)
{
    bool good = true;
    sw_op_rewind(x->ops);
    x->nth = 0;
    while (good && next(x) > 0)
        for (uint32_t rank = 0; good && rank < x->more; rank++) {
            sw_op_t op = x->op[rank % x->ranks];
            if (has_partner(&op))
                partner(x, rank, &op);
            if (op.kind == SW_OP_COLLECTIVE && op.bytes) {
                uint64_t all = op.bytes * x->ranks;
                if (op.sent == all)
                    op.sent = op.bytes * x->more;
                if (op.received == all)
                    op.received = op.bytes * x->more;
            }
            done->operations++;
            good = sw_op_write(writer, rank, &op);
        }
    return good;
}

bool sw_extrapolate_ops(const char *in, const char *out, uint32_t ranks,
                        sw_converted_t *done)
{
    char why[1024];
    extra_t x = {.in = in, .more = ranks};
    x.ops = sw_op_open(in, why, sizeof why);
    if (!x.ops)
        return sw_convert_fail("%s", why);
    x.ranks = sw_op_ranks(x.ops);
    x.op = calloc(x.ranks, sizeof *x.op);
    sw_op_source(x.ops, &x.source);
    bool good = x.op != NULL;
    if (good && ranks < x.ranks)
        good = sw_convert_fail("%s has %u ranks: say more than that", in,
                               x.ranks);
    good = good && look(&x);
    if (good) {
        char note[256];
        choose_grid(&x);
        snprintf(note, sizeof note, "extrapolated from %u ranks to %u, as a "
                 "%s; %.100s", x.ranks, ranks, x.columns > 1 ? "grid" : "ring",
                 sw_op_note(x.ops));
        sw_op_writer_t *writer = sw_op_writer_new(out, ranks, note);
        good = writer && write_all(&x, writer, done);
        if (writer)
            good = sw_op_writer_close(writer) && good;
        if (!good)
            sw_convert_fail("%s: %s", out, strerror(errno));
    }
    free(x.op);
    sw_op_close(x.ops);
    return good;
}
