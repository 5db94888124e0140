/* sequence_end.h - two members' ends of a sequence whose column has one
 * entry. */
#include "weak.h"

#include "coll/sequence.h"

WAITS

static struct {
    sw_block_t block;
    _Alignas(SW_PAIR) struct {
        sw_sequence_column_t column;
        sw_entry_t entry[1];
    } of[2];
} memory;

typedef struct {
    sw_sequence_t seq;
    sw_use_t use[1];
    uint64_t known[2];
} end_t;

static void begin(end_t *e, int me)
{
    e->use[0] = (sw_use_t){0, 0};
    e->known[0] = e->known[1] = 0;
    e->seq.n = 2;
    e->seq.me = me;
    e->seq.mask = 0;
    e->seq.broken = false;
    e->seq.acked = 0;
    e->seq.block = &memory.block;
    e->seq.columns = (char *)memory.of;
    e->seq.column_bytes = sizeof memory.of[0];
    e->seq.mine = (sw_sequence_column_t *)(void *)&memory.of[me];
    e->seq.use = e->use;
    e->seq.known = e->known;
}

/* The slow paths of sequence.c, for one reader. */
void sw_sequence_await_reuse(sw_sequence_t *seq, const sw_use_t *use)
{
    sw_sequence_await_done(seq, use->readers, use->step);
}

void sw_sequence_answer_slow(const sw_sequence_t *seq)
{
    (void)seq;
}

int sw_sequence_await_slow(sw_sequence_t *seq, int member, uint64_t step)
{
    if (atomic_load_explicit(&sw_sequence_entry(seq, member, step)->posted,
                             memory_order_acquire) != step)
        NEVER;
    return SW_OK;
}
