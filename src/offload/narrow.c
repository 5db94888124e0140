/*
 * narrow.c - see narrow.h.
 */
#include "narrow.h"

#include <string.h>

static sw_narrow_area_t *area_of(const sw_schedule_t *s, int member)
{
    return (sw_narrow_area_t *)(void *)sw_slate_area(s->on, s->step, member);
}

static uint64_t put_of(const sw_schedule_t *s, int member)
{
    return atomic_load_explicit(&area_of(s, member)->put, memory_order_acquire);
}

void sw_narrow_open(sw_schedule_t *s, bool takes)
{
    sw_narrow_area_t *mine = area_of(s, s->on->me);
    atomic_store_explicit(&mine->put, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->taken, takes ? 0 : UINT64_MAX,
                          memory_order_relaxed);
}

void sw_narrow_begin(sw_narrow_t *w, const sw_schedule_t *s)
{
    size_t elem = w->reducer->elem;
    w->room = s->on->area - sizeof(sw_narrow_area_t);
    w->block = elem > w->room ? elem : w->room / elem * elem;
    w->put = w->taken = 0;
}

static uint64_t all_bytes(const sw_narrow_t *w)
{
    return (uint64_t)w->n * w->reducer->elem;
}

/* Where the block ends that begins at, or has, byte `at`; and the chunk. */
static uint64_t block_end(const sw_narrow_t *w, uint64_t at)
{
    return sw_min(all_bytes(w), (at / w->block + 1) * w->block);
}
static uint64_t chunk_end(const sw_narrow_t *w, uint64_t at)
{
    return sw_min(block_end(w, at), at + w->room);
}

/* Puts the next chunk, if all have taken the last one. */
static bool put(sw_narrow_t *w, sw_schedule_t *s)
{
    sw_narrow_area_t *mine = area_of(s, s->on->me);
    if (w->put == all_bytes(w))
        return false;
    for (int i = 0; i < s->on->n; i++)
        if (atomic_load_explicit(&area_of(s, i)->taken, memory_order_acquire) <
            w->put)
            return false;
    uint64_t end = chunk_end(w, w->put);
    sw_copy(mine->data, w->in + w->put, end - w->put);
    w->put = end;
    atomic_store_explicit(&mine->put, end, memory_order_release);
    return true;
}

/* Combines the operands of the block that ends here, as far as they are part of
 * this member's result. */
static int combine(const sw_narrow_t *w, sw_schedule_t *s, char *copies,
                   uint64_t begin, uint64_t end)
{
    size_t elem = w->reducer->elem;
    size_t low = sw_max((size_t)begin / elem, w->first);
    size_t high = sw_min((size_t)end / elem, w->first + w->count);
    SW_ARRAY(sw_source_t, from, w->operands);
    for (int i = 0; i < w->operands; i++)
        from[i] = sw_source_own(copies + (size_t)i * w->block, end - begin);
    return low >= high
               ? SW_OK
               : sw_reducer_combine_in(&s->scratch, w->reducer, w->order, from,
                                       w->operands, low * elem - begin,
                                       w->out + (low - w->first) * elem,
                                       high - low);
}

/* Takes the next chunk of all operands, if they are there. */
static bool take(sw_narrow_t *w, sw_schedule_t *s)
{
    uint64_t at = w->taken, end = chunk_end(w, at);
    uint64_t begin = at / w->block * w->block;
    if (!w->operands || at == all_bytes(w))
        return false;
    /* With MPI_IN_PLACE the result goes where this member's operand is, which
     * must have been put. */
    if (w->put < end)
        return false;
    for (int i = 0; i < w->operands; i++)
        if (put_of(s, i) < end)
            return false;
    char *copies = sw_scratch(&s->room, (size_t)w->operands * w->block);
    if (!copies) {
        sw_schedule_bad(s, SW_NO_ROOM);
        return false;
    }
    for (int i = 0; i < w->operands; i++)
        sw_copy(copies + (size_t)i * w->block + (at - begin),
                area_of(s, i)->data, end - at);
    w->taken = end;
    atomic_store_explicit(&area_of(s, s->on->me)->taken, end,
                          memory_order_release);
    if (end == block_end(w, at)) {
        int rc = combine(w, s, copies, begin, end);
        if (rc)
            sw_schedule_bad(s, rc);
    }
    return true;
}

bool sw_narrow_work(sw_narrow_t *w, sw_schedule_t *s)
{
    bool any = put(w, s);
    return take(w, s) || any;
}

bool sw_narrow_over(const sw_narrow_t *w, sw_schedule_t *s)
{
    if (w->put == all_bytes(w) && (!w->operands || w->taken == all_bytes(w)))
        return true;
    for (int i = 0; i < s->on->n; i++)
        if (sw_row_left(sw_schedule_row(s, i), s->turn) &&
            put_of(s, i) < all_bytes(w))
            sw_schedule_bad(s, SW_BROKEN);
    return false;
}
