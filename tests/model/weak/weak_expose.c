/* rma/expose.c: an access lies between its post and its complete. */
#include "weak.h"

#include "rma/expose.c"

WAITS

static struct {
    sw_rma_block_t head;
    sw_rma_member_t member[2];
    uint64_t posts[2 * 8];
} block;
static uint64_t memory; /* of the target, member 1 */

static sw_rma_share_t end_of(int me)
{
    return (sw_rma_share_t){
        .shared = (sw_rma_block_t *)(void *)&block, .n = 2, .me = me};
}

static void *origin(void *unused)
{
    const sw_rma_share_t w = end_of(0);
    for (uint64_t i = 1; i <= 2; i++) {
        sw_rma_await_post(&w, 1);
        assert(memory == 10 * i);
        memory = i;
        sw_rma_complete(&w, 1);
    }
    return unused;
}

static void *target(void *unused)
{
    const sw_rma_share_t w = end_of(1);
    for (uint64_t i = 1; i <= 2; i++) {
        memory = 10 * i;
        sw_rma_post(&w, 0);
        sw_rma_await_complete(&w, 1);
        assert(memory == i);
    }
    return unused;
}

int main(void)
{
    run(origin, target);
}
