/*
 * folds.c - see folds.h.
 */
#include "folds.h"

#include "coll/exchange.h"
#include "coll/slice.h"
#include "node/temporary.h"

#include <string.h>

#define BLOCK 16384 /* bytes combined at a time: they stay cached */
#define MOST 8      /* pieces of a member's slice */

static bool scans(sw_collective_t id)
{
    return id == SW_COLL_SCAN || id == SW_COLL_EXSCAN;
}

static bool scatters(sw_collective_t id)
{
    return id == SW_COLL_REDUCE_SCATTER || id == SW_COLL_REDUCE_SCATTER_BLOCK;
}

static sw_order_t order_of(const sw_fold_t *f)
{
    return scans(f->args.id) ? SW_ORDER_LINE : SW_ORDER_TREE;
}

/* The elements that belong to a member: its result, or its share. */
static sw_slice_t slice_of(const sw_fold_t *f, int member)
{
    const sw_coll_fold_t *a = &f->args;
    if (!scatters(a->id))
        return sw_slice(a->n, f->schedule.on->n, member,
                        sw_slice_grain(a->reducer->elem));
    if (!a->counts)
        return (sw_slice_t){(size_t)member * a->each, a->each};
    size_t start = 0;
    for (int i = 0; i < member; i++)
        start += a->counts[i];
    return (sw_slice_t){start, a->counts[member]};
}

static sw_pieces_t pieces_of(const sw_fold_t *f, sw_slice_t slice)
{
    unsigned count = sw_schedule_pieces(slice.count * f->args.reducer->elem,
                                        MOST);
    return (sw_pieces_t){0, slice.count ? sw_schedule_bits(0, count) : 0};
}

static bool gets(const sw_fold_t *f, int member)
{
    return f->args.id == SW_COLL_REDUCE
               ? member == f->args.root
               : f->args.id != SW_COLL_EXSCAN || member > 0;
}

/* Posting ------------------------------------------------------------------ */

/* Memory that the others read or write. If there is no room for what should
 * stand in for it, the form is SW_FORM_PUMPED. `aside`: not the user's own. */
static sw_part_t lend(sw_exposed_t *x, const sw_schedule_t *s, const void *p,
                      size_t bytes, bool in, bool aside)
{
    uint64_t there = aside || !bytes ? UINT64_MAX
                                     : sw_schedule_show(s, p, bytes);
    if (!sw_expose_shared(x, p, bytes, there, true, in))
        x->part.form = SW_FORM_PUMPED;
    return x->part;
}

static int operands(const sw_fold_t *f);

static void post(sw_schedule_t *s, sw_slate_row_t *row)
{
    sw_fold_t *f = (sw_fold_t *)s;
    const sw_coll_fold_t *a = &f->args;
    size_t bytes = a->n * a->reducer->elem;
    row->bytes = bytes;
    row->listed = 0;
    if (f->small) {
        bool within = bytes <= SW_SLATE_INLINE;
        row->form = within ? SW_FORM_INLINE : SW_FORM_STAGED;
        sw_copy(within ? row->data : sw_slate_area(s->on, s->step, s->on->me),
                a->in, bytes);
        return;
    }
    sw_slice_t mine = slice_of(f, s->on->me);
    size_t result = !a->out || !gets(f, s->on->me) ? 0
                    : scatters(a->id) ? mine.count * a->reducer->elem
                                      : bytes;
    sw_narrow_open(s, operands(f));
    row->send = lend(&f->in, s, a->in, bytes, true, false);
    /* Others still read the operand where a scattered result goes. */
    row->recv = lend(&f->out, s, a->out, result, false,
                     scatters(a->id) && a->in == a->out);
    bool lacks = row->send.form == SW_FORM_PUMPED ||
                 row->recv.form == SW_FORM_PUMPED;
    row->form = lacks ? SW_FORM_PUMPED : SW_FORM_ARENA;
    sw_schedule_open(s);
}

/* Working ------------------------------------------------------------------ */

/* Are the rows of members 0 .. count - 1 there, and alike? */
static bool all_there(sw_fold_t *f, int count)
{
    sw_schedule_t *s = &f->schedule;
    bool there = true;
    for (int i = 0; i < count; i++) {
        const sw_slate_row_t *row = sw_schedule_look(s, i);
        there = there && row;
        if (row && row->bytes != f->args.n * f->args.reducer->elem)
            sw_schedule_bad(s, SW_TRUNCATED);
    }
    return there && !s->status;
}

/* Fills *to, whose other fields are zeros. */
static void operand_of(const sw_fold_t *f, int member, sw_source_t *to)
{
    const sw_slates_t *on = f->schedule.on;
    const sw_slate_row_t *row = sw_schedule_row(&f->schedule, member);
    to->at = member == on->me && !f->small ? f->args.in
             : row->form == SW_FORM_INLINE ? row->data
             : row->form == SW_FORM_STAGED
                 ? sw_slate_area(on, f->schedule.step, member)
                 : on->team->peer[member]->arena + row->send.address;
    to->bytes = row->bytes;
}

/* Where element 0 of a member's result lies in this process; a scattered
 * result begins with the member's first element. */
static char *result_of(const sw_fold_t *f, int member)
{
    const sw_slates_t *on = f->schedule.on;
    const sw_slate_row_t *row = sw_schedule_row(&f->schedule, member);
    if (member == on->me)
        return f->out.copy ? f->out.copy : f->args.out;
    return on->team->peer[member]->arena + row->recv.address;
}

/* This member has written to its own result. */
static void wrote(const sw_fold_t *f, size_t at, size_t bytes)
{
    if (!f->out.copy)
        sw_show_stage((const char *)f->args.out + at, bytes);
}

/* Combines n elements from byte `at` on into the results of all that get them.
 */
static int combine(sw_fold_t *f, const sw_source_t *from, size_t at, size_t n)
{
    const sw_slates_t *on = f->schedule.on;
    size_t bytes = n * f->args.reducer->elem;
    char *first = NULL;
    int rc = SW_OK;
    for (int k = 0; k < on->n && !rc; k++) {
        int member = on->me + k < on->n ? on->me + k : on->me + k - on->n;
        if (!gets(f, member))
            continue;
        char *to = result_of(f, member) + at;
        if (first)
            sw_copy(to, first, bytes);
        else
            rc = sw_reducer_combine_in(&f->schedule.scratch, f->args.reducer,
                                       SW_ORDER_TREE, from, on->n, at, to, n);
        first = first ? first : to;
    }
    return rc;
}

static int combine_scattered(sw_fold_t *f, const sw_source_t *from, int owner,
                             size_t at, size_t n)
{
    size_t start = slice_of(f, owner).start * f->args.reducer->elem;
    return sw_reducer_combine_in(&f->schedule.scratch, f->args.reducer,
                                 SW_ORDER_TREE, from, f->schedule.on->n, at,
                                 result_of(f, owner) + at - start, n);
}

/* The operand of the next member, which the prefix is combined with. With
 * MPI_IN_PLACE it is read before its place is written. */
static void step_on(const sw_reducer_t *r, const char *operand, size_t n,
                    char **prefix, char **other)
{
    char *a = *prefix, *b = *other;
    if (r->kernel) {
        r->kernel(a, a, operand, n);
        return;
    }
    if (operand != b)
        sw_copy(b, operand, n * r->elem);
    r->user(r, a, b, n);
    *prefix = b;
    *other = a;
}

/* Walks the members in rank order with the prefix of n elements. */
static int walk(sw_fold_t *f, const sw_source_t *from, size_t at, size_t n)
{
    const sw_slates_t *on = f->schedule.on;
    const sw_reducer_t *r = f->args.reducer;
    size_t bytes = n * r->elem, half = sw_round_up(bytes, SW_LINE);
    bool exclusive = f->args.id == SW_COLL_EXSCAN;
    char *a = sw_scratch(&f->schedule.scratch, 2 * half), *b = a + half;
    if (!a)
        return SW_UNREACHABLE;
    sw_copy(a, from[0].at + at, bytes);
    if (!exclusive)
        sw_copy(result_of(f, 0) + at, a, bytes);
    for (int i = 1; i < on->n; i++) {
        const char *operand = from[i].at + at;
        if (exclusive) {
            sw_copy(b, operand, bytes);
            operand = b;
            sw_copy(result_of(f, i) + at, a, bytes);
        }
        step_on(r, operand, n, &a, &b);
        if (!exclusive)
            sw_copy(result_of(f, i) + at, a, bytes);
    }
    return SW_OK;
}

/* Elements [begin, end) of one member's slice. */
static void do_piece(sw_fold_t *f, int owner, size_t begin, size_t end)
{
    const sw_slates_t *on = f->schedule.on;
    size_t elem = f->args.reducer->elem, each = sw_max(BLOCK / elem, 1);
    SW_ARRAY(sw_source_t, from, on->n);
    int rc = SW_OK;
    memset(from, 0, (size_t)on->n * sizeof *from);
    for (int i = 0; i < on->n; i++)
        operand_of(f, i, &from[i]);
    for (size_t i = begin; i < end && !rc; i += each) {
        size_t n = sw_min(each, end - i);
        rc = scans(f->args.id) ? walk(f, from, i * elem, n)
             : scatters(f->args.id)
                 ? combine_scattered(f, from, owner, i * elem, n)
                 : combine(f, from, i * elem, n);
    }
    if (rc)
        sw_schedule_bad(&f->schedule, rc);
    if (!scatters(f->args.id) && gets(f, on->me))
        wrote(f, begin * elem, (end - begin) * elem);
    else if (scatters(f->args.id) && owner == on->me)
        wrote(f, (begin - slice_of(f, owner).start) * elem,
              (end - begin) * elem);
}

/* Claims a piece of a member's slice, unless a member has left too early. */
static uint64_t claim(sw_fold_t *f, sw_slate_row_t *row, sw_pieces_t of)
{
    sw_schedule_t *s = &f->schedule;
    uint64_t bit = 0;
    bool all = true;
    sw_slate_touch(s->on);
    for (int i = 0; i < s->on->n && all; i++)
        all = !sw_row_left(sw_schedule_row(s, i), s->turn);
    if (all)
        bit = sw_row_claim(row, of);
    if (!bit)
        sw_slate_touched(s->on);
    return bit;
}

static bool work_on(sw_fold_t *f, int owner)
{
    sw_schedule_t *s = &f->schedule;
    sw_slate_row_t *row = sw_schedule_row(s, owner);
    sw_slice_t slice = slice_of(f, owner);
    sw_pieces_t all = pieces_of(f, slice);
    uint64_t bit = all.bits ? claim(f, row, all) : 0;
    if (!bit)
        return false;
    unsigned count = (unsigned)__builtin_popcountll(all.bits);
    unsigned index = (unsigned)__builtin_ctzll(bit);
    sw_slice_t piece = sw_slice(slice.count, (int)count, (int)index,
                                sw_slice_grain(f->args.reducer->elem));
    do_piece(f, owner, slice.start + piece.start,
             slice.start + piece.start + piece.count);
    sw_row_tick(s->on, row, 0, bit);
    sw_slate_touched(s->on);
    return true;
}

/* How many operands, from member 0 on, this member's own result takes. */
static int operands(const sw_fold_t *f)
{
    const sw_slates_t *on = f->schedule.on;
    if (!f->args.out || !gets(f, on->me))
        return 0;
    return f->args.id == SW_COLL_SCAN     ? on->me + 1
           : f->args.id == SW_COLL_EXSCAN ? on->me
                                          : on->n;
}

/* Combines all operands into this member's result. */
static bool conclude_small(sw_fold_t *f)
{
    const sw_slates_t *on = f->schedule.on;
    int count = operands(f);
    SW_ARRAY(sw_source_t, from, on->n);
    if (!all_there(f, count))
        return false;
    memset(from, 0, (size_t)count * sizeof *from);
    for (int i = 0; i < count; i++)
        operand_of(f, i, &from[i]);
    sw_slice_t part = {0, f->args.n};
    if (scatters(f->args.id))
        part = slice_of(f, on->me);
    int rc = sw_reducer_combine_in(
        &f->schedule.scratch, f->args.reducer, order_of(f), from, count,
        part.start * f->args.reducer->elem, f->args.out, part.count);
    if (rc)
        sw_schedule_bad(&f->schedule, rc);
    f->waiting = false;
    return true;
}

/* All rows are there. Does one say that its member lacks room? Then this member
 * computes its result itself. It does not write where others still need what it
 * reads. */
static void choose_way(sw_fold_t *f)
{
    const sw_coll_fold_t *a = &f->args;
    sw_schedule_t *s = &f->schedule;
    for (int i = 0; i < s->on->n; i++)
        f->is_narrow |= sw_schedule_row(s, i)->form == SW_FORM_PUMPED;
    if (sw_likely(!f->is_narrow))
        return;
    sw_slice_t part = {0, a->n};
    if (scatters(a->id)) {
        part = slice_of(f, s->on->me);
        if (a->in == a->out && f->out.bytes && !f->out.copy)
            f->out.copy = sw_temporary(f->out.bytes);
    }
    f->narrow = (sw_narrow_t){.reducer = a->reducer,
                              .order = order_of(f),
                              .in = a->in,
                              .n = a->n,
                              .out = f->out.copy ? f->out.copy : a->out,
                              .first = part.start,
                              .count = part.count,
                              .operands = operands(f)};
    sw_narrow_begin(&f->narrow, s);
}

static bool work(sw_schedule_t *s, bool calls)
{
    sw_fold_t *f = (sw_fold_t *)s;
    int n = s->on->n, me = s->on->me;
    if (!calls && !f->args.reducer->kernel)
        return false;
    if (f->small)
        return conclude_small(f);
    if (!f->present && all_there(f, n)) {
        f->present = true;
        choose_way(f);
    }
    if (sw_unlikely(f->is_narrow))
        return sw_narrow_work(&f->narrow, s);
    for (int k = 0; k < n && f->present; k++)
        if (work_on(f, me + k < n ? me + k : me + k - n))
            return true;
    return false;
}

static bool over(sw_schedule_t *s)
{
    sw_fold_t *f = (sw_fold_t *)s;
    if (sw_unlikely(f->is_narrow))
        return sw_narrow_over(&f->narrow, s);
    for (; !f->small && f->present && f->owner < s->on->n; f->owner++) {
        const sw_slate_row_t *row = sw_schedule_row(s, f->owner);
        sw_pieces_t all = pieces_of(f, slice_of(f, f->owner));
        if (sw_row_ticked(s->on, row, all))
            continue;
        for (int i = 0; i < s->on->n; i++)
            sw_schedule_deserted(s, i, row, all);
        return false;
    }
    return !f->waiting || f->owner == s->on->n;
}

/* Beginning and end -------------------------------------------------------- */

static void end(sw_schedule_t *s)
{
    sw_fold_t *f = (sw_fold_t *)s;
    if (f->small)
        return;
    sw_expose_end(&f->in, false);
    /* On the narrow way no other member has written. */
    sw_expose_end(&f->out,
                  f->out.bytes && !s->status && (!f->is_narrow || f->out.copy));
}

/* Does each member do better to combine all operands itself? All decide alike.
 */
static bool is_small(const sw_slates_t *on, size_t bytes)
{
    size_t most = on->n <= SW_FLAT ? on->area : SW_SLATE_INLINE;
    return bytes <= most && bytes * (size_t)(on->n - 1) < on->team->slice;
}

static const sw_schedule_kind_t fold_kind = {post, work, over, end};

void sw_fold_begin(sw_fold_t *f, sw_slates_t *on)
{
    const sw_coll_fold_t *args = &f->args;
    size_t bytes = args->n * args->reducer->elem;
    f->owner = 0;
    f->present = f->is_narrow = false;
    f->small = is_small(on, bytes);
    f->schedule.on = on;
    f->waiting = !f->small || operands(f);
    sw_schedule_begin(&f->schedule, &fold_kind, on,
                      sw_sequence_what((int)args->id, args->id == SW_COLL_REDUCE
                                                          ? args->root
                                                          : 0));
}
