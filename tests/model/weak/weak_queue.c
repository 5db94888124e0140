/* rma/queue.c: an exclusive lock excludes, and hands on what was written. */
#include "weak.h"

#include "rma/queue.c"

WAITS

uint64_t sw_os_now(void)
{
    return 0;
}

static sw_queue_t q;
static uint64_t bytes;

static void *holder(void *unused)
{
    bool lost = false;
    if (sw_queue_hold_within(&q, 1, UINT32_MAX, true, 1, &lost)) {
        bytes = bytes + 1;
        sw_queue_leave(&q, 1);
    } else {
        NEVER;
    }
    return unused;
}

int main(void)
{
    run(holder, holder);
    assert(bytes == 2);
}
