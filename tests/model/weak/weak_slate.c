/* offload/slates.h: a piece is done once; a look that sees its tick sees its
 * bytes. */
#include "weak.h"

#include "offload/slates.h"

WAITS

static struct {
    sw_slate_row_t row;
    _Atomic uint64_t words[2];
} memory;
static sw_slates_t s = {.words = 1};
static uint64_t source, target[2];

static void *work(void)
{
    sw_slate_row_t *row = &memory.row;
    if (!sw_row_posted(row, 1))
        return NULL;
    const sw_pieces_t all = {0, 3};
    uint64_t bit = sw_row_claim(row, all);
    if (bit) {
        target[bit - 1] = target[bit - 1] + source;
        sw_row_tick(&s, row, 0, bit);
    }
    if (sw_row_ticked(&s, row, all))
        assert(target[0] == 1 && target[1] == 1);
    return NULL;
}

static void *poster(void *unused)
{
    (void)unused;
    source = 1;
    atomic_store_explicit(&memory.row.word[0], 0, memory_order_relaxed);
    atomic_store_explicit(&memory.row.posted, 1, memory_order_release);
    return work();
}

static void *helper(void *unused)
{
    (void)unused;
    return work();
}

int main(void)
{
    run(poster, helper);
}
