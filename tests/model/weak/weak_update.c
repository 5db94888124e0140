/* rma/update.c: a short update and a long one meet at one element. */
#include "weak.h"

#include "rma/update.c"

#include "rma/queue.c"

WAITS

uint64_t sw_os_now(void)
{
    return 0;
}

static struct {
    sw_rma_block_t head;
    sw_rma_member_t member[2];
} block;
static uint64_t word;

static sw_rma_share_t end_of(int me)
{
    return (sw_rma_share_t){
        .shared = (sw_rma_block_t *)(void *)&block, .n = 2, .me = me};
}

static void *shorts(void *unused)
{
    const sw_rma_share_t w = end_of(0);
    uint64_t one = 1;
    if (enter(&w, 0)) {
        atomic_fetch_add_explicit((_Atomic uint64_t *)&word, one,
                                  memory_order_relaxed);
        leave(&w);
    } else {
        NEVER;
    }
    return unused;
}

static void *longs(void *unused)
{
    const sw_rma_share_t w = end_of(1);
    sw_rma_update_begin(&w, 0);
    word = word + 1;
    sw_rma_update_end(&w, 0);
    return unused;
}

int main(void)
{
    run(shorts, longs);
    assert(word == 2);
}
