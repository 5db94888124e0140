/*
 * yield.c - sched_yield, as the host calls it.
 *
 * Of a host that yields while it waits, ranks that share cores need nothing
 * (mpi/base/patience.h). It shows where the host has been seen to yield. Our
 * own yields (node/os) do not come here.
 */
#include "contract/front.h"
#include "node/os/beat.h"
#include "node/os/os.h"

SW_API int sched_yield(void);

int sched_yield(void)
{
    if (sw_depth)
        atomic_fetch_add_explicit(&sw_beat_yields, 1, memory_order_relaxed);
    sw_os_yield();
    return 0;
}
