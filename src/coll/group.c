/*
 * group.c - making groups, and the slow paths of a step; see group.h.
 */
#include "group.h"

#include "node/arena/arena.h"
#include "node/base/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1

const char *const sw_group_full = "the pool of blocks is full";

/* Deeper rings for few members, where a stream of rooted steps shall run
 * ahead; shallower for many, where memory counts. */
static unsigned ring_entries(int n)
{
    return n <= 16 ? SW_RING_MAX : n <= 64 ? 16 : 8;
}

/* A staging ring holds 128 KiB, less for many members so that a communicator's
 * staging stays within 8 MiB. A quarter of it is the largest payload: that
 * always finds room, and leaves some for running ahead. A table of extents
 * must fit too. */
static size_t stage_max(int n)
{
    size_t most = 32768;
    while (most > 8192 && 4 * most * (size_t)n > (8u << 20))
        most /= 2;
    return sw_max(most, sw_round_up(16 * (size_t)n + SW_LINE, SW_PAGE));
}

static size_t stage_bytes(int n)
{
    return 4 * stage_max(n);
}

static size_t lane_bytes(int n)
{
    return sizeof(sw_group_lane_t) + ring_entries(n) * sizeof(sw_entry_t);
}

size_t sw_group_bytes(int n, size_t *zeroed)
{
    size_t lanes = sw_round_up(SW_PAIR + (size_t)n * lane_bytes(n), SW_PAGE);
    if (zeroed)
        *zeroed = lanes;
    return lanes + (size_t)n * stage_bytes(n);
}

bool sw_group_introduce(sw_introduction_t *to, int virtual_node)
{
    memset(to, 0, sizeof *to);
    to->version = VERSION;
    to->virtual_node = virtual_node;
    to->eager = sw_settings.eager_max;
    to->slice = sw_settings.slice_min;
    sw_location_self(&to->where);
    return sw_peer_card(&to->card);
}

void sw_group_answer(const sw_introduction_t *all, int n, int me,
                     sw_peer_t **peer, sw_group_answer_t *to)
{
    *to = (sw_group_answer_t){
        .ok = SW_AGREE_NODE | SW_AGREE_ARENA | SW_AGREE_CMA};
    for (int i = 0; i < n; i++) {
        const sw_introduction_t *in = &all[i];
        peer[i] = NULL;
        if (in->version == VERSION &&
            in->virtual_node == all[me].virtual_node)
            peer[i] = sw_peer_attach(&in->card);
        if (!peer[i] || (i == 0 && !sw_peer_control(peer[i]))) {
            to->ok = 0;
            return;
        }
        if (i == me) {
            if (sw_arena.fd < 0)
                to->ok &= ~(uint32_t)SW_AGREE_ARENA;
            continue;
        }
        if (!peer[i]->arena)
            to->ok &= ~(uint32_t)SW_AGREE_ARENA;
        if (!peer[i]->cma)
            to->ok &= ~(uint32_t)SW_AGREE_CMA;
    }
    if (me == 0) {
        size_t zeroed, bytes = sw_group_bytes(n, &zeroed);
        to->offset = sw_segment_alloc(bytes, zeroed, n);
    }
    if (me != 0 || to->offset)
        to->ok |= SW_AGREE_BLOCK;
}

/* The leader's block, seen from here. */
static sw_block_t *block_at(sw_peer_t *leader, uint64_t offset)
{
    return (sw_block_t *)(leader->control + offset);
}

/* Trees and use tables, in one allocation each. */
static bool furnish(sw_group_t *g, const sw_introduction_t *all)
{
    unsigned ring = ring_entries(g->n);
    g->mask = ring - 1;
    g->ring_use = calloc(ring, sizeof *g->ring_use);
    g->known = calloc((size_t)g->n, sizeof *g->known);
    if (!g->ring_use || !g->known)
        return false;
    if (g->n <= SW_FLAT)
        return true;
    sw_location_t *where = malloc((size_t)g->n * sizeof *where);
    g->tree = malloc(sw_tree_bytes(g->n));
    g->ordered = malloc(sw_tree_bytes(g->n));
    bool ok = where && g->tree && g->ordered;
    if (ok) {
        for (int i = 0; i < g->n; i++)
            where[i] = all[i].where;
        sw_tree_build(where, g->n, SW_FANOUT, g->tree);
        sw_tree_build_ordered(g->n, SW_FANOUT, g->ordered);
    }
    free(where);
    return ok;
}

static void dispose(sw_group_t *g)
{
    free(g->ring_use);
    free(g->known);
    free(g->tree);
    free(g->ordered);
    free(g->scratch);
    free(g->no_stage);
    free(g);
}

sw_group_t *sw_group_open(const sw_introduction_t *all,
                          const sw_group_answer_t *answers, int n, int me,
                          sw_peer_t **peer, const char **why)
{
    uint32_t ok = ~0u;
    for (int i = 0; i < n; i++)
        ok &= answers[i].ok;
    uint64_t offset = answers[0].offset;
    *why = NULL;
    if (!(ok & SW_AGREE_NODE))
        *why = "not on one node";
    else if (!(ok & (SW_AGREE_ARENA | SW_AGREE_CMA)))
        *why = "no way to reach a peer's memory";
    else if (!(ok & SW_AGREE_BLOCK))
        *why = sw_group_full;
    sw_group_t *g = *why ? NULL : calloc(1, sizeof *g);
    if (!g) {
        /* Undo what the leader reserved: nobody else will come. */
        if (me == 0 && offset)
            atomic_store(&block_at(peer[0], offset)->members, 0);
        if (!*why) {
            sw_say("out of memory while setting a communicator up");
            abort();
        }
        return NULL;
    }
    g->n = n;
    g->me = me;
    g->arena = ok & SW_AGREE_ARENA;
    g->cma = ok & SW_AGREE_CMA;
    g->peer = peer;
    g->block = block_at(peer[0], offset);
    g->lanes = (char *)g->block + SW_PAIR;
    g->lane_bytes = lane_bytes(n);
    size_t zeroed;
    sw_group_bytes(n, &zeroed);
    g->staging = (char *)g->block + zeroed;
    g->stage_bytes = stage_bytes(n);
    g->stage_max = stage_max(n);
    /* A sender that waits for its readers gives them something to do for it:
     * where ranks take turns on a core, that costs a turn. */
    g->eager = g->eager_all = g->stage_max;
    g->crowded = answers[0].crowded;
    if (!g->crowded) {
        g->eager = sw_min(all[0].eager, g->stage_max);
        g->eager_all = g->eager / 8;
    }
    g->slice = sw_min(all[0].slice, g->stage_max + 1);
    if (!furnish(g, all)) {
        sw_say("out of memory while setting a communicator up");
        abort();
    }
    return g;
}

void sw_group_give_up(sw_group_t *g)
{
    atomic_store(&g->block->given_up, 1);
    for (int i = 0; i < g->n; i++) {
        const sw_group_lane_t *lane = sw_lane(g, i);
        unsigned turns = 0;
        while (i != g->me && atomic_load(&lane->touching) &&
               !sw_peer_turn(g->peer[i], &turns))
            ;
    }
}

void sw_group_close(sw_group_t *g)
{
    sw_segment_leave(g->block);
    free(g->peer);
    dispose(g);
}

/* Wait until a reader is done with `step`, knowing that it is far behind: its
 * ring is full of us. Looking at its done word takes the word's line from it,
 * at each look, and slows down the very stream that we wait for. So look
 * seldom, and (for a while) until half the ring is free again. */
#define LOOKS 16
#define PAUSES 8

static void await_room(sw_group_t *g, int reader, uint64_t step)
{
    uint64_t half = sw_min(step + (g->mask + 1) / 2, g->step - 1);
    if (g->known[reader] >= step)
        return;
    sw_group_lane_t *lane = sw_lane(g, reader);
    for (int look = sw_wait_crowded() ? LOOKS : 0; look < LOOKS; look++) {
        g->known[reader] = atomic_load_explicit(&lane->done,
                                                memory_order_acquire);
        if (g->known[reader] >= half)
            return;
        for (int i = 0; i < PAUSES; i++)
            sw_os_pause();
    }
    sw_await_done(g, reader, step);
}

/* Wait until every reader of an entry or of staged bytes is done with them. */
void sw_reuse_wait(sw_group_t *g, const sw_use_t *use)
{
    if (use->readers >= 0) {
        await_room(g, use->readers, use->step);
        return;
    }
    if (use->readers == SW_READ_NEIGHBOURS) {
        for (int i = 0; i < g->neighbours->readers; i++)
            await_room(g, g->neighbours->reader[i], use->step);
        return;
    }
    if (use->readers != SW_READ_ALL && g->tree) {
        int16_t child[SW_CHILDREN];
        int root = -2 - use->readers;
        int count = sw_tree_children(g->tree, root, g->me, child);
        for (int i = 0; i < count; i++)
            await_room(g, child[i], use->step);
        return;
    }
    /* All of them: take the least done word as the new horizon, so that the
     * next uses need not look. */
    uint64_t least = UINT64_MAX;
    for (int k = 1; k < g->n; k++) {
        int member = sw_neighbour(g, k);
        await_room(g, member, use->step);
        least = g->known[member] < least ? g->known[member] : least;
    }
    g->acked = least > g->acked ? least : g->acked;
}

/* Room that nobody looks at: the readers of the entry find out that this member
 * has given up. */
static char *no_stage(sw_group_t *g, sw_entry_t *entry)
{
    if (!g->no_stage)
        g->no_stage = sw_array_memory(g->stage_bytes);
    entry->place = 0;
    return g->no_stage;
}

char *sw_claim_stage(sw_group_t *g, uint64_t step, int readers, size_t n,
                     sw_entry_t *entry)
{
    size_t ring = g->stage_bytes, need = sw_round_up(n, SW_LINE);
    uint64_t at = g->stage_head;
    if (ring - at % ring < need)
        at += ring - at % ring;
    while (at + need > g->stage_tail + ring ||
           g->staged_count == SW_RING_MAX) {
        const sw_staged_t *oldest = &g->staged[g->staged_first];
        if (oldest->use.step > g->acked)
            sw_reuse_wait(g, &oldest->use);
        if (sw_unlikely(g->broken))
            return no_stage(g, entry);
        g->stage_tail = oldest->end;
        g->staged_first = (g->staged_first + 1) % SW_RING_MAX;
        g->staged_count--;
    }
    unsigned last = (g->staged_first + g->staged_count++) % SW_RING_MAX;
    g->staged[last] = (sw_staged_t){at + need, {step, readers}};
    g->stage_head = at + need;
    entry->place = (uint16_t)(at % ring / SW_LINE);
    return sw_staged(g, g->me, entry->place);
}

/* An entry that does not come: wait in stages, and notice a member that is
 * done with the step without having posted, or is past it. That is a program
 * whose members call different collectives: an error, not a hang. */
int sw_await_slow(sw_group_t *g, int member, uint64_t step)
{
    sw_group_lane_t *lane = sw_lane(g, member);
    sw_entry_t *e = sw_entry(g, member, step);
    uint64_t seen = 0;
    SW_WAIT_UNLESS(g->broken,
        (seen = atomic_load_explicit(&e->seq, memory_order_acquire)) >= step ||
            atomic_load_explicit(&lane->done, memory_order_acquire) >= step,
        &lane->doorbell);
    if (sw_unlikely(g->broken))
        return SW_BROKEN;
    /* Post comes before done: look at the entry again. */
    seen = atomic_load_explicit(&e->seq, memory_order_acquire);
    return seen == step ? SW_OK : sw_mismatch(g);
}

char *sw_scratch(sw_group_t *g, size_t n)
{
    if (n > g->scratch_bytes) {
        n = sw_round_up(n, SW_PAGE);
        free(g->scratch);
        g->scratch = aligned_alloc(SW_LINE, n);
        g->scratch_bytes = g->scratch ? n : 0;
    }
    return g->scratch;
}
