/* coll/sequence.h: a root posts two steps in one entry; the reader gets each,
 * from the entry and from memory that the root lends. */
#include "sequence_end.h"

static uint64_t lent;

static void *root(void *unused)
{
    end_t e;
    begin(&e, 0);
    for (uint64_t step = 1; step <= 2; step++) {
        sw_entry_t *entry = sw_sequence_claim(&e.seq, step, 1);
        lent = step;
        entry->bytes = step;
        sw_sequence_post(&e.seq, entry, step);
        sw_sequence_await_done(&e.seq, 1, step);
    }
    lent = 9;
    return unused;
}

static void *reader(void *unused)
{
    end_t e;
    begin(&e, 1);
    for (uint64_t step = 1; step <= 2; step++) {
        int status = SW_OK;
        const sw_entry_t *entry = sw_sequence_await(&e.seq, 0, step, &status);
        assert(entry->bytes == step && lent == step);
        sw_sequence_done(&e.seq, step);
    }
    return unused;
}

int main(void)
{
    run(root, reader);
}
