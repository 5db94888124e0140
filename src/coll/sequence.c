/*
 * sequence.c - making sequences, and the slow paths of a step; see sequence.h.
 */
#include "sequence.h"

#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>

/* Few members have deep columns, so that a stream of rooted steps can run
 * ahead; many have shallow ones, to save memory. */
static unsigned column_depth(int n)
{
    return n <= 16 ? SW_DEPTH_MAX : n <= 64 ? 16 : 8;
}

static size_t stage_bytes(int n)
{
    return 4 * sw_team_stage_max(n);
}

static size_t column_bytes(int n)
{
    return sizeof(sw_sequence_column_t) + column_depth(n) * sizeof(sw_entry_t);
}

size_t sw_sequence_bytes(int n, size_t *zeroed)
{
    size_t columns = sw_round_up(SW_PAIR + (size_t)n * column_bytes(n),
                                 SW_PAGE);
    if (zeroed)
        *zeroed = columns;
    return columns + (size_t)n * (stage_bytes(n) + SW_ASK_BYTES);
}

uint64_t sw_sequence_reserve(int n)
{
    size_t zeroed, bytes = sw_sequence_bytes(n, &zeroed);
    return sw_segment_alloc(bytes, zeroed, n);
}

/* The leader's block, seen from here. */
static sw_block_t *block_at(sw_peer_t *leader, uint64_t offset)
{
    return (sw_block_t *)(leader->control + offset);
}

void sw_sequence_unreserve(sw_peer_t *leader, uint64_t offset)
{
    atomic_store(&block_at(leader, offset)->members, 0);
}

static void dispose(sw_sequence_t *seq)
{
    free(seq->use);
    free(seq->known);
    sw_scratch_end(&seq->scratch);
    free(seq->no_stage);
    free(seq);
}

sw_sequence_t *sw_sequence_open(sw_team_t *team, uint64_t offset)
{
    int n = team->n;
    size_t zeroed, size = sw_round_up(sizeof(sw_sequence_t), SW_LINE);
    sw_sequence_t *seq = aligned_alloc(SW_LINE, size);
    if (seq)
        memset(seq, 0, size);
    if (!seq || !(seq->use = calloc(column_depth(n), sizeof *seq->use)) ||
        !(seq->known = calloc((size_t)n, sizeof *seq->known))) {
        sw_say("out of memory while setting a communicator up");
        abort();
    }
    seq->team = sw_team_hold(team);
    seq->n = n;
    seq->me = team->me;
    seq->peer = team->peer;
    seq->mask = column_depth(n) - 1;
    seq->block = block_at(team->peer[0], offset);
    seq->columns = (char *)seq->block + SW_PAIR;
    seq->column_bytes = column_bytes(n);
    seq->mine = sw_sequence_column(seq, team->me);
    sw_sequence_bytes(n, &zeroed);
    seq->staging = (char *)seq->block + zeroed;
    seq->stage_bytes = stage_bytes(n);
    seq->boxes = seq->staging + (size_t)n * seq->stage_bytes;
    return seq;
}

void sw_sequence_give_up(sw_sequence_t *seq)
{
    atomic_store(&seq->block->given_up, 1);
    for (int i = 0; i < seq->n; i++) {
        const sw_sequence_column_t *column = sw_sequence_column(seq, i);
        unsigned turns = 0;
        while (i != seq->me && atomic_load(&column->touching) &&
               !sw_peer_turn(seq->peer[i], &turns))
            ;
    }
    /* The program's next stores to that memory come after given_up: a reader
     * that sees one of them has a fence of its own before it looks. On Arm the
     * loads of `touching` order them, too; for C11 they do not. */
    atomic_thread_fence(memory_order_release);
}

void sw_sequence_close(sw_sequence_t *seq)
{
    sw_segment_leave(seq->block);
    sw_team_drop(seq->team);
    dispose(seq);
}

/* Waits until a reader is done with `step`. The reader is far behind: all of
 * the column's entries wait for it. Each look at its done word takes the word's
 * line from it, and so slows down the very stream that this member waits for.
 * So it looks seldom, and (for a while) until half the column is free again. */
#define LOOKS 16
#define PAUSES 8

static void await_room(sw_sequence_t *seq, int reader, uint64_t step)
{
    uint64_t half = sw_min(step + (seq->mask + 1) / 2, seq->step - 1);
    if (seq->known[reader] >= step)
        return;
    sw_sequence_column_t *column = sw_sequence_column(seq, reader);
    for (int look = sw_wait_crowded() ? LOOKS : 0; look < LOOKS; look++) {
        seq->known[reader] = atomic_load_explicit(&column->done,
                                                  memory_order_acquire);
        if (seq->known[reader] >= half)
            return;
        for (int i = 0; i < PAUSES; i++)
            sw_os_pause();
    }
    sw_sequence_await_done(seq, reader, step);
}

/* Waits until every reader of an entry or of staged bytes is done with them. */
void sw_sequence_await_reuse(sw_sequence_t *seq, const sw_use_t *use)
{
    if (use->readers >= 0) {
        await_room(seq, use->readers, use->step);
        return;
    }
    if (use->readers == SW_READ_NEIGHBOURS) {
        for (int i = 0; i < seq->neighbours->readers; i++)
            await_room(seq, seq->neighbours->reader[i], use->step);
        return;
    }
    const sw_tree_t *tree = seq->team->tree;
    if (use->readers != SW_READ_ALL && tree) {
        int16_t child[SW_CHILDREN];
        int root = -2 - use->readers;
        int count = sw_tree_children(tree, root, seq->me, child);
        for (int i = 0; i < count; i++)
            await_room(seq, child[i], use->step);
        return;
    }
    /* All of them: the least done word becomes the new horizon, so that the
     * next uses need not look. */
    uint64_t least = UINT64_MAX;
    for (int k = 1; k < seq->n; k++) {
        int member = sw_sequence_right(seq, k);
        await_room(seq, member, use->step);
        least = sw_min(seq->known[member], least);
    }
    seq->acked = least > seq->acked ? least : seq->acked;
}

/* Room that no member reads: the readers of the entry learn that this member
 * has given up. */
static char *no_stage(sw_sequence_t *seq, sw_entry_t *entry)
{
    if (!seq->no_stage)
        seq->no_stage = sw_array_memory(seq->stage_bytes);
    entry->place = 0;
    return seq->no_stage;
}

char *sw_sequence_claim_stage(sw_sequence_t *seq, uint64_t step, int readers,
                              size_t n, sw_entry_t *entry)
{
    size_t all = seq->stage_bytes, need = sw_round_up(n, SW_LINE);
    uint64_t at = seq->stage_head;
    if (all - at % all < need)
        at += all - at % all;
    while (at + need > seq->stage_tail + all ||
           seq->staged_count == SW_DEPTH_MAX) {
        const sw_staged_t *oldest = &seq->staged[seq->staged_first];
        if (oldest->use.step > seq->acked)
            sw_sequence_await_reuse(seq, &oldest->use);
        if (sw_unlikely(seq->broken))
            return no_stage(seq, entry);
        seq->stage_tail = oldest->end;
        seq->staged_first = (seq->staged_first + 1) % SW_DEPTH_MAX;
        seq->staged_count--;
    }
    unsigned last = (seq->staged_first + seq->staged_count++) % SW_DEPTH_MAX;
    seq->staged[last] = (sw_staged_t){at + need, {step, readers}};
    seq->stage_head = at + need;
    entry->place = (uint16_t)(at % all / SW_LINE);
    return sw_sequence_staged(seq, seq->me, entry->place);
}

/* Waits in stages for an entry that does not come. A member that is done with
 * the step without having posted, or is past it, ends the wait: its program
 * calls different collectives on different members, which is an error and must
 * not hang. */
int sw_sequence_await_slow(sw_sequence_t *seq, int member, uint64_t step)
{
    sw_sequence_column_t *column = sw_sequence_column(seq, member);
    sw_entry_t *e = sw_sequence_entry(seq, member, step);
    uint64_t seen = 0;
    SW_WAIT_UNLESS(
        seq->broken,
        sw_sequence_answered(seq) &&
            ((seen = atomic_load_explicit(&e->posted, memory_order_acquire)) >=
                 step ||
             atomic_load_explicit(&column->done, memory_order_acquire) >= step),
        &column->doorbell);
    if (sw_unlikely(seq->broken))
        return SW_BROKEN;
    /* Post comes before done: look at the entry again. */
    seen = atomic_load_explicit(&e->posted, memory_order_acquire);
    return seen == step ? SW_OK : sw_sequence_mismatch(seq);
}
