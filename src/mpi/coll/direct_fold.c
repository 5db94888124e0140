/*
 * direct_fold.c - see direct_fold.h.
 */
#include "direct_fold.h"

#include "coll/slice.h"
#include "device/carry.h"
#include "device/workspace.h"
#include "direct_round.h"
#include "mpi/base/device_kernel.h"
#include "mpi/base/reach.h"
#include "node/temporary.h"

#include <string.h>

/* What a member tells. A place is void where there are no bytes. */
typedef struct {
    sw_ipc_t operand;
    sw_ipc_t slice; /* of the result */
    uint64_t bytes; /* of the operand */
    uint32_t place; /* of the kernel */
    bool closed;    /* it cannot take part */
} head_t;

typedef struct {
    const sw_coll_call_t *k;
    sw_device_kernel_t kernel;
    size_t elem;
    const head_t *all;
    const void **from; /* [members] */
    sw_slice_t part;   /* what this member combines; elements */
    int sources;       /* ... of the first so many members; 0: nothing */
    sw_workspace_t *own;
    char *result; /* where its result is made, or NULL */
    char *to;     /* where its part is made */
} fold_t;

/* By what all members know alike. */
static bool is_sliced(sw_collective_t id)
{
    return id == SW_COLL_ALLREDUCE || id == SW_COLL_REDUCE;
}

static bool is_scan(sw_collective_t id)
{
    return id == SW_COLL_SCAN || id == SW_COLL_EXSCAN;
}

static sw_slice_t slice_of(const fold_t *f, int i)
{
    return sw_slice((size_t)f->k->reduction.ins, f->k->c->n, i,
                    sw_slice_grain(f->elem));
}

/* What this member does ---------------------------------------------------- */

static void choose_part(fold_t *f)
{
    const sw_coll_call_t *k = f->k;
    const sw_reduction_t *r = &k->reduction;
    int me = k->c->me;
    f->sources = k->c->n;
    f->part = (sw_slice_t){0, (size_t)r->ins};
    if (is_sliced(k->id)) {
        f->part = slice_of(f, me);
    } else if (is_scan(k->id)) {
        f->sources = me + (k->id == SW_COLL_SCAN);
    } else {
        for (int i = 0; i < me; i++)
            f->part.start += r->counts[i];
        f->part.count = r->counts[me];
    }
}

static bool in_place(const fold_t *f)
{
    const sw_reduction_t *r = &f->k->reduction;
    return r->outs && r->in == r->out;
}

/* Where the result is made: a slice of it in its place, all else at its
 * beginning. A member that gets none makes a slice for another. */
static bool choose_target(fold_t *f)
{
    const sw_reduction_t *r = &f->k->reduction;
    bool sliced = is_sliced(f->k->id);
    size_t at = f->part.start * f->elem, bytes = f->part.count * f->elem;
    f->result = f->to = r->outs && !in_place(f) ? r->out : NULL;
    bool whole = sliced && r->outs;
    if (!f->result && (whole || (f->sources && bytes))) {
        f->own = sw_workspace_take(r->in,
                                   whole ? (size_t)r->ins * f->elem : bytes);
        if (!f->own)
            return false;
        f->to = sw_workspace_at(f->own);
        f->result = r->outs ? f->to : NULL;
        sliced = whole;
    }
    if (f->to && sliced)
        f->to += at;
    return true;
}

/* Is all that this member passes where the kernels, and its peers, want it? */
static bool open_up(fold_t *f, head_t *h)
{
    const sw_reduction_t *r = &f->k->reduction;
    size_t bytes = f->part.count * f->elem;
    return sw_device_kernel_takes(f->kernel, r->in) &&
           (!r->outs || (sw_device_kernel_takes(f->kernel, r->out) &&
                         sw_device_holds(r->out))) &&
           sw_ipc_export(r->in, h->bytes, &h->operand) && choose_target(f) &&
           (!is_sliced(f->k->id) || !bytes ||
            sw_ipc_export(f->to, bytes, &h->slice));
}

static void tell(fold_t *f, head_t *h)
{
    memset(h, 0, sizeof *h);
    h->bytes = f->k->bytes;
    h->place = (uint32_t)f->kernel.place;
    choose_part(f);
    h->closed = !open_up(f, h);
}

/* All see the same heads. Members of a wrong program may differ in what they
 * reduce: the processor's way says so. */
static bool all_take_part(const fold_t *f)
{
    const head_t *h = f->all;
    for (int i = 0; i < f->k->c->n; i++)
        if (h[i].closed || h[i].bytes != h[0].bytes || h[i].place != h[0].place)
            return false;
    return true;
}

/* What it carries out ------------------------------------------------------ */

static bool combine(const fold_t *f)
{
    const sw_coll_call_t *k = f->k;
    int n = f->sources, opened = 0, me = k->c->me;
    size_t at = f->part.start * f->elem;
    bool good = true;
    if (!n || !f->part.count)
        return true;
    for (; opened < n && good; opened++) {
        const char *from = opened == me
                               ? k->reduction.in
                               : sw_direct_open(k->c, opened,
                                                &f->all[opened].operand, f->to);
        good = from;
        f->from[opened] = from ? from + at : NULL;
    }
    good = good &&
           sw_combine(&(sw_combine_t){
               .kernel = f->kernel.place,
               .order = is_scan(k->id) ? SW_COMBINE_LINE : SW_COMBINE_TREE,
               .sources = n,
               .source = f->from,
               .target = f->to,
               .n = (uint64_t)f->part.count * f->kernel.each});
    while (opened-- > 0)
        if (opened != me && f->from[opened])
            sw_ipc_done(f->from[opened]);
    return good;
}

/* The copy engine has no part in it between two devices: there the kernel
 * copies, which combines a single source. */
static bool copy(const fold_t *f, const void *from, void *to, size_t count)
{
    size_t bytes = count * f->elem;
    return sw_carry(&(sw_carry_side_t){.at = from, .count = (int64_t)bytes},
                    &(sw_carry_side_t){.at = to, .count = (int64_t)bytes},
                    bytes) ||
           sw_combine(&(sw_combine_t){.kernel = f->kernel.place,
                                      .sources = 1,
                                      .source = &from,
                                      .target = to,
                                      .n = (uint64_t)count * f->kernel.each});
}

static bool fetch(const fold_t *f, int i)
{
    sw_slice_t s = slice_of(f, i);
    if (!s.count)
        return true;
    void *at = sw_direct_open(f->k->c, i, &f->all[i].slice, f->result);
    bool done = at && copy(f, at, f->result + s.start * f->elem, s.count);
    if (at)
        sw_ipc_done(at);
    return done;
}

static bool fetch_all(const fold_t *f)
{
    int n = f->k->c->n, me = f->k->c->me;
    for (int j = 1; j < n && f->result; j++)
        if (!fetch(f, (me + j) % n))
            return false;
    return true;
}

/* Behind the last vote: nothing that others read is overwritten. */
static void settle(const fold_t *f)
{
    const sw_reduction_t *r = &f->k->reduction;
    if (f->own && f->result)
        sw_reach_copy(f->result, r->out, r->outs, r->type, f->k->comm);
}

/* True: it has gone well for all members. All take the same steps, whatever
 * goes wrong at one of them. */
static bool try(fold_t *f, head_t *mine)
{
    sw_comm_t *c = f->k->c;
    bool good;
    tell(f, mine);
    bool begun = sw_direct_tell(c, mine, sizeof *mine,
                                (char *)(uintptr_t)f->all) == SW_OK &&
                 all_take_part(f);
    bool done = begun && combine(f);
    sw_direct_vote(c, done, &good);
    if (good && is_sliced(f->k->id)) {
        done = fetch_all(f);
        sw_direct_vote(c, done, &good);
    }
    if (good)
        settle(f);
    sw_workspace_give(f->own, f->k->reduction.in, done || !begun);
    return good;
}

bool sw_direct_fold(sw_coll_call_t *k)
{
    sw_comm_t *c = k->c;
    fold_t f = {.k = k,
                .kernel = sw_device_kernel(&k->reduction.o),
                .elem = k->reduction.o.reducer.elem};
    if (f.kernel.place < 0 || k->bytes < SW_DIRECT_MIN ||
        c->n > SW_REDUCE_SOURCES || !sw_direct_due(&c->direct_folds))
        return false;
    size_t n = (size_t)c->n, heads = (n + 1) * sizeof(head_t);
    char *room = sw_temporary(heads + n * sizeof *f.from);
    f.all = (const head_t *)(void *)room + 1;
    f.from = (const void **)(void *)(room + heads);
    bool good = try(&f, (head_t *)(void *)room);
    sw_temporary_free(room);
    sw_direct_remember(&c->direct_folds, good);
    return good;
}
