/*
 * ring.c - making rings, and the slow paths of a step; see ring.h.
 */
#include "ring.h"

#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>

/* Few members have deep lanes, so that a stream of rooted steps can run ahead;
 * many have shallow ones, to save memory. */
static unsigned lane_depth(int n)
{
    return n <= 16 ? SW_RING_MAX : n <= 64 ? 16 : 8;
}

static size_t stage_bytes(int n)
{
    return 4 * sw_team_stage_max(n);
}

static size_t lane_bytes(int n)
{
    return sizeof(sw_ring_lane_t) + lane_depth(n) * sizeof(sw_entry_t);
}

size_t sw_ring_bytes(int n, size_t *zeroed)
{
    size_t lanes = sw_round_up(SW_PAIR + (size_t)n * lane_bytes(n), SW_PAGE);
    if (zeroed)
        *zeroed = lanes;
    return lanes + (size_t)n * (stage_bytes(n) + SW_ASK_BYTES);
}

uint64_t sw_ring_reserve(int n)
{
    size_t zeroed, bytes = sw_ring_bytes(n, &zeroed);
    return sw_segment_alloc(bytes, zeroed, n);
}

/* The leader's block, seen from here. */
static sw_block_t *block_at(sw_peer_t *leader, uint64_t offset)
{
    return (sw_block_t *)(leader->control + offset);
}

void sw_ring_unreserve(sw_peer_t *leader, uint64_t offset)
{
    atomic_store(&block_at(leader, offset)->members, 0);
}

static void dispose(sw_ring_t *ring)
{
    free(ring->use);
    free(ring->known);
    sw_scratch_end(&ring->scratch);
    free(ring->no_stage);
    free(ring);
}

sw_ring_t *sw_ring_open(sw_team_t *team, uint64_t offset)
{
    int n = team->n;
    size_t zeroed, size = sw_round_up(sizeof(sw_ring_t), SW_LINE);
    sw_ring_t *ring = aligned_alloc(SW_LINE, size);
    if (ring)
        memset(ring, 0, size);
    if (!ring || !(ring->use = calloc(lane_depth(n), sizeof *ring->use)) ||
        !(ring->known = calloc((size_t)n, sizeof *ring->known))) {
        sw_say("out of memory while setting a communicator up");
        abort();
    }
    ring->team = sw_team_hold(team);
    ring->n = n;
    ring->me = team->me;
    ring->peer = team->peer;
    ring->mask = lane_depth(n) - 1;
    ring->block = block_at(team->peer[0], offset);
    ring->lanes = (char *)ring->block + SW_PAIR;
    ring->lane_bytes = lane_bytes(n);
    ring->mine = sw_ring_lane(ring, team->me);
    sw_ring_bytes(n, &zeroed);
    ring->staging = (char *)ring->block + zeroed;
    ring->stage_bytes = stage_bytes(n);
    ring->boxes = ring->staging + (size_t)n * ring->stage_bytes;
    return ring;
}

void sw_ring_give_up(sw_ring_t *ring)
{
    atomic_store(&ring->block->given_up, 1);
    for (int i = 0; i < ring->n; i++) {
        const sw_ring_lane_t *lane = sw_ring_lane(ring, i);
        unsigned turns = 0;
        while (i != ring->me && atomic_load(&lane->touching) &&
               !sw_peer_turn(ring->peer[i], &turns))
            ;
    }
}

void sw_ring_close(sw_ring_t *ring)
{
    sw_segment_leave(ring->block);
    sw_team_drop(ring->team);
    dispose(ring);
}

/* Waits until a reader is done with `step`. The reader is far behind: all of
 * the lane's entries wait for it. Each look at its done word takes the word's
 * line from it, and so slows down the very stream that this member waits for.
 * So it looks seldom, and (for a while) until half the lane is free again. */
#define LOOKS 16
#define PAUSES 8

static void await_room(sw_ring_t *ring, int reader, uint64_t step)
{
    uint64_t half = sw_min(step + (ring->mask + 1) / 2, ring->step - 1);
    if (ring->known[reader] >= step)
        return;
    sw_ring_lane_t *lane = sw_ring_lane(ring, reader);
    for (int look = sw_wait_crowded() ? LOOKS : 0; look < LOOKS; look++) {
        ring->known[reader] = atomic_load_explicit(&lane->done,
                                                   memory_order_acquire);
        if (ring->known[reader] >= half)
            return;
        for (int i = 0; i < PAUSES; i++)
            sw_os_pause();
    }
    sw_ring_await_done(ring, reader, step);
}

/* Waits until every reader of an entry or of staged bytes is done with them. */
void sw_ring_await_reuse(sw_ring_t *ring, const sw_use_t *use)
{
    if (use->readers >= 0) {
        await_room(ring, use->readers, use->step);
        return;
    }
    if (use->readers == SW_READ_NEIGHBOURS) {
        for (int i = 0; i < ring->neighbours->readers; i++)
            await_room(ring, ring->neighbours->reader[i], use->step);
        return;
    }
    const sw_tree_t *tree = ring->team->tree;
    if (use->readers != SW_READ_ALL && tree) {
        int16_t child[SW_CHILDREN];
        int root = -2 - use->readers;
        int count = sw_tree_children(tree, root, ring->me, child);
        for (int i = 0; i < count; i++)
            await_room(ring, child[i], use->step);
        return;
    }
    /* All of them: the least done word becomes the new horizon, so that the
     * next uses need not look. */
    uint64_t least = UINT64_MAX;
    for (int k = 1; k < ring->n; k++) {
        int member = sw_ring_right(ring, k);
        await_room(ring, member, use->step);
        least = sw_min(ring->known[member], least);
    }
    ring->acked = least > ring->acked ? least : ring->acked;
}

/* Room that no member reads: the readers of the entry learn that this member
 * has given up. */
static char *no_stage(sw_ring_t *ring, sw_entry_t *entry)
{
    if (!ring->no_stage)
        ring->no_stage = sw_array_memory(ring->stage_bytes);
    entry->place = 0;
    return ring->no_stage;
}

char *sw_ring_claim_stage(sw_ring_t *ring, uint64_t step, int readers,
                          size_t n, sw_entry_t *entry)
{
    size_t all = ring->stage_bytes, need = sw_round_up(n, SW_LINE);
    uint64_t at = ring->stage_head;
    if (all - at % all < need)
        at += all - at % all;
    while (at + need > ring->stage_tail + all ||
           ring->staged_count == SW_RING_MAX) {
        const sw_staged_t *oldest = &ring->staged[ring->staged_first];
        if (oldest->use.step > ring->acked)
            sw_ring_await_reuse(ring, &oldest->use);
        if (sw_unlikely(ring->broken))
            return no_stage(ring, entry);
        ring->stage_tail = oldest->end;
        ring->staged_first = (ring->staged_first + 1) % SW_RING_MAX;
        ring->staged_count--;
    }
    unsigned last = (ring->staged_first + ring->staged_count++) % SW_RING_MAX;
    ring->staged[last] = (sw_staged_t){at + need, {step, readers}};
    ring->stage_head = at + need;
    entry->place = (uint16_t)(at % all / SW_LINE);
    return sw_ring_staged(ring, ring->me, entry->place);
}

/* Waits in stages for an entry that does not come. A member that is done with
 * the step without having posted, or is past it, ends the wait: its program
 * calls different collectives on different members, which is an error and must
 * not hang. */
int sw_ring_await_slow(sw_ring_t *ring, int member, uint64_t step)
{
    sw_ring_lane_t *lane = sw_ring_lane(ring, member);
    sw_entry_t *e = sw_ring_entry(ring, member, step);
    uint64_t seen = 0;
    SW_WAIT_UNLESS(ring->broken,
        sw_ring_answered(ring) &&
            ((seen = atomic_load_explicit(&e->seq, memory_order_acquire)) >=
                 step ||
             atomic_load_explicit(&lane->done, memory_order_acquire) >= step),
        &lane->doorbell);
    if (sw_unlikely(ring->broken))
        return SW_BROKEN;
    /* Post comes before done: look at the entry again. */
    seen = atomic_load_explicit(&e->seq, memory_order_acquire);
    return seen == step ? SW_OK : sw_ring_mismatch(ring);
}
