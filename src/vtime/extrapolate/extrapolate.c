/*
 * extrapolate.c - a regular program's operations, as on more ranks.
 *
 * A regular program's ranks all do alike: the same steps (steps.h) in the same
 * order, with the same sizes and tags, among all ranks. Blocks of the vector
 * collectives may differ. Partners may differ in one way: each is as far from
 * its rank on all ranks. The distance counts on a ring of all ranks, or on a
 * grid of two or three dimensions that wraps around (a torus). A larger ring,
 * or a grid with about the same ratios of its sides, then has what the new
 * ranks do. The converter refuses a partner half-way round: on more ranks it
 * may be before or behind, and be half-way or as far as it was.
 *
 * Blocks and computation stay as they are (weak scaling). Rank r computes for
 * as long, and has blocks as large, as rank r mod N. So the times keep their
 * distribution, and a rank that was slow at one step is slow at the next. Rank
 * r is in the regions of the program that r mod N was in. The converter refuses
 * all other programs, with a sentence that says why. The new file says in its
 * note that it is extrapolated.
 */
#include "extrapolate.h"
#include "grid.h"
#include "vtime/ops/steps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *in;
    sw_steps_t steps;
    uint32_t ranks, more;
    sw_step_at_t *step; /* of each rank: the one at hand */
    sw_lookup_t whole;  /* contexts of all ranks, in their order */
    sw_grid_t *grids;   /* those that fit so far */
    uint32_t grid_count;
    sw_grid_t grid, new_grid;
} extra_t;

/* What is in the way: what a rank does, and what rank 0 does. */
static bool refuse(const extra_t *x, const char *why, uint32_t rank)
{
    char here[256], there[256], section[64] = "";
    const sw_step_at_t *step = &x->step[rank], *first = &x->step[0];
    const char *name = sw_sections_name(sw_op_sections(x->steps.ops),
                                        step->section);
    if (*name)
        snprintf(section, sizeof section, " in region %.48s", name);
    if (step->op.kind)
        sw_op_words(&step->op, here, sizeof here);
    else
        strcpy(here, "the end");
    if (first->op.kind)
        sw_op_words(&first->op, there, sizeof there);
    else
        strcpy(there, "the end");
    if (!rank)
        return sw_convert_fail("%s cannot be extrapolated: operation %llu of "
                               "rank 0 (%s)%s %s",
                               x->in, (unsigned long long)first->number, there,
                               section, why);
    return sw_convert_fail("%s cannot be extrapolated: operation %llu of rank "
                           "%u (%s)%s %s operation %llu of rank 0 (%s)",
                           x->in, (unsigned long long)step->number, rank, here,
                           section, why, (unsigned long long)first->number,
                           there);
}

/* Steps ------------------------------------------------------------------- */

static bool sizes_may_differ(const sw_vop_t *op)
{
    if (op->kind != SW_OP_COLLECTIVE)
        return false;
    switch (op->what) {
    case SW_COLLECTIVE_GATHERV:
    case SW_COLLECTIVE_SCATTERV:
    case SW_COLLECTIVE_ALLGATHERV:
    case SW_COLLECTIVE_ALLTOALLV:
    case SW_COLLECTIVE_ALLTOALLW:
    case SW_COLLECTIVE_REDUCE_SCATTER: return true;
    default: return false;
    }
}

/* Why a step is not that of rank 0, or NULL: it is. */
static const char *differs(const sw_step_at_t *one, const sw_step_at_t *first)
{
    const sw_vop_t *a = &first->op, *b = &one->op;
    if (a->kind != b->kind || a->what != b->what)
        return "is of another kind than";
    if (a->context != b->context)
        return "is on another communicator than";
    if (a->tag != b->tag)
        return "has another tag than";
    if (a->bytes != b->bytes && !sizes_may_differ(a))
        return "has another size than";
    if (a->flags != b->flags || !a->request != !b->request)
        return "is of another mode than";
    if (one->begun != first->begun)
        return "waits for another operation than";
    if (a->kind == SW_OP_COLLECTIVE && a->peer != b->peer)
        return "has another root than";
    if ((a->peer < 0) != (b->peer < 0))
        return "has wildcards other than";
    return NULL;
}

static bool is_message(const sw_vop_t *op)
{
    return op->kind == SW_OP_SEND || op->kind == SW_OP_RECV;
}

static bool has_partner(const sw_vop_t *op)
{
    return op->peer >= 0 && (is_message(op) || (op->kind == SW_OP_WINDOW &&
                                                op->what >= SW_WINDOW_PUT));
}

/* The next step of each rank; 0: all have ended, -1: refused. */
static int next(extra_t *x)
{
    for (uint32_t r = 0; r < x->ranks; r++)
        if (!sw_steps_next(&x->steps, r, &x->step[r]) && !x->steps.threads)
            return 0;
    if (!x->steps.memory) {
        sw_convert_fail("%s: no memory", x->in);
        return -1;
    }
    if (x->steps.threads) {
        sw_convert_fail("%s cannot be extrapolated: its ranks have "
                        "threads, or are partial orders",
                        x->in);
        return -1;
    }
    if (sw_op_damaged(x->steps.ops)) {
        sw_convert_fail("%s cannot be extrapolated: it is damaged", x->in);
        return -1;
    }
    for (uint32_t r = 1; r < x->ranks; r++) {
        const char *why = differs(&x->step[r], &x->step[0]);
        if (why) {
            refuse(x, why, r);
            return -1;
        }
    }
    const sw_vop_t *op = &x->step[0].op;
    if (op->kind == SW_OP_COLLECTIVE && op->tag) {
        refuse(x, "is between two groups", 0);
        return -1;
    }
    if (op->context &&
        (is_message(op) || op->kind == SW_OP_COLLECTIVE ||
         op->kind == SW_OP_WINDOW) &&
        !sw_lookup_get(&x->whole, op->context)) {
        refuse(x,
               "is on a communicator that is not of all ranks in their "
               "order",
               0);
        return -1;
    }
    return 1;
}

/* The partner's way of a rank. */
static sw_grid_way_t way_of(const extra_t *x, const sw_grid_t *grid,
                            uint32_t rank)
{
    return sw_grid_way(grid, rank, (uint32_t)x->step[rank].op.peer);
}

/* Is it equally far on all ranks? */
static bool fits(const extra_t *x, const sw_grid_t *grid)
{
    sw_grid_way_t first = way_of(x, grid, 0);
    for (uint32_t rank = 1; rank < x->ranks; rank++) {
        sw_grid_way_t way = way_of(x, grid, rank);
        if (memcmp(&first, &way, sizeof way))
            return false;
    }
    return true;
}

/* Of the grids that fit so far, those that fit the partners at hand. */
static bool keep_fitting(extra_t *x)
{
    uint32_t kept = 0;
    bool halves = false;
    for (uint32_t i = 0; i < x->grid_count; i++) {
        if (!fits(x, &x->grids[i]))
            continue;
        sw_grid_way_t way = way_of(x, &x->grids[i], 0);
        bool half = x->more > x->ranks && sw_grid_half_way(&x->grids[i], &way);
        halves |= half;
        if (!half)
            x->grids[kept++] = x->grids[i];
    }
    x->grid_count = kept;
    return kept ||
           refuse(x,
                  halves ? "has a partner half-way round: whether it is before "
                           "or behind, "
                           "nobody can tell where the side of a grid is 2"
                         : "has a partner that is not as far away as others', "
                           "on a ring or on "
                           "a grid",
                  0);
}

/* The first grid on which all partners are equally far, and the new one. */
static bool look(extra_t *x)
{
    int state;
    bool memory = true;
    x->grids = sw_grids_of(x->ranks, &x->grid_count);
    if (!x->grids)
        return sw_convert_fail("%s: no memory", x->in);
    while ((state = next(x)) > 0)
        if (has_partner(&x->step[0].op) && !keep_fitting(x))
            return false;
    x->grid = x->grids[0];
    if (state < 0 || sw_grid_like(&x->grid, x->more, &x->new_grid, &memory))
        return state == 0;
    return memory ? sw_convert_fail(
                        "%s cannot be extrapolated: its ranks are on a grid "
                        "of %d dimensions, which %u ranks are not",
                        x->in, sw_grid_dimensions(&x->grid), x->more)
                  : sw_convert_fail("%s: no memory", x->in);
}

/* The whole --------------------------------------------------------------- */

/* Blocks stay as they are, and there are more of them. */
static void grow(const extra_t *x, sw_vop_t *op)
{
    bool sent = false, received = false;
    switch (op->what) {
    case SW_COLLECTIVE_ALLTOALL:
    case SW_COLLECTIVE_ALLTOALLV:
    case SW_COLLECTIVE_ALLTOALLW: sent = received = true; break;
    case SW_COLLECTIVE_REDUCE_SCATTER:
    case SW_COLLECTIVE_REDUCE_SCATTER_BLOCK:
    case SW_COLLECTIVE_SCATTER:
    case SW_COLLECTIVE_SCATTERV: sent = true; break;
    case SW_COLLECTIVE_ALLGATHER:
    case SW_COLLECTIVE_ALLGATHERV:
    case SW_COLLECTIVE_GATHER:
    case SW_COLLECTIVE_GATHERV: received = true; break;
    default: break;
    }
    double by = (double)x->more / x->ranks;
    if (sent)
        op->sent = (uint64_t)llround((double)op->sent * by);
    if (received)
        op->received = (uint64_t)llround((double)op->received * by);
}

/* A rank made from the root is none. */
static void unroot(const extra_t *x, uint32_t rank, sw_vop_t *op)
{
    uint32_t from = rank % x->ranks;
    if (op->peer != (int32_t)from || rank == from || x->ranks == 1)
        return;
    const sw_vop_t *other = &x->step[from ? 0 : 1].op;
    op->sent = other->sent;
    op->received = other->received;
}

static bool put_compute(sw_op_writer_t *writer, uint32_t rank, sw_ps_t time,
                        sw_ps_t asleep, sw_converted_t *done)
{
    sw_vop_t op = {.kind = SW_OP_COMPUTE, .time = time};
    done->operations += (time > 0) + (asleep > 0);
    if (time && !sw_op_write(writer, rank, &op))
        return false;
    op.time = asleep;
    op.flags = SW_COMPUTE_ASLEEP;
    return !asleep || sw_op_write(writer, rank, &op);
}

static bool put(extra_t *x, sw_op_writer_t *writer, uint32_t rank,
                sw_converted_t *done)
{
    const sw_step_at_t *step = &x->step[rank % x->ranks];
    sw_vop_t op = step->op;
    const sw_change_t *to = sw_steps_changes(&x->steps, rank % x->ranks, step);
    for (uint32_t i = 0; i < step->changes; i++) {
        sw_vop_t section = {.kind = SW_OP_SECTION, .bytes = to[i].section};
        done->operations++;
        if (!put_compute(writer, rank, to[i].before, to[i].asleep, done) ||
            !sw_op_write(writer, rank, &section))
            return false;
    }
    if (!put_compute(writer, rank, step->before, step->asleep, done))
        return false;
    if (!op.kind)
        return true;
    if (has_partner(&op)) {
        sw_grid_way_t way = way_of(x, &x->grid, 0);
        op.peer = (int32_t)sw_grid_partner(&x->grid, &way, &x->new_grid, rank);
    }
    if (op.kind == SW_OP_COLLECTIVE) {
        unroot(x, rank, &op);
        grow(x, &op);
    }
    done->operations++;
    return sw_op_write(writer, rank, &op);
}

static bool put_sections(const extra_t *x, sw_op_writer_t *writer)
{
    const sw_sections_t *s = sw_op_sections(x->steps.ops);
    bool good = true;
    for (uint32_t i = 1; good && i <= s->count; i++)
        good = !*sw_sections_name(s, i) ||
               sw_op_write_section(writer, i, sw_sections_name(s, i));
    return good;
}

/* Contexts of all ranks stay so. */
static bool put_contexts(const extra_t *x, sw_op_writer_t *writer)
{
    uint32_t *members = malloc(x->more * sizeof *members);
    bool good = members != NULL;
    for (uint32_t i = 0; good && i < x->more; i++)
        members[i] = i;
    for (uint32_t i = 0; good && i < sw_op_context_count(x->steps.ops); i++) {
        uint32_t number, n, *old = sw_op_context(x->steps.ops, i, &number, &n);
        good = old != NULL;
        free(old);
        if (good && number && sw_lookup_get(&x->whole, number))
            good = sw_op_write_context(writer, number, x->more, members);
    }
    free(members);
    return good;
}

static bool write_all(extra_t *x, sw_op_writer_t *writer, sw_converted_t *done)
{
    bool good = put_contexts(x, writer) && put_sections(x, writer);
    sw_steps_rewind(&x->steps);
    while (good && next(x) > 0)
        for (uint32_t rank = 0; good && rank < x->more; rank++)
            good = put(x, writer, rank, done);
    return good;
}

/* Which contexts have all ranks in their order? */
static bool find_whole(extra_t *x)
{
    for (uint32_t i = 0; i < sw_op_context_count(x->steps.ops); i++) {
        uint32_t number, n, same = 0;
        uint32_t *members = sw_op_context(x->steps.ops, i, &number, &n);
        if (!members)
            return false;
        while (same < n && members[same] == same)
            same++;
        free(members);
        if (same == x->ranks && !sw_lookup_put(&x->whole, number))
            return false;
    }
    return true;
}

static bool write_file(extra_t *x, const char *out, sw_converted_t *done)
{
    char note[256];
    snprintf(note, sizeof note,
             "extrapolated from %u ranks to %u, as a %s; "
             "%.100s",
             x->ranks, x->more,
             sw_grid_dimensions(&x->grid) > 1 ? "grid" : "ring",
             sw_op_note(x->steps.ops));
    sw_op_writer_t *writer = sw_op_writer_new(out, x->more, note);
    bool good = writer && write_all(x, writer, done);
    if (writer)
        good = sw_op_writer_close(writer) && good;
    return good || sw_convert_fail("%s: %s", out, strerror(errno));
}

bool sw_extrapolate_ops(const char *in, const char *out, uint32_t ranks,
                        sw_converted_t *done)
{
    char why[1024];
    extra_t x = {.in = in, .more = ranks};
    sw_op_file_t *ops = sw_op_open(in, why, sizeof why);
    if (!ops)
        return sw_convert_fail("%s", why);
    x.ranks = sw_op_ranks(ops);
    x.step = calloc(x.ranks, sizeof *x.step);
    bool good = sw_steps_begin(&x.steps, ops) && x.step && find_whole(&x);
    if (!good)
        sw_convert_fail("%s: no memory", in);
    if (good && ranks < x.ranks)
        good = sw_convert_fail("%s has %u ranks: say more than that", in,
                               x.ranks);
    good = good && look(&x) && write_file(&x, out, done);
    sw_steps_end(&x.steps);
    sw_lookup_free(&x.whole);
    free(x.grids);
    free(x.step);
    sw_op_close(ops);
    return good;
}
