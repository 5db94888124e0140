/*
 * slates.c - see slates.h.
 */
#include "slates.h"

#include "notices.h"
#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>

#define FEW 4
#define AHEAD 4
#define SHORT 2 /* a depth that serves all: see parts.c */

/* Few members have many slates, so that a stream of rooted collectives can run
 * ahead; many have few, to save memory. */
static unsigned usual_depth(int n)
{
    return n <= 64 ? 16 : 8;
}

/* Two tables of extents must fit, and a payload that is copied. */
static size_t area_bytes(int n)
{
    return sw_round_up(32 * (size_t)n + SW_PAGE, SW_PAIR);
}

static unsigned words_of(int n)
{
    return ((unsigned)n + SW_SLATE_BITS - 1) / SW_SLATE_BITS;
}

static size_t row_bytes(int n)
{
    return sw_round_up(
        sizeof(sw_slate_row_t) + 2 * words_of(n) * sizeof(uint64_t), SW_PAIR);
}

static size_t head_bytes(int n)
{
    return SW_PAIR + (size_t)n * sizeof(sw_slate_column_t);
}

/* Bytes of a block, of which the first *zeroed begin as zeros. */
static size_t block_bytes(int n, unsigned depth, size_t *zeroed)
{
    size_t rows = (size_t)n * depth;
    *zeroed = sw_round_up(head_bytes(n) + rows * row_bytes(n), SW_PAGE);
    return *zeroed + rows * area_bytes(n);
}

static void set_depth(sw_slates_t *s, unsigned depth)
{
    s->depth = depth;
    s->shift = (unsigned)__builtin_ctz(depth);
}

static void place(sw_slates_t *s, char *block)
{
    size_t zeroed;
    block_bytes(s->n, s->depth, &zeroed);
    s->block = block;
    s->bell = (sw_doorbell_t *)(void *)block;
    s->columns = (sw_slate_column_t *)(void *)(block + SW_PAIR);
    s->rows = block + head_bytes(s->n);
    s->areas = block + zeroed;
}

static char *try_to_take(sw_slates_t *s, unsigned depth, bool anywhere)
{
    sw_notice_want_t want = {
        .name = s->name, .n = s->n, .note = depth, .anywhere = anywhere};
    want.bytes = block_bytes(s->n, depth, &want.zeroed);
    set_depth(s, depth);
    return sw_notice_put(&want);
}

/* The leader takes the block. Where room is short, it makes do with few
 * slates. */
static void take_block(sw_slates_t *s, unsigned depth)
{
    char *block = try_to_take(s, depth, false);
    if (sw_unlikely(!block))
        block = try_to_take(s, SHORT, true);
    s->refused = !block;
    if (block)
        place(s, block);
    else
        sw_notice_refuse(s->name);
}

sw_slates_t *sw_slates_open(sw_team_t *team, uint64_t name, unsigned depth)
{
    int n = team->n;
    sw_slates_t *s = calloc(1, sizeof *s);
    if (!s || !(s->known = calloc((size_t)n, sizeof *s->known))) {
        sw_say("out of memory while setting a communicator up");
        abort();
    }
    s->team = sw_team_hold(team);
    s->n = n;
    s->me = team->me;
    s->words = words_of(n);
    s->row_bytes = row_bytes(n);
    s->area = area_bytes(n);
    s->name = name;
    if (s->me == 0)
        take_block(s, depth ? depth : usual_depth(n));
    return s;
}

bool sw_slates_find(sw_slates_t *s)
{
    uint32_t depth;
    char *block = NULL;
    if (!s->refused)
        block = sw_notice_find(s->team->peer[0], s->name, &depth, &s->refused);
    if (block) {
        set_depth(s, depth);
        place(s, block);
    }
    return block;
}

void sw_slates_close(sw_slates_t *s)
{
    /* not, if a member died before it was found, or there is none */
    if (s->block)
        sw_notice_leave(s->block);
    sw_team_drop(s->team);
    free((void *)s->known);
    free(s);
}

/* A member's column tells of steps to come, too, but of none after one that is
 * under way; its row of `step` tells of that slate. */
static bool has_left(sw_slates_t *s, int member, uint64_t step, uint64_t last)
{
    uint64_t all = atomic_load_explicit(&s->columns[member].left,
                                        memory_order_acquire);
    sw_slate_hear(s, member, all);
    return all >= last ||
           sw_row_left(sw_slate_row(s, step, member), sw_slate_turn(s, last));
}

bool sw_slate_free(sw_slates_t *s, uint64_t step)
{
    if (step <= s->depth)
        return true;
    uint64_t last = step - s->depth;
    for (int i = 0; i < s->n; i++)
        if (atomic_load_explicit(&s->known[i], memory_order_acquire) < last &&
            !has_left(s, i, step, last))
            return false;
    return true;
}

void sw_slate_post(sw_slates_t *s, uint64_t step, sw_slate_row_t *row)
{
    uint64_t turn = sw_slate_turn(s, step);
    /* Another thread of this member may have left. */
    row->before = atomic_load_explicit(&s->columns[s->me].left,
                                       memory_order_acquire);
    for (unsigned i = 0; i < 2 * s->words; i++)
        atomic_store_explicit(&row->word[i], 0, memory_order_relaxed);
    atomic_store_explicit(&row->posted, turn, memory_order_release);
    /* As for the entries of a sequence (coll/sequence.h): the rows to come are
     * fetched before they are written, where no member reads them any more. */
    if (sw_likely(s->n <= FEW && s->depth > AHEAD &&
                  sw_slate_free(s, step + AHEAD))) {
        const char *next = (const char *)sw_slate_row(s, step + AHEAD, s->me);
        sw_prefetch_write(next);
        sw_prefetch_write(next + 2 * SW_PAIR);
    }
}

/* Steps may end in any order. */
static void leave(sw_slates_t *s, uint64_t step, memory_order order)
{
    atomic_store_explicit(&sw_slate_row(s, step, s->me)->left,
                          sw_slate_turn(s, step), order);
    uint64_t all = s->left;
    while (all < s->step &&
           atomic_load_explicit(&sw_slate_row(s, all + 1, s->me)->left,
                                memory_order_relaxed) >=
               sw_slate_turn(s, all + 1))
        all++;
    s->left = all;
    atomic_store_explicit(&s->columns[s->me].left, all, memory_order_release);
}

void sw_slate_leave(sw_slates_t *s, uint64_t step)
{
    leave(s, step, memory_order_release);
}

void sw_slate_give_up(sw_slates_t *s, uint64_t step)
{
    if (!s->rows) /* not found: it has posted nothing */
        return;
    leave(s, step, memory_order_seq_cst);
    for (int i = 0; i < s->n; i++) {
        unsigned turns = 0;
        while (i != s->me && atomic_load(&s->columns[i].touching) &&
               !sw_peer_turn(s->team->peer[i], &turns))
            ;
    }
}
